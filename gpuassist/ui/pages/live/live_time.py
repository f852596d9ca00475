"""Which stretch of time the live page shows, as the user moves it; whether it stands still."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from gpuassist.model.text import Text, text
from gpuassist.monitor.history import History
from gpuassist.present.samples import clock
from gpuassist.ui.plots.time_view import TimeView

_LEAST_ZOOM_SECONDS = 1.0


class LiveTime(QObject):
    """`view` says what is shown; `paused` is when, on the history's axis, everything was told to stand still."""

    changed = Signal()

    def __init__(self, seconds: float, parent: QObject, *, live: bool = True) -> None:
        super().__init__(parent)
        self._live = live
        self.view = TimeView(seconds)
        self.paused: float | None = None

    def extend(self, history: History, newest: float) -> None:
        """The history goes up to there now."""
        self.view.extend(history.since, newest if self.paused is None else self.paused)

    def pause_or_resume(self, now: float) -> None:
        """Lets everything stand still, or go on with what was sampled meanwhile."""
        if self.paused is None:
            self.paused = now
            self.view.stand(min(self.view.until, now))
        else:
            self.paused = None
            self.view.follow()
        self.changed.emit()

    @Slot()
    def follow(self) -> None:
        """Back to now, and on with it."""
        self.paused = None
        self.view.follow()
        self.changed.emit()

    @Slot(object)
    def show_window(self, seconds: float) -> None:
        self.view.show(seconds)
        self.changed.emit()

    @Slot(float, float)
    def zoom(self, factor: float, at: float | None = None) -> None:
        """So many times as much time; what is at that moment stays there, else what is at the right edge."""
        if factor < 1 or self._live or not self.view.shows_all:  # what was recorded does not grow
            self.view.zoom(factor, at)
            self.changed.emit()

    @Slot(float, float)
    def zoom_to(self, since: float, until: float) -> None:
        """From when to when."""
        if until - since >= _LEAST_ZOOM_SECONDS:
            self.view.show(until - since)
            self.view.stand(until)
            self.changed.emit()

    @Slot(float)
    def pan(self, seconds: float) -> None:
        """Forward in time, or back."""
        self.view.pan(seconds)
        self.changed.emit()

    def go_back(self) -> None:
        """To where the history begins."""
        self.view.go_back()
        self.changed.emit()

    def words(self, epoch_of_zero: float) -> Text:
        """What is shown, and whether more comes."""
        if self.paused is not None:
            return text("Paused at {time}, still measuring", time=clock(epoch_of_zero + self.paused, seconds=True))
        if self.view.follows:
            return text("Used memory in GiB")
        if not self._live:
            return text("Until {time}", time=clock(epoch_of_zero + self.view.until, seconds=True))
        return text("Shown until {time}, still measuring", time=clock(epoch_of_zero + self.view.until, seconds=True))
