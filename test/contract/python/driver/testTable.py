from __future__ import annotations

import base64
import os
import threading
from typing import Any
from unittest import mock

import lance
import numpy as np
import pyarrow as pa
from support import InFolder, Json, backfill, said


class Fragments(InFolder):
    """Which files the values depend on, and what a driver has to compute."""

    def driver(self, **more: Any) -> backfill.Driver:
        return backfill.Driver(self.job(**more))

    def with_column(self, rows: int = 9, each: int = 3) -> lance.LanceDataset:
        table = self.table(rows, each)
        table.add_columns(pa.field("c", pa.int32()))
        return backfill.open_table(self.job())

    def finished(self, driver: backfill.Driver, fragment: int, commit: bool = True, **more: Any) -> Json:
        """Saves a fragment as finished by an earlier run, with `more` in its record."""
        table = backfill.open_table(driver.job)
        there = backfill.fragment_of(table, fragment)
        nothing = backfill.nothing_kept(there.physical_rows, pa.int32())
        column = backfill.ColumnFile(driver.job, table, there, pa.int32(), nothing)
        column.put(np.arange(there.physical_rows), pa.array([1] * there.physical_rows, pa.int32()))
        files = backfill.marks(driver.job, table, None, fragment)
        record = {
            "version": 1,
            "job_id": driver.job.job_id,
            "function_hash": driver.job.hash,
            "column": "c",
            "scope": driver.job.where,
            "read_version": int(table.version),
            "rows": there.physical_rows,
            "failed_rows": [],
            "skipped": 0,
            "skipped_rows": [],
            "files": files,
            **driver._finished(column, table, fragment),
            **more,
        }
        driver.checkpoints.write_record(record)
        if commit:
            driver._commit(table, [record])
        return record

    def todo(self, plan: backfill.Plan) -> dict[int, list[int] | None]:
        return {work.fragment: work.only for work in plan.todo}

    def test_values_hang_on_the_files_of_inputs_column_and_condition(self) -> None:
        table = self.with_column()
        [file] = table.get_fragments()[1].metadata.files
        self.assertEqual(backfill.marks(self.job(), table, None, 1), [file.path])
        table.add_columns({"n": "id * 2"})
        table = backfill.open_table(self.job())
        added = table.get_fragments()[1].metadata.files[-1].path
        self.assertNotIn(added, backfill.marks(self.job(), table, None, 1) or [])
        self.assertIn(added, backfill.marks(self.job(where="N > 3"), table, None, 1) or [])

    def test_a_fragment_that_is_gone_has_no_files(self) -> None:
        table = self.with_column()
        self.assertIsNone(backfill.marks(self.job(), table, None, 99))
        with self.assertRaises(backfill.JobFailure) as caught:
            backfill.fragment_of(table, 99)
        self.assertEqual(caught.exception.code, "TableChanged")

    def test_parts_of_a_nested_column_are_found_by_its_first_name(self) -> None:
        lance.write_dataset(pa.table({"a": [{"b": 1}], "text": ["x"]}), self.uri)
        table = backfill.open_table(self.job())
        found = backfill.files_of(table.get_fragments()[0], table, ["a.b"])
        self.assertEqual(found, [table.get_fragments()[0].metadata.files[0].path])

    def test_a_table_or_version_that_is_not_there_is_told_by_name(self) -> None:
        with self.assertRaises(backfill.JobFailure) as caught:
            backfill.open_table(self.job())
        self.assertEqual((caught.exception.code, self.uri in caught.exception.message), ("StorageFailed", True))
        self.with_column()
        with self.assertRaises(backfill.JobFailure) as caught:
            backfill.open_table(self.job(), 77)
        self.assertIn("Version 77", caught.exception.message)

    def test_rows_of_a_condition_that_is_wrong_are_told_with_it(self) -> None:
        table = self.with_column()
        with self.assertRaises(backfill.JobFailure) as caught:
            backfill.rows_in_scope(self.job(where="nobody = 1"), table, table.get_fragments()[0])
        self.assertEqual(caught.exception.code, "RequestInvalid")
        self.assertIn("nobody", caught.exception.message)

    def test_all_rows_are_to_be_computed_where_the_column_has_no_file(self) -> None:
        table = self.with_column()
        table.delete("id = 4")
        plan = self.driver().plan(backfill.open_table(self.job()))
        self.assertEqual(self.todo(plan), {0: None, 1: None, 2: None})
        self.assertEqual([work.rows for work in plan.todo], [3, 2, 3])
        self.assertEqual((plan.total_rows, plan.total_fragments), (8, 3))

    def test_finished_fragments_are_not_computed_again(self) -> None:
        table, driver = self.with_column(), self.driver()
        self.finished(driver, 1)
        plan = driver.plan(backfill.open_table(driver.job))
        self.assertEqual((self.todo(plan), plan.committed), ({0: None, 2: None}, [1]))
        self.assertEqual(int(table.version) + 1, plan.version)

    def test_finished_ones_that_are_not_in_the_table_are_ready_for_it(self) -> None:
        self.with_column()
        driver = self.driver()
        record = self.finished(driver, 1, commit=False)
        plan = driver.plan(backfill.open_table(driver.job))
        self.assertEqual([one["path"] for one in plan.ready], [record["path"]])
        self.assertEqual(self.todo(plan), {0: None, 2: None})

    def test_those_whose_data_file_is_cut_off_or_gone_are_computed_again(self) -> None:
        self.with_column()
        driver = self.driver()
        path = os.path.join(self.uri, "data", self.finished(driver, 1, commit=False)["path"])
        os.truncate(path, os.path.getsize(path) - 1)
        self.assertIn(1, self.todo(driver.plan(backfill.open_table(driver.job))))
        os.remove(path)
        self.assertIn(1, self.todo(driver.plan(backfill.open_table(driver.job))))

    def test_those_whose_inputs_are_other_files_are_computed_again(self) -> None:
        self.with_column()
        driver = self.driver()
        self.finished(driver, 1, commit=False, files=["other.lance"])
        self.assertIn(1, self.todo(driver.plan(backfill.open_table(driver.job))))

    def test_skipped_rows_of_finished_ones_are_tried_again_alone(self) -> None:
        self.with_column()
        driver = self.driver()
        self.finished(driver, 1, skipped_rows=[2, 0])
        self.assertEqual(self.todo(driver.plan(backfill.open_table(driver.job))), {0: None, 1: [0, 2], 2: None})

    def test_failed_rows_are_tried_again_by_another_job_or_once_theirs_has_succeeded(self) -> None:
        self.with_column()
        driver = self.driver()
        self.finished(driver, 1, failed_rows=[2], skipped_rows=[0])
        table = backfill.open_table(driver.job)
        self.assertEqual(self.todo(driver.plan(table))[1], [0])
        self.assertEqual(self.todo(self.driver(job_id="bf-2").plan(table))[1], [0, 2])
        driver.checkpoints.let_go()
        self.assertEqual(self.todo(driver.plan(table))[1], [0, 2])

    def test_so_many_fragments_as_are_asked_for_do_not_count_rows_tried_again(self) -> None:
        self.with_column(12, 3)
        driver = self.driver(num_frags=2)
        self.finished(driver, 0, skipped_rows=[1])
        plan = driver.plan(backfill.open_table(driver.job))
        self.assertEqual(self.todo(plan), {0: [1], 1: None, 2: None})

    def test_fragments_without_a_row_in_scope_are_left_out(self) -> None:
        self.with_column()
        plan = self.driver(where="id < 3").plan(backfill.open_table(self.job()))
        self.assertEqual((self.todo(plan), plan.kept_rows), ({0: None}, 6))

    def test_a_record_that_is_cut_off_or_of_another_function_or_scope_is_as_none(self) -> None:
        self.with_column()
        driver = self.driver()
        self.finished(driver, 0, commit=False, scope="id < 5")
        self.finished(driver, 1, function_hash="b" * 64)
        driver.store.write(f"{driver.checkpoints.folder}/f2.json", b'{"version": 1, "fun')
        with said():
            self.assertEqual(driver.checkpoints.records(), {})


