"""Workers in processes and threads: their number, their start, and the events of those that crash."""

from __future__ import annotations

import fcntl
import json
import marshal
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import InFolder, Json, backfill, raw_job, said


def sleeper(_: Json) -> subprocess.Popen[bytes]:
    """A process that does nothing, instead of a process for workers."""
    code = "import sys; sys.stdin.read()"
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


class HeadStart(InFolder):
    """Processes that start before the packages are loaded."""

    def started(self, text: str, processors: int = 8) -> list[Json]:
        """Collects the processes that start for a job, and checks that `main` gets the job."""
        jobs: list[Json] = []
        with (
            mock.patch.object(backfill, "start_worker", jobs.append),
            mock.patch.object(backfill, "_spares", []),
            mock.patch.object(backfill, "_given", None),
            mock.patch.object(os, "cpu_count", lambda: processors),
            mock.patch.dict(os.environ, {"THE_JOB": text}),
        ):
            backfill.head_start(["env:THE_JOB"])
            self.assertEqual(backfill._given, text)
        return jobs

    def count(self, kind: str, concurrency: int, processors: int = 8, **more: Any) -> int:
        job = raw_job(function={"kind": kind}, concurrency=concurrency, **more)
        return len(self.started(json.dumps(job), processors))

    def test_python_has_a_process_for_each_worker(self) -> None:
        self.assertEqual(self.count("python", 3), 3)

    def test_workers_share_one_where_something_else_computes_and_the_driver_has_no_room_for_them(self) -> None:
        self.assertEqual([self.count(kind, 4) for kind in ("typescript", "sql")], [0, 0])
        self.assertEqual([self.count("typescript", workers) for workers in (5, 8, 9)], [2, 2, 3])
        self.assertEqual(self.count("sql", 5), 2)

    def test_there_are_no_more_than_processors(self) -> None:
        self.assertEqual(self.count("python", 30, 2), 2)

    def test_none_is_started_where_no_rows_are_computed_in_one(self) -> None:
        self.assertEqual([self.count("python", 2, mode=mode) for mode in ("plan", "try")], [0, 0])
        self.assertEqual(self.count("python", 2, engine="ray"), 0)

    def test_none_is_started_for_what_is_no_job(self) -> None:
        texts = ["", "{", "[1]", "{}", '{"function": 3}', '{"function": {}, "concurrency": "x"}']
        self.assertEqual([self.started(text) for text in texts], [[] for _ in texts])

    def test_none_is_left_when_there_was_nothing_to_do(self) -> None:
        child = sleeper({})
        with mock.patch.object(backfill, "_spares", [child]):
            backfill.end_spares()
            self.assertEqual(backfill._spares, [])
        self.assertIsNotNone(child.returncode)

    def test_no_process_for_workers_has_the_secrets(self) -> None:
        with (
            mock.patch.object(subprocess, "Popen") as popen,
            mock.patch.object(backfill, "widen"),
            mock.patch.dict(os.environ, {backfill.SECRETS: "{}"}),
        ):
            backfill.start_worker({"function": {"kind": "sql"}})
        self.assertNotIn(backfill.SECRETS, popen.call_args.kwargs["env"])


