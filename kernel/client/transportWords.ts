import type { CatalogErrorKind } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { operations, type Operation } from './operations.ts';

/** What a request was about, for a sentence. */
export type Asked = { operation: Operation; id: readonly string[] };

/**
 * The sentence and the next step for an error of which the code says all there is, the same as for a directory: servers
 * that answer such a code with nothing but a name are common.
 */
export function wordsOfKind(kind: CatalogErrorKind, asked: Asked): [what: string, hint: string] | undefined {
  const { operation, id } = asked;
  const isTable = operations[operation].subject === 'table';
  const path = isTable || operation === 'CreateNamespace' ? id.slice(0, -1) : id;
  const thing = `${isTable ? 'Table' : 'Namespace'} "${displayPath(id)}"`;
  const mode = isTable ? 'mode: "exist_ok" or "overwrite"' : 'mode: "exist_ok"';
  const exists: [string, string] = [`${thing} exists already.`, `Choose another name, or pass ${mode}.`];
  const words: { readonly [K in CatalogErrorKind]?: [what: string, hint: string] } = {
    NamespaceNotFound:
      operation === 'CreateNamespace'
        ? [`There is no namespace "${displayPath(path)}" to put it in.`, 'Create the parent namespace first.']
        : [`Namespace "${displayPath(path)}" does not exist.`, 'Create it first, or list the namespaces there are.'],
    NamespaceAlreadyExists: exists,
    NamespaceNotEmpty: [`${thing} is not empty.`, 'Drop what it holds first, or pass behavior: "cascade".'],
    TableNotFound: [`${thing} does not exist.`, 'List the tables there are with listTables().'],
    TableAlreadyExists:
      operation === 'RenameTable' ? ['There is a table of the new name already.', 'Choose another name.'] : exists,
  };
  return words[kind];
}

const hints: { readonly [K in CatalogErrorKind]?: string } = {
  Unsupported: 'This server does not offer it.',
  IndexNotFound: 'See listIndices() for those there are.',
  IndexAlreadyExists: 'Choose another name, or drop the index first.',
  TagNotFound: 'See tags().list() for those there are.',
  TagAlreadyExists: 'Choose another name, or update the tag.',
  VersionNotFound: 'See listVersions() for those there are.',
  ColumnNotFound: 'See schema() for those there are.',
  ConcurrentModification: 'Try again.',
  InvalidInput: 'Correct the call.',
  SchemaValidation: 'See schema() for what the table holds.',
  Unauthenticated: 'Check the API key or token.',
  PermissionDenied: 'Ask for access, or check the API key and the database.',
  Internal: 'Ask who runs the server: its log may say more.',
};

/** The next step where a server names none. */
export const hintOfKind = (kind: CatalogErrorKind): string => hints[kind] ?? 'Ask who runs the server.';

/** Whether a text names what it is about as we would, and so is a sentence that can be shown. */
export const namesIt = (text: string, { id }: Asked): boolean => text.includes(`"${displayPath(id)}"`);
