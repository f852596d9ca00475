"""How rules say what they found: findings with evidence, checks that passed, and facts that are missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, Protocol, Union

from gpuassist.diagnose.case import KnownGpu, RuleInput
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.finding import Evidence, Finding, Passed, Undetermined
from gpuassist.model.text import Parameter, Text, enumerated, verbatim

Verdict = Union[Finding, Undetermined, Passed]


class Rule(Protocol):
    """Judges one question; yields nothing where the question does not arise."""

    __name__: str

    def __call__(self, case: RuleInput) -> Iterator[Verdict]:
        """What it has to say of the machine."""


def finding(problem: str, *evidence: Evidence | None, **parameters: Parameter) -> Finding:
    """A problem with the facts that prove it; evidence that is None is left out."""
    return Finding(problem, tuple(parameters.items()), tuple(one for one in evidence if one is not None))


def proof(label: Text, fact: Fact[Any], words: Text | None = None) -> Evidence | None:
    """A known fact as evidence; None for an unknown one."""
    if isinstance(fact, Unknown):
        return None
    value = fact.value.value if isinstance(fact.value, Enum) else fact.value
    return Evidence(label, words if words is not None else verbatim(str(value)), fact.source)


def undetermined(problem: str, label: Text, *facts: Fact[Any]) -> Iterator[Undetermined]:
    """The first unknown one of the facts as what keeps the problem from being told; nothing where all are known."""
    for fact in facts:
        if not isinstance(fact, Known):
            yield Undetermined(problem, label, fact.reason)
            return


def listed(words: list[str] | tuple[str, ...]) -> str:
    return ", ".join(words)


def named(cards: Iterable[KnownGpu]) -> Text | str:
    """The names of GPUs as a sentence of the catalogue takes them, each once."""
    every = tuple(dict.fromkeys(card.name for card in cards))
    return enumerated(every) if len(every) > 1 else "".join(every)
