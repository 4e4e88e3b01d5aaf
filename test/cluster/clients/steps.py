"""Runs the steps of a client in several namespaces of one server, for pythonClients.test.ts.

Arguments of each program: the server's URL, an API key, and the namespaces as a JSON list of paths. Prints one line of
JSON per namespace: the result of each step by name, or its error.
"""

import json
import sys

uri, key, namespaces = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
# The properties with which clients connect to the server as a namespace.
properties = {"uri": uri, "headers.x-api-key": key}


class Steps:
    """The steps in one namespace. `table_id` names the table that they create."""

    def __init__(self, path):
        self.path = path
        self.table_id = [*path, "orders"]
        self.place = "/".join(path) or "root"
        self.results = {}

    def __call__(self, call):
        try:
            self.results[call.__name__] = call()
        except Exception as error:  # The test gets the error as the result.
            self.results[call.__name__] = f"{type(error).__name__}: {str(error)[:400]}"

    def named(self, *names):
        """Returns values that show in which namespace they were written."""
        return [f"{name} of {self.place}" for name in names]


def run(steps_in):
    """Calls a function with the steps of each namespace."""
    for path in namespaces:
        steps = Steps(path)
        steps_in(steps)
        print(json.dumps(steps.results), flush=True)
