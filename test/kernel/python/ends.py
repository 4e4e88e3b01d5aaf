"""Tests interrupts, crashes and orphans with a Jupyter client; prints the results as one JSON object."""

import json
import os
import queue
import subprocess
import sys
import time

from jupyter_client.manager import start_new_kernel

LIMIT = 60
NAME = "lance-typescript"

# Each code prints a line when its endless part has started. An interrupt before that line would
# interrupt other code.
ENDLESS = {
    "loop": "runs(); while (true) {}",
    "after an await": "await 0; runs(); while (true) {}",
    "in a timer": "await new Promise(() => setTimeout(() => { runs(); while (true) {} }, 20))",
    "that catches": "runs(); while (true) { try { while (true) {} } catch {} }",
    "async finally": "try { await 0; runs(); while (true) {} } finally { await new Promise(() => {}) }",
    "microtasks": "runs(); while (true) await 0",
    "regular expression": "runs(); /^(a+)+$/.test('a'.repeat(34) + 'b')",
    "Atomics.wait": "runs(); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
}


def collect(client, request, until):
    """Returns the messages of a request up to the one that `until` accepts."""
    seen = []
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        message = client.get_iopub_msg(timeout=LIMIT)
        if message["parent_header"].get("msg_id") != request:
            continue
        seen.append(message)
        if until(message):
            return seen
    raise TimeoutError(f"Not seen for {request}.")


def is_text(message):
    return message["msg_type"] == "stream"


def is_idle(message):
    return message["content"].get("execution_state") == "idle"


def run(client, code):
    return collect(client, client.execute(code), is_idle)


def of(messages, kind, field):
    return [message["content"][field] for message in messages if message["msg_type"] == kind]


def interrupt(manager, client):
    """Sends an interrupt on the control channel; returns the content of its reply."""
    request = client.session.msg("interrupt_request", {})
    client.control_channel.send(request)
    while True:
        reply = client.get_control_msg(timeout=LIMIT)
        if reply["parent_header"]["msg_id"] == request["header"]["msg_id"]:
            return reply["content"]


def interrupts(seen, mark):
    manager, client = start_new_kernel(kernel_name=NAME)
    try:
        seen["interrupted"] = {}
        run(client, "let state = -1; const runs = () => console.log('runs')")
        for number, (name, code) in enumerate(ENDLESS.items()):
            request = client.execute(f"state = {number}; {code}")
            collect(client, request, is_text)
            status = interrupt(manager, client)["status"]
            ename = of(collect(client, request, is_idle), "error", "ename")
            kept = of(run(client, "state"), "execute_result", "data")[0]["text/plain"]
            seen["interrupted"][name] = [status, *ename, kept == str(number)]

        wait = f"console.log('runs'); require('node:child_process').execSync('until [ -e {mark} ]; do sleep 0.1; done')"
        request = client.execute(wait)
        collect(client, request, is_text)
        seen["blocked"] = interrupt(manager, client)["status"]
        said = collect(client, request, lambda message: is_text(message) and message["content"]["name"] == "stderr")
        seen["advice"] = "restart the kernel" in said[-1]["content"]["text"]
        with open(mark, "w"):
            pass
        collect(client, request, is_idle)
        late = "setTimeout(() => { throw new Error('late') }, 5); await new Promise((done) => setTimeout(done, 300))"
        seen["late"] = of(run(client, late), "error", "evalue")
    finally:
        client.stop_channels()
        manager.shutdown_kernel()


def hear(client):
    """Waits until the client receives messages of a restarted kernel, because earlier ones are lost."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        request = client.kernel_info()
        try:
            while client.get_iopub_msg(timeout=1)["parent_header"].get("msg_id") != request:
                pass
            return
        except queue.Empty:
            pass
    raise TimeoutError("Nothing of the new kernel was heard.")


def crash(seen):
    small = {**os.environ, "NODE_OPTIONS": "--max-old-space-size=500"}
    manager, client = start_new_kernel(kernel_name=NAME, env=small)
    try:
        run(client, "const rows = 5")
        client.execute("const all: unknown[] = []; for (;;) all.push(new Array(1000).fill({}).map(() => ({})))")
        end = time.monotonic() + LIMIT
        while manager.is_alive() and time.monotonic() < end:
            time.sleep(0.1)
        seen["died"] = not manager.is_alive()
        manager.restart_kernel(now=True)
        client.wait_for_ready(timeout=LIMIT)
        hear(client)
        seen["report"] = "".join(of(run(client, "1"), "stream", "text"))
        seen["reported again"] = "".join(of(run(client, "2"), "stream", "text"))
    finally:
        client.stop_channels()
        manager.shutdown_kernel()


def orphan(seen):
    script = (
        "import os, signal\n"
        "from jupyter_client.manager import start_new_kernel\n"
        f"manager, client = start_new_kernel(kernel_name='{NAME}')\n"
        "client.execute_interactive('1')\n"
        "print(manager.provisioner.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    parent = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, timeout=LIMIT)
    pid = int(parent.stdout.split()[-1])
    end = time.monotonic() + LIMIT
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.1)
    seen["orphan"] = "ended" if not is_running(pid) else "runs"


def is_running(pid):
    try:
        os.kill(pid, 0)
        # A zombie, for which its parent has not waited, does not count as a process.
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().split(")")[-1].split()[0] != "Z"
    except OSError:
        return False


seen = {}
interrupts(seen, sys.argv[1])
crash(seen)
orphan(seen)
print(json.dumps(seen))
