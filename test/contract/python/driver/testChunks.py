from __future__ import annotations

import os
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
from support import InFolder, Json, backfill, said

FILES = ["a.lance", "b.lance"]


def never(version: int) -> list[str] | None:
    raise AssertionError("asked for the files of another version")


class Chunks(InFolder):
    """The saved chunks of a fragment, and which of them are still valid."""

    def checkpoints(self, column_type: pa.DataType | None = None, **more: Any) -> backfill.Checkpoints:
        return backfill.Checkpoints(
            backfill.Store(self.uri, {}), self.job(**more), pa.int32() if column_type is None else column_type
        )

    def write(
        self,
        rows: dict[int, Any],
        first: int = 0,
        count: int = 10,
        states: dict[int, int] | None = None,
        fragment: int = 0,
        **more: Any,
    ) -> str:
        """Saves a chunk with values by row position. @returns its name"""
        checkpoints = self.checkpoints()
        meta: Json = {
            "version": 1,
            "function_hash": checkpoints.job.hash,
            "column": "c",
            "scope": None,
            "read_version": 1,
            "fragment": fragment,
            "first": first,
            "rows": count,
            "partial": False,
            "files": FILES,
            **more,
        }
        known = states or {}
        checkpoints.write_chunk(
            meta,
            pa.table(
                [
                    pa.array([(fragment << 32) + place for place in rows], pa.uint64()),
                    pa.array(list(rows.values()), pa.int32()),
                    pa.array([None] * len(rows), pa.string()),
                    pa.array([known.get(place, 0) for place in rows], pa.uint8()),
                ],
                schema=checkpoints.schema,
            ),
        )
        return f"f{fragment}-{first}-{count}.arrow"

    def kept(self, *names: str, files: list[str] = FILES, rows: int = 20, older: Any = never, **more: Any) -> Any:
        with said():
            return self.checkpoints(**more).kept(names, files, rows, older)

    def path(self, name: str) -> str:
        return os.path.join(self.uri, backfill.checkpoint_folder(self.job()), name)

    def test_names_say_fragment_first_row_and_rows(self) -> None:
        self.assertEqual(backfill.chunk_parts("f12-300-25.arrow"), (12, 300, 25))

    def test_other_names_are_no_chunks(self) -> None:
        for name in (
            "f1-2.arrow",
            "f1-2-3.json",
            "f1-2-3.arrow.9.tmp",
            "g1-2-3.arrow",
            "f1--2-3.arrow",
            "fa-0-1.arrow",
        ):
            self.assertIsNone(backfill.chunk_parts(name), name)

    def test_are_listed_by_fragment_in_the_order_of_their_rows(self) -> None:
        names = [self.write({first: 1}, first, 5) for first in (100, 20, 3)] + [self.write({0: 1}, fragment=7)]
        with open(self.path("notes.txt"), "w", encoding="utf-8"):
            self.assertEqual(self.checkpoints().chunk_names(), {0: names[2::-1], 7: names[3:]})

    def test_give_back_rows_and_cover_what_they_span(self) -> None:
        kept = self.kept(self.write({2: 20, 5: 50}, 2, 6))
        self.assertEqual(kept.offsets.tolist(), [2, 5])
        self.assertEqual(kept.values.to_pylist(), [20, 50])
        self.assertEqual(np.flatnonzero(kept.done).tolist(), [2, 3, 4, 5, 6, 7])

    def test_partial_ones_cover_their_own_rows_alone(self) -> None:
        kept = self.kept(self.write({2: 20, 5: 50}, 2, 6, partial=True))
        self.assertEqual(np.flatnonzero(kept.done).tolist(), [2, 5])

    def test_skipped_rows_are_not_done_and_have_no_value(self) -> None:
        kept = self.kept(self.write({1: 10, 2: None, 3: 30}, 0, 5, {2: backfill.SKIPPED}))
        self.assertEqual(kept.offsets.tolist(), [1, 3])
        self.assertEqual(np.flatnonzero(kept.done).tolist(), [0, 1, 3, 4])

    def test_failed_rows_are_done_null_and_counted(self) -> None:
        kept = self.kept(self.write({1: 10, 2: None}, 0, 5, {2: backfill.FAILED}))
        self.assertEqual((kept.values.to_pylist(), kept.failed.tolist()), ([10, None], [2]))
        self.assertTrue(kept.done[2])

    def test_failed_rows_are_tried_again_by_a_job_that_is_another(self) -> None:
        name = self.write({1: 10, 2: None}, 0, 5, {2: backfill.FAILED}, job_id="bf-1")
        self.assertTrue(self.kept(name, job_id="bf-1").done[2])
        kept = self.kept(name, job_id="bf-2")
        self.assertEqual((kept.offsets.tolist(), kept.failed.tolist(), kept.done[2]), ([1], [], False))

    def test_of_a_row_in_two_chunks_the_first_counts(self) -> None:
        names = [self.write({1: 10, 2: 20}, 0, 5), self.write({2: 99, 6: 60}, 2, 6, partial=True)]
        kept = self.kept(*names)
        self.assertEqual(kept.offsets.tolist(), [1, 2, 6])
        self.assertEqual(kept.values.to_pylist(), [10, 20, 60])

    def test_a_row_that_was_skipped_has_the_value_of_a_later_chunk(self) -> None:
        names = [
            self.write({1: None, 2: 20}, 0, 5, {1: backfill.SKIPPED}),
            self.write({1: 11}, 1, 1, partial=True),
        ]
        kept = self.kept(*names)
        self.assertEqual(dict(zip(kept.offsets.tolist(), kept.values.to_pylist())), {1: 11, 2: 20})
        self.assertTrue(kept.done[1])

    def test_torn_ones_are_ignored_and_removed_wherever_they_are_cut(self) -> None:
        name = self.write({1: 10, 2: 20}, 0, 5)
        with open(self.path(name), "rb") as file:
            whole = file.read()
        for part in (0, 1, 8, len(whole) // 4, len(whole) // 2, len(whole) - 1):
            with open(self.path(name), "wb") as file:
                file.write(whole[:part])
            self.assertEqual(self.kept(name).rows, 0, part)
            self.assertFalse(os.path.exists(self.path(name)), part)

    def test_a_plan_removes_nothing(self) -> None:
        name = self.write({1: 10}, files=["other.lance"])
        self.assertEqual(self.kept(name, mode="plan").rows, 0)
        self.assertTrue(os.path.exists(self.path(name)))

    def test_of_another_function_scope_version_or_type_do_not_fit(self) -> None:
        for more in ({"function_hash": "b" * 64}, {"scope": "id < 5"}, {"version": 2}):
            self.assertEqual(self.kept(self.write({1: 10}, **more)).rows, 0, more)
        self.write({1: 10})
        with said():
            self.assertEqual(self.checkpoints(pa.string()).kept(["f0-0-10.arrow"], FILES, 20, never).rows, 0)

    def test_fit_as_long_as_the_files_that_they_hang_on_are_the_same(self) -> None:
        self.assertEqual(self.kept(self.write({1: 10}), files=FILES).rows, 1)
        self.assertEqual(self.kept(self.write({1: 10}), files=["a.lance", "c.lance"]).rows, 0)
        self.assertEqual(self.kept(self.write({1: 10}), files=[*FILES, "c.lance"]).rows, 0)

    def test_that_name_no_files_are_judged_by_those_of_their_version(self) -> None:
        asked: list[int] = []

        def older(version: int) -> list[str]:
            asked.append(version)
            return FILES

        self.assertEqual(self.kept(self.write({1: 10}, files=None, read_version=5), older=older).rows, 1)
        self.assertEqual(asked, [5])
        self.assertEqual(self.kept(self.write({1: 10}, files=None), older=lambda _: ["x.lance"]).rows, 0)

    def test_of_a_version_that_is_gone_do_not_fit(self) -> None:
        self.assertEqual(self.kept(self.write({1: 10}, files=None), older=lambda _: None).rows, 0)

    def test_that_reach_beyond_the_fragment_do_not_count(self) -> None:
        self.assertEqual(self.kept(self.write({1: 10}, 0, 21), rows=20).rows, 0)

    def test_that_are_gone_meanwhile_are_nothing(self) -> None:
        kept = self.kept("f0-0-10.arrow")
        self.assertEqual((kept.rows, kept.done.any()), (0, False))


class Gathering(InFolder):
    """How computed rows are divided into chunks."""

    def chunks(self, task: backfill.Task, start: int = 0, done: tuple[int, ...] = ()) -> backfill.Chunks:
        checkpoints = backfill.Checkpoints(backfill.Store(self.uri, {}), self.job(checkpoint_size=4), pa.int32())
        kept = backfill.nothing_kept(100, pa.int32())
        kept.done[list(done)] = True
        return backfill.Chunks(checkpoints, task, FILES, kept, start)

    def add(self, chunks: backfill.Chunks, offsets: list[int]) -> None:
        piece = backfill.Piece(np.array(offsets, dtype=np.int64), None)
        answer = backfill.Answer(piece, pa.array(offsets, pa.int32()), {})
        chunks.add(answer, np.zeros(len(offsets), dtype=np.uint8))

    def test_are_due_by_the_number_of_their_rows(self) -> None:
        chunks = self.chunks(backfill.Task(3, 1, 0, 100, True))
        self.add(chunks, [1, 2, 3])
        self.assertFalse(chunks.is_due())
        self.add(chunks, [4])
        self.assertTrue(chunks.is_due())

    def test_cover_all_up_to_where_the_next_begins(self) -> None:
        chunks = self.chunks(backfill.Task(3, 1, 0, 100, True))
        self.add(chunks, [1, 5])
        chunks.keep(8)
        self.add(chunks, [9])
        chunks.keep(20)
        self.assertEqual(chunks.written, ["f3-0-8.arrow", "f3-8-12.arrow"])
        kept = chunks.checkpoints.kept(chunks.written, FILES, 100, never)
        self.assertEqual(np.flatnonzero(kept.done).tolist(), list(range(20)))
        self.assertEqual(kept.values.to_pylist(), [1, 5, 9])

    def test_say_nothing_of_rows_that_an_earlier_one_covers(self) -> None:
        chunks = self.chunks(backfill.Task(3, 1, 0, 100, True), done=(4,))
        self.add(chunks, [1, 5])
        chunks.keep(8)
        kept = chunks.checkpoints.kept(chunks.written, FILES, 100, never)
        self.assertEqual(np.flatnonzero(kept.done).tolist(), [1, 5])

    def test_do_not_take_the_name_of_an_earlier_one(self) -> None:
        chunks = self.chunks(backfill.Task(3, 1, 0, 100, True, ["f3-0-8.arrow"]), done=(4,))
        self.add(chunks, [1, 5, 7])
        chunks.keep(8)
        self.assertNotIn("f3-0-8.arrow", chunks.written)
        kept = chunks.checkpoints.kept(chunks.written, FILES, 100, never)
        self.assertEqual(dict(zip(kept.offsets.tolist(), kept.values.to_pylist())), {1: 1, 5: 5, 7: 7})

    def test_are_waited_for_on_the_disk_only_when_they_took_a_while(self) -> None:
        for seconds, is_durable in ((0.0, False), (backfill.DURABLE_SECONDS, True)):
            chunks = self.chunks(backfill.Task(3, 1, 0, 100, True))
            self.add(chunks, [1])
            chunks.since -= seconds
            with mock.patch.object(chunks.checkpoints.store, "write") as write:
                chunks.keep(2)
            self.assertEqual(write.call_args.args[2], is_durable)

    def test_nothing_is_written_of_no_rows(self) -> None:
        chunks = self.chunks(backfill.Task(3, 1, 0, 100, True))
        chunks.keep(50)
        self.assertEqual((chunks.written, chunks.start), ([], 50))
