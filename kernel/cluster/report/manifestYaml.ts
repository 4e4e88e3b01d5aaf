// Kubernetes manifests as people write them. Only writes, and only what JSON can hold: a library that reads YAML is in the
// bundle of the clouds, and documents of the editor and outputs of notebooks are drawn without that.

/** Objects as one YAML document each, with `---` between them. */
export const manifestsYaml = (objects: readonly unknown[]): string => objects.map(manifestYaml).join('---\n');

/** One value as YAML in block style. What JSON leaves out, `undefined` among it, is left out. */
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
  // kubectl and most people write lists below a key without moving them in.
  return [`${key}:`, ...(Array.isArray(value) ? lines : lines.map((line) => `  ${line}`))];
}

function itemLines(value: unknown): string[] {
  const [first = '', ...rest] = linesOf(value);
  return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
}

/** Whether it takes lines of its own. */
const isNested = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).some((each) => each !== undefined);

/** Words that a reader of YAML 1.1 or 1.2 takes for something else than text. */
const reserved = /^(?:~|null|true|false|yes|no|on|off|y|n)$/i;
/** Letters first, so neither a number nor a date nor a mark of YAML; nothing that ends the text early. */
const plain = /^[A-Za-z_][\w./-]*(?::[\w./-]+)*$/;

/** Text without quotes where that is read back as the same text; JSON, which YAML includes, elsewhere. */
function scalar(value: unknown): string {
  if (typeof value === 'string' && plain.test(value) && !reserved.test(value)) return value;
  return (JSON.stringify(value) ?? 'null').replaceAll(lineEnds, escaped);
}

/** What JSON does not mind and a reader of YAML may take for the end of a line, or refuse. */
const lineEnds = /[\u007f-\u009f\u2028\u2029\ufeff]/g;
const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
