"""The real dialogs: they open without blocking, answer later, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.ui.dialogs import Asking
from gpuassist.ui.questions import CommandsAsked, Verbs
from gpuassist.ui.widgets.code import CodeText
from gpuassist.ui.widgets.question import QuestionDialog

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # the offscreen platform's answer to every dialog


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.fixture
def plain_dialogs(qapp: QApplication) -> Iterator[None]:
    """Qt's own file dialogs, whatever the desktop offers."""
    from PySide6.QtCore import Qt

    qapp.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs, True)
    yield
    qapp.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs, False)


def the_dialog(parent: QWidget) -> QFileDialog:
    """The file dialog that is open."""
    (dialog,) = parent.findChildren(QFileDialog)
    return dialog


STOP = Verbs("Stop it", "Let it run", loses=True)
UNDO = Verbs("Undo", "Keep")


def the_question(parent: QWidget) -> QuestionDialog:
    """The question that is open."""
    (question,) = parent.findChildren(QuestionDialog)
    return question


@pytest.mark.parametrize(("verbs", "by_enter"), [(STOP, "Let it run"), (UNDO, "Undo")], ids=["loses", "can be taken back"])
def test_where_something_is_lost_enter_leaves_it_as_it_is(parent: QWidget, verbs: Verbs, by_enter: str) -> None:
    Asking().confirm(parent, "Really?", "", lambda: None, verbs=verbs)
    question = the_question(parent)
    assert [one.text() for one in (question.keeps, question.does) if one.isDefault()] == [by_enter]
    assert question.focusWidget() is (question.keeps if verbs.loses else question.does)
    assert (question.does.property("kind") == "danger") is verbs.loses
    question.reject()


@pytest.mark.usefixtures("plain_dialogs")
def test_a_chosen_file_is_the_answer(parent: QWidget, tmp_path: Path, qtbot: QtBot) -> None:
    file = tmp_path / "machine.json"
    file.write_text("{}")
    answered: list[str] = []
    Asking().open_file(parent, "Open", "Recorded machines (*.json)", answered.append)
    the_dialog(parent).setDirectory(str(tmp_path))
    the_dialog(parent).selectFile(str(file))
    the_dialog(parent).accept()
    qtbot.waitUntil(lambda: answered == [str(file)])


@pytest.mark.usefixtures("plain_dialogs")
def test_a_closed_dialog_answers_nothing_and_goes(parent: QWidget, qtbot: QtBot) -> None:
    answered: list[str] = []
    Asking().open_file(parent, "Open", "Recorded machines (*.json)", answered.append)
    offered = the_dialog(parent).findChildren(QLineEdit)[0].completer().popup()
    assert offered is not None
    assert offered.property("round") == "yes"  # what Qt offers while one types looks as everything else
    the_dialog(parent).reject()
    qtbot.waitUntil(lambda: parent.findChildren(QFileDialog) == [])
    assert answered == []


@pytest.mark.usefixtures("plain_dialogs")
def test_saving_proposes_its_name(parent: QWidget) -> None:
    Asking().save_file(parent, "Save", "machine.json", lambda _: None)
    assert the_dialog(parent).acceptMode() is QFileDialog.AcceptMode.AcceptSave
    assert [Path(name).name for name in the_dialog(parent).selectedFiles()] == ["machine.json"]
    the_dialog(parent).reject()


@pytest.mark.parametrize(("button", "expected"), [("does", ["yes"]), ("keeps", [])])
def test_a_question_acts_on_consent_alone(parent: QWidget, qtbot: QtBot, button: str, expected: list[str]) -> None:
    confirmed: list[str] = []
    Asking().confirm(parent, "Really?", "It can be undone.", lambda: confirmed.append("yes"), verbs=UNDO)
    getattr(the_question(parent), button).click()
    qtbot.waitUntil(lambda: parent.findChildren(QuestionDialog) == [])
    assert confirmed == expected


def test_a_question_that_is_closed_is_answered_with_no(parent: QWidget, qtbot: QtBot) -> None:
    confirmed: list[str] = []
    Asking().confirm(parent, "Really?", "It can be undone.", lambda: confirmed.append("yes"), verbs=UNDO)
    QTest.keyClick(the_question(parent), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: parent.findChildren(QuestionDialog) == [])
    assert confirmed == []


QUOTED = ("Stop <b>it</b> `now`?", "python -c '<img src=x>' `id`")


def test_a_question_shows_what_it_quotes_as_it_is(parent: QWidget) -> None:
    Asking().confirm(parent, *QUOTED, lambda: None, verbs=STOP)
    quoting = {label.text(): label.textFormat() for label in the_question(parent).findChildren(QLabel)}
    assert quoting == dict.fromkeys(QUOTED, Qt.TextFormat.PlainText)
    the_question(parent).reject()


def test_a_question_is_read_aloud_with_what_will_happen(parent: QWidget) -> None:
    Asking().confirm(parent, "Undo this?", "The file is restored.", lambda: None, verbs=UNDO)
    assert the_question(parent).accessibleDescription() == "Undo this?\nThe file is restored."
    the_question(parent).reject()


def test_a_long_explanation_stays_on_the_screen_and_scrolls(parent: QWidget, qtbot: QtBot) -> None:
    Asking().confirm(parent, "Really?", "A line of it.\n" * 400, lambda: None, verbs=UNDO)
    question = the_question(parent)
    room = question.screen().availableGeometry()
    assert question.height() < room.height()
    assert question.width() < room.width()
    (said,) = question.findChildren(QScrollArea)
    assert said.focusPolicy() is Qt.FocusPolicy.StrongFocus  # the keyboard reads it all
    question.reject()


COMMANDS = CommandsAsked(("pip install 'a  b'", "echo <b>"), ("2 packages <added>",), Verbs("Run it", "Cancel"))


@pytest.mark.parametrize(("button", "expected"), [("does", ["yes"]), ("keeps", [])])
def test_commands_run_on_consent_alone(parent: QWidget, qtbot: QtBot, button: str, expected: list[str]) -> None:
    confirmed: list[str] = []
    Asking().confirm_commands(parent, "Run these?", COMMANDS, lambda: confirmed.append("yes"))
    getattr(the_question(parent), button).click()
    qtbot.waitUntil(lambda: parent.findChildren(QuestionDialog) == [])
    assert confirmed == expected


def test_commands_are_shown_as_they_are(parent: QWidget) -> None:
    Asking().confirm_commands(parent, "Run <these>?", COMMANDS, lambda: None)
    question = the_question(parent)
    assert [label.text() for label in question.findChildren(QLabel)] == ["Run <these>?", "2 packages <added>"]
    assert [code.toPlainText() for code in question.findChildren(CodeText)] == ["pip install 'a  b'\necho <b>"]
    question.reject()


@pytest.mark.usefixtures("plain_dialogs")
def test_a_chosen_directory_is_the_answer(parent: QWidget, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "project").mkdir()
    answered: list[str] = []
    Asking().open_directory(parent, "The project's directory", answered.append)
    the_dialog(parent).setDirectory(str(tmp_path / "project"))
    the_dialog(parent).accept()
    qtbot.waitUntil(lambda: answered == [str(tmp_path / "project")])
