"""Runs notebooks in one kernel, cell by cell, and prints the events of each cell as JSON: `{title: [[event, …], …]}`.

Usage: notebooks.py KERNEL FOLDER FILE, where FILE contains `{title: [code, …]}`. An event has the type and the content
of a message, and the number of the cell that is its parent.
"""

import json
import sys
import time

from jupyter_client.manager import start_new_kernel

LIMIT = 60
# A kernel may abort requests right after a failed cell; tslab does so for 0.2 s.
PAUSE_AFTER_ERROR = 0.5

kernel, folder, file = sys.argv[1:]
with open(file, encoding="utf-8") as text:
    notebooks = json.load(text)


def run(client, code, requests):
    """Returns the messages during the run of a cell. `requests` has the ids of the notebook's cells so far."""
    request = client.execute(code)
    requests.append(request)
    events = []
    while True:
        message = client.get_iopub_msg(timeout=LIMIT)
        parent = message["parent_header"].get("msg_id")
        if message["msg_type"] == "status":
            if message["content"]["execution_state"] == "idle" and parent == request:
                break
        elif message["msg_type"] != "execute_input" and parent in requests:
            events.append({"type": message["msg_type"], "content": message["content"], "cell": requests.index(parent)})
    while True:
        reply = client.get_shell_msg(timeout=LIMIT)
        if reply["parent_header"].get("msg_id") == request:
            break
    if reply["content"]["status"] != "ok":
        time.sleep(PAUSE_AFTER_ERROR)
    return events


manager, client = start_new_kernel(kernel_name=kernel, cwd=folder)
try:
    seen = {}
    for title, cells in notebooks.items():
        requests = []
        seen[title] = [run(client, code, requests) for code in cells]
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
print(json.dumps(seen))
