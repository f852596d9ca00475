"""All families over one text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuassist.diagnose import judge as module
from gpuassist.diagnose import signatures
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.judge import families, recognise
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste, Weight
from tests.values import knowledge
from tools.family_words import FILE, written


def _setting(words: str) -> SignatureInput:
    return SignatureInput(Paste(words), RuleInput(Machine(), knowledge()))


def _broken(_: re.Match[str], __: SignatureInput) -> Iterator[Sign]:
    raise ZeroDivisionError("ours")


@pytest.fixture
def two_families(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that breaks on every match, and one that works."""
    works = Signature(("no driver",), "no driver", means("no-driver", Weight.STATE))
    late = Signature(("out of memory",), "out of memory", means("oom-true"))
    found = {"broken": (Signature(("no driver",), "no driver", _broken),), "works": (late, works)}
    monkeypatch.setattr(module, "_families_of", lambda _: found.items())


def test_every_module_is_a_family() -> None:
    names = {path.stem for path in Path(signatures.__file__).parent.glob("*.py")} - {"__init__"}
    assert set(families()) == names


def test_words_of_the_families_are_those_that_they_look_for() -> None:
    assert FILE.read_text("utf-8") == written(), "run `python -m tools.family_words`"


@pytest.mark.usefixtures("two_families")
def test_signature_that_fails_is_told_of_and_the_rest_goes_on() -> None:
    recognised = recognise(_setting("no driver"))
    assert [clue.problem for clue in recognised.clues] == ["no-driver"]
    assert [one.problem for one in recognised.failed] == ["own-check-failed"]


@pytest.mark.usefixtures("two_families")
def test_clues_stand_in_the_order_of_the_text() -> None:
    recognised = recognise(_setting("first\nno driver\nthen out of memory"))
    assert [(clue.passage.line, clue.problem) for clue in recognised.clues] == [(2, "no-driver"), (3, "oom-true")]


@pytest.mark.usefixtures("two_families")
def test_text_without_a_literal_is_not_searched() -> None:
    assert recognise(_setting("all is well")) == module.Recognised()
