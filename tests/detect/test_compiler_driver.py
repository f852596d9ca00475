"""nvccs that hang, print junk, are for another machine, or are old."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from gpuassist.detect import compiler_driver
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.words import ENGLISH
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import RealProcesses, World
from tests.detect.made_toolkit import version_text
from tests.fakes import ScriptedProcesses, link, put, world_under

NVCC = "/usr/local/cuda/bin/nvcc"


def _asked(root: Path, outcome: str | ProcessResult) -> World:
    put(root, NVCC, b"\x7fELF", mode=0o755)
    return world_under(root, processes=ScriptedProcesses({f"{NVCC} --version": outcome, f"{NVCC} --list-gpu-arch": outcome}))


def _why(fact: Fact[Any]) -> str:
    assert isinstance(fact, Unknown), fact
    return ENGLISH(fact.reason)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (ProcessResult(Ending.TIMED_OUT, 9, b"", b"", 5.0), "did not answer within 5 s"),
        (ProcessResult(Ending.KILLED, 11, b"", b"", 0.0), "was killed by signal 11"),
        (
            ProcessResult(Ending.NOT_STARTED, 0, b"", b"", 0.0, "[Errno 8] Exec format error"),
            "could not be started: [Errno 8] Exec format",
        ),
        (ProcessResult(Ending.EXITED, 127, b"", b"libc.so.6: version `GLIBC_2.38' not found\n", 0.0), "GLIBC_2.38"),
        (ProcessResult(Ending.EXITED, 1, b"", b"", 0.0), "said nothing (exit status 1)"),
        ("junk\nmore junk\n", "did not answer as nvcc does; it said: junk"),
        ("\x00\ufffd", "did not answer as nvcc does"),
    ],
)
def test_reason_of_an_nvcc_that_does_not_work(tmp_path: Path, outcome: str | ProcessResult, words: str) -> None:
    assert words in _why(compiler_driver.ask_version(_asked(tmp_path, outcome), NVCC))
    assert words in _why(compiler_driver.ask_targets(_asked(tmp_path, outcome), NVCC))


def test_missing_permission_is_told_plainly(tmp_path: Path) -> None:
    put(tmp_path, NVCC, mode=0o644)
    assert _why(compiler_driver.ask_version(world_under(tmp_path), NVCC)) == f"{NVCC} is not executable"


def test_old_nvcc_cannot_list_architectures(tmp_path: Path) -> None:
    outcome = ProcessResult(Ending.EXITED, 255, b"", b"nvcc fatal   : Unknown option '-list-gpu-arch'\n", 0.0)
    assert "older than CUDA 11.0" in _why(compiler_driver.ask_targets(_asked(tmp_path, outcome), NVCC))


def test_source_is_the_command_line(tmp_path: Path) -> None:
    fact = compiler_driver.ask_version(_asked(tmp_path, version_text("12.4.131")), NVCC)
    assert isinstance(fact, Known)
    assert fact.source == f"{NVCC} --version"


def test_binary_is_located_without_running_it(tmp_path: Path) -> None:
    world = _asked(tmp_path, "")
    assert compiler_driver.locate(world, NVCC) == NVCC
    assert isinstance(world.processes, ScriptedProcesses)
    assert world.processes.asked == []


def test_flags_of_the_user_do_not_reach_nvcc(home: Path) -> None:
    nvcc = str(put(home, "nvcc", '#!/bin/sh\necho "V=$NVCC_PREPEND_FLAGS"\n', mode=0o755))
    world = World(Surroundings(str(home), "you", 1000, {"NVCC_PREPEND_FLAGS": "-O9"}), processes=RealProcesses())
    assert "it said: V=" in _why(compiler_driver.ask_version(world, nvcc))
    assert "-O9" not in _why(compiler_driver.ask_version(world, nvcc))


def test_program_for_another_processor_is_unknown(home: Path) -> None:
    nvcc = str(put(home, "nvcc", b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xb7\x00" + bytes(60), mode=0o755))
    assert "could not be started" in _why(compiler_driver.ask_version(World(Surroundings(str(home), "you", 1000)), nvcc))


@pytest.mark.needs("nvcc", "gcc")
def test_real_wrapper_leads_to_the_real_nvcc(home: Path) -> None:
    real = compiler_driver.locate(World(Surroundings(str(home), "you", 1000)), shutil.which("nvcc") or "")
    wrapper = str(put(home, "bin/nvcc", f'#!/bin/sh\n# sets things up first\nexport A=1\nset -- "$@"\n{real} "$@"\n', mode=0o755))
    assert compiler_driver.locate(World(Surroundings(str(home), "you", 1000)), wrapper) == real


@pytest.mark.needs("nvcc", "gcc")
def test_real_wrapper_behind_a_symlink_is_followed(home: Path) -> None:
    world = World(Surroundings(str(home), "you", 1000))
    real = compiler_driver.locate(world, shutil.which("nvcc") or "")
    put(home, "opt/nvcc.sh", f'#!/bin/sh\nexec {real} "$@"\n', mode=0o755)
    wrapper = str(link(home, "bin/nvcc", "../opt/nvcc.sh"))
    assert compiler_driver.locate(world, wrapper) == real
