"""The bottom bar mirrors its actions: words, whether they can be done, why not; one primary button at most."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from gpuassist.ui.widgets.bottom_bar import ActionButton, BottomBar
from gpuassist.ui.widgets.labels import ElidedLabel, Hints
from tests.ui.showing import Show, overlapping

Actions = Callable[..., tuple[QAction, ...]]


@pytest.fixture
def bar(show: Show) -> BottomBar:
    return show(BottomBar(), 900, 60)


@pytest.fixture
def actions(bar: BottomBar) -> Actions:
    """Makes actions with these words, which live as long as the bar."""
    owner = QObject(bar)
    return lambda *words: tuple(QAction(one, owner) for one in words)


def words_of(bar: BottomBar) -> list[str]:
    return [button.text() for button in bar._buttons()]


def kinds_of(bar: BottomBar) -> list[str]:
    return [button.property("kind") for button in bar._buttons()]


def button(bar: BottomBar, action: QAction) -> ActionButton:
    found = bar.button(action)
    assert found is not None
    return found


def test_actions_become_buttons_left_to_right(bar: BottomBar, actions: Actions) -> None:
    bar.show_actions(actions("Save…", "Copy"), "", actions("Back", "Next"))
    assert words_of(bar) == ["Save…", "Copy", "Back", "Next"]
    assert kinds_of(bar) == ["secondary", "secondary", "secondary", "primary"]


def test_there_may_be_no_primary_one(bar: BottomBar, actions: Actions) -> None:
    bar.show_actions((), "", actions("Back"), has_primary=False)
    assert kinds_of(bar) == ["secondary"]


def test_a_click_triggers_the_action(bar: BottomBar, actions: Actions) -> None:
    (action,) = actions("Next")
    spy = QSignalSpy(action.triggered)
    bar.show_actions((), "", (action,))
    QTest.mouseClick(button(bar, action), Qt.MouseButton.LeftButton)
    assert spy.count() == 1


def test_space_triggers_the_action(bar: BottomBar, actions: Actions) -> None:
    (action,) = actions("Next")
    spy = QSignalSpy(action.triggered)
    bar.show_actions((), "", (action,))
    button(bar, action).setFocus()
    QTest.keyClick(button(bar, action), Qt.Key.Key_Space)
    assert spy.count() == 1


def test_a_button_follows_its_action(bar: BottomBar, actions: Actions) -> None:
    (action,) = actions("Apply")
    bar.show_actions((), "", (action,))
    action.setText("Apply 2 changes")
    action.setEnabled(False)
    action.setStatusTip("nothing is ticked")
    made = button(bar, action)
    assert (made.text(), made.isEnabled(), made.toolTip()) == ("Apply 2 changes", False, "nothing is ticked")


def test_a_disabled_action_cannot_be_clicked(bar: BottomBar, actions: Actions) -> None:
    (action,) = actions("Apply")
    action.setEnabled(False)
    spy = QSignalSpy(action.triggered)
    bar.show_actions((), "", (action,))
    QTest.mouseClick(button(bar, action), Qt.MouseButton.LeftButton)
    assert spy.count() == 0


def test_a_hidden_action_has_no_visible_button(bar: BottomBar, actions: Actions) -> None:
    first, second = actions("Undo", "Copy")
    bar.show_actions((first, second), "", ())
    first.setVisible(False)
    assert (button(bar, first).isVisible(), button(bar, second).isVisible()) == (False, True)


def test_the_same_actions_keep_their_focus(bar: BottomBar, actions: Actions) -> None:
    wanted = actions("Back", "Next")
    bar.show_actions((), "one", wanted)
    before = button(bar, wanted[1])
    before.setFocus()
    bar.show_actions((), "two", wanted)
    assert button(bar, wanted[1]) is before
    assert before.hasFocus()


def test_other_actions_let_the_old_buttons_go(bar: BottomBar, actions: Actions, qtbot: QtBot) -> None:
    old, new = actions("Old", "New")
    bar.show_actions((), "", (old,))
    with qtbot.waitSignal(button(bar, old).destroyed):
        bar.show_actions((), "", (new,))
    assert (words_of(bar), bar.button(old)) == (["New"], None)


def test_an_old_action_that_changes_later_is_no_trouble(bar: BottomBar, actions: Actions, qtbot: QtBot) -> None:
    old, new = actions("Old", "New")
    bar.show_actions((), "", (old,))
    with qtbot.waitSignal(button(bar, old).destroyed):
        bar.show_actions((), "", (new,))
    old.setText("changed")
    assert words_of(bar) == ["New"]


@pytest.mark.parametrize("has_primary", [True, False])
def test_the_same_actions_may_change_what_is_primary(bar: BottomBar, actions: Actions, has_primary: bool) -> None:
    wanted = actions("Back")
    bar.show_actions((), "", wanted, has_primary=not has_primary)
    bar.show_actions((), "", wanted, has_primary=has_primary)
    assert kinds_of(bar) == ["primary" if has_primary else "secondary"]


def test_an_action_that_moves_to_the_other_side_moves(bar: BottomBar, actions: Actions) -> None:
    wanted = actions("Copy")
    bar.show_actions(wanted, "", ())
    bar.show_actions((), "", wanted)
    layout = bar.layout()
    assert layout is not None
    layout.activate()
    assert button(bar, wanted[0]).geometry().right() > 800


def test_the_note_says_what_holds(bar: BottomBar, actions: Actions) -> None:
    bar.show_actions((), "Nothing is written yet.", actions("Next"))
    assert [note.words for note in bar.findChildren(ElidedLabel)] == ["Nothing is written yet."]


@pytest.mark.parametrize("width", [560, 720, 1200])
def test_a_long_note_gives_way_to_the_buttons(bar: BottomBar, actions: Actions, width: int) -> None:
    bar.show_actions(actions("Save…", "Copy"), "Nothing is written yet. " * 20, actions("Back", "Next"))
    bar.resize(width, 60)
    boxes = [child.geometry() for child in (*bar._buttons(), *bar.findChildren(ElidedLabel))]
    assert not overlapping(boxes)
    assert all(box.left() >= 0 and box.right() < width for box in boxes)


@pytest.mark.parametrize(("width", "shown"), [(700, "Wheel: zoom · End: now · Space: pause"), (230, "Wheel: zoom"), (90, "W")])
def test_hints_are_shown_whole_or_not_at_all(bar: BottomBar, width: int, shown: str) -> None:
    hints = "Wheel: zoom · End: now · Space: pause"
    bar.show_actions((), hints, ())
    bar.resize(width, 60)
    (note,) = bar.findChildren(Hints)
    assert note.shown.startswith(shown)
    assert note.shown.removesuffix("…") in hints
    assert (note.toolTip() == "") is (note.shown == hints)
    assert (width > 90) is ("…" not in note.shown)


def test_an_action_with_a_menu_opens_it(bar: BottomBar, actions: Actions) -> None:
    (action,) = actions("Examples")
    menu = QMenu(bar)
    action.setMenu(menu)
    bar.show_actions((action,), "", ())
    assert button(bar, action).menu() is menu
