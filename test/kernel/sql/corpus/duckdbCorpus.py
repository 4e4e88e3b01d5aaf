"""Runs the corpus by DuckDB's Python package over Parquet files.

stdin: {"folder": …, "tables": [{"schema": …, "name": …, "file": …}], "queries": [text, …]}. The tables are Arrow
streams. Writes the result of the query n as an Arrow stream to FOLDER/n.arrow; stdout is the list of errors, null for a
query that has a result.
"""

import json
import os
import sys

import duckdb
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
from pyarrow import types


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


SIMPLE = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "uint64": "UBIGINT",
    "halffloat": "FLOAT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "large_string": "VARCHAR",
    "binary": "BLOB",
    "date32[day]": "DATE",
    "date64[ms]": "DATE",
    "time32[s]": "TIME",
    "time32[ms]": "TIME",
    "time64[us]": "TIME",
    "time64[ns]": "TIME_NS",
    "timestamp[s]": "TIMESTAMP_S",
    "timestamp[ms]": "TIMESTAMP_MS",
    "timestamp[us]": "TIMESTAMP",
    "timestamp[ns]": "TIMESTAMP_NS",
}


def engine_type(kind):
    """Returns the type of a column in DuckDB. Parquet has no lists of a fixed size and fewer units of times."""
    if str(kind) in SIMPLE:
        return SIMPLE[str(kind)]
    if types.is_dictionary(kind):
        return engine_type(kind.value_type)
    if types.is_timestamp(kind):
        return "TIMESTAMPTZ"
    if types.is_fixed_size_binary(kind):
        return "BLOB"
    if types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if types.is_fixed_size_list(kind):
        return f"{engine_type(kind.value_type)}[{kind.list_size}]"
    if types.is_list(kind):
        return f"{engine_type(kind.value_type)}[]"
    if types.is_map(kind):
        return f"MAP({engine_type(kind.key_type)}, {engine_type(kind.item_type)})"
    if types.is_struct(kind):
        return "STRUCT(" + ", ".join(f"{quoted(field.name)} {engine_type(field.type)}" for field in kind) + ")"
    raise ValueError(f"no type for {kind}")


def column(field):
    """Returns the expression of a column over its Parquet file. Parquet has durations as integers."""
    name = quoted(field.name)
    if types.is_duration(field.type):
        factor = {"s": 1_000_000, "ms": 1000, "us": 1}.get(field.type.unit)
        return f"{name}::BIGINT AS {name}" if factor is None else f"to_microseconds({name} * {factor}) AS {name}"
    return f"CAST({name} AS {engine_type(field.type)}) AS {name}"


def for_parquet(table):
    """Returns the table without what Parquet or its reader in DuckDB does not have: durations, zones and times with nanoseconds."""
    for index, field in enumerate(table.schema):
        if types.is_duration(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(pyarrow.int64()))
        if types.is_time64(field.type) and field.type.unit == "ns":
            table = table.set_column(index, field.name, table.column(index).cast(pyarrow.string()))
        if types.is_timestamp(field.type) and field.type.unit == "ns" and field.type.tz is not None:
            table = table.set_column(index, field.name, table.column(index).cast(pyarrow.timestamp("ns")))
    return table


def create_view(connection, folder, schema, name, file):
    table = pyarrow.ipc.open_stream(file).read_all()
    columns = ", ".join(column(field) for field in for_parquet_fields(table))
    parquet = os.path.join(folder, f"{name}.parquet")
    pyarrow.parquet.write_table(for_parquet(table), parquet)
    if schema:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
    place = f"{quoted(schema)}.{quoted(name)}" if schema else quoted(name)
    connection.execute(f"CREATE VIEW {place} AS SELECT {columns} FROM read_parquet('{parquet}')")


def for_parquet_fields(table):
    """Returns the fields with the types that the product gives the engine."""
    for field in table.schema:
        kind = field.type
        if types.is_timestamp(kind) and kind.unit == "ns" and kind.tz is not None:
            yield pyarrow.field(field.name, pyarrow.timestamp("ns"))
        else:
            yield field


def run(connection, text, file):
    try:
        table = connection.execute(text).to_arrow_table()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    with pyarrow.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return None


def main():
    request = json.load(sys.stdin)
    folder = request["folder"]
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for table in request["tables"]:
        create_view(connection, folder, table["schema"], table["name"], table["file"])
    errors = [
        run(connection, text, os.path.join(folder, f"{index}.arrow")) for index, text in enumerate(request["queries"])
    ]
    print(json.dumps(errors))


main()
