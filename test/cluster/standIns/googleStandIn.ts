import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GoogleEndpoints } from '#cluster/gcp/googleClient.ts';
import { google, holds, type Binding, type GoogleState } from './googleState.ts';
import { verifyToken } from './webToken.ts';

/** One received request. */
export type Asked = { readonly method: string; readonly path: string; readonly token: string | undefined };

/**
 * Stands in for the APIs of Google Cloud that the checks use (OAuth, Container, IAM, IAM Credentials, Security Token
 * Service, Cloud Storage), because there is no emulator of them. It verifies tokens of the cluster with the API
 * server's own keys, and their issuer, audience and expiry. The policies in `state` define all permissions. Its
 * refusals have Google's wording.
 */
export class GoogleStandIn {
  state: GoogleState;
  readonly asked: Asked[] = [];
  /** Whether the next deletion of an object fails, as when the service is busy. */
  failNextDelete = false;
  /** The holder of each issued token: `person`, `principal …` (federated) or `serviceAccount:…`. */
  readonly #tokens = new Map<string, string>();
  readonly #server: Server;

  private constructor(server: Server, state: GoogleState) {
    this.#server = server;
    this.state = state;
  }

  static async start(state: GoogleState): Promise<GoogleStandIn> {
    const server = createServer();
    const standIn = new GoogleStandIn(server, state);
    server.on('request', (request, response) => void standIn.#serve(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return standIn;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get endpoints(): GoogleEndpoints {
    const at = (api: string): string => `${this.address}/${api}.googleapis.com`;
    return {
      oauth2: at('oauth2'),
      container: at('container'),
      iam: at('iam'),
      iamcredentials: at('iamcredentials'),
      sts: at('sts'),
      storage: at('storage'),
    };
  }

  /** All issued tokens. A report must contain none of them. */
  get secrets(): readonly string[] {
    return [google.refreshToken, ...this.#tokens.keys()];
  }

  /** Returns a token of a Google service account, as the metadata server of a machine does. */
  tokenFor(email: string): string {
    return this.#give(`serviceAccount:${email}`);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await once(this.#server.close(), 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body } = this.#answer(request, await textOf(request));
    response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' });
    response.end(body === undefined ? '' : JSON.stringify(body));
  }

  #give(holder: string): string {
    const token = `ya29.${randomBytes(24).toString('base64url')}`;
    this.#tokens.set(token, holder);
    return token;
  }

  #answer(request: IncomingMessage, body: string): Answer {
    const url = new URL(request.url ?? '/', this.address);
    const [, host = '', ...rest] = url.pathname.split('/');
    const path = `/${rest.join('/')}`;
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    this.asked.push({ method: request.method ?? '', path: `${host}${path}`, token });
    if (this.state.disabled.has(host)) return notEnabled(host);
    if (host === 'oauth2.googleapis.com') return this.#oauth(path, new URLSearchParams(body));
    if (host === 'sts.googleapis.com') return this.#exchange(JSON.parse(body) as Record<string, string>);
    const holder = this.#tokens.get(token ?? '');
    if (holder === undefined) return refused(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
    switch (host) {
      case 'container.googleapis.com':
        return this.#cluster(path, holder);
      case 'iam.googleapis.com':
        return this.#accountPolicy(path, holder);
      case 'iamcredentials.googleapis.com':
        return this.#accountToken(path, holder);
      default:
        return this.#storage(request.method ?? '', path, url.searchParams, holder, body);
    }
  }

  #oauth(path: string, form: URLSearchParams): Answer {
    if (path === '/tokeninfo') {
      const known = this.#tokens.get(form.get('access_token') ?? '');
      return known === 'person'
        ? ok({ email: google.person, expires_in: '3599' })
        : ofOAuth(400, 'invalid_token', 'Invalid Value');
    }
    if (form.get('refresh_token') !== google.refreshToken) return ofOAuth(400, 'invalid_grant', 'Bad Request');
    switch (this.state.login) {
      case 'good':
        return ok({ access_token: this.#give('person'), expires_in: 3599, token_type: 'Bearer' });
      case 'expired':
        return ofOAuth(400, 'invalid_grant', 'Token has been expired or revoked.');
      case 'too old':
        return ofOAuth(400, 'invalid_grant', 'reauth related error (invalid_rapt)', { error_subtype: 'invalid_rapt' });
      case 'account deleted':
        return ofOAuth(400, 'invalid_grant', 'Account has been deleted');
    }
  }

  #cluster(path: string, holder: string): Answer {
    const { cluster } = this.state;
    if (!this.#mayPerson(holder, 'container.clusters.get')) {
      return refused(
        403,
        'PERMISSION_DENIED',
        `Required "container.clusters.get" permission(s) for "${path.slice(4)}".`,
      );
    }
    if (path !== `/v1/${cluster.path}`) return refused(404, 'NOT_FOUND', `Not found: ${path.slice(4)}.`);
    return ok({
      name: google.clusterName,
      status: 'RUNNING',
      endpoint: cluster.endpoint,
      ...(cluster.autopilot && { autopilot: { enabled: true } }),
      ...(cluster.workloadPool !== undefined && { workloadIdentityConfig: { workloadPool: cluster.workloadPool } }),
      nodePools: cluster.nodePools.map(({ name, labels, mode }) => ({
        name,
        config: { labels, ...(mode !== undefined && { workloadMetadataConfig: { mode } }) },
      })),
    });
  }

  #accountPolicy(path: string, holder: string): Answer {
    if (!this.#mayPerson(holder, 'iam.serviceAccounts.getIamPolicy')) {
      return refused(403, 'PERMISSION_DENIED', "Permission 'iam.serviceAccounts.getIamPolicy' denied on resource.");
    }
    const email = accountIn(path);
    const bindings = this.state.accounts.get(email);
    return bindings
      ? ok({ version: 1, etag: 'x', bindings })
      : refused(404, 'NOT_FOUND', `Unknown service account: ${email}.`);
  }

