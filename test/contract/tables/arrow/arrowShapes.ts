import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { python } from '../../../harness/needs/python.ts';
import { tempFolder } from '../../../harness/temp.ts';

// A stream with one column "x" for every type of Arrow, written by pyarrow.

/** Number of rows of a stream; every seventh is null. */
export const shapeRows = 64;

const writer = `
import sys, datetime, decimal
import pyarrow as pa
folder, n = sys.argv[1], int(sys.argv[2])
def some(make, type=None): return pa.array([None if i % 7 == 3 else make(i) for i in range(n)], type)
def plain(make, type=None): return pa.array([make(i) for i in range(n)], type)
text = lambda i: "Zeile ✓ " * (i % 5) + str(i)
number = lambda i: i % 100
shapes = {"null": pa.nulls(n), "bool": some(lambda i: i % 2 == 0), "plain_int32": plain(number, pa.int32())}
for bits in (8, 16, 32, 64):
    shapes[f"int{bits}"] = some(number, getattr(pa, f"int{bits}")())
    shapes[f"uint{bits}"] = some(number, getattr(pa, f"uint{bits}")())
for type in (pa.float16(), pa.float32(), pa.float64()): shapes[str(type)] = some(lambda i: i / 2, type)
for type in (pa.decimal32(9, 2), pa.decimal64(18, 2), pa.decimal128(20, 2), pa.decimal256(50, 2)):
    shapes[f"decimal{type.bit_width}"] = some(lambda i: decimal.Decimal(i).scaleb(-2), type)
for type in (pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.timestamp("s"),
             pa.timestamp("ms"), pa.timestamp("us", "UTC"), pa.timestamp("ns", "Europe/Berlin"), pa.duration("s"), pa.duration("ns")):
    shapes[str(type).replace(" ", "").replace("/", "-")] = some(lambda i: i, pa.int32() if type.bit_width == 32 else pa.int64()).cast(type) if type != pa.date64() else some(lambda i: i, pa.int32()).cast(pa.date32()).cast(type)
shapes["interval"] = some(lambda i: pa.MonthDayNano([i, i, i * 1000]), pa.month_day_nano_interval())
for type in (pa.utf8(), pa.large_utf8(), pa.string_view()): shapes[str(type)] = some(text, type)
for type in (pa.binary(), pa.large_binary(), pa.binary_view()): shapes[str(type)] = some(lambda i: text(i).encode(), type)
shapes["fixed_binary"] = some(lambda i: bytes([i % 256] * 5), pa.binary(5))
items = lambda i: [number(j) for j in range(i % 4)]
for name, type in (("list", pa.list_(pa.int32())), ("large_list", pa.large_list(pa.int32())), ("list_view", pa.list_view(pa.int32())),
                   ("large_list_view", pa.large_list_view(pa.int32()))): shapes[name] = some(items, type)
shapes["vector"] = some(lambda i: [i, 0.5, -1], pa.list_(pa.float32(), 3))
shapes["struct"] = some(lambda i: {"a": i, "b": text(i)}, pa.struct([("a", pa.int32()), ("b", pa.utf8())]))
shapes["map"] = some(lambda i: [(str(j), j) for j in range(i % 3)], pa.map_(pa.utf8(), pa.int32()))
shapes["nested"] = some(lambda i: [{"a": [text(i)], "b": None if i % 2 else i}] * (i % 3), pa.list_(pa.struct([("a", pa.large_list(pa.utf8())), ("b", pa.int64())])))
for bits in (8, 16, 32, 64):
    shapes[f"dictionary{bits}"] = some(lambda i: "DE FR IT".split()[i % 3]).dictionary_encode().cast(pa.dictionary(getattr(pa, f"int{bits}")(), pa.utf8()))
shapes["dictionary_list"] = pa.ListArray.from_arrays(pa.array(range(n + 1), pa.int32()), shapes["dictionary32"])
ids = pa.array([i % 2 for i in range(n)], pa.int8())
shapes["sparse_union"] = pa.UnionArray.from_sparse(ids, [some(number, pa.int32()), some(text, pa.utf8())])
shapes["dense_union"] = pa.UnionArray.from_dense(ids, pa.array([i // 2 for i in range(n)], pa.int32()), [some(number, pa.int32()), some(text, pa.utf8())])
shapes["run_end_encoded"] = pa.RunEndEncodedArray.from_arrays(pa.array([n], pa.int32()), pa.array(["same"]))
deep = pa.int32()
for depth in range(80): deep = pa.struct([("d", deep)])
def write(name, batches, options):
    with pa.ipc.new_stream(f"{folder}/{name}", batches[0].schema, options=options) as out:
        for batch in batches: out.write_batch(batch)
for codec in (None, "lz4", "zstd"):
    for name, column in shapes.items():
        write(f"{name}.{codec or 'plain'}", [pa.record_batch({"x": column})], pa.ipc.IpcWriteOptions(compression=codec))
def country(values, known): return pa.DictionaryArray.from_arrays(pa.array(values, pa.int8()), pa.array(known))
delta = [pa.record_batch({"x": country([0, 1], ["DE", "FR"])}), pa.record_batch({"x": country([0, 2, 1], ["DE", "FR", "IT"])})]
write("delta.plain", delta, pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True))
pair = pa.record_batch([pa.array([1, -2147483648, 93], pa.int32()), pa.array(["a", "b", "c"]), pa.array([2.5, None, 1], pa.float64())], names=["x", "x", "x"])
write("duplicates.plain", [pair, pair.slice(1)], None)
with pa.ipc.new_stream(f"{folder}/deep.plain", pa.schema([("x", deep)])): pass
print("\\n".join(shapes))
`;

/** Writes the streams. Returns their names and a function that reads the bytes of one. */
export function writeShapes(): { names: string[]; bytesOf: (name: string, codec?: string) => Buffer } {
  const folder = tempFolder();
  const options = { encoding: 'utf8', timeout: 50_000 } as const;
  const { status, stderr, stdout } = spawnSync(python(), ['-c', writer, folder, String(shapeRows)], options);
  assert.equal(status, 0, stderr);
  return {
    names: stdout.trim().split('\n'),
    // Returns a copy, so that edits do not affect another test.
    bytesOf: (name, codec = 'plain') => Buffer.from(readFileSync(join(folder, `${name}.${codec}`))),
  };
}
