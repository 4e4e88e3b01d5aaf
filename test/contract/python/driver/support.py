"""Shared by tests of the driver: the driver itself, jobs, and small Lance tables."""

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
    """Returns a type in the form of a job."""
    return base64.b64encode(backfill.schema_stream(pa.schema([pa.field("c", column_type)]))).decode("ascii")


def raw_job(**more: Any) -> Json:
    """Returns a job as the driver gets it on stdin; `function` is merged, other fields are replaced."""
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
    """A test with a separate folder, which is deleted at its end."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="driver-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.uri = os.path.join(self.folder, "t.lance")

    def job(self, **more: Any) -> backfill.Job:
        return job(table={"uri": self.uri, "storage_options": {}}, **more)

    def table(self, rows: int = 6, each: int = 3) -> lance.LanceDataset:
        """Creates rows with `id` and `text`, in fragments of the given size."""
        data = pa.table({"id": pa.array(range(rows), pa.int64()), "text": [f"row {at}" for at in range(rows)]})
        return lance.write_dataset(data, self.uri, max_rows_per_file=each)


@contextlib.contextmanager
def said() -> Iterator[list[Json]]:
    """Collects the events of a block and drops its log."""
    before, sink = backfill._events, io.StringIO()
    events: list[Json] = []
    backfill._events = sink
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield events
    finally:
        backfill._events = before
        events.extend(json.loads(line[2:]) for line in sink.getvalue().splitlines())
