"""Writes the tables of the SQL benchmark as Lance and as Parquet: sqlData.py FOLDER MILLIONS.

`orders` has MILLIONS million rows and `products` 10,000. The Parquet files are beside the tables.
"""

import os
import sys

import lance
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

folder, millions = sys.argv[1], int(sys.argv[2])
ROWS_AT_ONCE = 1_000_000
PRODUCTS = 10_000
NOTES = 1_200_000
COUNTRIES = np.array(["DE", "FR", "IT", "ES", "PL", "SE", "NL", "PT", "AT", "CH", "DK", "NO"])
START = 1_700_000_000_000_000


def orders(part: int) -> pa.RecordBatch:
    random = np.random.default_rng(part)
    ids = np.arange(part * ROWS_AT_ONCE, (part + 1) * ROWS_AT_ONCE, dtype=np.int64)
    notes = np.char.add("a note ", random.integers(0, NOTES, ROWS_AT_ONCE).astype(str))
    return pa.record_batch(
        {
            "id": ids,
            "product_id": random.integers(0, PRODUCTS, ROWS_AT_ONCE),
            "quantity": random.integers(1, 100, ROWS_AT_ONCE).astype(np.int32),
            "amount": random.integers(0, 10**9, ROWS_AT_ONCE) / 1000,
            "note": pa.array(notes),
            "at": pa.array(START + ids * 1000, pa.timestamp("us", "UTC")),
            "country": pa.array(COUNTRIES[random.integers(0, len(COUNTRIES), ROWS_AT_ONCE)]),
        }
    )


ids = np.arange(PRODUCTS, dtype=np.int64)
products = pa.table({"id": ids, "category": pa.array([f"category {i % 40}" for i in ids])})
first = orders(0)
batches = [first] if millions == 1 else (orders(part) for part in range(millions))
reader = pa.RecordBatchReader.from_batches(first.schema, batches)
lance.write_dataset(reader, os.path.join(folder, "orders.lance"), data_storage_version="2.1")
lance.write_dataset(products, os.path.join(folder, "products.lance"), data_storage_version="2.1")
with pq.ParquetWriter(os.path.join(folder, "orders.parquet"), first.schema) as writer:
    for part in range(millions):
        writer.write_batch(orders(part))
pq.write_table(products, os.path.join(folder, "products.parquet"))
print("{}")
