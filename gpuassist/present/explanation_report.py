"""An explanation to hand on: as plain lines to paste into a message, and as Markdown with the text it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuassist.detect.readers import Contradiction
from gpuassist.model.finding import Answer, Evidence
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.memory_picture import MemoryPicture
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.commands import command_lines, copyable, copyable_lines, where_to_type
from gpuassist.present.explanation import accounts_shown, left_out, picture_of, places_of
from gpuassist.present.listing import Section, facts_read
from gpuassist.present.memory import as_plain_text
from gpuassist.present.redaction import HOST, NOBODY, USER, Person, redacted
from gpuassist.present.remedies import LETTERS, ShownRemedy, shown_together
from gpuassist.session.explain import Explanation

_EACH_END = 50_000  # characters of the text that a file for a colleague holds from either end
_FENCES = lazy_regex(r"`{3,}")


def in_plain_words(explanation: Explanation, words: Words, person: Person = NOBODY) -> str:
    """The answer, to be copied into a message, without the names of users and computers."""
    return redacted("\n\n".join(_Lines(words).answer(explanation)), person) + "\n"


def in_markdown(explanation: Explanation, words: Words, person: Person = NOBODY) -> str:
    """The answer, what was read, and the text itself, without the names of users and computers."""
    lines = _Lines(words)
    parts = [f"# {words(explanation.title)}", *list(lines.answer(explanation))[1:], *lines.facts(facts_read(explanation.machine))]
    left = text("The names of users and computers are left out: {user} and {host} stand in their place.", user=USER, host=HOST)
    parts += [f"## {words(text('The text'))}", words(left), *_fenced(explanation.paste.words)]
    return redacted("\n\n".join(parts), person) + "\n"


class _Lines:
    """Paragraphs that read well as plain text and are Markdown as well."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._told = set[str]()  # where to type commands: said once, not under each

    def answer(self, explanation: Explanation) -> Iterator[str]:
        """The verdict first; every paragraph is one string."""
        yield self._words(explanation.title)
        shortened = left_out(explanation)
        yield " ".join(self._words(one) for one in (explanation.basis.reason, shortened) if one is not None)
        if not explanation.convicts:
            yield from self._accounts(explanation)
        for one, remedies in zip(explanation.answers, shown_together(explanation.answers), strict=True):
            yield from self._one(one, remedies, picture_of(explanation, one))
        if explanation.convicts:
            yield from self._accounts(explanation)
        if explanation.less_likely:
            doubts = (text("{title}: {reason}", title=one.answer.title, reason=one.reason) for one in explanation.less_likely)
            yield "\n".join([self._words(text("Less likely:")), *map(self._pair, doubts)])
        if explanation.contradictions:
            yield "\n".join(
                [
                    self._words(text("The text contradicts itself; the first was used:")),
                    *map(self._contradiction, explanation.contradictions),
                ]
            )
        if explanation.undetermined:
            open_ = (text("{fact}: {reason}", fact=one.fact, reason=one.reason) for one in explanation.undetermined)
            yield "\n".join([self._words(text("Could not be determined:")), *map(self._pair, open_)])

    def facts(self, sections: tuple[Section, ...]) -> Iterator[str]:
        """What was read in the text."""
        if sections:
            yield f"## {self._words(text('Read in the text'))}"
        for section in sections:
            facts = (text("{fact}: {value}", fact=line.label, value=line.value) for line in section.lines)
            yield "\n".join([self._words(section.title), "", *map(self._pair, facts)])

    def _accounts(self, explanation: Explanation) -> Iterator[str]:
        """What the text tells, before or below what it shows of faults."""
        if explanation.memory is not None and not explanation.answers:
            yield "\n".join(f"- {line}" for line in as_plain_text(explanation.memory, self._words).split("\n"))
        for one in accounts_shown(explanation):
            yield "\n".join([*([self._words(one.title)] if one.title.message else []), *map(self._pair, one.lines)])

    def _one(self, answer: Answer, remedies: tuple[ShownRemedy, ...], picture: MemoryPicture | None) -> Iterator[str]:
        yield f"## {answer.title}"
        if answer.explanation:
            yield answer.explanation
        if picture is not None:
            yield "\n".join(f"- {line}" for line in as_plain_text(picture, self._words).split("\n"))
        if answer.evidence:
            yield "\n".join(map(self._evidence, answer.evidence))
        for place, shown in enumerate(remedies, start=1):
            yield f"{place}. {shown.remedy.text}"
            yield from self._remedy(shown)
        if answer.links:
            yield "\n".join(f"<{address}>" for address in answer.links)

    def _remedy(self, shown: ShownRemedy) -> Iterator[str]:
        remedy = shown.remedy
        if shown.before is not None:
            yield f"   {self._words(shown.before)}"
        for letter, step in zip(LETTERS, shown.steps, strict=False):
            yield f"   {letter}) {self._words(step.text)}"
            yield from self._commands(step.commands)
            if step.check is not None:
                yield self._check(self._words(step.check))
        yield from self._commands(command_lines(remedy) if shown.is_one else ())
        where = where_to_type(remedy) if shown.steps or shown.is_one else None
        told = self._words(where) if where is not None else ""
        if told and told not in self._told:
            self._told.add(told)
            yield f"   {told}"
        if remedy.check and shown.is_one:
            yield self._check(remedy.check)
        yield from (f"   {self._words(text('Note: {note}', note=note))}" for note in shown.notes)

    def _commands(self, lines: Iterable[str]) -> Iterator[str]:
        commands = [f"       {self._words(line)}" for line in copyable_lines(lines)]
        if commands:
            yield "\n".join(commands)

    def _check(self, check: str) -> str:
        return f"   {self._words(text('To see that it worked: {check}', check=copyable(check)))}"

    def _evidence(self, one: Evidence) -> str:
        source = f" ({one.source})" if one.source else ""
        return f"{self._pair(text('{fact}: {value}', fact=one.fact, value=one.value))}{source}"

    def _contradiction(self, one: Contradiction) -> str:
        value = text("{fact}: {value}", fact=one.fact, value=" / ".join(one.values))
        return f"{self._pair(value)} ({self._words(places_of(one))})"

    def _pair(self, words: Text) -> str:
        return f"- {self._words(words)}"


def _fenced(words: str) -> Iterator[str]:
    """The text as a block of code, its middle left out where it is very long; a fence is longer than any in the text."""
    longest = max((len(found.group()) for found in _FENCES.finditer(words)), default=2)
    fence = "`" * (longest + 1)
    ends = (words,) if len(words) <= 2 * _EACH_END else (words[:_EACH_END], words[-_EACH_END:])
    yield "\n\n⋯\n\n".join(f"{fence}text\n{end}\n{fence}" for end in ends)
