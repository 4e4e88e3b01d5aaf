"""Other tools that fill a column of a Lance table, and the tables for them: `backfillPeers.py CALL JSON` prints one
line of JSON.

Every tool counts the words of `text` with the same Python function of one value.
"""

import json
import os
import random
import sys
import time

os.environ.setdefault("LANCE_LOG", "error")
import lance  # noqa: E402
import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402


def words(text):
    return len(text.split())


def make(uri, rows, fragments, dimensions):
    """Creates a table of short strings, with vectors if dimensions are given."""
    chance = random.Random(1)
    each = rows // fragments
    parts = ["alpha", "beta", "gamma", "delta"]
    texts = [" ".join(chance.choices(parts, k=chance.randint(3, 16))) for _ in range(10_000)]
    numbers = np.random.default_rng(1)

    def batches():
        for at in range(0, rows, each):
            columns = [pa.array(range(at, at + each), pa.int64()), pa.array([texts[i % 10_000] for i in range(at, at + each)])]
            if dimensions:
                flat = pa.array(numbers.random(each * dimensions, dtype=np.float32))
                columns.append(pa.FixedSizeListArray.from_arrays(flat, dimensions))
            yield pa.record_batch(columns, names=["id", "text", "vector"][: len(columns)])

    first = next(batches())
    lance.write_dataset(pa.RecordBatchReader.from_batches(first.schema, batches()), uri, max_rows_per_file=each)
    return {}


def column(batch):
    return pa.record_batch([pa.array([words(text) for text in batch.column("text").to_pylist()], pa.int32())], ["c"])


def pylance(uri):
    """Runs in one process: each fragment gets the column, then one commit follows."""
    table = lance.dataset(uri)
    merged = [fragment.merge_columns(column, columns=["text"]) for fragment in table.get_fragments()]
    operation = lance.LanceOperation.Merge([fragment for fragment, _ in merged], merged[0][1])
    lance.LanceDataset.commit(uri, operation, read_version=table.version)
    return {}


def lance_ray(uri, concurrency):
    import lance_ray as peer
    import ray

    # Runs in a job of an existing Ray, or else in its own Ray.
    own = {} if "RAY_ADDRESS" in os.environ else {"num_cpus": concurrency, "include_dashboard": False}
    ray.init(logging_level="error", **own)
    begun = time.monotonic()
    peer.add_columns(uri, transform=column, read_columns=["text"], concurrency=concurrency)
    return {"milliseconds": (time.monotonic() - begun) * 1000}


def wrong(uri, what):
    """Returns the rows whose value is not the number of words, or the length, of their text."""
    right = {"words": words, "length": len}[what]
    table = lance.dataset(uri).to_table(columns=["text", "c"])
    pairs = zip(table.column("text").to_pylist(), table.column("c").to_pylist(), strict=True)
    return {"rows": len(table), "wrong": sum(1 for text, value in pairs if value != right(text))}


calls = {call.__name__: call for call in (make, pylance, lance_ray, wrong)}
print(json.dumps(calls[sys.argv[1]](**json.loads(sys.argv[2]))))
