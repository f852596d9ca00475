"""Who holds the GPU: every process that can be seen from here, the chosen one in whole, and one's own stopped after a question."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QElapsedTimer, QModelIndex, Qt, QTimer, Slot
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.context import Session
from gpuassist.detect.gpu_holders import GpuHolder, Holding, find, holding_of
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Outcome
from gpuassist.model.text import Text, text
from gpuassist.present.elsewhere import as_it_was
from gpuassist.present.holders import LET_IT_RUN, STOP_IT, as_plain_text, stop_question, stop_warning, stopping, title
from gpuassist.present.marks import Mark, mark_of
from gpuassist.present.samples import clock
from gpuassist.session.holders import PATIENCE_SECONDS, holding, stop_holder
from gpuassist.session.navigation import Errand, SideTool, ToHolders
from gpuassist.ui import clipboard
from gpuassist.ui.jobs import Done, Failed, Job, Latest
from gpuassist.ui.page import Bar, Desk, Page, new_action
from gpuassist.ui.pages.holders.detail import COLUMN_SAMPLES, HEADINGS, PLACE, PROCESS, USER, HolderCard, holder_rows
from gpuassist.ui.questions import Verbs
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card, EmptyState, Notice
from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, clear
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.widgets.rows import RowsModel
from gpuassist.ui.widgets.table import Table
from gpuassist.ui.wording import reason_of, sentence_case

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection

_AGAIN_MILLISECONDS = 2_000
# Longer than the driver waits before it switches an idle GPU off: asking it more often would keep the GPU awake for ever.
_AGAIN_WHERE_IT_MAY_SLEEP_MILLISECONDS = 30_000
_COUNT_DOWN_MILLISECONDS = 250
_ROOM_FOR_PLACE, _ROOM_FOR_USER = 860, 720  # pixels of the page from which the table has these columns; the card below has both
Look = Callable[[Session], Holding]


class End(Protocol):
    """How a process is stopped."""

    def __call__(self, session: Session, held: GpuHolder, *, called_off: Callable[[], bool]) -> Outcome:
        """Until it has ended, or that is called off."""


class HoldersPage(Page):
    """Looks again by itself while it can be seen; what is chosen stays chosen as long as that process is there."""

    STEP = SideTool.HOLDERS

    def __init__(self, desk: Desk, parent: QWidget | None = None, *, look: Look = holding, end: End = stop_holder) -> None:
        super().__init__(desk, parent)
        self._look_now, self._end = look, end
        self._recorded: Machine | None = None
        self._host = ""
        self.found: Holding | None = None
        self._chosen: int | None = None
        self._wished: int | None = None  # until it was seen whether that process holds a GPU
        self._filling = False
        self._job: Job | None = None
        self._stopping: GpuHolder | None = None
        self._asked_since = QElapsedTimer()
        self._looking = Latest(desk.jobs, self._take, self)
        self._again = self._timer(self._look_quietly)
        self._again.setSingleShot(True)
        self._count_down = self._timer(self._show_stopping)
        self._count_down.setInterval(_COUNT_DOWN_MILLISECONDS)
        self._refresh = new_action(self, desk.words(text("Refresh")), self.look, "F5")
        self._copy = new_action(self, desk.words(text("Copy the list")), self._copy_list, "Ctrl+Shift+C")
        self._stop = new_action(self, desk.words(text("Stop process…")), self.stop, "Del")
        for action in (self._refresh, self._copy, self._stop):
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)  # Del elsewhere in the window stops nothing
        words = self.desk.words
        scroll = self.fill_with_scroll()
        self._header = scroll.header
        self._header.show_words(words(text("GPU processes")), "")
        self._strip = ProgressStrip(self)
        self._header.put_beside(self._strip)
        self.notice = Notice(Mark.INFO, "", self)
        self._spare = small(words(text("Do not kill it")), self.notice)
        self._spare.clicked.connect(self.spare)
        self.notice.buttons.addWidget(self._spare)
        self._nothing = EmptyState(Mark.RIGHT, "", "", self)
        self.detail = HolderCard(words, self)
        self.detail.stop_wanted.connect(self.stop)
        self._notes = bare(QVBoxLayout(), 4)
        for widget in (self.notice, self._nothing, self._make_table(), self.detail):
            scroll.content.addWidget(widget)
            widget.hide()
        add_layout(scroll.content, self._notes)

    @property
    def chosen(self) -> GpuHolder | None:
        return find(self.found, self._chosen) if self.found is not None and self._chosen is not None else None

    @property
    def busy(self) -> bool:
        return self._looking.busy

    @property
    def waits(self) -> bool:
        """Whether it will look again by itself."""
        return self._again.isActive()

    @property
    def interval(self) -> int:
        return self._again.interval()

    def bar(self) -> Bar:
        actions = (self._refresh, self._copy) if self._recorded is None else (self._copy,)
        note = text("Updates automatically") if self._recorded is None else as_it_was(self._host)
        return Bar(actions, note=self.desk.words(note))

    def show_inspection(self, inspection: Inspection) -> None:
        recorded = inspection.machine if inspection.recorded else None
        if recorded is None and self._recorded is None:
            return
        self._recorded, self._host = recorded, inspection.host
        self._forget()
        self.bar_changed.emit()
        if self.isVisible():
            self.look()

    def arrive(self, errand: Errand | None) -> None:
        if isinstance(errand, ToHolders) and errand.pid is not None:
            self._chosen = self._wished = errand.pid
        self.look()
        self.table.setFocus()

    def under_way(self) -> Text | None:
        return text("the end of a process") if self._job is not None else None

    def close_down(self) -> None:
        self._again.stop()
        self._count_down.stop()
        self._looking.drop()
        if self._job is not None:
            self._job.cancel()

    @Slot()
    def look(self) -> None:
        """Looks now, and says so where it takes long."""
        self._strip.begin(self.desk.words(text("Looking…")))
        self._ask()

    @Slot()
    def stop(self) -> None:
        """Asks whether to stop the chosen process."""
        held = self.chosen
        if held is not None and held.may_stop and self._stopping is None:
            words = self.desk.words
            verbs = Verbs(words(STOP_IT), words(LET_IT_RUN), loses=True)
            self.desk.asking.confirm(
                self, words(stop_question(held)), words(stop_warning(held)), lambda: self._stop_now(held), verbs=verbs
            )

    @Slot()
    def spare(self) -> None:
        """The process was asked to end, and is not killed."""
        if self._job is not None:
            self._job.cancel()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._wait()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._again.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.table.setColumnHidden(PLACE, self.width() < _ROOM_FOR_PLACE)
        self.table.setColumnHidden(USER, self.width() < _ROOM_FOR_USER)

    def _timer(self, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.timeout.connect(slot)
        return timer

    def _make_table(self) -> Card:
        words = self.desk.words
        self._rows = RowsModel([words(heading) for heading in HEADINGS], (), self)
        self.table = Table(self._rows, words(text("GPU processes")), self)
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.spread(PROCESS, COLUMN_SAMPLES)
        self.table.selectionModel().currentRowChanged.connect(self._choose)
        self._list = Card(parent=self)
        self._list.body.addWidget(self.table)
        return self._list

    def _ask(self) -> None:
        self._again.stop()
        session, recorded = self.desk.session, self._recorded
        if recorded is not None:
            self._looking.ask(lambda _: holding_of(session, recorded))
        else:
            self._looking.ask(lambda _: self._look_now(session))

    @Slot()
    def _look_quietly(self) -> None:
        if self.window().isMinimized():
            self._again.start()
        else:
            self._ask()

    def _take(self, result: Done | Failed) -> None:
        self._strip.end()
        if isinstance(result, Failed):
            self._tell(Mark.PROBLEM, sentence_case(reason_of(self.desk.words, result.error)))
        elif isinstance(result.value, Holding):
            self._show(result.value)
        self._wait()

    def _wait(self) -> None:
        if self._recorded is None and self.found is not None and self.isVisible() and not self._looking.busy:
            may_sleep = self.found.may_fall_asleep
            self._again.start(_AGAIN_WHERE_IT_MAY_SLEEP_MILLISECONDS if may_sleep else _AGAIN_MILLISECONDS)

    def _show(self, found: Holding) -> None:
        words, before = self.desk.words, self.found
        self.found = found
        if self._recorded is not None:
            subtitle = as_it_was(self._host)
        else:
            subtitle = text("Updated {time}", time=clock(self.desk.session.world.clock.epoch(), seconds=True))
        self._header.show_words(words(title(found)), words(subtitle))
        if self._wished is not None and self._stopping is None and find(found, self._wished) is None:
            self._tell(Mark.INFO, words(text("Process {pid} is not using a GPU now.", pid=self._wished)))
        self._wished = None
        self._fill(found)
        self._list.setVisible(bool(found.held))
        self._nothing.setVisible(not found.held)
        if not found.held:
            self._show_nothing(found)
        if before is None or before.notes != found.notes:
            clear(self._notes)
            for note in found.notes:
                self._notes.addWidget(paragraph(words(text("Note: {note}", note=note)), "muted", self))

    def _show_nothing(self, found: Holding) -> None:
        mark, name, why = (
            Mark.UNKNOWN,
            text("Nothing was found"),
            text("Not everything could be read: the reason is shown below."),
        )
        if not found.notes:
            name, why = text("No GPU"), text("No NVIDIA GPU was found.")
        if not found.notes and found.cards:
            mark, name, why = Mark.RIGHT, text("The GPU is free"), text("Programs can use it, and its driver can be replaced.")
        if self._recorded is not None and not found.notes and found.cards:
            name, why = text("The GPU was free"), text("No process was using it when this machine was recorded.")
            if self._host:
                why = text("No process was using it when {host} was read.", host=self._host)
        self._nothing.show_words(mark, self.desk.words(name), self.desk.words(why))

    def _fill(self, found: Holding) -> None:
        if self._chosen is None and self.found is not None and found.held:
            self._chosen = found.held[0].holder.pid
        self._filling = True
        self._rows.set_rows(holder_rows(found, self.desk.words))
        at = next((place for place, held in enumerate(found.held) if held.holder.pid == self._chosen), -1)
        if at < 0:
            self.table.clearSelection()
            self.table.setCurrentIndex(QModelIndex())
        elif self.table.currentIndex().row() != at or not self.table.selectionModel().hasSelection():
            self.table.selectRow(at)
        self._filling = False
        self._show_chosen()

    def _show_chosen(self) -> None:
        held = self.chosen
        self.detail.setVisible(held is not None)
        self._stop.setEnabled(held is not None and held.may_stop and self._stopping is None)
        if held is not None and self.found is not None:
            self.detail.show_held(self.found, held, stopping=self._stopping is not None)

    @Slot(QModelIndex, QModelIndex)
    def _choose(self, now: QModelIndex, _before: QModelIndex) -> None:
        if not self._filling and now.isValid() and self.found is not None:
            self._chosen = self.found.held[now.row()].holder.pid
            self._show_chosen()

    def _stop_now(self, held: GpuHolder) -> None:
        session = self.desk.session
        self._stopping = held
        self._job = self.desk.jobs.start(lambda control: self._end(session, held, called_off=control.cancelled.is_set), self)
        self._job.finished.connect(self._end_stopping)
        self._asked_since.start()
        self._count_down.start()
        self._show_chosen()
        self._show_stopping()

    @Slot()
    def _show_stopping(self) -> None:
        if self._stopping is not None:
            left = PATIENCE_SECONDS - self._asked_since.elapsed() / 1000
            self._tell(Mark.BUSY, self.desk.words(stopping(self._stopping, int(left + 0.99))), may_spare=left > 0)

    @Slot(object)
    def _end_stopping(self, result: Done | Failed) -> None:
        self._count_down.stop()
        self._job, self._stopping = None, None
        words = self.desk.words
        if isinstance(result, Failed):
            self._tell(Mark.PROBLEM, sentence_case(reason_of(words, result.error)))
        elif isinstance(result.value, Outcome):
            self._tell(mark_of(result.value.result), sentence_case(words(result.value.text)))
        self._show_chosen()
        self.look()

    def _tell(self, mark: Mark, words: str, *, may_spare: bool = False) -> None:
        self._spare.setVisible(may_spare)
        self.notice.tell(mark, words)

    def _forget(self) -> None:
        """Another machine is shown."""
        self._looking.drop()
        self.found, self._chosen = None, None
        if self._stopping is None:
            self.notice.hide()
        self._rows.set_rows(())
        for widget in (self._list, self.detail, self._nothing):
            widget.hide()
        clear(self._notes)

    @Slot()
    def _copy_list(self) -> None:
        if self.found is not None:
            clipboard.copy(as_plain_text(self.found, self.desk.words))
