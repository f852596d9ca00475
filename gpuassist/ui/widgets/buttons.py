"""Buttons: primary, secondary, small, a copying one; the check box and the drop-down choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSignalBlocker, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStyleOptionComboBox,
    QStylePainter,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from gpuassist.formats.visible import on_one_line, visible
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.ui import clipboard
from gpuassist.ui.theme import colours, set_look
from gpuassist.ui.widgets.labels import label
from gpuassist.ui.widgets.layouts import bare, by_text
from gpuassist.ui.widgets.marks import paint_glyph
from gpuassist.ui.widgets.popups import round_list
from gpuassist.ui.wording import as_tip

_COPIED_MILLISECONDS = 1500
_LEAST_CHOICE = 120
_LEAST_LETTERS = 8
_BESIDE_WORDS = 2  # that a style keeps free in a field, left and right of its words


def primary(words: str, parent: QWidget | None = None) -> QPushButton:
    """The one obvious way on; at most one on a page."""
    made = secondary(words, parent)
    made.setProperty("kind", "primary")
    return made


def is_primary(button: QPushButton) -> bool:
    """Whether it is the blue button, there to be pressed."""
    return bool(button.property("kind") == "primary" and button.isVisible() and button.isEnabled())


def secondary(words: str, parent: QWidget | None = None) -> QPushButton:
    """Anything else that can be done."""
    made = ElidedButton(on_one_line(words), parent)
    made.setAutoDefault(True)
    made.setCursor(Qt.CursorShape.PointingHandCursor)
    made.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
    return made


def small(words: str, parent: QWidget | None = None) -> QPushButton:
    """A secondary button inside a card."""
    made = secondary(words, parent)
    made.setProperty("compact", True)  # noqa: FBT003 -- the style sheet asks for it
    return made


def _cut(button: QPushButton | QCheckBox, contents: QStyle.SubElement) -> str:
    """What there is room for of a button's words, where its style puts them."""
    option = QStyleOptionButton()
    button.initStyleOption(option)
    room = button.style().subElementRect(contents, option, button).width()
    return button.fontMetrics().elidedText(button.text(), Qt.TextElideMode.ElideRight, room)


def _with_few_letters(button: QPushButton | QCheckBox, whole: QSize) -> QSize:
    """The size of a button of which all but a few letters is cut; `whole` is the size with all of its words."""
    metrics = button.fontMetrics()
    words = metrics.horizontalAdvance(button.text())
    return QSize(whole.width() - words + min(words, metrics.averageCharWidth() * _LEAST_LETTERS), whole.height())


