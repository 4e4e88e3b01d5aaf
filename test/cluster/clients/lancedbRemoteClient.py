"""Runs LanceDB's remote client against a server, for lancedbRemote.test.ts.

argv: the address of the server, an API key, and a namespace as a JSON list. Each step compares the values it reads.
Prints one line of JSON for each step: its name, and its error or null. Leaves the tables "kept" and "moved".
"""

import datetime
import decimal
import json
import sys
import warnings

import lancedb
import pyarrow as pa
from lancedb.index import BTree, FTS, IvfFlat
from lancedb.query import (
    BooleanQuery,
    BoostQuery,
    ColumnOrdering,
    MatchQuery,
    MultiMatchQuery,
    Occur,
    PhraseQuery,
)

warnings.simplefilter("ignore")
address, key, namespace = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


def connect():
    return lancedb.connect("db://main", api_key=key, host_override=address)


db = connect()
steps = []


def step(call):
    """Adds a step, whose name is the name of the function."""
    steps.append(call)
    return call


def check(found, wanted):
    assert found == wanted, f"{found!r} instead of {wanted!r}"


def refused(call, *words, but_not=None):
    """Checks that a call fails with an error that has all these words, but not the text `but_not`."""
    try:
        call()
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        assert all(word.lower() in text.lower() for word in words), f"{text!r} lacks one of {words}"
        assert but_not is None or but_not not in text, f"{text!r} has {but_not!r}"
        return
    raise AssertionError("the call was not refused")


def opened(name="items"):
    return db.open_table(name, namespace_path=namespace)


def created(name, data=None, **options):
    return db.create_table(name, data, namespace_path=namespace, **options)


def names():
    return sorted(db.list_tables(namespace_path=namespace).tables)


def rows_of(table):
    """Returns all rows; `to_arrow` of a remote table is not implemented."""
    return table.search().limit(None).to_arrow()


def ids(query):
    return [row["id"] for row in query.to_list()]


item_schema = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("name", pa.string()),
        pa.field("note", pa.string()),
        pa.field("price", pa.float64()),
        pa.field("vector", pa.list_(pa.float32(), 2)),
    ]
)
words = ["red mug", "blue mug", "mug of red clay", "lamp", "red lamp", "green vase"]


def item(number):
    """An item whose vector is (number, 1). The price of every third item is null."""
    return {
        "id": number,
        "name": words[number % len(words)],
        "note": f"item {number}",
        "price": None if number % 3 == 2 else number * 1.5,
        "vector": [float(number), 1.0],
    }


def items(first, last):
    return pa.Table.from_pylist([item(number) for number in range(first, last)], schema=item_schema)


@step
def create_a_table_from_rows():
    table = created("items", items(0, 12))
    check(table.count_rows(), 12)
    check(table.name, "items")


@step
def refuse_to_create_it_again():
    refused(lambda: created("items", items(0, 1)), "already exists")
    check(opened().count_rows(), 12)


@step
def keep_an_existing_table_with_exist_ok():
    check(created("items", items(0, 1), exist_ok=True).count_rows(), 12)


@step
def overwrite_a_table():
    created("other", [{"id": 1}])
    rows = [{"word": "a"}, {"word": "b"}]
    check(rows_of(created("other", rows, mode="overwrite")).to_pylist(), rows)


@step
def create_an_empty_table_from_a_schema():
    table = created("empty", schema=item_schema)
    check(table.count_rows(), 0)
    check(table.schema, item_schema)


@step
def create_a_table_from_dicts():
    check(rows_of(created("plain", [{"id": 1, "word": "a"}])).to_pylist(), [{"id": 1, "word": "a"}])


@step
def refuse_a_missing_table():
    refused(lambda: opened("missing"), "missing", "not found")


@step
def list_tables_in_pages():
    check(names(), ["empty", "items", "other", "plain"])
    first = db.list_tables(namespace_path=namespace, limit=2)
    check(first.tables, ["empty", "items"])
    rest = db.list_tables(namespace_path=namespace, limit=5, page_token=first.page_token)
    check((rest.tables, rest.page_token), (["other", "plain"], None))


@step
def list_names_of_this_namespace_only():
    check(list(db.table_names(namespace_path=namespace)), ["empty", "items", "other", "plain"])
    check(list(db.table_names(page_token="items", limit=1, namespace_path=namespace)), ["other"])


@step
def read_the_schema():
    check(opened().schema, item_schema)


@step
def count_rows_with_a_filter():
    check(opened().count_rows("id >= 4 AND name = 'lamp'"), 1)


