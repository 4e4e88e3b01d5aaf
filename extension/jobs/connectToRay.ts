import { isClusterError, type ClusterErrorKind } from '#cluster/errors.ts';
import type { Ask } from '../host/askStep.ts';
import type { RayPlaces } from './rayAddresses.ts';

export type ConnectToRayParts = {
  readonly ask: Ask;
  readonly rays: RayPlaces;
  /** Checks that a Ray dashboard answers and accepts the token. @throws an error with the reason if not */
  readonly checkRay: (place: { address: string; token: string | undefined }, signal: AbortSignal) => Promise<void>;
};

const title = 'Connect to Ray';

/**
 * Prompts for the address of a Ray dashboard, and for a token only if it requires one; stores both after a successful
 * check.
 * @returns the address; `undefined` if the user cancels
 */
export async function connectToRay({ ask, rays, checkRay }: ConnectToRayParts): Promise<string | undefined> {
  for (let typed = 'http://127.0.0.1:8265'; ;) {
    let wantsToken = false;
    let token = '';
    const place = await ask({
      title,
      prompt: 'The address of its dashboard.',
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
        prompt: `The token of ${address}. It is kept in the secret storage of the editor.`,
        isSecret: true,
        check: (text) => (text.trim() === '' ? 'This Ray lets nobody in without a token.' : undefined),
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

/** Whether Ray rejects the request for lack of a valid token. @throws any other failure */
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
    return 'That is the address of a Ray client: jobs go to the dashboard, mostly port 8265.';
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return 'Write an address such as http://127.0.0.1:8265.';
  const { username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '') return 'Leave the password out: the next step asks for a token.';
  if (search !== '' || hash !== '') return 'Leave out what follows the path.';
  return undefined;
}

/** An unencrypted token can be read on the network. */
function plainWarning(typed: string): string | undefined {
  const { protocol, hostname } = URL.canParse(typed.trim()) ? new URL(typed.trim()) : { protocol: '', hostname: '' };
  const isHere = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  return protocol === 'http:' && !isHere
    ? 'Jobs and the token go there unencrypted; use https, or a forwarded port.'
    : undefined;
}
