import assert from 'node:assert/strict';
import {
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Field,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table as ArrowTable,
  Int32,
  Time,
  Timestamp,
  TimeUnit,
} from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { catalogTables } from '#sql/catalogTables.ts';
import type { Parameter } from '#sql/messages.ts';
import { openSqlEngine } from '#sql/sqlEngine.ts';
import { arrowTable, type SqlTables } from '#sql/sqlTable.ts';
import { Random } from '../../contract/model/random.ts';
import { tempFolder } from '../../harness/temp.ts';

// Dates, times and decimals in conditions: the rows that a query finds with conditions that the table applies are those
// that DuckDB finds in all rows.

const { SECOND, MILLISECOND, MICROSECOND, NANOSECOND } = TimeUnit;
const rows = 300;
const perSecond = (unit: TimeUnit): bigint => 1000n ** BigInt(unit);

/** Moments in seconds, around which the values and the literals of a test are, so that they often meet. */
const moments = [0n, 86_400n, -86_400n, 1_709_164_800n, 1_709_164_800n + 43_200n, 951_782_400n, -2_208_988_800n];

type Column = { type: DataType; value: (random: Random) => bigint };

const timestamp = (unit: TimeUnit, zone: string | null): Column => ({
  type: new Timestamp(unit, zone),
  value: (random) => {
    const near = random.pick(moments) * perSecond(unit);
    return random.chance(0.5) ? near : near + BigInt(random.below(5) - 2);
  },
});
const decimal = (scale: number, precision: number): Column => ({
  type: new Decimal(scale, precision, 128),
  value: (random) => {
    if (random.chance(0.1)) return (10n ** BigInt(precision) - 1n) * (random.chance(0.5) ? 1n : -1n);
    return BigInt(random.below(41) - 20) * 10n ** BigInt(random.below(Math.min(scale, 12) + 1));
  },
});
const time = (unit: TimeUnit, bits: 32 | 64): Column => ({
  type: new Time(unit, bits),
  value: (random) => {
    const second = random.pick([0n, 1n, 43_200n, 86_399n]) * perSecond(unit);
    return random.chance(0.5) ? second : second + BigInt(random.below(2)) * (unit === SECOND ? 0n : 1n);
  },
});

const columns: Readonly<Record<string, Column>> = {
  day: { type: new DateDay(), value: (random) => random.pick(moments) / 86_400n + BigInt(random.below(3) - 1) },
  day64: { type: new DateMillisecond(), value: (random) => (random.pick(moments) / 86_400n) * 86_400_000n },
  s: timestamp(SECOND, null),
  ms: timestamp(MILLISECOND, null),
  us: timestamp(MICROSECOND, null),
  ns: timestamp(NANOSECOND, null),
  s_utc: timestamp(SECOND, 'UTC'),
  ms_berlin: timestamp(MILLISECOND, 'Europe/Berlin'),
  us_west: timestamp(MICROSECOND, 'America/New_York'),
  ns_utc: timestamp(NANOSECOND, 'UTC'),
  t_s: time(SECOND, 32),
  t_ms: time(MILLISECOND, 32),
  t_us: time(MICROSECOND, 64),
  t_ns: time(NANOSECOND, 64),
  price: decimal(2, 10),
  whole: decimal(0, 20),
  fine: decimal(10, 38),
  finest: decimal(25, 38),
};

/** Returns the words of a decimal as Arrow stores them. */
const decimalWords = (values: readonly bigint[]): Uint32Array => {
  const words = new BigUint64Array(values.length * 2);
  values.forEach((value, index) => {
    words[index * 2] = BigInt.asUintN(64, value);
    words[index * 2 + 1] = BigInt.asUintN(64, value >> 64n);
  });
  return new Uint32Array(words.buffer);
};

function columnData(random: Random, { type, value }: Column): ReturnType<typeof makeData> {
  const values = Array.from({ length: rows }, () => value(random));
  const bitmap = new Uint8Array(Math.ceil(rows / 8)).fill(255);
  let nullCount = 0;
  for (let row = 0; row < rows; row += 7) {
    bitmap[row >> 3]! &= ~(1 << (row & 7));
    nullCount++;
  }
  const isShort = type instanceof DateDay || (type instanceof Time && type.bitWidth === 32);
  const data =
    type instanceof Decimal
      ? decimalWords(values)
      : isShort
        ? Int32Array.from(values, Number)
        : BigInt64Array.from(values);
  return makeData({ type, length: rows, nullCount, nullBitmap: bitmap, data } as never);
}

function makeTable(random: Random): ArrowTable {
  const ids = makeData({ type: new Int32(), length: rows, data: Int32Array.from({ length: rows }, (_, row) => row) });
  const key = makeData({
    type: new Int32(),
    length: rows,
    data: Int32Array.from({ length: rows }, () => random.below(40)),
  });
  const fields: Field[] = [new Field('id', new Int32(), true), new Field('key', new Int32(), true)];
  const children = [ids, key];
  for (const [name, column] of Object.entries(columns)) {
    fields.push(new Field(name, column.type, true));
    children.push(columnData(random, column) as never);
  }
  const schema = new Schema(fields);
  const data = makeData({ type: new Struct(fields), length: rows, nullCount: 0, children });
  return new ArrowTable(schema, [new RecordBatch(schema, data)]);
}

