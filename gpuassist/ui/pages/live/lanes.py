"""A lane for each GPU, all of one stretch of time: tiles that always fit, or one alone. The mouse asks, zooms and moves all."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from gpuassist.model.sample import GpuSample
from gpuassist.model.words import Words
from gpuassist.monitor.labels import label_among
from gpuassist.present.samples import gpu_trouble
from gpuassist.ui.pages.live.controls import ALL
from gpuassist.ui.pages.live.lane import Lane, Scene
from gpuassist.ui.pages.live.readout import Readout, moment_words, readout_rows
from gpuassist.ui.plots.lane_plot import AXIS_HEIGHT
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.term_names import with_terms
from gpuassist.ui.wording import as_tip

_MOST_COLUMNS = 4
_GOOD_WIDTH, _GOOD_PLOT = 360, 88
_LEAST_WIDTH, _LEAST_HEIGHT = 110, 120
_ACROSS, _DOWN = 20, 6
_A_DRAG = 4  # pixels: less is a click
_NOTCH = 120
_ZOOM_A_NOTCH, _PAN_A_NOTCH = 0.8, 0.1
_HEAD_HEIGHT = 22


class Lanes(Card):
    """Makes a lane for every GPU that a sample tells of."""

    zoomed = Signal(float, float)  # how many times as much time, and the moment that stays
    panned = Signal(float)  # seconds
    stretch_chosen = Signal(float, float)  # from when to when
    gpu_chosen = Signal(object)  # int: an index, or ALL

    def __init__(self, words: Words, name_of: Callable[[int], str], parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words, self._name_of = words, name_of
        self._all: dict[int, Lane] = {}
        self._gpus: dict[int, GpuSample] = {}
        self._only = ALL
        self._over: tuple[Lane | None, bool] = (None, False)  # where the mouse is
        self._scene: Scene | None = None
        self._surface = Surface(self)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.addWidget(self._surface)
        self.readout = Readout(self._surface)

    @property
    def all(self) -> tuple[Lane, ...]:
        return tuple(self._all[index] for index in sorted(self._all))

    @property
    def shown(self) -> tuple[Lane, ...]:
        return tuple(lane for lane in self.all if self._only in {lane.index, ALL})

    @property
    def labels(self) -> Mapping[int, str]:
        """How each GPU is named, by its index."""
        return {lane.index: label_among(self._gpus.values(), lane.index) for lane in self.all}

    def show_gpus(self, gpus: tuple[GpuSample, ...], peaks: Mapping[int, int], *, now: float = 0.0, stale: bool = False) -> bool:
        """The newest figures; true where a GPU is new."""
        new = [gpu.index for gpu in gpus if gpu.index not in self._all]
        for index in new:
            self._all[index] = Lane(self._words, index, self._surface)
        if new:
            self.readout.raise_()
            rows = -(-len(self._all) // _MOST_COLUMNS)
            lane = self._all[new[0]].minimumSizeHint().height() + _DOWN
            self._surface.setMinimumHeight(max(_LEAST_HEIGHT, rows * lane + AXIS_HEIGHT))
        for gpu in gpus:
            self._gpus[gpu.index] = gpu
            self._all[gpu.index].show_gpu(gpu, peaks.get(gpu.index, 0), now=now, stale=stale or bool(gpu.silent_seconds))
        return bool(new)

    def show_only(self, index: int) -> None:
        self._only = index
        for lane in self.all:
            lane.setVisible(lane in self.shown)
        self.arrange()

    def draw(self, scene: Scene) -> list[bool]:
        """Draws what changed, and says where it did."""
        self._scene = scene
        drawn = [lane.draw(scene) for lane in self.shown]
        if any(drawn):
            self._surface.hover_again()
        return drawn

    def arrange(self) -> None:
        """Gives every lane that is shown its tile."""
        shown, area = self.shown, self._surface.rect()
        if not shown:
            return
        columns = columns_for(len(shown), area.width(), area.height())
        rows = -(-len(shown) // columns)
        for place, lane in enumerate(shown):
            row, column = divmod(place, columns)
            is_lowest = place + columns >= len(shown)
            # The lowest have the marks of time below them; their plots are as high as all others.
            below = AXIS_HEIGHT if is_lowest else 0
            across, down = area.width() + _ACROSS, area.height() - AXIS_HEIGHT + _DOWN
            left, top = column * across // columns, row * down // rows
            right, bottom = (column + 1) * across // columns - _ACROSS, (row + 1) * down // rows - _DOWN + below
            lane.setGeometry(QRect(left, top, right - left, bottom - top))
            lane.show_time_axis(shown=is_lowest)

    @property
    def leaves_curves_out(self) -> bool:
        """Whether there is no room for all curves that are asked for."""
        return any(lane.curves_shown < len(lane.curve_looks) for lane in self.shown)

    def lane_at(self, at: QPoint) -> Lane | None:
        return next((lane for lane in self.shown if lane.geometry().contains(at)), None)

    def hover(self, at: QPoint | None) -> None:
        """The crosshair in all lanes, at the moment under the mouse; none where it is not on a plot."""
        lane = self.lane_at(at) if at is not None else None
        place = lane.place_at(at.x() - lane.x()) if lane is not None and at is not None else None
        in_head = lane is not None and at is not None and at.y() - lane.y() < _HEAD_HEIGHT
        if (lane, in_head) != self._over:
            self._over = (lane, in_head)
            self._surface.setToolTip(as_tip(with_terms(self.tip_of(lane), self._words)) if lane is not None and in_head else "")
            self._surface.setCursor(Qt.CursorShape.PointingHandCursor if in_head else Qt.CursorShape.ArrowCursor)
        if lane is None or place is None or at is None or in_head or self._scene is None or lane.grid.width <= 1:
            self.readout.hide()
            for one in self.shown:
                one.show_cursor(None)
            return
        history, time = self._scene.history, lane.grid.time(place)
        clocks: dict[tuple[float, float], str] = {}
        for one in self.shown:
            there = place if one is lane else max(0, min(one.grid.width - 1, one.grid.place(time)))
            moment = one.moment(there)
            stretch = (moment.since, moment.until)
            if stretch not in clocks:
                clocks[stretch] = moment_words(*stretch, history.epoch_of_zero)
            one.show_cursor(there, one.head_at(moment, clocks[stretch]))
            if one is lane:
                rows = tuple(readout_rows(self._words, one, moment, place=there, time=clocks[stretch], name_of=self._name_of))
                self.readout.show_rows(rows, at)

    def choose(self, lane: Lane) -> None:
        """This GPU alone, or all again."""
        self.gpu_chosen.emit(ALL if self._only == lane.index else lane.index)

    def tip_of(self, lane: Lane) -> str:
        """The whole of what a lane's head says in few words."""
        trouble = gpu_trouble(self._gpus[lane.index])
        return self._words(trouble) if trouble is not None else f"{lane.head.title} · {lane.figures}"


