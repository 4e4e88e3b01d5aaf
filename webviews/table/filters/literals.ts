import { cutText } from '#shared/format/markup.ts';
import { quotedText } from '#shared/sqlTokens.ts';
import { dateMillisecondText, dateText, timestampText, timeText, zoneOffset } from '#shared/format/times.ts';
import { type FilterType, typedZone } from './columnType.ts';

/** What a user has typed as SQL, or why it is not a value of the column. */
export type TypedLiteral = { readonly sql: string } | { readonly problem: string };

/** Where a typed day ends up if it stands for a time: at its first or its last moment. */
export type DayEdge = 'start' | 'end';

/** Writes what a user has typed as an exact literal for a column. */
export function writeLiteral(type: FilterType, typed: string, edge: DayEdge = 'start'): TypedLiteral {
  const text = type.kind === 'text' ? typed : typed.trim();
  switch (type.kind) {
    case 'text':
      return { sql: quotedText(text) };
    case 'integer':
      return integerLiteral(type, text);
    case 'float':
      return floatLiteral(text);
    case 'decimal':
      return decimalLiteral(type, text);
    case 'date':
      return isDay(text) ? { sql: `date '${text}'` } : { problem: expected('a date such as 2026-01-31', text) };
    case 'time':
      return timeLiteral(type, text);
    case 'timestamp':
      return timestampLiteral(type, text, edge);
    case 'boolean':
    case 'vector':
    case 'other':
      return { problem: 'The column has no values to compare.' };
  }
}

/** Returns what a user would type for a literal that `writeLiteral` has written; undefined for other SQL. */
export function readLiteral(type: FilterType, sql: string): string | undefined {
  const quoted = /^(?:date |timestamp |arrow_cast\(|CAST\()?'((?:[^']|'')*)'/.exec(sql)?.[1]?.replaceAll("''", "'");
  const text = quoted ?? sql;
  const typed = type.kind === 'timestamp' ? typedTime(type, text) : text;
  const again = writeLiteral(type, typed);
  return 'sql' in again && again.sql === sql ? typed : undefined;
}

/** Returns a value of SQL as the grid shows it, also if it is a count of days or of units of time. */
export function literalText(type: FilterType, sql: string): string | undefined {
  const typed = readLiteral(type, sql);
  if (typed !== undefined) return typed;
  const count = /^arrow_cast\((?:arrow_cast\()?(-?\d+)\b/.exec(sql)?.[1];
  if (count === undefined) return undefined;
  if (type.kind === 'date') return type.unit === 0 ? dateText(Number(count)) : dateMillisecondText(BigInt(count));
  if (type.kind === 'time') return timeText(BigInt(count), type.unit);
  return type.kind === 'timestamp' ? timestampText(BigInt(count), type.unit, typedZone(type)) : undefined;
}

/** Whether a string is a day without a time. */
export const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && isRealDay(text);

const isRealDay = (text: string): boolean => {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
};

const maxShown = 40;

const expected = (what: string, got: string): string => {
  const shown = cutText(got, maxShown);
  return `Expected ${what}, got ${shown === '' ? 'nothing' : `"${shown}"`}.`;
};

function integerLiteral({ bits, isSigned }: FilterType, text: string): TypedLiteral {
  if (!/^[+-]?\d{1,20}$/.test(text)) return { problem: expected('a whole number', text) };
  const value = BigInt(text.replace('+', ''));
  const [least, most] = isSigned
    ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
    : [0n, 2n ** BigInt(bits) - 1n];
  if (value < least || value > most) return { problem: expected(`a number from ${least} to ${most}`, text) };
  // The engine reads the number without its minus first, which does not fit 64 bits.
  return { sql: value === -(2n ** 63n) ? `CAST('${value}' AS BIGINT)` : String(value) };
}

function floatLiteral(text: string): TypedLiteral {
  if (/^[+-]?inf(?:inity)?$/i.test(text)) return { sql: `CAST('${text.startsWith('-') ? '-' : ''}inf' AS DOUBLE)` };
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) || !Number.isFinite(Number(text)))
    return { problem: expected('a number', text) };
  const value = Number(text);
  // Plain digits beyond this range would be read as an exact number.
  return { sql: Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value) };
}

