"""Pills stand side by side and go on in the next line, and never cover each other."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QRect, QSize
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.present.marks import Mark
from gpuassist.ui.widgets.layouts import FlowLayout
from gpuassist.ui.widgets.marks import StatusPill
from tests.ui.showing import Show, overlapping


class Block(QWidget):
    """A widget of a given size."""

    def __init__(self, size: QSize, parent: QWidget) -> None:
        super().__init__(parent)
        self._size = size

    def sizeHint(self) -> QSize:
        return self._size


class Placed:
    """Blocks of these sizes, laid out in that width."""

    def __init__(self, qtbot: QtBot, sizes: list[tuple[int, int]], width: int) -> None:
        self._outer = QWidget()  # kept: a layout does not outlive its widget
        qtbot.addWidget(self._outer)
        self.layout = FlowLayout(self._outer)
        for size in sizes:
            self.layout.addWidget(Block(QSize(*size), self._outer))
        self.layout.setGeometry(QRect(0, 0, width, 1000))
        items = [self.layout.itemAt(place) for place in range(self.layout.count())]
        self.boxes = [item.geometry() for item in items if item is not None]


sizes = st.lists(st.tuples(st.integers(1, 120), st.integers(1, 40)), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(sizes, st.integers(120, 700))
def test_nothing_overlaps_and_nothing_leaves_the_width(qtbot: QtBot, sizes: list[tuple[int, int]], width: int) -> None:
    boxes = Placed(qtbot, sizes, width).boxes
    assert not overlapping(boxes)
    assert all(box.left() >= 0 and box.left() + box.width() <= width for box in boxes)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(sizes, st.integers(120, 700))
def test_its_height_is_that_of_its_lines(qtbot: QtBot, sizes: list[tuple[int, int]], width: int) -> None:
    made = Placed(qtbot, sizes, width)
    assert made.layout.heightForWidth(width) >= max((box.top() + box.height() for box in made.boxes), default=0)


@pytest.mark.parametrize(("width", "lines"), [(324, 1), (316, 1), (315, 2), (208, 2), (207, 3), (50, 3)])
def test_it_wraps_where_the_next_does_not_fit(qtbot: QtBot, width: int, lines: int) -> None:
    boxes = Placed(qtbot, [(100, 20)] * 3, width).boxes
    assert len({box.top() for box in boxes}) == lines


def test_items_keep_their_order(qtbot: QtBot) -> None:
    boxes = Placed(qtbot, [(60, 20)] * 7, 150).boxes
    assert [(box.top(), box.left()) for box in boxes] == sorted((box.top(), box.left()) for box in boxes)


def test_items_of_a_line_stand_on_one_middle(qtbot: QtBot) -> None:
    boxes = Placed(qtbot, [(30, 10), (30, 30), (30, 20)], 400).boxes
    assert [box.top() for box in boxes] == [10, 0, 5]


def test_hidden_items_take_no_room(qtbot: QtBot) -> None:
    outer = QWidget()
    qtbot.addWidget(outer)
    layout = FlowLayout(outer)
    for place in range(3):
        block = Block(QSize(100, 20), outer)
        layout.addWidget(block)
        block.setHidden(place == 1)
    assert layout.heightForWidth(210) == 20


def test_an_empty_one_takes_no_room(qtbot: QtBot) -> None:
    made = Placed(qtbot, [], 300)
    assert (made.layout.heightForWidth(300), made.layout.minimumSize(), made.layout.count()) == (0, QSize(0, 0), 0)


@pytest.mark.parametrize("place", [-1, 2, 99])
def test_there_is_nothing_beyond_its_items(qtbot: QtBot, place: int) -> None:
    made = Placed(qtbot, [(10, 10)] * 2, 300)
    assert (made.layout.itemAt(place), made.layout.takeAt(place)) == (None, None)


def test_an_item_taken_out_is_gone(qtbot: QtBot) -> None:
    made = Placed(qtbot, [(10, 10), (20, 10)], 300)
    taken = made.layout.takeAt(0)
    assert taken is not None
    assert made.layout.count() == 1


def test_pills_wrap_when_the_window_becomes_narrow(show: Show) -> None:
    outer = QWidget()
    layout = FlowLayout(outer)
    pills = [StatusPill(Mark.RIGHT, f"check {place}", outer) for place in range(5)]
    for pill in pills:
        layout.addWidget(pill)
    show(outer, 700, 200)
    assert len({pill.y() for pill in pills}) == 1
    outer.resize(160, 200)
    layout.activate()
    assert len({pill.y() for pill in pills}) > 2


def test_labels_get_the_size_that_they_ask_for(show: Show) -> None:
    outer = QWidget()
    layout = FlowLayout(outer)
    words = QLabel("driver", outer)
    layout.addWidget(words)
    show(outer, 300, 100)
    assert words.size() == words.sizeHint()
