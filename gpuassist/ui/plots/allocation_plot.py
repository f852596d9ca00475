"""The plot of a recording's allocations as it is used: zoomed, moved and asked with mouse and keys."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from gpuassist.ui.plots.allocation_picture import AllocationPicture
from gpuassist.ui.plots.allocation_scene import PointedAt

_A_DRAG = 4
_NOTCH = 120
_ZOOM_A_NOTCH, _PAN_A_NOTCH, _ZOOM_A_KEY, _PAN_A_PAGE = 0.8, 0.1, 0.5, 0.8
_FAST = 20


class AllocationPlot(AllocationPicture):
    """Says what is pointed at, and which stretch was chosen, in points."""

    pointed = Signal(object)  # PointedAt; None where nothing is any more
    chosen = Signal(object)  # PointedAt
    range_chosen = Signal(object)  # (int, int), or None
    moved = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self._drag = Drag()
        self.keys = self._make_keys()

    # moving

    def go_whole(self) -> None:
        if self.view is not None:
            self.view.show_whole()
            self._tell_moved()

    def zoom(self, factor: float, at: float | None = None) -> None:
        """So many times as much of the recording, around a place of the axis: the cursor's, or the middle."""
        if self.view is None:
            return
        if at is None:
            at = self.view.axis.place(self.cursor_at.point) if self.cursor_at is not None else -1.0
            at = at if self.view.left <= at <= self.view.right else (self.view.left + self.view.right) / 2
        self.view.zoom(factor, at)
        self._tell_moved()

    def pan(self, share: float) -> None:
        """By a share of what is shown."""
        if self.view is not None:
            self.view.pan(share * self.view.span)
            self._tell_moved()

    def zoom_to_range(self) -> None:
        """The stretch that was chosen, from edge to edge."""
        if self.view is not None and self.range is not None:
            self.view.show(*(self.view.axis.place(point) for point in self.range))
            self._tell_moved()

    def go_to(self, point: int) -> None:
        """The cursor goes to a point, on the band that it was on, and is in sight."""
        if self.scene is None or self.view is None:
            return
        point = min(max(0, point), self.scene.timeline.last)
        before = self.view.left
        self.view.bring(self.view.axis.place(point))
        owner = self.cursor_at.owner if self.cursor_at is not None else None
        held = int(self.scene.shares(point)[owner]) if owner is not None else 0
        if owner is not None and held:
            middle = self.scene.middle_of(PointedAt(point, 0, owner, held))
            self.cursor_at = self.scene.owner_at(point, middle)
        else:
            self.cursor_at = self.scene.next_band(point, None, -1)
        if self.view.left != before:
            self._tell_moved()
        self._tell_pointed()

    def _tell_moved(self) -> None:
        self.redraw()
        self.moved.emit()

    def _tell_pointed(self) -> None:
        self.update()
        self.pointed.emit(self.cursor_at)

    # keys

    def _make_keys(self) -> dict[Qt.Key, Callable[[int], None]]:
        key = Qt.Key
        return {
            key.Key_Left: lambda fast: self._step(-fast),
            key.Key_Right: lambda fast: self._step(fast),
            key.Key_Up: lambda _: self._climb(1),
            key.Key_Down: lambda _: self._climb(-1),
            key.Key_Home: lambda _: self.go_to(0),
            key.Key_End: lambda _: self.go_to(1 << 62),
            key.Key_PageUp: lambda _: self.pan(-_PAN_A_PAGE),
            key.Key_PageDown: lambda _: self.pan(_PAN_A_PAGE),
            key.Key_Plus: lambda _: self.zoom(_ZOOM_A_KEY),
            key.Key_Equal: lambda _: self.zoom(_ZOOM_A_KEY),
            key.Key_Minus: lambda _: self.zoom(1 / _ZOOM_A_KEY),
            key.Key_0: lambda _: self.go_whole(),
            key.Key_P: lambda _: self.go_to_peak(),
            key.Key_A: lambda _: self._set_end(0),
            key.Key_B: lambda _: self._set_end(1),
            key.Key_Z: lambda _: self.zoom_to_range(),
            key.Key_Return: lambda _: self._choose(),
            key.Key_Enter: lambda _: self._choose(),
            key.Key_Escape: lambda _: self._tell_range(None),
        }

    def keyPressEvent(self, event: QKeyEvent) -> None:
        held = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        does = self.keys.get(Qt.Key(event.key())) if not held and self.scene is not None else None
        if does is not None and (event.key() != Qt.Key.Key_Escape or self.range is not None):
            does(_FAST if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        else:
            super().keyPressEvent(event)

    def go_to_peak(self) -> None:
        """To the greatest total."""
        if self.scene is not None:
            self.go_to(self.scene.timeline.total.peak)

    def _step(self, pixels: int) -> None:
        assert self.view is not None
        if self.cursor_at is None:
            self.go_to(self.view.axis.point((self.view.left + self.view.right) / 2))
            return
        point, step = self.cursor_at.point, self.view.span / max(1, self.numbers.shape[1])
        there = self.view.axis.point(self.view.axis.place(point) + pixels * step)
        self.go_to(there if there != point else point + (1 if pixels > 0 else -1))

    def _climb(self, step: int) -> None:
        assert self.scene is not None
        assert self.view is not None
        at = self.cursor_at
        point = at.point if at is not None else self.view.axis.point((self.view.left + self.view.right) / 2)
        self.cursor_at = self.scene.next_band(point, at.owner if at is not None else None, step)
        self._tell_pointed()

    def _set_end(self, end: int) -> None:
        if self.cursor_at is not None:
            other = self.range[1 - end] if self.range is not None else self.cursor_at.point
            ends = (self.cursor_at.point, other)
            self._tell_range((min(ends), max(ends)))

    def _choose(self) -> None:
        if self.cursor_at is not None:
            self.chosen.emit(self.cursor_at)

    def _tell_range(self, chosen: tuple[int, int] | None) -> None:
        self.show_range(chosen)
        self.range_chosen.emit(chosen)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    # mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.view is None or event.button() not in {Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton}:
            return
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._drag = Drag(event.position().toPoint(), selects=event.button() is Qt.MouseButton.LeftButton and not shift)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at, began = event.position().toPoint(), self._drag.began
        if began is None or self.view is None:
            self.cursor_at = self.asked(event.position())
            self._tell_pointed()
        elif not self._drag.selects:
            last = self._drag.last or began
            self._drag = Drag(began, at, selects=False)
            self.pan((last.x() - at.x()) / self.area().width())
        elif abs(at.x() - began.x()) >= _A_DRAG:
            self._drag = Drag(began, at)
            self.show_range(self._between(began, at))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        drag, self._drag = self._drag, Drag()
        if drag.began is None or not drag.selects:
            return
        if drag.last is not None:
            self._tell_range(self._between(drag.began, drag.last))
        else:
            self.cursor_at = self.asked(event.position())
            self._tell_pointed()
            self._choose()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        inside = self.range is not None and self.x_of(self.range[0]) <= event.position().x() <= self.x_of(self.range[1])
        self.zoom_to_range() if inside else self.go_whole()

    def wheelEvent(self, event: QWheelEvent) -> None:
        area, turn = self.area(), event.angleDelta()
        if self.view is None:
            event.ignore()
            return
        across = turn.x() or (turn.y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0)
        if across:
            self.pan(-across / _NOTCH * _PAN_A_NOTCH)
        elif turn.y():
            share = min(max(0.0, (event.position().x() - area.left()) / area.width()), 1.0)
            self.zoom(_ZOOM_A_NOTCH ** (turn.y() / _NOTCH), self.view.left + share * self.view.span)
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if not self.hasFocus():
            self.cursor_at = None
            self._tell_pointed()

    def _between(self, one: QPoint, other: QPoint) -> tuple[int, int]:
        assert self.view is not None
        area = self.area()
        places = sorted(min(max(0.0, (at.x() - area.left()) / area.width()), 1.0) for at in (one, other))
        first, last = (self.view.axis.point(self.view.left + share * self.view.span) for share in places)
        return first, last


class Drag(Struct, frozen=True):
    """Where the mouse was pressed and where it is since, and whether that selects or moves."""

    began: QPoint | None = None
    last: QPoint | None = None
    selects: bool = True
