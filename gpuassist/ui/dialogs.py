"""Questions to the user that open a dialog of their own, behind one small object so that tests answer them.

Qt's modules are imported whole: PySide6 makes a class when it is first named, and none of these is before the first paint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6 import QtCore, QtGui, QtWidgets

from gpuassist.ui.questions import Answered, CommandsAsked, Verbs

if TYPE_CHECKING:
    from gpuassist.ui.widgets.question import QuestionDialog


class Asking:
    """The real dialogs. They never block: the answer comes later, and none where the user closes the dialog."""

    def open_file(self, parent: QtWidgets.QWidget, title: str, kinds: str, answered: Answered) -> None:
        """Which file to open; `kinds` as Qt writes filters, `Recorded machines (*.json)`."""
        dialog = QtWidgets.QFileDialog(parent, title, "", kinds)
        dialog.setFileMode(QtWidgets.QFileDialog.FileMode.ExistingFile)
        _show(dialog, answered)

    def open_directory(self, parent: QtWidgets.QWidget, title: str, answered: Answered) -> None:
        dialog = QtWidgets.QFileDialog(parent, title)
        dialog.setFileMode(QtWidgets.QFileDialog.FileMode.Directory)
        dialog.setOption(QtWidgets.QFileDialog.Option.ShowDirsOnly)
        _show(dialog, answered)

    def save_file(self, parent: QtWidgets.QWidget, title: str, name: str, answered: Answered, *, replaces: bool = True) -> None:
        """Where to save something that is proposed to be called `name`; what never `replaces` a file does not ask about one."""
        dialog = QtWidgets.QFileDialog(parent, title, name)
        dialog.setOption(QtWidgets.QFileDialog.Option.DontConfirmOverwrite, not replaces)
        dialog.setAcceptMode(QtWidgets.QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(name)
        _show(dialog, answered)

    def confirm(
        self, parent: QtWidgets.QWidget, question: str, explanation: str, confirmed: Callable[[], None], *, verbs: Verbs
    ) -> None:
        """Asks, and says what will happen."""
        from gpuassist.ui.widgets.question import QuestionDialog  # not needed before something is asked

        _ask(QuestionDialog(question, (explanation,), verbs, parent), confirmed)

    def confirm_commands(
        self, parent: QtWidgets.QWidget, question: str, about: CommandsAsked, confirmed: Callable[[], None]
    ) -> None:
        """Whether to run exactly these."""
        from gpuassist.ui.widgets.question import QuestionDialog

        _ask(QuestionDialog(question, about.remarks, about.verbs, parent, lines=about.lines), confirmed)

    def visit(self, link: str) -> None:
        """Opens a page in the user's browser, which is the only thing here that leads outside, and only when clicked."""
        QtGui.QDesktopServices.openUrl(QtCore.QUrl(link))


def _show(dialog: QtWidgets.QFileDialog, answered: Answered) -> None:
    from gpuassist.ui.widgets.line_icons import dress_file_dialog  # not needed before a file is asked for

    dress_file_dialog(dialog)
    dialog.fileSelected.connect(answered)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def _ask(question: QuestionDialog, confirmed: Callable[[], None]) -> None:
    question.accepted.connect(confirmed)
    question.finished.connect(question.deleteLater)
    question.open()
