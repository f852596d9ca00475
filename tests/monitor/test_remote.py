"""The board in a process of its own over libraries that misbehave: every one of them costs that process, and nothing else."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Thread
from typing import Any, cast

import pytest

from gpuassist.model.fact import Known, Unknown
from gpuassist.model.sample import Sample
from gpuassist.model.words import ENGLISH
from gpuassist.monitor import remote
from gpuassist.monitor.remote import Answer, RemoteBoard
from gpuassist.monitor.sources import NvmlSource
from gpuassist.monitor.start import HIDDEN_ARGUMENT, start
from gpuassist.system.files import Files
from gpuassist.system.piped_child import start_piped
from gpuassist.system.streams import Ended
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.worker import Worker
from gpuassist.system.world import World
from tests.fakes import FixedClock
from tests.machines import pci_gpu
from tests.nvml_fixture import FakeNvml

Board = Callable[[str], RemoteBoard]


class Begun:
    """Starts children as ever, and remembers them."""

    def __init__(self) -> None:
        self.workers: list[Worker] = []

    def __call__(self, variables: Mapping[str, str]) -> Worker:
        self.workers.append(Worker(start(variables)))
        return self.workers[-1]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def begun() -> Begun:
    return Begun()


@pytest.fixture
def board(fake_nvml: FakeNvml, clock: FixedClock, begun: Begun) -> Iterator[Board]:
    made: list[RemoteBoard] = []

    def make(scenario: str) -> RemoteBoard:
        made.append(RemoteBoard(clock, {**os.environ, **fake_nvml(scenario)}, begun))
        return made[-1]

    yield make
    for one in made:
        one.close()
    assert not [worker.pid for worker in begun.workers if worker.is_there]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that hangs is not waited for in a test."""
    for name in ("FIRST_ANSWER_SECONDS", "ANSWER_SECONDS", "STILL_NONE_SECONDS"):
        monkeypatch.setattr(remote, name, 0.2)


def trouble(answer: Answer) -> str:
    assert isinstance(answer, tuple)
    return "; ".join(map(ENGLISH, answer))


def gpus(answer: Answer) -> list[Any]:
    assert not isinstance(answer, tuple)
    found = answer["gpus"]
    assert isinstance(found, list)
    return found


def test_it_answers_from_one_process_for_all_readings(board: Board, begun: Begun, fake_nvml: FakeNvml) -> None:
    one = board("[gpu]\nname = A\n[gpu]\nname = B\n")
    assert [gpu["name"] for gpu in gpus(one.read(None))] == ["A", "B"]
    one.read(None)
    assert os.getpid() not in {call.thread for call in fake_nvml.calls()}
    assert len(begun.workers) == 1


def test_those_with_these_addresses_alone_are_asked(board: Board, fake_nvml: FakeNvml) -> None:
    one = board("[gpu]\nname = A\n[gpu]\nname = B\n")
    assert [(gpu["index"], gpu["name"]) for gpu in gpus(one.read([(1, "0000:02:00.0")]))] == [(1, "B")]
    assert not [call for call in fake_nvml.calls() if call.gpu == 0]


def test_closing_shuts_nvml_down_and_leaves_no_process(board: Board, begun: Begun, fake_nvml: FakeNvml) -> None:
    one = board("[gpu]\n")
    one.read(None)
    one.close()
    assert fake_nvml.calls()[-1].function == "nvmlShutdown"
    assert not begun.workers[0].is_there
    assert gpus(one.read(None))  # and it begins anew


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS])
@pytest.mark.parametrize("function", ["nvmlInit*", "nvmlDeviceGetPowerUsage"])
def test_a_crash_of_the_library_is_told_by_its_signal(board: Board, function: str, number: signal.Signals) -> None:
    words = trouble(board(f"fault = {function} 0 crash={int(number)}\n[gpu]\n").read(None))
    assert f"crashed ({number.name})" in words
    assert "It is asked again in 1 s" in words


def test_a_library_that_is_cut_off_is_a_crash(board: Board, fake_nvml: FakeNvml, tmp_path: Path) -> None:
    one = board("[gpu]\n")
    library = tmp_path / "fake_nvml/library/libnvidia-ml.so.1"
    whole = library.resolve()
    library.unlink()
    shutil.copy(whole, library)
    os.truncate(library, 3000)
    assert "crashed (SIGBUS)" in trouble(one.read(None))


def test_after_a_crash_it_is_asked_again_when_it_is_time(
    board: Board, clock: FixedClock, begun: Begun, fake_nvml: FakeNvml
) -> None:
    one = board("fault = nvmlInit* 0 crash=11\n[gpu]\n")
    one.read(None)
    fake_nvml("[gpu]\n")
    assert "crashed" in trouble(one.read(None))
    assert len(begun.workers) == 1
    clock.ticks += 1.0
    assert gpus(one.read(None))


