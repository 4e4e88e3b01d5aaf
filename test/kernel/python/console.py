"""Types into `jupyter console` in a separate terminal, and prints the screen as JSON."""

import json
import re
import sys

import pexpect

LIMIT = 100
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

seen = {}
console = pexpect.spawn(
    sys.executable,
    ["-m", "jupyter_console", "--kernel", "lance-typescript"],
    encoding="utf-8",
    timeout=LIMIT,
    dimensions=(40, 120),
)


def prompt(number):
    """Waits for the prompt and returns the text before it."""
    # The number has its own color, and the line is drawn again for each key.
    console.expect(rf"In \[(?:\x1b\[[0-9;]*m)*{number}(?:\x1b\[[0-9;]*m)*\]: ")
    return COLOURS.sub("", console.before)


def enter(text):
    console.send(f"{text}\r")


try:
    prompt(1)
    enter("const a: number = 20 + 1")
    prompt(2)
    enter("function twice(x: number) {")
    # The kernel reports that the code is incomplete, and its indentation.
    console.expect(r"\.\.\.: ")
    enter("return 2 * x")
    enter("}")
    prompt(3)
    enter("twice(a)")
    console.expect("Out")
    seen["result"] = "42" in prompt(4)
    enter("console.log('ru' + 'ns'); while (true) {}")
    console.expect("runs")
    console.sendintr()
    seen["interrupted"] = "The cell was interrupted." in prompt(5)
    enter("await input('Who? ')")
    console.expect(r"(?<!')Who\? ")
    enter("Ada")
    seen["answered"] = "'Ada'" in prompt(6)
    enter("a.toFixd()")
    seen["problem"] = "[6]:1:3 - error TS2551" in prompt(7)
    enter("exit")
    console.expect(pexpect.EOF)
    console.close()
    seen["exit"] = console.exitstatus
except (pexpect.TIMEOUT, pexpect.EOF) as error:
    seen["failed"] = str(error)
finally:
    console.close(force=True)
print(json.dumps(seen))
