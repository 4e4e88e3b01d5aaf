import type { CommandId } from '../manifest.ts';

/** What a person may do about a failure, as a button below its sentence. */
type Remedy = { readonly title: string; readonly command: CommandId };

const remedies = new WeakMap<object, Remedy>();

/** The same error, with a button wherever it is shown. */
export function withRemedy(error: unknown, remedy: Remedy): unknown {
  if (error instanceof Error) remedies.set(error, remedy);
  return error;
}

export const remedyOf = (error: unknown): Remedy | undefined =>
  error instanceof Error ? remedies.get(error) : undefined;
