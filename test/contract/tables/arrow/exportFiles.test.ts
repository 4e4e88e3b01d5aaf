import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordBatch, Table } from '#arrow';
import type { ExportFormat } from '#catalog/export/exportFormats.ts';
import { exportRows } from '#catalog/export/exportRows.ts';
import { isCatalogError } from '#shared/errors.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { python } from '../../../harness/needs/python.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { shapeRows, writeShapes } from './arrowShapes.ts';

/** Types that the reader of streams refuses, so that no rows of them can be exported. */
const unread = new Set(['list_view', 'large_list_view', 'run_end_encoded']);
/** Types that Parquet does not have. */
const notInParquet = new Set(['interval', 'sparse_union', 'dense_union']);

// Compares a file with the rows that pyarrow wrote. Dictionaries are values in files, because a file has one dictionary.
// Times in seconds and 64-bit dates are other types in Parquet.
const reader = `
import sys, json
import pyarrow as pa, pyarrow.parquet as pq
def plain(type):
    if pa.types.is_dictionary(type): return type.value_type
    if pa.types.is_list(type): return pa.list_(plain(type.value_type))
    return type
def in_parquet(type):
    if type == pa.date64(): return pa.date32()
    if type == pa.time32("s"): return pa.time32("ms")
    if pa.types.is_timestamp(type) and type.unit == "s": return pa.timestamp("ms", type.tz)
    if pa.types.is_dictionary(type): return type.value_type
    return type
def plain_name(type): return pa.utf8() if type == pa.string_view() else pa.binary() if type == pa.binary_view() else type
def column(table): return table.column("x")
for line in sys.stdin:
    name, stream, file = json.loads(line)
    with pa.OSFile(stream) as source: expected = column(pa.ipc.open_stream(source).read_all())
    if file.endswith("parquet"):
        found = column(pq.read_table(file))
        wanted = in_parquet(expected.type)
        if pa.types.is_dictionary(expected.type) or pa.types.is_dictionary(found.type): found = found.cast(wanted)
    else:
        with pa.OSFile(file) as source: found = column(pa.ipc.open_file(source).read_all())
        wanted = plain(expected.type)
    found.validate(full=True)
    wanted = plain_name(wanted)
    rows = lambda array: [value.as_py() if pa.types.is_nested(array.type) or not hasattr(value, "value") else value.value for value in array]
    problems = []
    if found.type != wanted and not (file.endswith("parquet") and name == "dictionary_list"): problems.append(f"type {found.type}, expected {wanted}")
    original = expected.cast(wanted) if expected.type != wanted and name != "dictionary_list" else expected
    if rows(found) != rows(original): problems.append(f"rows {rows(found)[:9]}, expected {rows(original)[:9]}")
    print(json.dumps([name, problems]))
`;

async function* twice(table: Table): AsyncGenerator<RecordBatch> {
  for (const batch of table.batches) {
    const half = Math.floor(batch.numRows / 2);
    yield batch.slice(0, half);
    yield batch.slice(half, batch.numRows);
  }
}

async function fileOf(table: Table, format: ExportFormat): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of exportRows({ schema: table.schema, batches: twice(table) }, format)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

suite('Exported files, read back by pyarrow', function () {
  this.timeout(120_000);

  for (const format of ['arrow', 'parquet'] as const) {
    test(`have every type and value of Arrow: ${format}`, async () => {
      const folder = tempFolder();
      const { names, bytesOf } = writeShapes();
      const lines: string[] = [];
      const refused: string[] = [];
      for (const name of names.filter((each) => !unread.has(each))) {
        const table = readArrow(bytesOf(name));
        assert.equal(table.numRows, shapeRows);
        const [stream, file] = [join(folder, `${name}.arrows`), join(folder, `${name}.${format}`)];
        writeFileSync(stream, bytesOf(name));
        try {
          writeFileSync(file, await fileOf(table, format));
          lines.push(JSON.stringify([name, stream, file]));
        } catch (error) {
          assert.ok(isCatalogError(error, 'Unsupported'), String(error));
          refused.push(name);
        }
      }
      assert.deepEqual(new Set(refused), format === 'parquet' ? notInParquet : new Set());
      const { status, stdout, stderr } = spawnSync(python(), ['-c', reader], {
        input: lines.join('\n'),
        encoding: 'utf8',
        timeout: 60_000,
      });
      assert.equal(status, 0, stderr);
      const found = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as [name: string, problems: string[]]);
      assert.deepEqual(
        found.filter(([, problems]) => problems.length > 0),
        [],
      );
      assert.equal(found.length, lines.length);
    });
  }
});
