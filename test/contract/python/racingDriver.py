"""Runs the driver while another writer changes an input in place, after the driver's last check and before its first
commit.

    python racingDriver.py DRIVER MANNER -     MANNER: `live`, or `die` to be killed right after that commit

A test can't hit that moment from outside. Lance does both the change and the commit.
"""

import importlib.util
import os
import sys

driver, manner = sys.argv[1], sys.argv[2]
spec = importlib.util.spec_from_file_location("backfill", driver)
backfill = importlib.util.module_from_spec(spec)
sys.modules["backfill"] = backfill
spec.loader.exec_module(backfill)

import lance  # noqa: E402
import pyarrow as pa  # noqa: E402

commit = backfill.Driver._commit


def raced(self, table, records):
    backfill.Driver._commit = commit
    # Change a row outside of the first fragment. The test has changed the first fragment in place, so
    # the index no longer contains it, and another change would move the row.
    fragment = max(record["fragment"] for record in records)
    assert fragment > 0
    row = table.get_fragment(fragment).to_table(columns=["id"], limit=1).column("id")[0].as_py()
    change = pa.table({"id": pa.array([row], pa.int64()), "text": ["changed in place"]})
    lance.dataset(self.job.uri).merge_insert("id").when_matched_update_all().execute(change)
    version = commit(self, table, records)
    if manner == "die":
        os._exit(9)
    return version


backfill.Driver._commit = raced
code = backfill.main(sys.argv[3:])
sys.stderr.flush()
os._exit(code)
