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
    """One run of gpuassist."""

    world: World
    knowledge: Knowledge
    words: Words


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
    import struct  # as gettext itself imports it only to read a file

    try:
        translations = gettext.GNUTranslations(io.BytesIO(resources.read(f"words/{language}.mo")))
    except (OSError, ValueError, struct.error):  # not built, or damaged
        unbuilt = text("The translation {language} is missing in this copy of gpuassist, so this is in English.", language=language)
        return replace(ENGLISH, notice=unbuilt)
    translated, _, messages = translations.pgettext("catalogue", "translated").partition("/")  # hatch_build.py counts
    if translated == messages:
        return Words(language, translations)
    incomplete = text(
        "The {language} translation is not complete yet ({translated} of {messages} sentences), so this is in English.",
        language=translations.info().get("language-team", language),
        translated=translated,
        messages=messages,
    )
    return replace(ENGLISH, notice=incomplete)
