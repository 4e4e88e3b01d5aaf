import { isRecord } from '#shared/records.ts';
import type { OnError } from './computedFunction.ts';

const modes = ['fail', 'null', 'skip'] as const;

const isAttempts = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1;

/** What a function, a job or a column says of errors, as JSON of ours has it; `undefined` for anything else. */
export function readOnError(json: unknown): OnError | undefined {
  if (!isRecord(json)) return undefined;
  const { mode, attempts } = json;
  if (mode === 'retry') return isAttempts(attempts) ? { mode, attempts } : undefined;
  return simple(mode);
}

/** The same as a person writes it: `'fail'`, `'null'`, `'skip'` or `{ retry: 3 }`; `undefined` for anything else. */
export function onErrorOfWords(words: unknown): OnError | undefined {
  if (!isRecord(words)) return simple(words);
  const { retry, ...more } = words;
  return isAttempts(retry) && Object.keys(more).length === 0 ? { mode: 'retry', attempts: retry } : undefined;
}

function simple(word: unknown): OnError | undefined {
  const mode = modes.find((one) => one === word);
  return mode && { mode };
}
