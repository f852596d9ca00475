"""What a text shows and what facts prove, weighed: the most likely cause first, what is less likely with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from gpuassist.diagnose.leads_to import behind
from gpuassist.model.finding import Diagnosis, Evidence, Finding, Undetermined
from gpuassist.model.paste import Clue, Weight
from gpuassist.model.text import Text, text, verbatim

_ELSEWHERE = "not-a-gpu-problem"  # logs are full of it: it answers only what nothing about the GPU answers
_MOST_PASSAGES = 3  # of one problem that are shown: a log repeats itself


class Rank(IntEnum):
    """How well a problem is founded, the best first."""

    SAID_AND_PROVED = 0
    SAID = 1
    PROVED = 2
    POSSIBLE = 3
    BESIDE = 4
    """Proved, and no more than a warning: it explains no failure."""
    FOLLOWS = 5
    RULED_OUT = 6


@dataclass(frozen=True, slots=True)
class Suspect:
    """A problem that may be the cause, with its rank and the line of the text that shows it first (0: none does)."""

    finding: Finding
    rank: Rank
    line: int


@dataclass(frozen=True, slots=True)
class Unlikely:
    """A problem that the text could mean as well, and why it is less likely."""

    finding: Finding
    reason: Text


@dataclass(frozen=True, slots=True)
class Explained:
    """The findings, most likely cause first; what else the text could mean; what could not be told; how well the first finding
    is founded, none where there is none.
    """

    findings: tuple[Finding, ...] = ()
    less_likely: tuple[Unlikely, ...] = ()
    undetermined: tuple[Undetermined, ...] = ()
    rank: Rank | None = None


def weigh(
    clues: tuple[Clue, ...],
    told: Diagnosis,
    joined: Diagnosis,
    *,
    minor: frozenset[str] = frozenset(),
    refuted: Mapping[str, Text] | None = None,
) -> Explained:
    """`told` is what the rules say of the facts in the text alone, `joined` of those together with the machine's; `minor` are
    the problems that the rules found and that are no more than a warning, `refuted` those that a fact speaks against.
    """
    against = refuted or {}
    suspects = [_held_against(one, clues, against) for one in _suspects(clues, told, joined, minor)]
    found = frozenset(one.finding.problem for one in suspects)
    ordered = sorted(suspects, key=lambda one: _place(one, suspects))
    first = ordered[0] if ordered else None
    kept = [one for one in ordered if first is None or _stands_beside(one, first)]
    doubted = [Unlikely(one.finding, _doubt(one, found, against)) for one in ordered if one not in kept]
    named = {clue.problem for clue in clues}
    open_ = tuple(one for one in joined.undetermined if one.problem in named - {kept_one.finding.problem for kept_one in kept})
    return Explained(tuple(one.finding for one in kept), tuple(doubted), open_, first.rank if first else None)


def _held_against(suspect: Suspect, clues: tuple[Clue, ...], refuted: Mapping[str, Text]) -> Suspect:
    """What a fact speaks against steps back, unless the text names it as the cause in so many words."""
    problem = suspect.finding.problem
    if problem not in refuted or any(clue.problem == problem and clue.weight is Weight.CAUSE for clue in clues):
        return suspect
    return replace(suspect, rank=Rank.RULED_OUT)


def _suspects(clues: tuple[Clue, ...], told: Diagnosis, joined: Diagnosis, minor: frozenset[str]) -> Iterable[Suspect]:
    said: dict[str, list[Clue]] = {}
    for clue in clues:
        said.setdefault(clue.problem, []).append(clue)
    by_text = {one.problem: one for one in reversed(told.findings)}
    by_machine = {one.problem: one for one in reversed(joined.findings)}
    for problem, group in said.items():
        proof = by_text.get(problem) or by_machine.get(problem)
        yield Suspect(_from_clues(group, proof), _rank(group, proof), min(clue.passage.line for clue in group))
    for problem, proof in by_text.items():
        if problem not in said:
            yield Suspect(proof, Rank.BESIDE if problem in minor else Rank.PROVED, 0)
    for problem, proof in by_machine.items():
        if problem not in said and problem not in by_text and _explains(problem, clues):
            yield Suspect(proof, Rank.PROVED, 0)


def _explains(problem: str, clues: tuple[Clue, ...]) -> bool:
    """Whether what the machine shows is a likely cause of what the text shows."""
    return any(problem in behind(clue.problem, frozenset({problem})) for clue in clues if clue.weight < Weight.CAUSE)


def _rank(group: list[Clue], proof: Finding | None) -> Rank:
    weight = max(clue.weight for clue in group)
    if proof is not None and weight > Weight.CONSEQUENCE:
        return Rank.SAID_AND_PROVED
    return {Weight.CAUSE: Rank.SAID, Weight.SYMPTOM: Rank.POSSIBLE, Weight.CONSEQUENCE: Rank.FOLLOWS}[weight]


def _from_clues(group: list[Clue], proof: Finding | None) -> Finding:
    """One finding of all passages: the surest clue's parameters first, then those of the others, over those that facts give."""
    parameters = dict(proof.parameters) if proof else {}
    for clue in sorted(group, key=lambda clue: clue.weight):
        parameters.update({name: value for name, value in clue.parameters if value != ""})
    passages = list(dict.fromkeys(clue.passage for clue in group))[:_MOST_PASSAGES]
    shown = tuple(
        Evidence(text("the text says"), verbatim(passage.words), f"pasted text, line {passage.line}") for passage in passages
    )
    return Finding(group[0].problem, tuple(parameters.items()), (*shown, *(proof.evidence if proof else ())))


def _place(suspect: Suspect, suspects: list[Suspect]) -> tuple[int, int, bool, int]:
    """By rank, but never before its own cause; then in the order of the text, what is none of the GPU's last."""
    founded = frozenset(one.finding.problem for one in suspects if one.rank < Rank.POSSIBLE)
    causes = behind(suspect.finding.problem, founded)
    rank = max([suspect.rank, *(one.rank for one in suspects if one.finding.problem in causes)])
    elsewhere = suspect.finding.problem == _ELSEWHERE
    return max(rank, Rank.POSSIBLE) if elsewhere else rank, len(causes), elsewhere, suspect.line


def _stands_beside(suspect: Suspect, first: Suspect) -> bool:
    """What is said or proved stands; what is merely possible stands where there is nothing better, and there the first alone."""
    if suspect is first:
        return suspect.rank is not Rank.RULED_OUT or suspect.line > 0
    return suspect.rank not in {Rank.POSSIBLE, Rank.FOLLOWS, Rank.RULED_OUT}


def _doubt(suspect: Suspect, found: frozenset[str], refuted: Mapping[str, Text]) -> Text:
    if suspect.rank is Rank.RULED_OUT:
        return text("a fact speaks against it: {fact}", fact=refuted[suspect.finding.problem])
    if behind(suspect.finding.problem, found) or suspect.rank is Rank.FOLLOWS:
        return text("it follows from what is named above")
    return text("the message fits it as well, but nothing else in the text points to it")
