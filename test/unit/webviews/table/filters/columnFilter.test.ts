import assert from 'node:assert/strict';
import {
  type ColumnFilter,
  type Comparison,
  type Condition,
  operatorsOf,
  readTerm,
  valueCount,
  writeFilter,
} from '../../../../../webviews/table/filters/columnFilter.ts';
import { filterType } from '../../../../../webviews/table/filters/columnType.ts';
import { filterLabel } from '../../../../../webviews/table/filters/filterLabels.ts';

const types: Readonly<Record<string, string>> = {
  id: 'int64',
  small: 'uint8',
  x: 'double',
  half: 'halffloat',
  price: 'decimal128(10, 2)',
  day: 'date32',
  clock: 'time64[us]',
  at: 'timestamp[us, UTC]',
  berlin: 'timestamp[ms, Europe/Berlin]',
  nano: 'timestamp[ns]',
  done: 'bool',
  t: 'large_utf8',
  order: 'utf8',
  'Odd name': 'utf8',
  v: 'fixed_size_list<float>[3]',
  tags: 'list<utf8>',
};
const columns = Object.entries(types).map(([name, type]) => ({ name, type, nullable: true }));
const columnOf = (name: string) => columns.find((column) => column.name === name)!;

const compare = (operator: Comparison['operator'], values: string[] = [], ignoresCase = false): Condition => ({
  kind: 'comparison',
  operator,
  values,
  ignoresCase,
});
const choose = (literals: string[], change: Partial<Condition> = {}): Condition =>
  ({ kind: 'values', isExcluded: false, literals, hasNull: false, hasNaN: false, ...change }) as Condition;
const all = (...conditions: Condition[]): ColumnFilter => ({ match: 'all', conditions });
const any = (...conditions: Condition[]): ColumnFilter => ({ match: 'any', conditions });

