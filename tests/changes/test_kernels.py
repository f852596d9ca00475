"""Which architectures a kernel is compiled for, and on which devices it is run."""

from __future__ import annotations

import os
from pathlib import Path

from gpuassist.changes.kernels import KernelProof, prove_kernels, told
from gpuassist.context import Session
from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Terminal, Variable
from gpuassist.model.text import Text
from gpuassist.model.version import ComputeCapability
from gpuassist.model.words import ENGLISH
from gpuassist.system.files import Files
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.fakes import put
from tests.values import knowledge

# Writes down what it was asked, and makes a program that writes down where it runs.
COMPILER = """#!/bin/sh
echo "$1 $CUDA_VISIBLE_DEVICES" >> "$(dirname "$0")/asked"
printf '#!/bin/sh\\necho $CUDA_VISIBLE_DEVICES >> %s/ran; echo 42\\n' "$(dirname "$0")" > kernel; chmod +x kernel
"""


class WithDriver(Files):
    """This machine as if a driver were loaded."""

    def exists(self, path: str) -> bool:
        return path == "/dev/nvidiactl" or super().exists(path)


def gpu(name: str, capability: str, uuid: str = "", index: int | None = None) -> Gpu:
    major, minor = capability.split(".")
    return Gpu(
        name=Known(name, "test"),
        compute_capability=Known(ComputeCapability(int(major), int(minor)), "test"),
        uuid=Known(uuid, "test") if uuid else NOT_ASKED,
        index=NOT_ASKED if index is None else Known(index, "test"),
    )


def prove(home: Path, *gpus: Gpu, files: Files | None = None, terminal: Fact[Terminal] = NOT_ASKED) -> tuple[KernelProof, ...]:
    nvcc = put(home, "nvcc", COMPILER, mode=0o755)
    world = World(Surroundings(str(home), "you", os.geteuid(), {}, str(home), "/bin/bash"), files or Files())
    session = Session(world, knowledge(), ENGLISH)
    return prove_kernels(session, Machine(gpus=Known(gpus, "test")), str(nvcc), terminal)


def asked(home: Path) -> list[str]:
    return (home / "asked").read_text().split("\n")[:-1]


def test_each_architecture_is_compiled_once(home: Path) -> None:
    proofs = prove(home, gpu("RTX 4090", "8.9"), gpu("RTX 4090", "8.9"), gpu("GTX 1080 Ti", "6.1"))
    assert asked(home) == ["-arch=sm_89 ", "-arch=sm_61 "]
    assert ENGLISH(told(proofs[0])) == "a kernel for sm_89 (RTX 4090): compiled; not run, because no driver is loaded"


def test_machine_without_gpu_compiles_for_what_nvcc_chooses(home: Path) -> None:
    (proof,) = prove(home)
    assert asked(home) == ["-o "]
    assert ENGLISH(told(proof)).startswith("a kernel for the architecture that nvcc chooses by itself: compiled")


def test_kernel_runs_on_each_gpu_of_its_architecture(home: Path) -> None:
    (proof,) = prove(home, gpu("RTX 4090", "8.9", "GPU-1"), gpu("RTX 4090", "8.9", index=1), files=WithDriver())
    assert (home / "ran").read_text().split() == ["GPU-1", "1"]
    assert ENGLISH(proof.check.words) == "compiled, run, and the result is right"


def test_gpu_that_nobody_numbers_is_cudas_first(home: Path) -> None:
    prove(home, gpu("RTX 4090", "8.9"), files=WithDriver())
    assert (home / "ran").read_text().split() == ["0"]


def test_new_terminals_settings_hold_but_hide_no_gpu(home: Path) -> None:
    held = Terminal("/bin/bash", (Variable("CUDA_VISIBLE_DEVICES", "7"), Variable("PATH", "/usr/bin:/bin")), ())
    prove(home, gpu("RTX 4090", "8.9"), terminal=Known(held, "bash -i"))
    assert asked(home) == ["-arch=sm_89 "]


def test_once_cancelled_nothing_more_is_begun(home: Path) -> None:
    nvcc = put(home, "nvcc", COMPILER, mode=0o755)
    world = World(Surroundings(str(home), "you", os.geteuid(), {}, str(home), "/bin/bash"))
    machine = Machine(gpus=Known((gpu("RTX 4090", "8.9"), gpu("GTX 1080 Ti", "6.1")), "test"))
    session = Session(world, knowledge(), ENGLISH)
    begun: list[Text] = []
    proofs = prove_kernels(session, machine, str(nvcc), NOT_ASKED, on_progress=begun.append, cancelled=lambda: bool(begun))
    assert len(begun) == 1
    assert len(proofs) == 1


def test_cancelled_before_the_first_proves_nothing(home: Path) -> None:
    world = World(Surroundings(str(home), "you", os.geteuid(), {}, str(home), "/bin/bash"))
    machine = Machine(gpus=Known((gpu("RTX 4090", "8.9"),), "test"))
    assert prove_kernels(Session(world, knowledge(), ENGLISH), machine, "/no/nvcc", NOT_ASKED, cancelled=lambda: True) == ()
