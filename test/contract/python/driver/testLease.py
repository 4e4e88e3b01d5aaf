from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from typing import Any
from unittest import mock

from support import InFolder, Json, backfill, said

START = 1_000_000.0


class Watch(threading.Event):
    """Time that passes only while the code under test sleeps. `at` runs actions at given seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.steady = 0.0
        self.offset = 0.0
        """Seconds by which the wall clock is ahead of the other writer's clock."""
        self.at: dict[int, Any] = {}

    def wall(self) -> float:
        return START + self.steady + self.offset

    def wait(self, timeout: float | None = None) -> bool:
        self.steady += timeout or 0.0
        self.at.pop(int(self.steady), lambda: None)()
        return self.is_set()


class Leases(InFolder):
    """Which job may write a column."""

    def setUp(self) -> None:
        super().setUp()
        os.makedirs(self.uri)
        self.watch = Watch()
        self.store = backfill.Store(self.uri, {})

    def lease(self, job_id: str = "bf-1") -> backfill.Lease:
        found = backfill.Lease(
            self.store, self.job(job_id=job_id), self.watch, self.watch.wall, lambda: self.watch.steady
        )
        self.addCleanup(found._over.set)
        return found

    def theirs(self, beat: float, **more: Any) -> None:
        """Writes a lease of another machine, whose clock shows this many seconds since the start."""
        content = {
            "version": 1,
            "job_id": "bf-theirs",
            "holder": "else@where",
            "host": "where",
            "pid": 1,
            "nonce": "theirs",
            "heartbeat_at": (START + beat) * 1000,
            **more,
        }
        self.store.write("_ckp/c.lease", json.dumps(content).encode("utf-8"))

    def held(self) -> Json:
        return backfill.holder_in(self.store.read("_ckp/c.lease"))

    def take(self) -> list[Json]:
        with said() as events:
            self.lease().take()
        self.assertEqual(self.held()["job_id"], "bf-1")
        return events

    def is_busy(self) -> None:
        with said(), self.assertRaises(backfill.JobFailure) as caught:
            self.lease().take()
        self.assertEqual(caught.exception.code, "Busy")
        self.assertIn("bf-theirs of else@where", caught.exception.message)
        self.assertEqual(self.held()["nonce"], "theirs")

    def test_one_that_nobody_has_is_taken_at_once(self) -> None:
        self.take()
        self.assertEqual(self.watch.steady, 0)

    def test_one_that_has_just_beaten_is_busy_at_once(self) -> None:
        self.theirs(-5)
        self.is_busy()
        self.assertEqual(self.watch.steady, 0)

    def test_one_that_looks_old_is_taken_over_after_more_than_a_beat_without_one(self) -> None:
        self.theirs(-3600)
        events = self.take()
        self.assertGreaterEqual(self.watch.steady, backfill.LEASE_BEAT_SECONDS)
        self.assertLess(self.watch.steady, 2 * backfill.LEASE_BEAT_SECONDS)
        self.assertEqual([event["text"] for event in events], ["Checking whether else@where is still computing c."])

    def test_one_that_looks_old_and_beats_is_of_a_clock_behind_ours_and_busy(self) -> None:
        self.theirs(-3600)
        self.watch.at[9] = lambda: self.theirs(-3590)
        self.is_busy()
        self.assertEqual(self.watch.steady, 9)

    def test_one_from_the_future_holds_nobody_up_for_more_than_a_minute(self) -> None:
        self.theirs(24 * 3600)
        self.take()
        self.assertEqual(self.watch.steady, backfill.LEASE_STALE_SECONDS)

    def test_one_from_the_future_that_beats_is_busy(self) -> None:
        self.theirs(24 * 3600)
        self.watch.at[30] = lambda: self.theirs(24 * 3600 + 10)
        self.is_busy()
        self.assertEqual(self.watch.steady, 30)

    def test_one_that_has_missed_a_beat_is_waited_for_until_it_is_a_minute_old(self) -> None:
        self.theirs(-30)
        self.take()
        self.assertAlmostEqual(self.watch.steady, 31, delta=1)

    def test_one_that_is_given_up_meanwhile_is_taken(self) -> None:
        self.theirs(-30)
        self.watch.at[3] = lambda: self.store.delete("_ckp/c.lease")
        self.take()
        self.assertEqual(self.watch.steady, 3)

    def test_one_that_is_not_written_to_its_end_is_waited_for(self) -> None:
        self.store.write("_ckp/c.lease", b"")
        self.watch.at[2] = lambda: self.theirs(2)
        self.is_busy()

    def test_one_that_stays_unreadable_is_taken_over(self) -> None:
        self.store.write("_ckp/c.lease", b"[1")
        self.take()
        self.assertEqual(self.watch.steady, backfill.LEASE_LOOK_SECONDS)

    def test_that_of_the_same_job_is_taken_over_at_once(self) -> None:
        self.theirs(-1, job_id="bf-1")
        self.take()
        self.assertEqual(self.watch.steady, 0)

    def test_that_of_a_process_of_this_machine_that_is_gone_is_taken_over_at_once(self) -> None:
        gone = subprocess.Popen([sys.executable, "-c", ""])
        gone.wait()
        self.theirs(-1, host=socket.gethostname(), pid=gone.pid)
        self.take()
        self.assertEqual(self.watch.steady, 0)

    def test_that_of_a_process_of_this_machine_that_lives_is_busy(self) -> None:
        self.theirs(-1, host=socket.gethostname(), pid=os.getpid())
        self.is_busy()

    def test_whoever_is_cancelled_does_not_wait(self) -> None:
        self.theirs(-30)
        self.watch.at[2] = self.watch.set
        with said(), self.assertRaises(backfill.Cancelled):
            self.lease().take()
        self.assertEqual((self.watch.steady, self.held()["nonce"]), (2, "theirs"))

    def test_of_two_who_wait_for_the_same_one_loses_to_the_first(self) -> None:
        self.theirs(-3600)
        self.watch.at[12] = lambda: self.theirs(12)
        self.is_busy()

    def test_that_somebody_has_taken_over_since_is_not_removed(self) -> None:
        self.theirs(-3600)
        # The driver logs between the check and the removal of the lease, so this side effect runs
        # at that moment.
        with mock.patch.object(backfill, "log", side_effect=lambda _: self.theirs(self.watch.steady)):
            self.is_busy()

    def test_is_lost_once_somebody_else_has_it(self) -> None:
        mine = self.lease()
        with said():
            mine.take()
            mine.check()
            self.theirs(0)
            with self.assertRaises(backfill.JobFailure) as caught:
                mine.check()
            mine.give_up()
        self.assertIn("else@where", caught.exception.message)
        self.assertEqual(self.held()["nonce"], "theirs")

    def test_is_removed_at_the_end_with_its_folder_when_that_is_empty(self) -> None:
        for other in (True, False):
            mine = self.lease()
            with said():
                mine.take()
                if other:
                    self.store.write("_ckp/d.lease", b"{}")
                mine.give_up()
            self.assertEqual(self.store.names("_ckp"), ["d.lease"] if other else [])
            self.store.delete("_ckp/d.lease")
        self.assertFalse(os.path.exists(os.path.join(self.uri, "_ckp")))
