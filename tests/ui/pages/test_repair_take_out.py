"""A block that somebody edited, on the card of an undo: it can be taken out where nothing else meets."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gpuassist.changes.restore import ThreeWay
from gpuassist.model.words import ENGLISH
from gpuassist.ui.pages.repair.history import UndoCard
from tests.ui.showing import Show

THREE = ThreeWay("~/.bashrc", b"a\nours\n", b"a\nmine\n", b"a\n", ())


@pytest.fixture
def undo(show: Show) -> UndoCard:
    return show(UndoCard(ENGLISH), 640, 400)


def test_the_block_is_taken_out_by_key(undo: UndoCard) -> None:
    told: list[str] = []
    undo.take_out_wanted.connect(told.append)
    undo.show_conflict("it was changed", THREE, take_out="20261121-090000-abcdef")
    assert undo.take_out.isVisibleTo(undo)
    assert not undo.agree.isVisibleTo(undo)
    QTest.keyClick(undo.take_out, Qt.Key.Key_Space)
    assert told == ["20261121-090000-abcdef"]


def test_elsewhere_it_is_not_offered(undo: UndoCard) -> None:
    undo.show_conflict("it was changed", THREE, take_out="20261121-090000-abcdef")
    undo.show_conflict("it was changed", THREE)
    assert not undo.take_out.isVisibleTo(undo)
