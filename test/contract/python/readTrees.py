"""Reads directories of tables with upstream's client. Each line on stdin is a location, each line on stdout its tree as
JSON.

Ends when stdin closes, so that it does not outlive the tests.
"""

import json
import sys

import lance
import lance.namespace
from lance_namespace import (
    DescribeNamespaceRequest,
    DescribeTableRequest,
    ListNamespacesRequest,
    ListTablesRequest,
)


def pages(read):
    """Returns all names of a list, page by page."""
    token = None
    while True:
        names, token = read(token)
        yield from names
        if not token:
            return


def read_tree(root, storage_options):
    properties = {f"storage.{name}": value for name, value in storage_options.items()}
    namespace = lance.namespace.DirectoryNamespace(root=root, **properties)
    tree = {}

    def tables(path, token):
        page = namespace.list_tables(ListTablesRequest(id=path, page_token=token))
        return page.tables, page.page_token

    def children(path, token):
        page = namespace.list_namespaces(ListNamespacesRequest(id=path, page_token=token))
        return page.namespaces, page.page_token

    def state(identifier):
        described = namespace.describe_table(DescribeTableRequest(id=identifier))
        try:
            return lance.dataset(described.location, storage_options=storage_options or None).count_rows()
        except ValueError:
            return "unreadable"

    def walk(path):
        for name in pages(lambda token: tables(path, token)):
            tree["/".join([*path, name])] = {"table": state([*path, name])}
        for name in pages(lambda token: children(path, token)):
            child = [*path, name]
            properties = namespace.describe_namespace(DescribeNamespaceRequest(id=child)).properties
            tree["/".join(child) + "/"] = {"namespace": properties or {}}
            walk(child)

    walk([])
    return tree


for line in sys.stdin:
    location = json.loads(line)
    print(json.dumps(read_tree(location["root"], location.get("storageOptions") or {})), flush=True)
