"""The bar of a card's memory: it fills its width, is told by pointer, keyboard and screen reader, and is copied as text."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QClipboard, QContextMenuEvent, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QToolTip
from pytestqt.qtbot import QtBot

from gpuassist.diagnose.memory_parts import picture_of
from gpuassist.formats.oom import principal
from gpuassist.model.memory_picture import MemoryPart, MemoryPicture, PartKind
from gpuassist.model.words import ENGLISH
from gpuassist.present.memory import as_plain_text
from gpuassist.ui.theme import Theme
from gpuassist.ui.widgets.memory_bar import MemoryBar, MemoryStrip, part_colour
from tests import memory_messages as messages
from tests.ui.showing import Show, ink_in, overlapping, words_in

GIB = 1 << 30
popups = pytest.mark.qt_log_ignore("This plugin does not support")  # offscreen


def picture(words: str = messages.TORCH_2_5) -> MemoryPicture:
    """The picture of a message."""
    message = principal(words)
    assert message is not None
    found = picture_of(message)
    assert found is not None
    return found


@pytest.fixture
def strip(show: Show) -> MemoryStrip:
    made = MemoryStrip(ENGLISH)
    made.show_picture(picture())
    return show(made, 700, 40)


@pytest.fixture
def bar(show: Show) -> MemoryBar:
    made = MemoryBar(ENGLISH)
    made.show_picture(picture())
    return show(made, 900, 120)


@pytest.mark.parametrize("width", [130, 300, 700, 1900])
def test_parts_fill_the_width_side_by_side(strip: MemoryStrip, width: int) -> None:
    strip.resize(width, 40)
    boxes = strip.boxes()
    assert overlapping(boxes) == []
    assert boxes[0].left() <= 2
    assert abs(boxes[-1].right() - (width - 2)) < 0.01


def test_widths_follow_the_sizes(strip: MemoryStrip) -> None:
    tensors, unused, *_ = strip.boxes()
    assert abs(tensors.width() / unused.width() - 14.02 / 5.83) < 0.1


def test_the_smallest_part_can_be_pointed_at(show: Show) -> None:
    made = MemoryStrip(ENGLISH)
    made.show_picture(MemoryPicture(80 * GIB, (MemoryPart(PartKind.ALLOCATED, 80 * GIB - 1), MemoryPart(PartKind.FREE, 1))))
    show(made, 600, 40)
    assert made.boxes()[-1].width() >= 4


def test_more_parts_than_pixels_do_not_break_it(show: Show) -> None:
    parts = tuple(MemoryPart(PartKind.PROCESS, GIB, pid=place + 1) for place in range(90))
    made = MemoryStrip(ENGLISH)
    made.show_picture(MemoryPicture(90 * GIB, parts))
    assert show(made, 120, 40).grab().width() > 0


def test_every_part_is_painted_in_its_colour(each_look: Theme, show: Show) -> None:
    made = MemoryStrip(ENGLISH)
    made.show_picture(picture(messages.TORCH_2_0))
    show(made, 800, 40)
    for place in (0, 2, 3):
        assert ink_in(made, part_colour(each_look.palette(), picture(messages.TORCH_2_0), place).name()) > 300


def test_no_two_kinds_share_a_colour(each_look: Theme) -> None:
    kinds = [kind for kind in PartKind if kind not in {PartKind.OTHERS, PartKind.UNACCOUNTED}]
    shown = MemoryPicture(len(kinds) * GIB, tuple(MemoryPart(kind, GIB) for kind in kinds))
    assert len({part_colour(each_look.palette(), shown, place).name() for place in range(len(kinds))}) == len(kinds)


def test_further_processes_have_colours_of_their_own(theme: Theme) -> None:
    shown = MemoryPicture(4 * GIB, tuple(MemoryPart(PartKind.PROCESS, GIB, pid=place + 1) for place in range(4)))
    assert len({part_colour(theme.palette(), shown, place).name() for place in range(4)}) == 4


def test_it_is_read_aloud(strip: MemoryStrip) -> None:
    assert strip.accessibleName() == "The card's memory"
    assert strip.accessibleDescription() == as_plain_text(picture(), ENGLISH)


@popups
def test_the_pointer_tells_a_part(strip: MemoryStrip) -> None:
    place = strip.boxes()[1].center().toPoint()
    QApplication.sendEvent(strip, QHelpEvent(QHelpEvent.Type.ToolTip, place, strip.mapToGlobal(place)))
    assert QToolTip.text().startswith("reserved, but in pieces: 5.8 GiB\n")
    QToolTip.hideText()


@popups
def test_beside_the_parts_nothing_is_told(strip: MemoryStrip) -> None:
    QApplication.sendEvent(strip, QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(-5, -5), strip.mapToGlobal(QPoint(-5, -5))))
    assert not QToolTip.isVisible() or not QToolTip.text()


@popups
def test_arrow_keys_go_from_part_to_part(strip: MemoryStrip, qtbot: QtBot) -> None:
    strip.setFocus()
    with qtbot.waitSignals([strip.chosen] * 3):
        for _ in range(3):
            QTest.keyClick(strip, Qt.Key.Key_Right)
    assert strip.at == 2
    QTest.keyClick(strip, Qt.Key.Key_Left)
    assert strip.at == 1
    QToolTip.hideText()


@popups
def test_arrow_keys_stop_at_the_ends(strip: MemoryStrip) -> None:
    strip.setFocus()
    for _ in range(20):
        QTest.keyClick(strip, Qt.Key.Key_Right)
    assert strip.at == len(strip.boxes()) - 1
    for _ in range(20):
        QTest.keyClick(strip, Qt.Key.Key_Left)
    assert strip.at == 0
    QToolTip.hideText()


def test_the_keyboard_copies_the_figures(strip: MemoryStrip, clipboard: QClipboard) -> None:
    strip.setFocus()
    QTest.keyClick(strip, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == as_plain_text(picture(), ENGLISH)


@popups
def test_a_menu_copies_the_figures(strip: MemoryStrip, clipboard: QClipboard) -> None:
    place = QPoint(5, 5)
    QApplication.sendEvent(strip, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, strip.mapToGlobal(place)))
    (menu,) = strip.findChildren(QMenu)
    menu.actions()[0].trigger()
    assert clipboard.text().startswith("in use by your tensors: 14.02 GiB")
    menu.close()


def test_nothing_is_painted_before_there_is_a_picture(show: Show) -> None:
    empty = show(MemoryStrip(ENGLISH), 300, 40)
    assert empty.boxes() == ()
    QTest.keyClick(empty, Qt.Key.Key_Right)
    assert empty.at == -1


@popups
def test_another_picture_starts_anew(strip: MemoryStrip) -> None:
    strip.setFocus()
    QTest.keyClick(strip, Qt.Key.Key_Right)
    strip.show_picture(picture(messages.FULL))
    assert strip.at == -1
    assert len(strip.boxes()) == len(picture(messages.FULL).parts)
    QToolTip.hideText()


def test_the_legend_names_every_part_with_its_size(bar: MemoryBar) -> None:
    assert words_in(bar) == [
        "in use by your tensors",
        "14.0 GiB",
        "reserved, but in pieces",
        "5.8 GiB",
        "CUDA itself",
        "0.5 GiB",
        "process 39021",
        "3.2 GiB",
        "free",
        "0.4 GiB",
        "wanted: 1.50 GiB in one piece · card: 23.99 GiB",
    ]


def test_another_picture_leaves_nothing_of_the_last(bar: MemoryBar, qtbot: QtBot) -> None:
    bar.show_picture(picture(messages.SHARED))
    qtbot.waitUntil(lambda: "process 39021" not in words_in(bar))
    qtbot.waitUntil(lambda: any("computer's own memory" in one for one in words_in(bar)))
    assert words_in(bar)[:2] == ["in use by your tensors", "8.0 GiB"]


def test_a_narrow_bar_grows_in_height(bar: MemoryBar) -> None:
    assert bar.heightForWidth(260) > bar.heightForWidth(900)


@pytest.mark.parametrize("width", [200, 420, 1200])
def test_the_legend_stays_inside(bar: MemoryBar, width: int, qtbot: QtBot) -> None:
    bar.resize(width, bar.heightForWidth(width))
    labels = [one for one in bar.findChildren(MemoryStrip) if one.isVisible()]
    qtbot.waitUntil(lambda: all(one.geometry().right() <= width for one in labels))
