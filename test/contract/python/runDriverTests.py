"""Runs the driver's own tests (driver/test*.py) and prints what became of them as JSON: how many ran, what failed."""

import json
import os
import sys
import unittest
from pathlib import Path

# The driver is imported from where it is, and nothing is left beside it.
sys.dont_write_bytecode = True
folder = Path(__file__).parent / "driver"
# Read when lance is loaded, which a test may do before the driver says it.
os.environ.setdefault("LANCE_LOG", "error")
# What the driver, Lance or a test prints is no part of the answer.
answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

tests = unittest.defaultTestLoader.discover(str(folder), pattern="test*.py", top_level_dir=str(folder))
result = unittest.TextTestRunner(stream=sys.stderr, verbosity=1).run(tests)
failed = [f"{test.id()}\n{text}" for test, text in [*result.failures, *result.errors]]
failed.extend(f"{test.id()} was expected to fail" for test in result.unexpectedSuccesses)
failed.extend(f"{test.id()} was skipped: {why}" for test, why in result.skipped)
answer.write(json.dumps({"ran": result.testsRun, "failed": failed}))
answer.close()
os._exit(0)
