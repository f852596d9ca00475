"""A chain in sentences."""

from __future__ import annotations

import pytest

from gpuassist.model.chain import Chain, Joint, Node, Part, Status
from gpuassist.model.text import text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.chain import PART_WORDS, chain_in_words, status_words

NOTHING = verbatim("")
GPU = Node(Part.GPU, verbatim("RTX 5090"), verbatim("Blackwell · 12.0"), Status.RIGHT)
DRIVER = Node(Part.DRIVER, verbatim("550"), NOTHING, Status.PROBLEM)


def test_every_part_and_every_pair_is_a_line() -> None:
    joint = Joint(Part.GPU, Part.DRIVER, Status.PROBLEM, text("driver {version} is too old", version="550"))
    assert chain_in_words(Chain((GPU, DRIVER), (joint,)), ENGLISH).splitlines() == [
        "GPU: RTX 5090, Blackwell · 12.0 (right)",
        "Driver: 550 (problem)",
        "GPU – Driver: problem, driver 550 is too old",
    ]


def test_a_pair_without_a_reason_says_how_it_stands() -> None:
    joint = Joint(Part.GPU, Part.DRIVER, Status.RIGHT, NOTHING)
    assert chain_in_words(Chain((), (joint,)), ENGLISH) == "GPU – Driver: right"


def test_nothing_is_said_of_an_empty_chain() -> None:
    assert chain_in_words(Chain((), ()), ENGLISH) == ""


@pytest.mark.parametrize("part", list(Part))
def test_every_part_has_a_word(part: Part) -> None:
    assert PART_WORDS[part].message


@pytest.mark.parametrize("status", list(Status))
def test_every_status_has_a_word(status: Status) -> None:
    assert status_words(status).message
