import type { ComputedColumn, ComputedFunction } from '#shared/jobs/computedFunction.ts';

const comments: Readonly<Record<ComputedFunction['kind'], string>> = {
  sql: '--',
  typescript: '//',
  python: '#',
  server: '',
};

/** The code with what is known of it above, as comments of its language. */
export function functionText(
  { column, type, author, registeredAt, function: made }: ComputedColumn,
  table: string,
): string {
  const mark = comments[made.kind];
  // A comment ends with its line: what the table says must not begin another.
  const said = [
    `Function "${made.name}" of the column "${column}" (${type}) of ${table}`,
    `Stored by "${author}" on ${registeredAt}; nobody vouches for either`,
    `Reads ${made.inputs.join(', ') || 'no column'}`,
    `Hash ${made.hash}`,
  ].map((line) => `${mark} ${line.replaceAll(/[\r\n\u2028\u2029]+/g, ' ')}`.trim());
  return `${said.join('\n')}\n\n${codeOf(made)}\n`;
}

/** What runs: not the source that it is said to be made of, which may be anything. */
function codeOf(made: ComputedFunction): string {
  switch (made.kind) {
    case 'sql':
      return made.expression;
    case 'python':
      return made.code;
    case 'typescript':
      return made.code;
    case 'server':
      return 'Only the server of the catalog has this function.';
  }
}
