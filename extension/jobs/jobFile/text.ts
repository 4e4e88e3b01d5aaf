import { findNodeAtLocation, getNodeValue, parseTree, type Node, type ParseError } from 'jsonc-parser';
import { readJobFile, type JobFile, type JobFileProblem } from '#shared/jobs/jobFile.ts';

/** A problem at a position of the text; offset and length in characters. */
export type TextProblem = { readonly offset: number; readonly length: number; readonly message: string };

/**
 * The content of a job file. For text that is not JSON, `file` and `problems` are empty, because VS Code reports the
 * error.
 */
export type JobText = {
  readonly file: JobFile | undefined;
  readonly problems: readonly TextProblem[];
  readonly isJson: boolean;
  /** Returns the position of a field; the start of the file if the field is missing. */
  placeOf(path: readonly (string | number)[]): { readonly offset: number; readonly length: number };
};

/** Parses the text of a job file. Pure: opens nothing that the file names. */
export function readJobText(text: string): JobText {
  const errors: ParseError[] = [];
  // The command line and CI read plain JSON. So comments and trailing commas are errors, although VS Code tolerates
  // them.
  const tree = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  const placeOf: JobText['placeOf'] = (path) => spanOf(tree && nodeAt(tree, path), tree);
  if (!tree || errors.length > 0) return { file: undefined, problems: [], isJson: false, placeOf };
  const { file, problems } = readJobFile(getNodeValue(tree));
  return {
    file,
    problems: problems.map((one) => ({ ...placeOf(one.path), message: sentence(one) })),
    isJson: true,
    placeOf,
  };
}

const sentence = ({ what, hint }: JobFileProblem): string => [what, hint].filter(Boolean).join(' ');

/** Returns the node of a property's name instead of its value, because users look at the name. */
function nodeAt(tree: Node, path: readonly (string | number)[]): Node | undefined {
  const node = findNodeAtLocation(tree, [...path]);
  return node?.parent?.type === 'property' ? (node.parent.children?.[0] ?? node) : node;
}

function spanOf(node: Node | undefined, tree: Node | undefined): { offset: number; length: number } {
  if (node && node !== tree) return { offset: node.offset, length: node.length };
  // If the problem concerns the whole file, mark only the first brace.
  return { offset: tree?.offset ?? 0, length: 1 };
}
