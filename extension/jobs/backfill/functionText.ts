import type { ComputedColumn, ComputedFunction } from '#shared/jobs/computedFunction.ts';

const comments: Readonly<Record<ComputedFunction['kind'], string>> = {
  sql: '--',
  typescript: '//',
  python: '#',
  server: '',
};

export function functionText(
  { column, type, author, registeredAt, function: made }: ComputedColumn,
  table: string,
): string {
  const mark = comments[made.kind];
  // Stored strings must not start a new line, which would end the comment.
  const said = [
    `Function "${made.name}" of the column "${column}" (${type}) of ${table}`,
    `Stored by "${author}" on ${registeredAt} (neither is verified)`,
    `Reads ${made.inputs.join(', ') || 'no column'}`,
    `Hash ${made.hash}`,
  ].map((line) => `${mark} ${line.replaceAll(/[\r\n\u2028\u2029]+/g, ' ')}`.trim());
  return `${said.join('\n')}\n\n${codeOf(made)}\n`;
}

/** Returns the code that runs, not the source it claims to be built from, which may be anything. */
function codeOf(made: ComputedFunction): string {
  switch (made.kind) {
    case 'sql':
      return made.expression;
    case 'python':
      return made.code;
    case 'typescript':
      return made.code;
    case 'server':
      return 'The code of this function is only on the server of the catalog.';
  }
}
