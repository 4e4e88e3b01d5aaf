import {
  Binary,
  Bool,
  type Data,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Field,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  LargeUtf8,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Time,
  Timestamp,
  TimeUnit,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
} from '#arrow';
import { quotedText } from '#shared/sqlTokens.ts';
import { toParameter } from '#sql/parameters.ts';
import type { Parameter } from '#sql/messages.ts';
import type { Random } from '../../../contract/model/random.ts';
import { negativeNaN, rawColumn } from '../rawColumn.ts';

/** A literal of SQL, or a parameter. */
export type Operand = { text: string; parameters: readonly Parameter[] };

/** A type of columns: values that are easily confused with others, and what conditions compare them with. */
export type ColumnKind = {
  type: DataType;
  /** Values as they are in the buffer of the column; strings, bytes and booleans as such. */
  values: readonly unknown[];
  literals: readonly string[];
  /** Values that are passed as parameters. */
  parameters?: readonly unknown[];
};

const integers = (type: DataType, least: bigint, most: bigint): ColumnKind => {
  const values = [least, least + 1n, 0n, 1n, 2n, 5n, 100n, most - 1n, most].filter((value) => value >= least);
  const beyond = [least - 1n, most + 1n, -1n, 2n ** 53n + 1n];
  return {
    type,
    values: (least < 0n ? [...values, -1n, -5n] : values).map((value) =>
      type instanceof Int64 || type instanceof Uint64 ? value : Number(value),
    ),
    literals: [...values, ...values, ...beyond]
      .map(String)
      .concat('-0', '2.5', '1e0', "'5'", '5::BIGINT', '2.0', 'null', '99999999999999999999', '5::DOUBLE', 'true'),
    parameters: [0n, 1n, 5, 100, most, least, 2.5, null, '5'],
  };
};

const floats = (type: DataType, own: readonly number[]): ColumnKind => ({
  type,
  values: [0, -0, Number.NaN, negativeNaN, Infinity, -Infinity, 0.5, -1.5, 1, 2, ...own],
  literals: [
    ...own.map((value) => value.toExponential()),
    ...'0|-0.0|0.0|0.5|-1.5|1|2|0.1|16777216|16777217|1e300|-1e300|1e-7|5e-324|9007199254740993|null|1.0|-2'.split('|'),
    ..."'NaN'::DOUBLE|'-Infinity'::FLOAT|'Infinity'|0.1::FLOAT|-'NaN'::FLOAT|'0.5'".split('|'),
  ],
  parameters: [0, -0, 0.5, 0.1, Number.NaN, Infinity, 16777217, 2n ** 53n + 1n, null, 1],
});

const texts = '|a|A|ab|größer|Å|A\u030a|🐘|it\'s|z\\|\\n|a%b_c|`"|null|1|true|\u{10ffff}|\ufffd|\uffff| |a |ẞ|SS'
  .concat('|a text of more than twelve bytes|a text of more|\n\t|--|${x}|?|2024-02-29|', 'é'.repeat(50))
  .split('|');
const textKind = (type: DataType): ColumnKind => ({
  type,
  values: texts,
  literals: [...texts.map(quotedText), "'b'", 'null', "'A' || 'b'", "E'\\n'", "$$it's$$"],
  parameters: ['', 'a', 'größer', "it's", '🐘', 'a\0b', null],
});

