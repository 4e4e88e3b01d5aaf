import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import ts from 'typescript-6';
import { inRoot } from './paths.ts';
import { oddWords } from './words/oddWords.ts';

/** A piece of text for readers, and the line of the file it starts in. */
type Passage = { readonly line: number; readonly text: string };

const folders = ['kernel', 'extension', 'webviews', 'scripts', 'docs'];
const files = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'];

/** Exceptions: names in users' scripts and settings, because these names must not change, and a command of LaTeX. */
const allowed = /\\begin\b|--mend\b|\b(?:copyMend|showMend|applyMend|lance-mend|ClusterMend|2_mend)\b|\.mend\b/g;

/** Strings with fewer words are not checked, because they are keys and names, not sentences. */
const fewestWords = 3;

const patterns = oddWords.map(([pattern, instead]) => [new RegExp(pattern, 'g'), instead] as const);

/** Checks the words: no comment, message or page may contain one of `oddWords`. Returns the exit code. */
export function main(): number {
  let found = 0;
  for (const file of [...files, ...folders.flatMap((folder) => filesIn(folder))]) {
    for (const { line, text } of readPassages(file, readFileSync(inRoot(file), 'utf8'))) {
      const plain = text.replaceAll(allowed, '').replaceAll(/`[^`]*`/g, '``');
      for (const [pattern, instead] of patterns)
        for (const match of plain.matchAll(pattern)) {
          found++;
          console.error(`${file}:${line} "${match[0].trim()}": ${instead}`);
        }
    }
  }
  if (found > 0) console.error(`${found} odd words. scripts/words/oddWords.ts has the list.`);
  return found > 0 ? 1 : 0;
}

function filesIn(folder: string): string[] {
  return readdirSync(inRoot(folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => Object.hasOwn(readers, extname(name)) && !name.startsWith(join('scripts', 'words')))
    .toSorted();
}

/** Comments that start with `#`, for example in shell scripts. */
const hashComments = (text: string): Passage[] =>
  text.split('\n').flatMap((line, index) => {
    const comment = /(?:^|\s)#(?!!)(.*)$/.exec(line)?.[1];
    return comment === undefined ? [] : [{ line: index + 1, text: comment }];
  });

const readers: Readonly<Record<string, (text: string) => Passage[]>> = {
  '.ts': typescriptPassages,
  '.tsx': typescriptPassages,
  '.mjs': typescriptPassages,
  '.cjs': typescriptPassages,
  '.mts': typescriptPassages,
  '.py': pythonPassages,
  '.sh': hashComments,
  '.md': markdownPassages,
};

const readPassages = (file: string, text: string): Passage[] => readers[extname(file)]?.(text) ?? [];

/** Comments, strings and template literals of TypeScript. */
function typescriptPassages(text: string): Passage[] {
  const source = ts.createSourceFile('x.tsx', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
  const passages: Passage[] = [];
  const seen = new Set<number>();
  const addComments = (ranges: readonly ts.CommentRange[] | undefined): void => {
    // Join the lines of one comment, because a phrase may continue on the next line.
    let joined: { line: number; end: number; text: string } | undefined;
    for (const { pos, end } of ranges ?? []) {
      if (seen.has(pos)) continue;
      seen.add(pos);
      const words = text
        .slice(pos, end)
        .replaceAll(/^\s*(?:\/\/+|\/\*+|\*+\/?)|\*+\/$/gm, ' ')
        .replaceAll(/\s+/g, ' ');
      if (joined && text.slice(joined.end, pos).trim() === '')
        joined = { ...joined, end, text: `${joined.text} ${words}` };
      else {
        if (joined) passages.push(joined);
        joined = { line: lineAt(pos), end, text: words };
      }
    }
    if (joined) passages.push(joined);
  };
  const addString = (node: ts.Node, words: string): void => {
    if (words.trim().split(/\s+/).length >= fewestWords)
      passages.push({ line: lineAt(node.getStart(source)), text: words });
  };
  const visit = (node: ts.Node): void => {
    addComments(ts.getLeadingCommentRanges(text, node.getFullStart()));
    addComments(ts.getTrailingCommentRanges(text, node.getEnd()));
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isJsxText(node))
      addString(node, node.text);
    if (ts.isTemplateExpression(node))
      addString(node, [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join(' … '));
    for (const child of node.getChildren(source)) visit(child);
  };
  visit(source);
  return passages;
}

/** Comments, docstrings and strings of Python, line by line. */
function pythonPassages(text: string): Passage[] {
  const strings = [...text.matchAll(/"""([^]*?)"""|"((?:[^"\\\n]|\\.)*)"/g)].map((match) => ({
    line: text.slice(0, match.index).split('\n').length,
    text: (match[1] ?? match[2] ?? '').replaceAll(/\s+/g, ' '),
  }));
  return [...hashComments(text), ...strings.filter((one) => one.text.split(' ').length >= fewestWords)];
}

/** The lines of a page outside of code blocks. The generated help blocks are checked in their sources. */
function markdownPassages(text: string): Passage[] {
  let isCode = false;
  return text.split('\n').flatMap((line, index) => {
    if (line.startsWith('```')) isCode = !isCode;
    return isCode || line.startsWith('```') ? [] : [{ line: index + 1, text: line }];
  });
}