class Compiled(InFolder):
    """How a process for workers gets the compiled driver, so that it need not compile the driver again."""

    def test_runs_as_the_file_that_it_is_and_finds_no_module_where_it_is_started(self) -> None:
        Path(self.folder, "queue.py").write_text("raise SystemExit('that of a person')")
        source = "import queue, sys\nprint([__name__, __file__, sys.path[0], *sys.argv, sys.stdin.readline()])"
        code = marshal.dumps(compile(source, "driver.py", "exec"))
        done = subprocess.run(
            [sys.executable, "-c", backfill.BEGIN, "/of/the/driver.py", "worker", "sql", str(len(code))],
            input=code + b"the job",
            cwd=self.folder,
            stdout=subprocess.PIPE,
            check=True,
        )
        wanted = ["__main__", "/of/the/driver.py", "/of/the", "/of/the/driver.py", "worker", "sql", "the job"]
        self.assertEqual(done.stdout.decode("utf-8").strip(), str(wanted))

    def test_ends_where_there_is_no_job(self) -> None:
        child = backfill.start_worker({"function": {"kind": "sql"}})
        self.addCleanup(backfill.end_spare, child)
        child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0)

    def test_one_that_is_gone_by_then_is_not_failed_over_here(self) -> None:
        def dead(*arguments: Any, **more: Any) -> subprocess.Popen[bytes]:
            child = popen([sys.executable, "-c", ""], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            child.wait()
            return child

        popen = subprocess.Popen
        with mock.patch.object(subprocess, "Popen", dead):
            child = backfill.start_worker({"function": {"kind": "sql"}})
        self.assertEqual(child.returncode, 0)


class Nodes(InFolder):
    """Node processes that a process for workers starts before it loads its packages."""

    def told(self, processors: int = 8, **more: Any) -> list[str]:
        """The arguments about Node for a process for workers."""
        given: Json = {"function": {"kind": "typescript"}, "node": "/of/node", "worker": "/w.mjs", "concurrency": 3}
        with (
            mock.patch.object(os, "cpu_count", lambda: processors),
            mock.patch.object(subprocess, "Popen") as popen,
            mock.patch.object(backfill, "widen"),
        ):
            backfill.start_worker({**given, **more})
        arguments: list[str] = popen.call_args.args[0]
        return arguments[arguments.index("worker") + 2 : -1]

    def early(self, *arguments: str) -> list[tuple[str, str]]:
        """Returns the Node processes that a process with these arguments starts."""
        found: list[tuple[str, str]] = []
        with (
            mock.patch.object(backfill, "Node", lambda *node: found.append(node)),
            mock.patch.object(backfill, "_spares", []),
            mock.patch.object(backfill, "_given", None),
        ):
            backfill.head_start(list(arguments))
        return found

    def test_there_are_as_many_as_its_workers_and_no_more_than_processors(self) -> None:
        self.assertEqual(self.told(), ["3", "/of/node", "/w.mjs"])
        self.assertEqual([self.told(concurrency=9)[0], self.told(2)[0], self.told(concurrency=None)[0]], ["4", "2", "1"])
        self.assertEqual(self.early("worker", "typescript", *self.told()), [("/of/node", "/w.mjs")] * 3)

    def test_the_driver_starts_those_of_its_own_workers(self) -> None:
        job = raw_job(function={"kind": "typescript"}, node="/of/node", worker="/w.mjs", concurrency=2)
        with mock.patch.dict(os.environ, {"THE_JOB": json.dumps(job)}):
            self.assertEqual(self.early("env:THE_JOB"), [("/of/node", "/w.mjs")] * 2)
        with mock.patch.dict(os.environ, {"THE_JOB": json.dumps({**job, "mode": "plan"})}):
            self.assertEqual(self.early("env:THE_JOB"), [])

    def test_none_has_the_secrets(self) -> None:
        look = Path(self.folder, "look.py")
        look.write_text("import os\nprint(sorted(os.environ))")
        with mock.patch.dict(os.environ, {backfill.SECRETS: "{}"}):
            told, _ = backfill.Node(sys.executable, str(look)).communicate()
        self.assertIn(b"ELECTRON_RUN_AS_NODE", told)
        self.assertNotIn(backfill.SECRETS.encode("utf-8"), told)

    @unittest.skipUnless(sys.platform == "linux", "other systems tell nobody of the end of a pipe")
    def test_one_that_does_not_look_ends_with_whoever_started_it(self) -> None:
        endless = Path(self.folder, "endless.py")
        endless.write_text("import os\nos.write(1, b'up')\nwhile True:\n    pass\n")
        child = backfill.Node(sys.executable, str(endless))
        self.addCleanup(backfill.end_spare, child)
        assert child.stdout is not None
        self.assertEqual(child.stdout.read(2), b"up")
        child.life.close()
        self.assertEqual(child.wait(60), -signal.SIGIO)

    def test_one_that_is_gone_leaves_no_file_open(self) -> None:
        def files() -> int:
            return len(os.listdir("/proc/self/fd"))

        child = backfill.Node(sys.executable, "-")
        before = files()
        child.communicate()
        del child
        self.assertEqual(files(), before - 4)

    def test_none_is_started_where_none_is_needed_or_it_is_not_known_which(self) -> None:
        none: list[Json] = [{"function": {"kind": "python"}}, {"function": {"kind": "sql"}}, {"node": None}]
        self.assertEqual([self.told(**more) for more in none], [[], [], []])
        self.assertEqual(self.early("worker", "typescript"), [])

    def test_one_that_does_not_start_is_said_by_the_function(self) -> None:
        with mock.patch.object(backfill, "_spares", []):
            self.assertFalse(backfill.head_start(["worker", "typescript", "2", "/no/such/node", "/w.mjs"]))
            self.assertEqual(backfill._spares, [])

    def test_a_function_takes_the_one_that_is_there_and_no_dead_or_other_one(self) -> None:
        command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        dead, other, fitting = (subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(3))
        self.addCleanup(backfill.end_spare, fitting)
        for each in (dead, fitting):
            each.args = ["/of/node", "/w.mjs"]
        dead.kill()
        dead.wait()
        with (
            mock.patch.object(backfill, "_spares", [dead, other, fitting]),
            mock.patch.object(backfill, "Node", mock.Mock(return_value="new")),
        ):
            self.assertIs(backfill.spare_node("/of/node", "/w.mjs"), fitting)
            self.assertIsNotNone(other.poll())
            self.assertEqual(backfill.spare_node("/of/node", "/w.mjs"), "new")


class Loading(InFolder):
    """Changes of the driver while it loads its packages are undone."""

    def end_of(self, code: str, **more: str) -> str:
        """Returns the output of a process that gets the driver as its main program, as a worker without a job."""
        program = f"import runpy, sys\nsys.argv = ['backfill.py', 'worker', 'sql']\n{code}"
        environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**environment, "DRIVER": str(backfill.__file__), **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            check=True,
        )
        return done.stdout.decode("utf-8")

    def test_garbage_is_collected_again_and_numpy_has_its_threads_elsewhere(self) -> None:
        # The driver calls `os._exit` last, so this code replaces `os._exit` to look at the process
        # at that moment.
        code = """
import gc, os
def look(code):
    kept_out = gc.get_freeze_count() > 1000
    os.write(kept, f"{code} {gc.isenabled()} {kept_out} {os.environ.get('OPENBLAS_NUM_THREADS')}".encode())
    leave(code)
kept, leave, os._exit = os.dup(1), os._exit, look
runpy.run_path(os.environ["DRIVER"], run_name="__main__")
"""
        self.assertEqual(self.end_of(code), "0 True True None")
        self.assertEqual(self.end_of(code, OPENBLAS_NUM_THREADS="3"), "0 True True 3")


    def test_what_was_computed_is_gathered_without_what_numpy_has_for_masks(self) -> None:
        program = (
            "import sys\nfrom support import backfill, job\nimport numpy, pyarrow\n"
            "kept = backfill.Checkpoints(backfill.Store('/t', {}), job(), pyarrow.int32())\n"
            "task = backfill.Task(2, 1, 0, 3, True)\n"
            "chunks = backfill.Chunks(kept, task, [], backfill.nothing_kept(3, pyarrow.int32()), 0)\n"
            "values = pyarrow.array([7, 8], pyarrow.int32())\n"
            "answer = backfill.Answer(backfill.Piece(numpy.array([0, 2]), None), values, {})\n"
            "chunks.add(answer, numpy.array([0, 1], numpy.uint8))\n"
            "print('numpy.ma' in sys.modules, *chunks.parts[0].to_pydict().values())\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=Path(__file__).parent, stdout=subprocess.PIPE, check=True
        )
        first = 2 << 32
        self.assertEqual(
            done.stdout.decode("utf-8").strip(), f"False {[first, first + 2]} [7, 8] [None, None] [0, 1]"
        )