const day = 86_400n;
/** 2024-02-29 12:00:00 in seconds. */
const leap = 1_709_208_000n;
const moments = (unit: TimeUnit, zone: string | null): ColumnKind => {
  const perSecond = 1000n ** BigInt(unit);
  const zoned = zone === null ? 'TIMESTAMP' : 'TIMESTAMPTZ';
  const written = ['2024-02-29 12:00:00', '1970-01-01 00:00:00', '1969-12-31 23:59:59', '2024-02-29 12:00:00.001'];
  // The engine does not mix times with a zone and times of other units.
  const canMix = zone !== null || unit === TimeUnit.MICROSECOND;
  return {
    type: new Timestamp(unit, zone),
    values: [
      0n,
      1n,
      -1n,
      leap * perSecond,
      leap * perSecond + 1n,
      (leap - day / 2n) * perSecond,
      -perSecond,
      10n ** 12n,
    ],
    literals: [
      ...written.flatMap((each) => [`${zoned} '${each}'`, `'${each}'`, `TIMESTAMP '${each}'`]),
      ..."TIMESTAMP '1969-12-31 23:59:59.999999'|DATE '2024-02-29'|DATE '1970-01-01'|'2024-02-29'|null".split('|'),
      ...(canMix ? written.map((each) => `TIMESTAMPTZ '${each}+02'`) : []),
      ...(zone === null ? ["TIMESTAMP_S '2024-02-29 12:00:00'", "TIMESTAMP_MS '1970-01-01 00:00:00.001'"] : []),
      ...(unit === TimeUnit.NANOSECOND ? ["TIMESTAMP_NS '2024-02-29 12:00:00.000000001'"] : []),
      ...(unit < TimeUnit.NANOSECOND ? ["TIMESTAMP 'infinity'", "TIMESTAMP '-infinity'"] : []),
    ],
    ...(canMix && { parameters: [new Date(0), new Date(Number(leap) * 1000), new Date(1), null] }),
  };
};
const times = (unit: TimeUnit, width: 32 | 64): ColumnKind => {
  const perSecond = 1000n ** BigInt(unit);
  const values = [0n, 1n, 43_200n * perSecond, day * perSecond - 1n, 43_200n * perSecond + 1n];
  return {
    type: new Time(unit, width),
    values: width === 32 ? values.map(Number) : values,
    literals: "'12:00:00'|'00:00:00'|'23:59:59.999999'|'12:00:00.001'|'24:00:00'|null"
      .split('|')
      .flatMap((text) =>
        text === 'null' ? text : [text, `${unit === TimeUnit.NANOSECOND ? 'TIME_NS' : 'TIME'} ${text}`],
      ),
  };
};
const decimals = (precision: number, scale: number): ColumnKind => {
  const most = 10n ** BigInt(precision) - 1n;
  const one = 10n ** BigInt(scale);
  const shown = (value: bigint): string => {
    const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
    const fraction = scale > 0 ? `.${digits.slice(-scale)}` : '';
    return `${value < 0n ? '-' : ''}${digits.slice(0, digits.length - scale)}${fraction}`;
  };
  const values = [0n, 1n, -1n, one, -one, one + 1n, 189n * one, most, -most];
  return {
    type: new Decimal(scale, precision, 128),
    values,
    literals: [
      ...values.map(shown),
      '0.001',
      '1',
      '1.0',
      '1e0',
      '18.900',
      "'1.00'",
      '2',
      'null',
      '-0',
      '99999',
      '1::DOUBLE',
    ],
    parameters: [1, 0.5, 189n, null, 2n ** 53n + 1n],
  };
};

