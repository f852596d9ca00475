"""A line that gives way where it does not fit, and the hairline between rows."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QAction, QContextMenuEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QMenu, QSizePolicy, QStyle, QStyleOption, QWidget

from gpuassist.formats.visible import on_one_line
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.ui import clipboard
from gpuassist.ui.tips import as_tip

COPY = text("Copy")


class Hairline(QFrame):
    """A hairline between rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(1)


class ElidedLabel(QWidget):
    """One line that gives way: cut in the middle where it does not fit, whole in its tool tip and when copied."""

    def __init__(
        self,
        words: str,
        role: str = "mono",
        parent: QWidget | None = None,
        *,
        copy_words: str = "Copy",
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    ) -> None:
        super().__init__(parent)
        self._elide = elide
        self._align = align | Qt.AlignmentFlag.AlignVCenter
        self._words = ""
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._copy = QAction(copy_words, self)
        self._copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        self._copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self._copy.triggered.connect(self.copy)
        self.addAction(self._copy)
        self.set_words(words)

    @property
    def words(self) -> str:
        """All of it."""
        return self._words

    def set_words(self, words: str) -> None:
        """Shows other words."""
        self._words = on_one_line(words)
        self.setAccessibleName(self._words)
        self._tell_whole()
        self.updateGeometry()
        self.update()

    @Slot()
    def copy(self) -> None:
        """Puts all of it on the clipboard."""
        clipboard.copy(self._words)

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._words) + 2, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        self.ensurePolished()
        metrics = self.fontMetrics()
        return QSize(min(metrics.horizontalAdvance(self._words) + 2, metrics.averageCharWidth() * 8), metrics.height() + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        option = QStyleOption()
        option.initFrom(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.rect(), self._align, self.fontMetrics().elidedText(self._words, self._elide, self.width()))
        if self.hasFocus():
            self.style().drawPrimitive(QStyle.PrimitiveElement.PE_FrameFocusRect, option, painter, self)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._tell_whole()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self._copy)
        menu.popup(event.globalPos())

    def _tell_whole(self) -> None:
        cut = self.fontMetrics().horizontalAdvance(self._words) > self.width()
        self.setToolTip(as_tip(self._words) if cut else "")


def source_label(words: Words, source: str, parent: QWidget | None = None) -> ElidedLabel:
    """Where a fact was read, in the monospaced font at the right."""
    # Of a path both ends tell most, of a program or a library its beginning.
    elide = Qt.TextElideMode.ElideMiddle if source.startswith(("/", "~")) else Qt.TextElideMode.ElideRight
    return ElidedLabel(source, "mono", parent, copy_words=words(COPY), align=Qt.AlignmentFlag.AlignRight, elide=elide)
