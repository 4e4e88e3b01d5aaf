"""Tells schemathesis how to test our server by the specification: existing names, so that requests succeed; bodies that
are Arrow streams; and responses that are correct although the specification omits them."""

import hashlib
import json
import random

import pyarrow as pa
import schemathesis
from hypothesis import strategies as st
from schemathesis.core.failures import Failure

# Tables that the test has created. Requests that change a table use other tables than requests that
# only read, so that reads always succeed. A table to drop or rename is used only once.
READ_TABLES = ["shop$products", "shop$eu$orders", "notes"]
WRITE_TABLES = ["lab$products", "lab$other"]
NAMESPACES = ["$", "shop", "shop$eu", "lab"]
DOOMED = ["doomed$a", "doomed$b", "doomed$c"]
NOWHERE = ["nope", "shop$nope", "nope$nope", "$$", "a b", "ümlaut"]

READING = {
    "DescribeTable", "TableExists", "CountTableRows", "QueryTable", "ExplainTableQueryPlan", "AnalyzeTableQueryPlan",
    "ListTableVersions", "DescribeTableVersion", "GetTableStats", "ListTableIndices", "DescribeTableIndexStats",
    "ListTableTags", "GetTableTagVersion", "ListTableBranches",
}
DROPPING = {"DropTable", "DeregisterTable", "RenameTable", "DropNamespace", "AlterTableDropColumns"}
MAKING = {"CreateTable", "DeclareTable", "RegisterTable", "CreateNamespace"}


def identifiers(operation_id, path):
    if operation_id in DROPPING:
        return DOOMED + (["doomed", "doomed$deep"] if "/namespace/" in path else [])
    if operation_id in MAKING:
        return ["made$one", "made$two", "made$three", "lab$products", "shop", "fresh"]
    if "/namespace/" in path:
        return NAMESPACES
    return READ_TABLES if operation_id in READING else WRITE_TABLES


# Values for fields of bodies, by field name.
KNOWN = {
    "column": ["id", "name", "embedding", "price", "nope"],
    "index_type": ["BTREE", "BITMAP", "FTS", "IVF_FLAT", "LABEL_LIST", "IVF_PQ"],
    "predicate": ["id > 1", "name = 'mug'", "price IS NULL", "nope = 1", "id >"],
    "filter": ["id > 1", "name = 'mug'", "price IS NULL", "nope = 1", "id >"],
    "version": [1, 2, 999],
    "from_version": [1, 999],
    "tag": ["v1", "nope", "made"],
    "name": ["made", "v1", "other"],
    "branch": [None, "side", "nope"],
    "from_branch": [None, "side"],
    "vector_column": [None, "embedding"],
    "distance_type": ["l2", "cosine", "dot", None],
    "path": ["name", "price", "nope"],
    "expression": ["id + 1", "nope", "CAST(id AS STRING)"],
    "mode": [None, "create", "ExistOk", "exist_ok", "Overwrite", "fail", "Skip", "append"],
    "behavior": [None, "Restrict", "CASCADE"],
    "new_table_name": ["renamed", "also", "products"],
    "new_namespace_id": [None, ["doomed"], ["nope"]],
    "location": ["made.lance", "../outside", "/etc", "s3://other/place"],
    "computed": [None],
    "virtual_column": [None],
    "target_partition_size": [None],
    "rename": [None, "renamed"],
    "data_type": [{"type": "utf8"}, {"type": "int64"}, {"type": "timestamp"}, {}],
    "columns": None,
    "vector": None,
    "full_text_query": None,
}
SPECIAL = {
    "columns": [
        None,
        {"column_names": ["id", "name"]},
        {"column_names": ["nope"]},
        {"column_aliases": {"double": "id * 2"}},
    ],
    "vector": [{}, {"single_vector": []}, {"single_vector": [1.0, 0.0]}, {"single_vector": [1.0]}, None],
    "full_text_query": [None, None, {"string_query": {"query": "mug"}}, {"string_query": {"query": "mug", "columns": ["name"]}}],
}


def known(rng, field, value):
    if field == "columns" and isinstance(value, list):
        return rng.choice([["price"], ["nope"], ["id", "name"]])
    if field == "updates" and isinstance(value, list):
        return rng.choice([[["price", "price + 1"]], [["nope", "1"]], [["name", "'cup'"], ["price", "2.5"]], []])
    if field in SPECIAL:
        return rng.choice(SPECIAL[field])
    return rng.choice(KNOWN[field])


