"""Runs the driver's own tests (driver/test*.py) and prints the results as JSON: the number of tests and the failures.
"""

import json
import os
import sys
import unittest
from pathlib import Path

# The driver is imported from its folder; write no bytecode there.
sys.dont_write_bytecode = True
folder = Path(__file__).parent / "driver"
# lance reads this when it is loaded, which a test may do before the driver sets it.
os.environ.setdefault("LANCE_LOG", "error")
# Output of the driver, of Lance or of a test must not mix with the result.
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
