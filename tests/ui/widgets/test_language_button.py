"""Each language is offered in its own words, and only one that is complete can be chosen."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtTest import QSignalSpy

from gpuassist.context import words_for
from gpuassist.model.words import ENGLISH
from gpuassist.system.resources import Resources
from gpuassist.ui.widgets.language_button import LanguageButton
from tests.translations import with_languages
from tests.ui.showing import Show

POLISH = {"Language": "Język", "Follow system": "Jak pulpit"}


@pytest.fixture
def resources(tmp_path: Path) -> Resources:
    return with_languages(tmp_path / "copy", {"de": {"Language": "Sprache", "Follow system": ""}, "pl": POLISH}, guides=False)


@pytest.fixture
def button(show: Show, resources: Resources) -> LanguageButton:
    return show(LanguageButton(ENGLISH, "pl", resources), 200, 40)


def test_each_language_is_named_in_its_own_words(button: LanguageButton) -> None:
    named = [(action.text(), action.isEnabled(), action.isChecked()) for action in button.menu_of_languages().actions()]
    assert named == [
        ("Follow system", True, False),
        ("English", True, False),
        ("Deutsch (1 of 2 sentences)", False, False),
        ("Polski", True, True),
    ]


def test_a_translation_that_was_not_built_cannot_be_chosen(show: Show, tmp_path: Path) -> None:
    resources = with_languages(tmp_path / "unbuilt", {"pl": POLISH}, guides=False)
    (tmp_path / "unbuilt" / "words" / "pl.mo").unlink()
    action = show(LanguageButton(ENGLISH, "", resources), 200, 40).menu_of_languages().actions()[2]
    assert (action.text(), action.isEnabled()) == ("pl (missing in this copy)", False)


@pytest.mark.parametrize(("place", "code"), [(0, ""), (1, "en"), (3, "pl")])
def test_a_language_is_chosen_by_its_code(button: LanguageButton, place: int, code: str) -> None:
    chosen = QSignalSpy(button.chosen)
    button.menu_of_languages().actions()[place].trigger()
    assert [chosen.at(0)[0], chosen.count()] == [code, 1]


def test_the_button_can_be_read_by_who_reads_english_alone(show: Show, resources: Resources) -> None:
    titles = [show(LanguageButton(words, "", resources), 200, 40).text() for words in (ENGLISH, words_for("pl", resources))]
    assert titles == ["Language", "Język Language"]
