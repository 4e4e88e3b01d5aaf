import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { KernelProcess } from '#client/kernelProcess.ts';
import type { NodeRuntime } from '#client/childProcess.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { CatalogError } from '#shared/errors.ts';
import type { KernelOutput } from '#shared/kernelMessages.ts';

export type NotebookRun = {
  notebook: string;
  /** The kernel's bundle. */
  entry: string;
  node: NodeRuntime;
  catalog: CatalogConfig | null;
  print: (line: string) => void;
  signal?: AbortSignal;
};

/**
 * Runs the code cells of a notebook in order, without a screen, and prints of each its number, its first line and its
 * outputs as text. Stops at the first cell that fails.
 * @returns the number of the failing cell, or null when all went through
 * @throws CatalogError InvalidInput (13) for a file that is no notebook, ServiceUnavailable (17) when the kernel ends;
 *   AbortError when cancelled between two cells
 */
export async function runNotebook(options: NotebookRun): Promise<number | null> {
  const { notebook, entry, node, catalog, print, signal } = options;
  const path = resolve(notebook);
  const cells = await codeCells(path);
  const kernel = await KernelProcess.start({ entry, node, cwd: dirname(path), catalog, ...(signal && { signal }) });
  const late = kernel.onOrphanOutput((output) => printOutput(output, print));
  try {
    for (const [index, code] of cells.entries()) {
      signal?.throwIfAborted();
      const number = index + 1;
      print(`[${number}] ${headOf(code)}`);
      const reply = await kernel.execute(code, (output) => printOutput(output, print), signal ? { signal } : {});
      if (reply.status !== 'ok') return number;
    }
    return null;
  } finally {
    late.dispose();
    await kernel.shutdown();
  }
}

async function codeCells(path: string): Promise<string[]> {
  const bad = (what: string, cause?: unknown) =>
    new CatalogError('InvalidInput', `"${path}" ${what}.`, 'Give the path of an .ipynb file.', { cause });
  let notebook: unknown;
  try {
    notebook = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw bad(error instanceof SyntaxError ? 'is no notebook: it holds no JSON' : "can't be read", error);
  }
  const { cells } = Object(notebook) as { cells?: unknown };
  if (!Array.isArray(cells)) throw bad('is no notebook: it has no cells');
  return cells.filter(isCodeCell).map(({ source }) => (Array.isArray(source) ? source.join('') : source));
}

type CodeCell = { cell_type: 'code'; source: string | string[] };

const isCodeCell = (cell: unknown): cell is CodeCell =>
  typeof cell === 'object' &&
  cell !== null &&
  'cell_type' in cell &&
  cell.cell_type === 'code' &&
  'source' in cell &&
  (typeof cell.source === 'string' || Array.isArray(cell.source));

/** The first line that says something. */
const headOf = (code: string): string =>
  code
    .split('\n')
    .find((line) => line.trim() !== '')
    ?.trim() ?? '';

function printOutput(output: KernelOutput, print: (line: string) => void): void {
  switch (output.type) {
    case 'stream':
      return print(indent(output.content.text));
    case 'display_data':
    case 'update_display_data':
    case 'execute_result': {
      const text = output.content.data['text/plain'];
      return print(indent(typeof text === 'string' ? text : `(${Object.keys(output.content.data).join(', ')})`));
    }
    case 'error':
      return print(indent(output.content.traceback.join('\n') || output.content.evalue));
    case 'status':
    case 'execute_input':
    case 'clear_output':
      return;
  }
}

const indent = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`.trimEnd())
    .join('\n');
