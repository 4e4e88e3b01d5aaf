"""A Jupyter client that records the whole exchange, with ids and times that are the same in every run."""

import json
import re
import time
from queue import Empty

from jupyter_client.manager import start_new_kernel

LIMIT = 60


def leave_a_session():
    """Runs a kernel that leaves two cells in the history."""
    manager, client = start_new_kernel(kernel_name="lance-typescript")
    for code in ("'of before'", "'and this'"):
        client.execute(code, reply=True, timeout=LIMIT)
    client.stop_channels()
    manager.shutdown_kernel()


class Talk:
    def __init__(self):
        self.manager, self.client = start_new_kernel(kernel_name="lance-typescript")
        self.client.allow_stdin = True
        self.lines = []
        self.ids = {}

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel()

    def begin(self):
        """Starts a new page: clears earlier lines and the names of ids."""
        self.lines = []
        self.ids = {}
        for channel in (self.client.iopub_channel, self.client.shell_channel, self.client.stdin_channel):
            while True:
                try:
                    channel.get_msg(timeout=0)
                except Empty:
                    break

    def page(self):
        return "\n".join(self.lines)

    def say(self, channel, kind, content, metadata=None, buffers=None, parent=None, subshell=None):
        """Sends a message of any type; returns its id."""
        session = self.client.session
        message = session.msg(kind, content, parent=parent, metadata=metadata)
        if subshell:
            message["header"]["subshell_id"] = subshell
        session.send(getattr(self.client, f"{channel}_channel").socket, message, buffers=buffers)
        self.note(">", channel, message, buffers)
        self.last_request = message["header"]["msg_id"]
        return message["header"]["msg_id"]

    def comm_id(self):
        """Returns the id of the comm that the page named last."""
        return next(each for each, name in self.ids.items() if name in self.lines[-1])

    def note(self, *parts):
        self.lines.append(self.text(*parts))

    def text(self, arrow, channel, message, buffers=None):
        kind = message["header"]["msg_type"]
        parts = [arrow, channel, kind, self.plain(message["content"])]
        if "subshell_id" in message["header"]:
            parts.append(f"subshell {self.plain(message['header']['subshell_id'])}")
        metadata = message.get("metadata")
        if metadata:
            parts.append(f"metadata {self.plain(metadata)}")
        buffers = buffers or message.get("buffers")
        if buffers:
            parts.append(f"buffers {[bytes(each).hex() for each in buffers]}")
        return " ".join(parts)

    def plain(self, value):
        text = json.dumps(value, sort_keys=True, ensure_ascii=False)
        text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)", "<time>", text)
        return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}(_\d+_\d+)?|[0-9a-f]{8}_[0-9a-f]{24}\w*", self.name_of, text)

    def name_of(self, found):
        return self.ids.setdefault(found[0], f"<id {len(self.ids) + 1}>")

    def outputs(self, request, until="idle", answers=()):
        """Records the messages published for a request until its idle state, and replies to prompts on the stdin
        channel. Prompts are recorded at the end, because the order of messages on two channels is not defined."""
        published = []
        page, self.lines = self.lines, []
        try:
            self.collect(request, published, until, list(answers))
        finally:
            self.lines = page + published + self.lines

    def collect(self, request, published, until, answers):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if answers:
                try:
                    question = self.client.get_stdin_msg(timeout=0.02)
                except Empty:
                    pass
                else:
                    assert question["parent_header"]["msg_id"] == request, "The question has another parent."
                    self.note("<", "stdin", question)
                    answers.pop(0)(question)
            try:
                message = self.client.get_iopub_msg(timeout=0.02 if answers else 1)
            except Empty:
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            published.append(self.text("<", "iopub", message))
            content = message["content"]
            if message["msg_type"] == "status" and content["execution_state"] == until:
                return
            if message["msg_type"] == until:
                return
        raise TimeoutError(f"No {until} came after {published}.")

    def reply(self, request, channel="shell"):
        """Records the reply to a request, and returns its content."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            message = getattr(self.client, f"get_{channel}_msg")(timeout=LIMIT)
            if message["parent_header"].get("msg_id") == request:
                self.note("<", channel, message)
                return message["content"]
        raise TimeoutError(f"No reply came to {self.lines}.")

    def ask(self, kind, content, answers=(), channel="shell", **more):
        """Does a whole exchange: request, published messages, reply."""
        request = self.say(channel, kind, content, **more)
        self.outputs(request, answers=answers)
        return self.reply(request, channel)

    def run(self, code, answers=(), metadata=None, **options):
        return self.ask("execute_request", {"code": code, **options}, answers=answers, metadata=metadata)

    def answer(self, value):
        """Returns what `ask` and `run` need to reply to a prompt."""
        return lambda question: self.say("stdin", "input_reply", {"value": value}, parent=question)