class ColumnFiles(InFolder):
    """Writes a new file with only the column, for all rows of a fragment."""

    def put(
        self, given: dict[int, int], kept: dict[int, int] | None = None, base: list[int | None] | None = None
    ) -> Any:
        """Returns the column of a fragment of ten rows, with row 3 deleted, after these rows were written."""
        data = pa.table({"id": range(10), "text": ["x"] * 10})
        if base is not None:
            data = data.append_column("c", pa.array(base, pa.int32()))
        table = lance.write_dataset(data, self.uri)
        if base is None:
            table.add_columns(pa.field("c", pa.int32()))
        table.delete("id = 3")
        table = backfill.open_table(self.job())
        earlier = backfill.nothing_kept(10, pa.int32())
        if kept is not None:
            earlier.offsets, earlier.values = (
                np.array(list(kept)),
                pa.chunked_array([pa.array(list(kept.values()), pa.int32())]),
            )
        driver = backfill.Driver(self.job())
        column = backfill.ColumnFile(driver.job, table, table.get_fragments()[0], pa.int32(), earlier)
        for offset, value in given.items():
            column.put(np.array([offset]), pa.array([value], pa.int32()))
        driver._commit(table, [driver._finished(column, table, 0)])
        return backfill.open_table(self.job()).to_table(columns=["c"]).column("c").to_pylist()

    def test_has_null_for_rows_that_nobody_computed(self) -> None:
        self.assertEqual(self.put({1: 10, 8: 80}), [None, 10, None, None, None, None, None, 80, None])

    def test_keeps_values_that_were_there(self) -> None:
        base: list[int | None] = [*range(0, -10, -1)]
        self.assertEqual(self.put({1: 10}, base=base), [0, 10, -2, -4, -5, -6, -7, -8, -9])

    def test_takes_what_earlier_chunks_have_between_new_rows(self) -> None:
        found = self.put({1: 10, 5: 50}, kept={0: 7, 4: 40, 9: 90})
        self.assertEqual(found, [7, 10, None, 40, 50, None, None, None, 90])

    def test_of_nothing_but_earlier_chunks_is_made_of_them(self) -> None:
        found = self.put({}, kept={place: place * 2 for place in range(10)})
        self.assertEqual(found, [0, 2, 4, 8, 10, 12, 14, 16, 18])

    def test_that_is_given_up_leaves_nothing(self) -> None:
        table = self.table(3, 3)
        column = backfill.ColumnFile(
            self.job(), table, table.get_fragments()[0], pa.int32(), backfill.nothing_kept(3, pa.int32())
        )
        column.give_up()
        self.assertFalse(os.path.exists(os.path.join(self.uri, "data", column.path)))

    def test_that_cannot_be_given_up_leaves_it_to_be_told_what_led_to_that(self) -> None:
        class Panic(BaseException):
            pass

        self.table(3, 3).add_columns(pa.field("c", pa.int32()))
        job = self.job(function={"kind": "sql", "expression": "length(text)"})
        worker = backfill.Worker(job, lambda what, why: None)
        task = backfill.Task(0, backfill.open_table(job).version, 0, 3, True)
        with (
            mock.patch.object(backfill.Worker, "_compute", side_effect=OSError("the store is gone")),
            # Raise the error that Lance raises after a part of the file could not be written.
            mock.patch("backfill.LanceFileWriter.close", side_effect=Panic("`async fn` resumed")),
            mock.patch.object(backfill.Store, "delete", side_effect=OSError("the store is gone here too")),
            said(),
        ):
            found = backfill.run_task(worker, task)
        self.assertEqual((found["kind"], found["code"]), ("failed", "StorageFailed"))
        self.assertTrue(found["message"].endswith("the store is gone"), found["message"])


