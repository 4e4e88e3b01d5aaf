import { ClusterError, type ClusterErrorKind } from '#cluster/errors.ts';
import { connectionErrorOf } from '#cluster/kube/kubeErrors.ts';
import { htmlTitleOf } from '#cluster/kube/kubeErrors.ts';
import { isCatalogError } from '#shared/errors.ts';

// Converts errors of Ray's dashboard. No other file reads its messages.

type StatusWords = { readonly kind: ClusterErrorKind; readonly said: string; readonly hint: string };

const proxyBetween = 'Check the address, and whether a proxy or a sign-in page stands in between.';

/** Only the statuses whose meaning is specific. */
const statuses: Readonly<Record<number, StatusWords>> = {
  401: {
    kind: 'CredentialsMissing',
    said: 'it wants a token, and got none',
    hint: 'Give the token of the Ray cluster: Ray keeps it in ~/.ray/auth_token of whoever started it, KubeRay in a secret.',
  },
  403: {
    kind: 'CredentialsRefused',
    said: 'it does not accept this token',
    hint: 'Give the token of this Ray cluster; another one may have been made with the cluster.',
  },
  404: { kind: 'NotFound', said: 'it is not there', hint: proxyBetween },
  405: { kind: 'WrongServer', said: 'it takes this request for one of a browser', hint: proxyBetween },
  413: {
    kind: 'InvalidRequest',
    said: 'what was sent is too large',
    hint: 'A proxy in between may limit the size of requests.',
  },
  429: { kind: 'Throttled', said: 'it is asked too much at once', hint: 'Wait a moment, then try again.' },
  502: { kind: 'Unavailable', said: 'what stands in front of it does not reach it', hint: 'Look whether Ray runs.' },
  503: { kind: 'Unavailable', said: 'it does not answer at the moment', hint: 'Look whether Ray runs.' },
  504: { kind: 'Timeout', said: 'it did not answer in time', hint: 'Look whether the head of Ray is overloaded.' },
};

/** Returns the error for a reply without success. @param asked `GET /api/version` */
export function errorOfReply(subject: string, asked: string, status: number, text: string): ClusterError {
  const title = htmlTitleOf(text);
  if (title !== undefined) return pageError(subject, asked, title, status);
  const told = lastOfTraceback(text);
  if (status >= 300 && status < 400) {
    const what = `${subject}: ${asked} was sent on elsewhere (${status}), as web sites do; Ray does not.`;
    return new ClusterError('WrongServer', what, proxyBetween, { status });
  }
  const words = statuses[status];
  if (words) {
    const more = told === '' || status === 401 || status === 403 ? '' : ` ("${told}")`;
    return new ClusterError(words.kind, `${subject}: ${words.said}${more} (${asked}, ${status}).`, words.hint, {
      status,
    });
  }
  // Ray responds with 500 to invalid requests too, so only its message shows the reason.
  const kind: ClusterErrorKind = status >= 500 ? 'Unavailable' : 'InvalidRequest';
  const said = told === '' ? `it answered with ${status} and no reason` : `it says "${told}"`;
  const hint = status >= 500 ? 'Look into the log of the dashboard on the head of Ray.' : 'Correct what was asked for.';
  return new ClusterError(kind, `${subject}: ${said} (${asked}, ${status}).`, hint, { status });
}

/** Returns the error for an HTML page instead of a reply. */
export function pageError(subject: string, asked: string, title: string, status: number): ClusterError {
  const named = title === '' ? '' : ` ("${title}")`;
  return new ClusterError(
    'WrongServer',
    `${subject}: ${asked} was answered by a web page${named}, not by Ray's interface for jobs.`,
    proxyBetween,
    { status },
  );
}

/** Returns the error for a request without a response. */
export function errorOfConnection(subject: string, asked: string, error: unknown, signal: AbortSignal): ClusterError {
  if (signal.aborted) {
    // A time limit reports the network's state, not a cancellation.
    const kind = signal.reason instanceof Error && signal.reason.name === 'TimeoutError' ? 'Timeout' : 'Aborted';
    const what = kind === 'Timeout' ? 'was not answered in time' : 'was given up';
    const hint = kind === 'Timeout' ? 'Look whether the head of Ray is overloaded.' : '';
    return new ClusterError(kind, `${subject}: ${asked} ${what}.`, hint, { cause: signal.reason });
  }
  // An invalid proxy in the environment; its address stays hidden.
  if (isCatalogError(error)) return new ClusterError('ProfileInvalid', error.message, '');
  const found = connectionErrorOf(error, subject);
  if (found?.kind === 'Unreachable') {
    return new ClusterError(found.kind, found.what, `Look whether Ray runs, and whether its port is forwarded.`, {
      cause: error,
    });
  }
  return found ?? badReply(subject, asked, { cause: error });
}

/** Returns the error for a reply that is not from Ray. */
export const badReply = (subject: string, asked: string, options: { readonly cause?: unknown } = {}): ClusterError =>
  new ClusterError(
    'BadReply',
    `${subject}: the reply to ${asked} is not what Ray says.`,
    'Check that the address is that of the dashboard of a Ray.',
    options,
  );

/** Returns whether a submission was refused because its id exists already. */
export const isAlreadyThere = (error: ClusterError): boolean => /already exists/i.test(error.what);

/** Returns whether a job could not be deleted because it has not ended. */
export const isStillRunning = (error: ClusterError): boolean => /non-terminal state/i.test(error.what);

/** Returns Ray's error: the last line of the innermost of its nested tracebacks. */
function lastOfTraceback(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  const last = lines.findLast((line) => line.length > 1) ?? '';
  const clean = last.replace(/^(?:[\w.]*\.)?\w*(?:Error|Exception): /, '');
  return clean.length > 400 ? `${clean.slice(0, 400)}…` : clean;
}
