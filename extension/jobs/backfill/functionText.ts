import { escapeInvisibleCharacters } from '#shared/format/markup.ts';
import type { ComputedColumn, ComputedFunction } from '#shared/jobs/computedFunction.ts';

const comments: Readonly<Record<ComputedFunction['kind'], string>> = {
  sql: '--',
  typescript: '//',
  python: '#',
  server: '',
};

/** Maximum characters in a line. An editor hides the end of a very long line, and a reader may not scroll to it. */
const longestLine = 200;

/** Returns a document with the whole code of a stored function, for review before it runs. */
export function functionText(
  { column, type, author, registeredAt, function: made }: ComputedColumn,
  table: string,
): string {
  const mark = comments[made.kind];
  // Replace line breaks in stored strings, because a new line would end the comment.
  const said = [
    `Function "${made.name}" of the column "${column}" (${type}) of ${table}`,
    `Stored by "${author}" on ${registeredAt} (neither is verified)`,
    `Reads ${made.inputs.join(', ') || 'no column'}`,
    `Hash ${made.hash}`,
    `${made.kind === 'typescript' ? 'Only this code runs. The source that is stored beside it may differ, and is not shown. ' : ''}Lines longer than ${longestLine} characters continue after ↩.`,
  ].map((line) => `${mark} ${line.replaceAll(/[\r\n\u2028\u2029]+/g, ' ')}`.trim());
  return escapeInvisibleCharacters(`${said.join('\n')}\n\n${breakLines(codeOf(made).replaceAll('\r\n', '\n'))}\n`);
}

const breakLines = (code: string): string =>
  code
    .split('\n')
    .map((line) => (line.match(longLines) ?? []).join(' ↩\n'))
    .join('\n');

// The flag `u` counts code points, so that no surrogate pair is split.
const longLines = new RegExp(`.{1,${longestLine}}`, 'gsu');

/** Returns the code that runs. The stored source is not shown, because it may differ from the code. */
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
