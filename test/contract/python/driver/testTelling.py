from __future__ import annotations

import io
import json
import threading
import time
import unittest

import pyarrow as pa
from support import backfill, said


class Failures(unittest.TestCase):
    """How the driver reports exceptions that end a job."""

    def code_of(self, error: BaseException) -> str:
        with said():
            return backfill.failure_of(error).code

    def test_a_failure_with_words_of_its_own_stays_as_it_is(self) -> None:
        failure = backfill.JobFailure("Busy", "Somebody is at it.", "Wait.")
        self.assertIs(backfill.failure_of(failure), failure)

    def test_a_full_disk_is_told_from_other_trouble_with_storage(self) -> None:
        self.assertEqual(self.code_of(OSError(28, "No space left on device")), "StorageFull")
        self.assertEqual(self.code_of(ValueError("LanceError(IO): No space left on device")), "StorageFull")
        self.assertEqual(self.code_of(OSError(122, "Disk quota exceeded")), "StorageFull")
        self.assertEqual(self.code_of(OSError(5, "Input/output error")), "StorageFailed")
        self.assertEqual(self.code_of(ValueError("LanceError(IO): Generic S3 error")), "StorageFailed")

    def test_conflicts_of_commits_are_of_the_table(self) -> None:
        self.assertEqual(self.code_of(OSError("Commit conflict for version 7")), "TableChanged")

    def test_what_nobody_foresaw_names_its_class(self) -> None:
        with said():
            failure = backfill.failure_of(KeyError("x"))
        self.assertEqual(failure.code, "Internal")
        self.assertIn("KeyError", failure.message)

    def test_words_are_one_line_without_places_in_lances_source(self) -> None:
        error = ValueError("LanceError(IO): gone\n  for good, /root/lance/src/io.rs:12:7")
        self.assertEqual(backfill.words_of(error), "LanceError(IO): gone for good")

    def test_words_are_cut_and_never_empty(self) -> None:
        self.assertEqual(len(backfill.words_of(ValueError("x" * 5000))), 1000)
        self.assertEqual(backfill.words_of(ValueError()), "ValueError")

    def test_conflicts_are_known_by_what_lance_says_of_them(self) -> None:
        for text in ("Retryable commit conflict", "preempted by Append", "Concurrent modification"):
            self.assertTrue(backfill.is_conflict(OSError(text)), text)
        self.assertFalse(backfill.is_conflict(OSError("Permission denied")))


class Events(unittest.TestCase):
    """Lines on stdout."""

    def test_an_event_is_one_line_of_ascii_with_its_kind_and_time(self) -> None:
        before, sink = backfill._events, io.StringIO()
        backfill._events = sink
        try:
            backfill.emit("notice", text="Grüße\n東京")
        finally:
            backfill._events = before
        line = sink.getvalue()
        self.assertTrue(line.startswith("@@{") and line.endswith("}\n") and line.isascii())
        self.assertEqual(line.count("\n"), 1)
        event = json.loads(line[2:])
        self.assertEqual((event["kind"], event["text"]), ("notice", "Grüße\n東京"))
        self.assertIsInstance(event["at"], int)

    def test_lines_of_several_threads_are_whole(self) -> None:
        class InPieces(io.StringIO):
            """Like a pipe that accepts only a part of the text, and lets other threads run meanwhile."""

            def write(self, text: str) -> int:
                for start in range(0, len(text), 20):
                    super().write(text[start : start + 20])
                    time.sleep(0)
                return len(text)

        def tell() -> None:
            for _ in range(25):
                backfill.emit("notice", text="x" * 300)

        before, sink = backfill._events, InPieces()
        backfill._events = sink
        try:
            threads = [threading.Thread(target=tell) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            backfill._events = before
        events = [json.loads(line.removeprefix("@@")) for line in sink.getvalue().splitlines()]
        self.assertEqual([event["text"] for event in events], ["x" * 300] * 100)

    def test_a_reader_that_left_ends_nothing(self) -> None:
        class Closed(io.StringIO):
            def write(self, text: str) -> int:
                raise BrokenPipeError("gone")

        before = backfill._events
        backfill._events = Closed()
        try:
            backfill.emit("notice", text="x")
        finally:
            backfill._events = before

    def test_a_failure_of_a_row_takes_its_row_along(self) -> None:
        row = {"fragment": 1, "row": 2, "message": "no", "inputs": {}}
        message = backfill.failure_message(backfill.JobFailure("FunctionFailed", "f failed", "Mend it.", row))
        self.assertEqual((message["kind"], message["code"], message["sample"]), ("failed", "FunctionFailed", row))
        self.assertNotIn("sample", backfill.failure_message(backfill.JobFailure("Busy", "b")))


class Types(unittest.TestCase):
    """Which types count as equal."""

    def test_names_and_nullability_of_parts_do_not_matter(self) -> None:
        one = pa.list_(pa.field("item", pa.float32()))
        other = pa.list_(pa.field("element", pa.float32(), nullable=False))
        self.assertTrue(backfill.is_same_type(one, other))

    def test_what_the_parts_hold_matters(self) -> None:
        self.assertFalse(backfill.is_same_type(pa.list_(pa.float32()), pa.list_(pa.float64())))
        self.assertFalse(backfill.is_same_type(pa.list_(pa.float32(), 3), pa.list_(pa.float32(), 4)))
        self.assertFalse(backfill.is_same_type(pa.list_(pa.float32()), pa.list_(pa.float32(), 4)))
        self.assertFalse(backfill.is_same_type(pa.int32(), pa.int64()))

    def test_fields_of_a_struct_are_known_by_their_names(self) -> None:
        one = pa.struct([("x", pa.int32()), ("y", pa.string())])
        self.assertTrue(backfill.is_same_type(one, pa.struct([("x", pa.int32()), ("y", pa.string())])))
        self.assertFalse(backfill.is_same_type(one, pa.struct([("x", pa.int32()), ("z", pa.string())])))
        self.assertFalse(backfill.is_same_type(one, pa.struct([("x", pa.int32())])))