class Shared(InFolder):
    """Workers in one process."""

    def setUp(self) -> None:
        super().setUp()
        patch = mock.patch.multiple(backfill, start_worker=sleeper, _spares=[])
        patch.start()
        self.addCleanup(patch.stop)

    def processes(self, kind: str, workers: int) -> backfill.Processes:
        found = backfill.Processes(self.job(function={"kind": kind}))
        for slot in range(workers):
            found.start(slot)
        self.addCleanup(found.join)
        return found

    def test_there_are_four_of_a_typescript_function_in_one(self) -> None:
        homes = self.processes("typescript", 6).homes
        self.assertEqual(len({homes[slot].pid for slot in range(4)}), 1)
        self.assertEqual(len({home.pid for home in homes.values()}), 2)

    def test_each_of_a_python_function_has_its_own(self) -> None:
        self.assertEqual(len({home.pid for home in self.processes("python", 3).homes.values()}), 3)

    def test_all_of_one_that_dies_are_lost_by_one_death_and_share_the_next(self) -> None:
        processes = self.processes("sql", 2)
        dead = processes.homes[0]
        dead.kill()
        said = [processes.next(5), processes.next(5)]
        self.assertEqual([message and message[0] for message in said], [0, 1])
        self.assertEqual([message and message[1]["counts"] for message in said], [True, False])
        processes.start(0)
        processes.start(1)
        self.assertIs(processes.homes[0], processes.homes[1])
        self.assertIsNot(processes.homes[0], dead)

    def test_one_that_was_started_before_is_taken_first(self) -> None:
        spare = sleeper({})
        backfill._spares.append(spare)
        self.assertIs(self.processes("python", 1).homes[0], spare)


