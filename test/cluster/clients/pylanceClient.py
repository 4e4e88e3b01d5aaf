"""Uses tables of a server with lance-namespace and pylance, for pythonClients.test.ts (see steps.py)."""

import io
from importlib.metadata import version

import lance
import lance_namespace as ln
import lance_namespace_urllib3_client.models as models
import pyarrow as pa

from steps import properties, run

client = ln.connect("rest", properties)


def stream(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def rows(ids, names):
    vectors = pa.array([[float(id), 0.0] for id in ids], pa.list_(pa.float32(), 2))
    return pa.table({"id": pa.array(ids, pa.int64()), "s": names, "v": vectors})


def steps_in(step):
    table = {"namespace_client": client, "table_id": step.table_id}
    made = {**table, "table_id": [*step.path, "made"]}

    def opened(**where):
        return lance.dataset(**(where or table))

    def names(dataset):
        found = dataset.to_table(columns=["id", "s"]).sort_by("id")
        return found.column("s").to_pylist()

    @step
    def versions_of_packages():
        return [version(name) for name in ("pylance", "lance-namespace", "lance-namespace-urllib3-client")]

    @step
    def write_dataset():
        return names(lance.write_dataset(rows([1, 2, 3], step.named("a", "b", "c")), mode="create", **table))

    @step
    def dataset():
        return names(opened())

    @step
    def append():
        return names(lance.write_dataset(rows([4], step.named("d")), mode="append", **table))

    @step
    def filter_rows():
        return opened().to_table(filter="id > 2", columns=["id"]).column("id").to_pylist()

    @step
    def nearest():
        near = {"column": "v", "q": [4.0, 0.0], "k": 2}
        return opened().to_table(nearest=near, columns=["id"]).column("id").to_pylist()

    @step
    def update():
        opened().update({"s": "concat('new ', s)"}, where="id = 1")
        return names(opened())[0]

    @step
    def delete():
        opened().delete("id = 2")
        return opened().count_rows()

    @step
    def merge_insert():
        merge = opened().merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        merge.execute(rows([3, 5], step.named("C", "e")))
        return names(opened())

    @step
    def add_columns():
        opened().add_columns({"double": "id * 2"})
        return sorted(opened().to_table(columns=["double"]).column("double").to_pylist())

    @step
    def drop_columns():
        opened().drop_columns(["double"])
        return opened().schema.names

    @step
    def tags():
        opened().tags.create("first", 1)
        return opened().tags.list()["first"]["version"]

    @step
    def old_version():
        return names(opened(**table, version=1))

    @step
    def scalar_index():
        opened().create_scalar_index("id", "BTREE")
        return [index["name"] for index in opened().list_indices()]

    @step
    def compaction():
        opened().optimize.compact_files()
        return opened().count_rows()

    @step
    def rest_create_table():
        request = ln.CreateTableRequest(id=made["table_id"])
        client.create_table(request, stream(rows([1, 2], step.named("x", "y"))))
        return names(opened(**made))

    @step
    def rest_insert():
        client.insert_into_table(ln.InsertIntoTableRequest(id=made["table_id"]), stream(rows([3], step.named("z"))))
        return client.count_table_rows(ln.CountTableRowsRequest(id=made["table_id"])).count

    @step
    def rest_query():
        vector = models.QueryTableRequestVector(single_vector=[3.0, 0.0])
        request = ln.QueryTableRequest(id=made["table_id"], k=1, vector=vector, vector_column="v")
        return pa.ipc.open_file(io.BytesIO(client.query_table(request).data)).read_all().column("s").to_pylist()

    @step
    def rest_filter():
        vector = models.QueryTableRequestVector()
        request = ln.QueryTableRequest(id=made["table_id"], k=9, vector=vector, filter="id < 3")
        found = pa.ipc.open_file(io.BytesIO(client.query_table(request).data)).read_all()
        return sorted(found.column("s").to_pylist())

    @step
    def rest_update():
        request = ln.UpdateTableRequest(id=made["table_id"], predicate="id = 1", updates=[["id", "9"]])
        return client.update_table(request).updated_rows

    @step
    def rest_delete():
        client.delete_from_table(ln.DeleteFromTableRequest(id=made["table_id"], predicate="id = 2"))
        return opened(**made).to_table(columns=["id"]).sort_by("id").column("id").to_pylist()

    @step
    def rest_list_tables():
        return sorted(client.list_tables(ln.ListTablesRequest(id=step.path)).tables)

    @step
    def rest_describe_table():
        found = client.describe_table(ln.DescribeTableRequest(id=made["table_id"]))
        return [found.table, found.namespace]

    @step
    def rest_rename_table():
        client.rename_table(ln.RenameTableRequest(id=made["table_id"], new_table_name="renamed"))
        return sorted(client.list_tables(ln.ListTablesRequest(id=step.path)).tables)

    @step
    def rest_drop_table():
        client.drop_table(ln.DropTableRequest(id=[*step.path, "renamed"]))
        return client.list_tables(ln.ListTablesRequest(id=step.path)).tables

    @step
    def rest_missing_table():
        try:
            client.describe_table(ln.DescribeTableRequest(id=[*step.path, "missing"]))
        except ln.TableNotFoundError:
            return "TableNotFoundError"


run(steps_in)
