"""The GPUs that a Prometheus server watches, as the live page shows them: their watch, their view, and their recordings."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from gpuassist.model.sample import Sample
from gpuassist.model.text import Text
from gpuassist.monitor.prometheus_source import PrometheusServer
from gpuassist.session.prometheus import in_time, server_watch, title_of
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.live.live_watch import Watching
from gpuassist.ui.pages.live.recordings import Recordings
from gpuassist.ui.pages.live.watch_view import WatchView


class ServedGpus(QObject):
    """Asks from its making until `end`, after which it is gone."""

    changed = Signal()  # there is something new to draw

    def __init__(self, desk: Desk, server: PrometheusServer, page: QWidget, opening: QAction) -> None:
        super().__init__(page)
        self._desk = desk
        self.server = server
        self.sample: Sample | None = None
        self.watching = Watching(server_watch(in_time(desk.session), server), self)
        self.watching.sampled.connect(self._take)
        self.view = WatchView(desk, self.watching.watch, page)
        self.view.hide()
        self.recordings = Recordings(desk, self.watching.watch, page, opening)
        self.recordings.serve(self.view)
        self.watching.start()

    @property
    def title(self) -> Text:
        return title_of(self.server)

    @property
    def shows_figures(self) -> bool:
        """Whether there is anything to draw."""
        return self.sample is not None and (bool(self.sample.gpus) or bool(self.view.lanes))

    @property
    def trouble(self) -> tuple[Text, ...]:
        """What is wrong with the samples, or with keeping them."""
        disk = self.recordings.trouble
        return (*(self.sample.trouble if self.sample is not None else ()), *((disk,) if disk is not None else ()))

    def end(self) -> None:
        """The view goes at once; an answer that is waited for is waited for elsewhere."""
        self.watching.running = False
        watch = self.watching.watch
        self._desk.jobs.start(lambda _: (watch.stop(), watch.end_recording()), self.parent() or self)
        self.view.hide()
        self.view.deleteLater()
        self.deleteLater()

    def close_down(self) -> None:
        """The window closes."""
        self.view.close_down()
        self.watching.stop()
        self.recordings.close_down()

    @Slot(object)
    def _take(self, sample: Sample) -> None:
        self.sample = sample
        self.view.take(sample)
        self.changed.emit()
