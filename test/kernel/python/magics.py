"""Runs the cells of a JSON list, each `{"cell": …, "answers": […]}`, with a Jupyter client; prints the results."""

import json
import sys

from jupyter_client.manager import start_new_kernel

LIMIT = 60


def run(client, cell, answers):
    seen = {"out": "", "err": "", "value": None, "error": None, "asked": []}

    def take(message):
        content = message["content"]
        kind = message["msg_type"]
        if kind == "stream":
            seen["out" if content["name"] == "stdout" else "err"] += content["text"]
        elif kind == "execute_result":
            seen["value"] = content["data"]["text/plain"]
        elif kind == "error":
            seen["error"] = content["evalue"]

    def reply(message):
        seen["asked"].append(message["content"]["prompt"])
        client.input(answers.pop(0))

    client.execute_interactive(
        cell, allow_stdin=bool(answers), timeout=LIMIT, output_hook=take, stdin_hook=reply, stop_on_error=False
    )
    return seen


def completed(client, code):
    asked = client.complete(code, len(code))
    # Replies to requests that the client sent at its start may arrive first.
    while True:
        reply = client.get_shell_msg(timeout=LIMIT)
        if reply["parent_header"].get("msg_id") == asked:
            return reply["content"]["matches"]


def main():
    manager, client = start_new_kernel(kernel_name="lance-typescript")
    try:
        found = completed(client, "%ti")
        ran = [run(client, each["cell"], each.get("answers", [])) for each in json.loads(sys.argv[1])]
        print(json.dumps({"completed": found, "cells": ran}))
    finally:
        client.stop_channels()
        manager.shutdown_kernel()


main()
