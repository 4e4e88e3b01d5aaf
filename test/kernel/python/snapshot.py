"""Runs a kernel once: `snapshot.py [FILE]` prints as JSON how it started and its replies.

With FILE, the kernel runs until this file exists.
"""

import json
import os
import sys
import time

from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="lance-typescript", startup_timeout=90)
try:

    def value(code):
        results = []

        def take(message):
            if message["msg_type"] in ("execute_result", "error"):
                results.append(message["content"])

        client.execute_interactive(code, output_hook=take, timeout=60)
        return [each["data"]["text/plain"] if "data" in each else each["evalue"] for each in results]

    seen = {
        "sum": value("const a = 20; a + 1"),
        "kept": value("a * 2"),
        "typed": value("const wrong: string = a"),
        "file": value("import { basename } from 'node:path'; basename('/x/y.ts')"),
        "socket": value("(await import('node:net')).isIP('127.0.0.1')"),
        "console": value("typeof console.Console + typeof require('node:console').Console"),
        "folder": value("process.cwd()") == [repr(os.getcwd())],
        "snapshot": value("process.execArgv.includes('--snapshot-blob')"),
        "compiled": value("(await import('node:v8')).cachedDataVersionTag()"),
    }
    reply = client.complete("a.toFi", 6, reply=True, timeout=60)
    seen["completed"] = reply["content"]["matches"]
    # The loop runs in a timer. There an interrupt aborts Node, unless a flag is also set for a
    # process from a snapshot.
    request = client.execute("setTimeout(() => { console.log('in'); while (true) {} }); await new Promise(() => {})")
    while client.get_iopub_msg(timeout=60)["msg_type"] != "stream":
        pass
    manager.interrupt_kernel()
    while (message := client.get_shell_msg(timeout=60))["parent_header"]["msg_id"] != request:
        pass
    seen["interrupted"] = message["content"]["ename"]
    seen["after"] = value("a")
    end = time.monotonic() + 120
    while len(sys.argv) > 1 and not os.path.exists(sys.argv[1]) and time.monotonic() < end:
        time.sleep(0.2)
    print(json.dumps(seen))
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
