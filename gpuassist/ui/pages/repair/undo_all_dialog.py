"""Taking everything back: every change with what becomes of it, then what came of each in its place, and what remains after it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.changes.undo import UndoPlan
from gpuassist.changes.undo_all import PlannedUndo, UndoAllOutcome, UndoneChange, UndoRefusal
from gpuassist.install.remains import InstallRemains
from gpuassist.model.plan import Result
from gpuassist.model.text import Text, counted, text
from gpuassist.model.words import Words
from gpuassist.present import undo_all as said
from gpuassist.present.changes import shortened
from gpuassist.present.commands import copyable_lines
from gpuassist.present.marks import Mark, mark_of
from gpuassist.present.moments import minute
from gpuassist.present.undo import diff_of
from gpuassist.session.own_state import DeletedPart, OwnState
from gpuassist.session.traces import Traces
from gpuassist.ui.pages.repair.history import DELETE_DATA
from gpuassist.ui.pages.repair.three_way import ThreeWayView, diff_view
from gpuassist.ui.widgets.buttons import primary, secondary
from gpuassist.ui.widgets.cards import Card, Notice
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.labels import ElidedLabel, label, paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, by_text, open_within
from gpuassist.ui.widgets.marks import StatusPill
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.widgets.scroll_page import ScrollPage
from gpuassist.ui.wording import sentence_case

_WIDTH, _HEIGHT = 900, 680


class UndoAllDialog(QDialog):
    """Changes nothing itself: it says what was agreed to, and is told what came of it. It cannot be closed while that goes on."""

    agreed = Signal()
    stop_wanted = Signal()
    delete_wanted = Signal()

    def __init__(self, words: Words, traces: Traces, parent: QWidget, *, home: str = "") -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(words(text("Undo all")))
        open_within(self, by_text(_WIDTH), by_text(_HEIGHT))
        self._words, self._traces, self._home = words, traces, home
        self._count = len(traces.plan.changes)
        self._works = False
        self._scroll = ScrollPage(self)
        self.header = self._scroll.header
        self.notice = Notice(Mark.INFO, "", self)
        self.notice.hide()
        self._scroll.content.addWidget(self.notice)
        for note in said.records_left(traces.plan):
            self._scroll.content.addWidget(Notice(Mark.WARNING, sentence_case(words(note)), self))
        self.cards = {one.change: ChangeUndoCard(words, one, self, home=home) for one in traces.plan.changes}
        for card in self.cards.values():
            self._scroll.content.addWidget(card)
        self._add_installs()
        self.data = OwnDataCard(words, self, home=home)
        self.data.show_state(traces.state)
        self._scroll.content.addWidget(self.data)
        self.strip = ProgressStrip(self)
        self.agree = primary(words(text("Undo all")), self)
        self.keep = secondary(words(text("Keep")), self)
        self.stop = secondary(words(text("Stop")), self)
        self.delete = secondary(words(DELETE_DATA), self)
        self.leave = secondary(words(text("Close")), self)
        self.agree.clicked.connect(self.agreed)
        self.keep.clicked.connect(self.reject)
        self.stop.clicked.connect(self._stop)
        self.delete.clicked.connect(self.delete_wanted)
        self.leave.clicked.connect(self.accept)
        foot = QFrame(self)
        row = QHBoxLayout(foot)
        row.setContentsMargins(24, 12, 24, 12)
        row.addWidget(self.delete)
        row.addWidget(self.strip, 1)
        for button in (self.stop, self.keep, self.agree, self.leave):
            row.addWidget(button)
        whole = bare(QVBoxLayout(self), 0)
        whole.addWidget(self._scroll, 1)
        whole.addWidget(foot)
        self._show_title(said.plan_title(traces.plan), self._subtitle())
        self._offer(possible=traces.plan.any_possible, state=traces.state)

    def begin(self, words: Text) -> None:
        """Something goes on."""
        self._works = True
        for button in (self.agree, self.keep, self.delete, self.leave):
            button.hide()
        self.stop.setEnabled(True)
        self.stop.show()
        self.strip.begin(self._words(words))

    def begin_deleting(self) -> None:
        """It goes on to its end."""
        self.begin(text("Deleting…"))
        self.stop.hide()

    def show_done(self, done: UndoneChange) -> None:
        """What came of one change, in its place."""
        card = self.cards.get(done.planned.change)
        if card is None:
            return
        card.show_done(done)
        self._scroll.ensureWidgetVisible(card, 0, 0)
        self.strip.say(self._words(text("{count} of {all}…", count=self._place(done), all=self._count)))

    def show_outcome(self, outcome: UndoAllOutcome, state: OwnState) -> None:
        """What came of all of them."""
        self._end()
        if outcome.stopped is not None:
            self._tell(Mark.PROBLEM, outcome.stopped)
        else:
            left = outcome.interrupted or not all(one.over for one in outcome.changes)
            title = said.outcome_title(outcome.changes, planned=self._count, interrupted=outcome.interrupted)
            self._tell(Mark.WARNING if left else Mark.RIGHT, title)
            everything = text("Everything was undone")
            self._show_title(text("Not everything was undone") if left else everything, text("The result of each is shown below."))
        for card in self.cards.values():
            card.settle()
        self.data.show_state(state)
        self._offer(possible=False, state=state)
        self._scroll.verticalScrollBar().setValue(0)

    def show_trouble(self, reason: str) -> None:
        self._end()
        self.notice.show_words(Mark.PROBLEM, sentence_case(reason))
        self.notice.show()
        self._offer(possible=False, state=OwnState())

    def show_deleted(self, deleted: tuple[DeletedPart, ...]) -> None:
        """What could not be deleted."""
        self._end()
        left = [one for one in deleted if one.trouble is not None]
        self._tell(
            Mark.WARNING,
            counted(
                "{count} part of gpuassist's data could not be deleted",
                "{count} parts of gpuassist's data could not be deleted",
                len(left),
            ),
        )
        self.data.show_deleted(deleted)
        self._offer(possible=False, state=OwnState())

    def reject(self) -> None:
        """Escape, Keep and the title bar's button: while it goes on it is stopped, and stays to say what came of it."""
        if self._works:
            self._stop()
        else:
            super().reject()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses the button that has the focus, and none by itself."""
        if event.key() not in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            super().keyPressEvent(event)

    @Slot()
    def _stop(self) -> None:
        self.stop.setEnabled(False)
        self.strip.say(self._words(text("Stopping after this change…")))
        self.stop_wanted.emit()

    def _end(self) -> None:
        self._works = False
        self.strip.end()
        self.stop.hide()

    def _offer(self, *, possible: bool, state: OwnState) -> None:
        self.stop.hide()
        self.agree.setVisible(possible)
        self.keep.setVisible(possible)
        self.leave.setVisible(not possible)
        self.delete.setVisible(bool(state.deletable))
        (self.keep if possible else self.leave).setFocus()

    def _subtitle(self) -> Text:
        if not self._traces.plan.any_possible:
            return text("gpuassist's own data can be deleted once nothing needs it.")
        return text("Nothing is changed before you agree. Your later edits stay; what cannot be merged is left unchanged.")

    def _show_title(self, title: Text, subtitle: Text) -> None:
        self.header.show_words(self._words(title), self._words(subtitle))

    def _tell(self, mark: Mark, words: Text) -> None:
        self.notice.show_words(mark, sentence_case(self._words(words)))
        self.notice.show()

    def _place(self, done: UndoneChange) -> int:
        return list(self.cards).index(done.planned.change) + 1

    def _add_installs(self) -> None:
        installs = self._traces.installs
        title = said.installs_title(installs)
        for path in installs.unread:
            unread = text("The record {path} cannot be read, so it is not known what it left", path=path)
            self._scroll.content.addWidget(Notice(Mark.WARNING, self._words(unread), self))
        if title is None:
            return
        card = Card(self._words(text("Installs that remain")), parent=self)
        card.body.addWidget(paragraph(self._words(title), "muted", card))
        for one in installs.left:
            self._add_install(card, one)
        self._scroll.content.addWidget(card)

    def _add_install(self, card: Card, one: InstallRemains) -> None:
        words = self._words
        card.body.addWidget(label(words(said.install_head(one)), "strong", card))
        if one.unknown is not None:
            unknown = text("How to undo it is not known: {reason}", reason=one.unknown)
            card.body.addWidget(paragraph(words(unknown), "", card))
        for step in one.back:
            card.body.addWidget(paragraph(words(step.text), "", card))
            if step.obstacle is not None:
                card.body.addWidget(paragraph(sentence_case(words(step.obstacle)), "muted", card))
        if one.needs_record:
            card.body.addWidget(paragraph(words(text("Undo it on the page Install, or with this:")), "", card))
            card.body.addWidget(CodeBlock(words, said.back_command(one), words(text("To undo it")), card))
        for hand in one.by_hand:
            card.body.addWidget(paragraph(words(said.by_hand_words(hand)), "", card))
            lines = "\n".join(words(line) for line in copyable_lines(hand.removes or hand.commands))
            card.body.addWidget(CodeBlock(words, lines, words(text("Lines to copy")), card))


class ChangeUndoCard(Card):
    """One change: what would become of it, and then what did."""

    def __init__(self, words: Words, one: PlannedUndo, parent: QWidget, *, home: str) -> None:
        super().__init__(parent=parent)
        self._words, self._one, self._settled = words, one, False
        receipt = one.receipts[0]
        names = bare(QVBoxLayout(), 2)
        names.addWidget(ElidedLabel(receipt.goal, "strong", self))
        when = text("made {made}", made=minute(receipt.made_at))
        names.addWidget(label(f"{words(when)}  ·  {one.change}", "small", self))
        self.pill = StatusPill(Mark.TODO, "", self)
        add_layout(self.head, names, 1)
        self.head.addWidget(self.pill, 0, Qt.AlignmentFlag.AlignTop)
        self._said = bare(QVBoxLayout(), 8)
        add_layout(self.body, self._said)
        self.setAccessibleName(receipt.goal)
        for file in one.plan.files if one.plan is not None else ():
            self._said.addWidget(ElidedLabel(shortened(file.receipt.path, home), "mono", self))
            self._said.addWidget(paragraph(sentence_case(words(file.way)), "", self))
            if file.edit is not None:
                self._said.addWidget(diff_view(words, diff_of(file), self))
        if one.refusal is not None:
            self._refuse(one.refusal)
        elif one.plan is not None:
            self.pill.show_status(Mark.TODO, words(_what_will_be(one.plan)))

    def show_done(self, done: UndoneChange) -> None:
        """What came of it."""
        self._settled = True
        if done.refusal is not None:
            if self._one.refusal is None:
                self._refuse(done.refusal)
            return
        mark = mark_of(done.outcome.result) if done.over else Mark.WARNING
        left = text("undone, except for a file that is gone")
        done_words = text("undone") if done.outcome.result is Result.MODIFIED else text("nothing was left to undo")
        self.pill.show_status(mark, self._words(done_words if done.over else left))

    def settle(self) -> None:
        """It is over: what was not come to stands."""
        if not self._settled and self._one.refusal is None:
            self.pill.show_status(Mark.INFO, self._words(text("still in effect")))

    def _refuse(self, refusal: UndoRefusal) -> None:
        words = self._words
        self.pill.show_status(Mark.WARNING, words(text("not undone")))
        self._said.addWidget(paragraph(sentence_case(words(refusal.reason)), "", self))
        if refusal.three_way is not None:
            self._said.addWidget(ThreeWayView(words, refusal.three_way, self))
        self._said.addWidget(paragraph(words(said.what_to_do(self._one, refusal)), "muted", self))


def _what_will_be(plan: UndoPlan) -> Text:
    if all(file.edit is None for file in plan.files):
        return text("nothing to undo")
    edited = any(file.edited or file.passed_over for file in plan.files)
    return text("will be merged") if edited else text("will be undone")


class OwnDataCard(Card):
    """What gpuassist keeps for itself, with sizes, and why some of it stays."""

    def __init__(self, words: Words, parent: QWidget, *, home: str) -> None:
        super().__init__(words(text("gpuassist's own data")), parent=parent)
        self._words, self._home = words, home
        self._rows: list[QWidget] = []

    def show_state(self, state: OwnState) -> None:
        lines = [(said.part_line(part), "") for part in state.deletable] if state.stays is None else []
        self._show([*lines, *((note, "muted") for note in said.state_notes(state))])

    def show_deleted(self, deleted: tuple[DeletedPart, ...]) -> None:
        self._show([(said.deleted_line(one), "") for one in deleted])

    def _show(self, lines: list[tuple[Text, str]]) -> None:
        for row in self._rows:
            row.hide()
            row.deleteLater()
        self._rows = [paragraph(self._words(line), role, self) for line, role in lines]
        for row in self._rows:
            self.body.addWidget(row)
        self.setVisible(bool(lines))
