"""Questions to the user that open a dialog of their own, behind one small object so that tests answer them.

Qt's modules are imported whole: PySide6 makes a class when it is first named, and none of these is before the first paint.
"""

from __future__ import annotations

import html
from collections.abc import Callable

from msgspec import Struct
from PySide6 import QtCore, QtGui, QtWidgets

from gpuassist.formats.visible import visible

Answered = Callable[[str], None]
_MONO = "'JetBrains Mono', 'DejaVu Sans Mono', monospace"


class CommandsAsked(Struct, frozen=True):
    """The exact lines that would be run, what to know before, and the words on the button that runs them."""

    lines: tuple[str, ...]
    remarks: tuple[str, ...]
    go: str


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
        self, parent: QtWidgets.QWidget, question: str, explanation: str, confirmed: Callable[[], None], *, ends: str = ""
    ) -> None:
        """Asks; `ends` are the words on the button where something is lost by it: Enter then leaves all as it is."""
        box = QtWidgets.QMessageBox(QtWidgets.QMessageBox.Icon.Question, "gpuassist", visible(question), parent=parent)
        box.setTextFormat(QtCore.Qt.TextFormat.PlainText)  # a command line that is quoted may look like HTML
        box.setInformativeText(visible(explanation))
        box.setStandardButtons(QtWidgets.QMessageBox.StandardButton.Ok | QtWidgets.QMessageBox.StandardButton.Cancel)
        if ends:
            box.button(QtWidgets.QMessageBox.StandardButton.Ok).setText(ends)
            box.setDefaultButton(QtWidgets.QMessageBox.StandardButton.Cancel)
        box.accepted.connect(confirmed)
        box.finished.connect(box.deleteLater)
        box.open()

    def confirm_commands(
        self, parent: QtWidgets.QWidget, question: str, about: CommandsAsked, confirmed: Callable[[], None]
    ) -> None:
        """Whether to run exactly these."""
        box = QtWidgets.QMessageBox(QtWidgets.QMessageBox.Icon.Question, "gpuassist", html.escape(visible(question)), parent=parent)
        box.setTextFormat(QtCore.Qt.TextFormat.RichText)
        lines = "<br>".join(html.escape(visible(line)).replace("\n", "<br>").replace("  ", "&nbsp; ") for line in about.lines)
        rest = "".join(f"<p>{html.escape(visible(one))}</p>" for one in about.remarks)
        box.setInformativeText(f'<p style="font-family: {_MONO}; font-size: 9.25pt">{lines}</p>{rest}')
        box.addButton(about.go, QtWidgets.QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QtWidgets.QMessageBox.StandardButton.Cancel)
        box.accepted.connect(confirmed)
        box.finished.connect(box.deleteLater)
        box.open()

    def visit(self, link: str) -> None:
        """Opens a page in the user's browser, which is the only thing here that leads outside, and only when clicked."""
        QtGui.QDesktopServices.openUrl(QtCore.QUrl(link))


def _show(dialog: QtWidgets.QFileDialog, answered: Answered) -> None:
    dialog.fileSelected.connect(answered)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
