"""Reads a notebook's Arrow output (base64 text in a file) with pyarrow and prints its rows as JSON."""

import base64
import json
import sys

import pyarrow as pa

with open(sys.argv[1], encoding="ascii") as file:
    stream = base64.b64decode(file.read())
rows = pa.ipc.open_stream(stream).read_all().to_pylist()
# A JSON number can't represent every int64.
print(json.dumps([{name: str(value) if name == "big" else value for name, value in row.items()} for row in rows]))
