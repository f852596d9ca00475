"""Whether everything in a window has the room that it needs, asked of the widgets themselves.

`cramped(root)` gives what is wrong: words that are cut and do not say so, words cut to nothing, a widget smaller than its least
size or outside of what its parent shows, neighbours that overlap. Words that are cut with an ellipsis and stand whole in the tool
tip are in order as long as something of them is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import ceil
from typing import Any

from msgspec import Struct
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QTextDocument, QTextOption
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSlider,
    QComboBox,
    QHeaderView,
    QLabel,
    QLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QStyle,
    QStyleOptionButton,
    QStyleOptionComboBox,
    QTableView,
    QWidget,
)

from gpuassist.ui.theme import strong_weight
from gpuassist.ui.widgets.buttons import DropDown, ElidedButton, Tick
from gpuassist.ui.widgets.chain_view import ChainView
from gpuassist.ui.widgets.finding_card import LinkButton
from gpuassist.ui.widgets.foot_button import FootButton
from gpuassist.ui.widgets.labels import ElidedLabel, Paragraph, WrappedLine

LEAST_LETTERS = 5  # of words that are cut: fewer say nothing
_SLACK = 1  # pixels: fonts are measured in fractions, laid out in whole ones


class Cramped(Struct, frozen=True, order=True):
    """One thing that has too little room: what is wrong, which widget it is, its words, and the room in pixels."""

    wrong: str
    widget: str
    words: str
    needs: int
    has: int

    def __str__(self) -> str:
        return f"{self.wrong}: {self.widget} {self.words[:70]!r} needs {self.needs}, has {self.has}"


def cramped(root: QWidget) -> list[Cramped]:
    """Everything in it that has too little room, each thing once."""
    found: dict[Cramped, None] = {}
    for widget in (root, *root.findChildren(QWidget)):
        if widget.isVisible() and widget.window() is root.window() and not _is_inside_of_qt(widget):
            for one in (*_words(widget), *_size(widget, root), *_overlaps(widget)):
                found[one] = None
    found.update(dict.fromkeys(_over(root)))
    return list(found)


def _over(root: QWidget) -> Iterator[Cramped]:
    """A dialog whose size is its own choice and larger than the window that it is opened from."""
    parent = root.parentWidget()
    if root.isWindow() and parent is not None and root.minimumSize() != root.maximumSize():
        yield from _more(root, "wider than its window", _said(root), root.width(), has=parent.window().width())
        yield from _more(root, "higher than its window", _said(root), root.height(), has=parent.window().height())


def _words(widget: QWidget) -> Iterator[Cramped]:
    judge = next((judge for kind, judge in _JUDGES if isinstance(widget, kind)), None)
    if judge is not None:
        yield from judge(widget)


def _label(widget: Any) -> Iterator[Cramped]:
    words = widget.text()
    if not words or not widget.pixmap().isNull():
        return
    if not widget.wordWrap():
        yield from _more(widget, "cut", words, widget.sizeHint().width(), has=widget.width())
        yield from _more(widget, "cut below", words, widget.sizeHint().height(), has=widget.height())
        return
    margins, document = widget.contentsMargins(), QTextDocument()
    room = widget.width() - margins.left() - margins.right()
    document.setDefaultFont(widget.font())
    document.setDocumentMargin(0)
    document.setDefaultTextOption(QTextOption())
    if widget.textFormat() is Qt.TextFormat.RichText:
        document.setHtml(words)
    else:
        document.setPlainText(words)
    document.setTextWidth(max(1, room))
    yield from _more(widget, "a word is cut", words, ceil(document.idealWidth()), has=room)
    yield from _more(widget, "cut below", words, widget.heightForWidth(widget.width()), has=widget.height())


def _elided(widget: QWidget, words: str, room: int, *, tip: str) -> Iterator[Cramped]:
    metrics = widget.fontMetrics()
    needs = metrics.horizontalAdvance(words)
    if needs <= room + _SLACK:
        return
    if not tip:
        yield _told(widget, "cut without a tip", words, needs, has=room)
    if room < metrics.averageCharWidth() * LEAST_LETTERS:
        yield _told(widget, "cut to nothing", words, needs, has=room)


def _gives_way(widget: Any) -> Iterator[Cramped]:
    yield from _elided(widget, widget.words, widget.width(), tip=widget.toolTip())


def _tick(widget: Any) -> Iterator[Cramped]:
    if len(widget.shown.rstrip("…")) < min(LEAST_LETTERS, len(widget.text())):
        yield _told(widget, "cut to nothing", widget.text(), LEAST_LETTERS, has=len(widget.shown))


def _row(widget: Any) -> Iterator[Cramped]:
    room = widget.width() - (widget.sizeHint().width() - _advance(widget))
    yield from _elided(widget, widget.text(), room, tip=widget.toolTip())


def _choice(widget: Any) -> Iterator[Cramped]:
    option = QStyleOptionComboBox()
    widget.initStyleOption(option)
    field = QStyle.SubControl.SC_ComboBoxEditField
    room = widget.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, widget).width() - 2
    yield from _elided(widget, widget.currentText(), room, tip=widget.currentText() if isinstance(widget, DropDown) else "")


def _field(widget: Any) -> Iterator[Cramped]:
    if not widget.text():  # what is typed scrolls
        yield from _elided(widget, widget.placeholderText(), widget.width() - 20, tip=widget.toolTip())


def _chain(widget: Any) -> Iterator[Cramped]:
    for words, shown in widget.cut_words():
        if len(shown.rstrip("…")) < LEAST_LETTERS:
            yield _told(widget, "cut to nothing", words, LEAST_LETTERS, has=len(shown))


def _foot(widget: Any) -> Iterator[Cramped]:
    room = widget.width() - (widget.sizeHint().width() - widget.fontMetrics().horizontalAdvance(widget.text()))
    yield from _elided(widget, widget.text(), room, tip=widget.toolTip())


def _another(_widget: Any) -> Iterator[Cramped]:
    """Its table looks at it."""
    return iter(())


def _button(widget: Any) -> Iterator[Cramped]:
    option = QStyleOptionButton()
    widget.initStyleOption(option)
    option.state |= QStyle.StateFlag.State_On if widget.isCheckable() else QStyle.StateFlag.State_None
    font = QFont(widget.font())
    if widget.property("kind") == "segment":
        font.setWeight(QFont.Weight(strong_weight()))
    needs = QFontMetrics(font).horizontalAdvance(widget.text())
    room = widget.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, widget).width()
    if needs > room + _SLACK and not isinstance(widget, ElidedButton | LinkButton):
        yield _told(widget, "cut", widget.text(), needs, has=room)
    elif needs > room + _SLACK and room < widget.fontMetrics().averageCharWidth() * LEAST_LETTERS:
        yield _told(widget, "cut to nothing", widget.text(), needs, has=room)
    yield from _more(widget, "cut below", widget.text(), widget.fontMetrics().height(), has=widget.height())


def _advance(widget: QWidget) -> int:
    """Of the words of a row of the side list as they are where its page is shown."""
    font = QFont(widget.font())
    font.setWeight(QFont.Weight(strong_weight()))
    return QFontMetrics(font).horizontalAdvance(str(getattr(widget, "text", str)()))


def _table(widget: Any) -> Iterator[Cramped]:
    header, model = widget.horizontalHeader(), widget.model()
    if header.isVisible():
        for column in range(header.count()):
            said = str(model.headerData(column, Qt.Orientation.Horizontal) or "")
            if said and not header.isSectionHidden(column):
                yield from _more(widget, "a heading is cut", said, header.sectionSizeHint(column), has=header.sectionSize(column))
    needed = [max(widget.sizeHintForColumn(column), header.sectionSizeHint(column)) for column in range(header.count())]
    enough = sum(needed) <= widget.viewport().width()
    for row, column in ((row, column) for row in range(min(model.rowCount(), 60)) for column in range(header.count())):
        index = model.index(row, column)
        if widget.visualRect(index).intersects(widget.viewport().rect()) and widget.columnSpan(row, column) == 1:
            needs, room = widget.sizeHintForIndex(index).width(), header.sectionSize(column)
            if needs > room + 4:  # which the delegate keeps free
                said = str(index.data() or "")
                if enough:
                    yield _told(widget, "cut beside free room", said, needs, has=room)
                if not hasattr(widget.itemDelegate(), "cut_words") and not index.data(Qt.ItemDataRole.ToolTipRole):
                    yield _told(widget, "a cell is cut without a tip", said, needs, has=room)
                if room < widget.fontMetrics().averageCharWidth() * LEAST_LETTERS:
                    yield _told(widget, "a cell is cut to nothing", said, needs, has=room)


def _list(widget: Any) -> Iterator[Cramped]:
    model = widget.model()
    if widget.horizontalScrollBarPolicy() is not Qt.ScrollBarPolicy.ScrollBarAlwaysOff:
        return
    for row in range(min(model.rowCount(), 60)):
        index = model.index(row, 0)
        needs, room = widget.sizeHintForIndex(index).width(), widget.visualRect(index).width()
        if needs > room + 4 and not index.data(Qt.ItemDataRole.ToolTipRole):
            yield _told(widget, "a row is cut", str(index.data()), needs, has=room)


def _lines(widget: Any) -> Iterator[Cramped]:
    """The last line, where all lines are meant to be seen: under the bar it would be half there. What is typed scrolls."""
    if widget.isReadOnly() and widget.verticalScrollBar().maximum() == 1 and not widget.verticalScrollBar().isVisible():
        needs, room = widget.viewport().height() + widget.fontMetrics().lineSpacing(), widget.viewport().height()
        yield _told(widget, "the last line is cut", widget.accessibleName(), needs, has=room)


def _size(widget: QWidget, root: QWidget) -> Iterator[Cramped]:
    parent = widget.parentWidget()
    if widget is root or parent is None or isinstance(widget, (QAbstractSlider, QHeaderView)):
        return
    least = _least(widget)
    if not isinstance(widget, (WrappedLine, Paragraph)):
        yield from _more(widget, "squeezed", _said(widget), least.width(), has=widget.width())
        yield from _more(widget, "squeezed low", _said(widget), least.height(), has=widget.height())
    shown, place = parent.rect(), widget.geometry()
    area = parent.parentWidget()
    if isinstance(area, QAbstractScrollArea) and area.viewport() is parent:
        across, down = area.horizontalScrollBar(), area.verticalScrollBar()
        off = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        if across.maximum() > across.minimum() and area.horizontalScrollBarPolicy() is not off:
            shown = shown.united(QRect(place.x(), shown.y(), place.width(), 1))
        if down.maximum() > down.minimum() and area.verticalScrollBarPolicy() is not off:
            shown = shown.united(QRect(shown.x(), place.y(), 1, place.height()))
    if not place.isEmpty() and not shown.adjusted(-_SLACK, -_SLACK, _SLACK, _SLACK).contains(place):
        over = max(place.right() - shown.right(), shown.left() - place.left())
        below = max(place.bottom() - shown.bottom(), shown.top() - place.top())
        wrong = f"outside of {_name(parent)}"
        if over > _SLACK:
            yield _told(widget, wrong, _said(widget), place.width() + over, has=place.width())
        if below > _SLACK:
            yield _told(widget, f"{wrong}, below", _said(widget), place.height() + below, has=place.height())


def _least(widget: QWidget) -> QSize:
    """The least size that its layout must give it."""
    least, layout = widget.minimumSizeHint().expandedTo(widget.minimumSize()), widget.layout()
    if isinstance(layout, QLayout) and layout.hasHeightForWidth():
        both = layout.heightForWidth(widget.width()), layout.minimumHeightForWidth(widget.width())
        least.setHeight(max(0, min(both)))
    return least.boundedTo(widget.maximumSize())


def _overlaps(parent: QWidget) -> Iterator[Cramped]:
    inside = [
        one
        for one in parent.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
        if one.isVisible() and not one.isWindow() and not one.size().isEmpty() and not _lies_over(one)
    ]
    if isinstance(parent, (QAbstractScrollArea, QAbstractItemView)) or _is_inside_of_qt(parent):
        return
    for one, other in combinations(inside, 2):
        shared = one.geometry().intersected(other.geometry())
        if shared.width() > _SLACK and shared.height() > _SLACK:
            yield _told(one, f"overlaps {_name(other)}", f"{_said(one)} / {_said(other)}", shared.width(), has=shared.height())


def _lies_over(widget: QWidget) -> bool:
    """What lies over others on purpose."""
    return widget.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)


def _is_inside_of_qt(widget: QWidget) -> bool:
    """Parts that Qt makes and places itself."""
    kind = type(widget)
    return not kind.__module__.startswith("gpuassist") and (
        widget.objectName().startswith("qt_")
        and not isinstance(widget, QScrollArea)
        and widget.objectName() != "qt_scrollarea_viewport"
    )


def _more(widget: QWidget, wrong: str, words: str, needs: int, *, has: int) -> Iterator[Cramped]:
    if needs > has + _SLACK:
        yield _told(widget, wrong, words, needs, has=has)


def _told(widget: QWidget, wrong: str, words: str, needs: int, *, has: int) -> Cramped:
    return Cramped(wrong, _path(widget), words, needs, has)


def _path(widget: QWidget) -> str:
    """The classes of ours above it, the nearest two."""
    names, above = [_name(widget)], widget.parentWidget()
    while above is not None and len(names) < 3:
        if type(above).__module__.startswith("gpuassist"):
            names.append(_name(above))
        above = above.parentWidget()
    return " in ".join(names)


def _name(widget: QWidget) -> str:
    return type(widget).__name__ + (f"#{widget.objectName()}" if widget.objectName() else "")


def _said(widget: QWidget) -> str:
    said = getattr(widget, "text", None)
    return widget.accessibleName() or (str(said()) if callable(said) else "")


_JUDGES: tuple[tuple[type[QWidget], Callable[[Any], Iterator[Cramped]]], ...] = (
    (ElidedLabel, _gives_way),
    (ChainView, _chain),
    (QLabel, _label),
    (FootButton, _foot),
    (QPushButton, _button),
    (Tick, _tick),
    (QAbstractButton, _row),
    (QComboBox, _choice),
    (QLineEdit, _field),
    (QHeaderView, _another),
    (QTableView, _table),
    (QAbstractItemView, _list),
    (QPlainTextEdit, _lines),
)
