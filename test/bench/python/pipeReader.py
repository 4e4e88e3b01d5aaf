"""Reads the whole output of a program from a pipe: `pipeReader.py COMMAND …` prints milliseconds and characters as
JSON."""

import json
import subprocess
import sys
import time

started = time.perf_counter()
characters = 0
with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE) as child:
    # Decoded as by a Jupyter client.
    while chunk := child.stdout.read1(1 << 16):
        characters += len(chunk.decode("ascii"))
print(json.dumps({"ms": (time.perf_counter() - started) * 1000, "characters": characters}))
