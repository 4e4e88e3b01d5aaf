import { DataType } from '#arrow';
import { namesText } from '#shared/format/markup.ts';
import { nearestName } from '#shared/names.ts';
import { firstSentence, subjectText, type ErrorRule, type Subject } from './engineText.ts';

type Told = [what: string, hint: string];

const begin = String.raw`^(?:Invalid input, )+(?:Error parsing function: )?`;

/**
 * Rules for errors of queries and filters. The engine repeats the filter, which can contain any word, so these patterns
 * match only from the start of a message.
 */
export const queryRules: readonly ErrorRule[] = [
  {
    // Only the condition of a merge has two sides.
    pattern: new RegExp(String.raw`${begin}Schema error: Ambiguous reference to unqualified field (.+?)\.?(?:\n|$)`),
    kind: 'InvalidInput',
    say: (subject, found) => {
      const name = found[1]!.replaceAll(/[`"]/g, '');
      return [
        `${subjectText(subject)}: the condition of the merge does not say which column "${name}" it means.`,
        `Write target.${name} for the row of the table, or source.${name} for the new row.`,
      ];
    },
  },
  {
    pattern: new RegExp(
      String.raw`${begin}Schema error: No field named (.+?)\.(?: Did you mean '.*'\?\.?)?` +
        String.raw`(?: Valid fields are ([^\n]*?)\.?(?:\n|$)|\s*(?:\n|$))`,
    ),
    kind: 'ColumnNotFound',
    say: (subject, found) => columnNotFound(subject, found[1]!, found[2]),
  },
  {
    pattern: /^(?:Invalid input, )+No vector column found to match with the query vector dimension: (\d+)/,
    kind: 'InvalidInput',
    say: (subject, found) => [
      `${subjectText(subject)} has no column with vectors of ${found[1]} numbers.`,
      vectorHint(subject),
    ],
  },
  {
    pattern: /^(?:Invalid input, )+query dim\((\d+)\) doesn't match the column (.+) vector dim\((\d+)\)/,
    kind: 'InvalidInput',
    say: (subject, found) => [
      `${subjectText(subject)}: the column "${found[2]}" holds vectors of ${found[3]} numbers, not ${found[1]}.`,
      'Search with a vector of that length.',
    ],
  },
  {
    pattern: /^(?:Invalid input, )+Data type is not a vector/,
    kind: 'InvalidInput',
    say: (subject) => [`${subjectText(subject)}: the column to search holds no vectors.`, vectorHint(subject)],
  },
  {
    pattern:
      /^(?:Invalid input, )+(?:Error during planning: Filter predicate must return BOOLEAN values, got \w+|The filter [^]* does not return a boolean)/,
    kind: 'InvalidInput',
    say: (subject) => [
      `${subjectText(subject)}: ${subject.filter === undefined ? 'the filter' : `the filter "${subject.filter}"`} is not a condition that is true or false.`,
      'Write a comparison, for instance id > 3 or name IS NOT NULL.',
    ],
  },
  {
    // The quoted text is a value of the rows, or a literal in the SQL.
    pattern:
      /^(?:Invalid input, |lance error: |LanceError\(\w+\): )*Cast error: (Can(?:not|'t) cast [^\n]*? to (?:value of|type) \w+)/,
    kind: 'InvalidInput',
    say: (subject, found) => [
      `${subjectText(subject)}: ${found[1]!.replace(/^Can(?:not|'t)/, "the SQL can't")}.`,
      'Exclude such rows with a filter, or write try_cast(… AS …), which returns null.',
    ],
  },
  {
    pattern: /^Invalid expression for column '(?:.*?)': unknown column '(.+?)'/,
    kind: 'ColumnNotFound',
    say: (subject, found) => columnNotFound(subject, found[1]!, undefined),
  },
  {
    pattern: /^Invalid expression for column '(.*?)': /,
    kind: 'InvalidInput',
    say: (subject, found) => [`${subjectText(subject)}: ${firstSentence(found.input)}.`, ''],
  },
  {
    pattern: /^(?:Invalid input, )+the column must be specified in the query/,
    kind: 'InvalidInput',
    say: (subject) => [
      `${subjectText(subject)}: a phrase can be searched in only one column, but several columns have a full-text index.`,
      "Name the column: search(text, 'fts', 'column'). The indexes and their columns: listIndices().",
    ],
  },
  {
    pattern: /^(?:Invalid input, )+position is not found but required for phrase queries/,
    kind: 'InvalidInput',
    say: (subject) => [
      `${subjectText(subject)}: the index to search has no positions of words, which phrases need.`,
      'Create it again with createIndex(column, { type: "FTS", withPosition: true }).',
    ],
  },
  {
    pattern: /^(?:Invalid input, |lance error: |LanceError\(\w+\): )+FTS field path '(.+?)' does not exist/,
    kind: 'ColumnNotFound',
    say: (subject, found) => columnNotFound(subject, found[1]!, undefined),
  },
  {
    pattern: /^(?:Invalid input, )+Operator && is not supported/,
    kind: 'Unsupported',
    say: (subject) => [`${subjectText(subject)}: the operator && is not supported in a filter.`, 'Write AND / OR.'],
  },
  {
    pattern: /^(?:Invalid input, )+Error during planning: Cannot infer common string type for string concat operation/,
    kind: 'InvalidInput',
    say: (subject) => [
      `${subjectText(subject)}: the operator || joins strings in a filter.`,
      'Write AND / OR for conditions.',
    ],
  },
  {
    // The engine adds "Invalid user input" if the expression is a value of an update.
    pattern: /^(?:Invalid input, )+Invalid user input: Expression '([^]*)' is not supported/,
    kind: 'InvalidInput',
    say: (subject, found) => [
      `${subjectText(subject)}: the engine does not support this (Expression '${found[1]}' is not supported SQL in lance).`,
      /^\s*CASE\b/i.test(found[1]!) ? caseHint : '',
    ],
  },
  {
    pattern: /^(?:Invalid input, )+Expression 'CASE [^]*' is not supported/i,
    kind: 'Unsupported',
    say: (subject, found) => [notSupported(subject, found.input)[0], caseHint],
  },
  {
    pattern: /^(?:lance error: )?Not supported: Nested column references are not yet supported\. Referenced: ([^\s,]+)/,
    kind: 'Unsupported',
    say: (subject, found) => {
      const [column = '', ...path] = found[1]!.split('.');
      return [
        `${subjectText(subject)}: the nested field "${found[1]}" can't be updated alone.`,
        `Set the whole column by SQL: valuesSql: { ${column}: "named_struct('${path[0] ?? ''}', …)" }.`,
      ];
    },
  },
  {
    pattern:
      /^(?:Invalid input, )+(?:Expression '[^]*' is not supported|Operator .+ is not supported|Unsupported data)/,
    kind: 'Unsupported',
    say: (subject, found) => notSupported(subject, found.input),
  },
  {
    pattern: /^(?:Invalid input, )+Error parsing statement: SELECT 1 FROM t WHERE ([^]*) \(sql parser error: ([^]*)\)/,
    kind: 'InvalidInput',
    say: (subject, found) => notParsed(subject, found[1], found[2]!),
  },
  {
    pattern: /^(?:Invalid input, )+invalid SQL predicate: ([^\n]*)/,
    kind: 'InvalidInput',
    say: (subject, found) => notParsed(subject, subject.filter, found[1]!),
  },
  {
    pattern:
      /^(?:Invalid input, )+Error resolving filter expression ([^]*): Invalid user input: Received literal [^]* and could not convert to literal of type '(Timestamp|Date)/,
    kind: 'InvalidInput',
    say: (subject, found) => [
      `${subjectText(subject)}: the filter "${found[1]}" compares a ${found[2]!.toLowerCase()} with a value of another type.`,
      `Write for instance ${found[2] === 'Date' ? "date '2023-01-01'" : "timestamp '2023-01-01 00:00:00'"}.`,
    ],
  },
  {
    pattern:
      /^(?:Invalid input, )+(?:Error parsing|Error resolving|Error during planning|invalid SQL|Invalid escape|The filter)/i,
    kind: 'InvalidInput',
    say: (subject, found) => [`${subjectText(subject)}: ${firstSentence(found.input)}.`, ''],
  },
];

/** Returns the message for a missing column; `columns` is the engine's list of columns, if it gives one. */
export function columnNotFound(subject: Subject, name: string, columns: string | undefined): Told {
  const isMerge = /\bsource\.__merge_source_sentinel\b/.test(columns ?? '');
  const whole = name.replaceAll(/[`"]/g, '');
  const plain = isMerge ? whole.replace(/^(?:target|source)\./, '') : whole;
  const fields = subject.fields?.map((field) => field.name);
  const known = fields ? namesText(fields) : columns && ownColumns(columns);
  const meant = nearestName(plain, fields ?? known?.split(', ') ?? []);
  const nearest = meant === undefined ? '' : ` Did you mean ${columnText(meant, subject)}?`;
  const hint = known ? `It has: ${known}.${nearest}` : 'See schema() for the columns.';
  // In SQL, text in double quotes is a name. This surprises users of other languages, so the hint explains it.
  const isQuoted = subject.filter?.includes(`"${plain}"`) ?? false;
  return [
    `${subjectText(subject)} has no column "${plain}".`,
    isQuoted ? `Put strings in single quotes: '${plain}'. ${hint}` : hint,
  ];
}

/** Returns a column as a filter has it: SQL reads a name with other characters only in backticks. */
const columnText = (name: string, { filter }: Subject): string =>
  filter === undefined || /^[A-Za-z_]\w*$/.test(name) ? `"${name}"` : `\`${name}\`, with the backticks`;

const caseHint = 'Write a filter with AND, OR and NOT; set values with one update({ where, values }) for each case.';

export const notSupported = (subject: Subject, text: string): Told => [
  `${subjectText(subject)}: the engine does not support this (${firstSentence(text)}).`,
  '',
];

function notParsed(subject: Subject, filter: string | undefined, problem: string): Told {
  const shown = filter === undefined ? 'The filter' : `The filter "${filter}"`;
  return [
    `${subjectText(subject)}: ${shown} can't be parsed (${problem.replace(/[.\s]+$/, '')}).`,
    `Write SQL, for instance id > 3 AND name = 'mug'.`,
  ];
}

function vectorHint({ fields }: Subject): string {
  if (!fields) return 'See schema() for the vector columns.';
  const vectors = fields.flatMap(({ name, type }) =>
    DataType.isFixedSizeList(type) ? [`"${name}" of ${type.listSize} numbers`] : [],
  );
  return vectors.length > 0 ? `Its vectors: ${vectors.join(', ')}.` : 'None of its columns holds vectors.';
}

/** Removes the internal columns from the engine's list. */
const ownColumns = (columns: string): string =>
  columns
    .split(', ')
    .map((column) => column.replaceAll(/[`"]/g, ''))
    .filter((column) => !column.startsWith('_row'))
    .join(', ');
