"""Executes calls of the tests: each line on stdin is a request, each line on stdout a reply."""

import json
import sys


def answer(*functions):
    """Replies until stdin ends. A call has the name of a function and named arguments."""
    calls = {function.__name__: function for function in functions}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            print(json.dumps({"ok": calls[request["call"]](**request["with"])}), flush=True)
        except Exception as error:
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
