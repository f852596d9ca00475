"""Install: a driver, a toolkit or torch for every GPU of the machine; planned, looked at, run step by step, and taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QWidget

from gpuassist.install.records import Install
from gpuassist.install.resume import Waiting, waiting
from gpuassist.install.what_if import Choices, choices
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.text import Text, text
from gpuassist.present.commands import copied
from gpuassist.present.elsewhere import cannot_be_changed
from gpuassist.present.install import plan_title
from gpuassist.present.marks import Mark
from gpuassist.present.what_if import in_plain_words
from gpuassist.session.install import Course, earlier_installs, plan_wish
from gpuassist.session.navigation import Destination, Errand, GoTo, SideTool, ToInstall, ToProject, ToWaitingInstall, WizardStep
from gpuassist.session.plan import ANY, InstallWish
from gpuassist.ui import clipboard
from gpuassist.ui.jobs import Done, Failed, Latest
from gpuassist.ui.leads import mends_worst, way_to
from gpuassist.ui.page import Bar, Desk, Page, new_action
from gpuassist.ui.pages.install.cards import EarlierCard, WaysCard
from gpuassist.ui.pages.install.choices import InstallChoices
from gpuassist.ui.pages.install.steps import InstallSteps
from gpuassist.ui.pages.what_if.answer import WordsCard
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import EmptyState, Notice
from gpuassist.ui.widgets.keys import tab_stops, tab_through
from gpuassist.ui.widgets.layouts import widgets_in
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.wording import reason_of, sentence_case

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection

_PAUSE_MILLISECONDS = 60
_OFFERS = (
    (text("torch"), InstallWish(torch=ANY)),
    (text("CUDA toolkit"), InstallWish(toolkit=ANY)),
    (text("NVIDIA driver"), InstallWish(driver=ANY)),
)


class _OnRecord(Struct, frozen=True):
    """What stands on record: the install that waits, and those that could be taken back."""

    waits: Waiting | None
    earlier: tuple[Install, ...]


class InstallPage(Page):
    """Plans whenever something is chosen; what changes the machine is begun by a button, looked at and confirmed."""

    STEP = SideTool.INSTALL

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self._machine: Machine | None = None
        self._recorded, self._host = False, ""
        self.outlook: Outlook | None = None
        self._planning = Latest(desk.jobs, self._show_planned, self, pause_milliseconds=_PAUSE_MILLISECONDS)
        self._listing = Latest(desk.jobs, self._show_choices, self)
        self._recalling = Latest(desk.jobs, self._show_on_record, self)
        self._copy = new_action(self, desk.words(text("Copy the plan")), self._copy_plan)
        self._another = new_action(self, desk.words(text("Plan something else")), self._plan_anew)
        self._way = way_to(GoTo(WizardStep.VERIFY))  # from an install that is done
        self._on = new_action(self, desk.words(self._way.title), self._lead_on)
        words = self.desk.words
        scroll = self.fill_with_scroll()
        self._scroll, self._header = scroll, scroll.header
        self._strip = ProgressStrip(self)
        self._header.put_beside(self._strip)
        self._waits = self._waiting_notice()
        self._trouble = Notice(Mark.PROBLEM, "", self)
        self.choices = InstallChoices(words, self)
        self.choices.changed.connect(self._choose)
        self._nothing = EmptyState(Mark.TODO, "", "", self, icon=desk.session.world.resources.read("icons/install.svg"))
        self._nothing.buttons.addStretch(1)
        for title, wish in _OFFERS:
            self._nothing.buttons.addWidget(self._offer(words(title), wish))
        self.open_project = small(words(text("A project’s folder…")), self)
        self.open_project.clicked.connect(self._open_project)
        self._nothing.buttons.addWidget(self.open_project)
        self._nothing.buttons.addStretch(1)
        self._blocked = WordsCard(words, words(text("What prevents it")), self)
        self._ways = WaysCard(words, self)
        self._ways.chosen.connect(self._show_way)
        self.steps = InstallSteps(self.desk, scroll, self)
        self.steps.changed.connect(self._show_course)
        self.steps.told.connect(self._tell)
        self.steps.asked.connect(self.asked)
        self._notes = WordsCard(words, words(text("Good to know")), self)
        self._unknown = WordsCard(words, words(text("Not known, and could change the answer")), self)
        self._earlier = EarlierCard(words, self)
        self._earlier.back_wanted.connect(self.steps.ask_way_back)
        self._trouble.hide()
        top = (self._waits, self._trouble, self.choices, self._nothing, self._blocked, self._ways)
        for one in (*top, self.steps, self._notes, self._unknown, self._earlier):
            scroll.content.addWidget(one)
        self._listing.ask(lambda _: choices(desk.session))
        self._show_nothing()

    def bar(self) -> Bar:
        if self.steps.under_way:
            primary = self._on if self.steps.is_done else self.steps.primary
            return Bar((*self.steps.beside, *(() if self.steps.busy else (self._another,))), "", primary)
        if self.outlook is None:
            return Bar((), self.desk.words(text("Preview only: nothing is changed.")))
        note = text("Nothing is changed until you confirm a step.")
        if self._recorded:
            note = cannot_be_changed(self._host)
        return Bar((*self.steps.beside, self._copy), self.desk.words(note), self.steps.primary if self.outlook.steps else None)

    def show_inspection(self, inspection: Inspection) -> None:
        self._machine, self._recorded, self._host = inspection.machine, inspection.recorded, inspection.host
        self._way = mends_worst(inspection.answers, inspection.machine) or way_to(GoTo(WizardStep.VERIFY))
        self._on.setText(self.desk.words(self._way.title))
        self.steps.show_machine(inspection.machine, recorded=inspection.recorded, host=inspection.host)
        if not self.steps.under_way:
            self._plan()
        self._recall()

    def shows(self, destination: Destination) -> bool:
        if isinstance(destination, ToInstall):
            return self.steps.under_way or (self.outlook is not None and self.choices.wish == destination.wish)
        return super().shows(destination)

    def arrive(self, errand: Errand | None) -> None:
        if isinstance(errand, ToWaitingInstall):
            self._go_on()
        elif isinstance(errand, ToInstall) and not self.steps.under_way:
            self.choices.open_for(errand.wish)
        self._recall()

    def under_way(self) -> Text | None:
        return text("an install") if self.steps.busy else None

    def left(self) -> ToWaitingInstall | ToInstall | None:
        if self.steps.under_way and self.steps.primary.isEnabled():
            return ToWaitingInstall()
        return ToInstall(self.choices.wish) if self.choices.wish.goals else None

    def close_down(self) -> None:
        for work in (self._planning, self._listing, self._recalling):
            work.drop()
        self.steps.close_down()

    @property
    def busy(self) -> bool:
        return self._planning.busy or self._listing.busy or self._recalling.busy or self.steps.busy

    def _waiting_notice(self) -> Notice:
        words = self.desk.words
        made = Notice(Mark.INFO, "", self)
        on = small(words(text("Continue")), made)
        on.clicked.connect(self._go_on)
        give_up = small(words(text("Give it up")), made)
        give_up.clicked.connect(self._give_up_waiting)
        for button in (on, give_up):
            made.buttons.addWidget(button)
        made.hide()
        return made

    def _offer(self, title: str, wish: InstallWish) -> QWidget:
        made = small(title, self)
        made.clicked.connect(lambda: self.choices.open_for(wish))
        return made

    @Slot()
    def _open_project(self) -> None:
        """What a project's own files need is another question than what the machine shall have: its page answers it."""
        self.desk.asking.open_directory(
            self, self.desk.words(text("The folder of a project")), lambda path: self.asked.emit(ToProject(path)) if path else None
        )

    # Planning

    @Slot()
    def _choose(self) -> None:
        self._trouble.hide()
        self._plan()

    def _plan(self) -> None:
        session, machine, wish = self.desk.session, self._machine, self.choices.wish
        if machine is None or not wish.goals:
            self._planning.drop()
            self._strip.end()
            self._show_nothing()
            return
        self._strip.begin(self.desk.words(text("Planning…")))
        self._planning.ask(lambda _: plan_wish(session, machine, wish))

    def _show_choices(self, result: Done | Failed) -> None:
        if isinstance(result, Done) and isinstance(result.value, Choices):
            self.choices.show_choices(result.value)
        elif isinstance(result, Failed):
            self._tell((Mark.PROBLEM, reason_of(self.desk.words, result.error)))

    def _show_planned(self, result: Done | Failed) -> None:
        self._strip.end()
        if isinstance(result, Failed):
            self._show_nothing()
            self._tell((Mark.PROBLEM, reason_of(self.desk.words, result.error)))
        elif isinstance(result.value, Outlook) and not self.steps.under_way:
            self._show_outlook(result.value)

    def _show_outlook(self, found: Outlook) -> None:
        self.outlook = found
        self._nothing.hide()
        self._blocked.show_words_of(found.blocked_by)
        self._ways.show_ways(found.ways)
        self._unknown.show_words_of(found.undetermined)
        self._show_way(0)

    @Slot(int)
    def _show_way(self, place: int) -> None:
        found = self.outlook
        if found is None:
            return
        way = found.ways[place] if place < len(found.ways) else None
        steps = way.steps if way is not None else found.steps
        self.outlook = replace(found, steps=steps)
        self._header.show_words(
            self.desk.words(plan_title(self.outlook, self.choices.wish)), self.desk.words(self._about(found.goal))
        )
        self._notes.show_words_of((*found.notes, *(way.notes if way is not None and len(found.ways) == 1 else ())))
        self.steps.show_plan(Course(found.goal, self.choices.wish.goals, steps))
        tab_through((self.choices.no_root, *tab_stops(self._ways), *tab_stops(self.steps)))
        self.bar_changed.emit()

    def _about(self, goal: Text) -> Text:
        if self._host:
            return text("{goal} on {host}", goal=goal, host=self._host)
        if self._recorded:
            return text("{goal} on the recorded machine", goal=goal)
        return text("{goal} on this machine", goal=goal)

    def _show_nothing(self) -> None:
        words = self.desk.words
        self.outlook = None
        self._header.show_words(words(text("Install")), words(text("A driver, a CUDA toolkit or torch that fits every GPU.")))
        if self._machine is None:
            title, rest = text("One moment"), text("The machine is being read.")
        else:
            title = text("What do you want to install?")
            rest = text("Choose above, or let gpuassist find the version that fits. You see every step before it is run.")
        self._nothing.show_words(Mark.TODO if self._machine is not None else Mark.BUSY, words(title), words(rest))
        for button in widgets_in(self._nothing.buttons):
            button.setVisible(self._machine is not None)
        self._nothing.show()
        self._ways.show_ways(())
        for card in (self._blocked, self._notes, self._unknown):
            card.show_words_of(())
        self.steps.show_plan(None)
        self.bar_changed.emit()

    @Slot()
    def _copy_plan(self) -> None:
        if self.outlook is not None:
            words = self.desk.words
            clipboard.copy(in_plain_words(self._about(self.outlook.goal), self.outlook, words))

    # Under way

    @Slot()
    def _show_course(self) -> None:
        """The steps changed: they are under way, or something came of them."""
        if self.steps.under_way:
            for one in (self.choices, self._nothing, self._blocked, self._ways, self._notes, self._unknown, self._waits):
                one.hide()
            self._header.show_words(self.desk.words(self.steps.title), self.desk.words(self.steps.goal))
            if not self.steps.busy:
                self._recall()
        elif self.choices.isHidden():  # nothing was begun after all
            self.choices.show()
            self._plan()
            self._recall()
        if self.steps.busy_words is None:
            self._strip.end()
        else:
            self._strip.begin(self.desk.words(self.steps.busy_words))
        self.bar_changed.emit()

    @Slot()
    def _plan_anew(self) -> None:
        self._trouble.hide()
        self.choices.show()
        self.steps.show_plan(None)
        self._plan()
        self._recall()

    @Slot()
    def _lead_on(self) -> None:
        """What was done is done: to what the machine asks for now, or to the proof."""
        if self._way.destination is not None:
            self.asked.emit(self._way.destination)
        else:
            clipboard.copy("\n".join(self._way.lines))
            self._tell((Mark.INFO, self.desk.words(copied(self._way.lines))))

    @Slot()
    def _go_on(self) -> None:
        if not self._recorded:
            self.steps.go_on()

    @Slot()
    def _give_up_waiting(self) -> None:
        self.steps.ask_to_give_up(str(self._waits.property("install")))

    def _recall(self) -> None:
        self._recalling.ask(lambda _: _OnRecord(waiting(self.desk.session), earlier_installs(self.desk.session)))

    def _show_on_record(self, result: Done | Failed) -> None:
        found = result.value if isinstance(result, Done) else None
        if not isinstance(found, _OnRecord):
            return
        shows = not self._recorded
        self._earlier.show_installs(found.earlier if shows and not self.steps.under_way else ())
        waits = found.waits if shows and not self.steps.under_way else None
        self._waits.setVisible(waits is not None)
        self.steps.show_waiting(waits)
        if waits is not None:
            self._waits.setProperty("install", waits.install.id)
            self._waits.show_words(Mark.INFO, sentence_case(self.desk.words(waits.words)))

    @Slot(object)
    def _tell(self, told: tuple[Mark, str]) -> None:
        mark, words = told
        self._trouble.show_words(mark, sentence_case(words))
        self._trouble.setVisible(bool(words))
        if words:
            self._recall()
            QTimer.singleShot(0, self._show_trouble)

    @Slot()
    def _show_trouble(self) -> None:
        self._scroll.ensureWidgetVisible(self._trouble)
