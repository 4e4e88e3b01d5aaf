"""Runs one cell with a Jupyter client and prints, as JSON, the last state of each output."""

import json
import sys

from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="lance-typescript", cwd=sys.argv[2])
shown = {}
errors = []


def take(message):
    content = message["content"]
    if message["msg_type"] in ("display_data", "update_display_data"):
        shown[content["transient"].get("display_id", len(shown))] = content["data"]
    elif message["msg_type"] == "execute_result":
        shown[len(shown)] = content["data"]
    elif message["msg_type"] == "error":
        errors.append(content["evalue"])


try:
    client.execute_interactive(sys.argv[1], timeout=60, output_hook=take)
finally:
    client.stop_channels()
    manager.shutdown_kernel()
print(json.dumps({"shown": list(shown.values()), "errors": errors}))
