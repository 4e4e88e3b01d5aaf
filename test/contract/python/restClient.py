"""Tests a server with upstream's REST client. Arguments: its address, then headers as NAME=VALUE.

Reads the existing table shop/products and creates shop/made, one step per operation. Prints the result or the error of
each step as JSON, by name.
"""

import base64
import io
import json
import sys

import lance_namespace as ln
import pyarrow as pa
from steps import results, step

uri, *headers = sys.argv[1:]
client = ln.connect("rest", {"uri": uri, **{f"header.{name}": value for name, value in (h.split("=", 1) for h in headers)}})
products = ["shop", "products"]
made = ["shop", "made"]


def stream(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def count_rows(request):
    return client.count_table_rows(request).count


def query(table_id, **fields):
    fields = {"k": 100, "vector": ln_models.QueryTableRequestVector(), **fields}
    answer = client.query_table(ln.QueryTableRequest(id=table_id, **fields))
    return pa.ipc.open_file(io.BytesIO(answer.data)).read_all()


import lance_namespace_urllib3_client.models as ln_models  # noqa: E402

new_rows = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "name": ["a", "b", None], "price": [0.5, 1.5, 2.5]})


@step
def list_namespaces():
    return client.list_namespaces(ln.ListNamespacesRequest(id=[])).namespaces


@step
def describe_namespace():
    return client.describe_namespace(ln.DescribeNamespaceRequest(id=["shop"])).properties


@step
def namespaces_made_and_dropped():
    client.create_namespace(ln.CreateNamespaceRequest(id=["theirs"], properties={"owner": "ada"}))
    client.namespace_exists(ln.NamespaceExistsRequest(id=["theirs"]))
    client.drop_namespace(ln.DropNamespaceRequest(id=["theirs"]))
    return client.list_namespaces(ln.ListNamespacesRequest(id=[])).namespaces


@step
def namespaces_paged():
    for name in ("p1", "p2", "p3"):
        client.create_namespace(ln.CreateNamespaceRequest(id=["shop", name]))
    first = client.list_namespaces(ln.ListNamespacesRequest(id=["shop"], limit=2))
    second = client.list_namespaces(ln.ListNamespacesRequest(id=["shop"], limit=2, page_token=first.page_token))
    return [sorted(first.namespaces + second.namespaces), len(first.namespaces), second.page_token]


@step
def missing_namespace():
    client.describe_namespace(ln.DescribeNamespaceRequest(id=["nope"]))


@step
def list_tables():
    return client.list_tables(ln.ListTablesRequest(id=["shop"])).tables


@step
def list_all_tables():
    return client.list_all_tables(ln.ListTablesRequest(id=[])).tables


@step
def describe_table():
    found = client.describe_table(ln.DescribeTableRequest(id=products, load_detailed_metadata=True, with_table_uri=True))
    fields = [[field.name, field.type.type, field.nullable] for field in found.var_schema.fields]
    return {"table": found.table, "namespace": found.namespace, "version": found.version, "fields": fields}


@step
def table_exists():
    client.table_exists(ln.TableExistsRequest(id=products))
    return True


@step
def missing_table():
    client.describe_table(ln.DescribeTableRequest(id=["shop", "nope"]))


@step
def count():
    return [
        count_rows(ln.CountTableRowsRequest(id=products)),
        count_rows(ln.CountTableRowsRequest(id=products, predicate="id > 1")),
        count_rows(ln.CountTableRowsRequest(id=products, version=1)),
    ]


@step
def all_rows():
    table = query(products)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return {"schema": [[f.name, str(f.type)] for f in table.schema], "ipc": base64.b64encode(sink.getvalue()).decode()}


@step
def filtered():
    columns = ln_models.QueryTableRequestColumns(column_names=["name"])
    return query(products, filter="id >= 2", columns=columns, k=1, offset=1).to_pylist()


@step
def aliased():
    columns = ln_models.QueryTableRequestColumns(column_aliases={"twice": "id * 2"})
    return query(products, filter="id = 2", columns=columns).to_pylist()


@step
def nearest():
    vector = ln_models.QueryTableRequestVector(single_vector=[1.0, 0.0])
    table = query(products, vector=vector, k=2, vector_column="vector", distance_type="l2")
    return [table.column("id").to_pylist(), table.column("_distance").to_pylist()]


@step
def bad_filter():
    query(products, filter="id >")


@step
def create_table():
    client.create_table(ln.CreateTableRequest(id=made), stream(new_rows))
    return query(made).to_pylist()


@step
def create_table_again():
    client.create_table(ln.CreateTableRequest(id=made), stream(new_rows))


@step
def insert():
    more = pa.table({"id": pa.array([4], pa.int64()), "name": ["d"], "price": [3.5]})
    client.insert_into_table(ln.InsertIntoTableRequest(id=made, mode="append"), stream(more))
    return count_rows(ln.CountTableRowsRequest(id=made))


@step
def merge():
    new = pa.table({"id": pa.array([4, 5], pa.int64()), "name": ["D", "E"], "price": [4.5, 5.5]})
    request = ln.MergeInsertIntoTableRequest(
        id=made, on=["id"], when_matched_update_all=True, when_not_matched_insert_all=True
    )
    answer = client.merge_insert_into_table(request, stream(new))
    names = query(made, filter="id >= 4").column("name").to_pylist()
    return [answer.num_updated_rows, answer.num_inserted_rows, sorted(names)]


