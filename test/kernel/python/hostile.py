"""Clients that do not have the kernel's key, and one that sends an observed message again. Prints what a regular client
then sees, as JSON."""

import json
import socket
import time

import zmq
from jupyter_client.manager import start_new_kernel

seen = {}
manager, client = start_new_kernel(kernel_name="lance-typescript")
info = manager.get_connection_info()
context = zmq.Context()
DELIMITER = b"<IDS|MSG>"


def stranger(port, kind=zmq.DEALER):
    peer = context.socket(kind)
    peer.linger = 2000
    peer.connect(f"tcp://127.0.0.1:{info[port]}")
    return peer


def value_of(code):
    request = client.execute(code)
    value = None
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != request:
            continue
        if message["msg_type"] == "execute_result":
            value = message["content"]["data"]["text/plain"]
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            return value


def signed(code):
    """Returns the frames of a whole request, signed with the kernel's key."""
    message = client.session.msg("execute_request", {"code": code, "silent": True})
    return [DELIMITER, *client.session.serialize(message)[1:]]


try:
    assert value_of("let runs = 0; runs") == "0"
    good = signed("runs++")
    broken = {
        "nothing": [b""],
        "no delimiter": [b"a", b"b", b"c"],
        "delimiter alone": [DELIMITER],
        "parts missing": good[:4],
        "wrong signature": [DELIMITER, b"0" * 64, *good[2:]],
        "short signature": [DELIMITER, b"0", *good[2:]],
        "no signature": [DELIMITER, b"", *good[2:]],
        "another content": [*good[:5], b'{"code": "runs = 100"}'],
        "no JSON": [DELIMITER, good[1], b"{", b"\xff\xfe", b"[", b"{"],
        "many frames": [b"x"] * 10_000,
        "deep": [DELIMITER, good[1], *[b"[" * 100_000] * 4],
    }
    for port in ("shell_port", "control_port", "stdin_port", "hb_port"):
        peer = stranger(port)
        for frames in broken.values():
            peer.send_multipart(frames)
        peer.close()
    seen["runs after broken frames"] = value_of("runs")

    peer = stranger("shell_port")
    for _ in range(5):
        peer.send_multipart(good)
    assert peer.poll(60_000), "The signed request was not answered."
    seen["runs after a replay"] = value_of("runs")
    peer.close()

    # A frame above the limit: the kernel closes the connection before it reads the frame.
    peer = stranger("shell_port")
    before = int(value_of("process.memoryUsage().rss"))
    peer.send_multipart([DELIMITER, bytes(130 << 20)])
    time.sleep(0.5)
    peer.close(linger=0)
    seen["takes in no huge frame"] = int(value_of("process.memoryUsage().rss")) - before < 100 << 20

    for port in ("shell_port", "control_port", "stdin_port", "hb_port", "iopub_port"):
        with socket.create_connection(("127.0.0.1", info[port])) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(range(256)) * 40)

    watcher = stranger("iopub_port", zmq.XSUB)
    watcher.send(b"\x01" + b"t" * 1000)
    watcher.send(b"no subscription")
    watcher.close()
    seen["runs at the end"] = value_of("runs")
    seen["replies"] = client.kernel_info(reply=True, timeout=60)["content"]["status"]

    # A client that subscribes but never reads. A regular client still gets every line.
    stuck = context.socket(zmq.SUB)
    stuck.rcvhwm = 1
    stuck.setsockopt(zmq.RCVBUF, 4096)
    stuck.connect(f"tcp://127.0.0.1:{info['iopub_port']}")
    stuck.subscribe(b"")
    time.sleep(0.3)
    request = client.execute("const line = 'x'.repeat(999); for (let i = 0; i < 40_000; i++) console.log(line)")
    chars = 0
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != request:
            continue
        if message["msg_type"] == "stream":
            chars += len(message["content"]["text"])
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            break
    seen["chars beside a reader that is stuck"] = chars
    stuck.close(linger=0)
finally:
    client.stop_channels()
    manager.shutdown_kernel()
    context.destroy(linger=0)
print(json.dumps(seen))
