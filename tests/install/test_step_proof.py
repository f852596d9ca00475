"""Whether a step did what it should, asked of made-up interpreters and machines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.detect import nvml
from gpuassist.detect.nvml import NvmlReading
from gpuassist.install.step_proof import Holds, Proved, prove_step
from gpuassist.model.fact import NOT_ASKED, Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.plan import OPEN_MODULES, Proves, StepProof
from gpuassist.system.files import Files
from gpuassist.system.processes import Ending, ProcessResult
from tests.fakes import ScriptedProcesses, put
from tests.install.installs_made import session_at


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return session_at(tmp_path / "home")


def python(tmp_path: Path, torch: str) -> str:
    """An interpreter whose torch is this source."""
    put(tmp_path, "/site/torch/version.py", torch)
    put(tmp_path, "/site/torch/__init__.py", "print('a package that prints')\n")
    wrapper = f'#!/bin/sh\nPYTHONPATH={tmp_path}/site exec {sys.executable} "$@"\n'
    return str(put(tmp_path, "/python", wrapper, mode=0o755))


CUDA = "__version__ = '2.9.1+cu128'\ncuda = '12.8'\n"
CPU = "__version__ = '2.9.1+cpu'\ncuda = None\n"


def told(session: Session, proof: StepProof) -> tuple[Holds, str]:
    found: Proved = prove_step(session, proof)
    return found.holds, session.words(found.words)


@pytest.mark.parametrize(
    ("torch", "wanted", "holds"),
    [
        (CUDA, "2.9.1+cu128", Holds.YES),
        (CUDA, "2.9.1", Holds.YES),
        (CUDA, "", Holds.YES),
        (CUDA, "2.9.1+cu126", Holds.NO),
        (CPU, "2.9.1+cu128", Holds.NO),
        (CUDA, "2.9", Holds.NO),
        ("raise ImportError('libcudart.so.12 is missing')\n", "", Holds.NO),
    ],
)
def test_torch_is_imported(session: Session, tmp_path: Path, torch: str, wanted: str, holds: Holds) -> None:
    assert told(session, StepProof(Proves.TORCH, python(tmp_path, torch), wanted))[0] is holds


LAST_WORDS = "import atexit\n__version__ = '2.9.1'\natexit.register(print, {words})\n"


@pytest.mark.parametrize("words", ["5", "'null'", "'[1, 2, 3]'", "'goodbye'"])
def test_a_torch_that_prints_as_it_ends_is_not_proved(session: Session, tmp_path: Path, words: str) -> None:
    assert told(session, StepProof(Proves.TORCH, python(tmp_path, LAST_WORDS.format(words=words))))[0] is Holds.NO


def test_what_torch_said_is_told(session: Session, tmp_path: Path) -> None:
    place = python(tmp_path, CPU)
    assert told(session, StepProof(Proves.TORCH, place, "2.9.1+cu128"))[1] == f"{place} imports torch 2.9.1+cpu, not 2.9.1+cu128"
    place = python(tmp_path, "raise ImportError('libcudart.so.12 is missing')\n")
    assert "libcudart.so.12 is missing" in told(session, StepProof(Proves.TORCH, place))[1]


def test_no_interpreter_is_no(session: Session) -> None:
    assert told(session, StepProof(Proves.TORCH, "/no/python"))[0] is Holds.NO


@pytest.mark.parametrize(("wanted", "holds"), [("", Holds.YES), ("99.1", Holds.NO)])
def test_an_environment_answers(session: Session, tmp_path: Path, wanted: str, holds: Holds) -> None:
    (tmp_path / "e/bin").mkdir(parents=True)
    (tmp_path / "e/bin/python").symlink_to(sys.executable)
    assert told(session, StepProof(Proves.ENVIRONMENT, str(tmp_path / "e"), wanted))[0] is holds


def test_an_empty_directory_is_no_environment(session: Session, tmp_path: Path) -> None:
    assert told(session, StepProof(Proves.ENVIRONMENT, str(tmp_path)))[0] is Holds.NO


NVCC = "/cuda/bin/nvcc"
Answers = dict[str, str | ProcessResult | Callable[[], ProcessResult]]


def with_nvcc(session: Session, status: int = 0, said: str = "") -> Session:
    """A session whose nvcc 12.8 compiles, or ends with these words."""
    version = "Cuda compilation tools, release 12.8, V12.8.93\n"
    compiled = ProcessResult(Ending.EXITED, status, b"", said.encode(), 0.1)
    answers: Answers = {f"{NVCC} --version": version, f"{NVCC} -o kernel kernel.cu": compiled}
    return replace(session, world=replace(session.world, processes=ScriptedProcesses(answers)))


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [("12.8", Holds.YES), ("12.8.93", Holds.YES), ("12.9", Holds.NO), ("", Holds.YES), ("12.4+", Holds.YES), ("13.4+", Holds.NO)],
)
def test_nvcc_says_its_version(session: Session, wanted: str, holds: Holds) -> None:
    assert told(with_nvcc(session), StepProof(Proves.NVCC, NVCC, wanted))[0] is holds


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ("/usr/bin/ld: cannot find -lcudadevrt: No such file or directory\ncollect2: error: ld returned 1 exit status", Holds.NO),
        ("kernel.cu: fatal error: cuda_runtime.h: No such file or directory", Holds.NO),
        ("gcc: No such file or directory\nnvcc fatal   : Failed to preprocess host compiler properties.", Holds.UNKNOWN),
        ("host_config.h:180:2: error: #error -- unsupported GNU version! gcc versions later than 14", Holds.UNKNOWN),
        ("", Holds.NO),
    ],
)
def test_a_toolkit_is_proved_by_a_kernel_that_it_links(session: Session, said: str, holds: Holds) -> None:
    found, words = told(with_nvcc(session, 1, said), StepProof(Proves.NVCC, NVCC, "12.8"))
    assert found is holds
    assert "12.8.93" in words


def test_an_nvcc_of_condas_compiles_with_the_compiler_beside_it(session: Session, tmp_path: Path) -> None:
    prefix = str(tmp_path / "env")
    put(tmp_path, "/env/conda-meta/history", "")
    compiler = put(tmp_path, "/env/bin/x86_64-conda-linux-gnu-c++", "", mode=0o755)
    asked: list[dict[str, str]] = []

    class Recording(ScriptedProcesses):
        def run(self, command: Sequence[str], **around: Any) -> ProcessResult:
            asked.append(dict(around["environment"]))
            return super().run(command, **around)

    version = "Cuda compilation tools, release 12.8, V12.8.93\n"
    answers: Answers = {f"{prefix}/bin/nvcc --version": version, f"{prefix}/bin/nvcc -o kernel kernel.cu": ""}
    session = replace(session, world=replace(session.world, processes=Recording(answers)))
    assert told(session, StepProof(Proves.NVCC, f"{prefix}/bin/nvcc", "12.8"))[0] is Holds.YES
    assert asked[-1]["NVCC_PREPEND_FLAGS"] == f"-ccbin={compiler}"
    assert asked[-1]["PATH"].startswith(f"{prefix}/bin:")


def test_an_nvcc_that_does_not_answer_is_no(session: Session) -> None:
    assert told(session, StepProof(Proves.NVCC, "/no/nvcc", "12.8"))[0] is Holds.NO


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [("580", Holds.YES), ("580.95.05", Holds.YES), ("595", Holds.NO), ("", Holds.YES), ("570+", Holds.YES), ("595+", Holds.NO)],
)
def test_the_loaded_driver_counts(session: Session, tmp_path: Path, wanted: str, holds: Holds) -> None:
    root = tmp_path / "root"
    put(root, "/sys/module/nvidia/version", "580.95.05\n")
    put(root, "/sys/module/nvidia/initstate", "live\n")
    put(
        root,
        "/proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 10:11:16 UTC 2025\n",
    )
    put(root, "/proc/modules", "nvidia 1 0 - Live 0x0\n")
    world = replace(session.world, files=Files(str(root)))
    assert told(replace(session, world=world), StepProof(Proves.DRIVER, wanted=wanted))[0] is holds


@pytest.mark.parametrize(("words", "holds"), [("Kernel Module", Holds.NO), ("Open Kernel Module", Holds.YES)])
def test_flavour_of_the_loaded_driver_counts(session: Session, tmp_path: Path, words: str, holds: Holds) -> None:
    root = tmp_path / "root"
    put(root, "/sys/module/nvidia/version", "580.95.05\n")
    put(root, "/sys/module/nvidia/initstate", "live\n")
    put(
        root,
        "/proc/driver/nvidia/version",
        f"NVRM version: NVIDIA UNIX {words} for x86_64  580.95.05  Release Build  (archlinux-builder@)\n",
    )
    put(root, "/proc/modules", "nvidia 1 0 - Live 0x0\n")
    world = replace(session.world, files=Files(str(root)))
    assert told(replace(session, world=world), StepProof(Proves.DRIVER, OPEN_MODULES, "580+"))[0] is holds


def test_no_module_is_no(session: Session, tmp_path: Path) -> None:
    put(tmp_path / "root", "/proc/modules", "")
    world = replace(session.world, files=Files(str(tmp_path / "root")))
    assert told(replace(session, world=world), StepProof(Proves.DRIVER))[0] is not Holds.YES


def test_absent_is_absent(session: Session, tmp_path: Path) -> None:
    assert told(session, StepProof(Proves.ABSENT, str(tmp_path)))[0] is Holds.NO
    assert told(session, StepProof(Proves.ABSENT, str(tmp_path / "gone")))[0] is Holds.YES


def test_a_new_terminal_is_asked(session: Session) -> None:
    holds, _ = told(session, StepProof(Proves.NEW_TERMINAL, "/no/toolkit"))
    assert holds is not Holds.YES


@pytest.mark.parametrize(
    ("states", "holds"),
    [
        (("completed", "completed"), Holds.YES),
        (("completed", "in progress"), Holds.NO),
        (("completed", ""), Holds.UNKNOWN),
        ((), Holds.UNKNOWN),
    ],
)
def test_gpus_that_are_joined_are_proved(
    session: Session, monkeypatch: pytest.MonkeyPatch, states: tuple[str, ...], holds: Holds
) -> None:
    gpus = tuple(Gpu(fabric=Known(state, "NVML")) for state in states)
    unasked = NOT_ASKED
    reading = NvmlReading(unasked, unasked, unasked, unasked, Known(gpus, "NVML"))
    monkeypatch.setattr(nvml, "probe", lambda *_, **__: reading)
    assert told(session, StepProof(Proves.FABRIC))[0] is holds


def test_switches_that_nobody_can_be_asked_of_are_unknown(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    reading = NvmlReading(NOT_ASKED, NOT_ASKED, NOT_ASKED, NOT_ASKED, NOT_ASKED)
    monkeypatch.setattr(nvml, "probe", lambda *_, **__: reading)
    assert told(session, StepProof(Proves.FABRIC))[0] is Holds.UNKNOWN
