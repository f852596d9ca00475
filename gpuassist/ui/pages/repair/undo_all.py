"""Taking everything back in the window: looked at, agreed to, done one after the other; then gpuassist's own data may go too."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from gpuassist.changes.undo_all import UndoneChange, undo_all
from gpuassist.model.text import text
from gpuassist.present import undo_all as said
from gpuassist.session.own_state import OwnState, delete_own_state
from gpuassist.session.traces import Traces, look_again, look_at_traces
from gpuassist.ui.jobs import Control, Done, Failed, Job
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.repair.undo_all_dialog import UndoAllDialog
from gpuassist.ui.questions import Verbs
from gpuassist.ui.wording import at_home, reason_of


class UndoAllCourse(QObject):
    """Its jobs and its dialog; one of each at a time."""

    changed = Signal()  # whether something goes on
    wrote = Signal()
    left = Signal()  # all that gpuassist keeps was deleted
    trouble = Signal(str)  # why there is nothing to show

    def __init__(self, desk: Desk, page: QWidget) -> None:
        super().__init__(page)
        self._desk, self._page = desk, page
        self._words = at_home(desk.words, desk.session.world.surroundings.home)
        self._job: Job | None = None
        self._traces: Traces | None = None
        self._state = OwnState()
        self.dialog: UndoAllDialog | None = None

    @property
    def busy(self) -> bool:
        return self._job is not None

    def begin(self) -> None:
        """Looks at everything, and shows it."""
        if self.busy or self.dialog is not None:
            return
        session = self._desk.session
        self._job = self._desk.jobs.start(lambda _: look_at_traces(session), self)
        self._job.finished.connect(self._show)
        self.changed.emit()

    def close_down(self) -> None:
        """Stops between two changes."""
        if self._job is not None:
            self._job.cancel()

    @Slot(object)
    def _show(self, result: Done | Failed) -> None:
        self._job = None
        self.changed.emit()
        if isinstance(result, Failed):
            self.trouble.emit(reason_of(self._words, result.error))
        elif isinstance(result.value, Traces):
            self._traces, self._state = result.value, result.value.state
            home = self._desk.session.world.surroundings.home
            self.dialog = UndoAllDialog(self._words, result.value, self._page, home=home)
            self.dialog.agreed.connect(self._take_back)
            self.dialog.stop_wanted.connect(self.close_down)
            self.dialog.delete_wanted.connect(self._ask_to_delete)
            self.dialog.finished.connect(self._forget)
            self.dialog.open()

    @Slot()
    def _forget(self) -> None:
        self.dialog = None

    @Slot()
    def _take_back(self) -> None:
        session, traces = self._desk.session, self._traces
        if self.dialog is None or traces is None or self.busy:
            return

        def work(control: Control) -> object:
            outcome = undo_all(session.world, traces.plan, cancelled=control.cancelled.is_set, on_done=control.tell)
            return outcome, look_again(session, traces).state

        self.dialog.begin(text("Undoing…"))
        self._job = self._desk.jobs.start(work, self)
        self._job.told.connect(self._tell)
        self._job.finished.connect(self._end)

    @Slot(object)
    def _tell(self, done: UndoneChange) -> None:
        if self.dialog is not None:
            self.dialog.show_done(done)

    @Slot(object)
    def _end(self, result: Done | Failed) -> None:
        self._job = None
        self.wrote.emit()  # also where it was stopped half way
        if self.dialog is None:
            return
        if isinstance(result, Failed):
            self.dialog.show_trouble(reason_of(self._words, result.error))
        elif isinstance(result.value, tuple):
            outcome, self._state = result.value
            self.dialog.show_outcome(outcome, self._state)

    @Slot()
    def _ask_to_delete(self) -> None:
        words, state = self._words, self._state
        lines = [words(said.part_line(part)) for part in state.deletable]
        lines += [words(note) for note in said.state_notes(state)]
        lines.append(words(text("This cannot be undone. The window closes when it is done.")))
        question = words(text("Delete gpuassist's own data?"))
        parent = self.dialog or self._page
        verbs = Verbs(words(text("Delete")), words(text("Keep")), loses=True)
        self._desk.asking.confirm(parent, question, "\n".join(lines), self._delete, verbs=verbs)

    @Slot()
    def _delete(self) -> None:
        if self.dialog is None or self.busy:
            return
        session, state = self._desk.session, self._state
        self.dialog.begin_deleting()
        self._job = self._desk.jobs.start(lambda _: delete_own_state(session, state), self)
        self._job.finished.connect(self._deleted)

    @Slot(object)
    def _deleted(self, result: Done | Failed) -> None:
        self._job = None
        if self.dialog is None:
            return
        if isinstance(result, Failed):
            self.dialog.show_trouble(reason_of(self._words, result.error))
        elif isinstance(result.value, tuple) and any(one.trouble is not None for one in result.value):
            self.dialog.show_deleted(result.value)
        else:
            self.dialog.accept()
            self.left.emit()
