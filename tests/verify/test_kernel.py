"""A kernel compiled and run: by scripted compilers, and by a real nvcc where one is there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from gpuassist.model.words import ENGLISH
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.verify.kernel import KernelCheck, KernelVerdict, KernelWish, check_kernel
from tests.fakes import put

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
COMPILES = 'test "$*" = "-arch=sm_89 -o kernel kernel.cu" && grep -q __global__ kernel.cu && cp "$(dirname "$0")/result" kernel'


def check(
    home: Path, compiler: str, result: str = "echo 42", *, devices: tuple[str, ...] = (), architecture: str = "sm_89"
) -> KernelCheck:
    """With a compiler that runs these shell lines, and a kernel's program that runs those."""
    nvcc = put(home, "bin/nvcc", f"#!/bin/sh\n{compiler}\n", mode=0o755)
    put(home, "bin/result", f"#!/bin/sh\n{result}\n", mode=0o755)
    world = World(Surroundings(str(home), "you", os.geteuid(), {}, str(home), "/bin/bash"))
    return check_kernel(world, KernelWish(str(nvcc), architecture, ENVIRONMENT, devices))


def test_kernel_is_compiled_for_its_architecture(home: Path) -> None:
    done = check(home, COMPILES)
    assert (done.verdict, done.passed) == (KernelVerdict.COMPILED, True)
    assert "not run" in ENGLISH(done.words)
    assert done.command[1:] == ("-arch=sm_89", "-o", "kernel", "kernel.cu")


def test_kernel_runs_on_every_device(home: Path) -> None:
    done = check(
        home, COMPILES, f'echo "$CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER" >> {home}/log; echo 42', devices=("GPU-1", "GPU-2")
    )
    assert done.verdict is KernelVerdict.RAN
    assert (home / "log").read_text() == "GPU-1 PCI_BUS_ID\nGPU-2 PCI_BUS_ID\n"


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("echo 41", "on the GPU 0 the result was 41 and not 42"),
        (":", "the result was '' and not 42"),
        ("echo 'CUDA error 35: CUDA driver version is insufficient' >&2; exit 1", "it failed: CUDA error 35: CUDA driver"),
        ("kill -11 $$", "was killed by signal 11"),
    ],
)
def test_kernel_that_does_not_run_is_no_proof(home: Path, result: str, words: str) -> None:
    done = check(home, COMPILES, result, devices=("0",))
    assert (done.verdict, done.passed) == (KernelVerdict.DID_NOT_RUN, False)
    assert words in ENGLISH(done.words)


@pytest.mark.parametrize(
    ("compiler", "words"),
    [
        (
            "echo \"nvcc fatal   : Unsupported gpu architecture 'compute_89'\" >&2; exit 1",
            "not compiled: nvcc fatal   : Unsupported gpu architecture 'compute_89'",
        ),
        ("echo 'x.h(3): warning: odd'; echo '#error -- unsupported GNU version!' >&2; exit 1", "unsupported GNU version"),
        ("exit 1", "/bin/nvcc said nothing (exit status 1)"),
        ("kill -9 $$", "was killed by signal 9"),
    ],
)
def test_compiler_that_fails_says_why(home: Path, compiler: str, words: str) -> None:
    done = check(home, compiler)
    assert (done.verdict, done.passed) == (KernelVerdict.NOT_COMPILED, False)
    assert words in ENGLISH(done.words)


def test_compiler_that_is_not_there_is_said(home: Path) -> None:
    world = World(Surroundings(str(home), "you", os.geteuid(), {}, str(home), "/bin/bash"))
    done = check_kernel(world, KernelWish("/no/nvcc", "sm_89", ENVIRONMENT))
    assert "could not be started" in ENGLISH(done.words)


def test_nothing_is_left_behind(home: Path) -> None:
    check(home, COMPILES)
    assert list((home / ".cache/gpuassist").iterdir()) == []


@pytest.mark.needs("nvcc")
def test_real_compiler_makes_a_real_kernel(home: Path) -> None:
    nvcc = shutil.which("nvcc")
    assert nvcc is not None
    world = World(Surroundings(str(home), "you", os.geteuid(), {}, str(home), "/bin/bash"))
    done = check_kernel(world, KernelWish(nvcc, "sm_89", {"PATH": os.environ["PATH"]}))
    assert done.passed, done.said


@pytest.mark.parametrize(
    ("compiler", "result", "words"),
    [("exec sleep 60", "echo 42", "cancelled before it was compiled"), (COMPILES, "exec sleep 60", "cancelled before it ran on")],
    ids=["compiling", "running"],
)
def test_what_is_under_way_is_stopped(home: Path, compiler: str, result: str, words: str) -> None:
    nvcc = put(home, "bin/nvcc", f"#!/bin/sh\ntouch {home}/begun\n{compiler}\n", mode=0o755)
    world = World(Surroundings(str(home), "you", os.geteuid(), {}, str(home), "/bin/bash"))
    wish = KernelWish(str(nvcc), "sm_89", ENVIRONMENT, ("0",))
    last = home / "kernel-begun" if compiler == COMPILES else home / "begun"
    put(home, "bin/result", f"#!/bin/sh\ntouch {home}/kernel-begun\n{result}\n", mode=0o755)
    done = check_kernel(world, wish, cancelled=last.exists)
    assert (done.verdict, done.passed) == (KernelVerdict.CANCELLED, False)
    assert words in ENGLISH(done.words)
