"""The frame: side list, pages, bottom bar. It pushes events into the flow and shows what comes out; pages do the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gpuassist.model.text import Text, enumerated, text
from gpuassist.session.file_places import place_of_file
from gpuassist.session.navigation import (
    TITLES,
    Back,
    Destination,
    Event,
    Flow,
    GoTo,
    Marked,
    Next,
    Place,
    ReadingFailed,
    ReadingStarted,
    SideTool,
    StepStatus,
    ToProject,
    ToWaitingInstall,
    WizardStep,
    follow,
)
from gpuassist.ui.clipboard import dropped_file, is_folder
from gpuassist.ui.focus import FocusKeeper
from gpuassist.ui.jobs import Done, Failed, Latest
from gpuassist.ui.machine_reader import MachineReading, ShownMachine
from gpuassist.ui.on_record import OnRecord, on_record
from gpuassist.ui.pace import InTurns
from gpuassist.ui.page import Desk, Leave, OpenExample, OpenRecording, ReadAgain, Wrote
from gpuassist.ui.page_stack import PageStack
from gpuassist.ui.page_terms import PageTerms
from gpuassist.ui.setup_course import SetupCourse
from gpuassist.ui.shortcuts import ROW_KEYS, page_beside
from gpuassist.ui.theme import Appearance
from gpuassist.ui.widgets.banners import Banners
from gpuassist.ui.widgets.bottom_bar import BottomBar
from gpuassist.ui.widgets.buttons import is_primary
from gpuassist.ui.widgets.keys import press_focused, reading_order, tab_through
from gpuassist.ui.widgets.layouts import add_layout, bare
from gpuassist.ui.widgets.scroll_page import ScrollColumn, ScrollWhole
from gpuassist.ui.widgets.side_list import WIDTH, Foot, SideList

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection
    from gpuassist.ui.first_reading import FirstReading

_SIDE_PART = 0.4  # of the window, at most
_ROOM_MILLISECONDS = 50  # for the first page's cards to be made and painted, one a turn


class Handover(Struct, frozen=True):
    """What a window that is made anew in another language goes on with: its place, the machine, and what its pages left."""

    place: Destination
    machine: ShownMachine
    pages: Mapping[Place, object]


class Frame(QWidget):
    """All of the window: five steps, and tools beside them. Nothing is ever read on this thread.

    A file dropped on it is explained, a recorded machine, recorded memory and a memory snapshot are opened, a folder is judged as a
    project.
    """

    appearance_chosen = Signal(object)  # Appearance
    language_chosen = Signal(str)  # empty for the desktop's
    place_changed = Signal(object)  # Destination
    leaving = Signal()  # close the window, and keep nothing of it

    def __init__(
        self,
        desk: Desk,
        *,
        machine_file: str = "",
        start: Destination | None = None,
        appearance: Appearance,
        language: str = "",
        handover: Handover | None = None,
        first: FirstReading | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._desk = desk
        self._machine_file = machine_file
        self._handover = handover
        self._first = first
        start = handover.place if handover is not None else start
        self._wanted: Destination | None = start or GoTo(WizardStep.MACHINE)  # until the facts are there that its page needs
        self.flow = Flow()
        self._after_paint = QTimer(self)
        self._after_paint.setSingleShot(True)
        self._after_paint.setInterval(_ROOM_MILLISECONDS)
        self._after_paint.timeout.connect(self._go_where_wanted)
        self._reading = MachineReading(desk.session, desk.jobs, self, other=desk.other)
        self._recalling = Latest(desk.jobs, self._show_recalled, self)
        words = self._desk.words
        self.side = SideList(words, desk.session.world.resources, self)
        self._foot = Foot(words, appearance, desk.session.world.resources, self.side, language=language)
        self.side.take_in(self._foot)
        self.banners = Banners(words, self, host=desk.other.host if desk.other is not None else "")
        self.pages = PageStack(self._desk, self, left=handover.pages if handover is not None else None)
        self.bar = BottomBar(self, words=words)
        self.setup = SetupCourse(self._desk, self)
        self.setup.wanted.connect(self.go)
        right = bare(QVBoxLayout(), 0)
        right.addWidget(self.banners)
        right.addWidget(ScrollWhole(self.pages, self), 1)
        right.addWidget(self.setup)  # it comes when the page stands: from below it moves nothing that is being read
        right.addWidget(self.bar)
        whole = bare(QHBoxLayout(self), 0)
        self._beside = ScrollColumn(self.side, self)
        whole.addWidget(self._beside)
        add_layout(whole, right, 1)
        self.side.chosen.connect(self._choose)
        self.side.passed.connect(self.pages.take_focus)
        self._foot.appearance_chosen.connect(self.appearance_chosen)
        self._foot.language_chosen.connect(self.language_chosen)
        self.banners.language_wanted.connect(self.language_chosen)
        self._foot.help_wanted.connect(self._show_help)
        self.banners.live_wanted.connect(self._reading.read_live)
        self.banners.go_on_wanted.connect(self._go_on_with_install)
        self.banners.again_wanted.connect(self._reading.again)
        self._reading.started.connect(self._reading_started)
        self._reading.progressed.connect(self._reading_progressed)
        self._reading.ended.connect(self._reading_ended)
        self._reading.failed.connect(self._reading_failed)
        self.pages.asked.connect(self._answer)
        self.pages.bar_changed.connect(self._show_bar)
        self._back = self._action(self._desk.words(text("Back")), "Alt+Left", self._go_back)
        self._next = self._action("", "Alt+Right", self._go_on)
        self._mend = self._action("", "", self._take_lead)
        self._action("", "Ctrl+R", self._reading.again)
        self._action("", "F1", self._show_help)
        self._terms = PageTerms(self.pages, desk, self)
        self._terms.wanted.connect(self._answer)
        self._later = InTurns(self)  # after the page is made
        for key in ("Ctrl+Return", "Ctrl+Enter"):  # Enter is the key of the number pad
            self._action("", key, self._press_blue)
        for keys in ("Ctrl+W", "Ctrl+Q"):
            self._action("", keys, lambda: self.window().close())
        for keys, place in zip(ROW_KEYS, (*WizardStep, *SideTool), strict=False):  # an eleventh row has no key
            self._action("", keys, partial(self._choose_by_key, place))
        for keys, rows in (("Ctrl+PgDown", 1), ("Ctrl+PgUp", -1)):
            self._action("", keys, partial(lambda rows: self._choose(page_beside(self.flow, rows)), rows))
        self._content = (self.banners, self.pages, self.setup, self.bar)
        self._keeper = FocusKeeper(self._content, self.pages, self)
        self._show_flow()
        self.setAcceptDrops(True)

    def go(self, event: Event) -> None:
        """Follows an event of the flow and shows what comes of it."""
        before = self.flow
        self.flow = follow(before, event)
        arrived = self.flow.current is event.place if isinstance(event, Destination) else self.flow.current is not before.current
        if arrived:
            self._wanted = None  # the user is somewhere by choice
        if self.flow != before:
            self._show_flow()
        if (self.flow.current, self.flow.errand) != (before.current, before.errand):
            self.place_changed.emit(self.flow.errand or GoTo(self.flow.current))

    @Slot(object)
    def show_fault(self, trace: str) -> None:
        self.banners.show_fault(trace)

    def begin(self) -> None:
        """Shows the machine; what else will be needed is got ready after that, or while it takes long."""
        if self._handover is not None:
            self._reading.show(self._handover.machine)
        elif self._machine_file:
            self._reading.open_recording(self._machine_file)
        elif self._first is not None:
            self._reading.take(self._first)
        else:
            self._reading.read_live()
        self.pages.warm_up.start_at_last()

    def under_way(self) -> Text | None:
        """What would be lost if the window were made anew; none where nothing would."""
        return enumerated(map(self._desk.words, self.pages.under_way())) if self.pages.under_way() else None

    def handover(self) -> Handover:
        """What a window in another language goes on with."""
        left = self.pages.left()
        here, errand = self.flow.current, self.flow.errand
        wanted = self._wanted or (errand if errand is not None and here not in left else GoTo(here))
        return Handover(wanted, self._reading.shown, left)

    def focus_language(self) -> None:
        """Where the language was chosen."""
        self._foot.language.setFocus()

    def close_down(self) -> None:
        """The window closes, or another frame takes this one's place: whatever runs stops."""
        self._after_paint.stop()
        self._reading.drop()
        self._recalling.drop()
        self.setup.close_down()
        self.pages.close_down()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._beside.setMaximumWidth(max(WIDTH, int(self.width() * _SIDE_PART)))
        self.setup.settle()

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: FBT001 -- Qt's own signature
        """Tab: the side list is one stop, then what stands at the right as one reads it."""
        order = (*self.side.stops(), *(stop for part in self._content for stop in reading_order(part)))
        tab_through(order)
        return super().focusNextPrevChild(next)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_focused(self, event):
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_file(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = dropped_file(event.mimeData())
        event.acceptProposedAction()
        if is_folder(path):
            self.go(ToProject(path))
        elif (there := place_of_file(path, self.flow.current)) is not None:
            self.go(there)
        else:
            self._reading.open_recording(path)

    def _action(self, words: str, keys: str, slot: Callable[[], object]) -> QAction:
        action = QAction(words, self)
        action.setShortcut(keys)
        action.triggered.connect(slot)
        self.addAction(action)
        return action

    @Slot()
    def _show_flow(self) -> None:
        self.side.show_entries(self.flow.entries())
        self.pages.show_place(self.flow.current, self.flow.errand)
        self.side.show_place(self.flow.current)
        self.setup.show_flow(self.flow)
        if self.flow.current is SideTool.INSTALL:
            self.banners.show_waiting("")  # that page tells it itself
        self._show_bar()

    @Slot()
    def _show_bar(self) -> None:
        bar = self.pages.bar()
        after, lead = self.flow.next(), self.pages.unless_shown(None if bar.primary or bar.elsewhere else self.flow.lead())
        if after is not None:
            self._next.setText(bar.next_title or self._desk.words(TITLES[after]))
        if lead is not None:
            self._mend.setText(self._desk.words(lead.title))
            self._mend.setStatusTip("\n".join(lead.lines))
        ways = [self._back] if self.flow.back() is not None else []
        if after is not None and bar.primary is None and (lead is None or self.flow.way() != lead.destination):
            ways.append(self._next)
        blue = bar.primary if lead is None else self._mend
        if blue is not None:
            ways.append(blue)
        self._back.setEnabled(self.flow.back() is not None)
        self._next.setEnabled(after is not None)
        leads = bool(ways) and ways[-1] is not self._back and not (bar.inside and blue is None)
        self.bar.show_actions(bar.left, bar.note, tuple(ways), has_primary=leads)
        # Here, because pages change their bar when what they asked for has come: a file of ours is read when it is first needed.
        self.banners.show_damage(tuple(map(self._desk.words, self._desk.session.knowledge.noticed())))

    @Slot()
    def _press_blue(self) -> None:
        """The one obvious way on: of the page where it has one of its own, else of the bar."""
        for where in (self.pages, self.bar):
            blue = next(filter(is_primary, where.findChildren(QPushButton)), None)
            if blue is not None:
                blue.click()
                return

    @Slot(object)
    def _choose(self, place: Place) -> None:
        self.go(GoTo(place))

    def _choose_by_key(self, place: Place) -> None:
        self._choose(place)
        if not self.flow.enabled(place):
            self._wanted = GoTo(place)  # once the facts are there that it needs

    @Slot()
    def _go_back(self) -> None:
        self.go(Back())

    @Slot()
    def _go_on(self) -> None:
        self.go(Next())

    @Slot()
    def _take_lead(self) -> None:
        lead = self.flow.lead()
        if lead is None:
            return
        if lead.destination is not None:
            before = self.flow
            self.go(lead.destination)
            if self.flow == before:
                self.pages.open_again(lead.destination)
        else:
            self.bar.copy(lead.lines)

    @Slot(object)
    def _answer(self, wish: object) -> None:
        if isinstance(wish, ReadAgain):
            self._reading.again()
        elif isinstance(wish, Wrote):
            self._reading.read_what_was_changed()
        elif isinstance(wish, Leave):
            self.leaving.emit()
        elif isinstance(wish, OpenRecording):
            self._reading.open_recording(wish.path)
        elif isinstance(wish, OpenExample):
            self._reading.open_example(wish.name)
        elif isinstance(wish, Destination | Marked):
            self.go(wish)

    @Slot(object)
    def _reading_started(self, words: str) -> None:
        again = self._reading.after_write
        self.go(ReadingStarted(again))
        self.banners.show_stale("")
        if again:
            self.pages.show_reading(words)
        self.pages.machine_page.show_reading(words)

    @Slot(object)
    def _reading_progressed(self, words: str) -> None:
        self.pages.machine_page.show_progress(words)

    @Slot(object)
    def _reading_ended(self, inspection: Inspection) -> None:
        from gpuassist.ui.leads import reading_ended  # by now the job that read has imported all that it needs

        self.banners.show_recorded(inspection.recorded and not inspection.host)
        # First, because a page that still shows its own result marks its step anew.
        self.flow = follow(self.flow, reading_ended(inspection.machine, inspection.diagnosis, inspection.answers))
        self.pages.show_inspection(inspection)
        self.setup.show_inspection(inspection)
        self._show_flow()
        self._recalling.drop()
        self.banners.show_waiting("")
        if not inspection.recorded:
            self._recalling.ask(lambda _: on_record(self._desk))
        # After the paint, which a delay of 0 would come before: two pages made at once are 60 ms without an answer.
        self._after_paint.start()

    @Slot()
    def _go_where_wanted(self) -> None:
        if self._wanted is not None:
            self.go(self._wanted)
            self._wanted = None
        self._later.begin((self.pages.update, self._terms.get_ready, self.pages.warm_up.start))

    def _show_recalled(self, result: Done | Failed) -> None:
        if not isinstance(result, Done) or not isinstance(result.value, OnRecord):
            return
        if self.flow.current is not SideTool.INSTALL:
            self.banners.show_waiting(result.value.waiting)
        if result.value.changed and not self.flow.repairable and self.flow.state(WizardStep.REPAIR) is StepStatus.TODO:
            self.go(Marked(WizardStep.REPAIR, StepStatus.RIGHT))

    @Slot()
    def _go_on_with_install(self) -> None:
        self.go(ToWaitingInstall())

    @Slot(object)
    def _reading_failed(self, reason: str) -> None:
        self.pages.show_reading("")
        self.pages.machine_page.show_failure(reason)
        if self._reading.after_write:
            self.banners.show_stale(reason)
        self.go(ReadingFailed())
        self.pages.warm_up.start()

    @Slot()
    def _show_help(self) -> None:
        from gpuassist.ui.widgets.help import open_help  # not needed before somebody asks

        open_help(self._desk.words, self)
