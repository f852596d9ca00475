"""Languages of the tests' own, and those that ship, also where they are not complete yet."""

from __future__ import annotations

import gettext
import io
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from gpuassist.model.words import Words
from gpuassist.system.resources import Resources
from hatch_build import compile_words

RESOURCES = Path(__file__).resolve().parents[1] / "resources"
KNOWN_CHINESE = {"print the version": "显示版本", "language of what is printed": "输出所用的语言"}


@cache
def catalogue(language: str) -> Catalog:
    """What the file of a language holds."""
    with (RESOURCES / "words" / f"{language}.po").open("rb") as file:
        return read_po(file, locale=language)


@cache
def shipped(language: str) -> Words:
    """Words of a language with as much of its translation as there is."""
    return _spoken(catalogue(language), language)


def words_of(language: str, sentences: Mapping[str, str]) -> Words:
    """Words of a language whose translation is these sentences."""
    return _spoken(_made(language, sentences), language)


def write_translation(words: Path, language: str, sentences: Mapping[str, str]) -> None:
    """Puts a translation into a folder of words, and builds it; a sentence may be empty."""
    words.mkdir(parents=True, exist_ok=True)
    with (words / f"{language}.po").open("wb") as file:
        write_po(file, _made(language, sentences))
    compile_words(words / f"{language}.po")


def knowing_little_chinese(copy: Path, *, complete: bool = True) -> None:
    """A copy of the resources whose Chinese consists of two messages; both are translated where it is complete."""
    shutil.copytree(RESOURCES, copy, ignore=shutil.ignore_patterns("words"))
    last = {} if complete else {"print the version": ""}
    write_translation(copy / "words", "zh_CN", KNOWN_CHINESE | last)


def with_languages(copy: Path, languages: Mapping[str, Mapping[str, str]], *, guides: bool = True) -> Resources:
    """The resources with these translations in place of those that ship; guides can be added to the copy's own."""
    copy.mkdir(parents=True)
    for one in RESOURCES.iterdir():
        if one.name == "guides" and guides:
            shutil.copytree(one, copy / one.name)
        elif one.name != "words":
            (copy / one.name).symlink_to(one)
    for language, sentences in languages.items():
        write_translation(copy / "words", language, sentences)
    return Resources(copy)


def _made(language: str, sentences: Mapping[str, str]) -> Catalog:
    made = Catalog(language, language_team=Locale.parse(language).get_language_name("en"), fuzzy=False)
    for message, sentence in sentences.items():
        made.add(message, sentence)
    return made


def _spoken(of: Catalog, language: str) -> Words:
    file = io.BytesIO()
    write_mo(file, of)
    return Words(language, gettext.GNUTranslations(io.BytesIO(file.getvalue())))
