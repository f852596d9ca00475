"""Who a process on a GPU is: `monitor`, the live page and `holders` say the same of every kind of process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.detect.gpu_holders import GpuHolder, Role
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.sample import ProcessSample
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.board import Board
from gpuassist.monitor.sources import NvmlSource
from gpuassist.session.holders import holding
from gpuassist.system.files import Files
from gpuassist.system.process_names import user_name
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.fakes import link, put
from tests.machines import pci_gpu
from tests.nvml_fixture import FakeNvml
from tests.values import knowledge

PID = 4242
ME = os.geteuid()
HOST, CONTAINER = "pid:[4026531836]", "pid:[4026532201]"
Make = Callable[[Path], None]


def running(root: Path) -> None:
    put(root, f"/proc/{PID}/stat", f"{PID} (python) S 1 " + "0 " * 17 + "5000 0\n")
    put(root, f"/proc/{PID}/cmdline", "python\0train.py\0")
    put(root, f"/proc/{PID}/cgroup", "0::/user.slice/session-3.scope\n")
    (root / f"proc/{PID}/fd").mkdir()


def with_gpu(root: Path) -> None:
    running(root)
    link(root, f"/proc/{PID}/fd/3", "/dev/pts/0")
    link(root, f"/proc/{PID}/fd/8", "/dev/nvidia-uvm")


def without_gpu(root: Path) -> None:
    running(root)
    link(root, f"/proc/{PID}/fd/3", "/dev/pts/0")


def under_wsl(root: Path) -> None:
    running(root)
    link(root, f"/proc/{PID}/fd/8", "/dev/dxg")


def left_over(root: Path) -> None:
    """A process that has ended and that nobody waited for has no files any more."""
    running(root)
    put(root, f"/proc/{PID}/stat", f"{PID} (python) Z 1 " + "0 " * 17 + "5000 0\n")
    put(root, f"/proc/{PID}/cmdline", "")


def gone(root: Path) -> None:
    put(root, "/proc/1/comm", "init\n")


def both(root: Path, load_nvml: Callable[..., FakeNvml], *, me: int, namespace: str) -> tuple[ProcessSample, GpuHolder]:
    """What the monitor says, and `holders`, of the one process that NVML names."""
    if namespace:
        link(root, "/proc/self/ns/pid", namespace)
    pci_gpu(root)
    fake = load_nvml(f"[gpu]\nprocess = {PID} c 512\n")
    world = World(Surroundings("/home/you", "you", me, {**os.environ, **fake.variables}), Files(str(root)))
    source = NvmlSource(world, Board())
    (gpu,) = source.read().gpus
    source.close()
    assert isinstance(gpu.processes, Known)
    (sampled,) = gpu.processes.value
    (held,) = holding(Session(replace(world), knowledge(), ENGLISH)).held
    return sampled, held


@pytest.mark.parametrize(
    ("make", "me", "namespace", "seen"),
    [
        pytest.param(with_gpu, ME, HOST, True, id="own, with a GPU open"),
        pytest.param(with_gpu, ME, CONTAINER, True, id="own in a container, with a GPU open"),
        pytest.param(under_wsl, ME, HOST, True, id="own under WSL"),
        pytest.param(without_gpu, ME, HOST, False, id="own without one"),
        pytest.param(without_gpu, ME, CONTAINER, False, id="own in a container, without one"),
        pytest.param(without_gpu, ME + 1, HOST, True, id="another user's on the host"),
        pytest.param(without_gpu, ME + 1, "", True, id="another user's, no namespaces"),
        pytest.param(without_gpu, ME + 1, CONTAINER, False, id="another user's in a container"),
        pytest.param(left_over, ME, HOST, False, id="ended, not cleared away"),
        pytest.param(gone, ME, HOST, False, id="ended"),
        pytest.param(gone, ME, CONTAINER, False, id="of another container"),
    ],
)
def test_everybody_says_the_same(
    tmp_path: Path, load_nvml: Callable[..., FakeNvml], make: Make, me: int, namespace: str, seen: bool
) -> None:
    make(tmp_path)
    put(tmp_path, "/etc/passwd", f"{user_name(ME)}:x:{ME}:100::/home/you:/bin/bash\n")
    sampled, held = both(tmp_path, load_nvml, me=me, namespace=namespace)
    assert (sampled.pid, held.holder.pid) == (PID, PID)
    assert isinstance(sampled.command, Known) is seen
    assert (held.role is not Role.INVISIBLE) is seen
    if isinstance(sampled.command, Known) and isinstance(sampled.user, Known):
        assert (sampled.command.value, sampled.user.value) == (held.holder.command, held.holder.user)
    else:
        assert isinstance(sampled.command, Unknown)
        assert isinstance(sampled.user, Unknown)
        assert ENGLISH(sampled.command.reason) == ENGLISH(sampled.user.reason) == ENGLISH(held.why)
        assert not held.may_stop
