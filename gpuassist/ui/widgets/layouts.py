"""Layouts that go by the room there is: pills in lines, cards in two columns, choices in columns of one width."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import shiboken6
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontInfo, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLayout, QLayoutItem, QSizePolicy, QWidget

from gpuassist.ui.pace import Step
from gpuassist.ui.theme import sans

AnyLayout = TypeVar("AnyLayout", bound=QLayout)
MARGIN = 32  # of a page
SPACING = 16  # between cards
TWO_FROM = 860  # narrower ones break most values of a card into two lines
_EVEN_GAP = 12
_WIDEST = 16_777_215  # of any widget: Qt's QWIDGETSIZE_MAX
_AROUND = 40  # what a dialog leaves free of its window, both sides together
_USUAL_PIXELS = 14  # of the window's text, at 96 dots an inch


def bare(layout: AnyLayout, spacing: int | None = None) -> AnyLayout:
    """The layout without the margins that Qt gives it; with this spacing, or its style's."""
    layout.setContentsMargins(0, 0, 0, 0)
    if spacing is not None:
        layout.setSpacing(spacing)
    return layout


def by_text(pixels: int) -> int:
    """A length that goes with the text: as given for text of the usual size, more for larger."""
    return round(pixels * max(1.0, QFontInfo(sans()).pixelSize() / _USUAL_PIXELS))


def open_within(dialog: QWidget, width: int, height: int) -> None:
    """Gives a dialog its size, as far as the window has room that it is opened from, and so the screen."""
    parent = dialog.parentWidget()
    room = parent.window().size() if parent is not None else dialog.screen().availableGeometry().size()
    dialog.resize(QSize(width, height).boundedTo(room - QSize(_AROUND, _AROUND)))


def clear(layout: QLayout) -> None:
    """Takes everything out of a layout and lets it go."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


def add_layout(outer: QBoxLayout | QGridLayout, inner: QLayout, *place: int) -> None:
    """`outer.addLayout(inner, *place)`, for an `inner` that holds something already.

    PySide makes a Python object for each item of it and keeps that with the layout, also once Qt has deleted the item; the process
    crashes when an object of ours that was made at the same address goes (6.11.3; decision 21). Here they are let go of at once.
    """
    outer.addLayout(inner, *place)  # type: ignore[call-overload]  # a stretch, or a place in a grid: as many as Qt takes
    _forget_items(inner)


def _forget_items(layout: QLayout) -> None:
    if isinstance(layout, FlowLayout):
        return  # which holds its items itself, until Qt takes them out
    for place in range(layout.count()):
        item = layout.itemAt(place)
        assert item is not None
        inside = item.layout()
        if inside is not None:
            _forget_items(inside)
        else:
            shiboken6.invalidate(item)


def widgets_in(layout: QLayout) -> tuple[QWidget, ...]:
    """The widgets that stand in a layout of Qt's own, in their order; none of a layout that has no parent yet.

    Not by `itemAt`, for the same reason.
    """
    parent = layout.parentWidget()
    inside = parent.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly) if parent is not None else []
    return tuple(sorted((one for one in inside if layout.indexOf(one) >= 0), key=layout.indexOf))


class FlowLayout(QLayout):
    """Left to right, then the next line; items of a line stand on one middle."""

    def __init__(self, parent: QWidget | None = None, *, gap: int = 8) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        margins = self.contentsMargins()
        inside = self._arrange(QRect(0, 0, width - margins.left() - margins.right(), 0), place=False)
        return inside + margins.top() + margins.bottom()

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect.marginsRemoved(self.contentsMargins()), place=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size, margins = QSize(0, 0), self.contentsMargins()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def one_line(self) -> QSize:
        """How much it takes where everything stands side by side."""
        margins, hints = self.contentsMargins(), [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(hint.width() for hint in hints) + self._gap * max(0, len(hints) - 1)
        height = max((hint.height() for hint in hints), default=0)
        return QSize(width + margins.left() + margins.right(), height + margins.top() + margins.bottom())

    def _arrange(self, rect: QRect, *, place: bool) -> int:
        top = rect.y()
        width = rect.width()
        lines: list[list[tuple[QLayoutItem, QSize]]] = []
        used = 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = self._size(item, width)
            if not lines or used + self._gap + size.width() > width:
                lines.append([])
                used = -self._gap
            lines[-1].append((item, size))
            used += self._gap + size.width()
        for line in lines:
            height = max(size.height() for _, size in line)
            left = rect.x()
            for item, size in line:
                if place:
                    item.setGeometry(QRect(QPoint(left, top + (height - size.height()) // 2), size))
                left += size.width() + self._gap
            top += height + self._gap
        return max(0, top - self._gap - rect.y())

    @staticmethod
    def _size(item: QLayoutItem, width: int) -> QSize:
        """What an item asks for; where that is wider than a line, as much of one as it can do with."""
        size = item.sizeHint()
        if size.width() > width:
            size.setWidth(max(width, item.minimumSize().width()))
            if item.hasHeightForWidth():
                size.setHeight(item.heightForWidth(size.width()))
        return size


class Reflowing(QWidget):
    """Arranges what is in it by the room that there is, whenever that changes or something inside gets wider or narrower."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.reflow()

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.LayoutRequest:
            self.reflow()
        return super().event(event)

    def reflow(self) -> None:
        """Decides anew how it is arranged."""
        raise NotImplementedError


