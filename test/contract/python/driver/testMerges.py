from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import lance
import pyarrow as pa
from support import InFolder, backfill, said

MARK = "_ckp/c-a1b2c3d4e5f60718/merge.pending"


class LeftMerges(InFolder):
    """The driver completes a merge that the runner `local` was doing when it was killed."""

    def setUp(self) -> None:
        super().setUp()
        table = self.table(6, 3)
        table.add_columns(pa.field("c", pa.int32()))
        self.base = int(lance.dataset(self.uri).version)
        self.store = backfill.Store(self.uri, {})

    def leave(self, values: dict[int, int], base: int | None = None, column_type: pa.DataType | None = None) -> None:
        """Writes the mark of a merge of these values by `id`."""
        table = pa.table(
            {
                "_rowaddr": pa.array(range(len(values)), pa.uint64()),
                "hash": pa.array([0] * len(values), pa.uint64()),
                "state": pa.array([0] * len(values), pa.uint8()),
                "key": pa.array(list(values), pa.int64()),
                "value": pa.array(list(values.values()), column_type or pa.int32()),
            }
        ).replace_schema_metadata(
            {"lance-catalog.merge-base": str(self.base if base is None else base), "lance-catalog.merge-key": "id"}
        )
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        self.store.write(MARK, sink.getvalue().to_pybytes())

    def merge(self, values: dict[int, int]) -> None:
        """Merges these values with Lance, as the runner does after it has written the mark."""
        rows = pa.table({"id": pa.array(list(values), pa.int64()), "c": pa.array(list(values.values()), pa.int32())})
        lance.dataset(self.uri).merge_insert("id").when_matched_update_all().execute(rows)

    def update(self, values: dict[str, str], where: str) -> None:
        lance.dataset(self.uri).update(values, where=where)

    def mended(self, **more: Any) -> dict[int, Any]:
        """Returns the column by `id` after a driver has checked it, and collects the events in `self.events`."""
        with said() as self.events:
            driver = backfill.Driver(self.job(function={"kind": "sql", "expression": "length(text)"}, **more))
            driver.lease.take()
            try:
                driver._repair_merge(backfill.open_table(driver.job))
            finally:
                driver.lease.give_up()
        self.assertFalse(os.path.exists(os.path.join(self.uri, MARK)))
        rows = lance.dataset(self.uri).to_table(columns=["id", "c"]).to_pylist()
        return {row["id"]: row["c"] for row in rows}

    def raced(self, others: Callable[[], None]) -> dict[int, Any]:
        values = {id: 50 + id for id in range(6)}
        self.leave(values)
        others()
        self.merge(values)
        return self.mended()

    def test_values_of_inputs_that_were_changed_meanwhile_are_taken_back(self) -> None:
        found = self.raced(lambda: self.update({"text": "'else'"}, "id IN (1, 4)"))
        self.assertEqual(found, {0: 50, 1: None, 2: 52, 3: 53, 4: None, 5: 55})
        self.assertTrue(any(event["kind"] == "conflict" and event["dropped"] for event in self.events))

    def test_a_value_that_somebody_wrote_meanwhile_comes_back(self) -> None:
        found = self.raced(lambda: self.update({"c": "-1"}, "id = 2"))
        self.assertEqual(found, {0: 50, 1: 51, 2: -1, 3: 53, 4: 54, 5: 55})

    def test_rows_that_were_deleted_meanwhile_stay_so(self) -> None:
        def others() -> None:
            lance.dataset(self.uri).delete("id = 3")

        self.assertEqual(self.raced(others), {0: 50, 1: 51, 2: 52, 4: 54, 5: 55})

    def test_rows_that_were_only_moved_keep_their_values(self) -> None:
        def others() -> None:
            lance.dataset(self.uri).optimize.compact_files(target_rows_per_fragment=100)

        self.assertEqual(self.raced(others), {id: 50 + id for id in range(6)})

    def test_of_several_who_wrote_each_is_seen(self) -> None:
        def others() -> None:
            self.update({"c": "-1"}, "id = 2")
            self.update({"text": "'else'"}, "id = 1")
            lance.dataset(self.uri).delete("id = 0")

        self.assertEqual(self.raced(others), {1: None, 2: -1, 3: 53, 4: 54, 5: 55})

    def test_what_was_written_after_the_merge_is_left_alone(self) -> None:
        values = {1: 51, 2: 52}
        self.leave(values)
        self.update({"text": "'else'"}, "id = 1")
        self.merge(values)
        self.update({"c": "7"}, "id = 1")
        self.assertEqual(self.mended()[1], 7)

    def test_a_merge_beside_which_nobody_wrote_stays(self) -> None:
        values = {1: 51, 2: 52}
        self.leave(values)
        self.merge(values)
        version = lance.dataset(self.uri).version
        self.update({"text": "'else'"}, "id = 1")
        self.assertEqual({id: value for id, value in self.mended().items() if value is not None}, values)
        self.assertEqual(lance.dataset(self.uri).version, version + 1)

    def test_a_merge_that_never_was_made_changes_nothing(self) -> None:
        self.leave({1: 51, 2: 52})
        self.update({"c": "-1"}, "id = 1")
        self.update({"text": "'else'"}, "id = 2")
        version = lance.dataset(self.uri).version
        self.assertEqual((self.mended()[1], lance.dataset(self.uri).version), (-1, version))

    def test_all_of_it_is_taken_back_when_the_versions_are_gone(self) -> None:
        values = {1: 51, 2: 52}
        self.leave(values)
        self.update({"text": "'else'"}, "id = 1")
        self.merge(values)
        self.update({"c": "-1"}, "id = 5")
        time.sleep(0.01)
        lance.dataset(self.uri).cleanup_old_versions(older_than=timedelta(0))
        self.assertEqual(self.mended(), {0: None, 1: None, 2: None, 3: None, 4: None, 5: -1})

    def test_a_mark_that_cannot_be_read_or_is_of_another_type_goes(self) -> None:
        self.store.write(MARK, b"torn")
        self.mended()
        self.leave({1: 51}, column_type=pa.float64())
        self.mended()

    def test_without_a_mark_nothing_is_done(self) -> None:
        self.assertEqual(set(self.mended().values()), {None})


class Differences(InFolder):
    """Returns the positions at which two columns differ."""

    def differing(self, one: list[Any], other: list[Any], column_type: pa.DataType) -> list[int]:
        columns = [pa.chunked_array([pa.array(values, column_type)]) for values in (one, other)]
        return [int(at) for at in backfill.differing(*columns).nonzero()[0]]

    def test_are_told_for_every_type(self) -> None:
        self.assertEqual(self.differing([1, None, 3], [1, 0, None], pa.int32()), [1, 2])
        self.assertEqual(self.differing([[1.0], None, [3.0]], [[1.0], [], [3.5]], pa.list_(pa.float32())), [1, 2])
        self.assertEqual(
            self.differing([{"a": 1}, {"a": 2}], [{"a": 1}, {"a": None}], pa.struct([("a", pa.int8())])), [1]
        )

    def test_no_number_is_as_good_as_another(self) -> None:
        nan = float("nan")
        self.assertEqual(self.differing([nan, 1.0], [nan, nan], pa.float64()), [1])

    def test_are_found_far_into_long_columns(self) -> None:
        one = list(range(5000))
        other = [*one[:4321], -1, *one[4322:]]
        self.assertEqual(self.differing(one, other, pa.int64()), [4321])
