import { DataType, type RecordBatch } from '#arrow';
import { isTextType } from '#shared/arrow/arrowTypes.ts';
import { csvReader, rowReader } from './columnTexts.ts';
import type { ExportedRows } from './exportFormats.ts';

/** Characters that are encoded at once. A batch of wide rows is split, because a string has at most 512 MB. */
const chunkCharacters = 256 * 1024;

export type CsvOptions = {
  /**
   * Puts `'` before text that starts with `=`, `+`, `-`, `@`, a tab or a line break. Spreadsheets run such text as a
   * formula. Default: false, because the values are then not exact.
   */
  readonly escapeFormulas?: boolean | undefined;
};

/** Encodes rows as CSV by RFC 4180: lines end with CRLF, and the first one has the names of the columns. */
export async function* encodeCsv(
  { schema, batches }: ExportedRows,
  { escapeFormulas = false }: CsvOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const escape = (text: string): string => (escapeFormulas && /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text);
  const names = schema.fields.map(({ name }) => quoteField(escape(name)));
  const isText = schema.fields.map(({ type }) => mayBeFormula(type as DataType));
  yield* encodeRows(`${names.join(',')}\r\n`, '', batches, (batch) => {
    const readers = schema.fields.map((_, column) => csvReader(batch.data.children[column]));
    return (row) => {
      let line = '';
      for (const [column, read] of readers.entries()) {
        const text = read(row);
        if (column > 0) line += ',';
        if (text !== null) line += quoteField(isText[column] ? escape(text) : text);
      }
      return `${line}\r\n`;
    };
  });
}

// Numbers keep their sign, because no number is a formula. Lists, structs and maps start with a bracket.
const mayBeFormula = (type: DataType): boolean =>
  isTextType(DataType.isDictionary(type) ? (type.dictionary as DataType) : type);

/** Quotes a field if it needs quotes, or if it is empty, because an empty field without quotes is null. */
const quoteField = (text: string): string =>
  text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** Encodes rows as objects of JSON, one per line. */
export async function* encodeJsonLines({ schema, batches }: ExportedRows): AsyncGenerator<Uint8Array, void, undefined> {
  yield* encodeRows('', '', batches, (batch) => {
    const read = rowReader(schema, batch);
    return (row) => `${read(row)}\n`;
  });
}

/** Encodes rows as one array of JSON, with one object per line. */
export async function* encodeJson({ schema, batches }: ExportedRows): AsyncGenerator<Uint8Array, void, undefined> {
  let isFirst = true;
  yield* encodeRows('[', '\n]\n', batches, (batch) => {
    const read = rowReader(schema, batch);
    return (row) => {
      const start = isFirst ? '\n' : ',\n';
      isFirst = false;
      return start + read(row);
    };
  });
}

/** Encodes rows between a start and an end; at least one chunk per batch, so that readers see it early. */
async function* encodeRows(
  start: string,
  end: string,
  batches: AsyncIterable<RecordBatch>,
  rowText: (batch: RecordBatch) => (row: number) => string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let text = start;
  for await (const batch of batches) {
    const read = rowText(batch);
    for (let row = 0; row < batch.numRows; row++) {
      text += read(row);
      if (text.length < chunkCharacters) continue;
      yield Buffer.from(text);
      text = '';
    }
    if (text !== '') yield Buffer.from(text);
    text = '';
  }
  text += end;
  if (text !== '') yield Buffer.from(text);
}
