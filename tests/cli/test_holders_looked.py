"""`gpuassist holders` where the GPUs could not be asked: 3, and never that nobody holds them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpuassist.cli import holders
from gpuassist.context import Session
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from gpuassist.system.files import Files
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.cli.made_session import run_live
from tests.cli.runs import Run
from tests.fakes import link, put
from tests.machines import pci_gpu
from tests.nvml_fixture import FakeNvml
from tests.values import knowledge

NOBODY = "No GPU processes found.\n"


def told(root: Path, variables: dict[str, str], *arguments: str) -> Run:
    put(root, "/proc/1/comm", "init\n")
    (root / "sys/bus/pci/devices").mkdir(parents=True, exist_ok=True)
    world = World(Surroundings("/home/you", "you", os.geteuid(), variables), Files(str(root)))
    return run_live(holders, *arguments, session=Session(world, knowledge(), ENGLISH))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    pci_gpu(root)
    return root


@pytest.mark.parametrize("code", [9, 15, 18])
@pytest.mark.parametrize("function", ["nvmlInit*", "nvmlDeviceGetComputeRunningProcesses*"])
def test_gpu_that_could_not_be_asked_is_not_free(tree: Path, fake_nvml: FakeNvml, function: str, code: int) -> None:
    done = told(tree, fake_nvml(f"fault = {function} {code}\n[gpu]\n"))
    assert (done.exit, done.out) == (Exit.UNDETERMINED, "The GPU processes could not be read.\n")
    assert done.err


def test_driver_that_is_not_there_beside_a_gpu_is_not_known(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "libnvidia-ml.so.1").write_bytes(b"no library")
    assert told(tree, {"LD_LIBRARY_PATH": str(tmp_path)}, "--json").exit is Exit.UNDETERMINED


def test_library_that_crashes_is_not_known(tree: Path, fake_nvml: FakeNvml) -> None:
    assert told(tree, fake_nvml("fault = nvmlDeviceGetCount* 0 crash=11\n[gpu]\n")).exit is Exit.UNDETERMINED


def test_driver_that_is_asked_answers_for_all(tree: Path, fake_nvml: FakeNvml) -> None:
    assert told(tree, fake_nvml("[gpu]\n")) == Run(Exit.HEALTHY, NOBODY, told(tree, fake_nvml("[gpu]\n")).err)


def test_machine_without_a_gpu_and_without_a_driver_is_known(tmp_path: Path) -> None:
    (tmp_path / "libnvidia-ml.so.1").write_bytes(b"no library")
    assert told(tmp_path / "root", {"LD_LIBRARY_PATH": str(tmp_path)}).exit is Exit.HEALTHY


def test_gpu_that_sleeps_is_held_by_nobody(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    root = tmp_path / "root"
    pci_gpu(root, status="suspended")
    assert told(root, fake_nvml("[gpu]\n")).exit is Exit.HEALTHY
    assert fake_nvml.calls() == []


def test_process_that_was_found_does_not_hide_what_was_not(tree: Path, fake_nvml: FakeNvml) -> None:
    put(tree, "/proc/4242/cmdline", "python\0train.py\0")
    link(tree, "/proc/4242/fd/3", "/dev/nvidia0")
    done = told(tree, fake_nvml("fault = nvmlInit* 18\n[gpu]\n"))
    assert (done.exit, done.out.split()[0]) == (Exit.UNDETERMINED, "4242")


def test_memory_that_cannot_be_is_not_shown(tree: Path, fake_nvml: FakeNvml) -> None:
    done = told(tree, fake_nvml("[gpu]\nprocess = 77 c 17592186044415.5\n"))
    assert "77  GPU 0  GPU memory not known" in done.out
    assert "GiB" not in done.out
