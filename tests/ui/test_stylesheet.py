"""The style sheet is complete in both looks, and every widget and role that it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6 import QtWidgets
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

import gpuassist.ui
from gpuassist.ui.palette import DARK, LIGHT, Palette
from gpuassist.ui.stylesheet import TEMPLATE
from gpuassist.ui.theme import Theme, style_sheet
from gpuassist.ui.widgets.labels import label
from tests.ui.showing import Show

NAMELESS = {"QTableCornerButton"}  # a class of Qt that it does not export
LOOKS = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
SOURCES = {path: path.read_text("utf-8") for path in Path(gpuassist.ui.__path__[0]).rglob("*.py") if path.name != "stylesheet.py"}
ROLES = sorted(set(re.findall(r'\[role="(\w+)"\]', TEMPLATE)))
CLASSES = sorted(set(re.findall(r"\b([A-Z]\w+)(?=[\[:, {>])", re.sub(r"\{[^}]*\}", "{", TEMPLATE))))


@LOOKS
def test_nothing_is_left_to_fill_in(palette: Palette) -> None:
    assert "$" not in style_sheet(palette)


@LOOKS
def test_braces_are_closed(palette: Palette) -> None:
    filled = style_sheet(palette)
    assert filled.count("{") == filled.count("}") > 50


@LOOKS
def test_every_colour_is_the_palettes(palette: Palette) -> None:
    used = set(re.findall(r"#[0-9a-f]{6}\b", style_sheet(palette)))
    assert used <= {getattr(palette, name) for name in Palette.__struct_fields__ if name not in {"dark", "series"}}


def test_the_template_names_no_colour_itself() -> None:
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b", TEMPLATE)


def test_every_size_and_colour_that_the_theme_gives_is_used() -> None:
    slots = {found[1] or found[2] for found in re.finditer(r"\$(?:\{(\w+)\}|(\w+))", TEMPLATE)}
    assert {"text", "muted", "panel", "line", "accent", "mono", "small", "title"} <= slots


@pytest.mark.parametrize("name", CLASSES)
def test_every_dressed_class_exists(name: str) -> None:
    ours = any(re.search(rf"^class {name}\b", source, re.MULTILINE) for source in SOURCES.values())
    assert ours or hasattr(QtWidgets, name) or name in NAMELESS


@pytest.mark.parametrize("role", ROLES)
def test_every_dressed_role_is_used(role: str) -> None:
    assert any(f'"{role}"' in source for source in SOURCES.values())


def test_qt_understands_all_of_it(each_look: Theme, qapp: QApplication) -> None:
    # A rule that Qt cannot parse is told as a warning, which fails the test.
    assert qapp.styleSheet() == style_sheet(each_look.palette())


@pytest.mark.parametrize("role", ["muted", "small", "section", "mono", "unknown"])
def test_quiet_words_are_muted(each_look: Theme, qtbot: QtBot, role: str) -> None:
    made = dressed(label("words", role), qtbot)
    assert made.palette().windowText().color().name() == each_look.palette().muted


@pytest.mark.parametrize("role", ["", "strong", "heading", "title"])
def test_words_that_matter_are_not_muted(each_look: Theme, qtbot: QtBot, role: str) -> None:
    made = dressed(label("words", role), qtbot)
    assert made.palette().windowText().color().name() == each_look.palette().text


def test_titles_are_larger_than_headings_and_those_than_words(theme: Theme, qtbot: QtBot) -> None:
    sizes = [dressed(label("words", role), qtbot).font().pointSizeF() for role in ("title", "heading", "", "small")]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 4


@pytest.mark.parametrize("kind", ["primary", "secondary", "link", "danger"])
def test_a_focused_button_looks_focused(theme: Theme, show: Show, kind: str) -> None:
    button = QPushButton("Next")
    button.setProperty("kind", kind)
    show(button, 90, 34)
    before = button.grab().toImage()
    button.setFocus()
    assert button.grab().toImage() != before


@pytest.mark.parametrize("kind", ["primary", "secondary", "danger"])
def test_a_focused_button_keeps_its_size(theme: Theme, show: Show, kind: str) -> None:
    button = QPushButton("Next")
    button.setProperty("kind", kind)
    show(button)
    before = button.sizeHint()
    button.setFocus()
    assert button.sizeHint() == before


def dressed(made: QLabel, qtbot: QtBot) -> QLabel:
    qtbot.addWidget(made)
    made.ensurePolished()
    return made
