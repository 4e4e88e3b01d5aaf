"""Measures one run of a kernel with a real Jupyter client: `kernelSession.py KERNEL ORDER` prints one line of JSON.

ORDER is JSON with the cells to run, see test/bench/kernelCells.ts. Times are in milliseconds, memory in bytes.
"""

import json
import queue
import statistics
import sys
import threading
import time

import psutil
import zmq
from jupyter_client.manager import KernelManager

LIMIT = 60
SILENCE = 20


def say(line):
    print(line, file=sys.stderr)


def ms(since):
    return (time.perf_counter() - since) * 1000


class Kernel:
    def __init__(self, name):
        self.started = time.perf_counter()
        self.manager = KernelManager(kernel_name=name)
        self.manager.start_kernel(stdout=sys.stderr, stderr=sys.stderr)
        self.client = self.manager.client()
        self.client.start_channels()
        self.process = psutil.Process(self.manager.provisioner.pid)

    def until_known(self):
        """Repeats the request, as clients do, because requests before the kernel listens may be lost."""
        while ms(self.started) < LIMIT * 1000:
            self.client.kernel_info()
            end = time.perf_counter() + 0.25
            try:
                while True:
                    message = self.client.get_shell_msg(timeout=max(0.01, end - time.perf_counter()))
                    if message["msg_type"] == "kernel_info_reply":
                        return
            except queue.Empty:
                pass
        raise SystemExit("no kernel_info_reply came")

    def drain(self):
        """Drops replies and outputs of earlier requests."""
        for channel in (self.client.get_iopub_msg, self.client.get_shell_msg):
            try:
                while True:
                    channel(timeout=0.05)
            except queue.Empty:
                pass

    def run(self, code, must=True):
        """Returns the milliseconds until both the reply and `idle` have arrived, the reply, and the number of printed
        characters."""
        started = time.perf_counter()
        request = self.client.execute(code)
        poller = zmq.Poller()
        for channel in (self.client.iopub_channel, self.client.shell_channel):
            poller.register(channel.socket, zmq.POLLIN)
        reply, idle, taken, printed = None, False, 0, 0
        while reply is None or not idle:
            if not poller.poll(SILENCE * 1000):
                # A kernel that prints faster than the client reads may lose outputs, even `idle`. A
                # kernel to which a client is not yet subscribed may also lose outputs. The wait
                # does not count as time of the kernel.
                say(f"no {'reply' if reply is None else 'idle'}: {code[:60]!r}")
                break
            for message in self.waiting():
                if message["parent_header"].get("msg_id") != request:
                    continue
                kind, content = message["msg_type"], message["content"]
                if kind == "execute_reply":
                    reply = content
                elif kind == "stream":
                    printed += len(content["text"])
                elif kind == "status" and content["execution_state"] == "idle":
                    idle = True
                taken = ms(started)
        if reply is None:
            reply = self.reply_to(request)
            taken = ms(started)
        if must and reply["status"] != "ok":
            raise SystemExit(f"this cell failed: {code[:200]}\n{json.dumps(reply)[:2000]}")
        return taken, reply, printed

    def waiting(self):
        """Returns unread messages of both channels, outputs first, in their order."""
        for channel in (self.client.iopub_channel, self.client.shell_channel):
            while channel.msg_ready():
                yield channel.get_msg(timeout=1)

    def reply_to(self, request, limit=LIMIT):
        while True:
            message = self.client.get_shell_msg(timeout=limit)
            if message["parent_header"].get("msg_id") == request:
                return message["content"]

    def median(self, code, times):
        return statistics.median(self.run(code.replace("INDEX", str(index)))[0] for index in range(times))

    def complete(self, code, times):
        taken, matches = [], []
        for _ in range(times):
            started = time.perf_counter()
            matches = self.reply_to(self.client.complete(code, len(code)))["matches"]
            taken.append(ms(started))
        return {"ms": statistics.median(taken), "first": taken[0], "matches": len(matches)}

    def memory(self):
        """Returns the memory of the kernel's process, and of this process with its child processes."""
        own = self.process.memory_info().rss
        return {"own": own, "all": own + sum(each.memory_info().rss for each in self.process.children(recursive=True))}

    def heartbeat(self, code):
        """Returns the slowest heartbeat reply while a cell keeps the kernel busy."""
        stop, worst = threading.Event(), [0.0]
        address = f"tcp://{self.manager.ip}:{self.manager.hb_port}"

        def beat():
            with zmq.Context() as context, context.socket(zmq.REQ) as socket:
                socket.linger = 0
                socket.connect(address)
                while not stop.is_set():
                    sent = time.perf_counter()
                    socket.send(b"ping")
                    if not socket.poll(LIMIT * 1000):
                        worst[0] = LIMIT * 1000
                        return
                    socket.recv()
                    worst[0] = max(worst[0], ms(sent))
                    time.sleep(0.01)

        thread = threading.Thread(target=beat)
        thread.start()
        time.sleep(0.2)
        self.run(code)
        stop.set()
        thread.join()
        return worst[0]

    def interrupt(self, code, after):
        """Returns the milliseconds from the interrupt to the reply of an endless cell; None if there is no reply."""
        request = self.client.execute(code)
        time.sleep(0.5)
        started = time.perf_counter()
        self.manager.interrupt_kernel()
        try:
            self.reply_to(request, limit=10)
            taken = ms(started)
            self.drain()
            self.run(after)
            return taken
        except (queue.Empty, SystemExit):
            return None

    def end(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def measure(kernel, order):
    kernel.until_known()
    seen = {"info": ms(kernel.started)}
    seen["first"] = seen["info"] + kernel.run(order["trivial"])[0]
    if order.get("startOnly"):
        return seen
    kernel.drain()
    seen["memoryReady"] = kernel.memory()
    few = order["few"]
    seen["trivial"] = kernel.median(order["trivial"], few)
    seen["declaring"] = kernel.median(order["declaring"], few)
    # Wait as long as a user takes to type the imports.
    time.sleep(order["typing"])
    seen["imports"] = kernel.run(order["imports"])[0]
    seen["memoryImports"] = kernel.memory()
    time.sleep(order["pause"])
    seen["complete"] = kernel.complete(order["complete"], 10)
    for index in range(order["cells"]):
        kernel.run((order["declaring"] if index % 2 else order["trivial"]).replace("INDEX", f"9{index}"))
    seen["memoryCells"] = kernel.memory()
    seen["trivialLater"] = kernel.median(order["trivial"], few)
    seen["declaringLater"] = kernel.median(order["declaring"], few)
    seen["completeLater"] = kernel.complete(order["complete"], 10)
    seen["heartbeat"] = kernel.heartbeat(order["busy"])
    # Do not wait again for a kernel that lost the text or the interrupt in its first run.
    if order["print"]:
        taken, _, characters = kernel.run(order["print"])
        seen["print"] = {"ms": taken, "characters": characters, "lines": order["lines"]}
    if order["endless"]:
        seen["interrupt"] = kernel.interrupt(order["endless"], order["trivial"])
    return seen


order = json.loads(sys.argv[2])
kernel = Kernel(sys.argv[1])
try:
    print(json.dumps(measure(kernel, order)))
finally:
    kernel.end()
