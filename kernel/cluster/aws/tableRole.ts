import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { ClusterError } from '#cluster/errors.ts';
import { definedEntries } from '#shared/records.ts';
import { awsCall } from './awsErrors.ts';
import { keysOfReply } from './awsIdentity.ts';
import { awsTransport } from './awsTransport.ts';

type TableRoleOptions = {
  readonly roleArn: string;
  readonly region: string;
  /** How long a session lasts: 900 to 43,200 seconds. AWS allows at most the maximum of the role. */
  readonly durationSeconds: number;
  readonly externalId?: string | undefined;
};

/** The keys of a session, and when they stop working. */
type TimedKeys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiresAt: Date;
};

/**
 * The role with which a server lets engines open tables. Each session is limited by a session policy. The server's own
 * credentials are found as the AWS command line does, and renewed by the library. Owns connections, which `close()`
 * ends.
 */
export class TableRole {
  readonly #options: TableRoleOptions;
  readonly #client: STSClient;

  constructor(options: TableRoleOptions) {
    this.#options = options;
    this.#client = new STSClient({ region: options.region, maxAttempts: 2, requestHandler: awsTransport() });
  }

  /**
   * Starts a session.
   * @throws ClusterError Forbidden if the role does not trust the server, and as `awsCall`
   */
  async startSession(session: { name: string; policy: string }, signal: AbortSignal): Promise<TimedKeys> {
    const { roleArn, durationSeconds, externalId } = this.#options;
    const question = { action: 'sts:AssumeRole', thing: `the role ${roleArn}`, as: 'the server' };
    const request = new AssumeRoleCommand({
      RoleArn: roleArn,
      RoleSessionName: session.name,
      Policy: session.policy,
      DurationSeconds: durationSeconds,
      ...definedEntries({ ExternalId: externalId }),
    });
    const reply = await awsCall(question, () => this.#client.send(request, { abortSignal: signal }));
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = keysOfReply(reply.Credentials, question);
    if (sessionToken === undefined || expiration === undefined)
      throw new ClusterError(
        'BadReply',
        'The reply of AWS to sts:AssumeRole has no session token or no expiration time.',
        '',
      );
    return { accessKeyId, secretAccessKey, sessionToken, expiresAt: expiration };
  }

  close(): void {
    this.#client.destroy();
  }
}