function decimalLiteral({ bits, precision, scale }: FilterType, text: string): TypedLiteral {
  const found = /^([+-]?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (!found) return { problem: expected('a decimal number', text) };
  const [, sign = '', whole = '', fraction = ''] = found;
  const digits = Math.max(0, scale);
  if (fraction.length > digits) return { problem: expected(`at most ${digits} digits after the point`, text) };
  if (whole.replace(/^0+/, '').length > precision - scale)
    return { problem: expected(`a number of at most ${precision} digits`, text) };
  const value = `${sign === '-' ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
  return { sql: castText(value, `Decimal${bits === 256 ? 256 : 128}(${precision}, ${scale})`) };
}

const unitNames = ['Second', 'Millisecond', 'Microsecond', 'Nanosecond'] as const;

const castText = (text: string, type: string): string => `arrow_cast('${text}', '${type}')`;

const clock = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?$/;

/** Returns a time of day with seconds; undefined if it is not valid, or has more digits than the unit. */
function readClock(text: string, { unit }: FilterType): string | undefined {
  const [, hour, minute, second = '00', fraction] = clock.exec(text) ?? [];
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (fraction !== undefined && fraction.length > unit * 3) return undefined;
  return `${hour}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}`;
}

function timeLiteral(type: FilterType, text: string): TypedLiteral {
  const time = readClock(text, type);
  if (time === undefined) return { problem: expected(`a time such as 13:45:00${fractionHint(type)}`, text) };
  return { sql: castText(time, `Time${type.bits}(${unitNames[type.unit]})`) };
}

const fractionHint = ({ unit }: FilterType): string =>
  unit === 0 ? '' : `, with at most ${unit * 3} digits of a second`;

function timestampLiteral(type: FilterType, text: string, edge: DayEdge): TypedLiteral {
  const [, day = '', time, offset] =
    /^(\d{4}-\d{2}-\d{2})(?:[ T]+(\d[\d:.]*))?\s*(Z|[+-]\d{2}:?\d{2})?$/i.exec(text) ?? [];
  const last = `23:59:59${type.unit === 0 ? '' : `.${'9'.repeat(type.unit * 3)}`}`;
  const read = time === undefined ? (edge === 'end' ? last : '00:00:00') : readClock(time, type);
  if (!isDay(day) || read === undefined)
    return { problem: expected(`a time such as 2026-01-31 13:45:00${fractionHint(type)}`, text) };
  if (offset !== undefined && type.zone === undefined)
    return { problem: `The times of the column have no zone. Leave out "${offset}".` };
  const [seconds = '', fraction] = read.split('.');
  const zone = typedZone(type);
  const wall = Date.parse(`${day}T${seconds}Z`);
  const utc =
    zone === undefined ? wall : wall - (offset === undefined ? offsetOfClock(zone, wall) : readOffset(offset));
  const exact = `${new Date(utc).toISOString().slice(0, 19)}${fraction === undefined ? '' : `.${fraction}`}`;
  // The engine takes a time in UTC to the zone of the column; `timestamp` would shift it there, and cut nanoseconds.
  if (type.zone !== undefined && (type.zone !== 'UTC' || type.unit === 3))
    return { sql: castText(`${exact}Z`, `Timestamp(${unitNames[type.unit]}, Some("UTC"))`) };
  if (type.unit === 3) return { sql: castText(exact, 'Timestamp(Nanosecond, None)') };
  return { sql: `timestamp '${exact.replace('T', ' ')}${type.zone === undefined ? '' : 'Z'}'` };
}

const readOffset = (text: string): number => {
  const found = /^([+-])(\d{2}):?(\d{2})$/.exec(text);
  return found ? (found[1] === '-' ? -1 : 1) * (Number(found[2]) * 60 + Number(found[3])) * 60_000 : 0;
};

/** Returns the offset of a zone from UTC in milliseconds, at a time of its clocks. */
function offsetOfClock(zone: string, wall: number): number {
  const first = offsetAt(zone, wall);
  // The offset may change between the two times.
  return offsetAt(zone, wall - first);
}

/** As the grid shows times, in UTC if the machine does not know the zone. */
const offsetAt = (zone: string, utc: number): number => (zoneOffset(zone, BigInt(Math.floor(utc / 1000))) ?? 0) * 1000;

/** Returns a time of a literal as it is typed: with `Z` if the user types another zone than UTC. */
function typedTime(type: FilterType, text: string): string {
  const plain = text.replace('T', ' ').replace(/Z$/, '');
  return type.zone === undefined || typedZone(type) === 'UTC' ? plain : `${plain}Z`;
}