const pad = (count: bigint | number, digits = 2): string => String(count).padStart(digits, '0');

/** Returns a moment with a fraction of a second that some units of time don't have. */
function momentText(random: Random): string {
  const seconds = random.pick(moments);
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19).replace('T', ' ');
  if (random.chance(0.3)) return text.slice(0, 10);
  return text + random.pick(['', '', '.001', '.000001', '.5', '.0000005']);
}

function literal(random: Random, name: string): { text: string; parameter?: Parameter } {
  const { type } = columns[name]!;
  if (type instanceof Decimal) {
    const digits = String(random.below(400));
    const text = random.pick([
      `${random.below(20) - 10}`,
      `${random.below(20)}.${pad(random.below(100))}`,
      `-0.${digits}`,
      `0.${pad(random.below(1000), 12)}`,
      `${random.below(9)}.${pad(random.below(1000), 26)}`,
      '99999999.99',
      '9223372036854775807',
      `${random.below(5)}e0`,
    ]);
    if (random.chance(0.2)) return { text: `'${text}'` };
    if (random.chance(0.2)) {
      const scale = random.below(4);
      return { text: '?', parameter: { type: 'decimal', unscaled: BigInt(random.below(400) - 200), scale } };
    }
    return { text };
  }
  if (type instanceof Time) {
    const text = `'${random.pick(['00:00:00', '00:00:01', '12:00:00', '23:59:59', '12:00:00.001', '00:00:00.000001'])}'`;
    if (random.chance(0.2))
      return { text: '?', parameter: { type: 'time', micros: BigInt(random.pick([0, 1, 43_200_000_000, 1_000_000])) } };
    return { text: random.chance(0.5) ? `time ${text}` : text };
  }
  if (random.chance(0.15)) {
    const micros = random.pick(moments) * 1_000_000n + BigInt(random.pick([0, 0, 1, 1000]));
    return { text: '?', parameter: { type: 'timestamp', micros } };
  }
  const text = `'${momentText(random)}'`;
  return {
    text: random.pick([text, `timestamp ${text}`, `${text}::timestamptz`, `date '${text.slice(1, 11)}'`]),
  };
}

type Condition = { text: string; parameters: Parameter[] };

function condition(random: Random, table: string, names = Object.keys(columns)): Condition {
  const name = random.pick(names);
  const parameters: Parameter[] = [];
  const next = (): string => {
    const { text, parameter } = literal(random, name);
    if (parameter) parameters.push(parameter);
    return text;
  };
  const column = `${table}."${name}"`;
  const text = random.pick([
    () => `${column} ${random.pick(['=', '<', '<=', '>', '>=', '<>'])} ${next()}`,
    () => `${next()} ${random.pick(['=', '<', '<=', '>', '>='])} ${column}`,
    () => `${column} between ${next()} and ${next()}`,
    () => `${column} in (${next()}, ${next()}, ${next()})`,
    () => `(${column} < ${next()} or ${column} is null)`,
    () => `${column} is ${random.pick(['', 'not '])}null`,
  ])();
  return { text, parameters };
}

