import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type { NamespacePath } from '#shared/names.ts';
import { isRecord } from '#shared/records.ts';
import type { ComputedFunction, OnError } from './computedFunction.ts';

export const runnerNames = ['local', 'local-python', 'ray', 'rest'] as const;
export type RunnerName = (typeof runnerNames)[number];

/**
 * A table by its location. `catalog` may hold secrets, so it is sent over pipes, and never written to a file with its
 * secrets.
 */
export type TableReference = {
  readonly catalog: CatalogConfig;
  /** Name of the connection in the editor, if it has one. */
  readonly connection?: string | undefined;
  readonly namespacePath: NamespacePath;
  readonly name: string;
};

export type RayPlace =
  /** URL of the dashboard, such as `http://127.0.0.1:8265`. The token is a secret. */
  | { readonly address: string; readonly token?: string | undefined }
  /** A RayCluster in Kubernetes, reached by a cluster profile. */
  | {
      readonly profile: string;
      readonly rayCluster?: string | undefined;
      /** Folder where the search for settings starts. Default: the current folder. */
      readonly folder?: string | undefined;
    }
  /**
   * A RayCluster in Kubernetes, with the settings of a cluster profile instead of its name. The settings hold no
   * secret.
   */
  | { readonly cluster: Readonly<Record<string, unknown>>; readonly rayCluster: string };

/**
 * How a column is computed. An option that also exists in the Lance Namespace specification ("BackfillColumnRequest")
 * has the same name there. JSON in messages and files uses snake_case.
 */
export type BackfillOptions = {
  /** Default: `auto`, which picks a runner and reports why. */
  readonly runner?: RunnerName | 'auto' | undefined;
  /** SQL filter of the rows. Default: rows where the column is null. */
  readonly where?: string | undefined;
  /** Number of parallel computations. Default: the number of the runner's processors, up to a limit of the runner. */
  readonly concurrency?: number | undefined;
  /** Maximum rows per task. Default: one fragment. */
  readonly taskSize?: number | undefined;
  /** Rows per checkpoint. */
  readonly checkpointSize?: number | undefined;
  /** Fragments per commit. Default: a 32nd of the job's fragments, at least 8. */
  readonly commitGranularity?: number | undefined;
  /** Maximum number of fragments. */
  readonly numFrags?: number | undefined;
  /** Version of the table to read inputs from. Default: the latest. */
  readonly readVersion?: number | undefined;
  /** What to do if the function fails for a row. Overrides the setting of the function. */
  readonly onError?: OnError | undefined;
  /** Runner `local`: a column with unique values. They identify the rows when values are written back. */
  readonly key?: string | undefined;
  /** Runner `ray`: the Ray cluster to run on. */
  readonly ray?: RayPlace | undefined;
  /** Runner `local-python`: the Python interpreter. Default: the runner looks for one that has pylance. */
  readonly python?: string | undefined;
};

export type BackfillRequest = BackfillOptions & {
  readonly table: TableReference;
  readonly column: string;
  /** Overrides the function registered on the table. */
  readonly function?: ComputedFunction | undefined;
  /** Hashes of stored functions that may run, in addition to functions that were accepted on this machine. */
  readonly allowStoredCode?: readonly string[] | undefined;
};

const modes = ['fail', 'null', 'skip'] as const;

const isAttempts = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1;

/** Reads the error setting of a function, a job or a column from our JSON; `undefined` if invalid. */
export function readOnError(json: unknown): OnError | undefined {
  if (!isRecord(json)) return undefined;
  const { mode, attempts } = json;
  if (mode === 'retry') return isAttempts(attempts) ? { mode, attempts } : undefined;
  return simple(mode);
}

/** Reads the user's form: `'fail'`, `'null'`, `'skip'` or `{ retry: 3 }`; `undefined` if invalid. */
export function onErrorOfWords(words: unknown): OnError | undefined {
  if (!isRecord(words)) return simple(words);
  const { retry, ...more } = words;
  return isAttempts(retry) && Object.keys(more).length === 0 ? { mode: 'retry', attempts: retry } : undefined;
}

function simple(word: unknown): OnError | undefined {
  const mode = modes.find((one) => one === word);
  return mode && { mode };
}
