import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { EksStandIn } from './eksStandIn.ts';
import { StandInServer, type Answer, type Received } from './standInServer.ts';
import type { StsStandIn } from './stsStandIn.ts';

const prefix = 'k8s-aws-v1.';
/** Minutes for which a cluster accepts a token. */
const lifetime = 15;

/**
 * Stands in for the authenticator in a cluster's control plane, which tells the API server the user of a token. The
 * real authenticator sends the presigned request in the token to STS. This one computes the signature from the keys
 * that STS has issued. A user without an access entry is unknown.
 */
export class TokenWebhookStandIn {
  readonly #server: StandInServer;
  readonly #clusterName: string;
  sts: StsStandIn | undefined;
  eks: EksStandIn | undefined;

  constructor(clusterName: string) {
    this.#clusterName = clusterName;
    this.#server = new StandInServer(async (received) => this.#review(received));
  }

  get address(): string {
    return this.#server.address;
  }

  start(): Promise<void> {
    return this.#server.start();
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  #review({ body }: Received): Answer {
    const { apiVersion, spec } = JSON.parse(body.toString()) as { apiVersion: string; spec: { token: string } };
    const status = this.#statusOf(spec.token);
    return { status: 200, type: 'application/json', text: JSON.stringify({ apiVersion, kind: 'TokenReview', status }) };
  }

  #statusOf(token: string): Record<string, unknown> {
    if (!token.startsWith(prefix)) return refused('not a token of AWS');
    const address = new URL(Buffer.from(token.slice(prefix.length), 'base64url').toString());
    const query = address.searchParams;
    if (!/^sts\.[a-z0-9-]+\.amazonaws\.com$/.test(address.host)) return refused('not for STS');
    if (query.get('Action') !== 'GetCallerIdentity') return refused('another question');
    if (query.get('X-Amz-SignedHeaders') !== 'host;x-k8s-aws-id') return refused('not for a cluster');
    const [accessKeyId = '', ...scope] = (query.get('X-Amz-Credential') ?? '').split('/');
    const session = this.sts?.sessions.get(accessKeyId);
    if (session === undefined) return refused('an unknown key');
    if (query.get('X-Amz-Security-Token') !== session.keys.sessionToken) return refused('another session');
    if (isOld(query.get('X-Amz-Date') ?? '')) return refused('too old');
    const signature = this.#signatureOf(address, session.keys.secretAccessKey, scope);
    if (
      !timingSafeEqual(
        Buffer.from(signature),
        Buffer.from((query.get('X-Amz-Signature') ?? '').padEnd(64).slice(0, 64)),
      )
    )
      return refused('a wrong signature');
    const entry = this.eks?.entries.get(session.roleArn);
    if (entry === undefined) return refused('no access entry');
    return { authenticated: true, user: { username: session.arn, uid: accessKeyId, groups: entry.kubernetesGroups } };
  }

  /** Returns the signature (version 4) of a presigned request, computed from its specification. */
  #signatureOf(address: URL, secret: string, scope: readonly string[]): string {
    const query = address.search
      .slice(1)
      .split('&')
      .filter((part) => !part.startsWith('X-Amz-Signature='))
      .toSorted()
      .join('&');
    const canonical = [
      'GET',
      '/',
      query,
      `host:${address.host}`,
      `x-k8s-aws-id:${this.#clusterName}`,
      '',
      'host;x-k8s-aws-id',
      sha256(''),
    ].join('\n');
    const date = address.searchParams.get('X-Amz-Date') ?? '';
    const text = ['AWS4-HMAC-SHA256', date, scope.join('/'), sha256(canonical)].join('\n');
    const key = scope.reduce<Buffer>((last, part) => hmac(last, part), Buffer.from(`AWS4${secret}`));
    return hmac(key, text).toString('hex');
  }
}

const refused = (error: string): Record<string, unknown> => ({ authenticated: false, error });

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** `20260304T050607Z` */
function isOld(date: string): boolean {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? [];
  const then = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return !(Math.abs(Date.now() - then) < lifetime * 60_000);
}
