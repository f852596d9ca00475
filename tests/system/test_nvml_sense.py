"""Which of NVML's answers can be true: what is real passes, and the sentinels of broken drivers do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.system import nvml_sense
from gpuassist.system.nvml import Memory, Refusal, nonsense

GIB = 1 << 30
SENTINELS = (2**32 - 1, 2**31 - 1, 2**63, 2**64 - 1, 2**64 - 2**19)
UNKNOWN = Unknown(text("not asked"))


def known(fact: Fact[int] | Fact[float]) -> bool:
    return isinstance(fact, Known)


@pytest.mark.parametrize("told", SENTINELS)
def test_sentinels_are_no_figures(told: int) -> None:
    assert not known(nvml_sense.percent(told, "NVML"))
    assert not known(nvml_sense.celsius(told, "NVML"))
    assert not known(nvml_sense.watts(told, "NVML"))


@pytest.mark.parametrize("told", [2**32 - 1, *SENTINELS[2:]])
def test_sentinels_are_no_sizes(told: int) -> None:
    assert not known(nvml_sense.process_memory(told, Known(24 * GIB, "NVML"), "NVML"))
    assert not known(nvml_sense.memory(Memory(24 * GIB, told, 0), "NVML").used)


@pytest.mark.parametrize("told", SENTINELS[2:])
def test_sizes_that_no_card_has_are_none(told: int) -> None:
    assert not known(nvml_sense.memory(Memory(told, 0, told), "NVML").total)
    assert not known(nvml_sense.process_memory(told, UNKNOWN, "NVML"))


@pytest.mark.parametrize(
    "memory",
    [Memory(1 << 30, 0, 1 << 30), Memory(288 * GIB, 288 * GIB, 0), Memory(24564 << 20, 449 << 20, 24115 << 20)],
    ids=["small", "B300, full", "RTX 4090"],
)
def test_sizes_of_real_cards_pass(memory: Memory) -> None:
    told = nvml_sense.memory(memory, "NVML")
    assert (told.total, told.used, told.free) == (
        Known(memory.total_bytes, "NVML"),
        Known(memory.used_bytes, "NVML"),
        Known(memory.free_bytes, "NVML"),
    )


@given(st.integers(-1, 2**64), st.integers(-1, 2**64), st.integers(-1, 2**64))
def test_whatever_is_known_of_memory_fits(total: int, used: int, free: int) -> None:
    told = nvml_sense.memory(Memory(total, used, free), "NVML")
    if isinstance(told.used, Known):
        assert isinstance(told.total, Known)
        assert 0 <= told.used.value <= told.total.value
    assert known(told.used) is known(told.free)


@given(st.integers(-1000, 2**64))
def test_no_figure_is_shown_that_cannot_be(told: int) -> None:
    percent, celsius, watts = nvml_sense.percent(told, "NVML"), nvml_sense.celsius(told, "NVML"), nvml_sense.watts(told, "NVML")
    assert known(percent) is (0 <= told <= 100)
    assert not isinstance(celsius, Known) or 0 <= celsius.value <= 200
    assert not isinstance(watts, Known) or 0 <= watts.value <= 5000


def test_memory_of_a_process_that_is_not_told_has_its_own_reason() -> None:
    assert nvml_sense.process_memory(None, Known(GIB, "NVML"), "NVML") is nvml_sense.NOT_TOLD


@pytest.mark.parametrize("told", [(0, 0), (99, 0), (-1, 0), (8, 77), (8, -1)])
def test_capability_that_cannot_be_is_refused(told: tuple[int, int]) -> None:
    with pytest.raises(ValueError):
        nvml_sense.capability(*told)


@pytest.mark.parametrize("what", ["devices", "processes", "process number", "MIG devices", "something new"])
def test_every_nonsense_has_its_sentence(what: str) -> None:
    words = nvml_sense.nonsense(nonsense(what, 77))
    assert words is not None
    assert "77" in ENGLISH(words)


def test_refusals_of_nvml_itself_are_none() -> None:
    assert nvml_sense.nonsense(Refusal(15, "NVML_ERROR_GPU_IS_LOST", "GPU is lost")) is None
