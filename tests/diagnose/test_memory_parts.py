"""The parts of a card's memory: they add up whatever the message says, and what cannot be is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.diagnose.memory_parts import other_processes, own_bytes, picture_of
from gpuassist.formats.oom import OutOfMemory, ProcessUse, principal
from gpuassist.formats.size import read_size, shown_size
from gpuassist.model.memory_picture import MemoryPicture, PartKind
from tests import memory_messages as messages
from tests.rows import for_each

SIZE = st.integers(0, 1 << 44)
MAYBE = st.none() | SIZE
EVERY = [
    value
    for name, value in vars(messages).items()
    if name.isupper() and isinstance(value, str) and name not in {"HINT", "OLD_HINT", "TORCH_0_1", "BOUNDLESS", "MPS", "PROCESSOR"}
]


def picture(words: str) -> MemoryPicture:
    """The picture of a text's message."""
    message = principal(words)
    assert message is not None
    found = picture_of(message)
    assert found is not None
    return found


def parts(words: str) -> dict[str, str]:
    """The kinds and sizes, in their order."""
    return {part.kind.value: shown_size(part.size_bytes) for part in picture(words).parts}


@for_each("words", EVERY)
def test_parts_add_up_to_the_card(words: str) -> None:
    found = picture(words)
    assert sum(part.size_bytes for part in found.parts) == found.total_bytes
    assert all(part.size_bytes > 0 for part in found.parts)


@given(
    st.builds(
        OutOfMemory,
        requested=MAYBE,
        total=MAYBE,
        free=MAYBE,
        allocated=MAYBE,
        private=MAYBE,
        unallocated=MAYBE,
        own=MAYBE,
        allowed=MAYBE,
        processes=st.lists(st.builds(ProcessUse, st.integers(1, 99_999), SIZE), max_size=4).map(tuple),
    )
)
def test_any_figures_add_up(message: OutOfMemory) -> None:
    found = picture_of(message)
    if found is None:
        return
    assert sum(part.size_bytes for part in found.parts) == found.total_bytes == message.total
    assert all(part.size_bytes > 0 for part in found.parts)
    order = list(PartKind)
    assert [order.index(part.kind) for part in found.parts] == sorted(order.index(part.kind) for part in found.parts)
    assert found.beyond_bytes >= 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            messages.TORCH_2_5,
            {
                "allocated": "14.02 GiB",
                "reserved-unused": "5.83 GiB",
                "context": "540.32 MiB",
                "process": "3.20 GiB",
                "free": "412.00 MiB",
            },
        ),
        (
            messages.TORCH_2_0,
            {"allocated": "6.50 GiB", "reserved-unused": "30.72 MiB", "rest": "362.19 MiB", "free": "917.81 MiB"},
        ),
        (
            messages.CONTAINER,
            {
                "allocated": "11.97 GiB",
                "reserved-unused": "40.69 GiB",
                "context": "512.00 MiB",
                "unaccounted": "10.24 MiB",
                "free": "26.16 GiB",
            },
        ),
        (messages.SHARED, {"allocated": "8.00 GiB"}),
        (
            messages.POOLS,
            {
                "allocated": "798.72 MiB",
                "private-pools": "46.22 GiB",
                "reserved-unused": "149.10 MiB",
                "context": "373.14 MiB",
                "unaccounted": "19.60 MiB",
                "free": "896.00 KiB",
            },
        ),
        (messages.ASYNC, {"allocated": "4.86 GiB", "rest": "19.14 GiB"}),
    ],
)
def test_every_part_has_its_place(words: str, expected: dict[str, str]) -> None:
    found = parts(words)
    assert list(found) == list(expected)
    for kind, size in expected.items():
        assert abs((read_size(found[kind]) or 0) - (read_size(size) or 0)) < 12 << 20, kind


@pytest.mark.parametrize(
    ("words", "derived"),
    [
        (messages.TORCH_2_5, {PartKind.CONTEXT}),
        (messages.POOLS, {PartKind.ALLOCATED, PartKind.CONTEXT, PartKind.UNACCOUNTED}),
        (messages.FOREIGN, {PartKind.REST}),
        (messages.SHARED, set()),
    ],
)
def test_what_was_reckoned_is_marked(words: str, derived: set[PartKind]) -> None:
    assert {part.kind for part in picture(words).parts if part.derived} == derived


def test_unnamed_others_are_told_where_the_own_share_is_known() -> None:
    words = messages.FULL.replace("44.40 GiB", "24.40 GiB").replace("43.94 GiB", "23.94 GiB")
    assert "others" in parts(words)


def test_own_process_is_found_in_a_container() -> None:
    message = principal(messages.CONTAINER)
    assert message is not None
    assert own_bytes(message) == read_size("53.16 GiB")
    assert other_processes(message) == ()
    assert "itself" in picture(messages.CONTAINER).notes[0].message


def test_of_several_processes_the_nearest_is_the_own_one() -> None:
    words = messages.CONTAINER.replace("Process 76883", "Process 5 has 54.90 GiB memory in use. Process 76883")
    message = principal(words)
    assert message is not None
    assert other_processes(message) == (ProcessUse(5, read_size("54.90 GiB") or 0),)


def test_a_much_larger_process_is_not_the_own_one() -> None:
    message = principal(messages.CONTAINER.replace("53.16 GiB", "73.16 GiB"))
    assert message is not None
    assert own_bytes(message) is None


def test_what_windows_lends_lies_beyond_the_card() -> None:
    found = picture(messages.SHARED)
    assert shown_size(found.beyond_bytes) == "6.11 GiB"
    assert "computer's own memory" in found.notes[0].message


def test_a_truncated_message_leaves_a_rest() -> None:
    words = messages.TORCH_2_5[: messages.TORCH_2_5.index("Process")]
    assert list(parts(words)) == ["rest", "free"]


@pytest.mark.parametrize("words", ["CUDA out of memory. Tried to allocate 2.00 GiB.", messages.BOUNDLESS])
def test_without_the_card_there_is_no_picture(words: str) -> None:
    message = principal(words)
    assert message is not None
    assert picture_of(message) is None


def test_the_cards_size_can_come_from_elsewhere() -> None:
    found = picture_of(OutOfMemory(allocated=4 << 30), total=8 << 30)
    assert found is not None
    assert found.total_bytes == 8 << 30


def test_processes_get_the_name_of_their_program() -> None:
    message = principal(messages.TORCH_2_5)
    assert message is not None
    found = picture_of(message, named=lambda pid: {39021: "jupyter"}.get(pid, ""))
    assert found is not None
    assert [(part.pid, part.name) for part in found.parts if part.kind is PartKind.PROCESS] == [(39021, "jupyter")]


def test_request_and_device_are_carried() -> None:
    found = picture(messages.TORCH_1_9)
    assert (found.requested_bytes, found.device) == (20 << 20, 1)
    assert sum(part.size_bytes for part in found.parts if part.kind in {PartKind.FREE, PartKind.UNUSED}) < 1 << 30
