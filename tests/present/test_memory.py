"""The picture of a card's memory in words, as a bar of characters, and as JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.app import compose
from gpuassist.diagnose.memory_parts import picture_of
from gpuassist.formats.oom import principal
from gpuassist.model.memory_picture import MemoryPart, MemoryPicture, PartKind
from gpuassist.model.words import ENGLISH
from gpuassist.present.explanation import explanation_document
from gpuassist.present.memory import (
    as_plain_text,
    memory_document,
    part_explained,
    part_name,
    short_size,
    text_bar,
    text_legend,
    wanted,
)
from gpuassist.session.explain import explain
from tests import memory_messages as messages

GIB = 1 << 30


def picture(words: str = messages.TORCH_2_5) -> MemoryPicture:
    """The picture of a message; its other process is known by name."""
    message = principal(words)
    assert message is not None
    found = picture_of(message, named=lambda _pid: "jupyter")
    assert found is not None
    return found


def made(*sizes: int) -> MemoryPicture:
    """A picture of processes with these sizes."""
    parts = tuple(MemoryPart(PartKind.PROCESS, size, pid=place + 1) for place, size in enumerate(sizes))
    return MemoryPicture(sum(sizes), parts)


@pytest.mark.parametrize("kind", list(PartKind))
def test_every_kind_of_part_has_a_name_a_meaning_and_a_mark(kind: PartKind) -> None:
    part = MemoryPart(kind, GIB, pid=7 if kind is PartKind.PROCESS else 0)
    assert ENGLISH(part_name(part))
    assert ENGLISH(part_explained(part))
    assert len(text_bar(MemoryPicture(GIB, (part,)), 10)) == 10


def test_names_and_marks_are_told_apart() -> None:
    parts = tuple(MemoryPart(kind, GIB, pid=1) for kind in PartKind)
    assert len({part_name(part).message for part in parts}) == len(parts)
    for unicode in (True, False):
        bar = text_bar(MemoryPicture(GIB * len(parts), parts), 60, unicode=unicode)
        assert len(set(bar)) == len(parts)
        assert unicode or bar.isascii()


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (MemoryPart(PartKind.PROCESS, GIB, pid=39021, name="jupyter"), "process 39021 (jupyter)"),
        (MemoryPart(PartKind.PROCESS, GIB, pid=39021), "process 39021"),
        (MemoryPart(PartKind.ALLOCATED, GIB), "in use by your tensors"),
        (MemoryPart(PartKind.CONTEXT, GIB // 2), "CUDA itself"),
        (MemoryPart(PartKind.CONTEXT, 4 * GIB), "CUDA itself and other libraries"),
        (MemoryPart(PartKind.UNUSED, GIB), "reserved, but in pieces"),
    ],
)
def test_parts_are_named_for_their_owner(part: MemoryPart, name: str) -> None:
    assert ENGLISH(part_name(part)) == name


def test_what_was_reckoned_says_so() -> None:
    assert "reckoned" in ENGLISH(part_explained(MemoryPart(PartKind.CONTEXT, GIB, derived=True)))
    assert "reckoned" not in ENGLISH(part_explained(MemoryPart(PartKind.CONTEXT, GIB)))


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (GIB * 14, "14.0 GiB"),
        (412 << 20, "0.4 GiB"),
        (GIB // 10 + 1, "0.1 GiB"),
        (41 << 20, "41 MiB"),
        (0, "0 MiB"),
        (1 << 10, "0 MiB"),
    ],
)
def test_sizes_are_short(count: int, words: str) -> None:
    assert short_size(count) == words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (messages.TORCH_2_5, "wanted: 1.50 GiB in one piece · card: 23.99 GiB"),
        (messages.TORCH_2_5[messages.TORCH_2_5.index("GPU 0 has") :], "card: 23.99 GiB"),
    ],
)
def test_the_request_is_told_beside_the_card(words: str, said: str) -> None:
    assert ENGLISH(wanted(picture(words))) == said


def test_plain_text_holds_every_figure() -> None:
    assert as_plain_text(picture(), ENGLISH).splitlines() == [
        "in use by your tensors: 14.02 GiB",
        "reserved, but in pieces: 5.83 GiB",
        "CUDA itself: 540.32 MiB",
        "process 39021 (jupyter): 3.21 GiB",
        "free: 412.00 MiB",
        "wanted: 1.50 GiB in one piece · card: 23.99 GiB",
    ]


def test_notes_are_part_of_the_plain_text() -> None:
    assert "computer's own memory" in as_plain_text(picture(messages.SHARED), ENGLISH)


def test_bar_shows_the_parts_in_their_shares() -> None:
    bar = text_bar(picture(), 48)
    assert [bar.count(mark) for mark in "█▒░#·"] == [26, 11, 2, 7, 2]
    assert bar == "".join(sorted(bar, key="█▒░#·".index))


def test_legend_explains_every_mark_of_the_bar() -> None:
    shown = picture()
    assert [line[0] for line in text_legend(shown, ENGLISH)] == list(dict.fromkeys(text_bar(shown, 60)))


@given(st.lists(st.integers(1, 1 << 40), min_size=1, max_size=9), st.integers(9, 200))
def test_bar_is_as_wide_as_it_should_be(sizes: list[int], width: int) -> None:
    assert len(text_bar(made(*sizes), width)) == width


@given(st.lists(st.integers(1, 1 << 40), min_size=1, max_size=9), st.integers(0, 8))
def test_a_bar_that_is_too_narrow_still_shows_every_part(sizes: list[int], width: int) -> None:
    assert len(text_bar(made(*sizes), width)) == max(width, len(sizes))


def test_document_holds_bytes_that_add_up() -> None:
    document = json.loads(json.dumps(memory_document(picture(), ENGLISH)))
    assert sum(part["bytes"] for part in document["parts"]) == document["total_bytes"]
    assert document["requested_bytes"] == GIB * 3 // 2
    assert document["device"] == 0
    assert [part["kind"] for part in document["parts"]] == ["allocated", "reserved-unused", "context", "process", "free"]
    assert [part["pid"] for part in document["parts"]] == [None, None, None, 39021, None]


def test_document_marks_what_was_reckoned() -> None:
    document = json.loads(json.dumps(memory_document(picture(), ENGLISH)))
    assert [part["kind"] for part in document["parts"] if part["derived"]] == ["context"]


def test_document_tells_what_lies_beyond_the_card() -> None:
    document = json.loads(json.dumps(memory_document(picture(messages.SHARED), ENGLISH)))
    assert document["beyond_the_card_bytes"] > 6 * GIB
    assert len(document["notes"]) == 1


def test_explanation_carries_the_picture() -> None:
    explanation = explain(compose("en"), f"Traceback\n{messages.TORCH_2_5}")
    document = json.loads(json.dumps(explanation_document(explanation, ENGLISH)))
    assert explanation.memory is not None
    assert document["memory"]["total_bytes"] == explanation.memory.total_bytes == picture().total_bytes


@pytest.mark.parametrize(
    "words", ["nvcc fatal   : Unsupported gpu architecture 'compute_89'", messages.HIP, "CUDA error: out of memory"]
)
def test_without_figures_of_a_card_there_is_no_picture(words: str) -> None:
    explanation = explain(compose("en"), words)
    assert explanation.memory is None
    assert explanation_document(explanation, ENGLISH)["memory"] is None  # type: ignore[index,call-overload]  # a JSON object
