import type { DapVariable } from './debugVariables.ts';

/** JupyterLab's words for types, which are Python's: with any other it shows the type in place of the value. */
const words: Partial<Record<string, string>> = { string: 'str', boolean: 'bool' };

/** The client that says so of itself in `initialize`. */
export const jupyterLab = 'jupyterlab';

/** A variable as JupyterLab shows it by its value. */
export function forJupyterLab({ type, ...variable }: DapVariable): Omit<DapVariable, 'type'> & { type?: string } {
  const word = type === 'number' ? numberWord(variable.value) : words[type];
  return word === undefined ? variable : { ...variable, type: word };
}

// It reads them as Python's numbers again, which have no NaN.
const numberWord = (value: string): string | undefined =>
  /^-?\d+$/.test(value) ? 'int' : /^-?\d/.test(value) ? 'float' : undefined;
