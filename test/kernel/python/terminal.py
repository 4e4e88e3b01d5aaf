"""Runs a command in a separate terminal, and types into it.

terminal.py COLUMNS WHEN KEYS COMMAND…: types KEYS (with escapes as in Python) after WHEN was shown; several of both,
separated by "|", are used one after another. Prints the whole screen output, and exits with the status of the command.
"""

import fcntl
import os
import pty
import struct
import sys
import termios

columns, when, keys, *command = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, int(columns), 0, 0))
shown = b""
steps = list(zip(when.split("|"), keys.split("|")))
searched = 0
while True:
    try:
        some = os.read(terminal, 4096)
    except OSError:
        # On Linux, this error is the end of a terminal.
        break
    if not some:
        break
    shown += some
    if steps and steps[0][0].encode() in shown[searched:]:
        os.write(terminal, steps.pop(0)[1].encode().decode("unicode_escape").encode())
        searched = len(shown)
_, status = os.waitpid(pid, 0)
sys.stdout.write(shown.decode(errors="replace").replace("\r\n", "\n"))
sys.exit(os.waitstatus_to_exitcode(status))