@step
def read_all_rows():
    check(rows_of(opened()).sort_by("id"), items(0, 12))
    check(opened().head(3).num_rows, 3)


@step
def read_without_a_limit():
    check(len(opened().search().to_list()), 12)
    check(len(opened().search().where("id > 1").limit(None).to_list()), 10)


@step
def filter_and_select_columns():
    found = opened().search().where("price > 9 AND price < 14").select(["id", "price"]).to_list()
    check(found, [{"id": 7, "price": 10.5}, {"id": 9, "price": 13.5}])


@step
def select_expressions():
    found = opened().search().where("id = 4").select({"twice": "id * 2", "upper": "upper(name)"}).to_list()
    check(found, [{"twice": 8, "upper": "RED LAMP"}])


@step
def order_rows():
    query = opened().search().where("id < 5").select(["id"])
    down = [ColumnOrdering(column_name="price", ascending=False), ColumnOrdering(column_name="id")]
    check(ids(query.order_by(down)), [4, 3, 1, 0, 2])
    check(ids(query.order_by([ColumnOrdering(column_name="price", nulls_first=True)])), [2, 0, 1, 3, 4])


@step
def limit_and_skip_rows():
    by_id = [ColumnOrdering(column_name="id")]
    check(ids(opened().search().select(["id"]).order_by(by_id).limit(3).offset(4)), [4, 5, 6])


@step
def search_by_a_vector():
    found = opened().search([3.1, 1.0]).select(["id"]).limit(2).to_list()
    check([row["id"] for row in found], [3, 4])
    assert abs(found[0]["_distance"] - 0.01) < 1e-4, found
    check(ids(opened().search([0.0, 2.0]).distance_type("cosine").select(["id"]).limit(2)), [0, 1])


@step
def search_by_a_vector_with_a_filter():
    near = opened().search([3.0, 1.0]).select(["id"]).limit(3)
    check(ids(near.where("id > 5")), [6, 7, 8])
    after = opened().search([3.0, 1.0]).select(["id"]).limit(3)
    check(sorted(ids(after.where("id > 3", prefilter=False))), [4])


@step
def search_in_a_range_of_distances():
    check(sorted(ids(opened().search([3.0, 1.0]).distance_range(1.0, 5.0).select(["id"]))), [1, 2, 4, 5])


@step
def search_by_several_vectors():
    found = opened().search([[3.0, 1.0], [9.0, 1.0]]).select(["id"]).limit(2).to_list()
    nearest = {query: [row["id"] for row in found if row["query_index"] == query] for query in (0, 1)}
    check((nearest[0][0], nearest[1][0], len(found)), (3, 9, 4))


@step
def name_a_missing_column_tag_or_index():
    refused(lambda: opened().search().where("nothing = 1").to_list(), "nothing")
    refused(lambda: opened().checkout("nothing"), "nothing")
    refused(lambda: opened().drop_index("nothing"), "nothing")


@step
def name_a_missing_version_or_text_index_instead_of_the_table():
    refused(lambda: opened().tags.create("late", 99), "no version 99", but_not="was not found")
    refused(lambda: opened().checkout(99), "no version 99", but_not="was not found")
    search = opened().search("mug", query_type="fts")
    refused(lambda: search.to_list(), "no full-text index", but_not="was not found")


@step
def create_text_indexes():
    table = opened()
    table.create_fts_index("name", with_position=True)
    table.create_index("note", config=FTS(with_position=True))
    check(sorted(index.columns[0] for index in table.list_indices()), ["name", "note"])


@step
def search_by_words():
    check(sorted(ids(opened().search("vase", query_type="fts"))), [5, 11])
    check(sorted(ids(opened().search("clay", query_type="fts", fts_columns="name").select(["id"]))), [2, 8])
    check(ids(opened().search(MatchQuery("7", "note"), query_type="fts")), [7])
    check(ids(opened().search("7", query_type="fts", fts_columns=["name", "note"])), [7])


@step
def search_by_phrases_and_operators():
    def found(query):
        return sorted(ids(opened().search(query, query_type="fts").limit(12)))

    check(found(PhraseQuery("red mug", "name")), [0, 6])
    check(found(MatchQuery("red mug", "name", operator="AND")), [0, 2, 6, 8])
    check(found(MatchQuery("vasa", "name", fuzziness=1)), [5, 11])
    without = BooleanQuery([(Occur.MUST, MatchQuery("mug", "name")), (Occur.MUST_NOT, MatchQuery("red", "name"))])
    check(found(without), [1, 7])
    check(found(MultiMatchQuery("7", ["name", "note"])), [7])
    check(len(found(BoostQuery(MatchQuery("mug", "name"), MatchQuery("red", "name")))), 6)


