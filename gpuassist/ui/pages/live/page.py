"""Live memory: what the GPUs do now, or did in a recording, and why there is nothing to draw where there is not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QAction, QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.model.sample import Sample
from gpuassist.model.text import Text, text
from gpuassist.present.marks import Mark
from gpuassist.present.samples import gpu_trouble, recording_titles, subtitle
from gpuassist.session.navigation import Errand, GoTo, Marked, StepStatus, ToHolders, ToRecording, ToServer, WizardStep
from gpuassist.session.opened_recording import OpenedRecording
from gpuassist.session.watch import Watch
from gpuassist.ui.jobs import Latest
from gpuassist.ui.pace import InTurns, Pace
from gpuassist.ui.page import Bar, Desk, Page
from gpuassist.ui.pages.live.head import NAME, LiveHead
from gpuassist.ui.pages.live.live_watch import LeftLive, Watching
from gpuassist.ui.pages.live.nothing_live import NothingLive
from gpuassist.ui.pages.live.recordings import Recordings
from gpuassist.ui.pages.live.server_choice import ServerChoice
from gpuassist.ui.pages.live.watch_view import WatchView
from gpuassist.ui.widgets.layouts import MARGIN, dress

if TYPE_CHECKING:
    from gpuassist.monitor.prometheus_source import PrometheusServer
    from gpuassist.session.inspect import Inspection
    from gpuassist.ui.pages.live.served_gpus import ServedGpus


_CHECK_MILLISECONDS = 1000  # whether figures still come


class LivePage(Page):
    """Samples from the first visit until the window closes; draws only while it can be seen, and at most four times a second."""

    STEP = WizardStep.LIVE

    def __init__(self, desk: Desk, parent: QWidget | None = None, *, watch: Watch | None = None) -> None:
        super().__init__(desk, parent)
        self._watching = Watching(watch or _watch_for(desk), self)
        self._watching.sampled.connect(self._take)
        self._pace = Pace(self)
        self._pace.due.connect(self._draw)
        self._starting = QTimer(self)
        self._starting.setSingleShot(True)
        self._starting.timeout.connect(self._start)
        self._checking = QTimer(self)
        self._checking.setInterval(_CHECK_MILLISECONDS)
        self._checking.timeout.connect(self._check)
        self._ending = Latest(desk.jobs, lambda _: None, self)
        self._machine_recorded = False
        self._sample: Sample | None = None
        self._since = 0.0
        self._stale = False
        self._marked: StepStatus | None = None
        self._reads = False
        self._replay: WatchView | None = None
        self._served: ServedGpus | None = None
        self._holders = self._action(text("GPU processes"), self._show_holders)
        self._back = self._action(text("Back to live"), self.show_live)
        self._make()
        self._on_show: QWidget = self._nothing
        # A style sheet is read when a widget is first seen: all of them at once would stop the window for 40 ms.
        self._dressing = InTurns(self)
        self._nothing.show_waiting()

    @property
    def view(self) -> WatchView:
        """What is on show: the recording that was opened, a server's GPUs, or what the GPUs of this machine do now."""
        return self._replay or (self._served.view if self._served is not None else self._live)

    def bar(self) -> Bar:
        elsewhere = self._served is not None
        if self._on_show is self._nothing:
            return Bar((self._back,) if elsewhere else (), elsewhere=elsewhere)
        if self._replay is not None:
            note = text("Wheel: zoom · ← →: move · 0–9, A: GPUs")
            return Bar((self._back,), note=self.desk.words(note), elsewhere=True)  # of another time, or of another machine
        note = text("Wheel: zoom · End: now · Space: pause · 0–9, A: GPUs")
        local = (self._holders, self._live.insight.alerts)
        return Bar((self._back,) if elsewhere else local, note=self.desk.words(note), elsewhere=elsewhere)

    def show_inspection(self, inspection: Inspection) -> None:
        self._machine_recorded = inspection.recorded and not inspection.host
        if self._machine_recorded:
            self._starting.stop()
            self._recordings.end()
            self._ending.ask(lambda _: self._watching.stop())  # a driver that hangs is waited for, but not here
            self._sample = None
            self._show_machine_recorded()
        elif self.isVisible():
            self._starting.start()

    def arrive(self, errand: Errand | None) -> None:
        self.setFocus()
        if isinstance(errand, ToRecording):
            self._recordings.open_path(errand.path, errand.number)
        if isinstance(errand, ToServer):
            self._servers.take(errand)
        if self._machine_recorded:
            self._show_machine_recorded()
        else:
            self._starting.start()  # once the page stands: a thread takes its time to start

    def under_way(self) -> Text | None:
        served = self._served.recordings.under_way if self._served is not None else None
        return self._recordings.under_way or served or self._live.under_way

    def left(self) -> LeftLive:
        """What was seen so far, of which nothing is in any language, and the server whose GPUs are shown."""
        return LeftLive(self._watching.watch, self._served.server if self._served is not None else None)

    @classmethod
    def in_place_of(cls, desk: Desk, parent: QWidget, left: object) -> LivePage:
        return cls(desk, parent, watch=left.watch if isinstance(left, LeftLive) else None)

    def take_up(self, left: object) -> None:
        """Its own watch it was made with."""
        if isinstance(left, LeftLive) and left.server is not None:
            self._watch_server(left.server)

    def close_down(self) -> None:
        self._starting.stop()
        self._checking.stop()
        self._ending.drop()
        self._live.close_down()
        if self._served is not None:
            self._served.close_down()
        self._watching.stop()
        self._recordings.close_down()
        self._pace.stop()

    @Slot()
    def show_live(self) -> None:
        """What the GPUs do now, in the place of a recording."""
        replay, self._replay = self._replay, None
        served, self._served = self._served, None
        if replay is None and served is None:
            return
        self._on_show.hide()
        self._on_show = self._nothing
        if replay is not None:
            replay.hide()
            replay.deleteLater()
        if served is not None:
            served.end()
        self._head.show_troubles(())
        self._head.show_title(NAME)
        self._show_what_is_there()
        self.bar_changed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.view.press(event):
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._checking.start()
        self._pace.request()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._checking.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._pace.request()

    def _action(self, title: Text, pressed: object) -> QAction:
        action = QAction(self.desk.words(title), self)
        action.triggered.connect(pressed)
        return action

    def _make(self) -> None:
        words = self.desk.words
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._head = LiveHead(words, self)
        self._nothing = NothingLive(words, self)
        self._nothing.found_wanted.connect(self._go_to_found)
        self._servers = ServerChoice(self.desk, self)
        self._servers.chosen.connect(self._watch_server)
        self._servers.refused.connect(partial(self._head.tell, Mark.PROBLEM))
        self._recordings = Recordings(self.desk, self._watching.watch, self)
        self._join(self._recordings)
        self._nothing.cancelled.connect(self._recordings.stop_reading)
        self._nothing.open_wanted.connect(self._recordings.ask_what_to_open)
        self._nothing.server_wanted.connect(self._servers.ask)
        self._live = self._new_view(self._watching.watch)
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, 20, MARGIN, 12)
        column.setSpacing(10)
        for widget in (self._head, self._nothing):
            column.addWidget(widget)
        column.addWidget(self._live, 1)
        column.addStretch(0)
        self._column = column

    def _join(self, recordings: Recordings) -> None:
        recordings.told.connect(self._head.tell)
        recordings.began.connect(self._head.said.hide)
        recordings.reading.connect(self._show_reading)
        recordings.opened.connect(self._show_recording)
        recordings.server_wanted.connect(self._servers.ask)

    def _new_view(self, watch: Watch, opened: OpenedRecording | None = None) -> WatchView:
        view = WatchView(self.desk, watch, self, live=opened is None)
        view.asked.connect(self.asked)
        view.told.connect(self._head.tell)
        self._recordings.serve(view, opened)
        view.hide()
        return view

    @Slot()
    def _start(self) -> None:
        if not self._watching.running:
            if self._sample is None and self._replay is None and self._served is None:
                self._nothing.show_waiting()
                self._dressing.begin([partial(dress, one) for one in self._live.parts])
            self._watching.start()

    @Slot(object)
    def _take(self, sample: Sample) -> None:
        if self._machine_recorded or not self._watching.running:
            return
        if self._sample is None or (not self._sample.gpus and sample.gpus and not self._live.lanes):
            self._since = sample.time
            self._mark(self._state(sample))
        self._sample = sample
        self._live.take(sample)
        self._pace.request()

    @staticmethod
    def _state(sample: Sample) -> StepStatus:
        """A green tick beside a GPU that has no figures would say that all of them are watched."""
        if not sample.gpus:
            return StepStatus.UNKNOWN
        troubled = any(gpu_trouble(gpu) is not None and not gpu.asleep for gpu in sample.gpus)
        return StepStatus.WARNING if troubled else StepStatus.RIGHT

    def _mark(self, state: StepStatus) -> None:
        if state is not self._marked:
            self._marked = state
            self.asked.emit(Marked(self.STEP, state))

    @Slot()
    def _check(self) -> None:
        """Where no figures come, time still goes on."""
        if self._served is not None or (self._sample is not None and (self._stale or self._watching.watch.silence is not None)):
            self._pace.request()

    @Slot()
    def _draw(self) -> None:
        sample = self._sample
        if not self.isVisible() or self.window().isMinimized() or self._reads:
            return
        if self._replay is not None:
            self._replay.draw()
        elif self._served is not None:
            self._draw_served(self._served)
            return
        elif sample is None or self._machine_recorded:
            return
        elif not sample.gpus and not self._live.lanes:
            self._nothing.show_trouble(sample.trouble)
            self._show(self._nothing)
        else:
            self._show(self._live)
            self._live.draw()
            shown = self._live.shown
            if shown is not None:
                self._head.show_title(NAME, subtitle(shown, self._since))
        if sample is not None:
            self._show_trouble(sample)

    def _show_trouble(self, sample: Sample) -> None:
        """What is wrong with the samples, or with keeping them."""
        self._stale = self._live.stale
        self._mark(StepStatus.UNKNOWN if self._stale else self._state(sample))
        # That the driver is silent stands above the plot, with the seconds; without a plot its place is taken by the reason.
        # Why a connection is gone does not stand there.
        silent = self._stale and not self.view.watch.server
        driver = sample.trouble if self._on_show is self._live and not silent else ()
        self._head.show_troubles(tuple(one for one in (*driver, self._recordings.trouble) if one is not None))

    def _show(self, wanted: QWidget) -> None:
        """One of what there is to see, and the bar that goes with it."""
        if wanted is not self._on_show or wanted.isHidden():
            self._on_show.hide()
            self._on_show = wanted
            wanted.show()
            self.bar_changed.emit()

    def _show_machine_recorded(self) -> None:
        if self._replay is None and self._served is None:
            self._nothing.show_recorded()
            self._show(self._nothing)

    def _show_what_is_there(self) -> None:
        """After something else was shown in its place."""
        if self._served is not None:
            self._draw_served(self._served)
        elif self._replay is None and self._machine_recorded:
            self._show_machine_recorded()
        elif self._replay is not None or self._live.shown is not None:
            self._show(self.view)
            self.setFocus()
        else:
            self._nothing.show_waiting()
            self._show(self._nothing)
        self._pace.request()

    @Slot(str)
    def _show_reading(self, words: str) -> None:
        began, self._reads = self._reads, bool(words)
        if words:
            self._nothing.show_reading(words)
            self._show(self._nothing)
        elif began:
            self._show_what_is_there()

    @Slot(object)
    def _show_recording(self, opened: OpenedRecording) -> None:
        self.show_live()
        self._replay = view = self._new_view(opened.watch, opened)
        self._column.insertWidget(self._column.indexOf(self._live), view, 1)
        view.show_all(opened.last)
        self._head.said.hide()
        self._head.show_title(*recording_titles(opened))
        if opened.damage:
            self._head.tell(Mark.WARNING, "\n".join(map(self.desk.words, opened.damage)))
        self._show_what_is_there()

    @Slot(object)
    def _watch_server(self, server: PrometheusServer) -> None:
        from gpuassist.ui.pages.live.served_gpus import ServedGpus  # HTTP is what few windows need

        self.show_live()
        self._served = served = ServedGpus(self.desk, server, self, self._recordings.opening)
        served.view.asked.connect(self.asked)
        served.view.told.connect(self._head.tell)
        served.changed.connect(self._pace.request)
        self._join(served.recordings)
        self._column.insertWidget(self._column.indexOf(self._live), served.view, 1)
        self._head.show_title(served.title)
        self._nothing.show_asking(server.address.shown)
        self._show(self._nothing)
        self.bar_changed.emit()

    def _draw_served(self, served: ServedGpus) -> None:
        if served.sample is None:
            return
        if not served.shows_figures:
            self._nothing.show_server_trouble(served.trouble)
            self._show(self._nothing)
            return
        if self._on_show is not served.view:
            self._show(served.view)
            self.setFocus()
        served.view.draw()
        if served.view.shown is not None:
            self._head.show_title(served.title, subtitle(served.view.shown, served.watching.watch.history.began))
        self._head.show_troubles(served.trouble)

    @Slot()
    def _show_holders(self) -> None:
        row = self._live.card.chosen
        self.asked.emit(ToHolders(row.single.process.pid if row is not None and row.single is not None else None))

    @Slot()
    def _go_to_found(self) -> None:
        self.asked.emit(GoTo(WizardStep.FOUND))


def _watch_for(desk: Desk) -> Watch:
    if desk.other is None:
        return Watch(desk.session)
    from gpuassist.session.other_machine import watch_of

    return watch_of(desk.other, desk.session)
