"""The box for a pasted text: large ones are filled in piece by piece, files can be dropped on it, and lines can be shown."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QResizeEvent, QTextCursor, QTextOption
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit, QWidget

from gpuassist.formats.paste import read_paste
from gpuassist.present.marks import Mark
from gpuassist.ui.clipboard import dropped_file
from gpuassist.ui.pace import InTurns, Step
from gpuassist.ui.theme import colours, mono
from gpuassist.ui.widgets.text_fields import TextArea

_AT_ONCE = 32_000  # characters: cleaning and laying out more is felt
_PIECE = 250  # lines, and so many characters, whichever comes first: 5 ms
_PIECE_CHARACTERS = 24_000
_LONGEST_LINE = 4_000  # of a longer one its two ends are shown; laying out 200,000 characters takes 50 ms
_LINES_LEAST, _LINES_MOST = 6, 9
_CUT = " ⋯ "


class PasteEdit(TextArea):
    """Its lines are those of the cleaned text, so that a line's number in an answer is its number here."""

    changed = Signal()  # by the user
    filled = Signal()  # a text that was given is there whole
    large = Signal(object)  # str: all of the text, with a paste in it that is too much for one turn
    file_given = Signal(object)  # str: the path of a file dropped or pasted

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._turns = InTurns(self)
        self._turns.done.connect(self._end_filling)
        self.shortened = False
        self._asked_height = 0
        self._marked: tuple[tuple[int, ...], Mark] = ((), Mark.INFO)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(mono())
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDocumentMargin(8)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._tell)

    @property
    def filling(self) -> bool:
        return self._turns.busy

    def fill(self, words: str) -> None:
        """Shows another text, which is clean already."""
        self.setUndoRedoEnabled(False)
        self.setReadOnly(True)
        self._turns.begin(self._pieces(words))

    def empty(self) -> None:
        """Takes the text out, in a way that can be undone where it was typed."""
        if self.filling or self.shortened:
            self.shortened = False
            self.clear()
            self._be_a_box()
            self.changed.emit()
            return
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.removeSelectedText()

    def show_lines(self, line: int, count: int = 1) -> None:
        """Selects lines, counted from 1, and brings them into sight."""
        first = self.document().findBlockByNumber(line - 1)
        if not first.isValid():
            return
        last = self.document().findBlockByNumber(line - 2 + count)
        cursor = QTextCursor(first)
        cursor.setPosition((last if last.isValid() else first).position(), QTextCursor.MoveMode.KeepAnchor)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        self.centerCursor()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def mark_lines(self, lines: tuple[int, ...], mark: Mark) -> None:
        """Tints lines, instead of those tinted before."""
        self._marked = (lines, mark)
        self._paint_marks()

    def bring_into_sight(self, line: int) -> None:
        """Scrolls to a line, and leaves the cursor where it is."""
        block = self.document().findBlockByNumber(line - 1)
        if block.isValid():
            self.verticalScrollBar().setValue(max(0, block.firstLineNumber() - 1))

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return bool(dropped_file(source)) or source.hasText()

    def insertFromMimeData(self, source: QMimeData) -> None:
        path = dropped_file(source)
        if path:
            self.file_given.emit(path)
        elif source.hasText() and not self.filling:
            self._insert(source.text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.textCursor().hasSelection():
            cursor = self.textCursor()
            cursor.clearSelection()
            self.setTextCursor(cursor)
            return
        super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        lines = min(max(self._lines(), _LINES_LEAST), _LINES_MOST)
        return QSize(600, lines * metrics.lineSpacing() + 20)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._ask_for_height()  # the same words are more lines where it is narrower

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:  # light to dark and back
            self._paint_marks()

    def _paint_marks(self) -> None:
        lines, mark = self._marked
        selections = []
        for block in (self.document().findBlockByNumber(line - 1) for line in lines):
            if block.isValid():
                selection = QTextEdit.ExtraSelection()
                selection.cursor = QTextCursor(block)
                selection.cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
                selection.format.setBackground(QColor(colours().tint(mark)))
                selections.append(selection)
        self.setExtraSelections(selections)

    def _lines(self) -> int:
        """As many as they are on the screen, as far as that matters; with or without a scroll bar, which would come and go."""
        metrics = QFontMetrics(self.font())
        a_line = max(20, (self.width() - 24) * 9 // (10 * max(1, metrics.averageCharWidth())))  # words are not cut
        count, block = 0, self.document().firstBlock()
        while block.isValid() and count < _LINES_MOST:
            count += 1 + block.length() // a_line
            block = block.next()
        return count

    def _insert(self, words: str) -> None:
        if self.shortened or len(words) + self.document().characterCount() > _AT_ONCE:
            self.large.emit(self._with(words))
            return
        clean = read_paste(words).words
        if clean:
            self.textCursor().insertText(clean)
            self.ensureCursorVisible()
        else:
            self.large.emit(words)

    def _with(self, words: str) -> str:
        """All of the text with these words at the cursor; they alone where the text is not whole here."""
        if self.shortened:
            return words
        cursor = self.textCursor()
        before, after = sorted((cursor.anchor(), cursor.position()))
        whole = self.toPlainText()
        return whole[:before] + words + whole[after:]

    def _pieces(self, words: str) -> Iterator[Step]:
        self.clear()
        self.shortened = False
        piece: list[str] = []
        size, is_first = 0, True
        for line in words.split("\n"):
            shown = line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE // 2] + _CUT + line[-_LONGEST_LINE // 2 :]
            self.shortened = self.shortened or len(shown) < len(line)
            piece.append(shown)
            size += len(shown)
            if len(piece) == _PIECE or size > _PIECE_CHARACTERS:
                yield partial(self._append, piece, is_first=is_first)
                piece, size, is_first = [], 0, False
        yield partial(self._append, piece, is_first=is_first)

    def _append(self, lines: list[str], *, is_first: bool) -> None:
        if not lines:
            return
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(("" if is_first else "\n") + "\n".join(lines))

    @Slot()
    def _end_filling(self) -> None:
        self._be_a_box()
        self.filled.emit()

    def _be_a_box(self) -> None:
        """To type in, unless lines are shortened."""
        self._turns.drop()
        self.setUndoRedoEnabled(True)
        self.setReadOnly(self.shortened)

    @Slot()
    def _tell(self) -> None:
        self._ask_for_height()
        if not self.filling:
            self.changed.emit()

    def _ask_for_height(self) -> None:
        height = self.sizeHint().height()
        if height != self._asked_height:  # else each piece of a large text would lay out and paint the whole page
            self._asked_height = height
            self.updateGeometry()
