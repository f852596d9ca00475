"""What other programs print in a language of their own, and what they print in English."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.knowledge.rows import Row, RowError, Source, source_of, text_of

# By words: those whose letters English has as well; the others are known by their script.
BY_WORDS = ("cs", "de", "es", "fr", "hu", "it", "nl", "pl", "pt", "pt_BR", "sv", "tr")
LANGUAGES = (*BY_WORDS, "ja", "ko", "ru", "uk", "zh_CN", "zh_TW")


_FRAMES = frozenset({"", "relation", "line", "linked"})


class ForeignMessage(Struct, frozen=True):
    """A sentence with `{0}`, `{1}` where it names something. `frame` says where alone it means that: a `relation` stands between a
    package and another one, a `line` has only it, a `linked` one names a library that a linker looks for.
    """

    foreign: str
    english: str
    frame: str
    source: str
    checked: str


class LanguageMarks(Struct, frozen=True):
    """Words in lower case of which each sentence of a language has at least one, and English texts hardly any."""

    language: str
    words: frozenset[str]
    source: str
    checked: str


def foreign_message(row: Row, sources: dict[str, Source]) -> ForeignMessage:
    source, frame = source_of(row, sources), text_of(row, "frame", "")
    if frame not in _FRAMES:
        raise RowError("frame")
    return ForeignMessage(text_of(row, "foreign"), text_of(row, "english"), frame, source.text, source.checked)


def language_marks(row: Row, sources: dict[str, Source]) -> LanguageMarks:
    source = source_of(row, sources)
    return LanguageMarks(text_of(row, "language"), frozenset(text_of(row, "words").split()), source.text, source.checked)