@step
def update():
    answer = client.update_table(ln.UpdateTableRequest(id=made, predicate="id = 1", updates=[["name", "'A'"]]))
    return [answer.updated_rows, query(made, filter="id = 1").column("name").to_pylist()]


@step
def delete():
    client.delete_from_table(ln.DeleteFromTableRequest(id=made, predicate="id > 3"))
    return count_rows(ln.CountTableRowsRequest(id=made))


@step
def versions():
    answer = client.list_table_versions(ln.ListTableVersionsRequest(id=made))
    # Unlike the other calls, this call takes a mapping.
    one = ln.DescribeTableVersionResponse.model_validate(client.describe_table_version({"id": made, "version": 1}))
    return [sorted(version.version for version in answer.versions), one.version.version]


@step
def tags():
    client.create_table_tag(ln.CreateTableTagRequest(id=made, tag="first", version=1))
    version = client.get_table_tag_version(ln.GetTableTagVersionRequest(id=made, tag="first")).version
    client.update_table_tag(ln.UpdateTableTagRequest(id=made, tag="first", version=2))
    listed = {name: tag.version for name, tag in client.list_table_tags(ln.ListTableTagsRequest(id=made)).tags.items()}
    client.delete_table_tag(ln.DeleteTableTagRequest(id=made, tag="first"))
    return [version, listed, len(client.list_table_tags(ln.ListTableTagsRequest(id=made)).tags)]


@step
def restore():
    client.restore_table(ln.RestoreTableRequest(id=made, version=1))
    return count_rows(ln.CountTableRowsRequest(id=made))


@step
def branches():
    client.create_table_branch(ln.CreateTableBranchRequest(id=made, name="try", from_version=1))
    names = list(client.list_table_branches(ln.ListTableBranchesRequest(id=made)).branches)
    client.delete_table_branch(ln.DeleteTableBranchRequest(id=made, name="try"))
    return [names, len(client.list_table_branches(ln.ListTableBranchesRequest(id=made)).branches)]


@step
def indexes():
    client.create_table_scalar_index(ln.CreateTableIndexRequest(id=made, column="id", index_type="BTREE"))
    client.create_table_scalar_index(ln.CreateTableIndexRequest(id=made, column="name", index_type="BITMAP", name="by_name"))
    listed = client.list_table_indices(ln.ListTableIndicesRequest(id=made)).indexes
    stats = client.describe_table_index_stats(ln.DescribeTableIndexStatsRequest(id=made, index_name="by_name"))
    client.drop_table_index(ln.DropTableIndexRequest(id=made, index_name="by_name"))
    left = client.list_table_indices(ln.ListTableIndicesRequest(id=made)).indexes
    return [
        sorted([index.index_name, *index.columns] for index in listed),
        stats.num_indexed_rows,
        [index.index_name for index in left],
    ]


@step
def stats():
    found = client.get_table_stats(ln.GetTableStatsRequest(id=made))
    return [found.num_rows, found.num_indices, found.total_bytes > 0]


@step
def columns():
    entry = ln_models.AddColumnsEntry(name="twice", expression="price * 2")
    client.alter_table_add_columns(ln.AlterTableAddColumnsRequest(id=made, new_columns=[entry]))
    change = ln_models.AlterColumnsEntry(path="twice", rename="double")
    client.alter_table_alter_columns(ln.AlterTableAlterColumnsRequest(id=made, alterations=[change]))
    altered = query(made).schema.names
    client.alter_table_drop_columns(ln.AlterTableDropColumnsRequest(id=made, columns=["double"]))
    return [altered, query(made).schema.names]


@step
def metadata():
    request = ln.UpdateTableSchemaMetadataRequest(id=made, metadata={"owner": "ada"})
    return client.update_table_schema_metadata(request).metadata


@step
def plans():
    plain = ln.QueryTableRequest(k=5, vector=ln_models.QueryTableRequestVector(), filter="id > 1")
    explained = client.explain_table_query_plan(ln.ExplainTableQueryPlanRequest(id=made, query=plain))
    analyzed = client.analyze_table_query_plan(ln.AnalyzeTableQueryPlanRequest(id=made, **plain.model_dump(exclude={"id"}, exclude_none=True)))
    return ["id" in str(explained), "id" in str(analyzed)]


@step
def rename():
    client.rename_table(ln.RenameTableRequest(id=made, new_table_name="renamed"))
    names = sorted(client.list_tables(ln.ListTablesRequest(id=["shop"])).tables)
    client.rename_table(ln.RenameTableRequest(id=["shop", "renamed"], new_table_name="made"))
    return names


@step
def declared():
    declared = ["shop", "declared"]
    location = client.declare_table(ln.DeclareTableRequest(id=declared)).location
    hidden = client.list_tables(ln.ListTablesRequest(id=["shop"], include_declared=False)).tables
    client.drop_table(ln.DropTableRequest(id=declared))
    return [bool(location), "declared" in hidden]


@step
def deregistered():
    location = client.deregister_table(ln.DeregisterTableRequest(id=made)).location
    gone = "made" not in client.list_tables(ln.ListTablesRequest(id=["shop"])).tables
    client.register_table(ln.RegisterTableRequest(id=made, location=location.rstrip("/").split("/")[-1]))
    return [gone, count_rows(ln.CountTableRowsRequest(id=made))]


@step
def drop_table():
    client.drop_table(ln.DropTableRequest(id=made))
    return sorted(client.list_tables(ln.ListTablesRequest(id=["shop"])).tables)


print(json.dumps(results))
