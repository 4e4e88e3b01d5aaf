import {
  ARRAY,
  BIGINT,
  DOUBLE,
  DuckDBDecimalValue,
  DuckDBIntervalValue,
  type DuckDBPreparedStatement,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimeValue,
  FLOAT,
  LIST,
  VARCHAR,
} from '@duckdb/node-api';
import type { Parameter } from '#sql/messages.ts';
import { maxDigits } from './engineTypes.ts';

const maxInt32 = 2n ** 31n - 1n;
const maxInt64 = 2n ** 63n - 1n;
const maxUint64 = 2n ** 64n - 1n;

/** Sets a parameter of a query, by its number from 1. Integers have the smallest type, as literals in SQL have. */
export function bindParameter(statement: DuckDBPreparedStatement, index: number, parameter: Parameter): void {
  switch (parameter.type) {
    case 'null':
      return statement.bindNull(index);
    case 'boolean':
      return statement.bindBoolean(index, parameter.value);
    case 'integer':
      return bindInteger(statement, index, parameter.value);
    case 'double':
      return statement.bindDouble(index, parameter.value);
    case 'text':
      return statement.bindVarchar(index, parameter.value);
    case 'bytes':
      return statement.bindBlob(index, parameter.value);
    case 'decimal':
      return statement.bindDecimal(index, new DuckDBDecimalValue(parameter.unscaled, maxDigits, parameter.scale));
    case 'time':
      return statement.bindTime(index, new DuckDBTimeValue(parameter.micros));
    case 'timestamp':
      return statement.bindTimestampTZ(index, new DuckDBTimestampTZValue(parameter.micros));
    case 'timestampNs':
      return statement.bindTimestampNanoseconds(index, new DuckDBTimestampNanosecondsValue(parameter.nanos));
    case 'interval':
      return statement.bindInterval(index, new DuckDBIntervalValue(0, 0, parameter.micros));
    case 'integers':
      return bindNumbers(statement, index, parameter.value, BIGINT);
    case 'doubles':
      return bindNumbers(statement, index, parameter.value, DOUBLE);
    case 'floats':
      return bindNumbers(statement, index, Array.from(parameter.value), FLOAT);
    case 'texts':
      return statement.bindList(index, parameter.value, LIST(VARCHAR));
  }
}

function bindInteger(statement: DuckDBPreparedStatement, index: number, value: bigint): void {
  if (value >= -maxInt32 && value <= maxInt32) statement.bindInteger(index, Number(value));
  else if (value >= -maxInt64 - 1n && value <= maxInt64) statement.bindBigInt(index, value);
  else if (value >= 0n && value <= maxUint64) statement.bindUBigInt(index, value);
  else statement.bindHugeInt(index, value);
}

/** Binds an array of a fixed size, because functions of vectors take no lists. An empty array is a list. */
function bindNumbers(
  statement: DuckDBPreparedStatement,
  index: number,
  values: readonly (number | bigint)[],
  type: typeof BIGINT | typeof DOUBLE | typeof FLOAT,
): void {
  if (values.length === 0) statement.bindList(index, [], LIST(type));
  else statement.bindArray(index, [...values], ARRAY(type, values.length));
}
