import type { Ask } from '../host/askStep.ts';
import type { RayPlaces } from './rayPlaces.ts';

export type ConnectToRayParts = {
  readonly ask: Ask;
  readonly rays: RayPlaces;
  /** Whether a Ray answers there and lets the person in. @throws an error that says why not */
  readonly checkRay: (place: { address: string; token: string | undefined }, signal: AbortSignal) => Promise<void>;
};

const title = 'Connect to Ray';

/**
 * Asks for the address of a Ray and its token, and keeps them once it has answered.
 * @returns the address; `undefined` when the person leaves
 */
export async function connectToRay({ ask, rays, checkRay }: ConnectToRayParts): Promise<string | undefined> {
  let address = 'http://127.0.0.1:8265';
  let token = '';
  for (let step = 1; step <= 2;) {
    const answer =
      step === 1
        ? await ask({
            title,
            step: { number: 1, of: 2 },
            prompt: 'The address of its dashboard, which its Jobs API is behind.',
            value: address,
            placeHolder: 'http://127.0.0.1:8265',
            check: rayAddressProblem,
            warn: plainWarning,
          })
        : await ask({
            title,
            step: { number: 2, of: 2 },
            prompt: `The token of ${address}; empty where it asks for none. It is kept in the secret storage of the editor.`,
            value: token,
            isSecret: true,
            accept: (typed, signal) => checkRay({ address, token: typed.trim() || undefined }, signal),
          });
    if (answer === undefined || answer === 'more') return undefined;
    if (answer === 'back') step = 1;
    else if (step === 1) {
      address = answer.value.trim().replace(/\/+$/, '');
      step = 2;
    } else {
      token = answer.value.trim();
      break;
    }
  }
  await rays.add(address, token);
  return address;
}

/** What is wrong with an address, as a sentence. */
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

/** A token that crosses a network in the clear is everybody's. */
function plainWarning(typed: string): string | undefined {
  const { protocol, hostname } = URL.canParse(typed.trim()) ? new URL(typed.trim()) : { protocol: '', hostname: '' };
  const isHere = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  return protocol === 'http:' && !isHere
    ? 'Jobs and the token go there unencrypted; use https, or a forwarded port.'
    : undefined;
}
