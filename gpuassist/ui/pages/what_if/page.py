"""What if: other GPUs, driver, torch or toolkit, on this machine or an imagined one; what would fit, and what it would take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from gpuassist.install.what_if import NONE, Choices, Wish, choices, outlook
from gpuassist.model.finding import Answer
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.text import text
from gpuassist.present.marks import Mark
from gpuassist.present.what_if import answer, as_it_is, in_plain_words, slots
from gpuassist.session.navigation import Errand, SideTool, ToInstall, ToRepair, ToWhatIf, WayOn
from gpuassist.session.plan import InstallWish, toolkit_to_use
from gpuassist.ui import clipboard
from gpuassist.ui.jobs import Done, Failed, Latest
from gpuassist.ui.leads import mends_worst, way_to
from gpuassist.ui.page import Bar, Desk, Page, new_action
from gpuassist.ui.pages.what_if.answer import AnswerCards
from gpuassist.ui.pages.what_if.wishes import WishCard
from gpuassist.ui.widgets.cards import EmptyState, Notice
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.wording import reason_of, sentence_case

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection

_PAUSE_MILLISECONDS = 60  # what is chosen with the arrow keys held down is asked once


def installable(wish: Wish) -> InstallWish:
    """What of it can be installed here: the driver, the toolkit and torch that it names."""
    driver, toolkit, torch = ("" if value == NONE else value for value in (wish.driver, wish.toolkit, wish.torch))
    return InstallWish(driver, toolkit, torch)


class WhatIfPage(Page):
    """Asks the engine on a job whenever something is chosen; changes nothing."""

    STEP = SideTool.WHAT_IF

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self._machine: Machine | None = None
        self._answers: tuple[Answer, ...] = ()
        self._way: WayOn | None = None
        self.outlook: Outlook | None = None
        self._asking = Latest(desk.jobs, self._show_settled, self, pause_milliseconds=_PAUSE_MILLISECONDS)
        self._listing = Latest(desk.jobs, self._show_choices, self)
        self._reset = new_action(self, desk.words(text("Reset")), self._start_over, "Ctrl+L")
        self._copy = new_action(self, desk.words(text("Copy the answer")), self._copy_answer, "Ctrl+Shift+C")
        self._plan = new_action(self, desk.words(text("Plan this install")), self._plan_install, "Ctrl+I")
        words = self.desk.words
        scroll = self.fill_with_scroll()
        self._header = scroll.header
        self._strip = ProgressStrip(self)
        self._header.put_beside(self._strip)
        self.wishes = WishCard(words, self)
        self.wishes.changed.connect(self._ask)
        self._content = scroll.content
        self._content.addWidget(self.wishes)
        self._trouble: Notice | None = None
        self._nothing: EmptyState | None = None
        self._answer: AnswerCards | None = None
        new_action(self, desk.words(text("Add a GPU")), self._focus_search, "Ctrl+F")
        self._listing.ask(lambda _: choices(desk.session))
        self._ask()

    def bar(self) -> Bar:
        primary = self._plan if self._way is not None else None
        return Bar((self._reset, self._copy), self.desk.words(text("Preview only: nothing is changed.")), primary)

    def show_inspection(self, inspection: Inspection) -> None:
        self._machine, self._answers = inspection.machine, inspection.answers
        as_is = as_it_is(inspection.machine, inspection.chains)
        self.wishes.show_machine(slots(inspection.machine), as_is, recorded=inspection.recorded, host=inspection.host)
        self._ask()

    def arrive(self, errand: Errand | None) -> None:
        if isinstance(errand, ToWhatIf):
            self.wishes.open_for(errand.wish)

    def left(self) -> ToWhatIf:
        return ToWhatIf(self.wishes.wish)

    def close_down(self) -> None:
        self._asking.drop()
        self._listing.drop()

    @property
    def busy(self) -> bool:
        shows = self._answer is not None and self._answer.busy
        return self._asking.busy or self._listing.busy or shows

    @Slot()
    def _focus_search(self) -> None:
        self.wishes.search.setFocus()

    @Slot()
    def _start_over(self) -> None:
        self.wishes.reset()

    @Slot()
    def _copy_answer(self) -> None:
        if self.outlook is not None:
            clipboard.copy(in_plain_words(self.wishes.compared, self.outlook, self.desk.words))

    @Slot()
    def _plan_install(self) -> None:
        if self._way is not None and self._way.destination is not None:
            self.asked.emit(self._way.destination)
        elif self._way is not None:
            clipboard.copy("\n".join(self._way.lines))

    @Slot()
    def _ask(self) -> None:
        session, wish = self.desk.session, self.wishes.wish
        machine = self._machine if self.wishes.starts_from_machine else None
        self._reset.setEnabled(wish != Wish())
        self._strip.begin(self.desk.words(text("Checking…")))
        self._asking.ask(lambda _: outlook(session, wish, machine))

    def _show_choices(self, result: Done | Failed) -> None:
        if isinstance(result, Failed):
            self._show_trouble(reason_of(self.desk.words, result.error))
        elif isinstance(result.value, Choices):
            self.wishes.show_choices(result.value)

    def _show_settled(self, result: Done | Failed) -> None:
        self._strip.end()
        if isinstance(result, Failed):
            self._show_trouble(reason_of(self.desk.words, result.error))
        elif isinstance(result.value, Outlook):
            if result.value.before:
                self._show_outlook(result.value)
            else:
                words = self.desk.words
                about = text("See what would work with another GPU, driver or torch, before you buy or install it.")
                self._header.show_words(words(text("Compatibility check")), words(about))
                if self._nothing is None:
                    title, rest = (
                        text("No GPU is chosen"),
                        text("Add one above and choose what goes with it. The answer updates as you choose."),
                    )
                    icon = self.desk.session.world.resources.read("icons/what-if.svg")
                    self._nothing = EmptyState(Mark.TODO, words(title), words(rest), self, icon=icon)
                    self._content.addWidget(self._nothing)
                self._show_only(self._nothing, None)

    def _show_trouble(self, reason: str) -> None:
        words = self.desk.words
        self._header.show_words(words(text("This cannot be checked")), words(text("Choose another part above.")))
        if self._trouble is None:
            self._trouble = Notice(Mark.PROBLEM, "", self)
            self._content.addWidget(self._trouble)
        self._trouble.show_words(Mark.PROBLEM, sentence_case(reason))
        self._show_only(self._trouble, None)

    def _show_outlook(self, found: Outlook) -> None:
        words = self.desk.words
        self._header.show_words(words(answer(found)), words(self.wishes.compared))
        if self._answer is None:
            self._answer = AnswerCards(self.desk.words, self.wishes.last_stop, self)
            self._content.addWidget(self._answer)
        self._answer.show_outlook(found)
        self._show_only(self._answer, found)

    def _find_way(self, found: Outlook) -> WayOn | None:
        """A GPU that is not there yet is nothing that can be installed for, and neither is a machine that is imagined."""
        machine, wish = self._machine, self.wishes.wish
        if machine is None or not self.wishes.starts_from_machine or wish.gpus or found.blocked_by:
            return None
        wished, version = installable(wish), toolkit_to_use(found.steps[0]) if found.steps else ""
        if wished.goals:
            return way_to(ToInstall(wished))
        if version:
            return way_to(ToRepair(version))
        return mends_worst(self._answers, machine) if wish == Wish() else None

    def _show_only(self, shown: QWidget, found: Outlook | None) -> None:
        self.outlook = found
        self._way = self._find_way(found) if found is not None else None
        if self._way is not None:
            self._plan.setText(self.desk.words(self._way.title))
        self._plan.setEnabled(self._way is not None)
        self.bar_changed.emit()
        self._copy.setEnabled(found is not None)
        for one in (self._trouble, self._nothing, self._answer):
            if one is not None:
                one.setVisible(one is shown)
