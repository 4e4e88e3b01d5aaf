import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type { NamespacePath } from '#shared/names.ts';
import { isRecord } from '#shared/records.ts';
import type { ComputedFunction, OnError } from './computedFunction.ts';

/** What runs a job. */
export const runnerNames = ['local', 'local-python', 'ray', 'rest'] as const;
export type RunnerName = (typeof runnerNames)[number];

/** A table by where it is. `catalog` may hold secrets: it crosses pipes, and is never written down as it is. */
export type TableReference = {
  readonly catalog: CatalogConfig;
  /** Name of the connection in the editor, where it has one. */
  readonly connection?: string | undefined;
  readonly namespacePath: NamespacePath;
  readonly name: string;
};

/** Where a Ray is. */
export type RayPlace =
  /** Of its dashboard, `http://127.0.0.1:8265`. The token is a secret. */
  | { readonly address: string; readonly token?: string | undefined }
  /** A RayCluster in Kubernetes, reached as a profile says. */
  | {
      readonly profile: string;
      readonly rayCluster?: string | undefined;
      /** Where its settings are looked for from; the current folder where nothing is said. */
      readonly folder?: string | undefined;
    }
  /** The same, reached by the settings that a profile would have; no secret is part of them. */
  | { readonly cluster: Readonly<Record<string, unknown>>; readonly rayCluster: string };

/**
 * How a column is computed, in the specification's names ("BackfillColumnRequest") and those of ours that it has no words
 * for. JSON, on the wire and in files, writes the same in snake_case.
 */
export type BackfillOptions = {
  /** `auto` (when nothing is said) picks one and says why. */
  readonly runner?: RunnerName | 'auto' | undefined;
  /** SQL that says which rows; those where the column is null when nothing is said. */
  readonly where?: string | undefined;
  /** How many compute at once; what the runner has processors for when nothing is said. */
  readonly concurrency?: number | undefined;
  /** Rows of a task at most; a fragment is one task where nothing is said. */
  readonly taskSize?: number | undefined;
  /** Rows after which what was computed is kept. */
  readonly checkpointSize?: number | undefined;
  /** Fragments after which what was computed is committed. */
  readonly commitGranularity?: number | undefined;
  /** Only so many fragments. */
  readonly numFrags?: number | undefined;
  /** The version of the table that inputs are read at; the latest when nothing is said. */
  readonly readVersion?: number | undefined;
  /** In place of what the function says. */
  readonly onError?: OnError | undefined;
  /** `local`: a column whose values name one row each, by which rows are written back. */
  readonly key?: string | undefined;
  /** `ray`: where it is. */
  readonly ray?: RayPlace | undefined;
  /** `local-python`: the interpreter; one that has pylance is looked for when nothing is said. */
  readonly python?: string | undefined;
};

/** What somebody asks for. */
export type BackfillRequest = BackfillOptions & {
  readonly table: TableReference;
  readonly column: string;
  /** In place of what is registered on the table. */
  readonly function?: ComputedFunction | undefined;
  /** Hashes of stored functions that may run, beside those accepted on this machine. */
  readonly allowStoredCode?: readonly string[] | undefined;
};

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
