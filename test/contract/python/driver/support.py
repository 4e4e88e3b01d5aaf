"""What tests of the driver share: the driver itself, jobs, and small tables of Lance."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[4] / "kernel/jobs/driver"))

import backfill as backfill  # noqa: E402
import lance  # noqa: E402
import pyarrow as pa  # noqa: E402

Json = dict[str, Any]


def output_of(column_type: pa.DataType) -> str:
    """A type as a job has it."""
    return base64.b64encode(backfill.schema_stream(pa.schema([pa.field("c", column_type)]))).decode("ascii")


def raw_job(**more: Any) -> Json:
    """A job as it comes by stdin; `function` is merged, all else replaces."""
    function = {
        "kind": "python",
        "takes": "row",
        "entry": "f",
        "code": "def f(text):\n    return len(text)\n",
        "name": "f",
        "hash": "a1b2c3d4e5f60718" * 4,
        "inputs": ["text"],
        "output": output_of(pa.int32()),
        "on_error": {"mode": "fail"},
        **more.pop("function", {}),
    }
    return {
        "version": 1,
        "job_id": "bf-1",
        "table": {"uri": "/nowhere/t.lance", "storage_options": {}},
        "column": "c",
        "function": function,
        **more,
    }


def job(**more: Any) -> backfill.Job:
    return backfill.read_job(raw_job(**more))


class InFolder(unittest.TestCase):
    """A test with a folder of its own, which goes with it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="driver-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.uri = os.path.join(self.folder, "t.lance")

    def job(self, **more: Any) -> backfill.Job:
        return job(table={"uri": self.uri, "storage_options": {}}, **more)

    def table(self, rows: int = 6, each: int = 3) -> lance.LanceDataset:
        """Rows with `id` and `text`, in fragments of so many."""
        data = pa.table({"id": pa.array(range(rows), pa.int64()), "text": [f"row {at}" for at in range(rows)]})
        return lance.write_dataset(data, self.uri, max_rows_per_file=each)


@contextlib.contextmanager
def said() -> Iterator[list[Json]]:
    """Events that are told meanwhile; what is logged goes nowhere."""
    before, sink = backfill._events, io.StringIO()
    events: list[Json] = []
    backfill._events = sink
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield events
    finally:
        backfill._events = before
        events.extend(json.loads(line[2:]) for line in sink.getvalue().splitlines())
