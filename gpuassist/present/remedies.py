"""The remedies of several answers as they are shown together: a step that two of them share stands once, under the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile

from msgspec import Struct

from gpuassist.model.finding import Answer, Remedy
from gpuassist.model.plan import Step
from gpuassist.model.text import Text, text

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class ShownRemedy(Struct, frozen=True):
    """A remedy with those of its steps that are shown with it: none where it has but one, which is the remedy itself. `before`
    says where the steps stand that come first, None where all are shown.
    """

    remedy: Remedy
    steps: tuple[Step, ...]
    before: Text | None = None

    @property
    def is_one(self) -> bool:
        """Whether its command lines are its own, and no step's."""
        return not self.steps and self.before is None

    @property
    def notes(self) -> tuple[Text, ...]:
        """What to know beside what is shown."""
        return self.remedy.notes if self.steps or self.is_one else ()


class Telling:
    """What was told so far of a series of answers."""

    def __init__(self) -> None:
        self._told: dict[Step, str] = {}

    def remedies(self, answer: Answer) -> tuple[ShownRemedy, ...]:
        """Those of the next answer."""
        shown = tuple(map(self._shown, answer.remedies))
        for remedy in answer.remedies:
            for step in remedy.steps:
                self._told.setdefault(step, answer.title)
        return shown

    def _shown(self, remedy: Remedy) -> ShownRemedy:
        """Only steps at the beginning are left out: what comes after another step is done after it."""
        first = tuple(takewhile(self._told.__contains__, remedy.steps))
        if not first:
            return ShownRemedy(remedy, remedy.steps if len(remedy.steps) > 1 else ())
        title = self._told[first[-1]]
        if len(first) == len(remedy.steps):
            return ShownRemedy(remedy, (), text("These are the steps under “{title}”.", title=title))
        return ShownRemedy(remedy, remedy.steps[len(first) :], text("First the steps under “{title}”, then:", title=title))


def shown_together(answers: Iterable[Answer]) -> Iterator[tuple[ShownRemedy, ...]]:
    """The remedies of each of the answers, in their order."""
    return map(Telling().remedies, answers)
