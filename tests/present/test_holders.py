"""How a process that holds a GPU is told of, for the page and for the message that hands it on."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.detect.gpu_holders import GpuHolder, HeldCard, Holding, Role
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.holders import (
    about,
    as_plain_text,
    on_card,
    place,
    share,
    state,
    stop_question,
    stop_warning,
    stopping,
    title,
)
from gpuassist.present.samples import gpu_title
from tests.detect.test_gpu_holders import GIB, found, gpu, holder, machine, on, only

SILENT: Unknown = Unknown(verbatim("NVML does not say"))


def held(used: Fact[int] = SILENT, *by_gpu: tuple[int, int]) -> GpuHolder:
    """A process of one's own with this much on each card."""
    memory = tuple((index, Known(size, "test")) for index, size in by_gpu)
    return GpuHolder(holder(), (0,), used, Role.PROGRAM, may_stop=True, why=text("why"), memory_by_gpu=memory)


def a_card(index: int = 0, total: Fact[int] = SILENT, name: Fact[str] = SILENT) -> HeldCard:
    return HeldCard(index, name, total)


def size(gibibytes: int) -> Known[int]:
    return Known(gibibytes * GIB, "test")


@pytest.mark.parametrize(("count", "words"), [(0, "No GPU processes found"), (1, "1 GPU process"), (2, "2 GPU processes")])
def test_title_counts(count: int, words: str) -> None:
    assert ENGLISH(title(Holding((held(),) * count))) == words


@pytest.mark.parametrize(
    ("unit", "container", "words"),
    [("", "", ""), ("run-7.scope", "", "run-7.scope"), ("docker-3f2a.scope", "docker 3f2a", "docker 3f2a")],
)
def test_container_says_more_than_its_unit(tmp_path: Path, unit: str, container: str, words: str) -> None:
    assert ENGLISH(place(only(tmp_path, holder(unit=unit, container=container)))) == words


@pytest.mark.parametrize("letter", ["R", "S", "I", "?"])
def test_usual_states_are_not_spoken_of(tmp_path: Path, letter: str) -> None:
    assert state(only(tmp_path, holder(state=letter))) is None


@pytest.mark.parametrize("letter", ["D", "T", "t", "Z"])
def test_unusual_states_are(tmp_path: Path, letter: str) -> None:
    assert state(only(tmp_path, holder(state=letter))) is not None


def test_card_is_called_by_number_and_name() -> None:
    assert ENGLISH(gpu_title(a_card(1, name=Known("NVIDIA GeForce RTX 4090", "NVML")))) == "GPU 1 · RTX 4090"
    assert ENGLISH(gpu_title(a_card(1))) == "GPU 1"


@pytest.mark.parametrize(
    ("total", "used", "words"),
    [(size(24), size(6), "6.0 GiB of 24.0 GiB"), (SILENT, size(6), "6.0 GiB"), (size(24), SILENT, "NVML does not say")],
)
def test_use_of_a_card_is_told_as_far_as_it_is_known(total: Fact[int], used: Fact[int], words: str) -> None:
    assert ENGLISH(on_card(a_card(total=total), used)) == words


@pytest.mark.parametrize(
    ("one", "cards", "part"),
    [
        (held(size(6), (0, 6 * GIB)), (a_card(0, size(24)),), 0.25),
        (held(size(12), (0, 6 * GIB), (1, 6 * GIB)), (a_card(0, size(24)), a_card(1, size(24)), a_card(2, size(80))), 0.25),
        (held(size(6), (0, 6 * GIB)), (a_card(0),), None),
        (held(), (a_card(0, size(24)),), None),
        (held(size(6), (3, 6 * GIB)), (a_card(0, size(24)),), None),
    ],
    ids=["one card", "two of three", "size unknown", "use unknown", "card unknown"],
)
def test_share_is_of_the_cards_that_it_is_on(one: GpuHolder, cards: tuple[HeldCard, ...], part: float | None) -> None:
    assert share(Holding((one,), cards=cards), one) == part


def test_question_names_the_process() -> None:
    assert ENGLISH(stop_question(held())) == "Stop process 42 (python)?"
    assert ENGLISH(stop_warning(held())).startswith("42  you  GPU 0  GPU memory not known  python train.py\n")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(7, "was asked to end. It will be killed in 7 s unless it ends."), (0, "is being killed."), (-1, "is being killed.")],
)
def test_seconds_are_counted_down_to_the_kill(seconds: int, words: str) -> None:
    assert ENGLISH(stopping(held(), seconds)) == f"Process 42 (python) {words}"


def test_plain_text_has_lines_to_copy_and_notes(tmp_path: Path) -> None:
    seen = found(tmp_path, machine(holder(unit="ollama.service", uid=0), gpus=(gpu(0, on(42, GIB)),)))
    lines = as_plain_text(Holding(seen.held, (text("the driver did not say"),)), ENGLISH).splitlines()
    assert lines[0] == "1 GPU process"
    assert "      sudo systemctl stop ollama.service" in lines
    assert lines[-1] == "Note: the driver did not say"


def test_memory_on_several_cards_is_told_for_each() -> None:
    several = replace(held(size(18), (0, 6 * GIB), (1, 12 * GIB)), memory_by_gpu=((0, size(6)), (1, SILENT)))
    assert "GPU 0: 6.0 GiB · GPU 1: not known" in [ENGLISH(words) for words in about(several)]


def test_memory_on_one_card_is_told_once() -> None:
    assert not any("GPU 0" in ENGLISH(words) for words in about(held(size(6), (0, 6 * GIB))))


def test_question_quotes_the_beginning_of_a_long_command() -> None:
    long = replace(held(), holder=holder(command="java -cp " + "library.jar:" * 5000))
    warning = ENGLISH(stop_warning(long))
    assert len(warning) < 700
    assert "java -cp library.jar:" in warning
