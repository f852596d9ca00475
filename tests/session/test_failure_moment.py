"""The moment of an out-of-memory, from the samples around it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.formats.oom import OutOfMemory, ProcessUse, message_of, principal
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.memory_picture import PartKind
from gpuassist.model.sample import Event, EventKind, GpuSample, ProcessKind, ProcessSample, Sample, TorchMemory
from gpuassist.model.text import text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.growth import NOTHING, Growth, Shape
from gpuassist.monitor.ring_source import SNAPSHOT, snapshot_words
from gpuassist.session.explain import explain
from gpuassist.session.failure_moment import FailureMoment, FailureMoments, Witness, explained
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.memory_messages import FULL, TORCH_2_5
from tests.rows import for_each
from tests.values import knowledge

MIB, GIB = 1 << 20, 1 << 30
TOTAL = 24 * GIB
UntilNow = Callable[[int, int], tuple[Growth, int]]


def nothing(_gpu: int, _pid: int) -> tuple[Growth, int]:
    return NOTHING, 0


@pytest.fixture
def session() -> Session:
    return Session(World(Surroundings("/home/you", "you", 1000)), knowledge(), ENGLISH)


def process(
    pid: int,
    used: int,
    command: str = "python train.py",
    *,
    torch: TorchMemory | None = None,
    kind: ProcessKind = ProcessKind.COMPUTE,
) -> ProcessSample:
    silent = Unknown(text("not told"))
    return ProcessSample(
        pid,
        command=Known(command, "made"),
        memory_used_bytes=Known(used, "made"),
        kind=Known(kind, "made"),
        torch=Known(torch, "made") if torch is not None else silent,
    )


def torch(allocated: int, reserved: int, ooms: int = 0) -> TorchMemory:
    return TorchMemory(allocated, allocated, reserved, reserved, allocated, 0, ooms)


def sample(time: float, *processes: ProcessSample, used: int | None = None, events: tuple[Event, ...] = ()) -> Sample:
    taken = (
        sum(one.memory_used_bytes.value for one in processes if isinstance(one.memory_used_bytes, Known)) if used is None else used
    )
    card = GpuSample(
        0,
        memory_total_bytes=Known(TOTAL, "made"),
        memory_used_bytes=Known(taken, "made"),
        memory_free_bytes=Known(TOTAL - taken, "made"),
        processes=Known(processes, "made"),
    )
    return Sample(1e9 + time, time, (card,), events=events)


def failed(time: float, words: str, pid: int = 7) -> Event:
    return Event(time, EventKind.OUT_OF_MEMORY, verbatim(words), 0, pid, "torch.cuda.memory_stats")


def exited(time: float, pid: int = 7) -> Event:
    return Event(time, EventKind.EXITED, verbatim("ends"), 0, pid)


def moments(*samples: Sample, until_now: UntilNow = nothing) -> tuple[list[FailureMoment], list[Event]]:
    kept = FailureMoments()
    events: list[Event] = []
    for one in samples:
        events += kept.look(one, until_now)
    return list(kept.all), events


def parts(moment: FailureMoment) -> dict[PartKind, int]:
    assert moment.picture is not None
    found = {part.kind: part.size_bytes for part in moment.picture.parts}
    assert sum(part.size_bytes for part in moment.picture.parts) == moment.picture.total_bytes
    return found


DESKTOP = (
    process(2, 300 * MIB, "/usr/lib/xorg/Xorg :0", kind=ProcessKind.GRAPHICS),
    process(3, 500 * MIB, "/usr/bin/gnome-shell", kind=ProcessKind.GRAPHICS),
    process(4, 700 * MIB, "/usr/lib/firefox/firefox", kind=ProcessKind.GRAPHICS),
)
WORDS = message_of(
    OutOfMemory(device=0, requested=2 * GIB, total=TOTAL, free=GIB, allocated=20 * GIB, unallocated=GIB, own=int(21.5 * GIB))
)


def test_torchs_message_is_a_moment_with_who_else_held_memory() -> None:
    before = sample(10, process(7, 21 * GIB), *DESKTOP)
    (moment,), events = moments(before, sample(11, *DESKTOP, events=(failed(10.6, WORDS),)))
    assert events == []  # it is told already
    assert (moment.witness, moment.gpu, moment.pid, moment.command) == (Witness.MESSAGE, 0, 7, "python train.py")
    assert moment.monotonic == 10.6
    assert moment.time == pytest.approx(1e9 + 10.6)
    assert moment.desktop_bytes == 1500 * MIB
    found = parts(moment)
    assert found[PartKind.ALLOCATED] == 20 * GIB
    assert found[PartKind.UNUSED] == GIB
    assert found[PartKind.DESKTOP] == 1500 * MIB
    assert moment.picture is not None
    assert next(one.name for one in moment.picture.parts if one.kind is PartKind.DESKTOP) == "Xorg, gnome-shell, firefox"


def test_a_snapshot_belongs_to_the_error_of_its_program() -> None:
    full = sample(2.0, process(7, 22 * GIB), events=(failed(1.9, WORDS),))
    kept = Event(2.5, EventKind.MARK, snapshot_words("/kept/oom.pickle"), 0, 7, SNAPSHOT)
    others = Event(2.5, EventKind.MARK, snapshot_words("/kept/other.pickle"), 0, 8, SNAPSHOT)
    missed = Event(2.6, EventKind.MARK, snapshot_words("OSError: no space"), 0, 7, SNAPSHOT)
    found, _ = moments(full, sample(3.0, process(7, 22 * GIB), events=(kept, others, missed)))
    assert [moment.snapshot for moment in found] == ["/kept/oom.pickle"]


def test_cublas_has_a_part_of_its_own() -> None:
    (moment,), _ = moments(
        sample(10, process(7, 21 * GIB)),
        sample(11, events=(failed(10.6, WORDS),)),
        until_now=lambda _gpu, _pid: (NOTHING, 8_519_680),
    )
    found = parts(moment)
    assert found[PartKind.WORKSPACE] == 8_519_680
    assert found[PartKind.ALLOCATED] == 20 * GIB - 8_519_680


def test_torchs_counter_is_a_moment_with_the_figures_of_the_sample_before() -> None:
    full = process(7, 22 * GIB, torch=torch(20 * GIB, 21 * GIB))
    after = process(7, 4 * GIB, torch=torch(3 * GIB, 3 * GIB, ooms=1))
    (moment,), (event,) = moments(sample(10, full), sample(11, after), sample(12, after))
    assert (event.kind, event.gpu, event.pid, event.code) == (EventKind.OUT_OF_MEMORY, 0, 7, "counter")
    assert moment.witness is Witness.COUNTER
    assert parts(moment)[PartKind.ALLOCATED] == 20 * GIB
    assert principal(moment.message) is not None


def test_an_error_its_counter_and_the_end_are_one_moment() -> None:
    full = process(7, 23 * GIB, torch=torch(20 * GIB, 21 * GIB))
    counted = process(7, 23 * GIB, torch=torch(20 * GIB, 21 * GIB, ooms=1))
    found, events = moments(sample(10, full), sample(11, counted, events=(failed(10.5, WORDS),)), sample(12, events=(exited(12),)))
    assert len(found) == 1
    assert events == []


@for_each(
    ("name", "series", "told"),
    [
        ("it filled the card", (12, 16, 20, 23.9), True),
        ("it had all of it from the start", (23.9, 23.9, 23.9, 23.9), False),
        ("the card was not full", (12, 14, 16, 18), False),
        ("it shrank", (23.9, 23.9, 20, 14), False),
    ],
)
def test_a_program_that_ends_on_a_card_that_it_filled_may_have_run_out(name: str, series: tuple[float, ...], told: bool) -> None:
    seen = [sample(float(time), process(7, int(used * GIB))) for time, used in enumerate(series)]
    found, events = moments(*seen, sample(5.0, events=(exited(5.0),)))
    assert bool(found) is bool(events) is told
    assert all(not one.certain and one.witness is Witness.ENDED for one in found)


def test_what_others_gave_back_meanwhile_is_not_counted_twice() -> None:
    other = process(8, 9 * GIB, "python other.py")
    (moment,), _ = moments(sample(10, process(7, 15 * GIB), other), sample(11, events=(failed(10.9, WORDS),)))
    assert PartKind.PROCESS not in parts(moment)


def test_figures_that_contradict_each_other_give_way_to_those_that_were_seen() -> None:
    wrong = message_of(OutOfMemory(device=0, requested=GIB, total=GIB, free=3 * GIB, allocated=GIB, unallocated=0))
    (moment,), _ = moments(sample(10, process(7, 22 * GIB)), sample(11, events=(failed(10.9, wrong),)))
    assert moment.picture is not None
    assert moment.picture.total_bytes == TOTAL
    assert moment.message == wrong


def test_a_gpu_that_torch_numbers_otherwise_is_the_one_it_was_seen_on() -> None:
    event = replace(failed(10.6, WORDS), gpu=None)
    (moment,), _ = moments(sample(10, process(7, 21 * GIB)), sample(11, process(7, 21 * GIB), events=(event,)))
    assert moment.gpu == 0
    assert moments(sample(11, events=(event,)))[0] == []


def test_a_recording_shows_the_moments_that_its_watch_told() -> None:
    before = sample(10, process(7, 21 * GIB, torch=torch(20 * GIB, 21 * GIB)))
    counted = Event(11, EventKind.OUT_OF_MEMORY, text("counted"), 0, 7, "counter")
    kept = FailureMoments()
    for one in (before, sample(11, events=(counted,)), sample(12, events=(failed(12, WORDS, 9),))):
        kept.replay(one, nothing)
    assert [one.witness for one in kept.all] == [Witness.COUNTER, Witness.MESSAGE]
    assert kept.all[0].message != ""


@pytest.mark.parametrize("words", [FULL, TORCH_2_5, WORDS])
def test_the_answer_is_that_of_explain(session: Session, words: str) -> None:
    (moment,), _ = moments(sample(10, process(7, 21 * GIB)), sample(11, events=(failed(10.6, words),)))
    answers = explained(session, moment, None).answers
    assert [one.id for one in answers] == [one.id for one in explain(session, words).answers]
    assert answers[0].id.startswith("oom-")


def test_without_a_message_the_figures_speak_in_its_words(session: Session) -> None:
    full = process(7, int(23.5 * GIB), torch=torch(22 * GIB, int(22.9 * GIB)))
    kept = lambda _gpu, _pid: (Growth(Shape.REFERENCES_KEPT), 0)  # noqa: E731
    (moment,), _ = moments(sample(10, full), sample(11, process(7, GIB, torch=torch(GIB, GIB, ooms=1))), until_now=kept)
    assert moment.growth.shape is Shape.REFERENCES_KEPT
    assert [one.id for one in explained(session, moment, None).answers] == ["oom-graph-retained", "oom-true"]
    steady = replace(moment, growth=NOTHING)
    assert explained(session, steady, None).answers[0].id == "oom-true"


@for_each(
    "figures",
    [
        OutOfMemory(),
        OutOfMemory(device=1, total=TOTAL, free=GIB, own=20 * GIB),
        OutOfMemory(device=0, requested=2 * GIB, total=TOTAL, free=GIB, allocated=20 * GIB, unallocated=GIB, own=22 * GIB),
        OutOfMemory(device=3, total=TOTAL, free=0, processes=(ProcessUse(5, GIB), ProcessUse(6, 2 * GIB)), own=21 * GIB),
    ],
)
def test_figures_go_into_words_and_back(figures: OutOfMemory) -> None:
    assert (principal(message_of(figures)) or OutOfMemory()) == figures
