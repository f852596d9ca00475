"""An explanation in words for who shows it: how sure the first answer is, which lines it quotes, where its commands are typed."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from gpuassist.detect.readers import Contradiction
from gpuassist.diagnose.ranking import UNDECIDED, Rank
from gpuassist.formats.visible import shortened
from gpuassist.model.account import Account
from gpuassist.model.codec import Json
from gpuassist.model.finding import Answer, Evidence, OpenQuestion
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.memory_picture import MemoryPicture
from gpuassist.model.text import Text, listed, text
from gpuassist.model.words import Words
from gpuassist.present.answer_document import SCHEMA, finding_document, undetermined_document
from gpuassist.present.listing import facts_read
from gpuassist.present.memory import memory_document
from gpuassist.session.explain import Explanation, about_memory

_LINE_OF_TEXT = lazy_regex(r"pasted [^\n]{1,80}, line (\d{1,9})")


_LONGEST_QUOTE = 200  # characters: two lines of the window
_MOST_LINES = 4


class Quotation(Struct, frozen=True):
    """So many lines of the text from `line` on, counted from 1, and their beginning."""

    line: int
    count: int
    words: str


class Sureness(str, Enum):
    """How sure the first answer is."""

    SURE = "sure"
    LIKELY = "likely"
    POSSIBLE = "possible"


SURENESS_WORDS: dict[Sureness, Text] = {
    Sureness.SURE: text("certain"),
    Sureness.LIKELY: text("likely"),
    Sureness.POSSIBLE: text("possible"),
}


def sureness(explanation: Explanation) -> Sureness | None:
    """Sure where the text names the cause; likely where facts prove one that explains it; possible where it merely fits, or one
    command would have to decide. None where there is no cause: in a text that shows a sound machine.
    """
    if explanation.rank is None:
        return None
    if explanation.question is not None:
        return Sureness.POSSIBLE
    if explanation.rank is Rank.PROVED:
        return Sureness.LIKELY
    return Sureness.POSSIBLE if explanation.rank in UNDECIDED else Sureness.SURE


def line_of(evidence: Evidence) -> int:
    """The line of the text that an evidence quotes, counted from 1; 0 where it was read elsewhere."""
    found = _LINE_OF_TEXT.fullmatch(evidence.source)
    return int(found.group(1)) if found else 0


def lines_quoted(answers: Iterable[Answer]) -> tuple[int, ...]:
    """The lines of the text that these answers rest on, in their order."""
    found = (line_of(one) for answer in answers for one in answer.evidence)
    return tuple(dict.fromkeys(line for line in found if line))


def quotes(explanation: Explanation, answer: Answer) -> tuple[Quotation, ...]:
    """The lines of the text that an answer rests on, each once and as it stands there, in their order."""
    passages: dict[int, int] = {}
    for one in answer.evidence:
        if line_of(one):
            words = str(dict(one.value.parameters).get("words", ""))
            passages[line_of(one)] = max(passages.get(line_of(one), 1), words.count("\n") + 1)
    lines = explanation.paste.words.split("\n") if passages else []
    return tuple(Quotation(line, count, _quoted(lines, line, count)) for line, count in sorted(passages.items()))


def _quoted(lines: list[str], line: int, count: int) -> str:
    words = "\n".join(one.strip() for one in lines[line - 1 : line - 1 + min(count, _MOST_LINES)])
    return shortened(words, _LONGEST_QUOTE)


def picture_of(explanation: Explanation, answer: Answer) -> MemoryPicture | None:
    """The picture of the card's memory, for the answer that it belongs to: the first about memory, else the first."""
    owner = next(filter(about_memory, explanation.answers), explanation.answers[0] if explanation.answers else None)
    return explanation.memory if answer is owner else None


def accounts_shown(explanation: Explanation) -> tuple[Account, ...]:
    """What the text tells, without what its title says already, and below a problem only what has lines of its own."""
    title = explanation.title
    return tuple(
        Account(Text(""), one.lines) if one.title == title else one
        for one in explanation.accounts
        if one.lines or not (explanation.convicts or one.title == title)
    )


def places_of(contradiction: Contradiction) -> Text:
    """The lines of the text that contradict each other."""
    return text("lines {numbers}", numbers=listed(map(str, contradiction.lines)))


def left_out(explanation: Explanation) -> Text | None:
    """That only the two ends of a long text were read; none where all of it was."""
    if not explanation.paste.left_out or not explanation.paste.words:
        return None
    mebibytes = max(1, explanation.paste.left_out >> 20)
    return text("Its beginning and its end were read; {count} MiB between them were left out.", count=mebibytes)


def explanation_document(explanation: Explanation, words: Words) -> Json:
    """What `explain --json` prints: the contract of `doctor --json`, the most likely cause first, and what a text has beside."""
    return {
        "schema": SCHEMA,
        "findings": [finding_document(answer, words) for answer in explanation.answers],
        "undetermined": undetermined_document(explanation.undetermined, words),
        "known": explanation.known,
        "verdict": words(explanation.title),
        "less_likely": [
            {"finding": finding_document(doubt.answer, words), "reason": words(doubt.reason)} for doubt in explanation.less_likely
        ],
        "memory": memory_document(explanation.memory, words) if explanation.memory else None,
        "basis": {"ground": explanation.basis.ground.value, "reason": words(explanation.basis.reason)},
        "facts_read": [
            {"of": words(section.title), "fact": words(line.label), "value": words(line.value), "source": line.source}
            for section in facts_read(explanation.machine)
            for line in section.lines
        ],
        "contradictions": [
            {"fact": words(one.fact), "values": list(one.values), "lines": list(one.lines)} for one in explanation.contradictions
        ],
        "read": [{"title": words(one.title), "lines": [words(line) for line in one.lines]} for one in explanation.accounts],
        "guides": list(dict.fromkeys(guide.topic for answer in explanation.answers for guide in answer.guides)),
        "left_out_bytes": explanation.paste.left_out,
        "question": _question_document(explanation.question) if explanation.question is not None else None,
    }


def _question_document(question: OpenQuestion) -> Json:
    return {
        "text": question.words,
        "asks": question.asks,
        "commands": list(question.commands),
        "cases": [{"shows": case.shows, "id": case.problem or None, "title": case.title or None} for case in question.cases],
    }