def fill(rng, body):
    filled = {}
    for field, value in body.items():
        if field == "id":
            continue
        if isinstance(value, dict) and field in ("query", "alterations", "new_columns"):
            value = fill(rng, value)
        elif isinstance(value, list) and field in ("alterations", "new_columns"):
            value = [fill(rng, one) if isinstance(one, dict) else one for one in value]
        elif (field in KNOWN or field == "updates") and rng.random() < 0.85:
            value = known(rng, field, value)
            if value is None and field not in ("vector",):
                continue
        elif field in ("k", "offset", "limit") and rng.random() < 0.8:
            value = rng.choice([0, 1, 2, 10])
        filled[field] = value
    return filled


@schemathesis.hook
def map_case(context, case):
    """Makes most valid requests name existing objects; equal requests are changed equally."""
    if case.meta is None or case.meta.generation.mode.is_negative:
        return case
    operation_id = case.operation.definition.raw.get("operationId", "")
    seen = json.dumps([operation_id, case.path_parameters, case.query, case.body], default=repr, sort_keys=True)
    rng = random.Random(hashlib.sha256(seen.encode()).digest())
    if case.path_parameters and "id" in case.path_parameters:
        choices = identifiers(operation_id, case.path) if rng.random() < 0.85 else NOWHERE
        case.path_parameters["id"] = rng.choice(choices)
    if case.path_parameters and "index_name" in case.path_parameters:
        case.path_parameters["index_name"] = rng.choice(["id_idx", "nope"])
    if case.query and rng.random() < 0.9:
        for name in ("delimiter", "branch", "page_token"):
            case.query.pop(name, None)
        if "mode" in case.query:
            case.query["mode"] = rng.choice(["create", "append", "overwrite", "ExistOk"])
        if "on" in case.query:
            case.query["on"] = "id"
        for name in ("properties", "storage_options"):
            if name in case.query:
                case.query[name] = rng.choice(["{}", '{"team":"eng"}', "{"])
        if "limit" in case.query:
            case.query["limit"] = rng.choice([1, 2, 1000, 0])
    if isinstance(case.body, dict) and case.media_type == "application/json":
        case.body = fill(rng, case.body)
    return case


def stream(rows):
    table = pa.Table.from_pylist(
        rows,
        pa.schema(
            [
                ("id", pa.int64()),
                ("name", pa.utf8()),
                ("price", pa.float64()),
                ("embedding", pa.list_(pa.float32(), 2)),
            ]
        ),
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


ROW = {"id": 7, "name": "lamp", "price": 7.5, "embedding": [0.5, 0.5]}
WHOLE = stream([ROW])
BODIES = [WHOLE, stream([]), stream([ROW, {**ROW, "id": 8, "name": None}]), WHOLE[: len(WHOLE) // 2], b"", b"ARROW1\0\0", b"garbage"]
schemathesis.openapi.media_type("application/vnd.apache.arrow.stream", st.sampled_from(BODIES))

# Statuses that are in the specification's table of errors, but not in its list of responses of an
# operation, with the reason. All other unlisted statuses are failures.
BESIDE = {
    406: "codes 0: \"Unsupported\" is an error of every operation, and 14 operations list its status",
    405: "HTTP's own answer to another method on a known address",
    408: "HTTP's own answer to a body that does not come",
    409: "codes 14 and 19: a conflict between writers and a broken table can happen to whatever opens a table",
    413: "HTTP's own answer to a body over the limit",
    404: "code 1: a list of all tables meets namespaces that are dropped meanwhile; an address with an empty part is none",
}


class UndocumentedStatus(Failure):
    """The server responded with a status that neither the specification nor the list above contains."""


@schemathesis.check
def status_is_known(ctx, response, case):
    listed = {str(code).upper() for code in case.operation.definition.raw.get("responses", {})}
    status = response.status_code
    if str(status) in listed or f"{status // 100}XX" in listed or status in BESIDE:
        return
    raise UndocumentedStatus(operation=case.operation.label, title="Undocumented status", message=f"{status} {response.text[:200]}")


class NoErrorBody(Failure):
    """An error whose body does not follow the specification."""


@schemathesis.check
def errors_have_a_body(ctx, response, case):
    if response.status_code < 400 or case.method.upper() == "HEAD":
        return
    try:
        body = response.json()
        fits = isinstance(body["code"], int) and 0 <= body["code"] <= 23 and isinstance(body["error"], str) and body["error"] != ""
    except Exception:
        fits = False
    if not fits or "/.cargo" in response.text or ".rs:" in response.text:
        raise NoErrorBody(operation=case.operation.label, title="No error body", message=response.text[:300])
