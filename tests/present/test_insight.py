"""What a watch makes of its samples, in words."""

from __future__ import annotations

from random import Random

import pytest

from gpuassist.model.fact import Known
from gpuassist.model.memory_picture import MemoryPart, MemoryPicture, PartKind
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.bottleneck import Bottleneck, Bottlenecks, Bound, Lack, Means
from gpuassist.monitor.growth import NOTHING, Growth, Shape
from gpuassist.present.insight import (
    about,
    bound_document,
    bound_grounds,
    bound_next,
    bound_words,
    desktop_words,
    growth_document,
    growth_next,
    growth_words,
    moment_before,
    moment_document,
    moment_title,
    until_full,
)
from gpuassist.session.failure_moment import FailureMoment, Witness
from gpuassist.session.insight import ProgramGrowth
from tests.monitor.made_loads import LOADS
from tests.rows import for_each
from tests.values import knowledge

GIB = 1 << 30


@for_each(
    ("seconds", "words"),
    [
        (20, "less than two minutes"),
        (8 * 60 + 10, "about 8 min"),
        (24 * 60, "about 25 min"),
        (5400, "about 1.5 h"),
        (13.2 * 3600, "about 13 h"),
    ],
)
def test_a_time_that_nobody_knows_exactly_is_rounded(seconds: float, words: str) -> None:
    assert ENGLISH(about(seconds)) == words


@for_each("shape", [one for one in Shape if one is not Shape.NONE])
def test_every_growth_has_words_and_a_document(shape: Shape) -> None:
    found = ProgramGrowth(1, 7, "python train.py", Growth(shape, 100.0, 2 * GIB, 1e6, 1500.0))
    said = ENGLISH(growth_words(found, 1e9))
    assert "train.py" in said
    assert "2.00 GiB" in said
    assert ENGLISH(growth_next(found))
    document = growth_document(found, 1e9, 1e9, ENGLISH)["event"]
    assert isinstance(document, dict)
    assert (document["kind"], document["code"], document["gpu"], document["pid"]) == ("growth", shape.value, 1, 7)
    assert document["seconds_until_full"] == 1500


def test_no_time_is_told_where_none_is_known() -> None:
    found = ProgramGrowth(1, 0, "", Growth(Shape.GROWTH, 100.0, GIB, 1e6))
    assert until_full(found) is None
    document = growth_document(found, 1e9, 1e9, ENGLISH)["event"]
    assert isinstance(document, dict)
    assert document["seconds_until_full"] is None
    assert "pid" not in document


@for_each("name", LOADS)
def test_every_verdict_says_what_it_rests_on_and_what_is_next_or_missing(name: str) -> None:
    seen = Bottlenecks()
    for sample, loads, links in LOADS[name].series(Random(5)):
        seen.links = links
        seen.add(sample, loads)
    found = seen.judge(0)
    document = bound_document(found, 0, 1e9, ENGLISH)["event"]
    assert isinstance(document, dict)
    assert document["code"] == found.bound.value
    assert bool(bound_next(found)) is (found.bound is not Bound.IDLE)
    assert bound_grounds(found) or not any((sample.gpus[0].utilization_percent, isinstance(sample.gpus[0].processes, Known)))
    assert ENGLISH(bound_words(found, "0"))


@for_each("lack", list(Lack))
def test_everything_that_can_be_missing_has_a_sentence(lack: Lack) -> None:
    assert bound_next(Bottleneck(Bound.UNDECIDED, Means(), (lack,)))


def test_utilisation_never_stands_without_what_it_does_not_mean() -> None:
    (said,) = bound_grounds(Bottleneck(Bound.UNDECIDED, Means(utilization=100.0)))
    assert "does not mean busy" in ENGLISH(said)


@pytest.mark.parametrize("witness", list(Witness))
def test_a_moment_says_how_certain_it_is(witness: Witness) -> None:
    moment = FailureMoment(1e9, 5.0, 0, witness, "CUDA out of memory.", 7, "python train.py")
    assert ("perhaps" in ENGLISH(moment_title(moment))) is (witness is Witness.ENDED)
    document = moment_document(moment, ENGLISH, knowledge().commands)
    assert document["witness"] == witness.value
    assert (document["message"] is None) is (witness is not Witness.MESSAGE)
    assert document["memory"] is None


@for_each("shape", list(Shape))
def test_what_its_memory_did_before_has_a_sentence(shape: Shape) -> None:
    moment = FailureMoment(1e9, 5.0, 0, Witness.COUNTER, "", 7, growth=Growth(shape))
    assert (moment_before(moment) is None) is (shape is Shape.NONE)


def test_the_desktop_is_told_where_it_has_much() -> None:
    parts = (MemoryPart(PartKind.DESKTOP, GIB, name="Xorg, firefox"), MemoryPart(PartKind.FREE, GIB))
    much = FailureMoment(1e9, 5.0, 0, Witness.COUNTER, "", 7, picture=MemoryPicture(2 * GIB, parts), desktop_bytes=GIB)
    said = desktop_words(much)
    assert said is not None
    assert "Xorg, firefox" in ENGLISH(said)
    assert desktop_words(FailureMoment(1e9, 5.0, 0, Witness.COUNTER, "", 7, desktop_bytes=1 << 20, growth=NOTHING)) is None
