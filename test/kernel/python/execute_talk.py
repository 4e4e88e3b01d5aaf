"""Cells: replies, outputs and their parents."""


def silent(talk):
    talk.run("console.log('not seen'); 1", silent=True)
    talk.run("throw new Error('not seen')", silent=True)


def expressions(talk):
    talk.run("const two = 2", user_expressions={"double": "two * 2", "bad": "three"})


def unstored(talk):
    talk.run("'not stored'", store_history=False)
    talk.run("'stored'")
    talk.ask("history_request", {"hist_access_type": "tail", "n": 1, "output": True, "raw": True})


def failing(talk):
    # The first cell fails when the second has arrived, even if that takes long.
    slowly = "await new Promise((wait) => setTimeout(wait, 300)); throw new RangeError('stop')"
    requests = [talk.say("shell", "execute_request", {"code": code}) for code in (slowly, "'aborted'")]
    for request in requests:
        talk.outputs(request)
        talk.reply(request)
    options = {"stop_on_error": False}
    requests = [talk.say("shell", "execute_request", {"code": code, **options}) for code in ("throw 5", "'runs'")]
    for request in requests:
        talk.outputs(request)
        talk.reply(request)


def late(talk):
    first = talk.say("shell", "execute_request", {"code": "setTimeout(() => console.log('of the first'), 300); 1"})
    talk.outputs(first)
    talk.reply(first)
    talk.run("2")
    talk.outputs(first, until="stream")


def again(talk):
    code = "display('shown', { id: 'place' }); display('changed', { id: 'place' })"
    for _ in range(2):
        talk.run(code, metadata={"cellId": "cell-a"})
    # Another cell changes the display in place.
    talk.run("display('from below', { id: 'place' })", metadata={"cellId": "cell-b"})
    talk.run("display('edited', { id: 'place' })", metadata={"cellId": "cell-a"})


def clearing(talk):
    talk.run("console.log('one'); display.clear(true); console.log('two')")


def given_up(talk):
    waits = "(console.log('waits'), await new Promise(() => {}))"
    options = {"user_expressions": {"first": waits, "second": "counted = 1"}}
    request = talk.say("shell", "execute_request", {"code": "let counted = 0", **options})
    talk.outputs(request, until="stream")
    interrupt = talk.say("control", "interrupt_request", {})
    talk.outputs(request)
    talk.reply(request)
    talk.reply(interrupt, "control")
    talk.run("counted")


ALL = {
    "a silent cell says nothing but its reply": silent,
    "expressions are evaluated after the cell, each with its own status": expressions,
    "a cell that is not stored has no number of its own, and the history its result when asked": unstored,
    "cells behind one that fails are aborted unless it says otherwise": failing,
    "late output has the cell that caused it as parent": late,
    "a place is shown again when its cell is run again": again,
    "clear_output comes between what is cleared and what follows": clearing,
    "an interrupt ends the expressions too": given_up,
}