  /** Verifies a cluster's token as Google does, and exchanges it for a federated token of its holder. */
  #exchange({ audience = '', subjectToken = '' }: Record<string, string>): Answer {
    const [, pool = '', provider = ''] = /^identitynamespace:([^:]+):(.+)$/.exec(audience) ?? [];
    const known = this.state.issuers.get(provider);
    if (pool !== google.pool || !known) {
      return ofOAuth(400, 'invalid_target', 'The target service indicated by the "audience" parameters is invalid.');
    }
    try {
      const { sub, aud } = verifyToken(subjectToken, known.issuer, known.keys);
      if (!aud.includes(pool)) throw new Error('The audience in ID Token does not match the expected audience.');
      const [namespace, name] = sub.replace('system:serviceaccount:', '').split(':');
      const token = this.#give(`serviceAccount:${pool}[${namespace}/${name}]`);
      return ok({
        access_token: token,
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        expires_in: 600,
      });
    } catch (error) {
      return ofOAuth(400, 'invalid_grant', (error as Error).message);
    }
  }

  #accountToken(path: string, holder: string): Answer {
    const email = accountIn(path);
    const bindings = this.state.accounts.get(email);
    if (!bindings) return refused(404, 'NOT_FOUND', 'Not found; Gaia id not found for email.');
    if (!holds([...bindings, ...this.state.project], holder, 'iam.serviceAccounts.getAccessToken')) {
      const message = "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).";
      return refused(403, 'PERMISSION_DENIED', message, 'IAM_PERMISSION_DENIED');
    }
    return ok({ accessToken: this.tokenFor(email), expireTime: new Date(Date.now() + 600_000).toISOString() });
  }

  #storage(method: string, path: string, query: URLSearchParams, holder: string, body: string): Answer {
    const [, bucket = '', what = '', name = ''] =
      /^\/(?:upload\/)?storage\/v1\/b\/([^/]+)\/(iam|o)(?:\/(.+))?$/.exec(path) ?? [];
    const bindings = this.state.buckets.get(bucket);
    if (!bindings) return refused(404, 'notFound', 'The specified bucket does not exist.');
    const all: readonly Binding[] = [...bindings, ...this.state.project];
    if (what === 'iam' && name === 'testPermissions') {
      const permissions = query.getAll('permissions').filter((one) => holds(all, holder, one));
      return ok({ kind: 'storage#testIamPermissionsResponse', ...(permissions.length > 0 && { permissions }) });
    }
    if (what === 'iam') {
      if (this.#mayPerson(holder, 'storage.buckets.getIamPolicy')) return ok({ kind: 'storage#policy', bindings });
      return refused(403, 'forbidden', `${google.person} does not have storage.buckets.getIamPolicy access.`);
    }
    if (method === 'DELETE' && this.failNextDelete) {
      this.failNextDelete = false;
      return refused(503, 'backendError', 'We encountered an internal error. Try again.');
    }
    const permission = method === 'DELETE' ? 'storage.objects.delete' : 'storage.objects.create';
    if (!holds(all, holder, permission))
      return refused(403, 'forbidden', `${holder} does not have ${permission} access.`);
    const key = `${bucket}/${method === 'DELETE' ? decodeURIComponent(name) : (query.get('name') ?? '')}`;
    if (method !== 'DELETE') this.state.objects.set(key, body);
    else if (!this.state.objects.delete(key)) return refused(404, 'notFound', 'No such object.');
    return method === 'DELETE'
      ? { status: 204, body: undefined }
      : ok({ kind: 'storage#object', name: query.get('name') });
  }

  #mayPerson(holder: string, permission: string): boolean {
    return holder === 'person' && this.state.mayPerson.has(permission);
  }
}

type Answer = { status: number; body: object | undefined };

const ok = (body: object): Answer => ({ status: 200, body });

const ofOAuth = (status: number, error: string, description: string, more: object = {}): Answer => ({
  status,
  body: { error, error_description: description, ...more },
});

function refused(code: number, status: string, message: string, reason = status): Answer {
  return {
    status: code,
    body: {
      error: { code, message, status, details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason }] },
    },
  };
}

const notEnabled = (host: string): Answer =>
  refused(
    403,
    'PERMISSION_DENIED',
    `An interface (${host}) has not been used in project ${google.project} before or it is disabled.`,
    'SERVICE_DISABLED',
  );

const accountIn = (path: string): string => decodeURIComponent(/serviceAccounts\/([^/:]+):/.exec(path)?.[1] ?? '');

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