@step
def search_by_vector_and_text():
    hybrid = opened().search(query_type="hybrid", vector_column_name="vector").vector([5.0, 1.0]).text("vase")
    check(ids(hybrid.limit(2))[0], 5)


@step
def explain_and_analyze_a_query():
    query = opened().search([3.0, 1.0]).where("id > 1").limit(2)
    assert "KNN" in query.explain_plan(True), query.explain_plan(True)
    assert "output_rows" in query.analyze_plan(), query.analyze_plan()


@step
def take_rows():
    check([row["id"] for row in opened().take_offsets([2, 4]).select(["id"]).to_list()], [2, 4])
    found = opened().search().where("id = 6").select(["id"]).with_row_id(True).to_list()
    check([row["id"] for row in opened().take_row_ids([found[0]["_rowid"]]).select(["id"]).to_list()], [6])


@step
def add_rows():
    table = opened()
    before = table.version
    added = table.add(items(12, 15))
    assert added.version > before, (added.version, before)
    check(table.count_rows(), 15)
    check(table.search().where("id = 13").to_arrow(), items(13, 14))


@step
def replace_all_rows():
    table = opened("other")
    table.add([{"word": "c"}], mode="overwrite")
    check(rows_of(table).to_pylist(), [{"word": "c"}])


@step
def merge_rows():
    merge = opened().merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    rows = [{**item(14), "note": "merged"}, item(15)]
    done = merge.execute(pa.Table.from_pylist(rows, schema=item_schema))
    check((done.num_updated_rows, done.num_inserted_rows, done.num_deleted_rows), (1, 1, 0))
    check(opened().search().where("id = 14").to_list()[0]["note"], "merged")
    check(opened().count_rows(), 16)


@step
def update_rows():
    done = opened().update(where="id >= 14", values={"note": "up 'to' date"})
    check(done.rows_updated, 2)
    check(opened().update(where="id = 15", values_sql={"price": "price + 1"}).rows_updated, 1)
    last = opened().search().where("id = 15").select(["note", "price"]).to_list()
    check(last, [{"note": "up 'to' date", "price": 23.5}])


@step
def delete_rows():
    check(opened().delete("id >= 12").num_deleted_rows, 4)
    check(opened().delete("id = 99").num_deleted_rows, 0)
    check(opened().count_rows(), 12)


@step
def add_columns():
    table = created("columns", [{"id": 1, "a": 0.1}, {"id": 2, "a": 0.5}])
    table.add_columns({"twice": "id * 2"})
    table.add_columns(pa.schema([pa.field("at", pa.timestamp("us", tz="UTC"))]))
    check(table.schema.field("at").type, pa.timestamp("us", tz="UTC"))
    check([(row["twice"], row["at"]) for row in rows_of(table).to_pylist()], [(2, None), (4, None)])


@step
def alter_columns():
    table = opened("columns")
    table.alter_columns({"path": "a", "data_type": pa.float32(), "rename": "b"}, {"path": "id", "nullable": True})
    table.alter_columns({"path": "at", "data_type": pa.timestamp("ms", tz="UTC")})
    table.alter_columns({"path": "twice", "data_type": pa.int32()})
    types = {field.name: field.type for field in table.schema}
    check(types, {"id": pa.int64(), "b": pa.float32(), "twice": pa.int32(), "at": pa.timestamp("ms", tz="UTC")})
    check(rows_of(table)["b"].to_pylist(), pa.array([0.1, 0.5], pa.float32()).to_pylist())


@step
def drop_columns():
    table = opened("columns")
    table.drop_columns(["b", "at"])
    check(rows_of(table).to_pylist(), [{"id": 1, "twice": 2}, {"id": 2, "twice": 4}])


@step
def create_list_and_drop_a_scalar_index():
    table = opened()
    table.create_index("id", config=BTree(), name="by_id")
    found = [(index.name, index.index_type) for index in table.list_indices() if index.columns == ["id"]]
    check(found, [("by_id", "BTree")])
    stats = table.index_stats("by_id")
    check((stats.num_indexed_rows, stats.index_type), (12, "BTREE"))
    refused(lambda: table.create_index_async("id", config=BTree(), name="by_id", replace=False), "by_id", "already")
    table.drop_index("by_id")
    check(table.index_stats("by_id"), None)


