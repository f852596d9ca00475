"""Files of the live page: recording what is sampled, opening what was recorded, another run over it, and saving what is shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from gpuassist.model.text import Text, counted, text
from gpuassist.monitor.history import History
from gpuassist.monitor.playback import samples_of
from gpuassist.monitor.recorder import RecorderState
from gpuassist.present.marks import Mark
from gpuassist.present.plot_picture import PLOT_COLUMNS, DrawnRun
from gpuassist.present.sample_export import PICTURES, TABLES, ExportError, export_picture, export_table
from gpuassist.present.samples import clock
from gpuassist.session.opened_recording import NotWantedError, OpenedRecording, history_beside, open_recording
from gpuassist.session.watch import Watch
from gpuassist.ui.jobs import Control, Done, Failed, Job, Latest
from gpuassist.ui.page import Desk, new_action
from gpuassist.ui.pages.live.watch_view import WatchView
from gpuassist.ui.wording import reason_of, sentence_case

_RECORDING = ".db"
_COLUMNS_SAVED = 4096  # of a live history: as fine as it is kept


class Recordings(QObject):
    """What takes long runs off the GUI thread; what came of it is told."""

    told = Signal(object, object)  # a Mark, and what is said
    began = Signal()  # something new, so that what was said of the last is over
    reading = Signal(str)
    """What is being read and how far it is; empty once that is over."""
    opened = Signal(object)  # OpenedRecording
    server_wanted = Signal()
    _reached = Signal(float)  # from the thread that reads

    def __init__(self, desk: Desk, watch: Watch, page: QWidget, opening: QAction | None = None) -> None:
        """`opening` is the page's own action where it has one: two with the same key would both do nothing."""
        super().__init__(page)
        self._desk, self._watch, self._page = desk, watch, page
        title = desk.words(text("Open a recording…"))
        self.opening = new_action(page, title, self.ask_what_to_open, "Ctrl+O") if opening is None else opening
        self._live: WatchView | None = None
        self._reading = Latest(desk.jobs, self._read, self)
        self._reached.connect(self._show_reached)
        self._path = ""
        self._took: Callable[[object], None] = lambda _: None
        self._working: Job | None = None
        self._opened: dict[WatchView, OpenedRecording] = {}

    def serve(self, view: WatchView, opened: OpenedRecording | None = None) -> None:
        """Does what is chosen in a view's controls; `opened` is the recording that it shows."""
        controls = view.controls
        controls.save_chosen.connect(partial(self._ask_where_to_save, view))
        controls.files.addSeparator()
        controls.files.addAction(self.opening)
        controls.files.addAction(self._desk.words(text("Prometheus server…"))).triggered.connect(self.server_wanted)
        if opened is None:
            self._live = view
            controls.record_chosen.connect(self._record_or_stop)
            return
        self._opened[view] = opened
        view.destroyed.connect(lambda: self._opened.pop(view, None))
        over = controls.files.addAction(self._desk.words(text("Compare with another recording…")))
        over.triggered.connect(partial(self._ask_what_to_lay_over, view))
        alone = controls.files.addAction(self._desk.words(text("Remove the other recording")))
        alone.setVisible(False)
        alone.triggered.connect(lambda: view.show_over(None))
        controls.files.aboutToShow.connect(lambda: alone.setVisible(view.over is not None))
        if len(opened.runs) > 1:
            runs = controls.files.addMenu(self._desk.words(text("Runs in this recording")))
            for run in opened.runs:
                action = runs.addAction(f"{run.number}: {datetime.fromtimestamp(run.started):%Y-%m-%d %H:%M}")
                action.setCheckable(True)
                action.setChecked(run == opened.run)
                action.triggered.connect(partial(self.open_path, opened.path, run.number))

    def open_path(self, path: str, number: int | None = None, *_: object) -> None:
        """Reads a recording, its newest run unless another is asked for, and tells when it can be shown."""
        session = self._desk.session
        self._begin(
            path,
            lambda control: open_recording(session, path, number=number, tell=self._reached.emit, ends=control.cancelled.is_set),
            self.opened.emit,
        )

    def stop_reading(self) -> None:
        """What is being read is no longer wanted."""
        self._reading.drop()
        self.reading.emit("")

    @property
    def trouble(self) -> Text | None:
        """What is wrong with the recording that goes on."""
        state = self._watch.recording
        return None if state is None else state.trouble

    @property
    def under_way(self) -> Text | None:
        """That something is written; none where nothing is."""
        return text("a recording") if self._watch.recording is not None or self._working is not None else None

    def end(self) -> None:
        """Ends the recording, if one goes on, as its button does."""
        if self._watch.recording is not None and self._working is None:
            self._work(lambda _: self._watch.end_recording(), self._recording_ended)

    def close_down(self) -> None:
        """Writes what is left of a recording: the window closes."""
        self._reading.drop()
        self._watch.end_recording()

    @Slot()
    def _record_or_stop(self) -> None:
        if self._watch.recording is not None:
            self.end()
        elif self._working is None:
            title = self._desk.words(text("Record to a new file, or add a run to a recording"))
            self._desk.asking.save_file(self._page, title, self._proposed(_RECORDING), self._record_to, replaces=False)

    def _record_to(self, path: str) -> None:
        named = path if os.path.splitext(path)[1] else path + _RECORDING
        self._work(lambda _: self._watch.record(named), lambda _: None)

    def _show_recording(self) -> None:
        state = self._watch.recording
        if self._live is not None:
            self._live.controls.show_recording(None if state is None else state.path, busy=self._working is not None)
            self._live.want()

    def _recording_ended(self, state: object) -> None:
        if isinstance(state, RecorderState):
            said = counted(
                "Recorded {count} sample to {path}.", "Recorded {count} samples to {path}.", state.written, path=state.path
            )
            reason = state.trouble if state.trouble is not None else state.loss
            if reason is not None:
                said = text("{said} Not everything was saved: {reason}", said=said, reason=reason)
            self.told.emit(Mark.RIGHT if reason is None else Mark.WARNING, self._desk.words(said))

    @Slot()
    def ask_what_to_open(self) -> None:
        """Which recording to open."""
        self._desk.asking.open_file(self._page, self._desk.words(text("Open a recording")), self._kinds(), self.open_path)

    def _ask_what_to_lay_over(self, view: WatchView, *_: object) -> None:
        title = self._desk.words(text("Compare with another recording"))
        self._desk.asking.open_file(self._page, title, self._kinds(), partial(self._lay_over, view))

    def _lay_over(self, view: WatchView, path: str) -> None:
        begins = view.watch.history.since

        def laid(history: object) -> None:
            if isinstance(history, History) and view in self._opened:
                view.show_over(DrawnRun(os.path.basename(path), history))

        self._begin(
            path,
            lambda control: history_beside(path, begins, tell=self._reached.emit, ends=control.cancelled.is_set),
            laid,
        )

    def _begin(self, path: str, work: Callable[[Control], object], took: Callable[[object], None]) -> None:
        self._path, self._took = path, took
        self.began.emit()
        self._reading.ask(work)
        self.reading.emit(self._desk.words(text("Reading {path}", path=path)))

    @Slot(float)
    def _show_reached(self, time: float) -> None:
        if self._reading.busy:
            said = text("Reading {path}, so far up to {time}", path=self._path, time=clock(time))
            self.reading.emit(self._desk.words(said))

    def _read(self, result: Done | Failed) -> None:
        self.reading.emit("")
        if isinstance(result, Done):
            self._took(result.value)
        elif not isinstance(result.error, NotWantedError):
            self._fail(result.error)

    def _ask_where_to_save(self, view: WatchView, ending: str) -> None:
        title = self._desk.words(text("Save what is shown"))
        self._desk.asking.save_file(self._page, title, self._proposed(ending), partial(self._save, view, ending), replaces=False)

    def _save(self, view: WatchView, ending: str, path: str) -> None:
        named = path if os.path.splitext(path)[1].lower() == ending else path + ending
        words, opened = self._desk.session.words, self._opened.get(view)

        def saved(_: object) -> None:
            self.told.emit(Mark.RIGHT, self._desk.words(text("Saved {path}.", path=named)))

        if ending in PICTURES:
            name = self._desk.words(text("GPU memory")) if opened is None else os.path.basename(opened.path)
            runs = [DrawnRun(name, view.watch.history), *([view.over] if view.over is not None else [])]
            try:  # drawn by Qt, whose fonts belong to this thread
                from gpuassist.ui.picture import draw_png

                export_picture(named, runs, view.window_of(PLOT_COLUMNS), words, draw_png=draw_png)
            except ExportError as error:
                self._fail(error)
            else:
                saved(None)
            return
        window = view.window_of(_COLUMNS_SAVED)
        since, until = view.time.view.until - view.time.view.span, view.time.view.until
        if ending not in TABLES:
            self._work(lambda _: view.watch.save_shown(named, window), saved)
        elif opened is not None:
            self._work(lambda _: export_table(named, [(opened.run.number, opened.samples(since, until))], words), saved)
        else:
            self._work(lambda _: export_table(named, [(1, samples_of(view.watch.history, window))], words), saved)

    def _work(self, work: Callable[[Control], object], done: Callable[[object], None]) -> None:
        def ended(result: Done | Failed) -> None:
            self._working = None
            self._show_recording()
            if isinstance(result, Failed):
                self._fail(result.error)
            else:
                done(result.value)

        self.began.emit()
        self._working = self._desk.jobs.start(work, self)
        self._working.finished.connect(ended)
        self._show_recording()

    def _fail(self, error: Exception) -> None:
        self.told.emit(Mark.PROBLEM, sentence_case(reason_of(self._desk.words, error)))

    def _proposed(self, ending: str) -> str:
        now = datetime.fromtimestamp(self._desk.session.world.clock.epoch())
        return f"gpu-memory-{now:%Y-%m-%d-%H%M}{ending}"

    def _kinds(self) -> str:
        return self._desk.words(text("Recordings (*.db *.sqlite);;All files (*)"))
