"""Creates namespaces, each with a table of the same name, with upstream's own library. Arguments: root, names."""

import sys

import lance_namespace
import pyarrow as pa

root, *names = sys.argv[1:]
table = pa.table({"id": pa.array([1, 2], pa.int64())})
sink = pa.BufferOutputStream()
with pa.ipc.new_stream(sink, table.schema) as writer:
    writer.write_table(table)
rows = sink.getvalue().to_pybytes()

catalog = lance_namespace.connect("dir", {"root": root})
for name in names:
    catalog.create_namespace(lance_namespace.CreateNamespaceRequest(id=[name]))
    catalog.create_table(lance_namespace.CreateTableRequest(id=[name, name]), rows)
