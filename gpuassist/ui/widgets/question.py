"""A question before something is done: what is asked, what will happen, and two verbs to answer with."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from gpuassist.formats.visible import on_one_line, visible
from gpuassist.ui.questions import Verbs
from gpuassist.ui.widgets.buttons import primary, secondary
from gpuassist.ui.widgets.cards import Well
from gpuassist.ui.widgets.code import CodeText
from gpuassist.ui.widgets.layouts import add_layout, bare

_LETTERS, _LETTERS_OF_COMMANDS = 58, 84
_SHARE_OF_SCREEN = 0.6
_AROUND = 40


class QuestionDialog(QDialog):
    """Enter does it, unless something is lost by it: then Enter leaves all as it is. Esc always does."""

    def __init__(
        self, question: str, explanations: Sequence[str], verbs: Verbs, parent: QWidget, *, lines: Sequence[str] = ()
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(on_one_line(verbs.does))
        self.setAccessibleDescription(visible("\n".join((question, *lines, *explanations))))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(12)
        column.addWidget(_plain(question, "heading", self))
        if lines:
            well = Well(self)
            well.body.addWidget(CodeText("\n".join(lines), on_one_line(question), well))
            column.addWidget(well)
        self._said = _Said([one for one in explanations if one], self)
        column.addWidget(self._said)
        self.does = primary(verbs.does, self)
        self.keeps = secondary(verbs.keeps, self)
        if verbs.loses:
            self.does.setProperty("kind", "danger")
        self.does.clicked.connect(self.accept)
        self.keeps.clicked.connect(self.reject)
        column.addSpacing(8)
        add_layout(column, self._buttons())
        first = self.keeps if verbs.loses else self.does
        first.setDefault(True)
        first.setFocus()
        self._fit(_LETTERS_OF_COMMANDS if lines else _LETTERS)

    def _buttons(self) -> QHBoxLayout:
        row = bare(QHBoxLayout(), 8)
        row.addStretch(1)
        row.addWidget(self.keeps)
        row.addWidget(self.does)
        return row

    def _fit(self, letters: int) -> None:
        """As wide as a line that reads well, and no larger than the window's screen allows: what is longer scrolls."""
        self.ensurePolished()
        room = self.screen().availableSize()
        width = min(letters * self.fontMetrics().averageCharWidth() + 48, room.width() - _AROUND)
        self._said.limit(width - 48, int(room.height() * _SHARE_OF_SCREEN))
        self.setFixedWidth(width)
        layout = self.layout()
        assert layout is not None
        self.setFixedHeight(layout.totalHeightForWidth(width))  # a dialog's own hint counts lines as if they were short


class _Said(QScrollArea):
    """What will happen; it scrolls only where the screen is too low for it."""

    def __init__(self, explanations: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        content = QWidget()
        content.setObjectName("content")
        self._column = bare(QVBoxLayout(content), 10)
        for one in explanations:
            self._column.addWidget(_plain(one, "", content))
        self.setWidget(content)
        self.setVisible(bool(explanations))

    def limit(self, width: int, height: int) -> None:
        wanted = self._column.heightForWidth(width)
        self.setFixedHeight(min(max(wanted, 1), height))
        if wanted > height:
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


def _plain(words: str, role: str, parent: QWidget) -> QLabel:
    """Words as they are, backticks and tags as well: they may quote a command line."""
    made = QLabel(visible(words), parent)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(True)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role:
        made.setProperty("role", role)
    return made
