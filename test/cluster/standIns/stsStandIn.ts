import { createPublicKey, verify, type JsonWebKey } from 'node:crypto';
import { GetOpenIDConnectProviderCommand } from '@aws-sdk/client-iam';
import { AssumeRoleCommand } from '@aws-sdk/client-sts';
import type { KubeApi } from '../parts/kubeApi.ts';
import { account, type Keys, type Moto } from '../parts/moto.ts';
import { accessKeyOf, StandInServer, type Answer, type Received } from './standInServer.ts';
import { isTrusted } from './trustRules.ts';

/** A session for which STS has issued keys. */
export type Session = { readonly keys: Keys; readonly roleArn: string; readonly arn: string };

type Claims = { readonly iss: string; readonly sub: string; readonly aud: readonly string[]; readonly exp: number };

/**
 * Stands in for STS where moto accepts every request. A user can assume a role only if its trust policy names the user.
 * A token of a service account is accepted only if IAM has a provider for its issuer and the API server has signed it.
 * moto handles keys, signatures and all other requests.
 */
export class StsStandIn {
  readonly #moto: Moto;
  readonly #api: KubeApi;
  readonly #server: StandInServer;
  readonly #people = new Map<string, string>();
  readonly sessions = new Map<string, Session>();
  /** Number of exchanged tokens. */
  exchanges = 0;

  constructor(moto: Moto, api: KubeApi) {
    this.#moto = moto;
    this.#api = api;
    this.#server = new StandInServer((received) => this.#answer(received), moto.address);
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

  /** Registers the user and the account of a key, because moto does not report the user and knows only one account. */
  introduce(keys: Keys, userName: string, inAccount = account): void {
    this.#people.set(keys.accessKeyId, `arn:aws:iam::${inAccount}:user/${userName}`);
  }

  async #answer(received: Received): Promise<Answer | undefined> {
    const asked = new URLSearchParams(received.body.toString('utf8'));
    const [action, roleArn] = [asked.get('Action'), asked.get('RoleArn') ?? ''];
    if (action === 'GetCallerIdentity') return this.#caller(received);
    if (action === 'AssumeRole') return this.#assume(received, roleArn);
    if (action === 'AssumeRoleWithWebIdentity') return this.#exchange(roleArn, asked.get('WebIdentityToken') ?? '');
    return undefined;
  }

