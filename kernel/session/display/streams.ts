import { Table as ArrowTable, type RecordBatch, type Schema } from '#arrow';
import { batchAdopter } from '#shared/arrow/adoptTable.ts';
import { schemaText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import { previewLimits } from '#shared/mime.ts';
import { liveOutput } from './live.ts';
import { pluralize, escapeHtml } from '#shared/format/markup.ts';
import { arrowTable, isRecordBatch } from './typeGuards.ts';
import { htmlAndText, type ShowOptions, type RenderedOutput } from './mimeBundle.ts';
import { showTable } from './tables.ts';

/** Rows that an output shows while batches arrive. */
const liveRows = 100;

type Source = { schema?: Schema | undefined; batches: AsyncIterable<unknown> };

/**
 * Shows record batches as they arrive: the first rows and the row count so far. Other rows are not kept.
 * @throws CatalogError InvalidInput (13) if an item is not a record batch or has other columns; also any error of the
 * source
 */
export async function showStream(
  { schema: known, batches }: Source,
  put: (shown: RenderedOutput) => void,
  options: ShowOptions = {},
): Promise<void> {
  const { limit = previewLimits.rows, signal = new AbortController().signal } = options;
  const live = liveOutput(put);
  let schema = known && arrowTable(known)?.schema;
  let adopt = schema && batchAdopter(schema);
  const kept: RecordBatch[] = [];
  let keptRows = 0;
  let rows = 0;
  let count = 0;
  const draw = (isDone: boolean) => (): RenderedOutput => {
    if (!schema) return htmlAndText('<p>No batches yet</p>', 'No batches yet');
    if (!isDone) return counting(new ArrowTable(schema, kept), rows, count);
    return showTable(new ArrowTable(schema, kept), rows, options);
  };
  let isDone = false;
  live.update(draw(false));
  try {
    for await (const item of abortable(batches, signal)) {
      if (!isRecordBatch(item)) throw notABatch(count, item);
      schema ??= arrowTable(item)!.schema;
      adopt ??= batchAdopter(schema);
      const own = arrowTable(item)!.schema;
      if (schemaText(own) !== schemaText(schema)) throw otherColumns(count, own, schema);
      const batch = adopt(item)!;
      count++;
      rows += batch.numRows;
      if (keptRows < limit && batch.numRows > 0) {
        const part = batch.numRows > limit - keptRows ? batch.slice(0, limit - keptRows) : batch;
        kept.push(part);
        keptRows += part.numRows;
      }
      live.update(draw(false));
    }
    isDone = !signal.aborted;
  } finally {
    live.end(isDone ? draw(true) : draw(false));
  }
}

/** Renders the rows so far; every form of the output shows the row count. */
function counting(table: ArrowTable, rows: number, batches: number): RenderedOutput {
  // This output stays small, because it may change ten times a second. A `limit` of the user applies only to the output
  // of the complete stream.
  const part = table.numRows > liveRows ? table.slice(0, liveRows) : table;
  // Thumbnails would be made again for each change, so only the output of the complete stream has them.
  const shown = showTable(part, rows, { thumbnails: false });
  const line = `${pluralize(rows, 'row')} in ${pluralize(batches, 'batch', 'batches')} so far`;
  const { data, metadata } = shown;
  return {
    data: {
      ...data,
      'text/html': `<p>${escapeHtml(line)}</p>${String(data['text/html'])}`,
      'text/plain': `${String(data['text/plain'])}\n${line}`,
    },
    metadata: Object.fromEntries(
      Object.entries(metadata).map(([mime, each]) => [mime, { ...(each as object), facts: line }]),
    ),
  };
}

/** Yields the items until the signal aborts, even while the next item is pending, and then closes the source. */
async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const items = source[Symbol.asyncIterator]();
  const heard = new AbortController();
  const stopped = new Promise<'stopped'>((resolve) => {
    signal.addEventListener('abort', () => resolve('stopped'), { once: true, signal: heard.signal });
    if (signal.aborted) resolve('stopped');
  });
  let isDone = false;
  try {
    for (;;) {
      const next = await Promise.race([stopped, items.next()]);
      if (next === 'stopped') return;
      isDone = next.done === true;
      if (isDone) return;
      yield next.value as T;
    }
  } finally {
    heard.abort();
    // The return is not awaited, because a source that hangs would make this loop hang too.
    if (!isDone) void Promise.resolve(items.return?.()).catch(() => {});
  }
}

const notABatch = (index: number, item: unknown): CatalogError =>
  new CatalogError(
    'InvalidInput',
    `Expected a record batch as item ${index} of the stream, got ${item === null ? 'null' : `a value of type ${typeof item}`}.`,
    'Loop over the stream with for await, and display each item.',
  );

const otherColumns = (index: number, own: Schema, schema: Schema): CatalogError =>
  new CatalogError(
    'InvalidInput',
    `Batch ${index} has the columns ${schemaText(own)}, but earlier batches have ${schemaText(schema)}.`,
    'Display streams with different columns separately.',
  );
