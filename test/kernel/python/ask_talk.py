"""Requests of the client to the kernel."""


def ask_about(kind, code, **more):
    return lambda talk: talk.ask(f"{kind}_request", {"code": code, **more})


def is_complete(talk):
    for code in ("1 + 1", "if (true) {\n  f(", "const = 3"):
        talk.ask("is_complete_request", {"code": code})
    # The kernel can't check completeness while a cell keeps the compiler's thread busy.
    cell = talk.say("shell", "execute_request", {"code": "while (true) {}"})
    talk.outputs(cell, until="execute_input")
    talk.ask("is_complete_request", {"code": "1"})
    request = talk.say("control", "interrupt_request", {})
    talk.reply(request, "control")
    talk.outputs(cell)
    talk.reply(cell)


def inspect(talk):
    talk.run("/** Adds one. */\nfunction more(n: number): number {\n  return n + 1;\n}")
    for detail in (0, 1):
        talk.ask("inspect_request", {"code": "more(1)", "cursor_pos": 2, "detail_level": detail})
    talk.ask("inspect_request", {"code": "nothingSuch", "cursor_pos": 3, "detail_level": 0})


def complete(talk):
    talk.run("const person = { name: '😀', age: 1 }")
    talk.ask("complete_request", {"code": "'😀'; person.na", "cursor_pos": 14})


def history(talk):
    talk.run("'first'")
    talk.ask("history_request", {"hist_access_type": "tail", "n": 1, "raw": True, "output": False})
    talk.ask("history_request", {"hist_access_type": "search", "pattern": "'fir*", "raw": True, "output": True})
    talk.ask("history_request", {"hist_access_type": "range", "session": -1, "start": 1, "stop": 3, "raw": True})


def invalid(talk):
    talk.ask("execute_request", {"code": 5})
    talk.ask("complete_request", {"code": "x", "cursor_pos": "y"})
    talk.ask("made_up_request", {})
    talk.ask("made_up_request", {}, channel="control")


def shutdown(talk):
    request = talk.say("control", "shutdown_request", {"restart": True})
    talk.outputs(request)
    talk.reply(request, "control")


ALL = {
    "code is complete, incomplete, invalid, or unknown while a cell runs without a pause": is_complete,
    "a name is explained in short and in full": inspect,
    "completions count characters and have types": complete,
    "the history has this session and those before": history,
    "a request that is invalid or unknown is answered with the reason": invalid,
    "a shutdown is answered with its restart flag, on iopub too": shutdown,
}
