"""Why the memory did not suffice, by its figures alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.diagnose.memory import TOLD, MemoryCause, Ruling, others_bytes, parameters, rule
from gpuassist.formats.oom import OutOfMemory, ProcessUse, principal
from gpuassist.formats.size import read_size
from tests import memory_messages as messages
from tests.rows import for_each

GIB = 1 << 30


def message(words: str) -> OutOfMemory:
    """The message in a text."""
    found = principal(words)
    assert found is not None
    return found


def made(**gibibytes: float) -> OutOfMemory:
    """A message with these figures in GiB."""
    return OutOfMemory(**{name: round(size * GIB) for name, size in gibibytes.items()})  # type: ignore[arg-type]  # sizes alone


@for_each(
    ("words", "cause"),
    [
        (messages.TORCH_1_1, MemoryCause.NEED),
        (messages.TORCH_1_9, MemoryCause.OTHERS),
        (messages.TORCH_2_0, MemoryCause.NEED),
        (messages.TORCH_2_1, MemoryCause.NEED),
        (messages.TORCH_2_5, MemoryCause.FRAGMENTS),
        (messages.POOLS, MemoryCause.NEED),
        (messages.CAPPED, MemoryCause.LIMIT),
        (messages.CONTAINER, MemoryCause.FRAGMENTS),
        (messages.SHARED, MemoryCause.NEED),
        (messages.FULL, MemoryCause.NEED),
        (messages.FOREIGN, MemoryCause.OTHERS),
        (messages.ABSURD, MemoryCause.ABSURD),
        (messages.BOUNDLESS, MemoryCause.ABSURD),
        (messages.ASYNC, MemoryCause.OTHERS),
    ],
)
def test_figures_tell_the_cause(words: str, cause: MemoryCause) -> None:
    assert rule(message(words)).causes[0] is cause


@for_each(
    ("figures", "cause"),
    [
        # The same card and request; what differs is who has the rest.
        ({"total": 24, "free": 0.1, "allocated": 22.9, "unallocated": 0.2, "own": 23.6, "requested": 0.5}, MemoryCause.NEED),
        ({"total": 24, "free": 0.1, "allocated": 17.0, "unallocated": 6.0, "own": 23.6, "requested": 0.5}, MemoryCause.FRAGMENTS),
        ({"total": 24, "free": 0.1, "allocated": 7.0, "unallocated": 0.2, "own": 7.6, "requested": 0.5}, MemoryCause.OTHERS),
        ({"total": 24, "free": 0.1, "allocated": 7.0, "unallocated": 0.2, "own": 7.6, "requested": 25}, MemoryCause.ABSURD),
        # What torch holds does not suffice for the request: closing gaps would not help.
        ({"total": 24, "free": 0.1, "allocated": 17.0, "unallocated": 6.0, "own": 23.6, "requested": 9}, MemoryCause.NEED),
        # Small gaps beside a request that is smaller still: rounding, not fragments.
        ({"total": 24, "free": 0.01, "allocated": 22.6, "unallocated": 0.6, "own": 23.7, "requested": 0.02}, MemoryCause.NEED),
        # Others have a lot, but without them the request would not fit either.
        ({"total": 24, "free": 0.1, "allocated": 14.0, "unallocated": 0.2, "own": 14.8, "requested": 12}, MemoryCause.NEED),
        # Plenty is free and a small request fails.
        ({"total": 4, "free": 2.35, "allocated": 0.8, "unallocated": 0.03, "requested": 0.02}, MemoryCause.FRAGMENTS),
        # Half of the card is free, and a little less is wanted.
        ({"total": 6, "free": 3.03, "allocated": 0.76, "unallocated": 0.48, "requested": 2.26}, MemoryCause.FRAGMENTS),
        # Windows lends its memory: a request above the card is no error of the program.
        ({"total": 8, "free": 0, "allocated": 17.2, "unallocated": 1.95, "requested": 10.73}, MemoryCause.NEED),
        ({"total": 8, "free": 0, "allocated": 17.2, "unallocated": 1.95, "requested": 130_674}, MemoryCause.ABSURD),
        # As much is free as is wanted, and not more.
        ({"total": 10.76, "free": 8.2, "allocated": 0.63, "unallocated": 0.03, "requested": 8.13}, MemoryCause.NEED),
    ],
)
def test_arithmetic_decides(figures: dict[str, float], cause: MemoryCause) -> None:
    assert rule(made(**figures)).causes[0] is cause


def test_context_is_not_taken_for_another_process() -> None:
    tight = made(total=2, free=0.05, allocated=1.3, unallocated=0.1, requested=0.1)
    assert rule(tight).causes[0] is MemoryCause.NEED


def test_plenty_of_free_memory_is_no_proof() -> None:
    assert not rule(made(total=4, free=2.35, allocated=0.8, unallocated=0.03, requested=0.02)).proved


@pytest.mark.parametrize(
    ("words", "proved"),
    [
        (messages.TORCH_2_5, True),
        (messages.FOREIGN, True),
        ("CUDA out of memory. Tried to allocate 2.00 GiB.", False),
        (messages.TORCH_2_5[: messages.TORCH_2_5.index("Of the allocated")], False),
    ],
)
def test_half_a_message_proves_little(words: str, proved: bool) -> None:
    assert rule(message(words)).proved is proved


def test_what_is_not_free_may_be_the_programs_own() -> None:
    words = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB of which 1.21 GiB is free."
    assert rule(message(words)) == Ruling((MemoryCause.NEED, MemoryCause.OTHERS), proved=False)


def test_half_a_message_with_other_processes_is_enough() -> None:
    words = messages.TORCH_2_5.replace("3.21 GiB", "13.21 GiB").replace("20.38 GiB", "10.38 GiB")
    ruling = rule(message(words[: words.index("Of the allocated")]))
    assert (ruling.causes[0], ruling.proved) == (MemoryCause.OTHERS, True)


@pytest.mark.parametrize(
    ("allowed", "cause"),
    [(6, MemoryCause.LIMIT), (23.99, MemoryCause.NEED), (20, MemoryCause.NEED)],
)
def test_a_limit_counts_where_it_bites(allowed: float, cause: MemoryCause) -> None:
    figures = made(total=24, free=18.5, allocated=4.8, unallocated=0.01, own=5.2, requested=2, allowed=allowed)
    assert (rule(figures).causes[0] is MemoryCause.LIMIT) is (cause is MemoryCause.LIMIT)


@pytest.mark.parametrize(
    ("words", "size"),
    [
        (messages.TORCH_2_5, "3.21 GiB"),
        (messages.CONTAINER, "10.24 MiB"),
        (messages.FOREIGN, "12.24 GiB"),
        (messages.SHARED, "0 bytes"),
        ("CUDA out of memory. Tried to allocate 2.00 GiB.", "0 bytes"),
    ],
)
def test_others_are_what_is_left_of_the_card(words: str, size: str) -> None:
    wanted = read_size(size)
    assert wanted is not None
    assert abs(others_bytes(message(words)) - wanted) <= 20 << 20


def test_named_processes_count_where_the_card_is_not_told() -> None:
    assert others_bytes(OutOfMemory(processes=(ProcessUse(1, GIB), ProcessUse(2, GIB)))) == 2 * GIB


@pytest.mark.parametrize(
    ("words", "cause", "told"),
    [
        (
            messages.TORCH_2_5,
            MemoryCause.FRAGMENTS,
            {
                "unused": "5.83 GiB",
                "requested": "1.50 GiB",
                "free": "412.00 MiB",
                "total": "23.99 GiB",
                "others": "3.21 GiB",
                "pid": "39021",
            },
        ),
        (messages.ABSURD, MemoryCause.ABSURD, {"requested": "127.61 TiB", "total": "11.91 GiB"}),
        (
            messages.SHARED,
            MemoryCause.NEED,
            {"requested": "1002.00 MiB", "total": "8.00 GiB", "free": "0 bytes", "allocated": "13.98 GiB", "shared": "yes"},
        ),
        (
            messages.CAPPED,
            MemoryCause.LIMIT,
            {"allowed": "6.00 GiB", "requested": "2.00 GiB", "own": "5.20 GiB", "free": "18.50 GiB", "total": "23.99 GiB"},
        ),
    ],
)
def test_parameters_are_written_as_torch_does(words: str, cause: MemoryCause, told: dict[str, str]) -> None:
    assert parameters(message(words), cause) == told


def test_small_others_are_not_mentioned() -> None:
    assert "others" not in parameters(message(messages.FULL), MemoryCause.NEED)


def test_of_several_others_none_is_singled_out() -> None:
    words = messages.TORCH_2_5.replace("Process 39021", "Process 7 has 9.00 GiB memory in use. Process 39021")
    assert "pid" not in parameters(message(words), MemoryCause.OTHERS)


@given(
    st.builds(OutOfMemory, **{name: st.none() | st.integers(0, 1 << 40) for name in ("requested", "total", "free", "allocated")})
)
def test_any_figures_have_a_cause(figures: OutOfMemory) -> None:
    ruling = rule(figures)
    assert ruling.causes
    for cause in ruling.causes:
        assert set(parameters(figures, cause)) <= TOLD[cause]


@pytest.mark.parametrize(("own", "told"), [(23.6, True), (23.15, False), (None, False)])
def test_part_of_cuda_itself_is_told_where_the_message_says_it(own: float | None, *, told: bool) -> None:
    figures = {"total": 24.0, "free": 0.1, "allocated": 22.9, "unallocated": 0.2, "requested": 0.5}
    said = made(**figures, **({} if own is None else {"own": own}))
    assert bool(parameters(said, MemoryCause.NEED).get("context")) is told
    assert "context" not in parameters(said, MemoryCause.OTHERS)
