"""The window follows the desktop or the user between light and dark, all of it at once."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QPalette
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from gpuassist.ui.palette import DARK, LIGHT
from gpuassist.ui.theme import GAP, Appearance, Theme, colours, mono, sans, set_look
from gpuassist.ui.widgets import cards, layouts
from tests.ui.showing import Show, ink_in


@pytest.mark.parametrize(("appearance", "palette"), [(Appearance.LIGHT, LIGHT), (Appearance.DARK, DARK)])
def test_the_users_wish_counts(theme: Theme, appearance: Appearance, palette: object) -> None:
    theme.choose(appearance)
    assert theme.palette() is colours() is palette


def test_nobody_dressed_means_light(qapp: QApplication) -> None:
    assert colours() is LIGHT


def test_a_change_is_told_once(theme: Theme) -> None:
    changed = QSignalSpy(theme.changed)
    theme.choose(Appearance.DARK)
    theme.choose(Appearance.DARK)
    assert [changed.at(place)[0] for place in range(changed.count())] == [DARK]


def test_the_desktops_look_is_followed(theme: Theme, qapp: QApplication) -> None:
    theme.choose(Appearance.SYSTEM)
    dark = qapp.styleHints().colorScheme() is Qt.ColorScheme.Dark
    assert colours() is (DARK if dark else LIGHT)


def test_qt_gets_the_same_colours(each_look: Theme, qapp: QApplication) -> None:
    palette, role = each_look.palette(), QPalette.ColorRole
    roles = (role.Window, role.WindowText, role.Base, role.Highlight, role.HighlightedText, role.PlaceholderText)
    wanted = [palette.background, palette.text, palette.panel, palette.accent, palette.on_accent, palette.muted]
    assert [qapp.palette().color(one).name() for one in roles] == wanted


def test_what_cannot_be_used_is_muted(each_look: Theme, qapp: QApplication) -> None:
    disabled = qapp.palette().color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText)
    assert disabled.name() == each_look.palette().muted


def test_a_card_that_stands_changes_its_look(theme: Theme, show: Show) -> None:
    card = show(cards.Card("Driver"), 200, 100)
    theme.choose(Appearance.DARK)
    assert ink_in(card, DARK.panel) > 10_000


def test_a_look_changes_at_once(theme: Theme, show: Show) -> None:
    words = show(QLabel("words"), 80, 20)
    set_look(words, "role", "muted")
    assert words.palette().windowText().color().name() == LIGHT.muted


def test_the_same_look_again_does_nothing(theme: Theme, qtbot: QtBot) -> None:
    words = QLabel("words")
    qtbot.addWidget(words)
    set_look(words, "role", "muted")
    set_look(words, "role", "muted")
    assert words.property("role") == "muted"


def test_code_is_monospaced(qapp: QApplication) -> None:
    # The database calls "Monospace" fixed even where another font has to stand in for it.
    if not any(QFontInfo(QFont(family)).fixedPitch() for family in QFontDatabase.families()):
        pytest.skip("NOT RUN: needs a monospaced font, install the package fonts-dejavu-core")
    assert QFontInfo(mono()).fixedPitch()


@pytest.mark.parametrize("points", [8.25, 10.5, 17.25])
def test_fonts_are_in_points(qapp: QApplication, points: float) -> None:
    assert (sans(points).pointSizeF(), mono(points).pointSizeF()) == (points, points)
    assert sans(points).pixelSize() == -1  # points follow the desktop's text size, pixels would not


def test_bold_is_bolder(qapp: QApplication) -> None:
    assert sans(bold=True).weight() > sans().weight()


@pytest.mark.parametrize("space", [layouts.MARGIN, layouts.SPACING])
def test_spacing_keeps_to_the_grid(space: int) -> None:
    assert space % GAP == 0
