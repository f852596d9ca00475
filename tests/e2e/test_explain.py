"""`gpuassist explain` as a process: files, pipes, exit statuses, one document on standard output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.command import gpuassist, in_shell

NVCC = "nvcc fatal   : Unsupported gpu architecture 'compute_89'"
SOUND = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024"
UNKNOWN = "The frobnicator exploded: error 7"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with three texts in it."""
    for name, words in (("nvcc", NVCC), ("sound", SOUND), ("unknown", UNKNOWN)):
        (tmp_path / name).write_text(f"{words}\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize(("name", "status"), [("nvcc", 2), ("sound", 0), ("unknown", 3)])
def test_status_follows_the_answer(home: Path, name: str, status: int) -> None:
    assert gpuassist(home, "explain", str(home / name), "--machine", "none").status == status


def test_document_is_all_of_standard_output(home: Path) -> None:
    done = gpuassist(home, "explain", str(home / "nvcc"), "--json", "--machine", "none")
    assert done.document()["findings"][0]["id"] == "nvcc-arch-too-new"
    assert done.err == b""


def test_live_machine_is_joined_by_itself(home: Path) -> None:
    done = gpuassist(home, "explain", str(home / "nvcc"), "--json")
    assert done.document()["basis"]["ground"] == "text and machine"


def test_pipe_and_process_substitution_are_read(home: Path) -> None:
    piped = in_shell(home, "cat $HOME/nvcc | $gpuassist explain --machine none --json")
    substituted = in_shell(home, "$gpuassist explain --machine none --json <(cat $HOME/nvcc)")
    assert piped.document() == substituted.document()
    assert piped.document()["findings"][0]["id"] == "nvcc-arch-too-new"


def test_one_language_is_spoken_where_another_is_asked_for(home: Path) -> None:
    asked = ("explain", str(home / "nvcc"), "--machine", "none")
    done = gpuassist(home, *asked, "--lang", "zh_CN")
    assert (done.out == gpuassist(home, *asked).out) is bool(done.err)
    assert done.err.count(b"\n") == len(re.findall(rb"so this is in English\.$", done.err))


def test_reader_that_has_gone_is_no_fault(home: Path) -> None:
    done = in_shell(home, "$gpuassist explain $HOME/nvcc --machine none | head -1")
    assert done.status == 0
    assert done.err == b""


def test_missing_file_is_wrong_usage(home: Path) -> None:
    done = gpuassist(home, "explain", str(home / "nowhere"), "--machine", "none")
    assert done.status == 64
    assert "nowhere" in done.said


def test_empty_standard_input_is_said_to_be_empty(home: Path) -> None:
    done = gpuassist(home, "explain", "--machine", "none")
    assert done.status == 3
    assert "no text" in done.text
