import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAllowed, type S3Request } from './sessionPolicies.ts';

/** A call of AssumeRole, with the fields of its form. */
export type AssumeRoleCall = Readonly<Record<string, string>> & { readonly accessKey: string };

type Session = { readonly client: string; readonly policy: string; readonly token: string; readonly expiresAt: number };

/** An S3 request that was signed with the keys of a session for the API key `client`. */
export type SessionRequest = S3Request & {
  readonly client: string;
  readonly accessKey: string;
  readonly status: number;
};

/** How the stand-in behaves for one API key of the server, so that tests with different keys can run concurrently. */
type Behavior = {
  /** `denied` as for a role that does not trust the caller; `silent` never answers. */
  readonly habit?: 'issues' | 'denied' | 'silent';
  /** Seconds after which keys end; default: as requested. */
  readonly life?: number;
};

/**
 * Stands in for STS and S3, because there is no AWS here, and moto ignores session policies. It issues keys for
 * AssumeRole and applies the session policy to each S3 request that is signed with them; moto stores the objects. As in
 * S3, a missing object is 403 and not 404 for these keys, because they can't list the bucket. The stand-in checks no
 * signatures.
 */
export class AwsStandIn {
  readonly #calls: AssumeRoleCall[] = [];
  readonly #requests: SessionRequest[] = [];
  /** By the name of the API key of the server. */
  readonly behavior = new Map<string, Behavior>();
  readonly #issued = new Map<string, number>();
  readonly #sessions = new Map<string, Session>();
  readonly #objects: string;
  readonly #server = createServer((request, response) => {
    this.#take(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
      response.end(String(error));
    });
  });

  /** @param objects the address of moto */
  constructor(objects: string) {
    this.#objects = objects;
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Returns the calls of AssumeRole for an API key of the server. */
  callsFor(client: string): readonly AssumeRoleCall[] {
    return this.#calls.filter((call) => clientOf(call) === client);
  }

  /** Returns the S3 requests with credentials that were sent for an API key of the server. */
  requestsFor(client: string): readonly SessionRequest[] {
    return this.#requests.filter((request) => request.client === client);
  }

  /** Returns the end of the keys of the last session for an API key, which is their only variable part. */
  lastIssued(client: string): string {
    return `${client.toUpperCase()}${this.#issued.get(client) ?? 0}`;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isForm = (request.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');
    if (request.method === 'POST' && request.url === '/' && isForm) return this.#assume(request, response);
    const accessKey = accessKeyOf(request);
    const session = this.#sessions.get(accessKey);
    // The server itself uses the key of moto, which opens the whole bucket.
    if (!session) return this.#forward(request, response);
    const asked = s3RequestOf(request);
    const status = await this.#answerSession(request, response, session, asked);
    this.#requests.push({ ...asked, client: session.client, accessKey, status });
  }

  async #answerSession(
    request: IncomingMessage,
    response: ServerResponse,
    session: Session,
    asked: S3Request,
  ): Promise<number> {
    const code =
      request.headers['x-amz-security-token'] !== session.token
        ? 'InvalidToken'
        : Date.now() > session.expiresAt
          ? 'ExpiredToken'
          : isAllowed(session.policy, asked)
            ? undefined
            : 'AccessDenied';
    if (code === undefined) {
      await this.#forward(request, response, (status) => (status === 404 ? 403 : status));
      return response.statusCode;
    }
    request.resume();
    await once(request, 'end');
    const status = code === 'AccessDenied' ? 403 : 400;
    refuse(response, status, `<Error><Code>${code}</Code><Message>${asked.action}</Message></Error>`);
    return status;
  }

  /** Forwards all headers, even `host`, because they are signed. */
  async #forward(
    request: IncomingMessage,
    response: ServerResponse,
    statusOf: (status: number) => number = (status) => status,
  ): Promise<void> {
    const onward = send(`${this.#objects}${request.url}`, { method: request.method, headers: request.headers });
    request.pipe(onward);
    const [reply] = (await once(onward, 'response')) as [IncomingMessage];
    const status = statusOf(reply.statusCode ?? 500);
    if (status !== reply.statusCode) {
      reply.resume();
      await once(reply, 'end');
      refuse(response, status, '<Error><Code>AccessDenied</Code><Message>missing</Message></Error>');
      return;
    }
    response.writeHead(status, reply.headers);
    reply.pipe(response);
    await once(response, 'close');
  }

  async #assume(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString('utf8');
    const form = Object.fromEntries(new URLSearchParams(body));
    const call = { ...form, accessKey: accessKeyOf(request) };
    this.#calls.push(call);
    const client = clientOf(call);
    const { habit = 'issues', life = Number(form['DurationSeconds']) } = this.behavior.get(client) ?? {};
    // Requests that arrive at the same time must find the call running.
    await sleep(100);
    if (habit === 'silent') return;
    if (habit === 'denied') {
      const error = '<Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized</Message></Error>';
      refuse(response, 403, `<ErrorResponse xmlns="${xmlns}">${error}<RequestId>1</RequestId></ErrorResponse>`);
      return;
    }
    const problem = formProblem(form);
    if (problem !== undefined) {
      const error = `<Error><Type>Sender</Type><Code>ValidationError</Code><Message>${problem}</Message></Error>`;
      refuse(response, 400, `<ErrorResponse xmlns="${xmlns}">${error}<RequestId>1</RequestId></ErrorResponse>`);
      return;
    }
    this.#issued.set(client, (this.#issued.get(client) ?? 0) + 1);
    const end = this.lastIssued(client);
    const [accessKey, secret, token] = [`ASIASESSION${end}`, `session-secret-${end}`, `session-token-${end}`];
    const expiresAt = Date.now() + life * 1000;
    this.#sessions.set(accessKey, { client, policy: form['Policy'] ?? '', token, expiresAt });
    const keys = `<AccessKeyId>${accessKey}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey><SessionToken>${token}</SessionToken><Expiration>${new Date(expiresAt).toISOString()}</Expiration>`;
    const result = `<AssumeRoleResult><Credentials>${keys}</Credentials></AssumeRoleResult>`;
    response
      .writeHead(200, { 'content-type': 'text/xml' })
      .end(`<AssumeRoleResponse xmlns="${xmlns}">${result}</AssumeRoleResponse>`);
  }
}

