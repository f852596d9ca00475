"""Texts become sentences at the border."""

from __future__ import annotations

import gettext
import io
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from gpuassist.context import words_for
from gpuassist.model.text import counted, enumerated, text, verbatim
from gpuassist.model.words import ENGLISH, Words, language_of
from gpuassist.system.resources import Resources
from tests.translations import shipped


def _chinese() -> Words:
    catalog = Catalog(locale="zh_CN")
    catalog.add("no driver for {gpu}", "没有 {gpu} 的驱动")
    catalog.add(("{count} problem", "{count} problems"), ("{count} 个问题",))
    file = io.BytesIO()
    write_mo(file, catalog)
    return Words("zh_CN", gettext.GNUTranslations(io.BytesIO(file.getvalue())))


def test_parameters_are_filled_in() -> None:
    assert ENGLISH(text("{gpu} has {size}", gpu="RTX 4090", size=24)) == "RTX 4090 has 24"


def test_text_inside_text_is_rendered_first() -> None:
    assert ENGLISH(text("not read: {why}", why=text("{path} is missing", path="/x"))) == "not read: /x is missing"


def test_verbatim_words_keep_their_braces() -> None:
    assert ENGLISH(verbatim("a {b} c")) == "a {b} c"


@pytest.mark.parametrize(("count", "words"), [(0, "0 GPUs"), (1, "1 GPU"), (2, "2 GPUs")])
def test_count_chooses_the_form(count: int, words: str) -> None:
    assert ENGLISH(counted("{count} GPU", "{count} GPUs", count)) == words


def test_translation_is_used() -> None:
    assert _chinese()(text("no driver for {gpu}", gpu="RTX 4090")) == "没有 RTX 4090 的驱动"


def test_translated_plural_is_used() -> None:
    assert _chinese()(counted("{count} problem", "{count} problems", 3)) == "3 个问题"


def test_untranslated_text_stays_english() -> None:
    assert _chinese()(text("something new")) == "something new"


def test_language_whose_translation_is_missing_is_english_and_says_so(tmp_path: Path) -> None:
    words = words_for("zh_CN", Resources(tmp_path))
    assert words(text("hello")) == "hello"
    assert words.language == "en"
    assert words.notice is not None
    assert "zh_CN is missing" in words(words.notice)


def test_english_has_nothing_to_say_first(tmp_path: Path) -> None:
    assert words_for("en", Resources(tmp_path)) is ENGLISH
    assert ENGLISH.notice is None


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "zh"}, "zh_CN"),
        ({"LANG": "pt_BR@x"}, "pt_BR"),
        ({"LANG": "pt_PT"}, "pt"),
        ({"LANG": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LC_MESSAGES": "zh_TW.UTF-8", "LANG": "en_US.UTF-8"}, "zh_CN"),
        ({"LC_ALL": "", "LANG": "zh_CN"}, "zh_CN"),
        ({"LANGUAGE": "zh_CN", "LANG": "en_US.UTF-8"}, "zh_CN"),
        ({"LANGUAGE": "de:zh_TW:en", "LANG": "en_US.UTF-8"}, "zh_CN"),
        ({"LANGUAGE": "en_GB:en", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LANGUAGE": "de", "LANG": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LANGUAGE": "zh_CN", "LANG": "C.UTF-8"}, "en"),
    ],
)
def test_locale_chooses_the_language(variables: dict[str, str], language: str) -> None:
    assert language_of(variables, ("en", "pt", "pt_BR", "zh_CN")) == language


def test_chinese_row_of_names_is_chinese() -> None:
    assert shipped("zh_CN")(enumerated(("A", "B", "C"))) == "A、B和C"
