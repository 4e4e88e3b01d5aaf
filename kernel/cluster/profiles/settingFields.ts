import type { ClusterError } from '#cluster/errors.ts';
import { type FieldProblem, type Fields, readFieldTable, type Values } from '#shared/fieldTable.ts';
import { type Check, isFiniteNumber, isString } from '#shared/shape.ts';
import { toSettingName } from './settingNames.ts';
import { looksSecret, secretError, settingError, type SettingPath } from './settingPath.ts';

/**
 * Reads settings by their fields. Settings are untrusted input, because users type them, and a repository may contain
 * them.
 * @param path path of the settings, for the message
 * @throws ClusterError ProfileInvalid for the first error
 */
export function readFields<const S extends Fields>(path: SettingPath, value: unknown, fields: S): Values<S> {
  const read = readFieldTable(value, fields, {
    toName: toSettingName,
    report: (steps, problem) => {
      throw problemError([...path, ...steps], problem);
    },
    inspect: (steps, text) => {
      if (looksSecret(text)) throw secretError([...path, ...steps]);
    },
  });
  // If the value is not an object, an error was already reported.
  return read ?? {};
}

function problemError(path: SettingPath, problem: FieldProblem): ClusterError {
  switch (problem.kind) {
    case 'notSection':
      return invalidSetting(path, 'must be an object with settings', problem.value);
    case 'value':
      return invalidSetting(path, `must be ${problem.expected}`, problem.value);
    case 'unknown':
      return unknownSetting(path, problem);
    case 'duplicate':
      return settingError(path, `sets the same as ${problem.other}.`, 'Remove one of the two.');
    case 'missing':
      return settingError(path, `has no ${problem.name}.`, `Add it: ${problem.description}`);
  }
}

function unknownSetting(path: SettingPath, problem: Extract<FieldProblem, { kind: 'unknown' }>): ClusterError {
  const { name, known, meant } = problem;
  if (looksSecret('', name)) return secretError(path);
  const [root] = path;
  return settingError(
    path,
    typeof root === 'string' ? 'is not a setting of a profile.' : `is not an option of ${root.call}.`,
    meant === undefined ? `Use one of ${known.join(', ')}.` : `Did you mean ${meant}?`,
  );
}

const quantity = /^(?=[\d.]*\d)\d*\.?\d*(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;

const isQuantity: Check<number | string> = (value): value is number | string =>
  isFiniteNumber(value) ? value > 0 : isString(value) && isPositive(value);

const isPositive = (text: string): boolean => quantity.test(text) && Number.parseFloat(text) > 0;

/** A field for a number or a Kubernetes quantity. */
export const quantityField = (takes: string, description: string) => ({
  kind: 'other' as const,
  takes,
  description,
  read: (value: unknown) => (isQuantity(value) ? value : undefined),
  schema: { type: ['number', 'string'], exclusiveMinimum: 0 },
});

export function invalidSetting(path: SettingPath, mustBe: string, value: unknown): ClusterError {
  const where = typeof path[0] === 'string' ? 'profile' : 'call';
  return settingError(path, `${mustBe}, but is ${shown(value)}.`, `Correct it in the ${where}.`);
}

/** Shows a value for a message. Long strings are not quoted, because they may be a pasted secret. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return value === null ? 'null' : 'an object';
  if (typeof value !== 'string') return JSON.stringify(value) ?? typeof value;
  if (value === '') return 'empty';
  if (value.length > 80) return `a string of ${value.length} characters`;
  // A URL may have a password or a signed query, which the user may not notice when pasting it.
  if (/:\/\/[^/]*@|\?/.test(value)) return 'a URL with a password or a query';
  return JSON.stringify(value);
}
