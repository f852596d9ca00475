"""No Python object is left of an item of a layout: Qt deletes items without a word, and what is left is a crash (decision 21)."""

from __future__ import annotations

import pytest
import shiboken6
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QLayout, QLayoutItem, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.ui.page import Desk
from gpuassist.ui.theme import Theme
from gpuassist.ui.widgets.layouts import FlowLayout, add_layout
from tests.translations import RESOURCES
from tests.ui.frames import TOO_OLD, Frames
from tests.ui.showing import Show
from tests.ui.test_access import PLACES


def test_no_page_leaves_one(desk: Desk, show: Show, qtbot: QtBot) -> None:
    before = {id(one) for one in left()}
    frame = Frames(desk, show, qtbot)(str(RESOURCES / "machines" / f"{TOO_OLD}.json"))
    for place in PLACES:
        frame.go(place)
        page = frame.pages.page(frame.flow.current)
        qtbot.waitUntil(lambda page=page: not getattr(page, "busy", False))  # type: ignore[misc]
    assert [str(one.widget()) for one in left() if id(one) not in before] == []
    frame.close_down()


@pytest.mark.parametrize("deep", [1, 3])
def test_a_filled_layout_leaves_none(theme: Theme, deep: int) -> None:
    outside = QWidget()
    inner: QBoxLayout = QHBoxLayout()
    inner.addWidget(QLabel("one"))
    inner.addStretch(1)
    for _ in range(deep - 1):
        around = QVBoxLayout()
        add_layout(around, inner)
        inner = around
    before = len(left())
    add_layout(QVBoxLayout(outside), inner, 1)
    assert len(left()) == before
    assert [one.text() for one in outside.findChildren(QLabel)] == ["one"]


def test_a_flow_keeps_its_own(theme: Theme) -> None:
    outside, inside = QWidget(), QLabel("one")
    flow = FlowLayout()
    flow.addWidget(inside)
    add_layout(QVBoxLayout(outside), flow)
    assert (flow.count(), flow.sizeHint().width() > 0) == (1, True)
    inside.setParent(None)
    assert flow.count() == 0


def left() -> list[QLayoutItem]:
    """The items that PySide has an object for, but those that Qt tells of their end and those that a layout of ours holds."""
    everything = shiboken6.getAllValidWrappers()
    held = {id(item) for one in everything if isinstance(one, FlowLayout) for item in one._items}
    items = (one for one in everything if isinstance(one, QLayoutItem) and not isinstance(one, QLayout))
    return [one for one in items if not shiboken6.createdByPython(one) and id(one) not in held]
