// The messages between an editor and the language worker, over the framed pipe. The transport is `Endpoint` in rpc.ts.
// Offsets count UTF-16 units from the start of a cell. A notebook and a cell are named by what the editor calls them.
import type { Naming } from '#shared/catalogConfig.ts';
import { notebookLanguages, type NotebookLanguage } from '#shared/notebookLanguage.ts';
import { isRecord } from '#shared/records.ts';

/** [start, end) in a cell. */
export type Span = { start: number; end: number };

export type LanguageCell = { id: string; text: string };

/** Where somebody asks. */
export type CellPlace = { notebook: string; cell: string; offset: number };

export type LanguageCompletion = {
  name: string;
  /** TypeScript's word for it, `method` for instance. */
  kind: string;
  /** Names closer to the cell sort first. */
  sortText: string;
  /** What is written instead of the name. */
  insertText?: string;
  /** What it takes the place of, where that is not the word at the cursor. */
  replace?: Span;
  isDeprecated?: boolean;
};

export type CompletionAnswer = {
  items: LanguageCompletion[];
  /** Set in a string that names something of a catalog: who knows the catalog knows what fits. */
  naming: Naming | null;
  /** Whether the checker knows the value whose members are listed; false where a cell that ran may know more. */
  isKnown: boolean;
};

/** Code, and what its author says of it in Markdown. */
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

/** A place in a cell, or in a file by its path. */
export type DefinitionTarget = ({ cell: string } | { file: string; line: number; character: number }) & { span: Span };

export type DefinitionAnswer = { origin: Span; targets: DefinitionTarget[] } | null;

export type Finding = {
  span: Span;
  message: string;
  /** TypeScript's number, 2322 for instance. */
  code: number;
  severity: 'error' | 'warning' | 'hint';
  tag?: 'unnecessary' | 'deprecated';
};

/** What a language worker answers. */
export type LanguageMethods = {
  /** Takes a notebook, or its cells anew when some came, went or moved. `folder` is where its imports start. */
  cells: [
    params: { notebook: string; folder: string; language: NotebookLanguage; cells: LanguageCell[] },
    result: null,
  ];
  /** A cell has another text. */
  text: [params: { notebook: string; cell: string; text: string }, result: null];
  close: [params: { notebook: string }, result: null];
  /** Files that cells may import came, went or changed. */
  filesChanged: [params: null, result: null];
  complete: [params: CellPlace, result: CompletionAnswer];
  /** Type and documentation of one completion. */
  describe: [params: CellPlace & { name: string }, result: Described | null];
  hover: [params: CellPlace, result: HoverAnswer];
  signature: [params: CellPlace & { isRetrigger: boolean; trigger: string | null }, result: SignatureAnswer];
  definition: [params: CellPlace, result: DefinitionAnswer];
};

/** What the editor answers to a language worker. */
export type LanguageHostMethods = {
  /** The worker listens. */
  ready: [params: { typescript: string }, result: null];
  /** All there is to say about a cell whose text was `text`'s `version`-th. */
  findings: [params: { notebook: string; cell: string; findings: Finding[] }, result: null];
};

const isText = (value: unknown): value is string => typeof value === 'string';
const isOffset = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isPlace = (value: Record<string, unknown>): boolean =>
  isText(value['notebook']) && isText(value['cell']) && isOffset(value['offset']);
const isCell = (value: unknown): boolean => isRecord(value) && isText(value['id']) && isText(value['text']);
const isSpan = (value: unknown): boolean => isRecord(value) && isOffset(value['start']) && isOffset(value['end']);
const isFinding = (value: unknown): boolean =>
  isRecord(value) &&
  isSpan(value['span']) &&
  isText(value['message']) &&
  Number.isSafeInteger(value['code']) &&
  ['error', 'warning', 'hint'].includes(String(value['severity']));

type Checks<M> = { [K in keyof M]: (params: unknown) => boolean };
const onRecord =
  (check: (params: Record<string, unknown>) => boolean) =>
  (params: unknown): boolean =>
    isRecord(params) && check(params);

/** What must be true of the parameters of a request before it is answered. */
export const languageChecks: Checks<LanguageMethods> = {
  cells: onRecord(
    ({ notebook, folder, language, cells }) =>
      isText(notebook) &&
      isText(folder) &&
      notebookLanguages.some((each) => each === language) &&
      Array.isArray(cells) &&
      cells.every((cell) => isCell(cell)),
  ),
  text: onRecord(({ notebook, cell, text }) => isText(notebook) && isText(cell) && isText(text)),
  close: onRecord(({ notebook }) => isText(notebook)),
  filesChanged: () => true,
  complete: onRecord(isPlace),
  describe: onRecord((params) => isPlace(params) && isText(params['name'])),
  hover: onRecord(isPlace),
  signature: onRecord((params) => isPlace(params) && typeof params['isRetrigger'] === 'boolean'),
  definition: onRecord(isPlace),
};

export const languageHostChecks: Checks<LanguageHostMethods> = {
  ready: onRecord(({ typescript }) => isText(typescript)),
  findings: onRecord(
    ({ notebook, cell, findings }) =>
      isText(notebook) && isText(cell) && Array.isArray(findings) && findings.every((one) => isFinding(one)),
  ),
};
