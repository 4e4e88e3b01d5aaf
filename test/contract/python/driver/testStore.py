from __future__ import annotations

import os
from unittest import mock

import pyarrow.fs as pafs
from support import InFolder, backfill


class Files(InFolder):
    """Small files beside a table on a disk."""

    def setUp(self) -> None:
        super().setUp()
        self.store = backfill.Store(self.uri, {})

    def test_are_read_as_they_were_written(self) -> None:
        self.store.write("_ckp/a/x", b"one")
        self.store.write("_ckp/a/x", b"two")
        self.assertEqual((self.store.read("_ckp/a/x"), self.store.size("_ckp/a/x")), (b"two", 3))
        self.assertEqual(self.store.names("_ckp/a"), ["x"])

    def test_that_are_not_there_are_none(self) -> None:
        self.assertIsNone(self.store.read("_ckp/a/x"))
        self.assertIsNone(self.store.open("_ckp/a/x"))
        self.assertEqual(self.store.names("_ckp/a"), [])
        self.store.delete("_ckp/a/x")

    def test_are_whole_or_as_they_were_when_writing_fails(self) -> None:
        self.store.write("x", b"before")
        with mock.patch.object(os, "replace", side_effect=OSError(28, "No space left on device")):
            with self.assertRaises(OSError):
                self.store.write("x", b"after")
        self.assertEqual(self.store.read("x"), b"before")
        self.assertEqual(self.store.names(""), ["x"])

    def test_are_waited_for_with_all_folders_above_them_where_they_are_to_last(self) -> None:
        synced: list[str] = []

        def note(handle: int) -> None:
            synced.append(os.path.relpath(os.readlink(f"/proc/self/fd/{handle}"), self.uri))

        with mock.patch.object(os, "fsync", side_effect=note):
            self.store.write("_ckp/a/x", b"x")
            self.assertEqual(synced, [])
            self.store.write("_ckp/a/y", b"y", is_durable=True)
            self.assertRegex(synced[0], r"^_ckp/a/y\..*\.tmp$")
            self.assertEqual(synced[1:], ["_ckp/a", "_ckp", "."])
            self.store.write("_ckp/a/z", b"z", is_durable=True)
            self.assertEqual(synced[5:], ["_ckp/a"])

    def test_are_made_though_somebody_removes_the_empty_folder(self) -> None:
        make, times = os.makedirs, 2

        def racing(path: str, exist_ok: bool = False) -> None:
            nonlocal times
            make(path, exist_ok=exist_ok)
            if times > 0:
                times -= 1
                os.rmdir(path)

        with mock.patch.object(os, "makedirs", side_effect=racing):
            self.store.write("_ckp/x", b"x")
        self.assertEqual(self.store.read("_ckp/x"), b"x")

    def test_are_created_by_one_alone(self) -> None:
        self.assertTrue(self.store.create("_ckp/c.lease", b"mine"))
        self.assertFalse(self.store.create("_ckp/c.lease", b"yours"))
        self.assertEqual(self.store.read("_ckp/c.lease"), b"mine")

    def test_go_with_their_folder(self) -> None:
        self.store.write("_ckp/a/x", b"x")
        self.store.write("_ckp/b/y", b"y")
        self.store.delete_folder("_ckp/a")
        self.assertEqual((self.store.names("_ckp/a"), self.store.names("_ckp/b")), ([], ["y"]))

    def test_in_a_folder_keep_it(self) -> None:
        self.store.write("_ckp/x", b"x")
        self.store.delete_empty("_ckp")
        self.assertEqual(self.store.names("_ckp"), ["x"])
        self.store.delete("_ckp/x")
        self.store.delete_empty("_ckp")
        self.store.delete_empty("_ckp")
        self.assertFalse(os.path.exists(os.path.join(self.uri, "_ckp")))

    def test_of_an_address_of_files_are_found_by_its_path(self) -> None:
        self.store.write("x", b"x")
        self.assertEqual(backfill.Store(f"file://{self.uri}", {}).read("x"), b"x")


class ObjectStores(InFolder):
    """Arrow's file system with Lance's settings."""

    def setUp(self) -> None:
        super().setUp()
        # Remove the AWS variables of the machine and of earlier tests.
        others = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        cleared = mock.patch.dict(os.environ, others, clear=True)
        cleared.start()
        self.addCleanup(cleared.stop)

    def test_s3_is_reached_by_the_names_of_lances_settings(self) -> None:
        options = {"AWS_Access_Key_Id": "k", "secret_access_key": "s", "region": "eu-1", "endpoint": "http://h:9/"}
        found, path = backfill.object_store("s3://bucket/a/t.lance?x=1", options)
        self.assertEqual(path, "bucket/a/t.lance")
        same = pafs.S3FileSystem(access_key="k", secret_key="s", region="eu-1", endpoint_override="h:9", scheme="http")
        self.assertTrue(found.equals(same))

    def test_s3_is_reached_by_what_the_environment_says_of_aws_and_nothing_else(self) -> None:
        with mock.patch.dict(os.environ, {"AWS_REGION": "eu-2", "AWS_SESSION_TOKEN": "t", "ENDPOINT": "http://other"}):
            found, _ = backfill.object_store("s3://bucket/t", {"access_key_id": "k", "secret_access_key": "s"})
        same = pafs.S3FileSystem(access_key="k", secret_key="s", session_token="t", region="eu-2")
        self.assertTrue(found.equals(same))

    def test_what_no_checkpoint_can_be_kept_at_is_refused(self) -> None:
        with self.assertRaises(backfill.JobFailure) as caught:
            backfill.Store("ftp://host/t.lance", {})
        self.assertEqual(caught.exception.code, "StorageFailed")
        self.assertIn("ftp://", caught.exception.message)
