"""Writes a table that is large in one way: growthData.py FOLDER KIND N [BYTES].

The table is `t` in FOLDER. KIND is one of
  fragments  N fragments of 10 rows, in one version
  columns    N columns of numbers, 100 rows
  wide       N rows with a value of BYTES bytes, in one file
  rows       N rows of 4 columns, in 10 files
"""

import os
import sys

import lance
import numpy as np
import pyarrow as pa
from lance.fragment import write_fragments

folder, kind, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
path = os.path.join(folder, "t.lance")


def narrow(start: int, count: int) -> pa.Table:
    ids = np.arange(start, start + count, dtype=np.int64)
    names = pa.array([f"row {i}" for i in ids])
    return pa.table({"id": ids, "x": ids / 2.0, "name": names, "k": (ids % 7).astype(np.int32)})


if kind == "fragments":
    parts = []
    for start in range(0, n, 1000):
        rows = narrow(start * 10, 10 * min(1000, n - start))
        parts += write_fragments(rows, path, max_rows_per_file=10, max_rows_per_group=10)
    lance.LanceDataset.commit(path, lance.LanceOperation.Overwrite(narrow(0, 1).schema, parts))
elif kind == "columns":
    values = np.arange(100, dtype=np.float64)
    lance.write_dataset(pa.table({f"c{i:05}": values + i for i in range(n)}), path)
elif kind == "wide":
    random, size = np.random.default_rng(1), int(sys.argv[4])
    schema = pa.schema([("id", pa.int64()), ("blob", pa.binary())])

    def batches():
        for start in range(0, n, 16):
            count = min(16, n - start)
            ids = pa.array(range(start, start + count), pa.int64())
            blobs = pa.array([random.bytes(size) for _ in range(count)], pa.binary())
            yield pa.record_batch([ids, blobs], schema)

    lance.write_dataset(pa.RecordBatchReader.from_batches(schema, batches()), path)
elif kind == "rows":
    lance.write_dataset(narrow(0, n), path, max_rows_per_file=max(1, n // 10))
else:
    sys.exit(f"unknown kind {kind}")
print("{}")
