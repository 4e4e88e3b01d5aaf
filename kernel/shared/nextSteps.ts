import { messageOf, withHint } from './errors.ts';

/**
 * Next steps of errors that name calls of the client. In a notebook they are right as they are; `nextStepIn` has the
 * steps of other places.
 */
export const nextSteps = {
  cascade: 'Drop its content first, or pass behavior: "cascade".',
  createNamespace: 'Create that namespace first.',
  listBranches: 'List the branches with branches().list().',
  listNamespaces: 'Create it first, or list the existing namespaces.',
  listTables: 'List the tables with listTables().',
  listTags: 'List the tags with tags().list().',
  listVersions: 'List the versions with listVersions().',
  listedWithoutData: 'It is listed, because its folder exists without data. Create it, or drop it with dropTable().',
  namespaceTaken: 'Choose another name, or pass mode: "exist_ok".',
  passKey: 'Pass a key: the columns that identify a row.',
  tableTaken: 'Choose another name, or pass mode: "exist_ok" or "overwrite".',
} as const;

type NextStep = keyof typeof nextSteps;

/** A place without calls, where a user reads an error. */
export type ErrorPlace = 'terminal' | 'editor';

/** What a user can do instead of the call that a step names. */
const elsewhere: { readonly [P in ErrorPlace]: { readonly [S in NextStep]?: string } } = {
  terminal: {
    cascade: 'Drop its content first.',
    listBranches: 'List the branches: lance-catalog list TABLE.',
    listNamespaces: 'List the namespaces: lance-catalog list.',
    listTables: 'List the tables: lance-catalog list.',
    listTags: 'List the tags: lance-catalog list TABLE.',
    listVersions: 'List the versions: lance-catalog list TABLE.',
    listedWithoutData: 'It is listed, because its folder exists without data. Remove this folder.',
    namespaceTaken: 'Choose another name.',
    passKey: 'Name the columns that identify a row: --key COLUMNS.',
    tableTaken: 'Choose another name.',
  },
  editor: {
    cascade: 'Drop its content first.',
    listBranches: 'Choose another branch.',
    listNamespaces: 'Refresh the catalog view to see its namespaces.',
    listTables: 'Refresh the catalog view to see its tables.',
    listTags: 'Choose one of the versions and tags in the toolbar of the table.',
    listVersions: 'Choose one of the versions in the toolbar of the table.',
    listedWithoutData: 'It is listed, because its folder exists without data. Drop it in the catalog view.',
    namespaceTaken: 'Choose another name.',
    passKey: 'Choose the columns that identify a row.',
    tableTaken: 'Choose another name.',
  },
};

const byText: ReadonlyMap<string, NextStep> = new Map(
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the object above
  Object.entries(nextSteps).map(([step, text]) => [text, step as NextStep]),
);

/** Returns what a user can do in a place; the hint itself if it names no call. */
export function nextStepIn(place: ErrorPlace, hint: string): string {
  const step = byText.get(hint);
  return (step && elsewhere[place][step]) ?? hint;
}

/** Returns the message of an error, or a sentence with such a message, with the next step of a place. */
export function messageIn(place: ErrorPlace, error: unknown): string {
  const message = messageOf(error);
  const hint = Object.values(nextSteps).find((step) => message.endsWith(step));
  return hint === undefined ? message : withHint(message.slice(0, -hint.length).trimEnd(), nextStepIn(place, hint));
}
