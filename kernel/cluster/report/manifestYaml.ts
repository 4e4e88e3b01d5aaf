// Writes Kubernetes manifests in the usual style. Editor documents and notebook outputs are rendered without the cloud
// bundle, which contains a YAML library. Therefore this file writes YAML itself, but only values that JSON can
// represent.

/** Writes each object as a YAML document, with `---` between them. */
export const manifestsYaml = (objects: readonly unknown[]): string => objects.map(manifestYaml).join('---\n');

/** Writes a value as YAML in block style, without `undefined` and other values that JSON omits. */
export const manifestYaml = (value: unknown): string => `${linesOf(value).join('\n')}\n`;

function linesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.length === 0 ? ['[]'] : value.flatMap(itemLines);
  if (typeof value !== 'object' || value === null) return [scalar(value)];
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return entries.length === 0 ? ['{}'] : entries.flatMap(([key, each]) => entryLines(scalar(key), each));
}

function entryLines(key: string, value: unknown): string[] {
  const lines = linesOf(value);
  if (!isNested(value)) return [`${key}: ${lines[0] ?? ''}`];
  // Lists are not indented below their key, as in kubectl.
  return [`${key}:`, ...(Array.isArray(value) ? lines : lines.map((line) => `  ${line}`))];
}

function itemLines(value: unknown): string[] {
  const [first = '', ...rest] = linesOf(value);
  return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
}

/** Whether the value is written on separate lines. */
const isNested = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).some((each) => each !== undefined);

/** Words that YAML 1.1 or 1.2 parses as something other than a string. */
const reserved = /^(?:~|null|true|false|yes|no|on|off|y|n)$/i;
/**
 * Matches a string that can be written without quotes. It starts with a letter, so it is not a number, a date or YAML
 * syntax, and has no character that ends a plain scalar.
 */
const plain = /^[A-Za-z_][\w./-]*(?::[\w./-]+)*$/;

/** Writes a string plain if it is parsed as the same string, else as JSON, which YAML includes. */
function scalar(value: unknown): string {
  if (typeof value === 'string' && plain.test(value) && !reserved.test(value)) return value;
  return (JSON.stringify(value) ?? 'null').replaceAll(lineEnds, escaped);
}

/** Characters that are valid in JSON, but line breaks or errors for YAML parsers. */
const lineEnds = /[\u007f-\u009f\u2028\u2029\ufeff]/g;
const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