class Surface(QWidget):
    """What the lanes lie on, and the mouse is used over."""

    def __init__(self, lanes: Lanes) -> None:
        super().__init__(lanes)
        self._lanes = lanes
        self._at: QPoint | None = None
        self._pressed: QPoint | None = None
        self._moved_to: QPoint | None = None
        self._selects = False
        self.setObjectName("content")
        self.setMouseTracking(True)
        self.setMinimumHeight(_LEAST_HEIGHT)

    def hover_again(self) -> None:
        """The plot moved on under the mouse."""
        if self._at is not None:
            self._lanes.hover(self._at)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lanes.arrange()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in {Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton}:
            self._pressed = self._moved_to = event.position().toPoint()
            shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._selects = event.button() is Qt.MouseButton.LeftButton and not shift

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position().toPoint()
        lane = self._lanes.lane_at(self._pressed) if self._pressed is not None else None
        if lane is None or self._pressed is None or self._moved_to is None:
            self._at = at
            self._lanes.hover(at)
        elif self._selects:
            first, last = (_within(lane, point.x()) for point in (self._pressed, at))
            for one in self._lanes.shown:
                one.show_selection(min(first, last), max(first, last))
        else:
            step = lane.grid.span / max(1.0, lane.memory_rect().width())
            self._lanes.panned.emit((self._moved_to.x() - at.x()) * step)
            self._moved_to = at

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        lane = self._lanes.lane_at(pressed) if pressed is not None else None
        for one in self._lanes.shown:
            one.show_selection(None, None)
        if lane is None or pressed is None:
            return
        at = event.position().toPoint()
        if abs(at.x() - pressed.x()) >= _A_DRAG:
            if self._selects:
                first, last = sorted((_within(lane, pressed.x()), _within(lane, at.x())))
                self._lanes.stretch_chosen.emit(lane.grid.time(first), lane.grid.time(last))
        elif pressed.y() - lane.y() < _HEAD_HEIGHT and event.button() is Qt.MouseButton.LeftButton:
            self._lanes.choose(lane)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        lane = self._lanes.lane_at(event.position().toPoint())
        if lane is not None and event.position().y() - lane.y() >= _HEAD_HEIGHT:
            self._lanes.choose(lane)

    def wheelEvent(self, event: QWheelEvent) -> None:
        at = event.position().toPoint()
        lane = self._lanes.lane_at(at)
        place = lane.place_at(at.x() - lane.x()) if lane is not None else None
        if lane is None or place is None:
            event.ignore()
            return
        turn = event.angleDelta()
        across = turn.x() or (turn.y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0)
        if across:
            self._lanes.panned.emit(-across / _NOTCH * _PAN_A_NOTCH * lane.grid.span)
        elif turn.y():
            self._lanes.zoomed.emit(_ZOOM_A_NOTCH ** (turn.y() / _NOTCH), lane.grid.time(place))
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._at = None
        self._lanes.hover(None)


def _within(lane: Lane, x: int) -> int:
    """The pixel of the lane's grid that is nearest to there."""
    place = int((x - lane.x() - lane.left) * lane.devicePixelRatioF())
    return max(0, min(lane.grid.width - 1, place))


def columns_for(count: int, width: int, height: int) -> int:
    """In how many columns so many tiles are seen best: neither narrow nor low, and with few places left over."""

    def worth(columns: int) -> float:
        rows = -(-count // columns)
        plot = max(1.0, height / rows - _HEAD_HEIGHT)
        fits = min(1.0, width / columns / _GOOD_WIDTH) * min(1.0, plot / _GOOD_PLOT)
        return fits * (count / (columns * rows)) ** 2

    most = max(1, min(_MOST_COLUMNS, count, (width + _ACROSS) // (_LEAST_WIDTH + _ACROSS)))
    return max(range(1, most + 1), key=worth)
