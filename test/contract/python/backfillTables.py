"""Tables for tests of backfills, and concurrent changes by other writers.

The expected values of columns are computed here from the inputs, without the code under test.
"""

import os

os.environ.setdefault("LANCE_LOG", "error")
import lance  # noqa: E402
import pyarrow as pa  # noqa: E402
from pythonCalls import answer  # noqa: E402

words = ["alpha", "Grüße", "東京", "", "a b", "it is so"]


def rows(first, count):
    ids = range(first, first + count)
    text = [None if i % 11 == 0 else f"{words[i % len(words)]} {i % 7}" for i in ids]
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "text": pa.array(text, pa.string()),
            "n": pa.array([None if i % 13 == 0 else i * 3 for i in ids], pa.int32()),
        }
    )


def opened(at):
    return lance.dataset(at["uri"], storage_options=at.get("options"))


def make(at, fragments, rows_each, delete=None, version="2.1", column=None):
    data = rows(0, fragments * rows_each)
    if column is not None:
        data = data.append_column(column, pa.array([i if i % 2 else None for i in range(len(data))], pa.int32()))
    table = lance.write_dataset(
        data, at["uri"], max_rows_per_file=rows_each, data_storage_version=version, storage_options=at.get("options")
    )
    if delete:
        table.delete(delete)
    return table.version


def append(at, first, count):
    lance.write_dataset(rows(first, count), at["uri"], mode="append", storage_options=at.get("options"))


def update(at, values, where):
    opened(at).update(values, where=where)


def replace(at, rows):
    """Changes some columns of rows in place: their fragments get new files for these columns, and the rows keep their
    positions."""
    table = opened(at)
    if not any(index["fields"] == ["id"] for index in table.list_indices()):
        table.create_scalar_index("id", "BTREE")
    columns = rows[0].keys()
    schema = pa.schema([table.schema.field(name) for name in columns])
    table.merge_insert("id").when_matched_update_all().execute(pa.Table.from_pylist(rows, schema))


def delete(at, where):
    opened(at).delete(where)


def compact(at, target):
    opened(at).optimize.compact_files(target_rows_per_fragment=target)


def drop(at, column):
    opened(at).drop_columns([column])


# The expected result of each function of the tests.
oracles = {
    "length": lambda row: None if row["text"] is None else len(row["text"]),
    "words": lambda row: None if row["text"] is None else len(row["text"].split(" ")),
    "double": lambda row: None if row["n"] is None else row["n"] * 2,
}


def check(at, column, oracle, where=None):
    """Counts the rows, the rows with an unexpected value, and the rows without a value."""
    found = opened(at).to_table(columns=["id", "text", "n", column], filter=where).to_pylist()
    wrong = [[row["id"], row[column], oracles[oracle](row)] for row in found if row[column] != oracles[oracle](row)]
    return {"rows": len(found), "wrong": len(wrong), "samples": wrong[:5]}


def values(at, column, where=None):
    found = opened(at).to_table(columns=["id", column], filter=where).to_pylist()
    return {str(row["id"]): row[column] for row in sorted(found, key=lambda row: row["id"])}


def state(at, column):
    table = opened(at)
    metadata = table.schema.field(column).metadata or {} if column in table.schema.names else {}
    return {
        "version": table.version,
        "rows": table.count_rows(),
        "fragments": [fragment.fragment_id for fragment in table.get_fragments()],
        "metadata": {key.decode(): value.decode() for key, value in metadata.items()},
    }


answer(make, append, update, replace, delete, compact, drop, check, values, state)
