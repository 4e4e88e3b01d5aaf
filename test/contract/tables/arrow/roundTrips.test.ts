import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RecordBatch, Table, tableToIPC } from '#arrow';
import { readIpc } from '#catalog/arrow/ipcReader.ts';
import type { Catalog } from '#catalog/catalog.ts';
import { python } from '../../../harness/needs/python.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { forEachSubject } from '../../subjects.ts';

// Every type, with the limits of its range and with nulls, written by pyarrow. Each column becomes a table that is read
// and written again, and pyarrow compares types, values and nulls. Only whether a column has a dictionary may differ.

const writer = `
import sys, decimal, datetime
import pyarrow as pa
D = decimal.Decimal
pa_types = {
    "int8": (pa.int8(), [-128, 127, 0]), "uint8": (pa.uint8(), [0, 255]),
    "int16": (pa.int16(), [-32768, 32767]), "uint16": (pa.uint16(), [0, 65535]),
    "int32": (pa.int32(), [-2**31, 2**31 - 1]), "uint32": (pa.uint32(), [0, 2**32 - 1]),
    "int64": (pa.int64(), [-2**63, 2**63 - 1, 2**53 + 1]), "uint64": (pa.uint64(), [0, 2**64 - 1]),
    "half": (pa.float16(), [1.5, -65504.0, float("inf")]),
    "float": (pa.float32(), [1.5, -0.0, 3.4028234663852886e38, float("-inf")]),
    "double": (pa.float64(), [0.1, 5e-324, 1.7976931348623157e308, float("inf")]),
    "bool": (pa.bool_(), [True, False]),
    "utf8": (pa.utf8(), ["", "ünï 😀", "a\\0b"]), "large_utf8": (pa.large_utf8(), ["", "groß"]),
    "binary": (pa.binary(), [b"", b"\\x00\\xff"]), "large_binary": (pa.large_binary(), [b"", b"\\x00\\xff"]),
    "fixed_binary": (pa.binary(4), [b"\\x00\\x01\\xfe\\xff", b"abcd"]),
    "decimal128": (pa.decimal128(38, 10), [D("9999999999999999999999999999.9999999999"), D("-0.0000000001"), D(0)]),
    "decimal256": (pa.decimal256(76, 5), [D("9" * 71 + ".99999"), D("-1.00001")]),
    "date32": (pa.date32(), [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
    "date64": (pa.date64(), [datetime.date(1970, 1, 1), datetime.date(2500, 2, 28)]),
    "time32_s": (pa.time32("s"), [0, 86399]), "time32_ms": (pa.time32("ms"), [0, 86399999]),
    "time64_us": (pa.time64("us"), [0, 86399999999]), "time64_ns": (pa.time64("ns"), [1, 86399999999999]),
    "timestamp_s": (pa.timestamp("s"), [-62135596800, 253402300799]),
    "timestamp_ms": (pa.timestamp("ms"), [-1, 253402300799999]),
    "timestamp_us": (pa.timestamp("us", "UTC"), [-1, 1709210096789001]),
    "timestamp_ns": (pa.timestamp("ns"), [-2**63 + 1, 2**63 - 1, 1709210096789000001]),
    "timestamp_zone": (pa.timestamp("ns", "Europe/Berlin"), [1, 1709210096789000001]),
    "duration_s": (pa.duration("s"), [-1, 2**40]), "duration_ns": (pa.duration("ns"), [-2**63, 2**63 - 1]),
    "list": (pa.list_(pa.int64()), [[], [2**60, None, -1]]),
    "large_list": (pa.large_list(pa.utf8()), [[], ["a", None, ""]]),
    "vector": (pa.list_(pa.float32(), 3), [[1, 2, 3], [0.5, -0.0, 1e-40]]),
    "bytes_vector": (pa.list_(pa.uint8(), 2), [[0, 255], [1, 2]]),
    "struct": (pa.struct([("x", pa.int64()), ("y", pa.utf8())]), [{"x": 2**60, "y": None}, {"x": None, "y": "b"}]),
    "nested": (pa.list_(pa.struct([("a", pa.list_(pa.timestamp("ns")))])), [[], [{"a": [1, None]}, None, {"a": []}]]),
    "map": (pa.map_(pa.utf8(), pa.int32()), [[], [("a", 1), ("b", None)]]),
    "null": (pa.null(), []),
}
columns = {name: pa.array([None] + values + [None], type) for name, (type, values) in pa_types.items()}
for index in (pa.int8(), pa.int32(), pa.uint32()):
    columns[f"dictionary_{index}"] = pa.array([None, "DE", "FR", "DE", None]).dictionary_encode().cast(pa.dictionary(index, pa.utf8()))
columns["dictionary_int64"] = pa.array([None, 2**60, 7, 2**60]).dictionary_encode()
for name, column in columns.items():
    # Two batches, the second one with other dictionaries and offsets that do not begin at 0.
    batches = [pa.record_batch([column], [name]), pa.record_batch([column.slice(1)], [name])]
    with pa.ipc.new_stream(f"{sys.argv[1]}/{name}.arrow", batches[0].schema) as out:
        for batch in batches: out.write_batch(batch)
print(" ".join(columns))
`;

