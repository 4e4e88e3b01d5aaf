"""Runs cells in several shells at the same time with a Jupyter client, and prints the results of each case by name. The
arguments are folders of two packages."""

import json
import re
import sys
from pathlib import Path

from subshell_talk import opened
from talk import Talk

# A number of cells that is larger than the number of finished cells that the kernel remembers.
MANY = 1100
# Code that defines `waiting(name)`, for which a cell can wait. It prints a line, so that the test
# knows that everything is set up.
WAITING = """const waits = new Map<string, () => void>();
const waiting = (name: string) => { console.log('waits'); return new Promise<void>((go) => waits.set(name, go)) };"""


def begun(talk, code, subshell=None):
    """Runs a cell that prints when it has reached its wait."""
    request = talk.say("shell", "execute_request", {"code": code}, subshell=subshell)
    talk.outputs(request, until="stream")
    return request


def ended(talk, request, answers=()):
    """Collects the messages for a cell from now on, and its reply."""
    talk.lines = []
    talk.outputs(request, answers=answers)
    return [line.split(" ", 3)[2] for line in talk.lines if line.startswith("< iopub")], talk.reply(request)


def go(talk, name, subshell):
    """Lets a cell continue in a moment, after earlier messages have arrived."""
    talk.begin()
    talk.ask("execute_request", {"code": f"setTimeout(waits.get('{name}')!, 500)", "silent": True}, subshell=subshell)


def outlived(talk, subshell):
    main = begun(talk, "await waiting('long');\nawait input('which? ')")
    for _ in range(MANY):
        last = talk.say("shell", "execute_request", {"code": "1"}, subshell=subshell)
    talk.reply(last)
    go(talk, "long", subshell)
    kinds, reply = ended(talk, main, answers=[talk.answer("this")])
    return kinds, reply["status"]


def placed(talk, subshell):
    code = "const failing = () => { throw new Error('far in') };\nawait waiting('failing');\n\n\nfailing()"
    main = begun(talk, code)
    talk.ask("execute_request", {"code": "const words = 'of more columns'; words.length", "silent": True}, subshell=subshell)
    go(talk, "failing", subshell)
    _, reply = ended(talk, main)
    return re.findall(r"\[\d+\]:(\d+:\d+)", " ".join(reply["traceback"]))


def installed(talk, subshell):
    first, second = sys.argv[1:]
    main = talk.say("shell", "execute_request", {"code": f"%install --yes {first}"})
    other = talk.say("shell", "execute_request", {"code": f"%install --yes {second}"}, subshell=subshell)
    replies = [talk.reply(each)["status"] for each in (main, other)]
    return replies, sorted(json.loads(Path("package.json").read_text())["dependencies"])


CASES = {"outlived": outlived, "placed": placed, "installed": installed}

talk = Talk()
try:
    talk.run(WAITING)
    shell = opened(talk)
    print(json.dumps({name: case(talk, shell) for name, case in CASES.items()}))
finally:
    talk.close()
