"""Answers of the catalogue on a terminal: glyph, word and title, why, by which evidence, and what to do."""

from __future__ import annotations

from collections.abc import Iterable

from gpuassist.cli.context import Context
from gpuassist.cli.paragraphs import show_command, width_of, wrapped
from gpuassist.cli.streams import BOLD, CYAN, DIM, RED, YELLOW, Painted
from gpuassist.model.finding import Answer, Severity, Undetermined
from gpuassist.model.plan import Step
from gpuassist.model.text import labelled, text
from gpuassist.present.commands import command_lines, copyable
from gpuassist.present.marks import MARK_WORDS, Exit, exit_of, glyph_of, mark_of, worst
from gpuassist.present.remedies import LETTERS, ShownRemedy, Telling

_COLOURS = {Severity.PROBLEM: RED, Severity.WARNING: YELLOW, Severity.INFO: CYAN}
_ROOT = text("needs administrator rights: copy it, gpuassist shows such commands and never runs them")
_ROOT_AGAIN = text("needs administrator rights")


def severest(answers: Iterable[Answer], *, otherwise: Exit) -> Exit:
    """The exit status of the worst answer; `otherwise` where none is a problem or a warning."""
    found = [exit_of(answer.severity) for answer in answers if answer.severity is not Severity.INFO]
    return worst(found) if found else otherwise


class AnswerWriter:
    """Writes for people to read."""

    def __init__(self, context: Context, *, width: int = 0) -> None:
        self._context = context
        self._words = context.session.words
        self._width = width or width_of(context)
        self._telling = Telling()
        self._told_of_root = False

    def answer(self, answer: Answer, *, is_open: bool = False) -> None:
        """One answer, after an empty line; `is_open` where it is a question that a command decides."""
        glyph, severity = glyph_of(answer.severity), MARK_WORDS[mark_of(answer.severity)]
        if is_open:
            glyph, severity = "?", text("to be decided")
        self._context.say()
        self.say(f"{glyph} {self._words(labelled(severity, answer.title))}", hanging="  ", style=BOLD + _COLOURS[answer.severity])
        if answer.explanation:
            self.say(answer.explanation, indent="  ")
        if answer.since:
            from gpuassist.present.past import explained_words  # seldom, and never on a healthy machine

            now = self._context.session.world.clock.now()
            for change in answer.since:
                self.say(self._words(explained_words(change, now)), indent="  ")
        for one in answer.evidence:
            source = f"  [{one.source}]" if one.source else ""
            words = self._words(labelled(one.fact, one.value))
            self.say(f"- {words}{source}", indent="  ", hanging="  ", style=DIM)
        self.remedies(answer)

    def remedies(self, answer: Answer) -> None:
        """What to do, and where to read on."""
        for place, shown in enumerate(self._telling.remedies(answer), start=1):
            self._context.say()
            self._remedy(f"{place}. ", shown)
        if answer.links:
            self._context.say()
        for address in answer.links:
            self._context.say(Painted(f"  {address}", DIM))
        for guide in answer.guides:
            self._context.say(Painted(f"  gpuassist explain --topic {guide.topic}", DIM))

    def _remedy(self, number: str, shown: ShownRemedy) -> None:
        remedy, inside = shown.remedy, "  " + " " * len(number)
        self.say(f"{number}{remedy.text}", indent="  ", hanging=" " * len(number))
        if shown.before is not None:
            self.say(self._words(shown.before), indent=inside)
        for letter, step in zip(LETTERS, shown.steps, strict=False):
            self._step(f"{letter}) ", step, inside)
        for line in command_lines(remedy) if shown.is_one else ():
            show_command(self._context, line, indent=f"{inside}  ", style=BOLD)
        if remedy.needs_root and (shown.steps or shown.is_one):
            self.say(f"({self._words(_ROOT_AGAIN if self._told_of_root else _ROOT)})", indent=inside, style=DIM)
            self._told_of_root = True
        if remedy.check and shown.is_one:
            self._check(remedy.check, inside)
        for note in shown.notes:
            self.say(self._words(text("Note: {note}", note=note)), indent=inside)

    def _step(self, letter: str, step: Step, indent: str) -> None:
        inside = indent + " " * len(letter)
        self.say(f"{letter}{self._words(step.text)}", indent=indent, hanging=" " * len(letter))
        for line in step.commands:
            show_command(self._context, line, indent=f"{inside}  ", style=BOLD)
        if step.check is not None:
            self._check(self._words(step.check), inside)

    def _check(self, check: str, indent: str) -> None:
        self.say(self._words(text("To see that it worked: {check}", check=copyable(check))), indent=indent)

    def undetermined(self, undetermined: tuple[Undetermined, ...]) -> None:
        """What could not be told, after an empty line."""
        self._context.say()
        self.say(f"? {self._words(text('Could not be determined:'))}")
        for one in undetermined:
            words = self._words(text("{fact}: {reason}", fact=one.fact, reason=one.reason))
            self.say(f"- {words}  [{one.problem}]", indent="  ", hanging="  ")

    def say(self, words: str, *, indent: str = "", hanging: str = "", style: str = "") -> None:
        for line in wrapped(words, self._width, first=indent, hanging=indent + hanging) or [indent]:
            self._context.say(Painted(line, style))
