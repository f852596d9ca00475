"""Questions to the user that open a dialog of their own, behind one small object so that tests answer them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

Answered = Callable[[str], None]


class Asking:
    """The real dialogs. They never block: the answer comes later, and none where the user closes the dialog."""

    def open_file(self, parent: QWidget, title: str, kinds: str, answered: Answered) -> None:
        """Which file to open; `kinds` as Qt writes filters, `Recorded machines (*.json)`."""
        dialog = QFileDialog(parent, title, "", kinds)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        _show(dialog, answered)

    def save_file(self, parent: QWidget, title: str, name: str, answered: Answered) -> None:
        """Where to save something that is proposed to be called `name`."""
        dialog = QFileDialog(parent, title, name)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(name)
        _show(dialog, answered)

    def confirm(self, parent: QWidget, question: str, explanation: str, confirmed: Callable[[], None]) -> None:
        """Whether to go on."""
        box = QMessageBox(QMessageBox.Icon.Question, "gpuassist", question, parent=parent)
        box.setInformativeText(explanation)
        box.setStandardButtons(QMessageBox.StandardButton.Ok | QMessageBox.StandardButton.Cancel)
        box.accepted.connect(confirmed)
        box.finished.connect(box.deleteLater)
        box.open()

    def visit(self, link: str) -> None:
        """Opens a page in the user's browser, which is the only thing here that leads outside, and only when clicked."""
        QDesktopServices.openUrl(QUrl(link))


def _show(dialog: QFileDialog, answered: Answered) -> None:
    dialog.fileSelected.connect(answered)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
