import { formOf, isMagicName, magicNames, nearestMagic, usagesOf, type MagicName } from './magicNames.ts';
import { MagicError, type MagicRun } from './magicTypes.ts';

const marksOf = (name: string): string => name.replace(/^%+/, '');

/** `%help` */
export const help: MagicRun = ({ rest }) => {
  process.stdout.write(rest === '' ? everything() : `${helpOf(known(marksOf(rest)))}\n`);
};

/** A magic as text: how it is written, and what it does. */
export const helpOf = (name: MagicName): string => `${usagesOf(name).join('\n')}\n  ${formOf(name).help}`;

/** The magic of this name. @throws MagicError naming the one that may be meant */
export function known(name: string): MagicName {
  if (isMagicName(name)) return name;
  const nearest = nearestMagic(name);
  const hint = nearest === undefined ? '%help lists those that there are.' : `Do you mean %${nearest}?`;
  throw new MagicError(`There is no magic %${name}. ${hint}`);
}

const questions = [
  ['?name, name?', 'Says of what type a name is, and what is written about it.'],
  ['??name, name??', 'The same, with the text of its declaration.'],
] as const;

function everything(): string {
  const rows = [...magicNames.flatMap((name) => usageRows(name)), ...questions];
  const width = Math.max(...rows.map(([usage]) => usage.length));
  const lines = rows.map(([usage, text]) => `${usage.padEnd(width)}  ${text}`.trimEnd());
  return [...lines, '', '%name stands on a line of its own, %%name on the first line of a cell.', ''].join('\n');
}

const usageRows = (name: MagicName): (readonly [string, string])[] =>
  usagesOf(name).map((usage, index) => [usage, index === 0 ? formOf(name).help : '']);
