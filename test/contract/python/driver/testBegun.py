from __future__ import annotations

import os
from typing import Any
from unittest import mock

import pyarrow as pa
from lance.file import LanceFileWriter
from support import InFolder, Json, backfill, said


class BegunFiles(InFolder):
    """The column files of a killed run."""

    def left(self, checkpoints: backfill.Checkpoints) -> tuple[list[str], list[str]]:
        return checkpoints.store.names(checkpoints.folder), checkpoints.store.names("data")

    def setUp(self) -> None:
        super().setUp()
        self.before = self.table()
        self.checkpoints = backfill.Checkpoints(backfill.Store(self.uri, {}), self.job(), pa.int32())
        self.there = self.checkpoints.store.names("data")
        self.record: Json = {"version": 1, "function_hash": self.job().hash, "scope": None, "fragment": 0}
        self.record.update(files=[], skipped_rows=[])

    def begin(self) -> str:
        path = backfill.column_path()
        self.checkpoints.begin_file(path)
        self.checkpoints.store.write(f"data/{path}", b"values")
        return path

    def test_go_with_what_there_is_of_them_and_nothing_else_does(self) -> None:
        self.begin()
        others = [backfill.column_path(), "of-another.lance", ".tmpAbCd12"]
        for name in others:
            self.checkpoints.store.write(f"data/{name}", b"values")
        for name in (".tmpAbCd12", backfill.column_path(), "f0-0-3.arrow", "merge.pending"):
            self.checkpoints.store.write(f"{self.checkpoints.folder}/{name}", b"")
        self.checkpoints.remove_begun(self.before, lambda: None)
        kept, data = self.left(self.checkpoints)
        self.assertEqual(kept, ["f0-0-3.arrow", "merge.pending"])
        self.assertEqual(data, sorted([*self.there, *others]))

    def test_stay_where_a_record_or_the_table_has_them(self) -> None:
        path = self.begin()
        self.checkpoints.write_record({**self.record, "path": path})
        [of_table, _] = self.there
        self.checkpoints.begin_file(of_table)
        self.checkpoints.remove_begun(self.before, lambda: None)
        self.assertEqual(self.left(self.checkpoints), (["f0.json"], sorted([*self.there, path])))

    def test_stay_while_the_lease_is_of_somebody_else(self) -> None:
        path = self.begin()
        lost = mock.Mock(side_effect=backfill.JobFailure("Busy", "Another job took it over."))
        with self.assertRaises(backfill.JobFailure):
            self.checkpoints.remove_begun(self.before, lost)
        self.assertEqual(self.left(self.checkpoints), ([f"{path}.begun"], sorted([*self.there, path])))

    def test_that_cannot_be_removed_are_tried_again_by_the_next_run(self) -> None:
        path = self.begin()
        with said(), mock.patch.object(os, "unlink", side_effect=PermissionError("in use")):
            self.checkpoints.remove_begun(self.before, lambda: None)
        self.assertEqual(self.left(self.checkpoints), ([f"{path}.begun"], sorted([*self.there, path])))
        self.checkpoints.remove_begun(self.before, lambda: None)
        self.assertEqual(self.left(self.checkpoints), ([], self.there))

    def test_are_noted_from_before_their_first_byte_until_their_record_is_there(self) -> None:
        seen: list[tuple[list[str], list[str]]] = []
        begun = LanceFileWriter

        def writer(*given: Any, **more: Any) -> Any:
            seen.append(self.left(self.checkpoints))
            return begun(*given, **more)

        worker = backfill.Worker(self.job(), mock.Mock())
        with mock.patch.object(backfill, "LanceFileWriter", writer):
            record = worker.run(backfill.Task(0, self.before.version, 0, 3, True))
        self.assertEqual(seen, [([f"{record['path']}.begun"], self.there)])
        self.assertEqual(self.left(self.checkpoints), (["f0.json"], sorted([*self.there, record["path"]])))

    def test_leave_nothing_where_the_function_fails(self) -> None:
        worker = backfill.Worker(self.job(function={"code": "def f(text):\n    raise ValueError(text)\n"}), mock.Mock())
        with self.assertRaises(backfill.JobFailure):
            worker.run(backfill.Task(0, self.before.version, 0, 3, True))
        self.assertEqual(self.left(self.checkpoints), ([], self.there))
        self.assertFalse(os.path.exists(f"{self.uri}/{self.checkpoints.folder}"))
