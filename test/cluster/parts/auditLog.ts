import { readFileSync, statSync } from 'node:fs';

/** The audit policy: logs every request once, after its response, except requests of the API server itself. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [
    { level: 'None', users: ['system:apiserver', 'system:anonymous'] },
    // Log the body of reviews and token requests, because their URL does not show what was requested.
    {
      level: 'Request',
      resources: [{ group: 'authorization.k8s.io' }, { group: '', resources: ['serviceaccounts/token'] }],
    },
    { level: 'Metadata' },
  ],
};

/** One request to which the API server responded. */
export type AuditedRequest = {
  readonly user: string;
  /** The impersonated user; undefined if the user is not impersonated. */
  readonly as: string | undefined;
  readonly verb: string;
  /** Path and query. */
  readonly uri: string;
  readonly status: number;
  /** The body of a review or token request; undefined for other requests. */
  readonly body: unknown;
};

/**
 * The requests that an API server received. The server writes the log line of a request before its response, so after a
 * response the line exists.
 */
export class AuditLog {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Returns a position in the log, for `since`. */
  mark(): number {
    return statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Returns the requests since a position in the log, in the order of their responses. */
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

/**
 * Returns each request that was sent more than once, as text. Lists with different selectors count as the same request.
 */
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
