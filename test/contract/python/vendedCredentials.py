"""Opens tables on S3 as engines do: with the credentials that a server vends. Arguments: the server's address, a key
that writes, a key that only reads, and the database.

Reads and writes shop/orders, creates shop/made, and tries to open shop/orders2 with the credentials of shop/orders.
Prints the result or the error of each step as JSON, by name.
"""

import json
import sys
import time
from datetime import timedelta

import lance
import lance_namespace as ln
import pyarrow as pa
from steps import results, step

uri, writing_key, reading_key, database = sys.argv[1:]


def connect(key):
    return ln.connect("rest", {"uri": uri, "header.x-api-key": key, "header.x-service-database": database})


writer = connect(writing_key)
reader = connect(reading_key)
orders = ["shop", "orders"]


def ids(dataset):
    return sorted(dataset.to_table().column("id").to_pylist())


def described(client, table_id, **fields):
    return client.describe_table(ln.DescribeTableRequest(id=table_id, **fields))


def location_of(name):
    return described(writer, ["shop", name], vend_credentials=False).location


more = pa.table({"id": pa.array([3.0], pa.float64())})


@step
def options():
    found = described(reader, orders).storage_options
    return {name: len(value) for name, value in found.items() if name != "aws_endpoint"}


@step
def options_refused():
    return described(reader, orders, vend_credentials=False).storage_options


@step
def life():
    return int(described(reader, orders, vend_credentials=True).storage_options["expires_at_millis"]) / 1000 - time.time()


@step
def read():
    return ids(lance.dataset(namespace_client=reader, table_id=orders))


@step
def append():
    lance.write_dataset(more, namespace_client=writer, table_id=orders, mode="append")
    return ids(lance.dataset(namespace_client=reader, table_id=orders))


@step
def delete_rows():
    dataset = lance.dataset(namespace_client=writer, table_id=orders)
    dataset.delete("id = 1")
    return ids(dataset)


@step
def compact():
    dataset = lance.dataset(namespace_client=writer, table_id=orders)
    dataset.optimize.compact_files()
    return [len(dataset.get_fragments()), ids(dataset)]


@step
def overwrite():
    lance.write_dataset(more, namespace_client=writer, table_id=["shop", "replaced"], mode="overwrite")
    return ids(lance.dataset(namespace_client=reader, table_id=["shop", "replaced"]))


@step
def create():
    lance.write_dataset(more, namespace_client=writer, table_id=["shop", "made"], mode="create")
    return ids(lance.dataset(namespace_client=reader, table_id=["shop", "made"]))


@step
def branch():
    dataset = lance.dataset(namespace_client=writer, table_id=orders)
    other = dataset.create_branch("try")
    return ids(other)


@step
def append_reading():
    lance.write_dataset(more, namespace_client=reader, table_id=orders, mode="append")


@step
def other_table():
    options = described(writer, orders).storage_options
    return ids(lance.dataset(location_of("orders2"), storage_options=options))


@step
def clean_up():
    dataset = lance.dataset(namespace_client=writer, table_id=orders)
    before = len(dataset.versions())
    # The engine does not report that the storage refuses to delete the files.
    dataset.cleanup_old_versions(older_than=timedelta(0), error_if_tagged_old_versions=False)
    after = lance.dataset(namespace_client=writer, table_id=orders)
    return [before > 2, len(after.versions()) == before]


print(json.dumps(results))
