"""What happened between two samples, of boards whose every answer is decided here."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from gpuassist.model.fact import Known
from gpuassist.model.sample import EventKind, Sample
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.happenings import THROTTLE_LASTS_SECONDS
from gpuassist.monitor.readings import MISMATCH
from gpuassist.monitor.remote import Answer
from gpuassist.monitor.sources import MISMATCH_SECONDS, REOPEN_SECONDS, NvmlSource
from gpuassist.system.files import Files
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.fakes import FixedClock, link, put
from tests.monitor.made_answers import LOST, Answers, card, told

RESET = {"code": 16, "name": "NVML_ERROR_RESET_REQUIRED", "words": ""}
POWER_CAP, THERMAL, IDLE, SET_CLOCKS = 0x4, 0x20, 0x1, 0x2


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


def pass_time(clock: FixedClock, seconds: float) -> None:
    clock.ticks += seconds
    clock.moment += timedelta(seconds=seconds)


def samples(tmp_path: Path, clock: FixedClock, *answers: Answer, every: float = 1.0) -> list[Sample]:
    source = NvmlSource(World(Surroundings("/home/you", "you", 1000), Files(str(tmp_path)), clock=clock), Answers(answers))
    taken = []
    for _ in answers:
        taken.append(source.read())
        pass_time(clock, every)
    return taken


def happened(taken: list[Sample]) -> list[tuple[EventKind, int | None, str]]:
    return [(event.kind, event.gpu, event.code) for sample in taken for event in sample.events]


def process(root: Path, pid: int, started: int = 100) -> None:
    put(root, f"/proc/{pid}/stat", f"{pid} (python) S 1 7 7 0 -1 4194304 100 0 0 0 5 3 0 0 20 0 1 0 {started} 1000 10 0\n")
    put(root, f"/proc/{pid}/cmdline", b"python\0train.py\0")
    if not (root / f"proc/{pid}/fd").exists():
        link(root, f"/proc/{pid}/fd/3", "/dev/nvidia0")


def test_who_was_there_at_first_did_not_come_and_who_comes_and_goes_is_told(tmp_path: Path, clock: FixedClock) -> None:
    process(tmp_path, 7)
    process(tmp_path, 8)
    there, both = card(processes=[[7, 5, "compute"]]), card(processes=[[7, 5, "compute"], [8, 5, "compute"]])
    taken = samples(tmp_path, clock, told(there), told(both), told(card(processes=[[8, 5, "compute"]])))
    events = [event for sample in taken for event in sample.events]
    assert [(event.kind, event.pid) for event in events] == [(EventKind.STARTED, 8), (EventKind.EXITED, 7)]
    assert [ENGLISH(event.text) for event in events] == ["train.py starts", "train.py ends"]
    assert [event.monotonic for event in events] == [taken[1].monotonic, taken[2].monotonic]


def test_a_list_that_could_not_be_read_ends_nobody(tmp_path: Path, clock: FixedClock) -> None:
    there, unread = told(card(processes=[[7, 5, "compute"]])), told(card(processes={"silent": 4.0}))
    assert happened(samples(tmp_path, clock, there, unread, there)) == []


def test_a_number_that_is_given_to_another_process_is_two_events(tmp_path: Path, clock: FixedClock) -> None:
    process(tmp_path, 7)
    answers = Answers([told(card(processes=[[7, 5, "compute"]]))])
    source = NvmlSource(World(Surroundings("/home/you", "you", 1000), Files(str(tmp_path)), clock=clock), answers)
    source.read()
    process(tmp_path, 7, started=900)
    pass_time(clock, 1.0)
    assert [(event.kind, event.pid) for event in source.read().events] == [(EventKind.EXITED, 7), (EventKind.STARTED, 7)]


def test_a_lost_gpu_is_told_once_and_so_is_its_return(tmp_path: Path, clock: FixedClock) -> None:
    lost = {**card(1), "lost": LOST}
    whole, broken = told(card(), card(1)), told(card(), lost)
    assert happened(samples(tmp_path, clock, whole, broken, broken, whole)) == [(EventKind.LOST, 1, ""), (EventKind.BACK, 1, "")]


def test_a_gpu_that_had_to_be_reset_was(tmp_path: Path, clock: FixedClock) -> None:
    answers = (told(card()), told({**card(), "lost": RESET}), told(card()))
    assert happened(samples(tmp_path, clock, *answers)) == [(EventKind.LOST, 0, ""), (EventKind.RESET, 0, "")]


def test_gpus_keep_their_index_where_nvml_counts_anew(tmp_path: Path, clock: FixedClock) -> None:
    # After the one in the middle is lost and NVML was opened again, it counts the third as its second.
    third = {**card(2), "index": 1}
    taken = samples(tmp_path, clock, told(card(0), card(1), card(2)), told(card(0), third), told(card(0), card(1), card(2)))
    assert [[gpu.index for gpu in sample.gpus] for sample in taken] == [[0, 1, 2]] * 3
    assert [gpu.name.value for gpu in taken[1].gpus if isinstance(gpu.name, Known)] == ["GPU 0", "GPU 1", "GPU 2"]
    assert [isinstance(gpu.memory_used_bytes, Known) for gpu in taken[1].gpus] == [True, False, True]
    assert happened(taken) == [(EventKind.LOST, 1, ""), (EventKind.BACK, 1, "")]


def test_a_gpu_that_has_lost_its_name_is_the_one_that_was_there(tmp_path: Path, clock: FixedClock) -> None:
    nameless = {"index": 1, "name": LOST, "uuid": LOST, "lost": LOST}
    taken = samples(tmp_path, clock, told(card(0), card(1)), told(card(0), nameless))
    assert [gpu.index for gpu in taken[1].gpus] == [0, 1]


def test_xids_are_events_of_their_gpu(tmp_path: Path, clock: FixedClock) -> None:
    taken = samples(tmp_path, clock, told(card(0), card(1)), told(card(0), card(1), events=[[1, 79], [1, 154]]))
    assert happened(taken) == [(EventKind.XID, 1, "79"), (EventKind.XID, 1, "154")]


def test_clocks_that_are_held_back_begin_and_end_once(tmp_path: Path, clock: FixedClock) -> None:
    flapping = [told(card(reasons=POWER_CAP if second % 2 else IDLE | SET_CLOCKS)) for second in range(10)]
    rest = [told(card(reasons=0))] * round(THROTTLE_LASTS_SECONDS + 2)
    taken = samples(tmp_path, clock, *flapping, *rest)
    assert taken[0].events == ()
    assert happened(taken) == [(EventKind.THROTTLED, 0, "sw_power_cap"), (EventKind.THROTTLE_ENDED, 0, "sw_power_cap")]
    ended = next(event for sample in taken for event in sample.events if event.kind is EventKind.THROTTLE_ENDED)
    assert ended.monotonic == taken[9].monotonic  # when it was seen last, not when that was believed


def test_each_reason_is_told_for_itself(tmp_path: Path, clock: FixedClock) -> None:
    reasons = (IDLE, POWER_CAP, POWER_CAP | THERMAL)
    taken = samples(tmp_path, clock, *(told(card(reasons=one)) for one in reasons))
    assert [code for _, _, code in happened(taken)] == ["sw_power_cap", "sw_thermal_slowdown"]


def test_what_is_so_at_first_did_not_begin(tmp_path: Path, clock: FixedClock) -> None:
    lost = {**card(1), "lost": LOST}
    taken = samples(tmp_path, clock, *[told(card(reasons=POWER_CAP), lost)] * 2, told(card(reasons=POWER_CAP), card(1)))
    assert happened(taken) == [(EventKind.BACK, 1, "")]


def test_nvml_is_opened_anew_where_a_gpu_stays_lost(tmp_path: Path, clock: FixedClock) -> None:
    # NVML knows the GPUs that were there when it was opened: one that was reset since is found by another process alone.
    board = Answers([told(card(0), card(1)), told(card(0), {**card(1), "lost": LOST}), told(card(0))])
    source = NvmlSource(World(Surroundings("/home/you", "you", 1000), Files(str(tmp_path)), clock=clock), board)
    closed = []
    for _ in range(4):
        source.read()
        closed.append(board.closed)
        pass_time(clock, REOPEN_SECONDS)
    assert closed == [0, 1, 2, 3]


def test_a_clock_that_is_set_and_a_machine_that_slept_are_told(tmp_path: Path, clock: FixedClock) -> None:
    process(tmp_path, 7)
    answers = Answers([told(card(processes=[[7, 5, "compute"]]))])
    slept = SleepyClock()
    source = NvmlSource(World(Surroundings("/home/you", "you", 1000), Files(str(tmp_path)), clock=slept), answers)
    source.read()
    pass_time(slept, 1.0)
    slept.moment -= timedelta(hours=1)  # of a clock that was wrong, which moves the start of no process
    assert [(event.kind, event.code) for event in source.read().events] == [(EventKind.CLOCK_SET, "-3600")]
    slept.asleep += 600
    slept.moment += timedelta(seconds=600)
    pass_time(slept, 1.0)
    assert [(event.kind, event.code) for event in source.read().events] == [(EventKind.SUSPENDED, "600")]


class SleepyClock(FixedClock):
    """One whose machine can sleep."""

    asleep = 0.0

    def since_boot(self) -> float:
        return self.ticks + self.asleep


def test_a_library_that_is_too_old_for_the_driver_is_loaded_anew(tmp_path: Path, clock: FixedClock) -> None:
    refused = {"code": MISMATCH, "name": "NVML_ERROR_LIB_RM_VERSION_MISMATCH", "words": ""}
    board = Answers([{"refused": refused}])
    source = NvmlSource(World(Surroundings("/home/you", "you", 1000), Files(str(tmp_path)), clock=clock), board)
    for _ in range(3):
        assert source.read().trouble
    assert (board.closed, len(board.wanted)) == (1, 1)  # each try starts a process
    pass_time(clock, MISMATCH_SECONDS)
    board.answers = [told(card())]
    assert source.read().trouble == ()


def test_a_driver_that_is_loaded_anew_is_told_by_its_version(tmp_path: Path, clock: FixedClock) -> None:
    put(tmp_path, "/sys/module/nvidia/version", "570.86\n")
    source = NvmlSource(World(Surroundings("/home/you", "you", 1000), Files(str(tmp_path)), clock=clock), Answers([told(card())]))
    assert source.read().events == ()
    put(tmp_path, "/sys/module/nvidia/version", "580.95\n")
    assert [(event.kind, event.code) for event in source.read().events] == [(EventKind.DRIVER_RELOADED, "580.95")]
    assert source.read().events == ()


def test_a_gpu_that_does_not_answer_is_told_once(tmp_path: Path, clock: FixedClock) -> None:
    silent = told(card(0), card(1, memory={"silent": 3.0}, processes={"silent": 3.0}))
    answers = (told(card(0), card(1)), silent, silent, told(card(0), card(1)), silent, *[told(card(0), card(1))] * 10, silent)
    taken = samples(tmp_path, clock, *answers)
    assert happened(taken) == [(EventKind.SILENT, 1, "")] * 2  # not where it answers once in between
    assert [gpu.silent_seconds for gpu in taken[1].gpus] == [0.0, 3.0]


def test_a_driver_that_does_not_answer_at_all_is_told(tmp_path: Path, clock: FixedClock) -> None:
    answers = Answers([told(card())])
    source = NvmlSource(World(Surroundings("/home/you", "you", 1000), Files(str(tmp_path)), clock=clock), answers)
    source.read()
    answers.answers, answers.waited = [()], 4.0
    assert [(event.kind, event.gpu) for event in source.read().events] == [(EventKind.SILENT, None)]