  /** Returns the identity of a registered user; moto checks the signature. */
  async #caller(received: Received): Promise<Answer> {
    const answer = await this.#server.pass(received);
    const arn = this.#people.get(accessKeyOf(received));
    if (answer.status !== 200 || arn === undefined) return answer;
    const fields = `<Arn>${arn}</Arn><UserId>AIDA</UserId><Account>${arn.split(':')[4]}</Account>`;
    const result = `<GetCallerIdentityResult>${fields}</GetCallerIdentityResult>`;
    return answerOf(`<GetCallerIdentityResponse xmlns="${xmlns}">${result}</GetCallerIdentityResponse>`);
  }

  async #assume(received: Received, roleArn: string): Promise<Answer> {
    // moto checks the key and the signature. Ignore its evaluation of trust policies, because it supports only the
    // simplest policies. If a role names a user of the same account, the user needs no other permission.
    const answer = await this.#server.pass(received);
    if (answer.status !== 200 && !answer.text.includes('<Code>AccessDenied</Code>')) return answer;
    const caller = this.#people.get(accessKeyOf(received)) ?? this.sessions.get(accessKeyOf(received))?.roleArn ?? '';
    const trust = await this.#moto.trust(nameOf(roleArn));
    const who = { AWS: [caller, `arn:aws:iam::${account}:root`] };
    if (trust !== undefined && isTrusted(trust, 'sts:AssumeRole', who)) return this.#give(roleArn, 'AssumeRole');
    const what = `sts:AssumeRole on resource: ${roleArn}`;
    return refusal(403, 'AccessDenied', `User: ${caller} is not authorized to perform: ${what}`);
  }

  async #exchange(roleArn: string, token: string): Promise<Answer> {
    this.exchanges++;
    const claims = await this.#verified(token);
    if (claims === undefined)
      return refusal(400, 'InvalidIdentityToken', "Couldn't retrieve verification key from your identity provider");
    const issuer = claims.iss.replace('https://', '');
    const providerArn = `arn:aws:iam::${account}:oidc-provider/${issuer}`;
    const audiences = await this.#audiencesOf(providerArn);
    if (audiences === undefined)
      return refusal(400, 'InvalidIdentityToken', `No OpenIDConnect provider found in your account for ${claims.iss}`);
    const audience = claims.aud.find((one) => audiences.includes(one));
    if (audience === undefined) return refusal(400, 'InvalidIdentityToken', 'Incorrect token audience');
    if (claims.exp * 1000 < Date.now()) return refusal(400, 'ExpiredTokenException', 'Token expired');
    const trust = await this.#moto.trust(nameOf(roleArn));
    const facts = { [`${issuer}:aud`]: audience, [`${issuer}:sub`]: claims.sub };
    if (trust === undefined || !isTrusted(trust, 'sts:AssumeRoleWithWebIdentity', { Federated: [providerArn] }, facts))
      return refusal(403, 'AccessDenied', 'Not authorized to perform sts:AssumeRoleWithWebIdentity');
    return this.#give(roleArn, 'AssumeRoleWithWebIdentity');
  }

  /**
   * Lets moto create keys for the role, so that moto accepts them later, and returns these keys in the format of the
   * call. The administrator requests the keys with a path that the role does not have. With the real path, moto would
   * apply the role's trust policy.
   */
  async #give(roleArn: string, action: string): Promise<Answer> {
    const name = nameOf(roleArn);
    const asked = { RoleArn: roleArn.replace(name, `given/${name}`), RoleSessionName: 'session' };
    const { Credentials: given } = await this.#moto.sts.send(new AssumeRoleCommand(asked));
    const texts = {
      AccessKeyId: given?.AccessKeyId ?? '',
      SecretAccessKey: given?.SecretAccessKey ?? '',
      SessionToken: given?.SessionToken ?? '',
      Expiration: new Date(Date.now() + 900_000).toISOString(),
    };
    this.#remember(roleArn, texts);
    const fields = Object.entries(texts).map(([field, text]) => `<${field}>${text}</${field}>`);
    const result = `<${action}Result><Credentials>${fields.join('')}</Credentials></${action}Result>`;
    return answerOf(`<${action}Response xmlns="${xmlns}">${result}</${action}Response>`);
  }

  /** Returns the claims of a token that the API server has signed. */
  async #verified(token: string): Promise<Claims | undefined> {
    const [header = '', payload = '', signature = ''] = token.split('.');
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
    const type = 'application/jwk-set+json';
    const { keys } = (await this.#api.ask('GET', '/openid/v1/jwks', undefined, type, type)) as {
      keys: (JsonWebKey & { kid: string })[];
    };
    const jwk = keys.find((key) => key.kid === kid);
    const signed = Buffer.from(`${header}.${payload}`);
    if (!jwk) return undefined;
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    if (!verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url'))) return undefined;
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
  }

  async #audiencesOf(arn: string): Promise<readonly string[] | undefined> {
    try {
      const asked = new GetOpenIDConnectProviderCommand({ OpenIDConnectProviderArn: arn });
      return (await this.#moto.iam.send(asked)).ClientIDList ?? [];
    } catch {
      return undefined;
    }
  }

  #remember(roleArn: string, texts: Readonly<Record<string, string>>): void {
    const {
      AccessKeyId: accessKeyId = '',
      SecretAccessKey: secretAccessKey = '',
      SessionToken: sessionToken = '',
    } = texts;
    const arn = `arn:aws:sts::${account}:assumed-role/${nameOf(roleArn)}/session`;
    this.sessions.set(accessKeyId, { keys: { accessKeyId, secretAccessKey, sessionToken }, roleArn, arn });
  }
}

const nameOf = (roleArn: string): string => roleArn.slice(roleArn.lastIndexOf('/') + 1);

const xmlns = 'https://sts.amazonaws.com/doc/2011-06-15/';

const answerOf = (text: string, status = 200): Answer => ({ status, type: 'text/xml', text });

function refusal(status: number, code: string, message: string): Answer {
  const error = `<Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error>`;
  return answerOf(`<ErrorResponse xmlns="${xmlns}">${error}<RequestId>1</RequestId></ErrorResponse>`, status);
}
