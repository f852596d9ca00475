"""Terms in the window: a tip where the mouse rests, dots below the names of facts, a list by keys, and the way to an entry."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.session.navigation import GoTo, SideTool, ToEstimate, ToTerm, WizardStep
from gpuassist.ui.frame import Frame
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.estimate.page import EstimatePage
from gpuassist.ui.widgets.labels import label
from gpuassist.ui.widgets.term_names import TermName, explain_by
from gpuassist.ui.widgets.term_panel import TermPanel
from tests.translations import RESOURCES
from tests.ui.frames import TOO_OLD, Frames
from tests.ui.showing import Show

# The offscreen platform has no windows to place, and says so of each dialog and tool tip.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "raise")


@pytest.fixture
def frame(desk: Desk, show: Show, qtbot: QtBot) -> Iterator[Frame]:
    """A frame that has read a machine with a finding, and all that comes right after."""
    frames = Frames(desk, show, qtbot)
    made = frames(str(RESOURCES / "machines" / f"{TOO_OLD}.json"))
    qtbot.waitUntil(lambda: any(one.is_term for one in made.findChildren(TermName)))
    yield made
    QToolTip.hideText()
    explain_by(None)


def names(frame: Frame) -> dict[str, TermName]:
    return {one.text(): one for one in frame.pages.machine_page.findChildren(TermName)}


def rest(widget: QWidget) -> str:
    """The tool tip where the mouse rests on a widget."""
    at = widget.rect().center()
    QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, at, widget.mapToGlobal(at)))
    return QToolTip.text()


def panel(frame: Frame) -> TermPanel:
    found = frame.findChild(TermPanel)
    assert isinstance(found, TermPanel)
    return found


def press(frame: Frame, key: Qt.Key, modifier: Qt.KeyboardModifier, qtbot: QtBot) -> None:
    window = frame.window()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.keyClick(frame, key, modifier)


def test_names_of_facts_that_are_terms_show_it(frame: Frame) -> None:
    terms = {words for words, one in names(frame).items() if one.is_term}
    assert {"Memory", "PCIe", "Kernel driver", "Architecture"} <= terms
    assert "Driver" not in terms


def test_a_tip_says_what_a_name_means_and_where_more_stands(frame: Frame) -> None:
    told = rest(names(frame)["PCIe"])
    assert told.startswith("PCIe generation and width: ")
    assert "Guides › PCIe generation and width" in told


def test_boxes_and_buttons_say_what_their_words_mean(frame: Frame, qtbot: QtBot) -> None:
    frame.go(ToEstimate("7B"))
    page = frame.pages.currentWidget()
    assert isinstance(page, EstimatePage)
    qtbot.waitUntil(lambda: bool(page.levers.buttons()))
    assert rest(page.form.checkpointing).startswith("gradient checkpointing: ")
    adapters = next(button for button in page.levers.buttons() if button.text() == "Train LoRA adapters")
    assert rest(adapters).startswith("LoRA and QLoRA: ")


def test_words_without_a_term_have_no_tip(frame: Frame) -> None:
    QToolTip.hideText()
    event = QHelpEvent(QEvent.Type.ToolTip, QPoint(1, 1), names(frame)["Driver"].mapToGlobal(QPoint(1, 1)))
    assert frame._terms.eventFilter(frame.pages, event) is False


@pytest.mark.parametrize(
    "keys", [(Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier), (Qt.Key.Key_Question, Qt.KeyboardModifier.NoModifier)]
)
def test_keys_list_the_terms_of_the_page_and_lead_to_one(
    frame: Frame, keys: tuple[Qt.Key, Qt.KeyboardModifier], qtbot: QtBot
) -> None:
    press(frame, *keys, qtbot)
    shown = panel(frame)
    listed = [shown.list.item(row).text().partition("\n")[0] for row in range(shown.list.count())]
    assert {"GPU architecture", "VRAM", "host compiler"} <= set(listed)
    assert len(listed) == len(set(listed))
    shown.list.setCurrentRow(listed.index("host compiler"))
    QTest.keyClick(shown.list, Qt.Key.Key_Return)
    assert (frame.flow.current, frame.flow.errand) == (SideTool.GUIDES, ToTerm("host-compiler"))


def test_what_is_below_the_focus_comes_first(frame: Frame) -> None:
    frame.go(GoTo(WizardStep.FOUND))
    page = frame.pages.currentWidget()
    assert page is not None
    beside = QWidget(page)
    inside = label("MIG and MPS", "", beside)
    inside.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    beside.show()
    inside.setFocus()
    frame._terms.show_panel()
    shown = panel(frame)
    assert [shown.list.item(row).text().partition("\n")[0] for row in range(2)] == ["MIG", "MPS"]
    shown.reject()


def test_a_question_mark_can_be_typed(frame: Frame, qtbot: QtBot) -> None:
    frame.go(GoTo(SideTool.GUIDES))
    search = frame.pages.currentWidget().findChild(QLineEdit)  # type: ignore[union-attr]  # it is shown
    assert isinstance(search, QLineEdit)
    frame.window().activateWindow()
    qtbot.waitUntil(frame.window().isActiveWindow)
    search.setFocus()
    QTest.keyClicks(search, "mok?")
    assert (search.text(), frame.findChild(TermPanel)) == ("mok?", None)


def test_a_page_without_terms_says_so(frame: Frame) -> None:
    known = frame._terms.glossary()
    shown = TermPanel((), known, frame._desk.words, frame)
    assert shown.list.isHidden()
    shown.reject()