/** What the user has set, the SQL for it, and what a chip says. */
const examples: readonly (readonly [name: string, filter: ColumnFilter, sql: string, label: string])[] = [
  ['id', all(compare('atLeast', ['5'])), 'id >= 5', 'id ≥ 5'],
  [
    'id',
    all(compare('between', ['-1', '9007199254740993'])),
    'id BETWEEN -1 AND 9007199254740993',
    'id -1 – 9007199254740993',
  ],
  [
    'id',
    all(compare('equals', ['-9223372036854775808'])),
    "id = CAST('-9223372036854775808' AS BIGINT)",
    'id = -9223372036854775808',
  ],
  ['x', all(compare('more', ['1.5'])), '(x > 1.5 AND NOT isnan(x))', 'x > 1.5'],
  [
    'x',
    all(compare('between', ['-inf', '0'])),
    "(x BETWEEN CAST('-inf' AS DOUBLE) AND 0 AND NOT isnan(x))",
    'x -inf – 0',
  ],
  ['x', all(compare('differs', ['0'])), '(x <> 0 OR x IS NULL)', 'x ≠ 0'],
  ['x', all(compare('isNumber')), 'NOT isnan(x)', 'x is not NaN'],
  ['half', all(compare('atMost', ['0.5'])), '(CAST(half AS DOUBLE) <= 0.5 AND NOT isnan(half))', 'half ≤ 0.5'],
  ['price', all(compare('less', ['12.50'])), "price < arrow_cast('12.50', 'Decimal128(10, 2)')", 'price < 12.50'],
  [
    'day',
    all(compare('between', ['2026-01-01', '2026-01-31'])),
    "day BETWEEN date '2026-01-01' AND date '2026-01-31'",
    'day 2026-01-01 – 2026-01-31',
  ],
  [
    'clock',
    all(compare('atLeast', ['13:45:00.5'])),
    "clock >= arrow_cast('13:45:00.5', 'Time64(Microsecond)')",
    'clock ≥ 13:45:00.5',
  ],
  [
    'at',
    all(compare('less', ['2026-01-01 10:00:00'])),
    "at < timestamp '2026-01-01 10:00:00Z'",
    'at < 2026-01-01 10:00:00',
  ],
  [
    'nano',
    all(compare('atLeast', ['2026-01-01 00:00:00.000000001'])),
    "nano >= arrow_cast('2026-01-01T00:00:00.000000001', 'Timestamp(Nanosecond, None)')",
    'nano ≥ 2026-01-01 00:00:00.000000001',
  ],
  ['done', all(compare('isTrue')), 'done = true', 'done is true'],
  ['t', all(compare('contains', ["It's"], false)), "contains(t, 'It''s')", 't contains "It\'s"'],
  [
    't',
    all(compare('lacks', ['mug'], true)),
    "(NOT contains(lower(t), 'mug') OR t IS NULL)",
    't does not contain "mug"',
  ],
  ['t', all(compare('startsWith', ['Äpfel'], true)), "starts_with(lower(t), lower('Äpfel'))", 't starts with "Äpfel"'],
  ['order', all(compare('equals', ['a = b'])), "`order` = 'a = b'", 'order is "a = b"'],
  [
    'Odd name',
    any(compare('isNull'), compare('endsWith', ['x'])),
    "(`Odd name` IS NULL OR ends_with(`Odd name`, 'x'))",
    'Odd name is null or ends with "x"',
  ],
  ['v', all(compare('hasNaN')), 'isnan(array_max(v))', 'v has a NaN'],
  ['v', all(compare('isZero')), '(array_min(v) = 0 AND array_max(v) = 0)', 'v is all zero'],
  ['tags', all(compare('isNull')), 'tags IS NULL', 'tags is null'],
  [
    'x',
    all(compare('atLeast', ['1']), compare('atMost', ['2'])),
    '((x >= 1 AND NOT isnan(x)) AND (x <= 2 AND NOT isnan(x)))',
    'x ≥ 1 and ≤ 2',
  ],
  ['t', all(choose(["'DE'", "'a, b'"])), "t IN ('DE', 'a, b')", 't is DE, a, b'],
  ['t', all(choose(["'DE'"], { isExcluded: true })), "(t NOT IN ('DE') OR t IS NULL)", 't is not DE'],
  ['t', all(choose(["'DE'"], { isExcluded: true, hasNull: true })), "t NOT IN ('DE')", 't is not DE, null'],
  [
    'x',
    all(choose(['1', '2', '3'], { hasNull: true, hasNaN: true })),
    '(x IN (1, 2, 3) OR isnan(x) OR x IS NULL)',
    'x is 5 values',
  ],
  ['x', all(choose([], { isExcluded: true, hasNaN: true })), '(NOT isnan(x) OR x IS NULL)', 'x is not NaN'],
];

const sqlOf = (name: string, condition: Condition): string => {
  const written = writeFilter(columnOf(name), all(condition));
  return 'sql' in written ? written.sql : written.problem;
};

