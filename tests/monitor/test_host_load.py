"""What programs do on the processor, by a /proc of our own."""

from __future__ import annotations

from pathlib import Path

from gpuassist.model.fact import Known, Unknown
from gpuassist.monitor.host_load import HostLoads
from gpuassist.system.files import Files
from gpuassist.system.process_names import TICKS_A_SECOND
from tests.fakes import put


def stat(root: Path, path: str, seconds: float, *, state: str = "S", started: int = 50) -> None:
    ticks = round(seconds * TICKS_A_SECOND)
    put(root, path, f"9 (a (b) c) {state} 1 7 7 0 -1 4194304 100 0 0 0 {ticks} 0 0 0 20 0 1 0 {started} 1000 10 0\n")


def program(root: Path, main: float, workers: dict[int, float], *, state: str = "S", started: int = 50) -> None:
    stat(root, "/proc/7/task/7/stat", main, started=started)
    put(root, "/proc/7/task/7/children", " ".join(map(str, workers)) + " ")
    for pid, seconds in workers.items():
        stat(root, f"/proc/{pid}/stat", seconds, state=state)


def test_the_main_thread_and_the_workers_are_told_between_two_looks(tmp_path: Path) -> None:
    loads = HostLoads(Files(str(tmp_path)))
    program(tmp_path, 10.0, {20: 4.0, 21: 5.0})
    first = loads.look([7], 100.0)[7]
    assert isinstance(first.main_thread_percent, Unknown)
    assert first.workers_percent == ()
    program(tmp_path, 11.0, {20: 6.0, 21: 5.5}, state="D")
    then = loads.look([7], 102.0)[7]
    assert then.main_thread_percent == Known(50.0, "/proc/PID/task/PID/stat")
    assert sorted(then.workers_percent) == [25.0, 100.0]
    assert then.waits_for_disk == 2


def test_workers_behind_a_server_that_forks_them_count(tmp_path: Path) -> None:
    loads, looked = HostLoads(Files(str(tmp_path))), {}
    for seconds, now in ((1.0, 10.0), (2.0, 11.0)):
        program(tmp_path, 0.0, {20: 0.0})
        put(tmp_path, "/proc/20/task/20/children", "30")
        stat(tmp_path, "/proc/30/stat", seconds)
        looked = loads.look([7], now)
    assert sorted(looked[7].workers_percent) == [0.0, 100.0]


def test_another_process_of_the_same_number_begins_anew(tmp_path: Path) -> None:
    loads = HostLoads(Files(str(tmp_path)))
    program(tmp_path, 10.0, {})
    loads.look([7], 100.0)
    program(tmp_path, 11.0, {}, started=99)
    assert isinstance(loads.look([7], 101.0)[7].main_thread_percent, Unknown)


def test_a_process_that_is_gone_or_unreadable_is_unknown(tmp_path: Path) -> None:
    put(tmp_path, "/proc/8/task/8/stat", b"8 (cut) S 1 \xff")
    found = HostLoads(Files(str(tmp_path))).look([7, 8], 1.0)
    assert all(isinstance(one.main_thread_percent, Unknown) for one in found.values())
