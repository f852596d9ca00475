"""What a family of signatures reads in a text, short enough to compare."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.catalogue_entry import read_entry
from gpuassist.diagnose.in_english import in_english
from gpuassist.diagnose.signature import Signature, SignatureInput, clues
from gpuassist.diagnose.signatures import codes
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Clue, Paste
from gpuassist.model.text import Text
from tests.values import knowledge

# What the table of codes recognises, for the families that say what circumstances make of it.
CODES = (*codes.SIGNATURES, *codes.of_sentences(knowledge(), bool))
PROBLEMS = Path(__file__).parents[3] / "resources" / "problems"


def read(family: Iterable[Signature], words: str, machine: Machine | None = None) -> tuple[Clue, ...]:
    """The clues, the surest first; each problem that is named is described, and takes the parameters that it is given."""
    setting = SignatureInput(in_english(Paste(words), knowledge()), RuleInput(machine or Machine(), knowledge()))
    found = [clue for signature in family if setting.says(*signature.literals) for clue in clues(signature, setting)]
    for clue in found:
        assert {name for name, value in clue.parameters if value} <= _declared(clue.problem), clue
    return tuple(sorted(found, key=lambda clue: -clue.weight))


def problem(family: Iterable[Signature], words: str, machine: Machine | None = None) -> str:
    """The problem that the surest clue points to; empty where there is none."""
    found = read(family, words, machine)
    return found[0].problem if found else ""


def problems(family: Iterable[Signature], words: str, machine: Machine | None = None) -> set[str]:
    """All problems that are named."""
    return {clue.problem for clue in read(family, words, machine)}


def parameters(family: Iterable[Signature], words: str, machine: Machine | None = None) -> dict[str, str]:
    """The parameters of the surest clue, without the empty ones."""
    found = read(family, words, machine)
    assert found, words
    return {name: value.message if isinstance(value, Text) else str(value) for name, value in found[0].parameters if value}


@cache
def _declared(name: str) -> frozenset[str]:
    return frozenset(read_entry((PROBLEMS / f"{name}.toml").read_bytes()).parameters)
