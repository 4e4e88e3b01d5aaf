import { CatalogError } from '#shared/errors.ts';

const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

/** What the command line gives in place of a value of the notebook: as it was written, and what that is. */
export type Parameter = { readonly text: string; readonly value: unknown };

/**
 * Reads one `name=value`. The value is what it is as JSON (`5`, `true`, `null`, `["a", "b"]`, `"5"`), else the text itself.
 * Whole numbers that a number can't hold are bigints.
 * @throws CatalogError InvalidInput (13) when there is no `=`, or no name of a variable before it
 */
export function readParameter(argument: string): [name: string, parameter: Parameter] {
  const at = argument.indexOf('=');
  const name = argument.slice(0, Math.max(at, 0)).trim();
  const hint = 'Write name=value, for instance limit=10.';
  if (at < 0) throw new CatalogError('InvalidInput', `The parameter "${argument}" has no value.`, hint);
  if (!identifier.test(name)) throw new CatalogError('InvalidInput', `"${name}" is no name of a variable.`, hint);
  const text = argument.slice(at + 1);
  try {
    return [name, { text, value: JSON.parse(text, exactNumber) as unknown }];
  } catch {
    return [name, { text, value: text }];
  }
}

/** The text of a number that is being read, which Node gives since 22 and its types do not know. */
function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source ?? '';
  return typeof value === 'number' && /^-?\d+$/.test(source) && !Number.isSafeInteger(value) ? BigInt(source) : value;
}

/** A value of JSON, or a bigint, as an expression of TypeScript. */
export function literal(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : JSON.stringify(value);
  const entries = Object.entries(value).map(([name, each]) => `${keyOf(name)}: ${literal(each)}`);
  return entries.length > 0 ? `{ ${entries.join(', ')} }` : '{}';
}

/** In brackets it is a property; bare it would set the prototype. */
const keyOf = (name: string): string => (name === '__proto__' ? '["__proto__"]' : JSON.stringify(name));
