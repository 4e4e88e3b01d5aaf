import { readFileSync, statSync } from 'node:fs';

/** The policy: every request once, when it has been answered, those of the API server itself left out. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [
    { level: 'None', users: ['system:apiserver', 'system:anonymous'] },
    // Reviews are all sent to one address, so are orders of tokens: what was asked is in the body.
    {
      level: 'Request',
      resources: [{ group: 'authorization.k8s.io' }, { group: '', resources: ['serviceaccounts/token'] }],
    },
    { level: 'Metadata' },
  ],
};

/** One request that the API server answered. */
export type AuditedRequest = {
  readonly user: string;
  /** In whose place; undefined for the user's own. */
  readonly as: string | undefined;
  readonly verb: string;
  /** Path and query. */
  readonly uri: string;
  readonly status: number;
  /** What is asked by a review of rights, or for a token; undefined for other requests. */
  readonly body: unknown;
};

/** What an API server says it was asked. It writes a line before it answers, so that after an answer the line is there. */
export class AuditLog {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** A place in the log, for `since`. */
  mark(): number {
    return statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** The requests that were answered since a place in the log, in the order of their answers. */
  since(mark: number): AuditedRequest[] {
    const lines = readFileSync(this.#file).subarray(mark).toString().split('\n');
    return lines.filter(Boolean).map((line) => {
      const event = JSON.parse(line) as {
        user: { username: string };
        impersonatedUser?: { username: string };
        verb: string;
        requestURI: string;
        responseStatus?: { code: number };
        requestObject?: { spec?: unknown };
      };
      return {
        user: event.user.username,
        as: event.impersonatedUser?.username,
        verb: event.verb,
        uri: event.requestURI,
        status: event.responseStatus?.code ?? 0,
        body: event.requestObject?.spec,
      };
    });
  }
}

/** Each question that was asked more than once, in words; a list asked with another selector is the same question. */
export function askedTwice(requests: readonly AuditedRequest[]): string[] {
  const counts = new Map<string, number>();
  for (const { user, as, verb, uri, body } of requests) {
    const { pathname, searchParams } = new URL(uri, 'https://any');
    const question = [as ?? user, verb, pathname, searchParams.get('continue') ?? '', JSON.stringify(body) ?? ''];
    const words = question.filter(Boolean).join(' ');
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return [...counts].flatMap(([words, count]) => (count > 1 ? [`${words}: ${count} times`] : []));
}