def test_a_library_that_always_crashes_is_left_alone(board: Board, clock: FixedClock, begun: Begun) -> None:
    one = board("fault = nvmlInit* 0 crash=11\n[gpu]\n")
    answer: Answer = ()
    for _ in range(3 * remote.CRASHES_AT_MOST):
        answer = one.read(None)
        clock.ticks += remote.LONGEST_PAUSE_SECONDS
    assert len(begun.workers) == remote.CRASHES_AT_MOST
    assert "not asked again" in trouble(answer)


def test_a_crash_after_a_long_sound_time_begins_the_count_anew(board: Board, clock: FixedClock) -> None:
    one = board("[gpu]\nfault = nvmlDeviceGetMemoryInfo* 0 crash=11 after=1\n")
    for _ in range(2 * remote.CRASHES_AT_MOST):
        assert gpus(one.read(None))
        clock.ticks += 100.0
        assert "It is asked again in 1 s" in trouble(one.read(None))
        clock.ticks += 1.0


def test_a_process_that_somebody_kills_is_no_crash(board: Board, begun: Begun) -> None:
    one = board("[gpu]\n")
    one.read(None)
    os.kill(begun.workers[0].pid, signal.SIGKILL)
    assert "ended from outside (SIGKILL)" in trouble(one.read(None))


def test_a_driver_that_hangs_is_waited_for_and_told(board: Board, clock: FixedClock, begun: Begun, impatient: None) -> None:
    one = board("fault = nvmlInit* 0 hangs=1\n[gpu]\n")
    assert "not answered for 0 s" in trouble(one.read(None))
    clock.ticks += 30.0
    assert "not answered for 30 s" in trouble(one.read(None))
    assert len(begun.workers) == 1


def test_one_that_hangs_for_long_is_replaced(
    board: Board, clock: FixedClock, begun: Begun, impatient: None, fake_nvml: FakeNvml
) -> None:
    one = board("fault = nvmlInit* 0 hangs=1\n[gpu]\n")
    one.read(None)
    clock.ticks += remote.HUNG_SECONDS
    assert "was ended; it is asked again in 1 s" in trouble(one.read(None))
    assert not begun.workers[0].is_there
    fake_nvml("[gpu]\n")
    assert "was ended" in trouble(one.read(None))
    clock.ticks += 1.0
    answer = one.read(None)
    while isinstance(answer, tuple):  # a busy machine takes longer than the patience of this test
        answer = one.read(None)
    assert gpus(answer)


def test_one_of_whose_gpus_none_answers_for_long_is_replaced(clock: FixedClock) -> None:
    silent, answered = {"memory": {"silent": remote.HUNG_SECONDS}}, {"memory": [3, 1, 2]}
    workers = [
        ScriptedWorker({"gpus": [silent, answered]}, {"gpus": [silent, {**answered, "parent": 0}]}),
        ScriptedWorker({"gpus": [answered]}),
    ]
    one = RemoteBoard(clock, {}, lambda _: cast(Worker, workers.pop(0)))
    assert len(gpus(one.read(None))) == 2  # one of them is enough
    assert f"not answered for {remote.HUNG_SECONDS:.0f} s" in trouble(one.read(None))
    clock.ticks += 1.0
    assert gpus(one.read(None)) == [answered]


class ScriptedWorker:
    """Answers one request after the other."""

    def __init__(self, *answers: object) -> None:
        self._answers = list(answers)

    def send(self, _document: object) -> bool:
        return True

    def receive(self, _seconds: float) -> object:
        return self._answers.pop(0)

    def end(self, *, patience: float = 0.0) -> Ended:
        return Ended(0, "", "", ended_by_us=not patience)


def test_an_answer_that_comes_late_is_taken(board: Board, impatient: None) -> None:
    one = board("fault = nvmlInit* 0 delay=700\n[gpu]\n")
    answers = [one.read(None)]
    assert "not answered" in trouble(answers[0])
    while isinstance(answers[-1], tuple):
        answers.append(one.read(None))
    assert len(gpus(answers[-1])) == 1


def test_whoever_waits_can_be_interrupted(board: Board, begun: Begun, fake_nvml: FakeNvml) -> None:
    one = board("fault = nvmlInit* 0 hangs=1\n[gpu]\n")
    answers: list[Answer] = []
    reading = Thread(target=lambda: answers.append(one.read(None)))
    reading.start()
    while not any(call.function.startswith("nvmlInit") for call in fake_nvml.calls()) and reading.is_alive():
        os.sched_yield()
    began = time.monotonic()
    one.interrupt()
    reading.join(20)
    assert time.monotonic() - began < remote.FIRST_ANSWER_SECONDS / 2
    assert answers


