import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';

// A stream with a column for every type that a table can have, written by pyarrow, and the texts of its values. The rule
// of the texts: pyarrow's own cast to strings. Bytes are `bytes.hex()` after 0x. For nested values, which pyarrow can't
// cast, strings are JSON, lists are [a, b], structs are {name: a} and maps are {"key": a}.

const writer = `
import sys, json, decimal, datetime
import pyarrow as pa
folder = sys.argv[1]
D = decimal.Decimal
columns = {}
def add(name, values, type): columns[name] = pa.array(values + [None] * (8 - len(values)), type)
def counts(name, values, type, bits=64): columns[name] = pa.array(values + [None] * (8 - len(values)), pa.int64() if bits == 64 else pa.int32()).cast(type)
columns["null"] = pa.nulls(8)
add("bool", [True, False], pa.bool_())
for bits in (8, 16, 32, 64):
    add(f"int{bits}", [0, -1, 2 ** (bits - 1) - 1, -2 ** (bits - 1)], getattr(pa, f"int{bits}")())
    add(f"uint{bits}", [0, 1, 2 ** bits - 1], getattr(pa, f"uint{bits}")())
floats = [0.1, -0.0, 1e4, float("nan"), float("-inf"), 2 ** -20, 1.5]
for type in (pa.float16(), pa.float32(), pa.float64()): add(str(type), floats, type)
add("small_float", [5e-324, 1e-7, 1e21, 1e15, 1.7976931348623157e308, -123456.789], pa.float64())
add("small_float32", [3.4028234663852886e38, 16777216.0, 1e10, 1e-40], pa.float32())
add("decimal128", [D("0"), D("-5E-9"), D("12345678901234567890.123456789")], pa.decimal128(38, 9))
add("decimal256", [D("0"), D("7.01"), D("-" + "9" * 40 + ".99")], pa.decimal256(50, 2))
add("whole_decimal", [D("42"), D("-1")], pa.decimal128(20, 0))
counts("date32", [0, -1, 19774, -719162], pa.date32(), 32)
counts("date64", [0, 86400000, -86400000], pa.date64())
counts("time32_s", [0, 3661, 86399], pa.time32("s"), 32)
counts("time32_ms", [0, 3661, 86399000], pa.time32("ms"), 32)
counts("time64_us", [0, 3661000001, 1000], pa.time64("us"))
counts("time64_ns", [0, 3661000001, 86399000000000], pa.time64("ns"))
for number, unit in enumerate(("s", "ms", "us", "ns")):
    second = 10 ** (3 * number)
    times = [0, -1, 1708480568 * second, 1708480568 * second + second // 2, 1720000000 * second + (7 if number else 0)]
    for name, zone in (("", None), ("_utc", "UTC"), ("_berlin", "Europe/Berlin"), ("_fixed", "-03:30")):
        counts(f"timestamp_{unit}{name}", times, pa.timestamp(unit, zone))
    counts(f"duration_{unit}", [0, -1, 93784005, 86400 * second, 59 * second], pa.duration(unit))
texts = ["plain", "null", "ünï 😀 שלום", '"quoted"', "1e5", "__proto__", "<b>bold</b> & more"]
for type in (pa.utf8(), pa.large_utf8()): add(str(type), texts, type)
add("odd_utf8", ["", " both ", "line\\nline", "evil\\u202etxt.exe", "tab\\tstop", "\\x1b[31mred", "a\\u200bb"], pa.utf8())
bytes_ = [b"", b"abc", bytes([0, 255, 1]), b"12345678"]
for type in (pa.binary(), pa.large_binary()): add(str(type), bytes_, type)
add("fixed_binary", [bytes([0, 1, 2, 3, 255])], pa.binary(5))
add("dictionary", ["DE", "FR", "DE"], pa.dictionary(pa.int32(), pa.utf8()))
for name, type in (("list", pa.list_), ("large_list", pa.large_list)):
    add(name, [[], [1, None, -3], [9007199254740993]], type(pa.int64()))
    add(f"{name}_utf8", [["", 'a"b', None, "é\\n"], []], type(pa.utf8()))
    add(f"{name}_list", [[[1], None, []]], type(pa.list_(pa.int32())))
add("vector", [[0.5, 1.0, -2.0], [0.25, 0.0, 4.0]], pa.list_(pa.float32(), 3))
add("integer_vector", [[1, -2], [3, 4]], pa.list_(pa.int16(), 2))
add("fixed_list", [["a", None], ["b", "c"]], pa.list_(pa.utf8(), 2))
pair = pa.struct([("a", pa.int32()), ("not a word", pa.utf8()), ("flag", pa.bool_())])
add("struct", [{"a": 1, "not a word": "x", "flag": True}, {"a": None, "not a word": None, "flag": False}], pair)
add("map", [[], [("k", 1), ("l", None)]], pa.map_(pa.utf8(), pa.int32()))
add("nested", [[{"a": 1, "not a word": "x", "flag": None}, None]], pa.list_(pair))
add("decimals", [[D("1.50"), D("-0.25")]], pa.list_(pa.decimal128(10, 2)))
add("dates", [[datetime.date(2024, 2, 21)]], pa.list_(pa.date32()))

def json_text(value): return json.dumps(value, ensure_ascii=False)
def text(scalar, inside=False):
    type = scalar.type
    if not scalar.is_valid: return "null"
    if pa.types.is_dictionary(type): return text(scalar.value, inside)
    if pa.types.is_binary(type) or pa.types.is_large_binary(type) or pa.types.is_fixed_size_binary(type): return "0x" + scalar.as_py().hex()
    if pa.types.is_map(type): return "{" + ", ".join(f"{text(entry[0], True)}: {text(entry[1], True)}" for entry in (scalar.values[i].values() for i in range(len(scalar.values))) for entry in [list(entry)]) + "}"
    if pa.types.is_struct(type): return "{" + ", ".join(f"{name if name.isidentifier() else json_text(name)}: {text(scalar[name], True)}" for name in scalar) + "}"
    if pa.types.is_nested(type): return "[" + ", ".join(text(item, True) for item in scalar.values) + "]"
    plain = scalar.cast(pa.string()).as_py()
    return json_text(plain) if inside and (pa.types.is_string(type) or pa.types.is_large_string(type)) else plain

batch = pa.record_batch(columns)
with pa.ipc.new_stream(f"{folder}/stream", batch.schema) as out: out.write_batch(batch)
json.dump({name: [text(column[i]) for i in range(8)] for name, column in columns.items()}, open(f"{folder}/texts.json", "w"))
`;

/** Number of rows of the stream. */
export const textRows = 8;

/** Writes the stream. Returns its bytes, and the texts of its values by column. */
export function writeArrowTexts(): { stream: Uint8Array; texts: Record<string, string[]> } {
  const folder = tempFolder();
  const { status, stderr } = spawnSync(python(), ['-c', writer, folder], { encoding: 'utf8', timeout: 50_000 });
  assert.equal(status, 0, stderr);
  return {
    stream: new Uint8Array(readFileSync(join(folder, 'stream'))),
    texts: JSON.parse(readFileSync(join(folder, 'texts.json'), 'utf8')) as Record<string, string[]>,
  };
}
