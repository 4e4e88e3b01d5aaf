import type { CommandId } from '../manifest.ts';

type Remedy = { readonly title: string; readonly command: CommandId };

const remedies = new WeakMap<object, Remedy>();

export function withRemedy(error: unknown, remedy: Remedy): unknown {
  if (error instanceof Error) remedies.set(error, remedy);
  return error;
}

export const remedyOf = (error: unknown): Remedy | undefined =>
  error instanceof Error ? remedies.get(error) : undefined;
