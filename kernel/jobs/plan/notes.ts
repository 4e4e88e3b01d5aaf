import { isCatalogError } from '#shared/errors.ts';
import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import { valuesKey } from '#jobs/definition/storedFunction.ts';
import { isOpenEnded, type JobSpec } from '#jobs/jobSpec.ts';
import type { KeyColumn } from '#jobs/local/keyColumn.ts';
import { ownName } from '#jobs/local/keyIndex.ts';
import type { Source } from '#jobs/local/source.ts';
import type { IndexInfo } from '#client/table.ts';
import { loadPart } from '#shared/loadPart.ts';
import type { ChoosingRequest, RunnerChoice } from './chooseRunner.ts';

type Note = BackfillPlan['notes'][number];

export type NotesOf = {
  readonly source: Source;
  readonly spec: JobSpec;
  readonly choice: RunnerChoice;
  readonly key: KeyColumn | undefined;
  /** Why the runner "local" keeps checkpoints elsewhere than beside the table, where it does. */
  readonly elsewhere: string | undefined;
  readonly request: ChoosingRequest;
};

/** What a person ought to know before a run, in sentences. */
export async function notesOf(of: NotesOf, signal: AbortSignal): Promise<Note[]> {
  const indexes = await indexesOf(of, signal);
  const isLocal = of.choice.runner === 'local';
  return [
    ...(isLocal ? keyNotes(of, indexes) : []),
    ...indexNotes(of, indexes),
    ...(await staleNotes(of, signal)),
    ...(await rayNotes(of, signal)),
    ...(isLocal && of.elsewhere !== undefined ? [info(`${of.elsewhere} ${inFolder}`)] : []),
    info(others(of.spec, isLocal)),
  ];
}

const info = (text: string): Note => ({ level: 'info', text });
const warning = (text: string): Note => ({ level: 'warning', text });

const inFolder = 'What is computed is kept in the folder of the job, where only this machine can go on from it.';
/** The table is followed as it grows, unless somebody said which rows are meant. */
const others = (spec: JobSpec, isLocal: boolean): string => {
  const changed = isLocal
    ? 'rows that they change are computed again, rows that they delete stay deleted'
    : 'rows that they change or compact are computed again';
  const added = isOpenEnded(spec)
    ? 'rows that they add are computed too'
    : 'rows that they add are left for the next run';
  return `Others may write meanwhile: ${changed}, ${added}.`;
};

async function indexesOf({ source }: NotesOf, signal: AbortSignal): Promise<IndexInfo[]> {
  try {
    return await source.table.listIndices({ signal });
  } catch (error) {
    if (isCatalogError(error, 'Unsupported')) return [];
    throw error;
  }
}

function keyNotes({ key }: NotesOf, indexes: readonly IndexInfo[]): Note[] {
  if (key === undefined) return [];
  const theirs = indexes.find(
    ({ columns, type, name }) => type === 'BTREE' && columns[0] === key.name && name !== ownName(key.name),
  );
  const index = theirs
    ? `its index "${theirs.name}" is made again at the end`
    : 'an index of it is made for the time of the run';
  return [info(`Rows are written back by "${key.name}" (${key.reason}); ${index}.`)];
}

function indexNotes({ spec }: NotesOf, indexes: readonly IndexInfo[]): Note[] {
  return indexes
    .filter(({ columns }) => columns.includes(spec.column))
    .map(({ name }) =>
      warning(`The index "${name}" does not cover the new values of "${spec.column}"; make it again after the run.`),
    );
}

async function rayNotes({ choice, request, spec }: NotesOf, signal: AbortSignal): Promise<Note[]> {
  if (choice.runner !== 'ray' || !request.ray || spec.table.uri === '') return [];
  const { notesOfRay } = await loadPart(() => import('#jobs/runners/ray/notesOfRay.ts'));
  return notesOfRay(request.ray, spec, signal);
}

async function staleNotes({ source, spec }: NotesOf, signal: AbortSignal): Promise<Note[]> {
  const schema = await source.table.schema({ signal });
  const made = schema.fields.find(({ name }) => name === spec.column)?.metadata.get(valuesKey);
  if (made === undefined || made === spec.function.hash) return [];
  const scope = spec.where === undefined ? ' Rows that have a value keep it; give "where" to compute them again.' : '';
  return [warning(`The values that are there were made by another version of the function.${scope}`)];
}
