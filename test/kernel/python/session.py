"""Exchanges messages with a kernel as Jupyter clients do, and prints the results as one JSON object."""

import json
import time

from jupyter_client.manager import start_new_kernel

seen = {}
manager, client = start_new_kernel(kernel_name="lance-typescript")
try:

    def reply_to(request):
        """Returns the reply to a request. After a slow start, replies to requests of `start_new_kernel` may come first.
        """
        while True:
            message = client.get_shell_msg(timeout=30)
            if message["parent_header"].get("msg_id") == request:
                return message["content"]

    def run(code, wait=True, **options):
        request = client.execute(code, **options)
        if not wait:
            return request
        outputs = []
        while True:
            message = client.get_iopub_msg(timeout=30)
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
            outputs.append(message)
        return reply_to(request), outputs

    reply, outputs = run("const a = 20; a + 1", user_expressions={"double": "a * 2", "bad": "nope"})
    seen["result"] = [m["content"]["data"]["text/plain"] for m in outputs if m["msg_type"] == "execute_result"]
    seen["double"] = reply["user_expressions"]["double"]["data"]["text/plain"]
    seen["bad"] = reply["user_expressions"]["bad"]["status"]

    # The kernel ignores a frame that is signed with another key.
    key = client.session.key
    client.session.key = b"another key"
    run("globalThis.forged = true", wait=False)
    client.session.key = key
    _, outputs = run("(globalThis as any).forged === undefined")
    seen["forged"] = [m["content"]["data"]["text/plain"] for m in outputs if m["msg_type"] == "execute_result"]

    # Cells after a failed one are aborted, unless the request sets otherwise.
    first = run("throw new RangeError('stop here')", wait=False)
    second = run("1", wait=False)
    replies = {}
    while len(replies) < 2:
        message = client.get_shell_msg(timeout=30)
        if message["parent_header"].get("msg_id") in (first, second):
            replies[message["parent_header"]["msg_id"]] = message["content"]
    seen["failed"] = [replies[first]["status"], replies[first]["ename"], replies[first]["evalue"]]
    seen["behind"] = replies[second]["status"]

    # A value that no message can represent is an error, and the kernel continues.
    _, outputs = run("display(1, { id: 5n as any })")
    seen["unsendable"] = [m["content"]["ename"] for m in outputs if m["msg_type"] == "error"]
    _, outputs = run("({ [Symbol.for('Jupyter.display')]: () => ({ 'text/plain': 'a', 'x/y': 1n }) })")
    seen["bigint"] = [m["content"]["data"]["x/y"] for m in outputs if m["msg_type"] == "execute_result"]

    # Silent cells leave no trace.
    reply, outputs = run("console.log('quiet')", silent=True)
    seen["silent"] = [reply["status"], [m["msg_type"] for m in outputs if m["msg_type"] != "status"]]

    # The heartbeat and the interrupt work during an endless loop.
    request = run("let loops = 5; while (true) {}", wait=False)
    time.sleep(0.5)
    client.hb_channel.unpause()
    time.sleep(1.5)
    seen["heartbeat"] = client.hb_channel.is_beating()
    started = time.monotonic()
    manager.interrupt_kernel()
    reply_to(request)
    seen["interrupted_within_2s"] = time.monotonic() - started < 2
    _, outputs = run("loops")
    seen["kept"] = [m["content"]["data"]["text/plain"] for m in outputs if m["msg_type"] == "execute_result"]

    # Jupyter counts characters outside the basic plane as one.
    code = "const smile = '😀😀'; smile.toUpper"
    content = reply_to(client.complete(code, len(code)))
    seen["completed"] = code[: content["cursor_start"]] + content["matches"][0]

    code = "%%sql\nselect '😀', pri from shop.products p"
    content = reply_to(client.complete(code, code.index(" from")))
    start, end = content["cursor_start"], content["cursor_end"]
    seen["sql"] = [code[:start] + match + code[end:] for match in content["matches"][:1]]
    seen["sqlTypes"] = sorted({each["type"] for each in content["metadata"]["_jupyter_types_experimental"]})
    content = reply_to(client.complete("%%sql\nselect * from prod", 24))
    seen["sqlTables"] = content["matches"]

    seen["comms"] = reply_to(client.comm_info())["comms"]
    seen["language"] = client.kernel_info(reply=True, timeout=30)["content"]["language_info"]["version"]
finally:
    client.stop_channels()
    manager.shutdown_kernel()
seen["ended"] = not manager.is_alive()
print(json.dumps(seen))
