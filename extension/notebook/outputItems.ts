import * as vscode from 'vscode';
import type { KernelOutput, MimeBundle } from '#shared/protocol/kernelMessages.ts';

type OutputOf<T extends KernelOutput['type']> = Extract<KernelOutput, { type: T }>;

/** The output metadata that VS Code's .ipynb serializer reads when it saves. */
type OutputMetadata = {
  outputType: string;
  metadata?: Record<string, unknown>;
  executionCount?: number;
  /** Identifies the table of the output in the kernel. The serializer leaves it out. */
  table?: string;
};

/** Converts a value with all its MIME types to one output; the installed renderers choose the type. */
export function valueOutput(
  message: OutputOf<'display_data'> | OutputOf<'execute_result'> | OutputOf<'update_display_data'>,
): vscode.NotebookCellOutput {
  const { content } = message;
  const metadata: OutputMetadata = {
    outputType: message.type === 'execute_result' ? 'execute_result' : 'display_data',
    metadata: content.metadata,
    ...(content.table !== undefined && { table: content.table }),
    ...(message.type === 'execute_result' && { executionCount: message.content.executionCount }),
  };
  return new vscode.NotebookCellOutput(bundleItems(content.data), metadata);
}

export const streamItem = (name: 'stdout' | 'stderr', text: string): vscode.NotebookCellOutputItem =>
  name === 'stderr' ? vscode.NotebookCellOutputItem.stderr(text) : vscode.NotebookCellOutputItem.stdout(text);

/**
 * Converts an error of the kernel. Keeps the stack of the cell, because the stack of a new `Error` would show lines of
 * this extension.
 */
export function errorOutput(error: { ename: string; evalue: string; traceback: string[] }): vscode.NotebookCellOutput {
  const { ename, evalue, traceback } = error;
  // Without a stack VS Code would show the message in one line.
  const stack = traceback.length > 0 ? traceback.join('\n') : `${ename}: ${evalue}`;
  const item = vscode.NotebookCellOutputItem.error({
    name: ename,
    message: evalue,
    stack: withLinks(broken(stack)),
  });
  // Save the error unchanged, so that Jupyter shows the same error.
  return new vscode.NotebookCellOutput([item], {
    outputType: 'error',
    originalError: { output_type: 'error', ename, evalue, traceback },
  });
}

/**
 * Replaces positions in cells with links for VS Code's error renderer: `[3]:2:7` links to line 2 of the cell with
 * execution count 3. The traceback saved with the notebook has no links.
 */
const withLinks = (stack: string): string =>
  stack.replaceAll(
    /\[(\d+)\]:(\d+)(?::\d+)?/g,
    (place, count: string, line: string) =>
      `<a href='vscode-notebook-cell:?execution_count=${count}&line=${line}'>${place}</a>`,
  );

/** Characters of an error that fit in a line in a window of usual width. VS Code cuts off longer lines. */
const lineCharacters = 100;
/**
 * Whether a line is a stack frame, a caret line, or part of a code frame or a type error. The columns of such lines
 * must stay aligned.
 */
const isCode = (line: string): boolean => /^\s*(?:at |>?\s*\d+ \||\||\^|~)/.test(line);

/** Wraps long lines of prose at spaces. The new lines keep the indentation of the long line. */
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

/** Converts a MIME bundle to output items in the kernel's order, which is richest first. */
export const bundleItems = (bundle: MimeBundle): vscode.NotebookCellOutputItem[] =>
  Object.entries(bundle).map(([mime, value]) => bundleItem(mime, value));

function bundleItem(mime: string, value: unknown): vscode.NotebookCellOutputItem {
  if (typeof value !== 'string' && !Array.isArray(value)) return vscode.NotebookCellOutputItem.json(value, mime);
  if (Array.isArray(value) && !value.every((line) => typeof line === 'string')) {
    return vscode.NotebookCellOutputItem.json(value, mime);
  }
  const text = Array.isArray(value) ? value.join('') : value;
  // Images are the only binary type that the .ipynb serializer converts back to base64. A table stays base64 text,
  // because saving the notebook would destroy its bytes.
  if (mime.startsWith('image/') && mime !== 'image/svg+xml') {
    return new vscode.NotebookCellOutputItem(Buffer.from(text, 'base64'), mime);
  }
  return vscode.NotebookCellOutputItem.text(text, mime);
}
