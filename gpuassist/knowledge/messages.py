"""What other programs print in a language of their own, and what they print in English."""

from __future__ import annotations

from msgspec import Struct

# By words: those whose letters English has as well; the others are known by their script.
BY_WORDS = ("cs", "de", "es", "fr", "hu", "it", "nl", "pl", "pt", "pt_BR", "sv", "tr")
LANGUAGES = (*BY_WORDS, "ja", "ko", "ru", "uk", "zh_CN", "zh_TW")


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
