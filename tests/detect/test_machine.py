"""A whole machine from all probes, also where some of them crash or hang."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.detect import machine as detect_machine
from gpuassist.detect.machine import detect
from gpuassist.detect.runner import SectionProgress
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.machine import decode_machine, encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.system.files import Files
from gpuassist.system.processes import ProcessResult
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.detect.made_python import make_torch, make_venv
from tests.detect.made_toolkit import make_toolkit
from tests.fakes import ScriptedProcesses, put, world_under

KNOWLEDGE = Knowledge(Resources().read)


class Crashing(Files):
    """Files of a machine on which nothing can be listed: a fault that no probe expects."""

    def names(self, path: str) -> tuple[str, ...]:
        raise RuntimeError(f"cannot list {path}")


class Hanging(ScriptedProcesses):
    """Programs that never end, not even when their time is over."""

    def __init__(self, until: threading.Event) -> None:
        super().__init__()
        self._until = until

    def run(self, *_: Any, **__: Any) -> ProcessResult:
        self._until.wait(60)
        raise OSError("let go")


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """What hanging programs wait for; set at the end, so that their threads go."""
    event = threading.Event()
    yield event
    event.set()


def _why(fact: Fact[Any]) -> str:
    assert isinstance(fact, Unknown), fact
    return ENGLISH(fact.reason)


def _value(fact: Fact[Any]) -> Any:
    assert isinstance(fact, Known), fact
    return fact.value


def test_every_section_is_looked_at(tmp_path: Path) -> None:
    answers = make_toolkit(tmp_path, "/usr/local/cuda-12.4", "12.4.131")
    make_venv(tmp_path, "/home/you/.venv")
    make_torch(tmp_path, "/home/you/.venv/lib/python3.12/site-packages", "2.5.1+cpu")
    put(tmp_path, "/usr/bin/gcc-12", mode=0o755)
    put(tmp_path, "/etc/os-release", 'ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04 LTS"\n')
    found = detect(world_under(tmp_path, processes=ScriptedProcesses({**answers})), KNOWLEDGE)
    assert [toolkit.root for toolkit in _value(found.toolkits)] == ["/usr/local/cuda-12.4"]
    assert [environment.prefix for environment in _value(found.environments)] == ["/home/you/.venv"]
    assert [compiler.path for compiler in _value(found.compilers)] == ["/usr/bin/gcc-12"]
    assert _value(found.host.distribution).id == "ubuntu"
    assert found.taken_at == "2026-11-21T09:00:00.000+00:00"


def test_progress_counts_up_to_the_total(tmp_path: Path) -> None:
    told: list[SectionProgress] = []
    detect(world_under(tmp_path), KNOWLEDGE, told.append)
    assert [progress.done for progress in told] == list(range(1, told[0].total + 1))
    assert threading.current_thread() is threading.main_thread()


def test_empty_machine_is_a_snapshot_too(tmp_path: Path) -> None:
    found = detect(world_under(tmp_path), KNOWLEDGE)
    assert (_value(found.toolkits), _value(found.environments), _value(found.compilers)) == ((), (), ())
    assert "could not be asked" in _why(found.shell.new_terminal)


def test_snapshot_survives_json(tmp_path: Path) -> None:
    answers = make_toolkit(tmp_path, "/usr/local/cuda-12.4", "12.4.131", json="12.4.1")
    make_venv(tmp_path, "/home/you/.venv")
    document = encode_machine(detect(world_under(tmp_path, processes=ScriptedProcesses({**answers})), KNOWLEDGE), ENGLISH)
    assert encode_machine(decode_machine(document), ENGLISH) == document


def test_crashing_probes_become_unknown_sections(tmp_path: Path) -> None:
    found = detect(replace(world_under(tmp_path), files=Crashing(str(tmp_path))), KNOWLEDGE)
    assert "probe failed: RuntimeError: cannot list" in _why(found.environments)
    assert "probe failed: RuntimeError: cannot list" in _why(found.compilers)
    assert _value(found.shell.login_shell) == "/bin/bash"
    assert isinstance(found.toolkits, Known)
    assert "Python environments" not in found.toolkits.source


def test_hanging_programs_do_not_stop_the_rest(tmp_path: Path, never: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_NVML_SECONDS", "_TERMINAL_SECONDS"):  # what only reads files keeps its time, however busy the machine is
        monkeypatch.setattr(detect_machine, name, 0.3)
    make_venv(tmp_path, "/home/you/.venv")
    world = world_under(tmp_path, processes=Hanging(never))
    world = replace(world, surroundings=replace(world.surroundings, uid=os.geteuid()))  # whose home that is, or no shell is asked
    found = detect(world, KNOWLEDGE)
    assert "longer than" in _why(found.shell.new_terminal)
    assert "longer than" in _why(found.driver.nvml_status)
    assert [environment.prefix for environment in _value(found.environments)] == ["/home/you/.venv"]


def test_real_machine_is_detected_from_a_scratch_home(home: Path) -> None:
    put(home, ".bashrc", "export CUDA_HOME=/opt/cuda-of-bashrc\n")
    world = World(Surroundings(str(home), "you", os.geteuid(), {"PATH": "/usr/bin:/bin"}, str(home), "/bin/bash"))
    found = detect(world, KNOWLEDGE)
    assert _value(found.shell.new_terminal).variable("CUDA_HOME") == "/opt/cuda-of-bashrc"
    assert _value(found.host.architecture)