class InThreads(InFolder):
    """Workers in threads of the driver."""

    def test_they_are_where_something_else_computes_and_they_are_few(self) -> None:
        def kind(**more: Any) -> type:
            return type(backfill.backend_for(self.job(**more)))

        for function in ({"kind": "sql", "expression": "1"}, {"kind": "typescript", "code": ""}):
            self.assertIs(kind(function=function, concurrency=4), backfill.Threads)
            self.assertIs(kind(function=function, concurrency=5), backfill.Processes)
        self.assertIs(kind(concurrency=1), backfill.Processes)

    def begun(self) -> backfill.Threads:
        self.table()
        threads = backfill.Threads(self.job(function={"kind": "sql", "expression": "length(text)"}))
        self.addCleanup(threads.join)
        self.addCleanup(threads.stop)
        threads.start(0)
        self.assertEqual(threads.next(60), (0, {"kind": "ready"}))
        return threads

    def next_but_counters(self, threads: backfill.Threads) -> backfill.Message:
        while True:
            message = threads.next(60)
            assert message is not None
            if message[1]["kind"] != "counters":
                return message

    def test_a_panic_of_the_engine_ends_a_task_and_not_in_silence(self) -> None:
        class Panic(BaseException):
            pass

        threads = self.begun()
        with mock.patch.object(backfill.Worker, "run", side_effect=Panic("the engine")):
            threads.send(0, backfill.Task(0, 1, 0, 6, True))
            slot, said = self.next_but_counters(threads)
        self.assertEqual((slot, said["kind"]), (0, "failed"))
        self.assertIn("the engine", said["message"])

    def test_a_panic_before_the_first_task_is_no_silence_either(self) -> None:
        class Panic(BaseException):
            pass

        self.table()
        threads = backfill.Threads(self.job(function={"kind": "sql", "expression": "length(text)"}))
        with said(), mock.patch.object(backfill.Worker, "begin", side_effect=Panic("the engine")):
            threads.start(0)
            message = threads.next(20)
            threads.join()
        assert message is not None
        self.assertEqual((message[0], message[1]["kind"]), (0, "failed"))
        self.assertIn("the engine", message[1]["message"])

    def test_a_task_that_comes_just_before_the_end_is_said_to_be_stopped(self) -> None:
        heard: list[str] = []

        def say(_: int, message: Json) -> None:
            heard.append(message["kind"])
            if message["kind"] == "done":
                # The listener gives the next task, and then gets the failure of another worker.
                slot.tasks.put(backfill.Task(1, 1, 0, 3, True))
                slot.stop()

        slot = backfill.Slot(0, say)
        slot.tasks.put(backfill.Task(0, 1, 0, 3, True))
        with mock.patch.object(backfill.Worker, "run", return_value={}):
            slot.run(self.job(function={"kind": "sql", "expression": "length(text)"}))
        self.assertEqual(heard, ["ready", "counters", "done", "stopped"])

    def test_counters_are_told_while_a_task_runs(self) -> None:
        threads = self.begun()
        waiting = threading.Event()
        self.addCleanup(waiting.set)
        with mock.patch.object(backfill.Worker, "run", lambda *_: waiting.wait(60)):
            threads.send(0, backfill.Task(0, 1, 0, 6, True))
            threads.looked -= 1
            message = threads.next(60)
        assert message is not None
        self.assertEqual(message[1]["kind"], "counters")

    def test_they_end(self) -> None:
        threads = self.begun()
        threads.stop()
        threads.join()
        self.assertFalse(any(thread.is_alive() for thread in threads.threads))


