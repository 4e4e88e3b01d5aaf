import * as vscode from 'vscode';
import type { KernelOutput, MimeBundle } from '#shared/protocol/kernelMessages.ts';

type OutputOf<T extends KernelOutput['type']> = Extract<KernelOutput, { type: T }>;

/** What the .ipynb serializer of the editor reads from an output's metadata when it saves. */
type OutputMetadata = { outputType: string; metadata?: Record<string, unknown>; executionCount?: number };

/** A value with its forms as one output; the renderers that are there choose the form. */
export function valueOutput(
  message: OutputOf<'display_data'> | OutputOf<'execute_result'> | OutputOf<'update_display_data'>,
): vscode.NotebookCellOutput {
  const { content } = message;
  const metadata: OutputMetadata = {
    outputType: message.type === 'execute_result' ? 'execute_result' : 'display_data',
    metadata: content.metadata,
    ...(message.type === 'execute_result' && { executionCount: message.content.executionCount }),
  };
  return new vscode.NotebookCellOutput(bundleItems(content.data), metadata);
}

export const streamItem = (name: 'stdout' | 'stderr', text: string): vscode.NotebookCellOutputItem =>
  name === 'stderr' ? vscode.NotebookCellOutputItem.stderr(text) : vscode.NotebookCellOutputItem.stdout(text);

/** An error as the kernel tells it. The stack is the cell's: an `Error` made here would show lines of the extension. */
export function errorOutput(error: { ename: string; evalue: string; traceback: string[] }): vscode.NotebookCellOutput {
  const { ename, evalue, traceback } = error;
  // Without a stack the editor would show the message in one line.
  const stack = traceback.length > 0 ? traceback.join('\n') : `${ename}: ${evalue}`;
  const item = vscode.NotebookCellOutputItem.error({
    name: ename,
    message: evalue,
    stack: withLinks(broken(stack)),
  });
  // Saved as it was, so that Jupyter shows the same error.
  return new vscode.NotebookCellOutput([item], {
    outputType: 'error',
    originalError: { output_type: 'error', ename, evalue, traceback },
  });
}

/**
 * A stack whose places in cells are links, as the editor's renderer of errors takes them: `[3]:2:7` leads to line 2 of the
 * cell that ran third. What is saved with the notebook has none.
 */
const withLinks = (stack: string): string =>
  stack.replaceAll(
    /\[(\d+)\]:(\d+)(?::\d+)?/g,
    (place, count: string, line: string) =>
      `<a href='vscode-notebook-cell:?execution_count=${count}&line=${line}'>${place}</a>`,
  );

/** What fits beside a cell in a window of usual width: the editor cuts off what of an error is longer. */
const lineCharacters = 100;
/** A frame of a stack, or a line of a code frame, of a type error or under a caret: they are read by their columns. */
const isCode = (line: string): boolean => /^\s*(?:at |>?\s*\d+ \||\||\^|~)/.test(line);

/** A text whose long lines of prose are broken at blanks, each part indented as its line was. */
const broken = (text: string): string =>
  text
    .split('\n')
    .flatMap((line) => (line.length <= lineCharacters || isCode(line) ? [line] : parts(line)))
    .join('\n');

function parts(line: string): string[] {
  const indent = /^\s*/.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  let current = indent;
  for (const word of line.slice(indent.length).split(' ')) {
    const longer = current === indent ? indent + word : `${current} ${word}`;
    if (longer.length > lineCharacters && current !== indent) lines.push(current);
    current = longer.length > lineCharacters && current !== indent ? indent + word : longer;
  }
  return [...lines, current];
}

/** The items of a bundle in the order of the kernel, richest first. */
export const bundleItems = (bundle: MimeBundle): vscode.NotebookCellOutputItem[] =>
  Object.entries(bundle).map(([mime, value]) => bundleItem(mime, value));

function bundleItem(mime: string, value: unknown): vscode.NotebookCellOutputItem {
  if (typeof value !== 'string' && !Array.isArray(value)) return vscode.NotebookCellOutputItem.json(value, mime);
  if (Array.isArray(value) && !value.every((line) => typeof line === 'string')) {
    return vscode.NotebookCellOutputItem.json(value, mime);
  }
  const text = Array.isArray(value) ? value.join('') : value;
  // Images are the one binary form that the .ipynb serializer turns back into base64; a table stays base64 text, its
  // bytes would be destroyed when the notebook is saved.
  if (mime.startsWith('image/') && mime !== 'image/svg+xml') {
    return new vscode.NotebookCellOutputItem(Buffer.from(text, 'base64'), mime);
  }
  return vscode.NotebookCellOutputItem.text(text, mime);
}