class ElidedButton(QPushButton):
    """A button that gives way: words that do not fit are cut with an ellipsis and stand whole in its tool tip."""

    @property
    def shown(self) -> str:
        """What there is room for of its words."""
        return _cut(self, QStyle.SubElement.SE_PushButtonContents)

    def minimumSizeHint(self) -> QSize:
        return _with_few_letters(self, self.sizeHint())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self.shown != self.text():
            whole = " · ".join(filter(None, (self.text(), self.toolTip())))
            QToolTip.showText(event.globalPos(), as_tip(whole), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.shown
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        painter.end()


class CopyButton(ElidedButton):
    """Copies what `content` gives when it is pressed, and says so for a moment."""

    def __init__(self, words: Words, content: Callable[[], str], parent: QWidget | None = None, *, title: str = "") -> None:
        super().__init__(title or words(text("Copy")), parent)
        self._title = self.text()
        self._copied = words(text("Copied"))
        self._content = content
        self._back = QTimer(self)
        self._back.setSingleShot(True)
        self._back.setInterval(_COPIED_MILLISECONDS)
        self._back.timeout.connect(self._show_title)
        self.setProperty("compact", True)  # noqa: FBT003 -- the style sheet asks for it
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(self._copy)

    def sizeHint(self) -> QSize:
        """As wide as either of its words: neither is cut, and the row does not jump."""
        self.ensurePolished()
        option = QStyleOptionButton()
        self.initStyleOption(option)
        hints = []
        for option.text in (self._title, self._copied):
            words = self.fontMetrics().size(Qt.TextFlag.TextShowMnemonic, option.text)
            hints.append(self.style().sizeFromContents(QStyle.ContentsType.CT_PushButton, option, words, self))
        return hints[0].expandedTo(hints[1])

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    @Slot()
    def _copy(self) -> None:
        clipboard.copy(self._content())
        self.setText(self._copied)
        self._back.start()

    @Slot()
    def _show_title(self) -> None:
        self.setText(self._title)


class Tick(QCheckBox):
    """A check box with a painted tick, for the same reason as `DropDown`'s chevron; what is cut stands whole in its tip."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    @property
    def shown(self) -> str:
        """What there is room for of its words."""
        return _cut(self, QStyle.SubElement.SE_CheckBoxContents)

    def minimumSizeHint(self) -> QSize:
        return _with_few_letters(self, super().minimumSizeHint())

    def event(self, event: QEvent) -> bool:
        return _tells_whole(self, event, self.text()) or super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.shown
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_CheckBox, option)
        box = QRectF(self.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, self))
        if not self.isChecked():
            painter.end()
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(1.0 if self.isEnabled() else 0.5)
        paint_glyph(painter, box.adjusted(-3, -3, 3, 3), Mark.RIGHT, QColor(colours().on_accent))
        painter.end()


class _Choice(QComboBox):
    def setAccessibleName(self, name: str) -> None:
        """What is chosen here. On Linux Qt tells what is chosen as the name of such a box, and nothing else but its description."""
        super().setAccessibleName(name)
        self.setAccessibleDescription(name)

    def showPopup(self) -> None:
        round_list(self)
        super().showPopup()


class DropDown(_Choice):
    """A drop-down choice with a painted chevron: style sheets know arrows only as picture files."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(hint.width() + _BESIDE_WORDS, hint.height())  # Qt's own is a pixel less than its words take

    def minimumSizeHint(self) -> QSize:
        """It gives way: what does not fit is cut and stands in the tip. Qt's own is that of the first words that it ever had."""
        hint = self.sizeHint()
        return QSize(min(hint.width(), by_text(_LEAST_CHOICE)), hint.height())

    @property
    def shown(self) -> str:
        """What there is room for of what is chosen; of a path both ends tell most."""
        words = self.currentText() or self.placeholderText()
        elide = Qt.TextElideMode.ElideMiddle if words.startswith("/") else Qt.TextElideMode.ElideRight
        return self.fontMetrics().elidedText(words, elide, self._room())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt cuts what does not fit through the middle of a letter."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = self.shown
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        paint_chevron(painter, QRectF(self.width() - 22, self.height() / 2 - 4, 10, 8))
        painter.end()

    def event(self, event: QEvent) -> bool:
        return _tells_whole(self, event, self.currentText()) or super().event(event)

    def _room(self) -> int:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        return self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, self).width() - _BESIDE_WORDS


class LongChoice(DropDown):
    """A choice of many rows: gives way in width, and makes its list when it is first opened; a list takes 3 ms to make."""

    _LEAST_WIDTH = 90
    _ROWS_SHOWN = 14

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("long", True)  # noqa: FBT003 -- the style sheet asks for it
        self.setMaxVisibleItems(self._ROWS_SHOWN)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(by_text(self._LEAST_WIDTH), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


class PartChoice(QWidget):
    """A long choice below its title; what was wished for is told from what is so anyway, which has no value and comes first."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[tuple[str, str], ...] = ()
        self.box = LongChoice(self)
        self.box.setProperty("wished", "no")
        self.box.setAccessibleName(title)
        column = bare(QVBoxLayout(self), 4)
        column.addWidget(label(title, "small", self))
        column.addWidget(self.box)

    @property
    def value(self) -> str:
        """What is chosen; empty for what is so anyway."""
        return str(self.box.currentData() or "")

    def show_rows(self, rows: tuple[tuple[str, str], ...], chosen: str) -> None:
        """Values with their words, one of them chosen; tells nobody."""
        blocked = QSignalBlocker(self.box)
        if rows != self._rows:
            self._rows = rows
            self.box.clear()
            for value, said in rows:
                self.box.addItem(visible(said), value)
        self.box.setCurrentIndex(max(0, self.box.findData(chosen)))
        self.mark()
        blocked.unblock()

    def mark(self) -> None:
        """Shows whether something was wished for."""
        set_look(self.box, "wished", "yes" if self.value else "no")
        self.box.setToolTip(as_tip(self.box.currentText()))


def _tells_whole(widget: Tick | DropDown, event: QEvent, words: str) -> bool:
    """Shows what does not fit in the tool tip, where the widget has no other. What is shown is asked of the style, and so only when
    a tip is asked for: events come by the hundred.
    """
    if not isinstance(event, QHelpEvent) or event.type() != QEvent.Type.ToolTip or widget.toolTip() or widget.shown == words:
        return False
    QToolTip.showText(event.globalPos(), as_tip(words), widget)
    return True


def paint_chevron(painter: QPainter, rect: QRectF) -> None:
    """A small arrow that points down."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(QColor(colours().muted), 1.6)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    middle = QPointF(rect.center().x(), rect.bottom() - 2)
    painter.drawPolyline([QPointF(rect.left() + 1, rect.top() + 2), middle, QPointF(rect.right() - 1, rect.top() + 2)])