def test_a_program_that_cannot_be_started_is_told(clock: FixedClock) -> None:
    def fail(_variables: Mapping[str, str]) -> Worker:
        raise OSError(11, "Resource temporarily unavailable")

    assert "could not be started" in trouble(RemoteBoard(clock, {}, fail).read(None))


def test_processes_that_cannot_be_ended_are_not_heaped_up(
    board: Board, clock: FixedClock, begun: Begun, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer: Answer = ()
    # What no test can make is a process in uninterruptible sleep: here it is one that is not told to end.
    with monkeypatch.context() as patched:
        patched.setattr(Worker, "end", lambda self, *, patience=0.0: None)
        one = board("fault = nvmlInit* 0 hangs=1\n[gpu]\n")
        for _ in range(4 * remote.STUCK_AT_MOST):
            answer = one.read(None)
            clock.ticks += remote.HUNG_SECONDS
    assert len(begun.workers) == remote.STUCK_AT_MOST
    assert f"{remote.STUCK_AT_MOST} processes wait inside NVIDIA's driver" in trouble(answer)
    for worker in begun.workers:
        worker.end()


ABSURD = {
    "memory_bytes = 18446744073709551615": "18446744073709551615 bytes of memory",
    "memory = 0": "0 bytes of memory",
    "used_bytes = 18446744073709551615": "18446744073709551615 of this GPU's 25757220864 bytes",
    "memory = 1000\nused = 1001": "of this GPU's 1048576000 bytes",
    "utilization = 4294967295": "4294967295 %",
    "utilization = 101": "101 %",
    "temperature = 999": "999 °C",
    "temperature = 4294967295": "4294967295 °C",
    "power = 4294967": "4294967.0 W",
    "process = 4294967295 c 5": "the number 4294967295",
    "process = 7 c 17592186044415.5": "18446744073709027328 bytes of GPU memory",
    "process = 7 c 24565": "25758269440 bytes of GPU memory",
    "fault = nvmlDeviceGetComputeRunningProcesses* 7 count=0": "0 entries",
    "fault = nvmlDeviceGetComputeRunningProcesses* 7 count=4294967295": "4294967295 entries",
    "fault = nvmlDeviceGetComputeRunningProcesses* 0 count=4294967295": "4294967295 entries",
}


def sampled(tmp_path: Path, variables: Mapping[str, str]) -> Sample:
    source = NvmlSource(World(Surroundings("/home/you", "you", 1000, {**os.environ, **variables}), Files(str(tmp_path))))
    try:
        return source.read()
    finally:
        source.close()


def test_no_answer_that_cannot_be_is_shown(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    sample = sampled(tmp_path, fake_nvml("".join(f"[gpu]\n{line}\n" for line in ABSURD)))
    for (line, words), gpu in zip(ABSURD.items(), sample.gpus, strict=True):
        facts = [getattr(gpu, name) for name in type(gpu).__struct_fields__ if name != "index"]
        inner = [process.memory_used_bytes for process in gpu.processes.value] if isinstance(gpu.processes, Known) else []
        reasons = [ENGLISH(fact.reason) for fact in (*facts, *inner) if isinstance(fact, Unknown) and fact.asked]
        assert any(f"{words}" in one and one.endswith("which cannot be") for one in reasons), (line, reasons)
        assert isinstance(gpu.name, Known)


@pytest.mark.parametrize("count", [129, 100_000, 4_294_967_295])
def test_absurd_counts_of_devices_are_told_at_once(tmp_path: Path, fake_nvml: FakeNvml, count: int) -> None:
    sample = sampled(tmp_path, fake_nvml(f"count = {count}\n[gpu]\n"))
    assert [ENGLISH(one) for one in sample.trouble] == [f"NVML says that there are {count} GPUs, which cannot be"]


def test_gpus_that_all_sleep_start_no_process(tmp_path: Path, fake_nvml: FakeNvml, begun: Begun, clock: FixedClock) -> None:
    pci_gpu(tmp_path, status="suspended")
    world = World(Surroundings("/home/you", "you", 1000, fake_nvml("[gpu]\n")), Files(str(tmp_path)), clock=clock)
    source = NvmlSource(world, RemoteBoard(clock, world.surroundings.variables, begun))
    assert len(source.read().gpus) == 1
    assert begun.workers == []


def test_the_program_itself_can_be_that_process(fake_nvml: FakeNvml) -> None:
    words = (sys.executable, "-m", "gpuassist", HIDDEN_ARGUMENT, str(os.getpid()))
    worker = Worker(start_piped(words, {**os.environ, **fake_nvml("[gpu]\n")}))
    assert worker.send({"addresses": None})
    answer = worker.receive(30)
    assert len(answer["gpus"]) == 1
    assert worker.end(patience=20) is not None
