"""Monospaced text that is never clipped: it scrolls sideways, a button copies all of it; and a step with its commands."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPlainTextEdit, QSizePolicy, QWidget

from gpuassist.formats.visible import visible
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.commands import copyable_lines
from gpuassist.present.marks import Mark
from gpuassist.ui.theme import mono
from gpuassist.ui.widgets.buttons import CopyButton
from gpuassist.ui.widgets.cards import Well
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, by_text
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.own_command import OwnCommands, said
from gpuassist.ui.widgets.text_fields import TextArea

_LINES_SHOWN_AT_MOST = 14


def make_read_only(edit: QPlainTextEdit, name: str) -> None:
    """Lines in the monospaced font, not broken, that the keyboard gets into and out of again."""
    edit.setReadOnly(True)
    edit.setFrameShape(QFrame.Shape.NoFrame)
    edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    edit.setTabChangesFocus(True)
    edit.setFont(mono())
    edit.setAccessibleName(name)


class CodeText(TextArea):
    """Read-only lines in the monospaced font, as high as they are many."""

    def __init__(self, content: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._laid_out_width = 0
        make_read_only(self, name)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        self.document().setDocumentMargin(4)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._show(visible(content))

    def set_content(self, content: str) -> None:
        content = visible(content)
        if content != self.toPlainText():
            self._show(content)
            self.updateGeometry()

    def _show(self, content: str) -> None:
        self.setPlainText(content)
        # Where all lines are shown: else, after it was narrow, each bar would stand because the other takes its room.
        needed = self.blockCount() > _LINES_SHOWN_AT_MOST
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if needed else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(policy)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        lines = min(self.blockCount(), _LINES_SHOWN_AT_MOST)
        width = max((metrics.horizontalAdvance(line) for line in self.toPlainText().split("\n")), default=0) + 12
        bar = self.horizontalScrollBar().sizeHint().height() if width > self._laid_out_width and self._laid_out_width else 0
        return QSize(min(width + 4, 600), self._height_of(lines) + 10 + bar)

    def _height_of(self, count: int) -> int:
        """Of the first lines as they are laid out: one with letters of another font may be higher than the font's own."""
        height, layout, block = 0.0, self.document().documentLayout(), self.document().firstBlock()
        for _ in range(count):
            height += layout.blockBoundingRect(block).height()
            block = block.next()
        return ceil(height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._laid_out_width != self.width():
            self._laid_out_width = self.width()
            self.updateGeometry()  # a narrower one may need its scroll bar's height too

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.sizeHint().height())


class CodeBlock(Well):
    """Lines in a well with a button that copies them."""

    def __init__(self, words: Words, content: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = CodeText(content, name, self)
        row = bare(QHBoxLayout(), 8)
        row.addWidget(self._text, 1)
        row.addWidget(CopyButton(words, self._text.toPlainText, self), 0, Qt.AlignmentFlag.AlignTop)
        self.body.setContentsMargins(8, 6, 6, 6)
        add_layout(self.body, row)

    @property
    def content(self) -> str:
        return self._text.toPlainText()

    def set_content(self, content: str) -> None:
        self._text.set_content(content)


class CommandBlock(CodeBlock):
    """Command lines: where one of them would not arrive in a terminal as it stands here, why none is here. What this window can do
    itself has its button as well.
    """

    def __init__(self, words: Words, lines: Sequence[str], name: str, parent: QWidget | None = None) -> None:
        super().__init__(words, _copyable(words, lines), name, parent)
        self._words = words
        self.own = OwnCommands(words, lines, self)
        self.body.addWidget(self.own)

    def set_lines(self, lines: Sequence[str]) -> None:
        self.set_content(_copyable(self._words, lines))
        self.own.show_lines(lines)


def _copyable(words: Words, lines: Sequence[str]) -> str:
    return "\n".join(map(words, copyable_lines(lines)))


class StepRow(QWidget):
    """A step: its number or how it went, what it does, one line below it, and commands to copy."""

    def __init__(
        self, words: Words, title: Text, detail: Text | None, parent: QWidget | None = None, *, commands: tuple[str, ...] = ()
    ) -> None:
        super().__init__(parent)
        grid = bare(QGridLayout(self))
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        self._number = label("", "muted", self)
        self._number.setFixedWidth(by_text(20))
        self._number.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self._icon = MarkIcon(Mark.TODO, self)
        self._icon.hide()
        grid.addWidget(self._number, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self._icon, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(paragraph(words(title), "", self), 0, 1)
        if detail is not None:
            grid.addWidget(said(words, words(detail), "small", self), 1, 1)
        if commands:
            grid.addWidget(CommandBlock(words, commands, words(text("Commands")), self), 2, 1)

    @property
    def mark(self) -> Mark | None:
        return None if self._icon.isHidden() else self._icon.mark

    def show_number(self, number: int) -> None:
        self._number.setText(str(number))

    def show_mark(self, mark: Mark) -> None:
        self._icon.set_mark(mark)
        self._icon.show()
        self._number.hide()
