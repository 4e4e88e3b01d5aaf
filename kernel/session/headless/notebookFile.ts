import { randomUUID } from 'node:crypto';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { readNotebookLanguage, type NotebookLanguage } from '#shared/notebookLanguage.ts';
import type { CellOutput } from './cellOutputs.ts';

/** A cell as stored in the file; unknown fields are kept. */
export type NotebookCell = {
  cell_type: string;
  id: string;
  metadata: Record<string, unknown>;
  source: string;
  outputs?: readonly CellOutput[];
  execution_count?: number | null;
};
export type CodeCell = NotebookCell & { outputs: readonly CellOutput[]; execution_count: number | null };

/** A notebook of format 4, its sources joined into strings. */
export type Notebook = {
  cells: NotebookCell[];
  metadata: Record<string, unknown>;
  nbformat: 4;
  nbformat_minor: number;
};

/** The first minor version of the format in which cells have ids. */
const minorWithIds = 5;

/**
 * Reads a notebook. Cells without an id, or with an invalid or duplicate id, get a new id.
 * @param name for messages, for instance the path in quotes
 * @throws CatalogError InvalidInput (13) if the text is not a notebook or has an unsupported format version
 */
export function parseNotebook(text: string, name: string): Notebook {
  const bad = (what: string, hint = 'Use an .ipynb file.', cause?: unknown) =>
    new CatalogError('InvalidInput', `${name} ${what}.`, hint, { cause });
  let file: unknown;
  try {
    // Removes a byte order mark, because Windows programs may write one.
    file = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw bad('is not a notebook: it is not valid JSON', undefined, cause);
  }
  const { cells, metadata, nbformat = 4, nbformat_minor: minor, ...rest } = isRecord(file) ? file : {};
  if (nbformat !== 4 && typeof nbformat === 'number')
    throw bad(
      `has notebook format ${nbformat}, but only format 4 is supported`,
      'Save it in format 4, for example with JupyterLab.',
    );
  if (!Array.isArray(cells)) throw bad('is not a notebook: it has no cells');
  const taken = new Set<string>();
  return {
    ...rest,
    cells: cells.map((cell: unknown, index) => {
      const read = readCell(cell, taken);
      if (!read) throw bad(`is not a notebook: cell ${index + 1} has no type or no source`);
      return read;
    }),
    metadata: isRecord(metadata) ? metadata : {},
    nbformat: 4,
    nbformat_minor: typeof minor === 'number' && minor > minorWithIds ? minor : minorWithIds,
  };
}

function readCell(cell: unknown, taken: Set<string>): NotebookCell | undefined {
  if (!isRecord(cell) || typeof cell['cell_type'] !== 'string') return undefined;
  const source = cellSourceText(cell['source']);
  if (source === undefined) return undefined;
  const { id } = cell;
  const isFit = typeof id === 'string' && /^[\w-]{1,64}$/.test(id) && !taken.has(id);
  const own = isFit ? id : newId();
  taken.add(own);
  const metadata = isRecord(cell['metadata']) ? cell['metadata'] : {};
  const read = { ...cell, cell_type: cell['cell_type'], id: own, metadata, source };
  if (read.cell_type !== 'code') return read;
  const count = cell['execution_count'];
  return {
    ...read,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- outputs of an earlier run, written back unchanged
    outputs: Array.isArray(cell['outputs']) ? (cell['outputs'] as CellOutput[]) : [],
    execution_count: typeof count === 'number' ? count : null,
  };
}

/** The format stores text as one string or as a list of lines. */
function cellSourceText(source: unknown): string | undefined {
  if (typeof source === 'string') return source;
  if (!Array.isArray(source) || !source.every((line) => typeof line === 'string')) return undefined;
  return source.join('');
}

const newId = (): string => randomUUID().slice(0, 8);

export const newCodeCell = (source: string, tags: readonly string[]): CodeCell => ({
  cell_type: 'code',
  id: newId(),
  metadata: { tags },
  source,
  outputs: [],
  execution_count: null,
});

export const isCodeCell = (cell: NotebookCell): cell is CodeCell => cell.cell_type === 'code';

export function tagsOf({ metadata: { tags } }: NotebookCell): readonly string[] {
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
}

/**
 * Returns the language of a notebook. Without this check, cells of an unsupported language would fail one by one with
 * less helpful errors.
 * @throws CatalogError InvalidInput (13) naming an unsupported language
 */
export function checkLanguage({ metadata }: Notebook, name: string): NotebookLanguage {
  const language = readNotebookLanguage(metadata);
  if (typeof language === 'string') return language;
  throw new CatalogError(
    'InvalidInput',
    `Can't run ${name}: its language is ${language.other}, not TypeScript or JavaScript.`,
    'Run it with its own kernel, for example: jupyter execute',
  );
}

/** Serializes a notebook as Jupyter does: one line of text per line of the file. */
export function notebookText({ cells, metadata, nbformat, nbformat_minor: minor, ...rest }: Notebook): string {
  const file = { ...rest, cells: cells.map(cellEntry), metadata, nbformat, nbformat_minor: minor };
  return `${JSON.stringify(file, null, 1)}\n`;
}

function cellEntry({ cell_type, execution_count, id, metadata, outputs, source, ...rest }: NotebookCell): object {
  const code = cell_type === 'code' && { execution_count: execution_count ?? null };
  const shown = cell_type === 'code' && { outputs: (outputs ?? []).map(outputEntry) };
  return { cell_type, ...code, id, metadata, ...shown, source: lines(source), ...rest };
}

/** Textual MIME types that don't start with `text/`. */
const textForms: ReadonlySet<string> = new Set(['application/javascript', 'image/svg+xml']);

function outputEntry(output: object): object {
  // The outputs of a skipped cell come from the file and may have any shape.
  const { text, data } = output as { text?: unknown; data?: unknown };
  if (text !== undefined) return { ...output, text: lines(text) };
  if (!isRecord(data)) return output;
  const forms = Object.entries(data).map(([mime, form]) => [mime, isText(mime) ? lines(form) : form]);
  return { ...output, data: Object.fromEntries(forms) as Record<string, unknown> };
}

const isText = (mime: string): boolean => mime.startsWith('text/') || textForms.has(mime);

/** Outputs that were read from the file may already be split into lines. */
const lines = (text: unknown): unknown => (typeof text === 'string' ? (text.match(/[^\n]*\n|[^\n]+/g) ?? []) : text);
