import { typeCheckModes } from '#shared/notebookLanguage.ts';
import type { VariableList } from '#shared/protocol/kernelMessages.ts';
import { listVariables } from '#session/core/variables.ts';
import { MagicError, splitArguments, type MagicDeps, type MagicRun } from './magicTypes.ts';

export const who: MagicRun = (_, parts) => {
  const { variables, omitted } = variablesOf(parts);
  printRows(
    variables.map(({ name, type }) => [name, type]),
    omitted,
  );
};

export const whos: MagicRun = (_, parts) => {
  const { variables, omitted } = variablesOf(parts);
  const head = ['Name', 'Type', 'Size', 'Value'];
  const rows = variables.map(({ name, type, size, preview }) => [name, type, size, preview]);
  printRows(rows.length === 0 ? [] : [head, head.map((word) => '-'.repeat(word.length)), ...rows], omitted);
};

function variablesOf({ runner, given }: MagicDeps): VariableList {
  const { variables, omitted } = listVariables(runner.locals, given);
  return { variables: variables.toSorted((a, b) => (a.name < b.name ? -1 : 1)), omitted };
}

function printRows(rows: readonly (readonly string[])[], omitted: number): void {
  if (rows.length === 0) {
    process.stdout.write('The notebook has no variables yet.\n');
    return;
  }
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const more = omitted > 0 ? [`… and ${omitted.toLocaleString('en')} more.`] : [];
  process.stdout.write([...lines, ...more].map((line) => `${line}\n`).join(''));
}

export const reset: MagicRun = async ({ rest }, { runner, given, ask }) => {
  const [option, ...more] = splitArguments(rest);
  if (more.length > 0 || (option !== undefined && option !== '-f')) throw new MagicError('Write %reset, or %reset -f.');
  if (option === undefined) {
    const answer = await askOr(ask('Delete all variables of the notebook? [y/N] '), 'Use %reset -f to skip it.');
    if (!/^\s*y(es)?\s*$/i.test(answer)) {
      process.stdout.write('All variables are kept.\n');
      return;
    }
  }
  for (const name of Object.getOwnPropertyNames(runner.locals)) delete runner.locals[name];
  Object.assign(runner.locals, given);
  runner.compiler.reset();
  process.stdout.write('All variables are deleted.\n');
};

/**
 * Returns the user's answer.
 * @throws MagicError with `instead`, the alternative, if the user can't be asked
 */
export async function askOr(answer: Promise<string>, instead: string): Promise<string> {
  try {
    return await answer;
  } catch (error) {
    throw new MagicError(`The confirmation prompt got no answer. ${instead}`, { cause: error });
  }
}

export const check: MagicRun = ({ rest }, { runner: { compiler } }) => {
  const mode = typeCheckModes.find((each) => each === rest);
  if (rest !== '' && !mode) throw new MagicError(`Expected error, warn or off, got "${rest}".`);
  if (mode) compiler.typeCheck = mode;
  process.stdout.write(`${modeSentences[compiler.typeCheck]}\n`);
};

const modeSentences = {
  error: 'error: a cell with a type error does not run.',
  warn: 'warn: type errors are printed, and the cell runs.',
  off: 'off: types are not checked.',
} as const;
