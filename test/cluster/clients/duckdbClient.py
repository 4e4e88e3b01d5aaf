"""Runs SQL in DuckDB with its Lance extension, for duckdb.test.ts.

Reads one line of JSON, a list of statements, and prints one line of JSON (for each statement its rows, or the first
line of its error), until the input ends.
"""

import json
import pathlib
import sys

import duckdb
import duckdb_extension_lance

extensions = pathlib.Path(duckdb_extension_lance.__file__).parent / "extensions"
database = duckdb.connect(config={"allow_unsigned_extensions": "true"})
database.execute(f"LOAD '{extensions / f'v{duckdb.__version__}' / 'lance.duckdb_extension'}'")


def run(statement: str) -> dict[str, object]:
    try:
        return {"rows": database.execute(statement).fetchall()}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}


for line in sys.stdin:
    print(json.dumps([run(statement) for statement in json.loads(line)]), flush=True)