class Columns(Reflowing):
    """Holds widgets in reading order; those of a row are equally high."""

    def __init__(self, parent: QWidget | None = None, *, two_from: int = TWO_FROM) -> None:
        super().__init__(parent)
        self._two_from = two_from
        self._grid = bare(QGridLayout(self), SPACING)
        self._widgets: tuple[QWidget, ...] = ()
        self._count = 0
        self._wide = True

    def set_widgets(self, widgets: tuple[QWidget, ...]) -> None:
        """Holds other widgets; the old ones go."""
        for widget in self._widgets:
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._widgets = ()
        self.expect(len(widgets))
        for widget in widgets:
            self.add(widget)

    def expect(self, count: int) -> None:
        """Keeps the places of so many widgets, so that those that are there do not move when the others come."""
        self._count = count

    def add(self, widget: QWidget) -> None:
        # As wide as its column and no wider than it: two columns stay equal whatever they hold.
        widget.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._widgets = (*self._widgets, widget)
        self._count = max(self._count, len(self._widgets))
        self._arrange()

    def minimumSizeHint(self) -> QSize:
        """One column is enough for it."""
        return QSize(self._least(), super().minimumSizeHint().height())

    def reflow(self) -> None:
        wide = self.width() >= max(by_text(self._two_from), 2 * self._least() + SPACING)
        if wide != self._wide:
            self._wide = wide
            self._arrange()

    def _least(self) -> int:
        return max((widget.minimumSizeHint().width() for widget in self._widgets), default=0)

    def _arrange(self) -> None:
        columns = 2 if self._wide and self._count > 1 else 1
        for place, widget in enumerate(self._widgets):
            alone = columns == 2 and place == self._count - 1 and place % 2 == 0
            self._grid.addWidget(widget, place // columns, place % columns, 1, 2 if alone else 1)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, 1 if columns == 2 else 0)


class Beside(Reflowing):
    """One that is `wide` and another beside it, which takes the rest; below one another where that is too little for the other."""

    def __init__(self, one: QWidget, other: QWidget, wide: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._one, self._other, self._wide = one, other, wide
        self._row = bare(QBoxLayout(QBoxLayout.Direction.LeftToRight, self), SPACING)
        self._row.addWidget(one, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addWidget(other, 1)
        one.setFixedWidth(wide)

    def minimumSizeHint(self) -> QSize:
        """They need not stand side by side."""
        needed = max(self._inside(self._one), self._other.minimumSizeHint().width())
        return QSize(needed, super().minimumSizeHint().height())

    def reflow(self) -> None:
        taken = self._wide + SPACING if not self._one.isHidden() else 0
        below = self.width() < taken + self._other.minimumSizeHint().width()
        direction = QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight
        if direction is not self._row.direction():
            self._row.setDirection(direction)
            self._one.setMinimumWidth(0 if below else self._wide)
            self._one.setMaximumWidth(_WIDEST if below else self._wide)

    def _inside(self, one: QWidget) -> int:
        return min(self._wide, one.minimumSizeHint().width()) if not one.isHidden() else 0


class EvenColumns(QWidget):
    """Holds widgets in reading order, each at least so wide."""

    def __init__(self, parent: QWidget | None = None, *, least: int) -> None:
        super().__init__(parent)
        self._least = least
        self._widgets: list[QWidget] = []
        self.columns = 0
        self._wanted: tuple[QWidget, ...] = ()
        self._shown: tuple[QWidget, ...] = ()
        self._grid = bare(QGridLayout(self), _EVEN_GAP)

    def add(self, *widgets: QWidget) -> None:
        """Those that come together are arranged once: each time all of them are measured."""
        self._widgets += widgets
        self._wanted = (*self._wanted, *widgets)
        for widget in widgets:
            widget.setParent(self)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def minimumSizeHint(self) -> QSize:
        """One column is enough for it."""
        widest = max((widget.minimumSizeHint().width() for widget in self._wanted), default=0)
        return QSize(widest, super().minimumSizeHint().height())

    def show_only(self, widgets: Sequence[QWidget]) -> None:
        """Hides the others, which then take no place."""
        self._wanted = tuple(widgets)
        for widget in self._widgets:
            widget.setVisible(widget in widgets)
        self._arrange()

    def _arrange(self) -> None:
        shown = self._wanted
        widest = max((widget.minimumSizeHint().width() for widget in shown), default=0)
        least = max(by_text(self._least), widest)
        fitting = max(1, (self.width() + _EVEN_GAP) // (least + _EVEN_GAP))
        rows = -(-len(shown) // fitting)
        columns = -(-len(shown) // rows) if rows else 0  # so that the last row is nearly as full as the others
        if (columns, shown) == (self.columns, self._shown):
            return
        self.columns, self._shown = columns, shown
        for place, widget in enumerate(shown):
            self._grid.addWidget(widget, place // columns, place % columns)
        for column in range(len(self._widgets)):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)


def dress(widget: QWidget) -> None:
    """Has everything inside look as it will, before it is seen."""
    for one in (widget, *widget.findChildren(QWidget)):
        one.ensurePolished()


def in_two_turns(make: Callable[[], QWidget], add: Callable[[QWidget], None]) -> Iterator[Step]:
    """What is made looks as it will in one turn, and is laid out and shown in the next: a card takes some 10 ms for each."""
    made = list[QWidget]()

    def make_and_dress() -> None:
        made.append(make())
        dress(made[0])

    try:
        yield make_and_dress
    except GeneratorExit:  # it is not wanted any more
        for one in made:
            one.deleteLater()
        raise
    yield lambda: add(made[0])
