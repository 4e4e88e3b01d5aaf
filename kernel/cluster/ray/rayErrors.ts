import { ClusterError, type ClusterErrorKind } from '#cluster/errors.ts';
import { connectionErrorOf, htmlTitleOf } from '#cluster/kube/kubeErrors.ts';
import { isCatalogError } from '#shared/errors.ts';

// Converts errors of Ray's dashboard. No other file interprets the messages of these errors.

type StatusWords = { readonly kind: ClusterErrorKind; readonly said: string; readonly hint: string };

const proxyBetween = 'Check the address, and whether a proxy or a sign-in page is in between.';

/** Contains only statuses with a specific meaning. */
const statuses: Readonly<Record<number, StatusWords>> = {
  401: {
    kind: 'CredentialsMissing',
    said: 'it requires a token, but none was sent',
    hint: 'Enter the token of the Ray cluster. Ray stores it in ~/.ray/auth_token of the user that started Ray; KubeRay stores it in a secret.',
  },
  403: {
    kind: 'CredentialsRefused',
    said: 'it rejected this token',
    hint: 'Enter the token of this Ray cluster. A cluster that was created again may have a new token.',
  },
  404: { kind: 'NotFound', said: 'the path was not found', hint: proxyBetween },
  405: { kind: 'WrongServer', said: 'it treats this request as one from a browser', hint: proxyBetween },
  413: {
    kind: 'InvalidRequest',
    said: 'the request is too large',
    hint: 'A proxy in between may limit the size of requests.',
  },
  429: { kind: 'Throttled', said: 'it has too many requests', hint: 'Wait a moment, then try again.' },
  502: { kind: 'Unavailable', said: "the proxy in front of it can't reach it", hint: 'Check that Ray is running.' },
  503: { kind: 'Unavailable', said: 'it is not available at the moment', hint: 'Check that Ray is running.' },
  504: { kind: 'Timeout', said: 'it did not respond in time', hint: 'Check whether the head of Ray is overloaded.' },
};

/** Returns the error for a reply with a status other than 2xx. @param asked `GET /api/version` */
export function errorOfReply(subject: string, asked: string, status: number, text: string): ClusterError {
  const title = htmlTitleOf(text);
  if (title !== undefined) return pageError(subject, asked, title, status);
  const told = lastOfTraceback(text);
  if (status >= 300 && status < 400) {
    const what = `${subject}: ${asked} was redirected (${status}), so the server is not a Ray dashboard.`;
    return new ClusterError('WrongServer', what, proxyBetween, { status });
  }
  const words = statuses[status];
  if (words) {
    const more = told === '' || status === 401 || status === 403 ? '' : ` ("${told}")`;
    return new ClusterError(words.kind, `${subject}: ${words.said}${more} (${asked}, ${status}).`, words.hint, {
      status,
    });
  }
  // The status alone does not show the reason, because Ray responds with 500 to invalid requests too.
  const kind: ClusterErrorKind = status >= 500 ? 'Unavailable' : 'InvalidRequest';
  const said = told === '' ? `it returned status ${status} without a reason` : `it says "${told}"`;
  const hint = status >= 500 ? 'Check the log of the dashboard on the head of Ray.' : 'Correct the request.';
  return new ClusterError(kind, `${subject}: ${said} (${asked}, ${status}).`, hint, { status });
}

/** Returns the error for an HTML page instead of a reply. */
export function pageError(subject: string, asked: string, title: string, status: number): ClusterError {
  const named = title === '' ? '' : ` ("${title}")`;
  return new ClusterError(
    'WrongServer',
    `${subject}: the reply to ${asked} is a web page${named}, not a response of Ray's jobs API.`,
    proxyBetween,
    { status },
  );
}

/** Returns the error for a request without a response. */
export function errorOfConnection(subject: string, asked: string, error: unknown, signal: AbortSignal): ClusterError {
  if (signal.aborted) {
    // If the time limit was reached, the cause is the network and not a cancellation.
    const kind = signal.reason instanceof Error && signal.reason.name === 'TimeoutError' ? 'Timeout' : 'Aborted';
    const what = kind === 'Timeout' ? 'got no reply in time' : 'was canceled';
    const hint = kind === 'Timeout' ? 'Check whether the head of Ray is overloaded.' : '';
    return new ClusterError(kind, `${subject}: ${asked} ${what}.`, hint, { cause: signal.reason });
  }
  // The error is about an invalid proxy in the environment; its address stays hidden.
  if (isCatalogError(error)) return new ClusterError('ProfileInvalid', error.message, '');
  const found = connectionErrorOf(error, subject);
  if (found?.kind === 'Unreachable') {
    return new ClusterError(found.kind, found.what, 'Check that Ray is running and that its port is forwarded.', {
      cause: error,
    });
  }
  return found ?? badReply(subject, asked, { cause: error });
}

/** Returns the error for a reply that is not from Ray. */
export const badReply = (subject: string, asked: string, options: { readonly cause?: unknown } = {}): ClusterError =>
  new ClusterError(
    'BadReply',
    `${subject}: the reply to ${asked} is not a valid response of Ray.`,
    'Check that the address is that of a Ray dashboard.',
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