suite('Dates, times and decimals in conditions', function () {
  this.timeout(180_000);
  const seed = Number(process.env['SQL_SEED'] ?? 7);
  /** More conditions than usual, to search for a difference. */
  const times = Number(process.env['SQL_TIMES'] ?? 1);
  const engine = openSqlEngine();
  let db: Catalog;
  /** The rows as DuckDB alone filters them, and as the table filters them before. */
  let plain: SqlTables;
  let reading: SqlTables;
  const filters = new Map<string, Set<string>>();

  suiteSetup(async () => {
    db = await openDir({ root: tempFolder() });
    const tables: Readonly<Record<string, ArrowTable>> = {
      t: makeTable(new Random(seed)),
      u: makeTable(new Random(seed + 1)),
    };
    for (const [name, table] of Object.entries(tables)) await db.createTable(name, table);
    plain = { find: async ({ name }) => arrowTable(name, tables[name]!) };
    const inCatalog = catalogTables({ catalog: db });
    reading = {
      async find(name, signal) {
        const table = await inCatalog.find(name, signal);
        return {
          ...table,
          scan(request, scanSignal) {
            const known = filters.get(name.name) ?? new Set();
            if (request.filter !== undefined) filters.set(name.name, known.add(request.filter));
            return table.scan(request, scanSignal);
          },
        };
      },
    };
  });
  suiteTeardown(() => db?.close());

  async function find(text: string, parameters: readonly Parameter[], tables: SqlTables): Promise<string> {
    const found: string[] = [];
    try {
      const { batches } = await engine.query({ text, parameters, tables }, new AbortController().signal);
      for await (const batch of batches)
        for (const row of new ArrowTable([batch])) found.push(JSON.stringify(Object.values(row.toJSON() as object)));
    } catch (error) {
      return String(error);
    }
    return found.toSorted().join();
  }

  async function compare(text: string, parameters: readonly Parameter[]): Promise<string> {
    const [all, filtered] = [await find(text, parameters, plain), await find(text, parameters, reading)];
    assert.equal(
      filtered,
      all,
      `${text} ${JSON.stringify(parameters, (_, value) => (typeof value === 'bigint' ? String(value) : value))}, SQL_SEED=${seed}`,
    );
    return all;
  }

  test('find the rows that DuckDB finds', async () => {
    const random = new Random(seed + 2);
    let errors = 0;
    filters.clear();
    for (let count = 0; count < 160 * times; count++) {
      const { text, parameters } = condition(random, 't');
      const found = await compare(`select id from t where ${text}`, parameters);
      if (/Error/.test(found)) errors++;
    }
    assert.ok(errors < 40 * times, `${errors} of the conditions are errors`);
    const passed = [...(filters.get('t') ?? [])];
    assert.ok(passed.length > 60, `${passed.length} conditions`);
    const table = await db.openTable('t');
    // A table that refuses a condition is read whole, so a refusal would not be seen above.
    for (const filter of passed) await table.countRows(filter);
  });

  test('find the rows that DuckDB finds, in ON of every join', async () => {
    const random = new Random(seed + 3);
    const joins = ['join', 'left join', 'right join', 'full join', 'semi join', 'anti join'];
    const names = Object.keys(columns);
    for (let count = 0; count < 60 * times; count++) {
      const join = joins[count % joins.length]!;
      const on = [condition(random, 'a', names), condition(random, 'b', names)];
      const where = random.chance(0.5) ? [condition(random, 'a', names)] : [];
      const isOne = join === 'semi join' || join === 'anti join';
      const columnsOfResult = isOne ? 'a.id' : 'a.id, b.id';
      const texts = on.map(({ text }) => text).join(random.chance(0.8) ? ' and ' : ' or ');
      const text = `select ${columnsOfResult} from t a ${join} u b on a.key = b.key and (${texts})${where.map((each) => ` where ${each.text}`).join('')}`;
      await compare(
        text,
        [...on, ...where].flatMap(({ parameters }) => parameters),
      );
    }
    const nested = [
      "select a.id, b.id, c.id from t a left join (u b join t c on b.key = c.key and c.day > '2024-02-28' and b.price < 1) on a.key = b.key and b.s is null and a.id < 9",
      "select a.id, b.id, c.id from (t a left join u b on a.key = b.key and b.price > 1.5) join t c on b.key = c.key and b.price is null and a.day = '2024-02-29'",
      'select a.id, b.id from t a full join u b on a.key = b.key and a.price > 1 where b.day is null or a.day is null',
    ];
    for (const text of nested) await compare(text, []);
  });

  test('are applied by the table', async () => {
    const passed: readonly (readonly [condition: string, filter: string])[] = [
      ["day >= '2024-02-29'", "`day` >= arrow_cast(arrow_cast(19782, 'Int32'), 'Date32')"],
      ["ms < timestamp '1970-01-01 00:00:01'", "`ms` < arrow_cast(1000, 'Timestamp(Millisecond, None)')"],
      [
        "ms_berlin = '1970-01-02'",
        '`ms_berlin` = arrow_cast(86400000, \'Timestamp(Millisecond, Some("Europe/Berlin"))\')',
      ],
      ["ns > '1970-01-01 00:00:00.000001'", "`ns` > arrow_cast(1000, 'Timestamp(Nanosecond, None)')"],
      ["t_ms = time '00:00:01.5'", "`t_ms` = arrow_cast(arrow_cast(1500, 'Int32'), 'Time32(Millisecond)')"],
      [
        'price between 1 and 2.5',
        "(`price` >= arrow_cast('1.00', 'Decimal128(10, 2)') AND `price` <= arrow_cast('2.50', 'Decimal128(10, 2)'))",
      ],
      [
        "fine in (-0.5, '7')",
        "`fine` IN (arrow_cast('-0.5000000000', 'Decimal128(38, 10)'), arrow_cast('7.0000000000', 'Decimal128(38, 10)'))",
      ],
    ];
    for (const [text, filter] of passed) {
      filters.clear();
      await compare(`select id from t where ${text}`, []);
      assert.deepEqual([...(filters.get('t') ?? [])], [`(${filter})`], text);
    }
    const kept = [
      "day64 = '2024-02-29'",
      "ms = timestamp '1970-01-01 00:00:00.0005'",
      "ns_utc = timestamptz '1970-01-01 00:00:00'",
      'price = 1.005',
      'price = 1e0',
      'finest > 9223372036854775807',
      "day = '2024-02-29 12:00:00'",
      "us = '2024-02-29T12:00:00+01:00'",
    ];
    for (const text of kept) {
      filters.clear();
      await compare(`select id from t where ${text}`, []);
      assert.deepEqual([...filters], [], text);
    }
  });
});
