"""Samples with torch's figures in them, and why a process has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.sample import EventKind, GpuSample, ProcessSample, Sample, TorchMemory
from gpuassist.monitor.inside.gpuassist_memory import MARK, RUN
from gpuassist.monitor.ring_source import OLD_SECONDS, RingSource, _isolating
from gpuassist.system.process_names import NOT_VISIBLE
from tests.fakes import FixedClock, put, world_under
from tests.monitor.made_rings import FIGURES, MY_BASE, living, note, ring, state
from tests.monitor.made_sources import MadeSource
from tests.rows import for_each

PID, STARTED = 4242, 777
UUID = "GPU-4090aaaa-0000-4000-8000-000000000000"
IN_RUN = f"{RUN}=/run/x"


class Watched:
    """A GPU with one process on it."""

    def __init__(self, root: Path, *, uuid: str = UUID, user: Fact[str] | None = None) -> None:
        self._user, self._uuid, self.started = user or Known("you", "test"), uuid, 100.0
        world = world_under(root)
        assert isinstance(world.clock, FixedClock)
        self.clock = world.clock
        self.made = MadeSource(())
        self.source = RingSource(self.made, world)

    def read(self) -> Sample:
        self.clock.ticks += 1.0
        process = ProcessSample(PID, self._user, started=Known(self.started, "test"))
        self.made.gpus = ((GpuSample(3, Known(self._uuid, "test"), processes=Known((process,), "test")),),)
        return self.source.read()

    def torch(self) -> Fact[TorchMemory]:
        processes = self.read().gpus[0].processes
        assert isinstance(processes, Known)
        return processes.value[0].torch


@pytest.fixture(autouse=True)
def _base(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuassist.monitor.rings.inside.base_directories", lambda variables, uid: [MY_BASE])


def test_a_process_of_a_run_has_its_figures(tmp_path: Path) -> None:
    living(tmp_path, PID, STARTED, environment=IN_RUN)
    ring(tmp_path, PID, STARTED)
    assert Watched(tmp_path).torch() == Known(TorchMemory(*FIGURES), "torch.cuda.memory_stats")
    assert isinstance(Watched(tmp_path, uuid="MIG-" + UUID[4:]).torch(), Known)


def test_why_there_is_none_is_looked_up_again_for_another_process_of_that_number(tmp_path: Path) -> None:
    living(tmp_path, PID, STARTED, environment=IN_RUN)
    watched = Watched(tmp_path)
    first = watched.torch()
    living(tmp_path, PID, STARTED)
    watched.started += 0.01  # the clock was set a little
    assert watched.torch() == first
    watched.started += 5
    assert watched.torch() != first


def test_each_absence_has_a_reason_of_its_own(tmp_path: Path) -> None:
    told: list[Unknown] = []

    def ask(name: str, **how: object) -> None:
        fact = Watched(tmp_path / name, **how).torch()  # type: ignore[arg-type]
        assert isinstance(fact, Unknown), name
        told.append(fact)

    ask("hidden", user=NOT_VISIBLE)
    living(tmp_path / "plain", PID, STARTED)
    ask("plain")
    living(tmp_path / "torch", PID, STARTED)
    put(tmp_path / "torch", f"/proc/{PID}/maps", "7f00-7f01 r-xp 0 0:0 0 /site-packages/torch/lib/libc10.so\n")
    ask("torch")
    living(tmp_path / "isolated", PID, STARTED, environment=IN_RUN, command="/usr/bin/python3 -u -I train.py")
    ask("isolated")
    living(tmp_path / "before", PID, STARTED, environment=IN_RUN)
    ask("before")
    living(tmp_path / "other", PID, STARTED, environment=IN_RUN)
    ring(tmp_path / "other", PID, STARTED)
    ask("other", uuid="GPU-ffffaaaa-0000-4000-8000-000000000000")
    living(tmp_path / "failed", PID, STARTED, environment=IN_RUN)
    ring(tmp_path / "failed", PID, STARTED, said=state(trouble=b"KeyError: active_bytes"))
    ask("failed")
    living(tmp_path / "old", PID, STARTED, environment=IN_RUN)
    ring(tmp_path / "old", PID, STARTED, said=state(beat=100.0 - OLD_SECONDS))
    ask("old")
    assert len({fact.reason for fact in told}) == len(told)


def test_what_happened_is_told_once(tmp_path: Path) -> None:
    living(tmp_path, PID, STARTED, environment=IN_RUN)
    watched = Watched(tmp_path)
    ring(tmp_path, PID, STARTED, note(0, "CUDA out of memory.", at=95.0))
    first = watched.read()
    assert [(one.kind, one.monotonic, one.gpu, one.pid) for one in first.events] == [(EventKind.OUT_OF_MEMORY, 95.0, 3, PID)]
    blocks = (note(0, "CUDA out of memory."), note(1, "epoch 1", kind=MARK, at=96.0))
    place = ring(tmp_path, PID, STARTED, *blocks, said=state(notes=2, figures=(*FIGURES[:7], 2)))
    assert place.exists()
    second = watched.read()
    assert [(one.kind, one.gpu) for one in second.events] == [(EventKind.MARK, 3), (EventKind.RETRY, 3)]
    assert watched.read().events == ()


@for_each(
    "command, letter",
    [
        ("python -I x.py", "I"),
        ("/usr/bin/python3.11 -uES x.py", "E"),
        ("python -W ignore -S x.py", "S"),
        ("python -Wignore -X dev -BS x.py", "S"),
        ("python x.py -I", ""),
        ("python -m mod -E", ""),
        ("python -c pass -S", ""),
        ("python -u", ""),
        ("bash -I", ""),
    ],
)
def test_options_that_keep_the_run_out(command: str, letter: str) -> None:
    assert _isolating([word.encode() for word in command.split()]) == letter
