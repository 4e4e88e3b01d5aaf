# Sorts rows of a table with pyarrow by the rule of views, and prints the ids of the rows. Reads one line of JSON:
# {"table": path, "where": SQL or null, "orderBy": [{"column", "descending", "nullsFirst"}]}.
import json
import sys

import lance
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Floats as integers in their total order: -NaN, -Infinity … -0, 0 … Infinity, NaN. Rows with NaN are equal.
INTEGERS = {2: np.int16, 4: np.int32, 8: np.int64}


def ordered(column):
    if not pa.types.is_floating(column.type):
        return column
    floats = column.fill_null(0).to_numpy()
    kind = INTEGERS[floats.dtype.itemsize]
    bits = floats.view(kind)
    largest = np.iinfo(kind).max
    keys = np.where(bits < 0, bits ^ largest, bits).astype(np.int64)
    isNan = np.isnan(floats)
    keys = np.where(isNan, np.where(bits < 0, -(2**40) * 2**23 + 1, 2**63 - 1), keys)
    return pa.array(keys)


def main():
    wanted = json.loads(sys.stdin.readline())
    table = lance.dataset(wanted["table"]).to_table(filter=wanted["where"], with_row_id=True)
    columns, keys = {}, []
    for at, key in enumerate(wanted["orderBy"]):
        column = table[key["column"]].combine_chunks()
        # pyarrow places the nulls of all keys alike, so a key before each places those of its column.
        isNull = pc.is_null(column)
        columns[f"null{at}"] = isNull
        keys.append((f"null{at}", "descending" if key["nullsFirst"] else "ascending"))
        values = ordered(column)
        columns[f"key{at}"] = pc.if_else(isNull, pa.scalar(None, values.type), values)
        keys.append((f"key{at}", "descending" if key["descending"] else "ascending"))
    columns["_rowid"] = table["_rowid"].combine_chunks()
    keys.append(("_rowid", "ascending"))
    order = pc.sort_indices(pa.table(columns), sort_keys=keys)
    print(json.dumps(table["_rowid"].take(order).to_pylist()))


main()