class Tasks(InFolder):
    """How work is divided into tasks."""

    def tasks(self, work: backfill.Work, **more: Any) -> list[backfill.Task]:
        scheduler = backfill.Scheduler.__new__(backfill.Scheduler)
        scheduler.job = self.job(**more)
        return scheduler._tasks(work, 7)

    def test_a_fragment_is_one_unless_it_is_larger_than_a_task_may_be(self) -> None:
        [task] = self.tasks(backfill.Work(2, 100, 90, 0, ["a"]), task_size=100)
        self.assertEqual((task.first, task.stop, task.assemble, task.version), (0, 100, True, 7))

    def test_a_larger_one_is_cut_without_a_gap_and_written_at_the_end(self) -> None:
        work = backfill.Work(2, 100, 90, 0, [])
        tasks = self.tasks(work, task_size=30)
        self.assertEqual([(task.first, task.stop) for task in tasks], [(0, 30), (30, 60), (60, 90), (90, 100)])
        self.assertEqual((any(task.assemble for task in tasks), work.open_tasks), (False, 4))

    def test_rows_that_are_tried_again_are_one_however_many_the_fragment_has(self) -> None:
        [task] = self.tasks(backfill.Work(2, 100, 2, 0, [], [5, 80]), task_size=30)
        self.assertEqual((task.only, task.assemble), ([5, 80], True))

    def test_a_worker_has_its_next_one_before_what_it_did_is_committed(self) -> None:
        scheduler = backfill.Scheduler.__new__(backfill.Scheduler)
        happened = mock.Mock(cancelled=threading.Event())
        scheduler.job, scheduler.driver, scheduler.backend = self.job(), happened, happened
        first, second, third = (backfill.Task(number, 1, 0, 9, True) for number in range(3))
        scheduler.works = {0: backfill.Work(0, 9, 9, 0, [])}
        scheduler.waiting, scheduler.running, scheduler.idle = [second, third], {4: first}, []
        scheduler._hear(4, {"kind": "done", "record": {}})
        self.assertEqual(happened.mock_calls, [mock.call.send(4, second), mock.call.done(scheduler.works[0], {})])
        self.assertEqual((scheduler.running, scheduler.waiting), ({4: second}, [third]))

    def test_none_is_given_once_the_job_is_cancelled(self) -> None:
        scheduler = backfill.Scheduler.__new__(backfill.Scheduler)
        scheduler.driver, scheduler.backend = mock.Mock(cancelled=threading.Event()), mock.Mock()
        scheduler.driver.cancelled.set()
        scheduler.waiting, scheduler.running, scheduler.idle = [backfill.Task(0, 1, 0, 9, True)], {}, [4]
        scheduler._give()
        scheduler.backend.send.assert_not_called()

    def test_what_a_cancel_ends_has_not_failed(self) -> None:
        scheduler = backfill.Scheduler.__new__(backfill.Scheduler)
        scheduler.driver = mock.Mock(cancelled=threading.Event())
        scheduler.driver.cancelled.set()
        scheduler.running = {4: backfill.Task(0, 1, 0, 9, True)}
        with self.assertRaises(backfill.Cancelled):
            scheduler._hear(4, {"kind": "failed", "code": "FunctionCrashed", "message": "by SIGINT", "hint": ""})
        # The scheduler no longer waits for the task.
        self.assertEqual(scheduler.running, {})

    def test_rows_that_chunks_cover_are_not_left(self) -> None:
        kept = backfill.nothing_kept(10, pa.int32())
        kept.done[[2, 3, 7]] = True
        self.assertEqual(backfill.rows_left(backfill.Task(0, 1, 1, 8, True), kept).tolist(), [1, 4, 5, 6])
        again = backfill.Task(0, 1, 0, 10, True, [], [3, 4, 9])
        self.assertEqual(backfill.rows_left(again, kept).tolist(), [4, 9])


