"""Creates tables for backfills on a real Ray, changes them as other writers do, and compares columns with the values
that Arrow computes."""

import os

os.environ.setdefault("LANCE_LOG", "error")
import lance  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.compute as pc  # noqa: E402
from pythonCalls import answer  # noqa: E402


def texts(first, rows):
    ids = pa.array(range(first, first + rows), pa.int64())
    words = pc.binary_join_element_wise("text", pc.cast(ids, pa.string()), "é" if first % 2 == 0 else "e", " ")
    return pa.table({"id": ids, "text": pc.binary_repeat(words, pa.array([1 + (i % 3) for i in range(rows)]))})


def opened(at):
    return lance.dataset(at["uri"], storage_options=at.get("options"))


def make(at, rows, fragments):
    each = rows // fragments
    options = at.get("options")
    lance.write_dataset(texts(0, rows), at["uri"], max_rows_per_file=each, storage_options=options)


def append(at, first, rows):
    lance.write_dataset(texts(first, rows), at["uri"], mode="append", storage_options=at.get("options"))


def update(at, where):
    opened(at).update({"text": "'somebody else''s words, ' || text"}, where=where)


def delete(at, where):
    opened(at).delete(where)


def compact(at, target):
    """Retry, because a simultaneous commit of the backfill may conflict."""
    for attempt in range(20):
        try:
            opened(at).optimize.compact_files(target_rows_per_fragment=target)
            return
        except OSError as error:
            if attempt == 19 or "conflict" not in str(error):
                raise


def compare(at, column):
    """Returns how a column differs from the number of characters of the text, as Arrow counts them."""
    dataset = opened(at)
    table = dataset.to_table(columns=["text", column])
    found, expected = table[column], pc.utf8_length(table["text"]).cast(pa.int32())
    equal = pc.sum(pc.equal(found, expected)).as_py() or 0
    return {
        "rows": table.num_rows,
        "nulls": found.null_count,
        "wrong": table.num_rows - found.null_count - equal,
        "fragments": len(dataset.get_fragments()),
    }


answer(make, append, update, delete, compact, compare)