@step
def create_a_vector_index_of_a_distance():
    rows = [{"id": number, "vector": [float(number % 16), float(number // 16)]} for number in range(256)]
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("vector", pa.list_(pa.float32(), 2))])
    table = created("vectors", pa.Table.from_pylist(rows, schema=schema))
    table.create_index("vector", config=IvfFlat(distance_type="cosine", num_partitions=8))
    check(table.index_stats("vector_idx").distance_type, "cosine")
    check(ids(table.search([1.0, 15.0]).distance_type("cosine").nprobes(8).limit(1)), [241])
    narrow = table.search([1.0, 1.0]).distance_type("cosine").minimum_nprobes(1).maximum_nprobes(1)
    assert 0 < len(narrow.limit(256).to_list()) < 256


@step
def search_all_partitions_without_a_maximum():
    table = opened("vectors")
    query = table.search([1.0, 1.0]).distance_type("cosine").minimum_nprobes(1).maximum_nprobes(0)
    check(len(query.where("id > 0").limit(256).to_list()), 255)


@step
def tag_versions():
    table = opened()
    version = table.version
    table.tags.create("one", version)
    table.tags.create("two", 1)
    check({name: tag["version"] for name, tag in table.tags.list().items()}, {"one": version, "two": 1})
    table.tags.update("two", version)
    check(table.tags.get_version("two"), version)
    table.tags.delete("two")
    check(list(table.tags.list()), ["one"])


@step
def list_versions():
    table = opened()
    versions = table.list_versions()
    check([entry["version"] for entry in versions][-1], table.version)
    assert isinstance(versions[0]["timestamp"], datetime.datetime), versions[0]


@step
def check_out_and_restore_a_version():
    table = opened("plain")
    table.add([{"id": 2, "word": "b"}])
    table.checkout(1)
    check((table.version, table.count_rows(), rows_of(table).num_rows), (1, 1, 1))
    refused(lambda: table.add([{"id": 3, "word": "c"}]), "version 1")
    table.restore()
    check(table.count_rows(), 1)
    table.tags.create("first", 1)
    table.add([{"id": 2, "word": "b"}])
    table.checkout("first")
    check(table.count_rows(), 1)
    table.checkout_latest()
    check(table.count_rows(), 2)


@step
def read_statistics():
    stats = opened().stats()
    check((stats["num_rows"], stats["num_indices"]), (12, 2))


@step
def work_on_a_branch():
    table = opened("plain")
    branch = table.branches.create("trial")
    branch.add([{"id": 9, "word": "z"}])
    check((branch.count_rows(), table.count_rows()), (3, 2))
    check(list(table.branches.list()), ["trial"])
    table.branches.delete("trial")


@step
def rename_a_table():
    db.rename_table("other", "renamed", cur_namespace_path=namespace)
    assert "renamed" in names() and "other" not in names(), names()
    check(connect().open_table("renamed", namespace_path=namespace).count_rows(), 1)


@step
def manage_namespaces():
    path = [*namespace, "inner"]
    check(db.create_namespace(path, properties={"owner": "ana"}).properties, {"owner": "ana"})
    refused(lambda: db.create_namespace(path), "exist")
    assert "inner" in db.list_namespaces(namespace_path=namespace).namespaces
    check(db.describe_namespace(path).properties, {"owner": "ana"})


@step
def rename_a_table_into_another_namespace():
    inner = [*namespace, "inner"]
    db.create_table("moving", [{"id": 7}], namespace_path=inner)
    other = [*namespace, "goal"]
    db.create_namespace(other)
    db.rename_table("moving", "moved", cur_namespace_path=inner, new_namespace_path=other)
    check(list(db.list_tables(namespace_path=inner).tables), [])
    check(rows_of(connect().open_table("moved", namespace_path=other)).to_pylist(), [{"id": 7}])


@step
def drop_a_namespace():
    path = [*namespace, "inner"]
    db.create_table("inside", [{"id": 1}], namespace_path=path)
    refused(lambda: db.drop_namespace(path), "inner")
    db.drop_table("inside", namespace_path=path)
    db.drop_namespace(path)
    assert "inner" not in db.list_namespaces(namespace_path=namespace).namespaces


day = datetime.date(2024, 2, 29)
noon = datetime.datetime(2024, 2, 29, 12, 30, 15)
columns = {
    "null": pa.array([None, None], pa.null()),
    "bool": pa.array([True, None]),
    "int8": pa.array([-128, None], pa.int8()),
    "int16": pa.array([-32768, None], pa.int16()),
    "int32": pa.array([-(2**31), None], pa.int32()),
    "int64": pa.array([-(2**63), None], pa.int64()),
    "uint8": pa.array([255, None], pa.uint8()),
    "uint16": pa.array([65535, None], pa.uint16()),
    "uint32": pa.array([2**32 - 1, None], pa.uint32()),
    "uint64": pa.array([2**64 - 1, None], pa.uint64()),
    "float16": pa.array([1.5, None], pa.float16()),
    "float32": pa.array([0.1, None], pa.float32()),
    "float64": pa.array([0.1, None], pa.float64()),
    "string": pa.array(["ü 😀", None]),
    "large_string": pa.array(["a", None], pa.large_string()),
    "binary": pa.array([b"\x00\xff", None]),
    "large_binary": pa.array([b"\x00", None], pa.large_binary()),
    "fixed_size_binary": pa.array([b"abc", None], pa.binary(3)),
    "date32": pa.array([day, None], pa.date32()),
    "date64": pa.array([day, None], pa.date64()),
    **{f"time32_{unit}": pa.array([5, None], pa.time32(unit)) for unit in ("s", "ms")},
    **{f"time64_{unit}": pa.array([5000, None], pa.time64(unit)) for unit in ("us", "ns")},
    **{f"timestamp_{unit}": pa.array([noon, None], pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")},
    "timestamp_utc": pa.array([noon, None], pa.timestamp("us", tz="UTC")),
    "timestamp_berlin": pa.array([noon, None], pa.timestamp("ms", tz="Europe/Berlin")),
    **{f"duration_{unit}": pa.array([5000, None], pa.duration(unit)) for unit in ("s", "ms", "us", "ns")},
    "decimal128": pa.array([decimal.Decimal("-1.25"), None], pa.decimal128(10, 2)),
    "decimal128_negative": pa.array([decimal.Decimal("1200"), None], pa.decimal128(5, -2)),
    "decimal256": pa.array([decimal.Decimal("1.5"), None], pa.decimal256(50, 3)),
    "list": pa.array([[1, 2], None], pa.list_(pa.int32())),
    "large_list": pa.array([["a"], None], pa.large_list(pa.string())),
    "floats": pa.array([[1.0, 2.0], None], pa.list_(pa.float32(), 2)),
    "bytes": pa.array([[1, 2], None], pa.list_(pa.uint8(), 2)),
    "struct": pa.array([{"x": 1, "at": noon}, None], pa.struct([("x", pa.int32()), ("at", pa.timestamp("us"))])),
    "structs": pa.array([[{"x": 0.5}], None], pa.list_(pa.struct([("x", pa.float32())]))),
    "lists": pa.array([[["a"], []], None], pa.list_(pa.list_(pa.string()))),
}
# The client reads the values of these columns, not their keys.
dictionary = pa.array(["a", "b"]).dictionary_encode()


@step
def keep_all_types_of_columns():
    rows = pa.table(columns)
    table = created("types", rows)
    check(table.schema, rows.schema)
    check(rows_of(table).to_pylist(), rows.to_pylist())
    table.add(rows)
    check(table.count_rows(), 4)


@step
def read_a_dictionary_as_its_values():
    table = created("dictionary", pa.table({"word": dictionary}))
    check(rows_of(table)["word"].to_pylist(), ["a", "b"])


@step
def name_a_column_that_the_client_cannot_read():
    deep = pa.struct([("m", pa.map_(pa.string(), pa.int64()))])
    table = created("maps", pa.table({"id": [1], "deep": pa.array([{"m": [("k", 1)]}], deep)}))
    check(table.count_rows(), 1)
    refused(lambda: table.schema, "deep.m", "map", "connectNamespace")
    db.drop_table("maps", namespace_path=namespace)


@step
def set_metadata_of_a_column():
    table = opened("plain")
    table.update_field_metadata({"path": "word", "metadata": {"unit": "letters"}})
    check(table.schema.field("word").metadata, {b"unit": b"letters"})


@step
def drop_tables():
    for name in names():
        if name != "items":
            db.drop_table(name, namespace_path=namespace)
    refused(lambda: opened("plain"), "plain", "not found")
    db.rename_table("items", "kept", cur_namespace_path=namespace)
    check(names(), ["kept"])


for call in steps:
    try:
        call()
        error = None
    except BaseException as problem:
        error = f"{type(problem).__name__}: {problem}"
    print(json.dumps([call.__name__.replace("_", " "), error]), flush=True)