/** One column of each type; the first are those of the smaller tables of joins. */
export const columnKinds: Readonly<Record<string, ColumnKind>> = {
  i8: integers(new Int8(), -128n, 127n),
  f64: floats(new Float64(), [1e300, 5e-324, 0.1, 2 ** 53, 2 ** 53 + 2]),
  t: textKind(new Utf8()),
  yes: {
    type: new Bool(),
    values: [true, false],
    literals: ['true', 'false', '1', '0', "'t'", 'null', '(1 = 1)', '(not true)'],
    parameters: [true, false, null],
  },
  d: {
    type: new DateDay(),
    values: [0, -1, 19_782, 19_783, 1, 11_016],
    literals: "DATE '2024-02-29'|'2024-02-29'|DATE '1970-01-01'|DATE '1969-12-31'|TIMESTAMP '2024-02-29 12:00:00'|null|"
      .concat("'2024-03-01'::DATE|DATE 'infinity'|TIMESTAMPTZ '2024-02-29 00:00:00+02'|DATE '0001-01-01 (BC)'")
      .split('|'),
    parameters: [new Date('2024-02-29'), null],
  },
  us: moments(TimeUnit.MICROSECOND, null),
  dec: decimals(9, 2),
  i64: integers(new Int64(), -(2n ** 63n), 2n ** 63n - 1n),
  f32: floats(new Float32(), [Math.fround(0.1), 16_777_216, 2 ** -149, Math.fround(3.4e38)]),
  i16: integers(new Int16(), -(2n ** 15n), 2n ** 15n - 1n),
  i32: integers(new Int32(), -(2n ** 31n), 2n ** 31n - 1n),
  u8: integers(new Uint8(), 0n, 2n ** 8n - 1n),
  u16: integers(new Uint16(), 0n, 2n ** 16n - 1n),
  u32: integers(new Uint32(), 0n, 2n ** 32n - 1n),
  u64: integers(new Uint64(), 0n, 2n ** 64n - 1n),
  large: textKind(new LargeUtf8()),
  bytes: {
    type: new Binary(),
    values: [new Uint8Array(), Uint8Array.of(0), Uint8Array.of(0, 255), Uint8Array.of(97)],
    literals: ["''::BLOB", "'\\x00\\xFF'::BLOB", "'a'::BLOB", 'null'],
    parameters: [Uint8Array.of(0, 255), new Uint8Array()],
  },
  d64: {
    type: new DateMillisecond(),
    values: [0n, -86_400_000n, 19_782n * 86_400_000n],
    literals: "DATE '2024-02-29'|'1970-01-01'|DATE '1969-12-31'|null|TIMESTAMP '2024-02-29 00:00:00'".split('|'),
  },
  s: moments(TimeUnit.SECOND, null),
  ms: moments(TimeUnit.MILLISECOND, null),
  ns: moments(TimeUnit.NANOSECOND, null),
  usz: moments(TimeUnit.MICROSECOND, 'UTC'),
  msz: moments(TimeUnit.MILLISECOND, 'Europe/Berlin'),
  sz: moments(TimeUnit.SECOND, 'UTC'),
  t32: times(TimeUnit.MILLISECOND, 32),
  t64: times(TimeUnit.MICROSECOND, 64),
  tns: times(TimeUnit.NANOSECOND, 64),
  dec38: decimals(38, 6),
  dec18: decimals(18, 0),
};

/** Returns a literal that a column of this kind may be compared with. */
export function pickOperand(random: Random, { literals, parameters }: ColumnKind): Operand {
  if (parameters && random.chance(0.15)) return { text: '?', parameters: [toParameter(random.pick(parameters))] };
  return { text: random.pick(literals), parameters: [] };
}

const nullShare = 0.12;

/** Makes a table with an `id`, a `k` of few values, and a column of each kind, with random values and nulls. */
export function makeTable(random: Random, names: readonly string[], rows: number): Table {
  const ids = makeData({ type: new Int32(), length: rows, data: Int32Array.from({ length: rows }, (_, row) => row) });
  const column = (type: DataType, pick: () => unknown): Data =>
    rawColumn(
      type,
      Array.from({ length: rows }, () => (random.chance(nullShare) ? null : pick())),
    );
  const keys = column(new Int32(), () => random.below(8));
  const own = names.map((name) => column(columnKinds[name]!.type, () => random.pick(columnKinds[name]!.values)));
  const fields = [
    new Field('id', new Int32(), false),
    new Field('k', new Int32(), true),
    ...names.map((name) => new Field(name, columnKinds[name]!.type, true)),
  ];
  const children = [ids, keys, ...own] as Data[];
  const data = makeData({ type: new Struct(fields), length: rows, nullCount: 0, children });
  return new Table([new RecordBatch(new Schema(fields), data)]);
}
