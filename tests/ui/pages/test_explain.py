"""The explain page whole: a text comes in by every way, is explained as it is typed, and leads on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QClipboard, QDragEnterEvent, QDropEvent, QKeySequence
from PySide6.QtTest import QSignalSpy, QTest
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.model.machine import Machine
from gpuassist.model.words import ENGLISH
from gpuassist.session.explain import Ground
from gpuassist.session.inspect import Inspection, open_example
from gpuassist.session.navigation import ToExplainFile, ToExplainText, ToGuide, ToRepair
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.explain.page import ExplainPage
from gpuassist.ui.pages.explain.text import ExamplesCard
from gpuassist.ui.widgets.buttons import DropDown
from gpuassist.ui.widgets.cards import Notice
from tests.ui.frames import HEALTHY, TOO_OLD
from tests.ui.made import Answers, inspection
from tests.ui.showing import Show, button_named, words_in

NVCC = "make: all\nnvcc fatal   : Unsupported gpu architecture 'compute_89'\nmake: *** [all] Error 1"


class Shown:
    """The page in a window, and what it asks of the frame."""

    def __init__(self, desk: Desk, show: Show, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.page = show(ExplainPage(desk), 1056, 760)
        self.edit = self.page.text_card.edit
        self.asked: list[object] = []
        self.page.asked.connect(self.asked.append)

    def settle(self) -> None:
        self.qtbot.waitUntil(lambda: not self.page.busy)

    def explain(self, words: str) -> None:
        self.page.explain_text(words)
        self.settle()

    def open(self, path: Path) -> None:
        self.page.open_file(str(path))
        self.settle()

    def ids(self) -> list[str]:
        found = self.page.explanation
        return [answer.id for answer in found.answers] if found is not None else []

    def trigger(self, keys: str) -> None:
        next(action for action in self.page.actions() if action.shortcut() == QKeySequence(keys)).trigger()
        self.settle()

    def says(self, words: str) -> bool:
        return any(words in one for one in words_in(self.page))


@pytest.fixture
def shown(desk: Desk, show: Show, qtbot: QtBot) -> Shown:
    return Shown(desk, show, qtbot)


Example = Callable[[str], Inspection]


@pytest.fixture
def example(session: Session) -> Example:
    """A machine that ships with gpuassist."""
    return lambda name: open_example(session, name)


def test_it_begins_with_what_can_be_explained(shown: Shown) -> None:
    shown.page.arrive(None)
    shown.qtbot.waitUntil(lambda: any(card.isVisibleTo(shown.page) for card in shown.page.findChildren(ExamplesCard)))
    (card,) = shown.page.findChildren(ExamplesCard)
    assert card.isVisibleTo(shown.page)
    assert shown.edit.hasFocus()
    assert shown.page.explanation is None


def test_it_says_that_nothing_leaves_the_machine(shown: Shown) -> None:
    assert shown.says("It stays on this machine.")


def test_what_is_typed_is_explained(shown: Shown) -> None:
    QTest.keyClicks(shown.edit, "nvcc fatal   : Unsupported gpu architecture 'compute_89'")
    shown.settle()
    assert shown.ids()[0] == "nvcc-arch-too-new"


def test_a_text_given_is_shown_and_explained(shown: Shown) -> None:
    shown.page.arrive(ToExplainText(NVCC))
    shown.settle()
    assert shown.edit.toPlainText() == NVCC
    assert shown.ids()[0] == "nvcc-arch-too-new"
    assert not any(card.isVisibleTo(shown.page) for card in shown.page.findChildren(ExamplesCard))


def test_a_file_given_is_shown_and_explained(shown: Shown, tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text(NVCC)
    shown.page.arrive(ToExplainFile(str(log)))
    shown.settle()
    assert shown.ids()[0] == "nvcc-arch-too-new"


def test_coming_back_leaves_the_text(shown: Shown) -> None:
    shown.explain(NVCC)
    shown.page.arrive(None)
    assert shown.edit.toPlainText() == NVCC


def test_the_clipboard_is_pasted_anywhere_on_the_page(shown: Shown, clipboard: QClipboard) -> None:
    clipboard.setText(NVCC)
    shown.trigger("Ctrl+V")
    assert shown.edit.toPlainText() == NVCC
    assert shown.ids()[0] == "nvcc-arch-too-new"


def test_the_paste_button_does_the_same(shown: Shown, clipboard: QClipboard) -> None:
    clipboard.setText(NVCC)
    button_named(shown.page, "Paste").click()
    shown.settle()
    assert shown.ids()[0] == "nvcc-arch-too-new"


def test_a_log_is_opened(shown: Shown, answers: Answers, tmp_path: Path) -> None:
    (tmp_path / "build.log").write_bytes(NVCC.encode("utf-16"))
    answers.opened = str(tmp_path / "build.log")
    shown.trigger("Ctrl+O")
    assert shown.edit.toPlainText() == NVCC


def test_a_log_that_is_not_there_is_told(shown: Shown, tmp_path: Path) -> None:
    shown.open(tmp_path / "no.log")
    (notice,) = shown.page.findChildren(Notice)
    assert notice.isVisibleTo(shown.page)
    assert "could not be read: No such file or directory" in notice.words


def test_trouble_goes_with_the_next_text(shown: Shown, tmp_path: Path) -> None:
    shown.open(tmp_path / "no.log")
    shown.explain(NVCC)
    assert not shown.page.findChildren(Notice)[0].isVisibleTo(shown.page)


def test_a_file_that_is_no_text_is_told(shown: Shown, tmp_path: Path) -> None:
    (tmp_path / "program").write_bytes(bytes(range(256)) * 64)
    shown.open(tmp_path / "program")
    assert shown.says("This is not text")


def drop(page: ExplainPage, data: QMimeData) -> bool:
    """Drops something on the page; whether it was taken."""
    keys = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    enter = QDragEnterEvent(QPoint(10, 10), *keys)
    page.dragEnterEvent(enter)
    if enter.isAccepted():
        page.dropEvent(QDropEvent(QPointF(10, 10), *keys))
    return enter.isAccepted()


def test_a_file_dropped_on_the_page_is_explained(shown: Shown, tmp_path: Path) -> None:
    (tmp_path / "build.log").write_text(NVCC)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "build.log"))])
    assert drop(shown.page, data)
    shown.settle()
    assert shown.ids()[0] == "nvcc-arch-too-new"


def test_a_text_dropped_on_the_page_is_explained(shown: Shown) -> None:
    data = QMimeData()
    data.setText(NVCC)
    assert drop(shown.page, data)
    shown.settle()
    assert shown.edit.toPlainText() == NVCC


def test_a_picture_is_not_taken(shown: Shown) -> None:
    data = QMimeData()
    data.setData("image/png", b"x")
    assert not drop(shown.page, data)


def test_a_log_of_many_megabytes_is_read_at_both_ends(shown: Shown, tmp_path: Path) -> None:
    log = tmp_path / "long.log"
    log.write_text("beginning\n" + "nothing of interest\n" * 500_000 + NVCC)
    shown.open(log)
    assert shown.ids()[0] == "nvcc-arch-too-new"
    assert shown.says("MiB between them were left out")
    assert shown.edit.toPlainText().startswith("beginning")


def test_a_long_text_comes_into_sight_where_it_matters(shown: Shown) -> None:
    shown.explain("nothing\n" * 3_000 + NVCC)
    assert shown.edit.firstVisibleBlock().blockNumber() > 2_900
    assert [one.cursor.blockNumber() for one in shown.edit.extraSelections()] == [3_001]


def test_a_megabyte_in_one_line_is_shown_by_its_ends(shown: Shown) -> None:
    shown.explain("x" * 1_000_000)
    assert shown.edit.isReadOnly()
    assert shown.says("cannot be edited")
    assert shown.says("I don't know this text")


def test_clearing_brings_the_examples_back(shown: Shown) -> None:
    shown.page.arrive(ToExplainText(NVCC))
    shown.settle()
    shown.trigger("Ctrl+L")
    assert shown.page.explanation is None
    assert any(card.isVisibleTo(shown.page) for card in shown.page.findChildren(ExamplesCard))
    assert not shown.page.answer.isVisibleTo(shown.page)


def test_a_quote_leads_to_its_line(shown: Shown) -> None:
    shown.explain(NVCC)
    button_named(shown.page, "Line 2").click()
    assert shown.edit.textCursor().selectedText() == NVCC.splitlines()[1]


def test_only_the_last_text_is_answered(shown: Shown) -> None:
    shown.page.explain_text("RuntimeError: CUDA error: device-side assert triggered")
    shown.explain(NVCC)
    assert shown.ids()[0] == "nvcc-arch-too-new"
    assert shown.edit.toPlainText() == NVCC


def test_it_is_joined_with_the_machine_that_was_read(shown: Shown, example: Example) -> None:
    shown.page.show_inspection(example(TOO_OLD))
    shown.explain(NVCC)
    found = shown.page.explanation
    assert found is not None
    assert found.basis.ground is Ground.JOINED
    assert shown.says("Missing details were taken from the recorded machine.")


def test_a_machine_that_is_read_later_is_joined(shown: Shown, example: Example) -> None:
    shown.explain(NVCC)
    assert shown.says("The computer has not been read yet")
    shown.page.show_inspection(example(TOO_OLD))
    shown.settle()
    assert not shown.says("The computer has not been read yet")
    assert shown.page.explanation is not None
    assert shown.page.explanation.basis.ground is Ground.JOINED


def test_the_text_alone_can_be_chosen(shown: Shown, example: Example) -> None:
    shown.page.show_inspection(example(TOO_OLD))
    shown.explain(NVCC)
    (choice,) = shown.page.findChildren(DropDown)
    choice.setCurrentIndex(1)
    shown.settle()
    assert shown.page.explanation is not None
    assert shown.page.explanation.basis.ground is Ground.TEXT_ALONE
    assert shown.page.bar().primary is None


@pytest.mark.parametrize(("recorded", "said"), [(False, "Use facts of this computer"), (True, "Use facts of the recording")])
def test_the_choice_names_the_machine(shown: Shown, recorded: bool, said: str) -> None:
    shown.page.show_inspection(inspection(Machine(), recorded=recorded))
    assert shown.page.findChildren(DropDown)[0].itemText(0) == said


def test_a_toolkit_that_is_installed_is_the_way_on(shown: Shown, example: Example) -> None:
    shown.page.show_inspection(example(TOO_OLD))
    shown.explain(NVCC)
    primary = shown.page.bar().primary
    assert primary is not None
    assert primary.text() == "Switch to CUDA 12.4…"
    primary.trigger()
    assert shown.asked == [ToRepair("12.4")]


def test_without_a_way_on_there_is_no_button(shown: Shown, example: Example) -> None:
    shown.page.show_inspection(example(HEALTHY))
    shown.explain("The frobnicator has exploded: error 7")
    assert shown.page.bar().primary is None


def test_the_bar_changes_with_the_answer(shown: Shown) -> None:
    spy = QSignalSpy(shown.page.bar_changed)
    enabled = [action.isEnabled() for action in shown.page.bar().left]
    shown.explain(NVCC)
    assert spy.count() > 0
    assert enabled == [False, False]
    assert [action.isEnabled() for action in shown.page.bar().left] == [True, True]


def test_the_answer_is_copied(shown: Shown, clipboard: QClipboard) -> None:
    shown.explain(NVCC)
    shown.trigger("Ctrl+Shift+C")
    assert clipboard.text().startswith("1 problem found\n")
    assert shown.says("Copied, without the names of users and computers")


def test_a_copied_answer_names_nobody(shown: Shown, clipboard: QClipboard) -> None:
    shown.explain("ImportError: /home/wendelin/venv/lib/python3.12/site-packages/torch/libc10.so: undefined symbol: ncclCommSplit")
    shown.trigger("Ctrl+Shift+C")
    assert "torch" in clipboard.text()
    assert "wendelin" not in clipboard.text()


def test_it_is_saved_where_the_user_says(shown: Shown, answers: Answers, tmp_path: Path) -> None:
    answers.saved = str(tmp_path / "for-you.md")
    shown.explain(NVCC)
    shown.trigger("Ctrl+S")
    assert "```text\nmake: all\n" in (tmp_path / "for-you.md").read_text()
    assert shown.says("Saved as")


def test_what_cannot_be_saved_is_told(shown: Shown, answers: Answers, tmp_path: Path) -> None:
    answers.saved = str(tmp_path / "no" / "such" / "for-you.md")
    shown.explain(NVCC)
    shown.trigger("Ctrl+S")
    assert shown.says("Could not be saved: No such file or directory")


def test_a_link_is_opened_by_the_desk(shown: Shown, answers: Answers) -> None:
    shown.page.answer.link_opened.emit("https://docs.nvidia.com/")
    assert answers.visited == ["https://docs.nvidia.com/"]


def test_a_guide_opens_on_its_own_page(shown: Shown) -> None:
    shown.page.answer.guide_wanted.emit("freeing-memory")
    assert shown.asked == [ToGuide("freeing-memory")]


def test_every_button_and_box_has_a_name(shown: Shown) -> None:
    assert shown.edit.accessibleName() == "The text to explain"
    assert shown.page.findChildren(DropDown)[0].accessibleName() == "Facts that the answer is based on"
    assert [button_named(shown.page, words).toolTip() for words in ("Paste", "Open a log…", "Clear")] == [
        "Ctrl+V",
        "Ctrl+O",
        "Ctrl+L",
    ]


def test_closing_drops_what_runs(shown: Shown) -> None:
    shown.page.explain_text(NVCC)
    shown.page.close_down()
    assert shown.page.explanation is None


def test_a_text_edited_after_it_was_given_is_explained_as_it_stands(shown: Shown) -> None:
    shown.explain(NVCC)
    shown.edit.selectAll()
    QTest.keyClicks(shown.edit, "hello")
    shown.settle()
    assert shown.page.explanation is not None
    assert shown.page.explanation.paste.words == "hello"
    assert ENGLISH(shown.page.explanation.title) == "I don't know this text"
