"""Executes a notebook with nbclient, validates and saves it, and prints the content of its Arrow outputs as read by
pyarrow."""

import base64
import json
import sys

import nbformat
import pyarrow as pa
from nbclient import NotebookClient

source, folder, target = sys.argv[1:]
notebook = nbformat.read(source, as_version=4)
NotebookClient(notebook, timeout=60, resources={"metadata": {"path": folder}}).execute()
nbformat.validate(notebook)
nbformat.write(notebook, target)

tables = []
for cell in nbformat.read(target, as_version=4).cells:
    for output in cell.get("outputs", []):
        text = output.get("data", {}).get("application/vnd.apache.arrow.stream")
        if text:
            table = pa.ipc.open_stream(base64.b64decode(text)).read_all()
            table.validate(full=True)
            tables.append({"columns": table.column_names, "rows": table.num_rows})
print(json.dumps(tables))