const comparer = `
import sys, os, json
import pyarrow as pa
def read(path):
    table = pa.ipc.open_stream(path).read_all()
    table.validate(full=True)
    return table
def plain(array):
    array = pa.chunked_array(array).combine_chunks() if array.num_chunks else pa.array([], array.type)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
def bits(array):
    # Floats by their bits: to pyarrow 0.0 equals -0.0.
    if pa.types.is_fixed_size_list(array.type): array = array.flatten()
    if not pa.types.is_floating(array.type): return array
    return array.view({16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[array.type.bit_width])
answers = {}
for name in json.load(sys.stdin):
    want, got = read(f"{sys.argv[1]}/{name}.arrow"), read(f"{sys.argv[2]}/{name}.arrow")
    a, b = plain(want.column(0)), plain(got.column(0))
    same = a.type == b.type and a.equals(b) and bits(a).equals(bits(b))
    answers[name] = "" if same else f"{a.type} {a.to_string(window=99)} became {b.type} {b.to_string(window=99)}"
print(json.dumps(answers))
`;

const folder = tempFolder();
let names: string[] = [];

function run(script: string, args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync(python(), ['-c', script, ...args], {
    input,
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

async function original(name: string): Promise<Table> {
  const bytes = readFileSync(join(folder, `${name}.arrow`));
  const { schema, batches } = await readIpc(inTurn([bytes]));
  const all: RecordBatch[] = [];
  for await (const batch of batches) all.push(batch);
  return new Table(schema, all);
}

forEachSubject('round trips', (makeCatalog) => {
  suiteSetup(function () {
    this.timeout(60_000);
    if (names.length === 0) names = run(writer, [folder]).split(' ');
  });

  const compare = async (write: (db: Catalog, name: string) => Promise<Uint8Array>): Promise<void> => {
    const { db } = await makeCatalog();
    const out = tempFolder();
    for (const name of names) writeFileSync(join(out, `${name}.arrow`), await write(db, name));
    const answers = JSON.parse(run(comparer, [folder, out], JSON.stringify(names))) as Record<string, string>;
    assert.equal(Object.keys(answers).length, names.length);
    assert.ok(names.length > 40, 'pyarrow wrote no columns');
    assert.deepEqual(
      Object.entries(answers).filter(([, answer]) => answer !== ''),
      [],
    );
  };

  test('keep every type, value and null of a table that is made at once', async function () {
    this.timeout(60_000);
    await compare(async (db, name) => {
      const table = await db.createTable(name, await original(name));
      return tableToIPC(await table.toArrow(), 'stream');
    });
  });

  test('keep them in batches that come one after another, added to a table that is there', async function () {
    this.timeout(60_000);
    await compare(async (db, name) => {
      const { schema, batches } = await original(name);
      const table = await db.createEmptyTable(name, schema);
      await table.add(inTurn(batches));
      return tableToIPC(await table.toArrow(), 'stream');
    });
  });
});

// oxlint-disable-next-line typescript/require-await
async function* inTurn<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
