"""What all that needs more than values works with: the world, what is known of NVIDIA's products, and the user's language."""

from __future__ import annotations

import gettext
import io
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH, Words

if TYPE_CHECKING:
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.system.resources import Resources
    from gpuassist.system.world import World


class Session(Struct, frozen=True):
    """One run of gpuassist; `named_language` is the one that the command line asks for, empty where it names none."""

    world: World
    knowledge: Knowledge
    words: Words
    named_language: str = ""


class Language(Struct, frozen=True):
    """A language there is: `name` is what it calls itself, and `messages` is 0 where its translation was not built."""

    code: str
    name: str
    translated: int = 1
    messages: int = 1

    @property
    def complete(self) -> bool:
        """Whether it is spoken."""
        return 0 < self.messages == self.translated


def languages(resources: Resources) -> tuple[str, ...]:
    """English and whatever there is a translation for."""
    try:
        return ("en", *(name.removesuffix(".po") for name in resources.names("words", ".po")))
    except OSError:  # a damaged copy: it speaks English
        return ("en",)


def words_for(language: str, resources: Resources) -> Words:
    """Words of a language; English, with a notice that says so, as long as its translation lacks a single sentence.

    An answer is put together of sentences from everywhere, so that a part of a translation would mix two languages in most of them.
    """
    if language == ENGLISH.language:
        return ENGLISH
    translations = _read(language, resources)
    if translations is None:
        unbuilt = text("The translation {language} is missing in this copy of gpuassist, so this is in English.", language=language)
        return replace(ENGLISH, notice=unbuilt)
    translated, messages = _count(translations)
    if translated == messages:
        return Words(language, translations)
    incomplete = text(
        "The {language} translation is not complete yet ({translated} of {messages} sentences), so this is in English.",
        language=english_name(Words(language, translations)),
        translated=translated,
        messages=messages,
    )
    return replace(ENGLISH, notice=incomplete)


def spoken(resources: Resources) -> tuple[Language, ...]:
    """English, and every language that there is a translation for, with how far that is."""
    return (Language("en", "English"), *(_language(code, resources) for code in languages(resources)[1:]))


def own_name(words: Words) -> str:
    """What the language of these words calls itself, in its own letters."""
    return "English" if words is ENGLISH else words.translations.pgettext("catalogue", "name")


def english_name(words: Words) -> str:
    """What their language is called in English, for where its own letters cannot be shown."""
    return words.translations.info().get("language-team", words.language)


def _language(code: str, resources: Resources) -> Language:
    translations = _read(code, resources)
    if translations is None:
        return Language(code, code, 0, 0)
    return Language(code, own_name(Words(code, translations)), *_count(translations))


def _count(translations: gettext.NullTranslations) -> tuple[int, int]:
    """How many messages are translated, and how many there are: hatch_build.py counts."""
    translated, _, messages = translations.pgettext("catalogue", "translated").partition("/")
    return (int(translated), int(messages)) if translated.isdecimal() and messages.isdecimal() else (0, 1)


def _read(language: str, resources: Resources) -> gettext.GNUTranslations | None:
    """A language's translations; None where they were not built, or are damaged."""
    import struct  # as gettext itself imports it only to read a file

    try:
        return gettext.GNUTranslations(io.BytesIO(resources.read(f"words/{language}.mo")))
    except (OSError, ValueError, struct.error):
        return None
