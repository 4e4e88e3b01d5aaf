from __future__ import annotations

import hashlib
import io
import os
import sys
import unittest
from typing import Any
from unittest import mock

import pyarrow as pa
from support import InFolder, backfill, job, output_of, raw_job


class Reading(unittest.TestCase):
    """Which jobs the driver accepts."""

    def refuses(self, words: str, raw: Any) -> None:
        with self.assertRaises(backfill.JobFailure) as caught:
            backfill.read_job(raw)
        self.assertEqual(caught.exception.code, "RequestInvalid")
        self.assertIn(words, caught.exception.message)

    def test_what_is_not_said_has_a_default(self) -> None:
        read = job()
        self.assertEqual((read.concurrency, read.checkpoint_size, read.commit_granularity), (1, 10_000, None))
        self.assertEqual((read.where, read.task_size, read.num_frags, read.read_version), (None, None, None, None))
        self.assertEqual((read.mode, read.engine, read.fragment), ("run", "processes", None))

    def test_commits_are_at_most_32_unless_the_job_says_how_often(self) -> None:
        by_default = [backfill.fragments_per_commit(job(), count) for count in (1, 256, 257, 1000, 10_000)]
        self.assertEqual(by_default, [8, 8, 9, 32, 313])
        self.assertEqual(backfill.fragments_per_commit(job(commit_granularity=3), 1000), 3)

    def test_null_counts_as_not_said(self) -> None:
        read = job(where=None, concurrency=None, task_size=None, node=None)
        self.assertEqual((read.where, read.concurrency, read.task_size, read.node), (None, 1, None, None))

    def test_another_version_of_the_format_is_refused(self) -> None:
        self.refuses("version 1", raw_job(version=2))
        self.refuses("version 1", [])

    def test_what_is_missing_is_named(self) -> None:
        for name in ("job_id", "table", "column", "function"):
            raw = raw_job()
            del raw[name]
            self.refuses(f'"{name}"', raw)
        for name in ("hash", "output", "inputs", "on_error", "kind"):
            raw = raw_job()
            del raw["function"][name]
            self.refuses("function" if name == "kind" else f'"{name}"', raw)

    def test_counts_are_whole_numbers_of_at_least_one(self) -> None:
        for name in ("concurrency", "task_size", "checkpoint_size", "commit_granularity", "num_frags", "read_version"):
            for value in (0, -1, 1.5, "3", True):
                self.refuses(f'"{name}"', raw_job(**{name: value}))

    def test_words_that_nobody_knows_are_refused(self) -> None:
        self.refuses("run or plan or try", raw_job(mode="walk"))
        self.refuses("processes or ray", raw_job(engine="threads"))
        self.refuses("fail, null, skip or retry", raw_job(function={"on_error": {"mode": "ignore"}}))
        self.refuses("sql, typescript or python", raw_job(function={"kind": "rust"}))

    def test_a_name_that_sql_could_not_quote_is_refused(self) -> None:
        self.refuses("backtick", raw_job(column="a`b"))

    def test_the_scope_is_rows_that_are_null_or_what_where_says(self) -> None:
        self.assertEqual(job(column="my col").scope, "`my col` IS NULL")
        self.assertEqual(job(where="id < 5 OR c = 1").scope, "id < 5 OR c = 1")

    def test_only_retry_tries_more_than_once(self) -> None:
        self.assertEqual(job(function={"on_error": {"mode": "retry", "attempts": 3}}).attempts, 3)
        self.assertEqual(job(function={"on_error": {"mode": "null", "attempts": 3}}).attempts, 1)

    def test_a_trailing_slash_is_no_part_of_an_address(self) -> None:
        self.assertEqual(job(table={"uri": "s3://b/t.lance/", "storage_options": {"a": 1}}).uri, "s3://b/t.lance")
        self.assertEqual(job(table={"uri": "s3://b/t", "storage_options": {"a": 1}}).storage_options, {"a": "1"})

    def test_the_type_comes_as_a_schema_of_arrow(self) -> None:
        wanted = pa.list_(pa.float32(), 4)
        self.assertEqual(job(function={"output": output_of(wanted)}).type, wanted)


class Folders(unittest.TestCase):
    """Where a job saves computed rows."""

    def test_names_keep_letters_and_digits_and_write_all_else_as_bytes(self) -> None:
        self.assertEqual(backfill.encoded("Caption_1.a-b"), "Caption_1.a-b")
        self.assertEqual(backfill.encoded("a/b %"), "a%2Fb%20%25")
        self.assertEqual(backfill.encoded("größe"), "gr%C3%B6%C3%9Fe")

    def test_a_scope_of_its_own_has_a_folder_of_its_own(self) -> None:
        digits = hashlib.sha256(b"id < 5").hexdigest()[:8]
        self.assertEqual(backfill.checkpoint_folder(job()), "_ckp/c-a1b2c3d4e5f60718")
        self.assertEqual(backfill.checkpoint_folder(job(where="id < 5")), f"_ckp/c-a1b2c3d4e5f60718-{digits}")


class Sources(InFolder):
    """Where the driver reads a job."""

    def test_a_file(self) -> None:
        path = os.path.join(self.folder, "job.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"a": "ö"}')
        self.assertEqual(backfill.read_source(path), {"a": "ö"})

    def test_a_variable_which_no_child_sees_then(self) -> None:
        with mock.patch.dict(os.environ, {"THE_JOB": '{"a": 1}'}):
            self.assertEqual(backfill.read_source("env:THE_JOB"), {"a": 1})
            self.assertNotIn("THE_JOB", os.environ)

    def test_the_first_line_of_stdin(self) -> None:
        with mock.patch.object(sys, "stdin", io.StringIO('{"a": 1}\n{"b": 2}\n')):
            self.assertEqual(backfill.read_source("-"), {"a": 1})

    def test_what_is_no_object_is_refused_with_its_place(self) -> None:
        for text, words in (("{", "not valid JSON"), ("[1]", "not a JSON object")):
            with mock.patch.dict(os.environ, {"THE_JOB": text}):
                with self.assertRaises(backfill.JobFailure) as caught:
                    backfill.read_source("env:THE_JOB")
            self.assertIn("env:THE_JOB", caught.exception.message)
            self.assertIn(words, caught.exception.message)