suite('The filter of a column', () => {
  for (const [name, filter, sql, label] of examples)
    test(`${label} is written as SQL and read again`, () => {
      assert.deepEqual(writeFilter(columnOf(name), filter), { sql });
      const read = readTerm(sql, columns);
      assert.equal(columns[read!.column]!.name, name);
      assert.deepEqual(writeFilter(columnOf(name), read!.filter), { sql });
      assert.equal(filterLabel(columnOf(name), read!.filter), label);
    });

  test('has a day as all of its times, in the zone of the column', () => {
    assert.equal(
      sqlOf('at', compare('equals', ['2026-01-31'])),
      "at BETWEEN timestamp '2026-01-31 00:00:00Z' AND timestamp '2026-01-31 23:59:59.999999Z'",
    );
    assert.equal(
      sqlOf('berlin', compare('between', ['2026-03-29', '2026-03-29'])),
      `berlin BETWEEN arrow_cast('2026-03-28T23:00:00Z', 'Timestamp(Millisecond, Some("UTC"))') AND ` +
        `arrow_cast('2026-03-29T21:59:59.999Z', 'Timestamp(Millisecond, Some("UTC"))')`,
    );
    assert.equal(sqlOf('at', compare('more', ['2026-01-31'])), "at > timestamp '2026-01-31 23:59:59.999999Z'");
    assert.equal(sqlOf('at', compare('less', ['2026-01-31'])), "at < timestamp '2026-01-31 00:00:00Z'");
    assert.equal(
      sqlOf('berlin', compare('less', ['2026-01-31 10:00:00+05:30'])),
      `berlin < arrow_cast('2026-01-31T04:30:00Z', 'Timestamp(Millisecond, Some("UTC"))')`,
    );
  });

  test('says what is wrong with a value', () => {
    for (const [name, value, problem] of [
      ['id', '1.5', 'Expected a whole number, got "1.5".'],
      [
        'id',
        '9223372036854775808',
        'Expected a number from -9223372036854775808 to 9223372036854775807, got "9223372036854775808".',
      ],
      ['small', '-1', 'Expected a number from 0 to 255, got "-1".'],
      ['x', 'NaN', 'Expected a number, got "NaN".'],
      ['x', '', 'Expected a number, got nothing.'],
      ['price', '1.234', 'Expected at most 2 digits after the point, got "1.234".'],
      ['price', '123456789', 'Expected a number of at most 10 digits, got "123456789".'],
      ['day', '2026-02-30', 'Expected a date such as 2026-01-31, got "2026-02-30".'],
      ['clock', '25:00', 'Expected a time such as 13:45:00, with at most 6 digits of a second, got "25:00".'],
      ['nano', '2026-01-01 00:00:00Z', 'The times of the column have no zone. Leave out "Z".'],
    ] as const)
      assert.deepEqual(writeFilter(columnOf(name), all(compare('atLeast', [value]))), { problem, condition: 0 });
  });

  test('is read also if a name that needs no backticks has them', () => {
    const read = readTerm("(`t` <> 'DE' OR `t` IS NULL)", columns);
    assert.deepEqual(read?.filter, all(compare('differs', ['DE'])));
  });

  test('of a nested field names its whole path', () => {
    const nested = [
      { name: 'at', type: 'struct<…>', nullable: true },
      { name: 'at.x', type: 'int32', nullable: true, parent: 0 },
      { name: 'at.`post.box`', type: 'utf8', nullable: true, parent: 0 },
    ];
    for (const [column, filter, sql] of [
      [1, all(compare('equals', ['5'])), '`at`.`x` = 5'],
      [2, all(compare('differs', ['a'])), "(`at`.`post.box` <> 'a' OR `at`.`post.box` IS NULL)"],
    ] as const) {
      assert.deepEqual(writeFilter(nested[column]!, filter), { sql });
      assert.deepEqual(readTerm(sql, nested), { column, filter });
    }
    assert.equal(readTerm('`at`.`y` = 5', nested), undefined);
  });

  test('is not read from other SQL', () => {
    for (const sql of [
      'id >= 05',
      'ID >= 5',
      'id >= 5 AND id <= 6',
      'x > 1.5',
      '(x > 1.5 AND NOT isnan(half))',
      "t IN ('DE','FR')",
      "t LIKE '%a%'",
      'id = small',
      'at < 5',
      'nothing = 1',
      '`x.y` = 1',
      "contains(lower(t), 'Mug')",
    ])
      assert.equal(readTerm(sql, columns), undefined, sql);
  });

  test('has only operators whose values can be written for each kind of column', () => {
    const values: Record<string, string> = {
      integer: '5',
      float: '5',
      decimal: '5',
      date: '2026-01-31',
      time: '10:00:00',
      timestamp: '2026-01-31 10:00:00',
      text: "a' OR 'b",
    };
    for (const column of columns) {
      const { kind } = filterType(column);
      for (const operator of operatorsOf[kind]) {
        const typed = Array.from({ length: valueCount(operator) }, () => values[kind]!);
        const written = writeFilter(column, all(compare(operator, typed)));
        assert.ok('sql' in written, JSON.stringify(written));
        assert.ok(readTerm(written.sql, columns), written.sql);
      }
    }
  });
});
