import { findNodeAtLocation, getNodeValue, parseTree, type Node, type ParseError } from 'jsonc-parser';
import { readJobFile, type JobFile, type JobFileProblem } from '#shared/jobs/jobFile.ts';

/** A problem at a place of the text, in characters from its beginning. */
export type TextProblem = { readonly offset: number; readonly length: number; readonly message: string };

/** What the text of a job file says. Where it is no JSON, the editor says so itself, and there is neither. */
export type JobText = {
  readonly file: JobFile | undefined;
  readonly problems: readonly TextProblem[];
  readonly isJson: boolean;
  /** Where something of the file is written; the beginning of the file where it is not there. */
  placeOf(path: readonly (string | number)[]): { readonly offset: number; readonly length: number };
};

/** Reads the text of a job file. Pure: it opens nothing that the file names. */
export function readJobText(text: string): JobText {
  const errors: ParseError[] = [];
  // Its terminal command and CI read plain JSON, so what the editor would forgive is wrong here too.
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

/** The name of a property rather than its value, for that is where a person looks. */
function nodeAt(tree: Node, path: readonly (string | number)[]): Node | undefined {
  const node = findNodeAtLocation(tree, [...path]);
  return node?.parent?.type === 'property' ? (node.parent.children?.[0] ?? node) : node;
}

function spanOf(node: Node | undefined, tree: Node | undefined): { offset: number; length: number } {
  if (node && node !== tree) return { offset: node.offset, length: node.length };
  // Of the file as a whole: its first brace, not all of it.
  return { offset: tree?.offset ?? 0, length: 1 };
}
