import { isClusterError, type ClusterErrorKind } from '#cluster/errors.ts';
import type { Ask } from '../host/askStep.ts';
import type { RayConnections } from './rayAddresses.ts';

export type ConnectToRayDeps = {
  readonly ask: Ask;
  readonly rays: RayConnections;
  /** Checks that a Ray dashboard answers and accepts the token. @throws an error with the reason if the check fails */
  readonly checkRay: (place: { address: string; token: string | undefined }, signal: AbortSignal) => Promise<void>;
};

const title = 'Connect to Ray';

/**
 * Prompts for the address of a Ray dashboard. Prompts for a token only if the dashboard requires one. Stores both after
 * a successful check.
 * @returns the address; `undefined` if the user cancels
 */
export async function connectToRay({ ask, rays, checkRay }: ConnectToRayDeps): Promise<string | undefined> {
  for (let typed = 'http://127.0.0.1:8265'; ;) {
    let wantsToken = false;
    let token = '';
    const place = await ask({
      title,
      prompt: 'Address of the Ray dashboard',
      value: typed,
      placeHolder: 'http://127.0.0.1:8265',
      check: rayAddressProblem,
      warn: plainWarning,
      accept: async (text, signal) => {
        const known = await rays.withToken({ address: cleaned(text) });
        token = known.token ?? '';
        wantsToken = await asksForToken(() => checkRay({ address: known.address, token: known.token }, signal));
      },
    });
    if (typeof place !== 'object') return undefined;
    typed = place.value;
    const address = cleaned(typed);
    if (wantsToken) {
      const answer = await ask({
        title,
        step: { number: 2, of: 2 },
        prompt: `Token for ${address}, kept in the secret storage of VS Code`,
        isSecret: true,
        check: (text) => (text.trim() === '' ? 'This Ray dashboard requires a token.' : undefined),
        accept: (text, signal) => checkRay({ address, token: text.trim() }, signal),
      });
      if (answer === 'back') continue;
      if (typeof answer !== 'object') return undefined;
      token = answer.value.trim();
    }
    await rays.add(address, token);
    return address;
  }
}

const cleaned = (typed: string): string => typed.trim().replace(/\/+$/, '');

/** Whether Ray rejects the request because the token is missing or not valid. @throws any other failure */
async function asksForToken(check: () => Promise<void>): Promise<boolean> {
  try {
    await check();
    return false;
  } catch (error) {
    if (isClusterError(error) && refusals.includes(error.kind)) return true;
    throw error;
  }
}

const refusals: readonly ClusterErrorKind[] = ['CredentialsMissing', 'CredentialsRefused', 'CredentialsExpired'];

/** Returns the error message for an invalid address. */
export function rayAddressProblem(typed: string): string | undefined {
  const text = typed.trim();
  if (/^ray:\/\//i.test(text))
    return 'Expected the address of a dashboard (usually port 8265), got the address of a Ray client.';
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return 'Type an address such as http://127.0.0.1:8265.';
  const { username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '') return 'Remove the user name and password: the next step asks for a token.';
  if (search !== '' || hash !== '') return 'Remove everything after the path.';
  return undefined;
}

/** Returns a warning if the token would be sent unencrypted to another machine. */
function plainWarning(typed: string): string | undefined {
  const { protocol, hostname } = URL.canParse(typed.trim()) ? new URL(typed.trim()) : { protocol: '', hostname: '' };
  const isHere = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  return protocol === 'http:' && !isHere
    ? 'Not encrypted: anyone on the network can read jobs and the token. Use https or a forwarded port.'
    : undefined;
}
