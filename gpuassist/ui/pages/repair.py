"""Repair: make an installed toolkit the one that new shells use. Plan, ticks, diff, proof, and the undo of every change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Receipt, Result
from gpuassist.model.shell import Shell
from gpuassist.model.text import Text, text
from gpuassist.session import fix
from gpuassist.session.fix import Applied, CudaPlan, Holds, LdLibraryPath, TakeBack, Undone, UseCuda, plan_use_cuda
from gpuassist.session.flow import GoTo, Marked, Step, StepState
from gpuassist.session.repair_summary import expected_rows, offers, outcome, proved_rows, release_of, title
from gpuassist.session.standing import repairable_version
from gpuassist.ui.jobs import Done, Failed
from gpuassist.ui.latest import Latest
from gpuassist.ui.page import Bar, Desk, Page, ReadAgain
from gpuassist.ui.pages.repair_plan import PlanCard
from gpuassist.ui.pages.repair_result import DiffCard, HistoryCard, TerminalCard
from gpuassist.ui.palette import Mark
from gpuassist.ui.reasons import reason_of, sentence_case
from gpuassist.ui.widgets.cards import Card, EmptyState, Notice, clear
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.paragraphs import paragraph
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.widgets.scroll_page import SPACING

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection

_PAUSE_MILLISECONDS = 120
_PLAN_WIDTH = 350


@dataclass(frozen=True, slots=True)
class _TakenBack:
    """A change taken back, and what new terminals find since."""

    undone: Undone
    shell: Shell


class RepairPage(Page):
    """Plans on a job whenever something is chosen; changes a file only when Apply is pressed."""

    STEP = Step.REPAIR

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self._machine = Machine()
        self._recorded = False
        self._offered = ""  # the version that a finding says new shells should use
        self._wish = UseCuda("")
        self._plan: CudaPlan | None = None
        self._applied: Applied | None = None
        self._undone = ""  # what taking a change back came to, until the plan after it is shown
        self._planning = Latest(desk.jobs, self._show_planned, self, pause_milliseconds=_PAUSE_MILLISECONDS)
        self._changing = Latest(desk.jobs, self._show_changed, self)
        self._listing = Latest(desk.jobs, self._show_listed, self)
        self._apply = self._action(text("Apply and prove"), self._start_applying)
        self._copy = self._action(text("Copy the lines instead"), self._copy_lines)
        self._undo = self._action(text("Undo this change"), self._undo_latest)
        self._again = self._action(text("Check the machine again"), self._check_again)
        self._build()

    def bar(self) -> Bar:
        if self._applied is not None:
            return Bar(tuple(action for action in (self._undo, self._again) if action.isVisible()))
        if self._plan is None or not self._plan.diff:
            return Bar()
        note = text("Open terminals keep their old settings.")
        if self._plan.recorded:
            note = text("A recorded machine can be looked at, not changed.")
        return Bar((self._copy,), self.desk.words(note), self._apply)

    def show_inspection(self, inspection: Inspection) -> None:
        self._machine, self._recorded = inspection.machine, inspection.recorded
        self._offered = repairable_version(inspection.answers)
        if self._applied is None:
            self.open_for(self._offered)

    def arrive(self, wish: str) -> None:
        if wish:
            self.open_for(wish)
        self._listing.ask(lambda _: fix.history(self.desk.session))

    def close_down(self) -> None:
        for work in (self._planning, self._changing, self._listing):
            work.drop()

    @property
    def plan(self) -> CudaPlan | None:
        """What is planned now."""
        return self._plan

    def open_for(self, version: str) -> None:
        """Plans for this CUDA version; for none, says that nothing needs repair and offers what is installed."""
        self._applied = None
        self._wish = UseCuda(version)
        self._card.show_offers(offers(self._machine), version)
        if version:
            self._ask_for_plan()
        else:
            self._show_nothing_needed()

    @Slot(object)
    def choose_toolkit(self, version: str) -> None:
        """The user wants this one."""
        self.open_for(version)

    @Slot(object)
    def choose_lines(self, lines: tuple[int, ...]) -> None:
        """The user wants exactly these retired."""
        self._wish = replace(self._wish, retire=lines)
        self._ask_for_plan()

    @Slot(object)
    def choose_loader(self, choice: LdLibraryPath) -> None:
        """Whether LD_LIBRARY_PATH is written."""
        self._wish = replace(self._wish, ld_library_path=choice)
        self._ask_for_plan()

    def _build(self) -> None:
        scroll = self.fill_with_scroll()
        self._header = scroll.header
        words = self.desk.session.words
        self._strip = ProgressStrip(self)
        self._strip.setMaximumHeight(20)
        self._notice = Notice(Mark.INFO, "", self)
        self._notice.hide()
        self._nothing = EmptyState(Mark.RIGHT, "", "", self)
        self._card = PlanCard(words, self)
        self._card.setMinimumWidth(_PLAN_WIDTH)
        self._card.setMaximumWidth(_PLAN_WIDTH)
        self._card.toolkit_chosen.connect(self.choose_toolkit)
        self._card.lines_chosen.connect(self.choose_lines)
        self._card.loader_chosen.connect(self.choose_loader)
        self._history = HistoryCard(words, self)
        self._history.undo_wanted.connect(self._ask_to_undo)
        row = QHBoxLayout()
        row.setSpacing(SPACING)
        row.addWidget(self._card, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        row.addWidget(self._build_right(), 1, Qt.AlignmentFlag.AlignTop)
        scroll.content.addWidget(self._notice)
        scroll.content.addWidget(self._nothing)
        scroll.content.addLayout(row)
        scroll.content.addWidget(self._history)
        scroll.content.addWidget(self._strip)

    def _build_right(self) -> QWidget:
        words = self.desk.session.words
        self._right = QWidget(self)
        column = QVBoxLayout(self._right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACING)
        self._diff = DiffCard(words, self._right)
        self._terminal = TerminalCard(words, self._right)
        self._by_hand = Card(words(text("To paste by hand")), parent=self._right)
        self._block = CodeBlock(words, "", words(text("Lines for the start-up file")), self._by_hand)
        self._by_hand.body.addWidget(self._block)
        self._notes = Card(words(text("Good to know before")), parent=self._right)
        for card in (self._diff, self._by_hand, self._terminal, self._notes):
            column.addWidget(card)
        return self._right

    def _action(self, words: Text, slot: Callable[[], None]) -> QAction:
        action = QAction(self.desk.words(words), self)
        action.triggered.connect(slot)
        return action

    # Planning

    def _ask_for_plan(self) -> None:
        session, machine, wish, recorded = self.desk.session, self._machine, self._wish, self._recorded
        self._apply.setEnabled(False)
        self._strip.begin(self.desk.words(text("Planning…")))
        self._planning.ask(lambda _: plan_use_cuda(session, machine, wish, recorded=recorded))

    def _show_planned(self, result: Done | Failed) -> None:
        self._strip.end()
        if isinstance(result, Failed):
            self._show_refusal(reason_of(self.desk.session.words, result.error))
        elif isinstance(result.value, CudaPlan):
            self._show_plan(result.value)
        self.bar_changed.emit()

    def _show_plan(self, plan: CudaPlan) -> None:
        self._plan = plan
        words = self.desk.words
        promise = text("Nothing is changed until you apply. You can undo at any time.")
        nothing = text("A new terminal finds this toolkit by what stands in the file already.")
        self._header.show_words(words(title(plan)), words(promise if plan.diff else nothing))
        self._nothing.hide()
        self._right.show()
        self._card.show_plan(plan)
        self._diff.show_plan(plan)
        self._terminal.show_rows(expected_rows(plan), proved=False)
        self._show_obstacle(plan)
        if self._undone and not self._notice.isVisibleTo(self):
            self._tell(Mark.RIGHT, self._undone)
        self._undone = ""
        self._show_notes(plan.plan.notes)

    def _show_obstacle(self, plan: CudaPlan) -> None:
        reason = plan.obstacle
        if plan.recorded:
            reason = text("This is a recorded machine: the change can be looked at here, and made only on that machine.")
        self._apply.setEnabled(reason is None)
        self._apply.setStatusTip("" if reason is None else self.desk.words(reason))
        self._by_hand.setVisible(plan.obstacle is not None)
        self._block.set_content(plan.block)
        self._notice.setVisible(plan.obstacle is not None)  # of a recorded machine the window itself tells
        if plan.obstacle is not None:
            self._notice.show_words(Mark.PROBLEM, sentence_case(self.desk.words(plan.obstacle)))

    def _show_notes(self, notes: tuple[Text, ...]) -> None:
        clear(self._notes.body)
        for note in notes:
            self._notes.body.addWidget(paragraph(sentence_case(self.desk.words(note)), "muted", self._notes))
        self._notes.setVisible(bool(notes))

    def _show_refusal(self, reason: str) -> None:
        words = self.desk.words
        self._forget_plan()
        self._header.show_words(words(text("This cannot be planned")), words(text("Nothing was changed.")))
        self._nothing.show_words(Mark.PROBLEM, words(text("There is no plan for this")), sentence_case(reason))

    def _show_nothing_needed(self) -> None:
        words = self.desk.words
        self._planning.drop()
        self._strip.end()
        self._forget_plan()
        self._header.show_words(
            words(text("Nothing needs repair here")),
            words(text("No finding says that new shells should use another CUDA toolkit.")),
        )
        if offers(self._machine):
            rest = text("You can make any installed toolkit the one that new shells use all the same: choose it below.")
        else:
            rest = text("No CUDA toolkit is installed that new shells could use.")
        self._nothing.show_words(Mark.RIGHT, words(text("Nothing to repair")), words(rest))
        self.bar_changed.emit()

    def _forget_plan(self) -> None:
        self._plan = None
        self._card.forget_plan()
        self._notice.hide()
        self._right.hide()
        self._nothing.show()

    # Applying and undoing

    @Slot()
    def _start_applying(self) -> None:
        plan = self._plan
        if plan is None:
            return
        self._apply.setEnabled(False)
        self._card.freeze()
        self._card.mark_steps((Mark.BUSY, Mark.BUSY))
        self.asked.emit(Marked(self.STEP, StepState.BUSY))
        self._strip.begin(self.desk.words(text("Applying, then asking a new terminal…")))
        self._changing.ask(lambda _: fix.apply(self.desk.session, plan))

    def _show_changed(self, result: Done | Failed) -> None:
        self._strip.end()
        if isinstance(result, Failed):
            self._tell(Mark.PROBLEM, reason_of(self.desk.session.words, result.error))
            self.asked.emit(Marked(self.STEP, StepState.PROBLEM))
        elif isinstance(result.value, Applied):
            self._show_applied(result.value)
        elif isinstance(result.value, TakeBack):
            self._confirm_undo(result.value)
            return  # nothing was changed yet
        elif isinstance(result.value, _TakenBack):
            self._show_undone(result.value)
        self._listing.ask(lambda _: fix.history(self.desk.session))
        self.bar_changed.emit()

    def _show_applied(self, applied: Applied) -> None:
        self._applied = applied
        if isinstance(applied.after, Known):
            self._machine = replace(self._machine, shell=replace(self._machine.shell, new_terminal=applied.after))
        mark = _mark_of(applied)
        self._tell(mark, sentence_case(self.desk.words(outcome(applied))))
        self._undo.setVisible(applied.receipt is not None)
        self.asked.emit(Marked(self.STEP, StepState(mark.value)))
        wrote = applied.result in {Result.MODIFIED, Result.UNCHANGED}
        self._card.mark_steps((Mark.RIGHT if wrote else Mark.PROBLEM, mark if wrote else Mark.TODO))
        if not wrote:
            self._by_hand.show()
            self._applied = None
            return
        done = text("New terminals use what you chose; those that are open keep their old settings.")
        still = text("The file was changed, but a new terminal does not do what was planned.")
        if self._plan is not None:
            done_title = text("New shells use CUDA {version}", version=release_of(self._plan.toolkit))
            shown = done_title if mark is Mark.RIGHT else title(self._plan)
            self._header.show_words(self.desk.words(shown), self.desk.words(done if mark is Mark.RIGHT else still))
        self._terminal.show_rows(proved_rows(applied), proved=True)

    @Slot()
    def _undo_latest(self) -> None:
        if self._applied is not None and self._applied.receipt is not None:
            self._ask_to_undo(self._applied.receipt)

    @Slot(object)
    def _ask_to_undo(self, receipt: Receipt) -> None:
        self._strip.begin(self.desk.words(text("Looking how it is taken back…")))
        self._changing.ask(lambda _: fix.plan_undo(self.desk.session, receipt.id))

    def _confirm_undo(self, taking: TakeBack) -> None:
        words = self.desk.words
        question = words(text("Undo this change of {path}?", path=taking.receipt.path))
        after = words(text("Then: {way}.", way=taking.way))
        self.desk.asking.confirm(self, question, after, lambda: self._start_undoing(taking.receipt))

    def _start_undoing(self, receipt: Receipt) -> None:
        self._strip.begin(self.desk.words(text("Undoing…")))
        self._changing.ask(lambda _: _take_back(self.desk, receipt))

    def _show_undone(self, back: _TakenBack) -> None:
        self._machine = replace(self._machine, shell=back.shell)
        self.asked.emit(Marked(self.STEP, StepState.TODO))
        self.open_for(self._wish.version)
        self._undone = sentence_case(self.desk.words(back.undone.outcome.text))

    def _show_listed(self, result: Done | Failed) -> None:
        receipts = result.value if isinstance(result, Done) else ()
        self._history.show_receipts(receipts if isinstance(receipts, tuple) else ())

    def _tell(self, mark: Mark, words: str) -> None:
        self._notice.show_words(mark, words)
        self._notice.show()

    @Slot()
    def _copy_lines(self) -> None:
        if self._plan is not None:
            QGuiApplication.clipboard().setText(self._plan.block + "\n")

    @Slot()
    def _check_again(self) -> None:
        self._applied = None
        self.asked.emit(ReadAgain())
        self.asked.emit(GoTo(Step.FOUND))


def _take_back(desk: Desk, receipt: Receipt) -> _TakenBack:
    return _TakenBack(fix.undo(desk.session, receipt.id), fix.look(desk.session).shell)


def _mark_of(applied: Applied) -> Mark:
    if applied.proof is None:
        return Mark.PROBLEM
    return {Holds.YES: Mark.RIGHT, Holds.NO: Mark.PROBLEM, Holds.UNKNOWN: Mark.UNKNOWN}[applied.proof.holds]
