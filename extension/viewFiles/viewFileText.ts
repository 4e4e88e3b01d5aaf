import { findNodeAtLocation, parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';
import { readViewFile, type ViewFile } from '#shared/viewFile.ts';

/** A problem of a file; line and column start at 1. */
export type ViewTextProblem = { readonly line: number; readonly column: number; readonly message: string };

/** Parses the text of a view file. Pure: opens nothing that the file names. @returns the view, or the first problem */
export function readViewText(text: string): { readonly file: ViewFile } | { readonly problem: ViewTextProblem } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: syntaxProblem(text) };
  }
  const { file, problems } = readViewFile(value);
  if (file) return { file };
  const [first] = problems;
  const { path, what, hint } = first ?? { path: [], what: 'The file is not a view.', hint: '' };
  return { problem: { ...positionOf(text, offsetOf(text, path)), message: `${what} ${hint}`.trim() } };
}

/** Names of parse errors in words, as far as they help. */
function syntaxProblem(text: string): ViewTextProblem {
  const errors: ParseError[] = [];
  withTree(text, errors);
  const [first] = errors;
  const code = first && printParseErrorCode(first.error);
  const what = code?.replaceAll(/(?<!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).toLowerCase();
  const message = `The file is not valid JSON${what === undefined ? '' : `: ${what}`}. Open it as text to correct it.`;
  return { ...positionOf(text, first?.offset ?? 0), message };
}

/** Returns the offset of a field's name, because users look at the name. */
function offsetOf(text: string, path: readonly (string | number)[]): number {
  const tree = withTree(text, []);
  const node = tree && path.length > 0 ? findNodeAtLocation(tree, [...path]) : undefined;
  const name = node?.parent?.type === 'property' ? node.parent.children?.[0] : undefined;
  return (name ?? node ?? tree)?.offset ?? 0;
}

/** The parser calls itself for each level, so a file of very many levels has no tree. */
function withTree(text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  } catch {
    return undefined;
  }
}

function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
