"""Writes a table with blobs in the encoding before lance.blob.v2. Argument: its location."""

import sys

import lance
import pyarrow as pa

field = pa.field("media", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
schema = pa.schema([pa.field("id", pa.int64()), field])
rows = pa.table({"id": [0, 1, 2], "media": [b"a" * 70_000, b"", None]}, schema)
lance.write_dataset(rows, sys.argv[1], data_storage_version="2.1")
