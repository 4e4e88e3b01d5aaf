from __future__ import annotations

import os
from typing import Any
from unittest import mock

import lance
import numpy as np
import pyarrow as pa
from support import InFolder, backfill, output_of, said


class InTheTable(InFolder):
    """An SQL expression, which the table computes."""

    def worker(self, expression: str, on_error: str = "null", **more: Any) -> backfill.Worker:
        how = {"mode": on_error, **({"attempts": 2} if on_error == "retry" else {})}
        function = {"kind": "sql", "expression": expression, "inputs": ["id"], "on_error": how}
        function["output"] = output_of(more.pop("column_type", pa.int64()))
        return backfill.Worker(self.job(function=function, **more), mock.Mock())

    def answers(self, worker: backfill.Worker, rows: list[int] | None = None) -> list[backfill.Answer]:
        table = lance.dataset(self.uri)
        fragment = backfill.fragment_of(table, 0)
        chosen = np.arange(fragment.physical_rows) if rows is None else np.array(rows, dtype=np.int64)
        return list(worker.answers(table, fragment, chosen))

    def values(self, answers: list[backfill.Answer]) -> dict[int, Any]:
        return {
            int(offset): value
            for answer in answers
            for offset, value in zip(answer.offsets.tolist(), answer.values.to_pylist())
        }

    def errors(self, answers: list[backfill.Answer]) -> dict[int, str]:
        return {int(answer.offsets[at]): text for answer in answers for at, text in answer.errors.items()}

    def test_only_the_rows_that_fail_are_without_a_value(self) -> None:
        self.table(20_000, 20_000)
        found = self.answers(self.worker("100 / (id % 7000)"))
        bad = {0: "Divide by zero error", 7000: "Divide by zero error", 14000: "Divide by zero error"}
        self.assertEqual(self.errors(found), bad)
        wanted = {row: None if row in bad else 100 // (row % 7000) for row in range(20_000)}
        self.assertEqual(self.values(found), wanted)
        self.assertEqual(list(self.values(found)), list(range(20_000)))

    def test_finding_a_row_that_fails_takes_a_few_scans(self) -> None:
        self.table(20_000, 20_000)
        worker = self.worker("100 / (id - 9000)")
        with mock.patch.object(worker, "_scan", wraps=worker._scan) as scan:
            self.answers(worker)
        self.assertLess(scan.call_count, 2 * 14 + 6)

    def test_a_value_that_the_column_cannot_hold_fails_alone(self) -> None:
        self.table(9, 9)
        found = self.answers(self.worker("id * 50", column_type=pa.int8()))
        self.assertEqual(self.values(found), {0: 0, 1: 50, 2: 100, **dict.fromkeys(range(3, 9))})
        self.assertIn("150 not in range", self.errors(found)[3])

    def test_a_row_that_fails_ends_the_job_with_its_place_and_its_inputs(self) -> None:
        self.table(900, 900)
        for mode in ("fail", "retry"):
            worker = self.worker("10 / (id - 500)", mode)
            before: list[backfill.Answer] = []
            for last in worker.answers(lance.dataset(self.uri), worker.table(1).get_fragments()[0], np.arange(900)):
                if last.failure is not None:
                    break
                before.append(last)
            self.assertEqual(sorted(self.values(before)), list(range(500)))
            assert last.failure is not None
            failure = worker.failed(0, last, last.failure)
            self.assertEqual(failure.message, "f failed in row 500 of fragment 0: Divide by zero error")
            assert failure.sample is not None
            self.assertEqual(failure.sample["inputs"], {"id": "500"})

    def test_rows_that_are_not_asked_for_do_not_matter(self) -> None:
        self.table(900, 900).delete("id = 30")
        found = self.answers(self.worker("10 / (id - 500)", "fail"), [*range(20, 500), *range(501, 600)])
        self.assertEqual(sorted(self.values(found)), [row for row in range(20, 600) if row not in (30, 500)])
        self.assertEqual([answer.failure for answer in found if answer.failure], [])

    def test_an_expression_that_no_row_is_read_for_ends_the_job_at_once(self) -> None:
        self.table(9, 9)
        with self.assertRaisesRegex(backfill.JobFailure, "No field named nope"):
            self.answers(self.worker("nope + 1"))
        with self.assertRaisesRegex(backfill.JobFailure, "The condition 10 / id > 1 fails for a row: .*Divide by zero"):
            self.answers(self.worker("id", where="10 / id > 1"))

    def test_a_file_that_cannot_be_read_is_no_failed_row(self) -> None:
        self.table(9, 9)
        [file] = os.listdir(self.uri + "/data")
        os.truncate(f"{self.uri}/data/{file}", 0)
        with self.assertRaises(Exception) as caught:
            self.answers(self.worker("id + 1"))
        with said():
            self.assertEqual(backfill.failure_of(caught.exception).code, "StorageFailed")

    def test_a_job_skips_the_rows_that_fail_and_tries_them_again(self) -> None:
        self.table(30, 10)
        function = {"kind": "sql", "expression": "10 / (id - 15)", "inputs": ["id"], "on_error": {"mode": "skip"}}
        function["output"] = output_of(pa.int64())
        for _ in range(2):
            with said() as events:
                backfill.Driver(self.job(function=function)).run()
            [told] = [event for event in events if event["kind"] == "errors"]
            [row] = told["samples"]
            self.assertEqual((told["count"], row["fragment"], row["row"], row["inputs"]), (1, 1, 5, {"id": "15"}))
        values = lance.dataset(self.uri).to_table().column("c").to_pylist()
        self.assertEqual(values, [None if row == 15 else int(10 / (row - 15)) for row in range(30)])
