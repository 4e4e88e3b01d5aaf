import { formOf, isMagicName, magicNames, nearestMagic, usagesOf, type MagicName } from './magicNames.ts';
import { MagicError, type MagicRun } from './magicTypes.ts';

const marksOf = (name: string): string => name.replace(/^%+/, '');

export const help: MagicRun = ({ rest }) => {
  process.stdout.write(rest === '' ? everything() : `${helpOf(known(marksOf(rest)))}\n`);
};

export const helpOf = (name: MagicName): string => `${usagesOf(name).join('\n')}\n  ${formOf(name).help}`;

/**
 * Returns the name if a magic has it.
 * @throws MagicError naming the most similar magic
 */
export function known(name: string): MagicName {
  if (isMagicName(name)) return name;
  const nearest = nearestMagic(name);
  const hint = nearest === undefined ? 'Run %help for a list.' : `Did you mean %${nearest}?`;
  throw new MagicError(`There is no magic %${name}. ${hint}`);
}

const questions = [
  ['?name, name?', 'Show the type and the documentation of a name.'],
  ['??name, name??', 'Also show the text of its declaration.'],
] as const;

/** Widths in characters: the width of a line that fits into a usual output, and the width of the left column. */
const width = { line: 100, usage: 36 };

function everything(): string {
  const lines = [
    ...magicNames.flatMap((name) => entry(usagesOf(name), formOf(name).help)),
    ...questions.flatMap(([usage, text]) => entry([usage], text)),
  ];
  return [...lines, '', 'Write %name on a separate line, %%name on the first line of a cell.', ''].join('\n');
}

/**
 * Returns the usages with the help text beside them, or below wide usages. Keeps the list short: VS Code folds outputs
 * of more than 30 lines.
 */
function entry(all: readonly string[], text: string): string[] {
  const said = wrapped(text, width.line - width.usage);
  const together = all.join(', ');
  const usages = together.length > width.usage - 2 ? all : [together];
  const isLong = usages.some((usage) => usage.length > width.usage - 2);
  const left = isLong ? [...usages, ...said.map(() => '')] : usages;
  const right = isLong ? [...usages.map(() => ''), ...said] : said;
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) =>
    `${(left[index] ?? '').padEnd(width.usage)}${right[index] ?? ''}`.trimEnd(),
  );
}

const wrapped = (text: string, most: number): string[] =>
  text.match(new RegExp(`\\S.{0,${most - 1}}(?=\\s|$)`, 'g')) ?? [];
