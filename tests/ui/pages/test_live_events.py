"""What happened as marks of the lanes, and whose colour is whose."""

from __future__ import annotations

from gpuassist.model.sample import Event, EventKind
from gpuassist.model.text import verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.ui.pages.live.event_flags import FLAGS_AT_MOST, flags_of
from gpuassist.ui.pages.live.process_colours import ProcessColours
from gpuassist.ui.plots.colour_table import COLOURS
from tests.ui.made import gpu, process, sample


def event(time: float, kind: EventKind, gpu: int | None = 0, code: str = "") -> Event:
    return Event(time, kind, verbatim(f"{kind.value} {code}".strip()), gpu, code=code)


def test_marks_stand_at_their_gpu_and_those_of_all_at_each() -> None:
    flags = flags_of((event(5, EventKind.XID, 1), event(6, EventKind.SUSPENDED, None)), ENGLISH, 0, 10)
    assert [flag.time for flag in flags[1]] == [5, 6]
    assert [flag.time for flag in flags[None]] == [6]


def test_what_is_bad_is_marked_so() -> None:
    kinds = (EventKind.XID, EventKind.OUT_OF_MEMORY, EventKind.LOST, EventKind.STARTED, EventKind.BACK)
    flags = flags_of([event(number, kind) for number, kind in enumerate(kinds)], ENGLISH, 0, 10)
    assert [flag.bad for flag in flags[0]] == [True, True, True, False, False]


def test_throttling_is_a_stretch_with_its_reason() -> None:
    events = (
        event(2, EventKind.THROTTLED, code="heat"),
        event(3, EventKind.THROTTLED, code="power"),
        event(7, EventKind.THROTTLE_ENDED, code="heat"),
    )
    assert [(flag.time, flag.until, flag.label) for flag in flags_of(events, ENGLISH, 0, 10)[0]] == [
        (2, 7, "throttled heat"),
        (3, 10, "throttled power"),
    ]


def test_only_what_is_shown_is_marked() -> None:
    assert flags_of((event(5, EventKind.XID), event(50, EventKind.XID)), ENGLISH, 10, 40) == {None: ()}


def test_marks_are_few_enough_to_be_told_apart() -> None:
    assert len(flags_of([event(number, EventKind.STARTED) for number in range(500)], ENGLISH, 0, 1000)[0]) == FLAGS_AT_MOST


def named(pid: int) -> str:
    return {1: "train.py", 2: "train.py", 3: "Xorg", 9: "train.py"}.get(pid, f"p{pid}")


def test_the_ranks_of_one_run_have_one_colour() -> None:
    colours = ProcessColours()
    colours.take(sample(0, gpu(0, process(1, 4), process(3, 1)), gpu(1, process(2, 4))), named)
    assert colours.colour_of(1) == colours.colour_of(2) != colours.colour_of(3)


def test_two_on_one_gpu_are_told_apart() -> None:
    colours = ProcessColours()
    colours.take(sample(0, gpu(0, process(1, 4), process(2, 4))), named)
    assert colours.colour_of(1) != colours.colour_of(2)


def test_started_again_it_has_its_colour_again() -> None:
    colours = ProcessColours()
    colours.take(sample(0, gpu(0, process(1, 4), process(3, 1))), named)
    colours.take(sample(1, gpu(0, process(3, 1))), named)
    colours.take(sample(2, gpu(0, process(3, 1), process(9, 4))), named)
    assert colours.colour_of(9) == colours.colour_of(1)


def test_colours_and_places_stay_when_two_cross() -> None:
    colours = ProcessColours()
    colours.take(sample(0, gpu(0, process(1, 4), process(3, 2))), named)
    before = [(colours.colour_of(pid), colours.order_of(pid)) for pid in (1, 3)]
    colours.take(sample(1, gpu(0, process(3, 9), process(1, 4), process(4, 1))), named)
    assert [(colours.colour_of(pid), colours.order_of(pid)) for pid in (1, 3)] == before


def test_as_many_as_there_are_colours_are_told_apart() -> None:
    colours = ProcessColours()
    colours.take(sample(0, gpu(0, *(process(pid, 1) for pid in range(20, 20 + COLOURS)))), named)
    assert len({colours.colour_of(pid) for pid in range(20, 20 + COLOURS)}) == COLOURS
