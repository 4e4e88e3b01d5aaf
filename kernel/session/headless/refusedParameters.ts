import type { Injected, Written } from './parameters.ts';

/** A value of the command line is shown as far as this. */
const maxShown = 60;

const findings = /\[\d+\]:(\d+):\d+ - error TS\d+/g;

/** Of each parameter that the check of types refused, which it is and how it is written. */
export function refusedParameters(traceback: string, { written }: Injected): string[] {
  const refused = [...traceback.matchAll(findings)].map(([, line]) => parameterAt(written, Number(line)));
  return [...new Set(refused)].filter((each) => each !== undefined).map(described);
}

/** A type may be written over several lines. The first line is a comment. */
function parameterAt(written: readonly Written[], line: number): Written | undefined {
  let last = 1;
  return written.find(({ code }) => (last += code.split('\n').length) >= line);
}

function described({ name, text, type, value }: Written): string {
  const shown = `-p ${name}=${text.length > maxShown ? `${text.slice(0, maxShown)}…` : text}`;
  if (type === undefined) return `${shown} does not fit "${name}" as the notebook declares it.`;
  return `${shown} is ${kindOf(value)}, and "${name}" is declared as ${type.replaceAll(/\s+/g, ' ')}. ${hintFor(name, type)}`;
}

function kindOf(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return 'text';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return typeof value === 'bigint' ? 'a bigint' : 'a number';
}

function hintFor(name: string, type: string): string {
  const example = examples[type] ?? (type.endsWith('[]') ? `'NAME=["a", "b"]'` : undefined);
  if (example === undefined) return 'Write a value of that type in JSON.';
  return `Write for instance -p ${example.replace('NAME', () => name)}.`;
}

/** As a shell takes them. */
const examples: Readonly<Record<string, string>> = {
  number: 'NAME=10',
  bigint: 'NAME=10',
  boolean: 'NAME=true',
  string: `'NAME="text"'`,
  'number[]': "'NAME=[1, 2]'",
};
