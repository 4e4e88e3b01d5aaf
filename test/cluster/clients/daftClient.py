"""Uses tables of a server with Daft and daft-lance, for pythonClients.test.ts (see steps.py)."""

from importlib.metadata import version

import daft
import daft_lance
import lance_namespace as ln

from steps import properties, run

client = ln.connect("rest", properties)


def steps_in(step):
    table = {"namespace_impl": "rest", "namespace_properties": properties, "table_id": step.table_id}

    def read():
        return daft_lance.read_lance(**table)

    def names(frame):
        return frame.sort("id").to_pydict()["s"]

    @step
    def versions_of_packages():
        return [version(name) for name in ("daft", "daft-lance")]

    @step
    def write_lance():
        frame = daft.from_pydict({"id": [1, 2, 3], "s": step.named("a", "b", "c")})
        daft_lance.write_lance(frame, mode="create", **table).collect()
        return names(read())

    @step
    def append():
        frame = daft.from_pydict({"id": [4], "s": step.named("d")})
        daft_lance.write_lance(frame, mode="append", **table).collect()
        return names(read())

    @step
    def where():
        return names(read().where(daft.col("id") > 2))

    @step
    def count():
        return read().count_rows()

    @step
    def aggregate():
        return read().sum("id").to_pydict()["id"]

    @step
    def location():
        place = client.describe_table(ln.DescribeTableRequest(id=step.table_id)).location
        return names(daft.read_lance(place))

    @step
    def scalar_index():
        daft_lance.create_scalar_index(column="id", index_type="BTREE", **table)
        return names(read().where(daft.col("id") == 4))

    @step
    def compaction():
        daft_lance.compact_files(**table)
        return read().count_rows()

    @step
    def overwrite():
        frame = daft.from_pydict({"id": [7, 8], "s": step.named("g", "h")})
        daft_lance.write_lance(frame, mode="overwrite", **table).collect()
        return names(read())


run(steps_in)