class Trials(InFolder):
    """Computes one fragment and writes nothing."""

    def test_shows_rows_before_and_after_and_leaves_the_table_as_it_was(self) -> None:
        table = self.table(9, 3)
        read = self.job(mode="try", fragment=1, try_rows=2)
        with said() as events:
            backfill.tell_trial(backfill.Driver(read))
        [trial] = [event for event in events if event["kind"] == "trial"]
        before, after = (pa.ipc.open_stream(base64.b64decode(trial[name])).read_all() for name in ("before", "after"))
        self.assertEqual(before.to_pylist(), [{"text": "row 3", "c": None}, {"text": "row 4", "c": None}])
        self.assertEqual(after.column("c").to_pylist(), [5, 5])
        self.assertEqual((trial["fragment"], trial["rows"]), (1, 3))
        self.assertEqual(backfill.open_table(read).version, table.version)
        self.assertFalse(os.path.exists(self.uri + "/_ckp"))

    def test_reads_the_rows_that_were_computed_and_no_others(self) -> None:
        [fragment, _] = self.table(6, 3).get_fragments()
        found = backfill.rows_at(fragment, ["id", "id"], np.array([0, 2]))
        self.assertEqual(found.select(["id"]).to_pylist(), [{"id": 0}, {"id": 2}])
        self.assertEqual(backfill.rows_at(fragment, ["id"], np.zeros(0, np.int64)).num_rows, 0)
