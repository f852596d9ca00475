"""The install page's steps: looked at, confirmed, run, said to be done, gone on with, and taken back, one act at a time."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from gpuassist.install.execution import InstallOutcome
from gpuassist.install.records import Install, InstallState
from gpuassist.install.resume import Waiting, next_step
from gpuassist.install.rollback import BackStep
from gpuassist.model.machine import Machine
from gpuassist.model.plan import StepKind
from gpuassist.model.solve import DryRun
from gpuassist.model.text import Text, text, verbatim
from gpuassist.present.elsewhere import cannot_be_changed
from gpuassist.present.install import before_going_back, before_taking, course_title, next_action, run_lines
from gpuassist.present.marks import Mark, mark_of
from gpuassist.session.install import Course, can_be_taken_back, course_of, is_begun
from gpuassist.session.navigation import ToRepair
from gpuassist.session.plan import toolkit_to_use
from gpuassist.ui.page import Desk, new_action
from gpuassist.ui.pages.install.cards import StepCard
from gpuassist.ui.pages.install.output import OutputCard
from gpuassist.ui.pages.install.runner import InstallRunner
from gpuassist.ui.questions import CommandsAsked, Verbs
from gpuassist.ui.widgets.layouts import SPACING, bare, clear

_AT_END = 1 << 16  # below every step


class InstallSteps(QWidget):
    """`changed` says that the bar and the title may be others, `told` what came of an act, `asked` is for the frame."""

    changed = Signal()
    told = Signal(object)  # (Mark, words)
    asked = Signal(object)

    def __init__(self, desk: Desk, scroll: QScrollArea, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._scroll = scroll
        self._machine = Machine()
        self._recorded, self._host = False, ""
        self._course: Course | None = None
        self.install: Install | None = None
        self._waits: Waiting | None = None
        self._looking: Course | None = None
        self._cards: list[StepCard] = []
        self._made: tuple[object, ...] = ()  # what the cards were made of
        self._ran_at = 0  # the step that printed last
        self._acting = False  # whether what is under way changes something
        self._takes = False  # whether what is looked at is to be taken then
        self.busy_words: Text | None = None
        self.primary = new_action(self, "", self.take_next)
        self._done = new_action(self, desk.words(text("Done")), self._say_done)
        self._cancel = new_action(self, desk.words(text("Cancel")), self.close_down)
        self._cancel.setShortcut("Esc")
        self._back = new_action(self, desk.words(text("Undo install…")), self._ask_back)
        self._give_up = new_action(self, desk.words(text("Give it up…")), self._ask_give_up)
        self.output = OutputCard(desk.words, self)
        self._column = bare(QVBoxLayout(self), SPACING)
        self._runner = InstallRunner(desk, self)
        self._runner.looked.connect(self._show_looked)
        self._runner.ran.connect(self._show_ran)
        self._runner.said.connect(self._show_said)
        self._runner.to_restart.connect(self._show_to_restart)
        self._runner.went_on.connect(self._show_gone_on)
        self._runner.given_up.connect(self._show_given_up)
        self._runner.way_told.connect(self._confirm_back)
        self._runner.failed.connect(self._show_failed)
        self._runner.asked.connect(self.asked)
        self.output.cancel_wanted.connect(self._runner.cancel)
        self.output.open_wanted.connect(self._open_log)

    @property
    def under_way(self) -> bool:
        """Whether the steps stand on record, or are just being put there."""
        return self.install is not None or self._acting

    @property
    def busy(self) -> bool:
        return self._runner.busy

    @property
    def cards(self) -> tuple[StepCard, ...]:
        return tuple(self._cards)

    @property
    def title(self) -> Text:
        return course_title(self.install) if self.install is not None else text("Starting the first step")

    @property
    def goal(self) -> Text:
        return self._course.goal if self._course is not None else verbatim("")

    @property
    def beside(self) -> tuple[QAction, ...]:
        """What can be done beside the next step."""
        if self.install is None or self.busy:
            return (self._cancel,) if self.busy else ()
        number = self._next
        done = (self._done,) if number is not None and toolkit_to_use(self.install.steps[number].step) else ()
        back = (self._back,) if can_be_taken_back(self.install) else ()
        return (*done, *back, *((self._give_up,) if number is not None else ()))

    def close_down(self) -> None:
        self._runner.cancel()

    def show_machine(self, machine: Machine, *, recorded: bool, host: str = "") -> None:
        self._machine, self._recorded, self._host = machine, recorded, host

    def show_waiting(self, waits: Waiting | None) -> None:
        """What beginning something else would give up."""
        self._waits = waits

    def show_plan(self, course: Course | None) -> None:
        """Steps of which none is taken yet."""
        self.install = None
        self._show(course)

    def go_on(self) -> None:
        """With the install that waits, from what the machine shows now."""
        self._begin(text("Checking how far it got…"), self._runner.go_on)

    def ask_to_give_up(self, install: str) -> None:
        words = self._desk.words
        rest = words(text("What was done stays and can be undone later. gpuassist stops offering to continue it."))
        start = self._runner.give_up
        question = words(text("Give this install up?"))
        verbs = Verbs(words(text("Give up")), words(text("Keep")))
        self._desk.asking.confirm(
            self, question, rest, lambda: self._begin(text("Giving up…"), lambda: start(install)), verbs=verbs
        )

    @Slot(object)
    def ask_way_back(self, install: str) -> None:
        """How an install is taken back; then asks."""
        self._begin(text("Checking how it can be undone…"), lambda: self._runner.ask_way_back(install))

    @Slot()
    def take_next(self) -> None:
        """What the primary button says."""
        course, number = self._course, self._next
        if course is None or number is None or self.busy:
            return
        step = course.steps[number]
        if step.run is not None:
            self._takes = True
            self._look(number)
        elif step.kind is StepKind.REBOOT:
            wished = self._cards[number].wants_autostart
            self._begin(text("Saving the place to continue from…"), lambda: self._runner.restart(course, autostart=wished))
        elif toolkit_to_use(step):
            self.asked.emit(ToRepair(toolkit_to_use(step)))
        else:
            self._say_done()

    @property
    def is_done(self) -> bool:
        """Whether every step of it was taken, and none taken back."""
        return self.install is not None and self.install.state is InstallState.DONE

    @property
    def _next(self) -> int | None:
        if self.install is not None:
            return next_step(self.install) if self.install.state is InstallState.OPEN else None
        return 0 if self._course is not None and self._course.steps else None

    def _begin(self, words: Text, start: Callable[[], object]) -> None:
        if not self.busy:
            self.told.emit((Mark.INFO, ""))
            self.busy_words = words
            start()
            self._settle()

    def _settle(self) -> None:
        """Shows which step is next, and whether anything can be pressed."""
        if not self.busy:
            self.busy_words, self._acting = None, False
        number = self._next
        self.primary.setVisible(number is not None)
        if number is not None and self._course is not None:
            self.primary.setText(self._desk.words(next_action(self._course.steps[number], number)))
        self.primary.setEnabled(number is not None and not self.busy and not self._recorded)
        why = cannot_be_changed(self._host)
        self.primary.setStatusTip(self._desk.words(why) if self._recorded else "")
        for card in self._cards:
            card.allow_look(self._desk.words(why) if self._recorded else "…" if self.busy else "")
        self.changed.emit()

    def _show(self, course: Course | None) -> None:
        # What can be seen of the steps: on record they keep that, and are others otherwise.
        words = self._desk.words
        steps = course.steps if course is not None else ()
        now = tuple((one.kind, words(one.text), one.commands, self._recorded) for one in steps)
        same, self._made = bool(now) and now == self._made, now
        self._course = course
        if not same:
            self._column.removeWidget(self.output)
            self.output.hide()
            clear(self._column)
            home = "" if self._recorded else self._desk.session.world.surroundings.home
            steps = course.steps if course is not None else ()
            self._cards = [StepCard(self._desk.words, step, number, self, home=home) for number, step in enumerate(steps)]
            for card in self._cards:
                card.look_wanted.connect(self._look_only)
                self._column.addWidget(card)
            self._column.addWidget(self.output)
        self._show_records()
        self._settle()

    def _show_records(self) -> None:
        if self.install is not None:
            for card, record in zip(self._cards, self.install.steps, strict=True):
                card.show_record(record)

    def _show_install(self, install: Install) -> None:
        self.install = install
        self._show(course_of(install))

    # Looking and taking

    @Slot(int)
    def _look_only(self, number: int) -> None:
        self._takes = False
        self._look(number)

    def _look(self, number: int) -> None:
        course = self._course
        if course is not None:
            self._looking = course
            words = text("Checking what step {number} would change…", number=number + 1)
            self._begin(words, lambda: self._runner.look(self._machine, course, number))

    @Slot(object)
    def _show_looked(self, told: tuple[int, DryRun]) -> None:
        number, looked = told
        if self._looking is not self._course:  # another plan is shown by now
            self._settle()
            return
        self._cards[number].show_looked(looked)
        self._scroll.ensureWidgetVisible(self._cards[number])
        self._settle()
        if self._takes and not looked.stops:
            self._confirm(number, looked)

    def _confirm(self, number: int, looked: DryRun) -> None:
        course, words = self._course, self._desk.words
        if course is None:
            return
        question = words(text("Run this as your user? {step}", step=course.steps[number].text))
        about = before_taking(looked, self._waits.install if self._waits is not None and self.install is None else None)
        verbs = Verbs(words(text("Run it")), words(text("Cancel")))
        asked = CommandsAsked(run_lines(course.steps[number]), tuple(map(words, about)), verbs)
        self._desk.asking.confirm_commands(self, question, asked, lambda: self.take(number))

    def take(self, number: int) -> None:
        course = self._course
        if course is None:
            return
        self._cards[number].show_busy()
        self._acting, self._ran_at = True, number
        self._place_output()
        self._begin(text("Running step {number}…", number=number + 1), lambda: self.output.begin(self._runner.take(course, number)))
        self._scroll.ensureWidgetVisible(self.output)

    @Slot(object)
    def _show_ran(self, ran: InstallOutcome) -> None:
        if is_begun(ran.install):
            self._show_install(ran.install)
        else:
            self._settle()
        self.output.end(ran.step.log)
        self._place_output()
        self.output.show()
        words = ran.step.words
        if self._ran_at < len(self._cards):
            words = text("Step {number}: {words}", number=self._ran_at + 1, words=words)
        self.told.emit((mark_of(ran.step.ending), self._desk.words(words)))

    def _place_output(self) -> None:
        """Below the step that prints; what takes an install back prints below all of them."""
        self._column.removeWidget(self.output)
        self._column.insertWidget(min(self._ran_at + 1, len(self._cards)), self.output)

    @Slot()
    def _say_done(self) -> None:
        course, number = self._course, self._next
        if course is not None and number is not None:
            self._begin(text("Checking step {number}…", number=number + 1), lambda: self._runner.say_done(course, number))

    @Slot(object)
    def _show_said(self, said: InstallOutcome) -> None:
        self._show_install(said.install)
        if said.step.proved is not None:
            mark = mark_of(said.step.proved.holds)
            self.told.emit((mark, self._desk.words(said.step.proved.words)))

    @Slot(object)
    def _show_to_restart(self, ready: tuple[Install, str]) -> None:
        install, entry = ready
        self._show_install(install)
        rest = text("Restart now or later, then open gpuassist: it continues where it stopped.")
        if entry:
            rest = text(
                "Restart now or later: gpuassist then opens automatically. The entry {path} is removed when the install is done.",
                path=entry,
            )
        self.told.emit((Mark.INFO, self._desk.words(rest)))

    @Slot(object)
    def _show_gone_on(self, install: Install | None) -> None:
        if install is None:
            self._settle()
            self.told.emit((Mark.RIGHT, self._desk.words(text("No unfinished install."))))
        else:
            self._show_install(install)

    @Slot(object)
    def _show_failed(self, reason: str) -> None:
        if self.output.running:
            self.output.end("")
        self._show_records()
        self._settle()
        self.told.emit((Mark.PROBLEM, reason))

    # Giving up and going back

    @Slot()
    def _ask_give_up(self) -> None:
        if self.install is not None:
            self.ask_to_give_up(self.install.id)

    @Slot(object)
    def _show_given_up(self, install: Install) -> None:
        if self.install is not None:
            self._show_install(install)
        else:
            self._settle()
        words = text("The install of {goal} is given up; what it did stays.", goal=install.goal)
        self.told.emit((Mark.INFO, self._desk.words(words)))

    @Slot()
    def _ask_back(self) -> None:
        if self.install is not None:
            self.ask_way_back(self.install.id)

    @Slot(object)
    def _confirm_back(self, told: tuple[str, tuple[BackStep, ...]]) -> None:
        install, way = told
        words = self._desk.words
        self._settle()
        obstacle = next((one.obstacle for one in way if one.obstacle is not None), None)
        if obstacle is not None or not way:
            self.told.emit((Mark.PROBLEM, words(obstacle or text("there is nothing to undo"))))
            return
        lines = tuple(line for one in way for line in one.commands)
        verbs = Verbs(words(text("Undo install")), words(text("Keep")))
        asked = CommandsAsked(lines, tuple(map(words, before_going_back(way))), verbs)
        self._desk.asking.confirm_commands(self, words(text("Undo this install?")), asked, lambda: self._go_back(install, way))

    def _go_back(self, install: str, way: tuple[BackStep, ...]) -> None:
        self._acting, self._ran_at = True, _AT_END
        self._begin(text("Undoing…"), lambda: self.output.begin(self._runner.go_back(install, way)))
        self._scroll.ensureWidgetVisible(self.output)

    @Slot(object)
    def _open_log(self, path: str) -> None:
        self._desk.asking.visit(f"file://{path}")
