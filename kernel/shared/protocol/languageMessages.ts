// The messages between an editor and the language worker, over the framed pipe. The transport is `Endpoint` in
// rpc.ts. Offsets count UTF-16 units from the start of a cell. Notebooks and cells have the editor's identifiers.
import type { Naming } from '#shared/catalogConfig.ts';
import { notebookLanguages, type NotebookLanguage } from '#shared/notebookLanguage.ts';
import {
  bothOf,
  type Check,
  isBoolean,
  isCount,
  isInteger,
  isString,
  listOf,
  nullable,
  oneOf,
  optional,
  shape,
  shapeFor,
} from '#shared/shape.ts';

/** A range in a cell, from `start` to before `end`. */
export type Span = { start: number; end: number };

export type LanguageCell = { id: string; text: string };

/** The position of a request. */
export type CellPlace = { notebook: string; cell: string; offset: number };

export type LanguageCompletion = {
  name: string;
  /** TypeScript's kind, for example `method`. */
  kind: string;
  /** Names closer to the cell sort first. */
  sortText: string;
  /** Text to insert instead of the name. */
  insertText?: string;
  /** The text that must match what the user types, if it is not the name. */
  filterText?: string;
  /** The span to replace, if it is not the word at the cursor. */
  replace?: Span;
  isDeprecated?: boolean;
  /** The arguments of a SQL function. */
  signature?: string;
};

export type CompletionAnswer = {
  items: LanguageCompletion[];
  /**
   * Set if the cursor is in a string that names an object of a catalog. Then the process that has the catalog provides
   * the names.
   */
  naming: Naming | null;
  /**
   * Whether the type checker knows the value whose members are listed; if false, a kernel that has run the cells may
   * know more.
   */
  isKnown: boolean;
  /** Whether the cursor is in SQL, so that names of TypeScript do not fit. */
  isSql?: boolean;
};

/** Code, and its documentation in Markdown. */
export type Described = { code: string; documentation: string };

export type HoverAnswer = (Described & { span: Span }) | null;

export type SignatureAnswer = {
  signatures: {
    label: string;
    documentation: string;
    parameters: { label: [start: number, end: number]; documentation: string }[];
  }[];
  activeSignature: number;
  activeParameter: number;
} | null;

/** A position in a cell, or in a file by its path. */
export type DefinitionTarget = ({ cell: string } | { file: string; line: number; character: number }) & { span: Span };

export type DefinitionAnswer = { origin: Span; targets: DefinitionTarget[] } | null;

export type Finding = {
  span: Span;
  message: string;
  /** TypeScript's error code, for example 2322. */
  code: number;
  severity: 'error' | 'warning' | 'hint';
  tag?: 'unnecessary' | 'deprecated';
};

/** The path of a table in the catalog of `db`. */
export type TablePath = { name: string; namespacePath: readonly string[] };

/** A column with its TypeScript type in rows. `bigintType` is its type in rows with bigints, if that type differs. */
export type ColumnType = { name: string; type: string; bigintType: string | null };

export type TypedTable = TablePath & { columns: readonly ColumnType[] };

/** Requests to a language worker. */
export type LanguageMethods = {
  /** Opens a notebook, or replaces its cells after some were added, removed or moved. Imports resolve from `folder`. */
  cells: [
    params: { notebook: string; folder: string; language: NotebookLanguage; cells: LanguageCell[] },
    result: null,
  ];
  /** The text of a cell has changed. */
  text: [params: { notebook: string; cell: string; text: string }, result: null];
  close: [params: { notebook: string }, result: null];
  /**
   * The columns of tables that cells open, as far as they are known. They replace the columns that were sent earlier.
   */
  tableTypes: [params: { notebook: string; tables: TypedTable[] }, result: null];
  /** Files that cells may import were added, removed or changed. */
  filesChanged: [params: null, result: null];
  complete: [params: CellPlace, result: CompletionAnswer];
  /** Type and documentation of one completion. */
  describe: [params: CellPlace & { name: string }, result: Described | null];
  hover: [params: CellPlace, result: HoverAnswer];
  signature: [params: CellPlace & { isRetrigger: boolean; trigger: string | null }, result: SignatureAnswer];
  definition: [params: CellPlace, result: DefinitionAnswer];
};

/** Requests from a language worker to the editor. */
export type LanguageHostMethods = {
  /** The worker is ready for requests. */
  ready: [params: { typescript: string }, result: null];
  /** All findings of a cell for its current text; they replace the earlier findings of the cell. */
  findings: [params: { notebook: string; cell: string; findings: Finding[] }, result: null];
  /** The tables of `db` that the cells of a notebook open by name; sent when they change. */
  openedTables: [params: { notebook: string; tables: TablePath[] }, result: null];
};

const isPlace = shapeFor<CellPlace>({ notebook: isString, cell: isString, offset: isCount });
const isFinding = shapeFor<Finding>({
  span: shape({ start: isCount, end: isCount }),
  message: isString,
  code: isInteger,
  severity: oneOf('error', 'warning', 'hint'),
  tag: optional(oneOf('unnecessary', 'deprecated')),
});

const isPath = { name: isString, namespacePath: listOf(isString) };
const isColumn = shapeFor<ColumnType>({ name: isString, type: isString, bigintType: nullable(isString) });

/** Checks of the parameters of a request, before it is handled. */
export const languageChecks: { readonly [K in keyof LanguageMethods]: Check<LanguageMethods[K][0]> } = {
  cells: shape({
    notebook: isString,
    folder: isString,
    language: oneOf(...notebookLanguages),
    cells: listOf(shape({ id: isString, text: isString })),
  }),
  text: shape({ notebook: isString, cell: isString, text: isString }),
  close: shape({ notebook: isString }),
  tableTypes: shape({ notebook: isString, tables: listOf(shape({ ...isPath, columns: listOf(isColumn) })) }),
  filesChanged: oneOf(null),
  complete: isPlace,
  describe: bothOf(isPlace, shape({ name: isString })),
  hover: isPlace,
  signature: bothOf(isPlace, shape({ isRetrigger: isBoolean, trigger: nullable(isString) })),
  definition: isPlace,
};

export const languageHostChecks: { readonly [K in keyof LanguageHostMethods]: Check<LanguageHostMethods[K][0]> } = {
  ready: shape({ typescript: isString }),
  findings: shape({ notebook: isString, cell: isString, findings: listOf(isFinding) }),
  openedTables: shape({ notebook: isString, tables: listOf(shape(isPath)) }),
};
