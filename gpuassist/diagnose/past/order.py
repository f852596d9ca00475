"""Which of several changes matters most: what the findings point at, then what GPU work depends on, then the newest."""

from __future__ import annotations

from collections.abc import Iterable

from gpuassist.diagnose.past.moments import moment
from gpuassist.diagnose.past.transactions import of_itself
from gpuassist.model.finding import Finding
from gpuassist.model.past import Direction, MachineChange, Subject
from gpuassist.model.text import Text

_SUBJECTS = tuple(Subject)
# What is of one environment explains a finding that names it, and no other.
_OF_ONE_PLACE = frozenset({Subject.TORCH, Subject.PYTHON_PACKAGE, Subject.ENVIRONMENT})


def ranked(changes: Iterable[MachineChange], blamed: tuple[str, ...]) -> tuple[MachineChange, ...]:
    """Each once; another computer before all else, because it explains all else."""

    def key(change: MachineChange) -> tuple[bool, int, int, float]:
        pointed = next((place for place, cause in enumerate(blamed) if is_cause(change, cause)), len(blamed))
        at = moment(change.at or change.latest)
        newest_first = -at.timestamp() if at is not None else 0.0
        return change.subject is not Subject.COMPUTER, pointed, _SUBJECTS.index(change.subject), newest_first

    return tuple(sorted(dict.fromkeys(changes), key=key))


def is_cause(change: MachineChange, cause: str) -> bool:
    """Whether a change is one of `driver`, or of `variable:CUDA_HOME`: then the word stands in it."""
    subject, _, word = cause.partition(":")
    if change.subject.value != subject:
        return False
    return not word or any(word in part for part in (change.name, change.before, change.after, *change.packages))


def is_beside(change: MachineChange, blamed: Iterable[str]) -> bool:
    """Whether it is a package that stands around GPU work, and that nothing says to be the cause of anything: every week brings a
    kmod, a Mesa or a docker, and among them the one change that matters would not be seen.
    """
    if change.subject is not Subject.SYSTEM_PACKAGE or any(is_cause(change, cause) for cause in blamed):
        return False
    return not of_itself(change.name, gone=change.direction is Direction.REMOVED)


def explains(change: MachineChange, finding: Finding, causes: Iterable[str]) -> bool:
    """Whether a change is what a finding may come from: one of its problem's causes, and of the environment that it is about."""
    if not any(is_cause(change, cause) for cause in causes):
        return False
    if change.subject not in _OF_ONE_PLACE or not change.place:
        return True
    place = change.place.rstrip("/")
    return any(_names(words, place) for words in _words(finding))


def _names(words: str, place: str) -> bool:
    """Whether a path is named, or one inside it."""
    end = words.find(place)
    while end >= 0:
        if words[end + len(place) : end + len(place) + 1] in {"", "/", " ", ",", ")", ":", "'", '"', "`"}:
            return True
        end = words.find(place, end + 1)
    return False


def _words(finding: Finding) -> Iterable[str]:
    for _, value in finding.parameters:
        yield from _strings(value)
    for one in finding.evidence:
        yield one.source
        yield from _strings(one.value)


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Text):
        for _, parameter in value.parameters:
            yield from _strings(parameter)
