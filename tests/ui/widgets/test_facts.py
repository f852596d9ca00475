"""Rows of facts: the value wraps and can be selected, its source is never wider than what is left, unknown says why."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpuassist.model.words import ENGLISH
from gpuassist.ui.theme import Theme
from gpuassist.ui.widgets.facts import FactRow, FactTable
from gpuassist.ui.widgets.labels import ElidedLabel, Hairline
from tests.ui.showing import Show, ink_in, overlapping, words_in

DRIVER = FactRow("Driver", "550.54.14", "/proc/driver/nvidia/version", strong=True)
MODULE = FactRow("Kernel module", "not known: the file could not be read", unknown=True)
LONG = FactRow("Search path", "/usr/local/cuda-12.4/bin:" * 12, "bash -i, a fresh interactive shell of the user")


def test_rows_are_shown_in_order(show: Show) -> None:
    table = show(FactTable(ENGLISH, [DRIVER, MODULE]), 600, 80)
    assert [words for words in words_in(table) if words in {DRIVER.label, MODULE.label}] == ["Driver", "Kernel module"]


def test_a_value_is_read_aloud_with_its_name(qtbot: QtBot) -> None:
    table = FactTable(ENGLISH, [DRIVER])
    qtbot.addWidget(table)
    assert "Driver: 550.54.14" in [made.accessibleName() for made in table.findChildren(QLabel)]


def test_an_unknown_value_looks_unknown(theme: Theme, show: Show) -> None:
    table = show(FactTable(ENGLISH, [MODULE]), 600, 40)
    (value,) = (made for made in table.findChildren(QLabel) if made.property("role") == "unknown")
    assert value.font().italic()
    assert ink_in(value, theme.palette().muted) > 10


def test_a_value_can_be_selected(qtbot: QtBot) -> None:
    table = FactTable(ENGLISH, [DRIVER])
    qtbot.addWidget(table)
    words = [made for made in table.findChildren(QLabel) if not isinstance(made, ElidedLabel)]
    assert all(made.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse for made in words)


def test_a_source_can_be_copied(show: Show, clipboard: QClipboard) -> None:
    table = show(FactTable(ENGLISH, [DRIVER]), 600, 40)
    (source,) = table.findChildren(ElidedLabel)
    source.setFocus()
    QTest.keyClick(source, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == "/proc/driver/nvidia/version"


def test_hairlines_stand_between_rows_only(qtbot: QtBot) -> None:
    table = FactTable(ENGLISH, [DRIVER, MODULE, LONG])
    qtbot.addWidget(table)
    assert len(table.findChildren(Hairline)) == 2


@pytest.mark.parametrize("width", [320, 480, 600, 900, 1600])
def test_nothing_overlaps_at_any_width(show: Show, width: int) -> None:
    table = FactTable(ENGLISH, [DRIVER, MODULE, LONG])
    show(table, width, table.heightForWidth(width))
    boxes = [made.rect().translated(made.mapTo(table, made.rect().topLeft())) for made in table.findChildren(QLabel)]
    assert not overlapping(boxes)
    assert all(box.left() >= 0 and box.right() <= width for box in boxes)


@pytest.mark.parametrize("width", [480, 600, 900])
def test_a_long_value_leaves_its_source_some_room(show: Show, width: int) -> None:
    table = FactTable(ENGLISH, [LONG])
    show(table, width, table.heightForWidth(width))
    (source,) = table.findChildren(ElidedLabel)
    assert 0.15 * width < source.width() < 0.5 * width
    assert source.toolTip() == LONG.source


def test_a_source_is_whole_where_there_is_room(show: Show) -> None:
    (source,) = show(FactTable(ENGLISH, [DRIVER]), 900, 40).findChildren(ElidedLabel)
    assert source.width() == source.sizeHint().width()
    assert source.toolTip() == ""


def test_a_long_value_wraps(show: Show) -> None:
    table = show(FactTable(ENGLISH, [FactRow("Note", "many words " * 40)]), 600, 400)
    assert table.heightForWidth(400) > table.heightForWidth(1200)


def test_other_rows_replace_the_first(show: Show, qtbot: QtBot) -> None:
    table = show(FactTable(ENGLISH, [DRIVER, MODULE]), 600, 80)
    with qtbot.waitSignals([made.destroyed for made in table.findChildren(QLabel)]):
        table.set_rows([LONG])
    assert table.rows == (LONG,)
    assert len(table.findChildren(ElidedLabel)) == 1


def test_equal_rows_are_not_made_again(qtbot: QtBot) -> None:
    table = FactTable(ENGLISH, [DRIVER])
    qtbot.addWidget(table)
    before = table.findChildren(QLabel)
    table.set_rows([DRIVER])
    assert table.findChildren(QLabel) == before


def test_tags_in_a_value_are_words(qtbot: QtBot) -> None:
    row = FactRow("Command", "<b>bold</b>", "b")
    table = FactTable(ENGLISH, [row])
    qtbot.addWidget(table)
    assert "<b>bold</b>" in words_in(table)


def test_names_give_way_to_a_value_that_would_break_beside_them(show: Show, qtbot: QtBot) -> None:
    table = FactTable(ENGLISH, [FactRow("PATH", "/usr/local/cuda-12.4/lib64:/usr/lib")], label_width=220)
    show(table, 900, 60)
    name, value = table._names[0], table._values[0]
    table.resize(name.sizeHint().width() + value.natural + 40, 60)
    qtbot.waitUntil(lambda: value.width() >= value.natural)
    assert name.width() >= name.sizeHint().width()


def test_no_name_breaks_for_a_value_that_breaks_anyway(show: Show, qtbot: QtBot) -> None:
    reason = FactRow("Memory", "NVML refused nvmlInit: " * 6, unknown=True)
    table = show(
        FactTable(ENGLISH, [reason, FactRow("Kernel driver", "nvidia", "/sys/bus/pci/devices/0000:01:00.0/driver")]), 440, 120
    )
    name = table._names[1]
    qtbot.waitUntil(lambda: name.width() >= name.fontMetrics().horizontalAdvance("Kernel driver"))
