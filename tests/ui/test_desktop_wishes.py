"""What the desktop wishes for the user: calm and larger letters, believed where it is of its kind, and followed while it runs."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QObject, QTimerEvent
from PySide6.QtWidgets import QApplication

from gpuassist.present.marks import Mark
from gpuassist.ui.desktop_wishes import DesktopWishes
from gpuassist.ui.theme import Theme, is_calm, sans, text_scale
from gpuassist.ui.widgets.marks import MarkIcon
from tests.ui.showing import Show

_MOTION = ("org.freedesktop.appearance", "reduced-motion")
_ANIMATIONS = ("org.gnome.desktop.interface", "enable-animations")
_SCALE = ("org.gnome.desktop.interface", "text-scaling-factor")


@pytest.fixture
def wishes(theme: Theme) -> DesktopWishes:
    made = DesktopWishes(theme, scales=True)
    made.calm_wished.connect(theme.calm)
    made.scale_wished.connect(theme.scale)
    return made


def test_calm_is_wished_by_either_setting(wishes: DesktopWishes) -> None:
    for key, value, calm in ((_MOTION, 1, True), (_ANIMATIONS, True, True), (_MOTION, 0, False), (_ANIMATIONS, False, True)):
        wishes.take(key, value)
        assert is_calm() is calm, (key, value)


def test_what_turns_stands_still(wishes: DesktopWishes, show: Show) -> None:
    icon = show(MarkIcon(Mark.BUSY), 20, 20)
    turned = []
    for animated in (True, False):
        wishes.take(_ANIMATIONS, animated)
        before = icon.grab().toImage()
        icon.timerEvent(QTimerEvent(1))
        turned.append(icon.grab().toImage() != before)
    assert turned == [True, False]


def test_letters_follow_the_desktops_size(wishes: DesktopWishes, theme: Theme, qapp: QApplication) -> None:
    before, sheet = sans().pointSizeF(), qapp.styleSheet()
    wishes.take(_SCALE, 1.5)
    assert sans().pointSizeF() == before * 1.5
    assert qapp.font().pointSizeF() == before * 1.5
    assert f"{17.25 * 1.5:g}pt" in qapp.styleSheet()
    wishes.take(_SCALE, 1.0)
    assert (sans().pointSizeF(), qapp.styleSheet()) == (before, sheet)


@pytest.mark.parametrize("value", [None, "large", 0.0, -1.0, 1e9, float("nan"), True, [1.5], QObject])
def test_what_is_no_size_is_not_believed(wishes: DesktopWishes, value: object) -> None:
    wishes.take(_SCALE, value)
    wishes.take(("another", "key"), 2.0)
    assert text_scale() == 1.0
