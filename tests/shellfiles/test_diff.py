"""The diff that is shown: what `patch` would take, whatever the bytes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.shellfiles.diff import unified


def test_shows_what_changes() -> None:
    diff = unified("/home/you/.bashrc", b"a\nb\n", b"a\nc\n")
    assert diff == "--- /home/you/.bashrc\n+++ /home/you/.bashrc\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"


def test_is_empty_where_nothing_changes() -> None:
    assert unified("f", b"a\n", b"a\n") == ""


def test_says_where_the_last_line_does_not_end() -> None:
    assert unified("f", b"a", b"a\n").count("\\ No newline at end of file\n") == 1


def test_shows_bytes_that_are_not_utf_8() -> None:
    assert "-caf\\xe9\n" in unified("f", b"caf\xe9\n", b"x\n")


def test_counts_lines_of_the_whole_file() -> None:
    before = b"".join(b"%d\n" % number for number in range(1, 101))
    diff = unified("f", before, before.replace(b"\n90\n", b"\nninety\n"))
    assert "@@ -87,7 +87,7 @@" in diff


def test_an_added_end_is_shown_with_three_lines_before() -> None:
    before = b"".join(b"%d\n" % number for number in range(1, 11))
    assert "@@ -8,3 +8,4 @@\n 8\n 9\n 10\n+end\n" in unified("f", before, before + b"end\n")


@pytest.mark.slow
def test_a_large_file_is_quick_enough() -> None:
    before = b"alias ll='ls -l'\n" * 120_000
    assert unified("f", before, b"new\n" + before + b"end\n").count("\n+") == 3


TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=30).map("".join)


@pytest.mark.needs("patch")
@settings(max_examples=40, deadline=None)
@given(TEXTS, TEXTS)
def test_patch_understands_it(tmp_path_factory: pytest.TempPathFactory, before: str, after: str) -> None:
    if before == after:
        return
    path = tmp_path_factory.mktemp("patch") / "file"
    path.write_text(before)
    diff = unified("file", before.encode(), after.encode()).encode()
    done = subprocess.run(["patch", "--silent", "--posix", str(path)], input=diff, capture_output=True, timeout=100)
    assert done.returncode == 0, done.stdout
    assert (path.read_text() if Path(path).exists() else "") == after
