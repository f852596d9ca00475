"""One kind of repair on the page: its choices at the left, the plan and what came of it at the right, planned as one chooses."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.plan import ChangeOutcome, ChangePlan
from gpuassist.changes.plan_change import plan_change
from gpuassist.changes.wishes import ChangeWish
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.old_environment import OldEnvironments
from gpuassist.model.plan import Receipt
from gpuassist.model.text import Text, text
from gpuassist.present.changes import bar_note, outcome_of, promise_of, result_words, still_holds, title_of
from gpuassist.present.commands import copyable_lines
from gpuassist.present.elsewhere import nothing_to_change, only_previewed
from gpuassist.present.marks import Mark
from gpuassist.session.navigation import TITLES, Marked, StepStatus, WizardStep
from gpuassist.session.old_environments import after_change
from gpuassist.ui import clipboard
from gpuassist.ui.jobs import Done, Failed, Latest
from gpuassist.ui.page import Bar, Desk, new_action
from gpuassist.ui.pages.repair.old_environments import OldEnvironmentsCard
from gpuassist.ui.pages.repair.panel import PlanPanel
from gpuassist.ui.pages.repair.plan import PlanCard
from gpuassist.ui.widgets.cards import EmptyState, Notice
from gpuassist.ui.widgets.layouts import SPACING, Beside, bare, by_text
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.wording import at_home, reason_of, sentence_case

_PAUSE_MILLISECONDS = 120
_PLAN_WIDTH = 350


class RepairSection(QWidget):
    """Plans on a job whenever something is chosen; changes files only when Apply is pressed."""

    changed = Signal()  # its header or its part of the bottom bar
    asked = Signal(object)  # GoTo or Marked, for the frame
    made = Signal()  # something was tried, whatever came of it
    undo_wanted = Signal(str)  # the id of the change

    LIVE_ONLY: ClassVar[bool] = True  # whether a recorded machine has nothing to show here

    def __init__(self, desk: Desk, card: PlanCard, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk = desk
        self.words = at_home(desk.words, desk.session.world.surroundings.home)
        self.card = card
        self.machine = Machine()
        self.recorded, self.host = False, ""
        self.repair: ChangePlan | None = None
        self.carried: ChangeOutcome | None = None
        self.header = (self.words(TITLES[WizardStep.REPAIR]), "")  # until there is a plan
        self.mark: Mark | None = None  # how what was tried last went, or that it is under way
        self._stale = False
        self._waits = False  # for the machine to be read again after a change
        self._failed = False  # what was planned raised
        self._panel: PlanPanel | None = None
        self.planning = Latest(desk.jobs, self._show_planned, self, pause_milliseconds=_PAUSE_MILLISECONDS)
        self.changing = Latest(desk.jobs, self._show_made, self)
        self.looking = Latest(desk.jobs, self._show_still_old, self)
        self.apply = new_action(self, desk.words(text("Apply and test")), self._start_applying)
        self.copy = new_action(self, desk.words(text("Copy the lines instead")), self._copy_lines)
        self.undo = new_action(self, desk.words(text("Undo this change")), self._want_undo, "Ctrl+Z")
        self.anew = new_action(self, desk.words(text("New plan")), self.start)
        self.notice = Notice(Mark.INFO, "", self)
        self.notice.hide()
        self.still_old = OldEnvironmentsCard(desk.words, self)
        self.still_old.look_wanted.connect(self._look_for_old)
        self.nothing = EmptyState(Mark.RIGHT, "", "", self)
        self.nothing.hide()
        self.card.setParent(self)
        self.strip = ProgressStrip(self, keeps_room=False)
        self.strip.setMaximumHeight(20)
        right = QWidget(self)
        self.right = bare(QVBoxLayout(right), SPACING)
        self.right.addWidget(self.nothing)
        self.right.addStretch(1)
        column = bare(QVBoxLayout(self), SPACING)
        column.addWidget(self.notice)
        column.addWidget(self.still_old)
        column.addWidget(Beside(self.card, right, by_text(_PLAN_WIDTH), self))
        column.addWidget(self.strip)

    @property
    def panel(self) -> PlanPanel:
        """The right side; made when a plan is first shown, since it is large."""
        if self._panel is None:
            self._panel = PlanPanel(self.words, self.desk.session.world.surroundings.home, self)
            self.right.insertWidget(1, self._panel)
            self.furnish(self._panel)
        return self._panel

    def furnish(self, panel: PlanPanel) -> None:
        """The panel was made; for what one kind of repair listens to."""

    @property
    def busy(self) -> bool:
        return self.planning.busy or self.changing.busy or self.looking.busy or self._waits

    @property
    def settled(self) -> bool:
        """Whether it shows what came of a change, or is making one: no plan takes that place by itself."""
        return self.carried is not None or self._failed or self.changing.busy

    @property
    def receipt(self) -> Receipt | None:
        """Of the change whose result it shows; none where it shows none, or nothing was written."""
        return self.carried.receipt if self.carried is not None else None

    def bar(self) -> Bar:
        if self.carried is not None and self.carried.wrote:
            return Bar((self.undo, self.anew) if self.carried.receipts else (self.anew,))
        if self.carried is not None and self.carried.rolled_back is not None:
            return Bar((self.anew,))
        if self.carried is not None or self._failed:
            return Bar((self.copy, self.anew))
        if self.repair is None or not self.repair.diff:
            return Bar()
        left = (self.copy,) if self.repair.block else ()
        return Bar(left, self.words(bar_note(self.repair, self.host)), self.apply)

    def show_machine(self, machine: Machine, *, recorded: bool) -> None:
        """Another machine, or the same one read again; what came of a change stays as long as that is what a new terminal finds."""
        another = recorded or self.recorded
        self.machine, self.recorded = machine, recorded
        self._stop_waiting()
        if self.carried is not None and (another or not still_holds(self.carried, machine.shell)):
            self.forget_result()
        self.expire()

    def wait(self) -> None:
        """Something was written: what was planned before holds no more, and the machine is being read again."""
        self._waits = True
        if not self.settled:
            self._show_waiting()

    def _show_waiting(self) -> None:
        words = self.words
        self.planning.drop()
        self.forget_plan()
        self.nothing.hide()
        self.header = (words(text("One moment")), words(text("Your machine is read again after the change.")))
        self.strip.begin(words(text("Reading your machine again after the change…")))

    def go_on(self) -> None:
        """The machine could not be read again: what was read before is all that there is."""
        if self._waits:
            self._stop_waiting()
            self.expire()

    def _stop_waiting(self) -> None:
        if self._waits:
            self._waits = False
            self.strip.end()

    def forget_result(self) -> None:
        """What came of a change is shown no longer."""
        self.looking.drop()
        self.still_old.show_found(None)
        self.carried, self.mark, self._failed = None, None, False
        self._stale = True

    def expire(self) -> None:
        """Its plan no longer holds: made again when it is next shown, at once where it is."""
        self._stale = True
        if self.isVisible():
            self.arrive()

    def arrive(self) -> None:
        if self._stale and not self._waits and not self.settled:
            self._stale = False
            self.start()

    @Slot()
    def start(self) -> None:
        """Begins anew, with what is wished now; not while a change is being made."""
        if self.changing.busy:
            return
        self.forget_result()
        self._stale = False
        self.ask_for_plan()

    def wish(self) -> ChangeWish | None:
        """What is wished; none where nothing can be planned."""
        raise NotImplementedError

    def show_nothing(self) -> None:
        """What is shown where nothing is wished."""
        raise NotImplementedError

    def close_down(self) -> None:
        self._stop_waiting()
        for work in (self.planning, self.changing, self.looking):
            work.drop()

    def ask_for_plan(self) -> None:
        """Plans what is wished now; as soon as the machine is read again, where that is under way."""
        if self._waits:
            self._stale = True
            self._show_waiting()
            self.changed.emit()
            return
        wish = self.wish()
        elsewhere = self.recorded and self.LIVE_ONLY
        self.card.setVisible(not elsewhere and (wish is not None or self.card.offers_something))
        if wish is None or elsewhere:
            self.planning.drop()
            self.strip.end()
            self.forget_plan()
            self._show_recorded() if elsewhere else self.show_nothing()
            self.changed.emit()
            return
        session, machine, recorded = self.desk.session, self.machine, self.recorded
        self.apply.setEnabled(False)
        self.strip.begin(self.words(text("Planning…")))
        self.planning.ask(lambda _: plan_change(session.world, machine, wish, recorded=recorded))

    def forget_plan(self) -> None:
        self.repair = None
        self.card.forget_plan()
        self.notice.hide()
        if self._panel is not None:
            self._panel.hide()

    def say_instead(self, mark: Mark, title: Text, words: Text) -> None:
        """What stands where the plan would."""
        self.nothing.show_words(mark, self.words(title), self.words(words))
        self.nothing.show()

    def after_made(self, carried: ChangeOutcome) -> None:
        """Something was made; for what one kind of repair proves beside."""

    def _show_planned(self, result: Done | Failed) -> None:
        self.strip.end()
        if isinstance(result, Failed):
            self._show_refusal(reason_of(self.words, result.error))
        elif isinstance(result.value, ChangePlan):
            self.show_shell_plan(result.value)
        self.changed.emit()

    def show_shell_plan(self, repair: ChangePlan) -> None:
        self.repair = repair
        words = self.words
        promise = only_previewed(self.host) if repair.recorded and repair.diff and self.host else promise_of(repair)
        self.header = (words(title_of(repair)), words(promise))
        self.nothing.hide()
        self.panel.show()
        self.card.show_repair(repair)
        self.panel.show_plan(repair)
        self._show_obstacle(repair)

    def _show_recorded(self) -> None:
        heading, title, why = nothing_to_change(self.host)
        self.header = (self.header[0], self.words(heading))
        self.say_instead(Mark.INFO, title, why)

    def _show_obstacle(self, repair: ChangePlan) -> None:
        reason = obstacle = repair.obstacle
        if repair.recorded:
            reason = only_previewed(self.host)
        self.apply.setEnabled(reason is None)
        self.apply.setStatusTip("" if reason is None else self.words(reason))
        self.notice.setVisible(obstacle is not None)  # of a recorded machine the window itself tells
        if obstacle is not None:
            self.notice.show_words(Mark.PROBLEM, sentence_case(self.words(obstacle)))

    def _show_refusal(self, reason: str) -> None:
        words = self.words
        self.forget_plan()
        self.header = (words(text("This cannot be planned")), words(text("The reason is shown below.")))
        self.nothing.show_words(Mark.PROBLEM, words(text("There is no plan for this")), sentence_case(reason))
        self.nothing.show()

    def tell(self, mark: Mark, words: str) -> None:
        self.notice.tell(mark, words)

    @Slot()
    def _start_applying(self) -> None:
        session, repair = self.desk.session, self.repair
        if repair is None:
            return
        self.apply.setEnabled(False)
        self.card.freeze()
        self.card.mark_steps((Mark.BUSY,) * (len(repair.edits) + 1))
        self.show_mark(Mark.BUSY)
        self.strip.begin(self.words(text("Applying, then testing in new shells…")))
        self.changing.ask(lambda _: carry_out(session.world, repair))

    def _show_made(self, result: Done | Failed) -> None:
        self.strip.end()
        if isinstance(result, Failed):
            self._failed = True
            self.show_mark(Mark.PROBLEM)
            self.tell(Mark.PROBLEM, reason_of(self.words, result.error))
        elif isinstance(result.value, ChangeOutcome) and self.repair is not None:
            self._show_carried(self.repair, result.value)
        self.made.emit()
        self.changed.emit()

    def _show_carried(self, plan: ChangePlan, carried: ChangeOutcome) -> None:
        words = self.words
        self.carried = carried
        mark = mark_of(carried)
        self.show_mark(mark)
        self.tell(mark, "\n".join(sentence_case(words(one)) for one in (outcome_of(carried), *carried.notes)))
        edits = Mark.RIGHT if carried.wrote else Mark.PROBLEM
        proof = mark if carried.wrote else Mark.TODO
        if carried.rolled_back is not None:  # they were written and are as they were; what failed is the proof
            edits, proof = Mark.TODO, Mark.PROBLEM
        self.card.mark_steps((*(edits,) * len(plan.edits), proof))
        self.panel.show_carried(plan, carried)
        title, about = result_words(plan, carried)
        self.header = (words(title), words(about))
        if carried.wrote:
            self._look_for_old()
            self.after_made(carried)

    @Slot()
    def _look_for_old(self) -> None:
        session, plan, carried = self.desk.session, self.repair, self.carried
        if plan is not None and carried is not None:
            self.looking.ask(lambda _: after_change(session, plan, carried))

    def _show_still_old(self, result: Done | Failed) -> None:
        found = result.value if isinstance(result, Done) and isinstance(result.value, OldEnvironments) else None
        self.still_old.show_found(found)
        self.changed.emit()

    def show_mark(self, mark: Mark) -> None:
        self.mark = mark
        self.asked.emit(Marked(WizardStep.REPAIR, StepStatus(mark.value)))

    @Slot()
    def _want_undo(self) -> None:
        if self.receipt is not None:
            self.undo_wanted.emit(self.receipt.change)

    @Slot()
    def _copy_lines(self) -> None:
        if self.repair is not None:
            lines = copyable_lines(self.repair.block.split("\n"))
            clipboard.copy("".join(f"{self.desk.words(line)}\n" for line in lines))


def mark_of(carried: ChangeOutcome) -> Mark:
    if not carried.wrote:
        return Mark.PROBLEM
    if carried.proof is None:
        return Mark.RIGHT
    if not isinstance(carried.proof.holds, Known):
        return Mark.UNKNOWN
    return Mark.RIGHT if carried.proof.holds.value else Mark.PROBLEM
