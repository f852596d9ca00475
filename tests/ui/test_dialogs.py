"""The real dialogs: they open without blocking, answer later, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.ui.dialogs import Asking, CommandsAsked

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


def test_where_something_is_lost_enter_leaves_it_as_it_is(parent: QWidget) -> None:
    Asking().confirm(parent, "Stop it?", "", lambda: None, ends="Stop process")
    Asking().confirm(parent, "Go on?", "", lambda: None)
    careful, plain = parent.findChildren(QMessageBox)
    assert careful.button(QMessageBox.StandardButton.Ok).text() == "Stop process"
    assert careful.defaultButton() is not plain.defaultButton()
    assert careful.defaultButton() is careful.button(QMessageBox.StandardButton.Cancel)
    for box in (careful, plain):
        box.reject()


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
    the_dialog(parent).reject()
    qtbot.waitUntil(lambda: parent.findChildren(QFileDialog) == [])
    assert answered == []


@pytest.mark.usefixtures("plain_dialogs")
def test_saving_proposes_its_name(parent: QWidget) -> None:
    Asking().save_file(parent, "Save", "machine.json", lambda _: None)
    assert the_dialog(parent).acceptMode() is QFileDialog.AcceptMode.AcceptSave
    assert [Path(name).name for name in the_dialog(parent).selectedFiles()] == ["machine.json"]
    the_dialog(parent).reject()


@pytest.mark.parametrize(("button", "expected"), [("Ok", ["yes"]), ("Cancel", [])])
def test_a_question_acts_on_consent_alone(parent: QWidget, qtbot: QtBot, button: str, expected: list[str]) -> None:
    confirmed: list[str] = []
    Asking().confirm(parent, "Really?", "It can be undone.", lambda: confirmed.append("yes"))
    (box,) = parent.findChildren(QMessageBox)
    box.button(getattr(QMessageBox.StandardButton, button)).click()
    qtbot.waitUntil(lambda: parent.findChildren(QMessageBox) == [])
    assert confirmed == expected


def test_a_question_shows_what_it_quotes_as_it_is(parent: QWidget, qtbot: QtBot) -> None:
    Asking().confirm(parent, "Stop <b>it</b>?", "python -c '<img src=x>'", lambda: None)
    (box,) = parent.findChildren(QMessageBox)
    quoting = [label for label in box.findChildren(QLabel) if label.text().endswith(("?", "'"))]
    assert [label.textFormat() for label in quoting] == [Qt.TextFormat.PlainText] * 2
    box.reject()
    qtbot.waitUntil(lambda: parent.findChildren(QMessageBox) == [])


COMMANDS = CommandsAsked(("pip install 'a  b'", "echo <b>"), ("2 packages <added>",), "Run it")


@pytest.mark.parametrize(("words", "expected"), [("Run it", ["yes"]), ("Cancel", [])])
def test_commands_run_on_consent_alone(parent: QWidget, qtbot: QtBot, words: str, expected: list[str]) -> None:
    confirmed: list[str] = []
    Asking().confirm_commands(parent, "Run these?", COMMANDS, lambda: confirmed.append("yes"))
    (box,) = parent.findChildren(QMessageBox)
    next(button for button in box.buttons() if button.text().replace("&", "") == words).click()
    qtbot.waitUntil(lambda: parent.findChildren(QMessageBox) == [])
    assert confirmed == expected


def test_commands_are_shown_as_they_are(parent: QWidget, qtbot: QtBot) -> None:
    Asking().confirm_commands(parent, "Run <these>?", COMMANDS, lambda: None)
    (box,) = parent.findChildren(QMessageBox)
    shown = [plain_words(label) for label in box.findChildren(QLabel)]
    assert "Run <these>?" in shown
    assert "pip install 'a  b'\necho <b>\n2 packages <added>" in [one.replace("\xa0", " ") for one in shown]
    box.reject()
    qtbot.waitUntil(lambda: parent.findChildren(QMessageBox) == [])


def plain_words(label: QLabel) -> str:
    """What a label of rich text reads as."""
    document = QTextDocument()
    document.setHtml(label.text())
    return document.toPlainText()


@pytest.mark.usefixtures("plain_dialogs")
def test_a_chosen_directory_is_the_answer(parent: QWidget, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "project").mkdir()
    answered: list[str] = []
    Asking().open_directory(parent, "The project's directory", answered.append)
    the_dialog(parent).setDirectory(str(tmp_path / "project"))
    the_dialog(parent).accept()
    qtbot.waitUntil(lambda: answered == [str(tmp_path / "project")])