class OnRay(InFolder):
    """An actor, without Ray."""

    def test_one_whose_function_does_not_load_leaves_nothing_behind(self) -> None:
        self.table()
        # For a missing file Python exits with 2, as Node does for an unknown option.
        function = {"kind": "typescript", "code": ""}
        job = self.job(function=function, node=sys.executable, worker=os.path.join(self.folder, "none"))
        temporary = os.path.join(self.folder, "temporary")
        os.mkdir(temporary)
        with said(), mock.patch.object(tempfile, "tempdir", temporary):
            actor = backfill.RayWorker(json.dumps(job.raw))
            self.assertEqual([message["kind"] for message in actor.ready()], ["failed"])
        self.assertEqual(os.listdir(temporary), [])


class Beginning(InFolder):
    """A worker before its first task."""

    def test_it_has_looked_at_the_table_when_its_function_is_loaded(self) -> None:
        version = self.table().version
        worker = backfill.Worker(self.job(), lambda what, why: None)
        worker.begin()
        with mock.patch.object(backfill, "open_table", side_effect=AssertionError):
            self.assertEqual(worker.table(version).count_rows(), 6)

    def test_a_table_that_is_not_there_is_said_by_its_first_task(self) -> None:
        with said():
            worker = backfill.Worker(self.job(), lambda what, why: None)
            worker.begin()
        with self.assertRaises(backfill.JobFailure):
            worker.table(1)

    @unittest.skipUnless(sys.platform == "linux", "pipes have one size elsewhere")
    def test_a_pipe_has_room_for_a_batch(self) -> None:
        child = sleeper({})
        self.addCleanup(child.kill)
        assert child.stdin is not None
        backfill.widen(child.stdin)
        self.assertEqual(fcntl.fcntl(child.stdin, fcntl.F_GETPIPE_SZ), backfill.PIPE_BYTES)

    def test_what_is_no_pipe_stays_as_it_is(self) -> None:
        with open(os.path.join(self.folder, "file"), "wb") as file:
            backfill.widen(file)
            file.write(b"still open")