const xmlns = 'https://sts.amazonaws.com/doc/2011-06-15/';

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/xml' }).end(text);
}

/** Returns what STS refuses in the form of a call; its limits are in the API reference of AssumeRole. */
function formProblem(form: Readonly<Record<string, string>>): string | undefined {
  const { Action, Version, RoleArn = '', RoleSessionName = '', Policy = '', DurationSeconds = '' } = form;
  if (Action !== 'AssumeRole' || Version !== '2011-06-15') return 'action';
  if (!/^arn:aws:iam::\d{12}:role\/.+$/.test(RoleArn)) return 'RoleArn';
  if (!/^[\w+=,.@-]{2,64}$/.test(RoleSessionName)) return 'RoleSessionName';
  if (!/^\d+$/.test(DurationSeconds) || Number(DurationSeconds) < 900 || Number(DurationSeconds) > 43_200)
    return 'DurationSeconds';
  if (Policy.length === 0 || Policy.length > 2048 || !/^[\t\n\r\u0020-\u00ff]+$/.test(Policy)) return 'Policy';
  return undefined;
}

/** Returns the name of the API key of the server, with which the names of its sessions start. */
const clientOf = (call: AssumeRoleCall): string => call['RoleSessionName']?.split('=')[0] ?? '';

/** Returns the access key with which a request claims to be signed. */
const accessKeyOf = ({ headers }: IncomingMessage): string =>
  /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1] ?? '';

/** Reads the action and the resource of a path-style request. */
export function s3RequestOf({ method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>): S3Request {
  const { pathname, searchParams: query } = new URL(url, 'http://s3');
  const [, bucket = '', key = ''] = /^\/([^/]+)\/?(.*)$/s.exec(decodeURIComponent(pathname)) ?? [];
  const bucketArn = `arn:aws:s3:::${bucket}`;
  const resource = key === '' ? bucketArn : `${bucketArn}/${key}`;
  const isRead = method === 'GET' || method === 'HEAD';
  if (key === '' && query.has('location')) return { action: 's3:GetBucketLocation', resource };
  if (key === '' && isRead) return { action: 's3:ListBucket', resource, prefix: query.get('prefix') ?? undefined };
  if (key === '') return { action: query.has('delete') ? 's3:DeleteObject' : `s3:${method}`, resource };
  if (isRead) return { action: query.has('versionId') ? 's3:GetObjectVersion' : 's3:GetObject', resource };
  if (method === 'DELETE')
    return { action: query.has('uploadId') ? 's3:AbortMultipartUpload' : 's3:DeleteObject', resource };
  return { action: 's3:PutObject', resource };
}
