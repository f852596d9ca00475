"""What stands below an empty text box: what can be pasted, and the commands that print it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.ui.widgets.buttons import CopyButton
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.even_columns import EvenColumns
from gpuassist.ui.widgets.paragraphs import label, paragraph

_LEAST_WIDTH = 360
_EXAMPLES: tuple[tuple[Text, Text, str], ...] = (
    (
        text("An error of your program"),
        text("A traceback, its last lines, or all that it printed: out of memory, no kernel image, device-side assert."),
        "",
    ),
    (
        text("A build or an installation that failed"),
        text("What nvcc, pip, conda, cmake, apt, dkms or NVIDIA's installers printed."),
        "",
    ),
    (text("What the driver says"), text("Its table, whole or in part, of this or another machine."), "nvidia-smi"),
    (text("What torch says of its surroundings"), text("The report that projects ask for."), "python -m torch.utils.collect_env"),
    (text("What the kernel logged"), text("Lines with NVRM or Xid."), "journalctl -k -b --no-pager | grep -iE 'NVRM|nvidia'"),
    (text("A list of packages"), text("Or what an installer announces before it starts."), "pip list"),
)


class ExamplesCard(Card):
    """Examples side by side, where there is room."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("What can be explained")), parent=parent)
        columns = EvenColumns(self, least=_LEAST_WIDTH)
        for title, explanation, command in _EXAMPLES:
            columns.add(_example(words, (words(title), words(explanation)), command, columns))
        self.body.addWidget(columns)


def _example(words: Words, said: tuple[str, str], command: str, parent: QWidget) -> QWidget:
    title, explanation = said
    inside = QWidget(parent)
    column = QVBoxLayout(inside)
    column.setContentsMargins(0, 4, 0, 8)
    column.setSpacing(4)
    column.addWidget(label(title, "strong", inside))
    column.addWidget(paragraph(explanation, "muted", inside))
    if command:
        column.addLayout(_command(words, title, command, inside))
    column.addStretch(1)
    return inside


def _command(words: Words, title: str, command: str, parent: QWidget) -> QGridLayout:
    row = QGridLayout()
    row.setHorizontalSpacing(8)
    row.setColumnStretch(0, 1)
    row.addWidget(paragraph(command, "mono", parent), 0, 0)
    copy = CopyButton(words, lambda: command, parent)
    copy.setAccessibleName(f"{copy.text()}: {title}")
    row.addWidget(copy, 0, 1, Qt.AlignmentFlag.AlignTop)
    return row
