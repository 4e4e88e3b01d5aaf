import type { CommandId } from '../manifest.ts';

type ErrorAction = { readonly title: string; readonly command: CommandId };

const remedies = new WeakMap<object, ErrorAction>();

export function withErrorAction(error: unknown, remedy: ErrorAction): unknown {
  if (error instanceof Error) remedies.set(error, remedy);
  return error;
}

export const errorActionOf = (error: unknown): ErrorAction | undefined =>
  error instanceof Error ? remedies.get(error) : undefined;
