"""Makes tables for backfills, and says what Arrow alone computes for them."""

import json
import sys

import lance
import pyarrow as pa
import pyarrow.compute as pc

command, uri, *rest = sys.argv[1:]


def texts(first: int, rows: int) -> pa.Table:
    ids = pa.array(range(first, first + rows), pa.int64())
    words = pc.binary_join_element_wise("text", pc.cast(ids, pa.string()), "é" if first % 2 == 0 else "e", " ")
    return pa.table({"id": ids, "text": pc.binary_repeat(words, pa.array([1 + (i % 3) for i in range(rows)]))})


if command == "make":
    rows, fragments = int(rest[0]), int(rest[1])
    lance.write_dataset(texts(0, rows), uri, max_rows_per_file=rows // fragments, max_rows_per_group=rows // fragments)
elif command == "append":
    count = lance.dataset(uri).count_rows()
    lance.write_dataset(texts(count, int(rest[0])), uri, mode="append")
else:
    dataset = lance.dataset(uri)
    table = dataset.to_table(columns=["text", rest[0]])
    expected = pc.utf8_length(table["text"]).cast(pa.int32())
    found = table[rest[0]]
    equal = pc.equal(found, expected)
    said = {
        "rows": table.num_rows,
        "nulls": found.null_count,
        "wrong": table.num_rows - found.null_count - pc.sum(equal).as_py() if found.null_count < table.num_rows else 0,
        "fragments": len(dataset.get_fragments()),
    }
    print(json.dumps(said))
