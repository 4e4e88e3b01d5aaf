"""A debugging Jupyter client: requests on the control channel, events on iopub."""

import time
from queue import Empty

from jupyter_client.manager import start_new_kernel

LIMIT = 120


class Debug:
    def __init__(self):
        self.manager, self.client = start_new_kernel(kernel_name="lance-typescript")
        self.seq = 0
        self.events = []
        self.texts = []
        self.idle = set()

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def restart(self):
        """Restarts the kernel, and waits for its messages on iopub, because a late subscriber misses outputs."""
        self.client.stop_channels()
        # A new client numbers its messages from one again.
        self.idle = set()
        self.manager.restart_kernel()
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=LIMIT)
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            asked = self.client.kernel_info()
            for _ in range(20):
                self.pump(0.05)
                if asked in self.idle:
                    self.texts = []
                    return
        raise TimeoutError("The kernel is not heard after its restart.")

    def request(self, command, **arguments):
        """Returns the response, which must arrive; keeps events that arrive before it."""
        self.seq += 1
        content = {"seq": self.seq, "type": "request", "command": command, "arguments": arguments}
        return self.control("debug_request", content)

    def body(self, command, **arguments):
        response = self.request(command, **arguments)
        assert response["success"], f"{command}: {response.get('message')}"
        return response.get("body")

    def control(self, kind, content):
        message = self.client.session.msg(kind, content)
        self.client.control_channel.send(message)
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            reply = self.client.get_control_msg(timeout=LIMIT)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return reply["content"]
        raise TimeoutError(f"No reply came to {content}.")

    def attach(self):
        self.body("initialize", clientID="test", linesStartAt1=True, columnsStartAt1=True)
        self.body("attach")

    def break_at(self, code, *breakpoints):
        """Sets the breakpoints of a cell, as lines or in DAP's form; returns the lines in the response."""
        path = self.body("dumpCell", code=code)["sourcePath"]
        wanted = [each if isinstance(each, dict) else {"line": each} for each in breakpoints]
        told = self.body("setBreakpoints", source={"path": path}, breakpoints=wanted)["breakpoints"]
        return [(each["verified"], each["line"]) for each in told]

    def run(self, code):
        """Runs a cell without waiting, and returns its id."""
        return self.client.execute(code)

    def pump(self, seconds=0.1):
        try:
            message = self.client.get_iopub_msg(timeout=seconds)
        except Empty:
            return
        kind, content = message["msg_type"], message["content"]
        if kind == "debug_event":
            self.events.append(content)
        elif kind == "stream":
            self.texts.append(content["text"])
        elif kind == "status" and content["execution_state"] == "idle":
            self.idle.add(message["parent_header"].get("msg_id"))
        elif kind == "execute_result":
            self.texts.append(content["data"]["text/plain"])

    def event(self, name):
        """Returns the next event with this name; drops earlier events."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            while self.events:
                event = self.events.pop(0)
                if event["event"] == name:
                    return event.get("body")
            self.pump()
        raise TimeoutError(f"No event {name} came.")

    def stopped(self):
        """Returns why and where execution has paused: the reason and the lines of the frames."""
        reason = self.event("stopped")["reason"]
        return [reason, *[frame["line"] for frame in self.frames()]]

    def frames(self):
        return self.body("stackTrace", threadId=1)["stackFrames"]

    def scopes(self, depth=0):
        """Returns the variables of a frame by scope and name."""
        seen = {}
        for scope in self.body("scopes", frameId=self.frames()[depth]["id"])["scopes"]:
            variables = self.body("variables", variablesReference=scope["variablesReference"])["variables"]
            seen[scope["name"]] = {each["name"]: each["value"] for each in variables}
        return seen

    def evaluate(self, expression, context="repl"):
        response = self.request("evaluate", expression=expression, frameId=self.frames()[0]["id"], context=context)
        return response["body"]["result"] if response["success"] else response["message"]

    def until(self, expression):
        """Waits until a condition is true in the notebook, whatever else runs there."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            response = self.request("evaluate", expression=expression, context="repl")
            if response["success"] and response["body"]["result"] == "true":
                return
            time.sleep(0.05)
        raise TimeoutError(f"{expression} does not come true: {response}.")

    def go(self, command="continue"):
        self.body(command, threadId=1)

    def ended(self, cell):
        """Returns the status of a cell and its last output."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            reply = self.shell_reply()
            if reply is None or reply["parent_header"].get("msg_id") != cell:
                continue
            # The outputs of the cell may arrive after its reply.
            while cell not in self.idle and time.monotonic() < end:
                self.pump(0.05)
            last = self.texts[-1] if self.texts else None
            self.texts = []
            return [reply["content"]["status"], last]
        raise TimeoutError("The cell did not end.")

    def shell_reply(self):
        self.pump(0.02)
        try:
            return self.client.get_shell_msg(timeout=0.05)
        except Empty:
            return None
