"""What a text is, said, and held against the machine that it may be of."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.model.fact import Known
from gpuassist.model.finding import Severity
from gpuassist.model.gpu import GpuProcess, Holder
from gpuassist.model.machine import Machine
from gpuassist.model.memory_picture import PartKind, PictureOf
from gpuassist.session.explain import explain
from tests.rows import for_each
from tests.values import RTX_4090, machine

TABLE = (
    "| Processes: |\n|    0   N/A  N/A     20713      C   python         8123MiB |\n"
    "|    0   N/A  N/A     777      C   python         100MiB |"
)
PS = "  PID USER  CMD\n20713 alice python train.py\n1 root /sbin/init"


@pytest.fixture(scope="module")
def session() -> Session:
    return compose("en")


def held() -> Machine:
    """A machine on whose GPU one program of somebody is."""
    made = machine(gpus=(RTX_4090,))
    assert isinstance(made.gpus, Known)
    running = Known((GpuProcess(20713, "compute", Known(8123 << 20, "nvml")),), "nvml")
    gpus = tuple(replace(gpu, processes=running, index=Known(0, "nvml"), minor=Known(0, "nvml")) for gpu in made.gpus.value)
    program = Holder(
        20713, "alice", "python train.py --epochs 3", ("/dev/nvidia0",), uid=Known(4321, "/proc"), state=Known("S", "/proc")
    )
    return replace(made, gpus=Known(gpus, made.gpus.source), holders=Known((program,), "/proc/*/fd"))


def said(session: Session, words: str, live: Machine | None = None) -> str:
    found = explain(session, words, live, recorded=True)
    lines = [session.words(line) for one in found.accounts for line in (one.title, *one.lines)]
    return "\n".join([session.words(found.title), *lines])


def test_list_is_told_with_gpu_and_memory(session: Session) -> None:
    told = said(session, TABLE)
    assert "2 processes on GPU 0" in told
    assert "20713" in told
    assert "7.93 GiB" in told


def test_list_is_held_against_the_machine(session: Session) -> None:
    told = said(session, TABLE, held()).split("\n")
    (there,) = (line for line in told if "20713" in line)
    (gone,) = (line for line in told if "777" in line)
    assert "python train.py --epochs 3" in there
    assert "alice" in there
    assert "not using a GPU" in gone


def test_of_all_processes_those_on_the_gpu_are_told(session: Session) -> None:
    told = said(session, PS, held())
    assert "20713" in told
    assert "/sbin/init" not in told


def test_number_that_is_another_process_now_is_told(session: Session) -> None:
    told = said(session, TABLE.replace("python", "blender"), held())
    assert "another process" in told


def test_loaded_module_names_what_holds_it_here(session: Session) -> None:
    words = "An NVIDIA kernel module 'nvidia-drm' appears to already be loaded in your kernel."
    (answer, *_) = explain(session, words, held(), recorded=True).answers
    assert answer.id == "module-already-loaded"
    assert any("20713" in session.words(one.value) for one in answer.evidence)
    alone = explain(session, words).answers[0]
    assert not any("20713" in session.words(one.value) for one in alone.evidence)


@for_each(
    "words, named",
    (
        ("SecureBoot enabled", "Secure Boot"),
        ("nvidia/550.54.14, 6.5.0-41-generic, x86_64: installed", "550.54.14"),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024", "550.54.14"),
        ("CUDA_HOME=/usr/local/cuda-12.4\nCUDA_VISIBLE_DEVICES=0,1", "CUDA_VISIBLE_DEVICES=0,1"),
        ("/usr/local/cuda-11.8 - priority 118\n/usr/local/cuda-12.4 - priority 124", "12.4"),
        ("# gpu  sm  mem\n# Idx  %  %\n    0  98  44", "98 %"),
        ("\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X", "4 NVLinks"),
        ("\tlibcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1", "/lib/x86_64-linux-gnu/libcuda.so.1"),
        ("● nvidia-persistenced.service - x\n     Active: active (running) since", "active (running)"),
        ("True\n8", "8 GPUs"),
        ("(1073741824, 25757220864)", "23.99 GiB"),
    ),
)
def test_what_was_read_is_said(words: str, named: str) -> None:
    own = compose("en")
    found = explain(own, words)
    assert found.known
    assert named in said(own, words)
    assert not any(answer.severity is not Severity.INFO for answer in found.answers)
    assert "no problem" not in own.words(found.title)


def test_a_failure_beside_a_list_is_not_passed_over(session: Session) -> None:
    assert not explain(session, f"{TABLE}\nmyprogram: fatal: something unheard of").known


@for_each("words", ("2.0.1+cu117\nNo CUDA", "('2.1.0', '12.1', False)", "2.4.1+cu121 False"))
def test_build_for_cuda_without_a_gpu_leads_to_the_driver(words: str) -> None:
    assert explain(compose("en"), words).answers[0].id == "no-driver"


def test_workspace_is_a_part_of_its_own(session: Session) -> None:
    found = explain(session, "torch.cuda.memory_allocated()\n8519680\ntorch.cuda.memory_reserved()\n20971520")
    assert found.answers[0].id == "cublas-workspace"
    assert found.memory is not None
    assert found.memory.of is PictureOf.RESERVED
    assert [(part.kind, part.size_bytes) for part in found.memory.parts] == [
        (PartKind.WORKSPACE, 8519680),
        (PartKind.CACHED, 20971520 - 8519680),
    ]


@for_each(
    "words, problem",
    (
        ("after del model and empty_cache() 8.12 MB of GPU memory never go away, a leak?", "cublas-workspace"),
        ("AssertionError: (8519680, 0) bytes of cuda memory", "cublas-workspace"),
        ("GPU memory leaks: it grows by 200 MB every epoch until it runs out of memory", "oom-graph-retained"),
        ("Downloading torchaudio.whl (8.12 MB)\n3 remaining", ""),
    ),
)
def test_workspace_is_never_called_a_leak(words: str, problem: str) -> None:
    found = explain(compose("en"), words)
    assert [answer.id for answer in found.answers] == ([problem] if problem else [])
