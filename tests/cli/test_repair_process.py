"""`use cuda` and `undo` as a real process in a scratch home: what a script that calls them sees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.changes.homes import make_toolkit

ORIGINAL = b"# mine\nexport PATH=/usr/local/cuda-11.7/bin:$PATH"


@pytest.fixture
def scratch(home: Path) -> Path:
    make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / ".bashrc").write_bytes(ORIGINAL)
    return home


def _gpuassist(home: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    variables = {"HOME": str(home), "PATH": os.environ["PATH"], "SHELL": "/bin/bash", "LANG": "C.UTF-8"}
    command = [sys.executable, "-m", "gpuassist", *arguments]
    return subprocess.run(command, capture_output=True, timeout=100, env=variables, stdin=subprocess.DEVNULL)


def test_there_and_back(scratch: Path) -> None:
    used = _gpuassist(scratch, "use", "cuda", "12.4", "--yes", "--json")
    assert used.returncode == 0, used.stderr
    document = json.loads(used.stdout)
    assert document["proof"]["nvcc_real_path"] == f"{scratch}/cuda-12.4/bin/nvcc"
    undone = _gpuassist(scratch, "undo", "--json")
    assert undone.returncode == 0
    assert json.loads(undone.stdout)["change"]["id"] == document["change"]
    assert (scratch / ".bashrc").read_bytes() == ORIGINAL


def test_without_yes_and_terminal_is_wrong_usage(scratch: Path) -> None:
    used = _gpuassist(scratch, "use", "cuda", "12.4")
    assert used.returncode == 64
    assert b"--yes" in used.stderr
    assert (scratch / ".bashrc").read_bytes() == ORIGINAL


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("use", "cuda", "9.9", "--yes"), 2),
        (("use", "cuda", "banana", "--yes"), 64),
        (("use", "cuda"), 64),
        (("use", "toaster", "1"), 64),
        (("use", "cuda", "12.4", "--ld-library-path", "maybe"), 64),
        (("--machine", "x.json", "use", "cuda", "12.4", "--yes"), 64),
        (("use", "cuda", "12.4", "--machine", "x.json"), 64),
        (("--machine", "x.json", "undo"), 64),
        (("use", "cuda", "12.4", "--dry-run"), 0),
        (("undo", "--list"), 0),
        (("undo",), 0),
        (("undo", "nothing", "--yes"), 64),
    ],
)
def test_the_exit_status_says_what_happened(scratch: Path, arguments: tuple[str, ...], status: int) -> None:
    done = _gpuassist(scratch, *arguments)
    assert done.returncode == status, done.stderr
    assert b"Traceback" not in done.stderr
    assert (scratch / ".bashrc").read_bytes() == ORIGINAL


def _read_only(path: Path) -> None:
    path.chmod(0o400)


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("gone")


@pytest.mark.parametrize("make", [_read_only, _directory, _dangling])
def test_a_file_that_cannot_be_written_is_said(scratch: Path, make: Callable[[Path], None]) -> None:
    make(scratch / ".bashrc")
    done = _gpuassist(scratch, "use", "cuda", "12.4", "--yes")
    assert done.returncode == 2, done.stderr
    assert b"Put these lines at the end" in done.stdout
    assert b"Traceback" not in done.stderr
