"""Answers of the knowledge in lines: what is null is told apart, and the sources stand last and in short."""

from __future__ import annotations

from gpuassist.model.words import ENGLISH
from gpuassist.present.lookup import lines, source_line
from gpuassist.session.lookup.ask import KINDS, SHELVES
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each

_LONGEST_SOURCE = 240  # letters: three lines of a terminal; in full one of torch has 1,600


def told(kind: str, words: str) -> dict[str, str]:
    answered = SHELVES[kind].answer(KNOWLEDGE, words)
    return {ENGLISH(row.label).strip(): ENGLISH(row.value) for row in lines(answered)}


@for_each("kind", KINDS)
def test_no_source_is_longer_than_its_answer(kind: str) -> None:
    for record in SHELVES[kind].records(KNOWLEDGE):
        words = ENGLISH(source_line(record).value)
        assert len(words) <= _LONGEST_SOURCE, words
        assert words.startswith(str(record["source"])[:4]), words
        assert words.endswith(f"({record['checked']})")


def test_a_gpu_has_its_cuda_driver_module_and_torch() -> None:
    shown = told("gpu", "RTX 4060")
    assert (shown["first CUDA"], shown["last CUDA"]) == ("11.8", "none: the newest still does")
    assert (shown["cu118"], shown["open kernel modules"]) == ("2.0.0 … 2.7.1", "either open or proprietary")
    assert "2.15.0+cu132" in shown["what a plan takes"]


def test_what_null_means_of_a_driver_is_told() -> None:
    assert "older than" in told("gpu", "GTX 1080 Ti")["first driver"]
    assert "generation" in told("gpu", "RTX 4090")["first driver"]
    assert told("gpu", "RTX 4060")["first driver"] == "525.147.05"
    orin = told("gpu", "Jetson AGX Orin")
    assert (orin["first driver"], orin["last driver branch"], "open kernel modules" in orin) == (*["that of JetPack"] * 2, False)


def test_a_gpu_without_any_torch_is_told_so() -> None:
    shown = told("gpu", "Quadro K2000")
    assert shown["torch builds for it"] == "none that I know"
    assert "no torch that I know" in shown["what a plan takes"]


def test_chips_of_one_name_are_told_one_by_one() -> None:
    answered = SHELVES["gpu"].answer(KNOWLEDGE, "GT 730")
    last = [ENGLISH(row.value) for row in lines(answered) if ENGLISH(row.label) == "  last driver branch"]
    assert last == ["390", "470", "470"]


def test_a_torch_without_torchaudio_says_that_there_is_none() -> None:
    assert "no torchaudio" in told("torch", "2.12")["goes with"]
    assert "no torch" not in told("torch", "2.9")["goes with"]


def test_a_build_of_torch_has_its_pins_and_its_drivers() -> None:
    shown = told("torch", "2.5.1+cu118")
    assert (shown["oldest driver that runs it"], shown["on Windows, and so in WSL2"]) == ("450.80.02", "452.39")
    assert "nvidia-cudnn-cu11 9.1.0.70" in shown["pip installs with it"]
    assert shown["pytorch, linux-64"] == "pytorch=2.5.1 pytorch-cuda=11.8"


def test_a_package_shows_nothing_of_what_it_cannot_have() -> None:
    assert "builds" not in told("conda", "cudatoolkit")
    assert {"installed by", "last release"}.isdisjoint(told("conda", "1.12.1"))
    assert told("wheel", "tensorrt-cu12")["last release"].startswith("11.4.0.106")
