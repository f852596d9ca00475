"""The pages, each made when it is first shown; the live one waits until the plot's libraries are there."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING

from PySide6 import QtCore, QtGui, QtSvg, QtWidgets
from PySide6.QtCore import QObject, QSize, QTimer, Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QWidget

from gpuassist.model.text import Text, text
from gpuassist.present.marks import Mark
from gpuassist.session.navigation import TITLES, Destination, Errand, GoTo, Place, WayOn, WizardStep
from gpuassist.ui.jobs import Control, Failed, Jobs
from gpuassist.ui.pace import InTurns, Step
from gpuassist.ui.page import Bar, Desk, Page
from gpuassist.ui.pages.machine.page import MachinePage

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection


# Imports what will be needed soon on one thread of the pool: on the GUI thread the plot alone would stop it for 0.3 s. Every
# class of Qt has to be there before it begins, because it names them while the GUI thread does.


_log = logging.getLogger(__name__)
_CARDS = "gpuassist.ui.pages.machine.cards"

_LONG_MILLISECONDS = 2_000  # for a machine to be read


class WarmUp(QObject):
    """Started after the first answer, which it would be in the way of; done whether the imports worked or not, the page itself then
    says what is missing.
    """

    done = Signal()

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._classes: InTurns | None = None
        self._dropped = False
        self._at_last = QTimer(self)
        self._at_last.setSingleShot(True)
        self._at_last.setInterval(_LONG_MILLISECONDS)
        self._at_last.timeout.connect(self.start)
        self.is_done = False

    def start_at_last(self) -> None:
        """Starts where nobody has after a while: the answer takes long."""
        self._at_last.start()

    @Slot()
    def start(self) -> None:
        """Makes Qt's classes in turns of this thread, and then imports on another; it is asked by whoever needs it first."""
        self._at_last.stop()
        if self._classes is None:
            self._classes = InTurns(self)
            self._classes.done.connect(self._import)
            self._classes.begin(classes_made())

    @property
    def under_way(self) -> bool:
        return self._classes is not None and not (self.is_done or self._dropped)

    def drop(self) -> None:
        """Begins nothing more."""
        self._dropped = True
        self._at_last.stop()

    @Slot()
    def _import(self) -> None:
        if not self._dropped:
            self._jobs.start(_import, self).finished.connect(self._end)

    @Slot(object)
    def _end(self, result: object) -> None:
        if isinstance(result, Failed):
            _log.info("the plot's libraries could not be imported: %s", result.error)
        self.is_done = True
        self.done.emit()


def _import(control: Control) -> None:
    importlib.import_module(_CARDS)
    for place in TITLES:
        if not control.cancelled.is_set():
            page_class(place)


_NAMES_A_TURN = 12  # some 2 ms; a class takes at most 3


def classes_made() -> Iterator[Step]:
    """The steps that name every class of Qt's modules that nothing has named yet; for the GUI thread, while no other names any.

    PySide6 makes a class when it is first named, running Python as it does so. Another thread that names the class meanwhile can
    get half of it, and an object of that crashes the process in `PySide::MetaObjectBuilder::update` (seen with 6.11.3, once in some
    300 starts, while pyqtgraph was imported on a thread, which names every class; the plot was made of it then). Making all of them
    takes 0.1 to 0.2 s.
    """
    modules = (QtCore, QtGui, QtWidgets, QtSvg)
    missing = [(module, name) for module in modules for name in dir(module) if name not in vars(module)]
    for begin in range(0, len(missing), _NAMES_A_TURN):
        yield partial(_make, missing[begin : begin + _NAMES_A_TURN])


def _make(names: Sequence[tuple[ModuleType, str]]) -> None:
    for module, name in names:
        getattr(module, name, None)


def page_class(place: Place) -> type[Page]:
    """The page of a place: of the module in `ui/pages` with its name, or of `page.py` in the package. Some are heavy to import."""
    name = f"gpuassist.ui.pages.{place.value.replace('-', '_')}"
    module = importlib.import_module(name)
    if hasattr(module, "__path__"):
        module = importlib.import_module(f"{name}.page")
    classes = (one for one in vars(module).values() if isinstance(one, type) and issubclass(one, Page))
    return next(one for one in classes if getattr(one, "STEP", None) is place)


class PageStack(QStackedWidget):
    """Shows one page, and tells all of them what was read."""

    asked = Signal(object)
    bar_changed = Signal()

    def __init__(self, desk: Desk, parent: QWidget | None = None, *, left: Mapping[Place, object] | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._left = dict(left or {})  # by the pages of a window in another language
        self._inspection: Inspection | None = None
        self._behind: list[Place] = []  # pages that do not know yet what was read last
        self._handing = InTurns(self)
        self._reading = ""  # what is said while the machine is read again after a change
        self._pages: dict[Place, Page] = {}
        self._shown: tuple[Place, Errand | None] = (WizardStep.MACHINE, None)
        self.warm_up = WarmUp(desk.jobs, self)
        self.warm_up.done.connect(self._show_what_waited)
        self._waiting: QWidget | None = None

    @property
    def focused(self) -> QWidget | None:
        return self.window().focusWidget()

    def take_focus(self) -> None:
        shown = self.currentWidget()
        if isinstance(shown, Page):
            shown.take_focus()

    @property
    def machine_page(self) -> MachinePage:
        """The first page, which also shows how reading goes."""
        page = self.page(WizardStep.MACHINE)
        assert isinstance(page, MachinePage)
        return page

    def page(self, place: Place) -> Page:
        """The page of a place, made when it is first asked for; it knows what was read."""
        self._hand(place)
        if place not in self._pages:
            left = self._left.pop(place, None)
            self.take(page_class(place).in_place_of(self._desk, self, left))
            if left is not None:
                self._pages[place].take_up(left)
        return self._pages[place]

    def take(self, page: Page) -> None:
        """Takes a page in as that of its place."""
        page.asked.connect(self.asked)
        page.bar_changed.connect(self.bar_changed)
        page.setAccessibleName(self._desk.words(TITLES[page.STEP]))
        self._pages[page.STEP] = page
        self.addWidget(page)
        if self._inspection is not None:
            page.show_inspection(self._inspection)
        if self._reading:
            page.show_reading(self._reading)

    def show_place(self, place: Place, errand: Errand | None) -> None:
        """Shows the page of a place, opened for an errand; one that is done does not open it anew."""
        before, self._shown = self._shown, (place, errand)
        page = self._pages.get(place)
        stands = place is before[0] and page is not None and self.currentWidget() is page
        if not stands or (errand is not None and errand != before[1]):
            self._show()

    def unless_shown(self, way: WayOn | None) -> WayOn | None:
        """None where all that it leads to is shown now."""
        shown = self.currentWidget()
        leads = way is not None and not (way.destination and isinstance(shown, Page) and shown.shows(way.destination))
        return way if leads else None

    def open_again(self, destination: Destination) -> None:
        """Opens the page that is shown for what it was opened for before: something else is shown there since."""
        shown = self.currentWidget()
        if isinstance(shown, Page) and not isinstance(destination, GoTo):
            shown.arrive(destination)

    def show_reading(self, words: str) -> None:
        """The machine is read again because something was written; empty once that has ended, well or not."""
        self._reading = words
        for page in self._pages.values():
            page.show_reading(words)

    def show_inspection(self, inspection: Inspection) -> None:
        """Shows what was read: at once on the page that is seen, and on those that tell how their steps stand; the others are
        handed it in turns of the event loop, or when they are asked for.
        """
        self._inspection = inspection
        self._behind = list(self._pages)
        shown = self.currentWidget()
        for place, page in self._pages.items():
            if page is shown or page.MARKS:
                self._hand(place)
        self.show_reading("")
        self._handing.begin_later(partial(self._hand, place) for place in tuple(self._behind))

    def _hand(self, place: Place) -> None:
        if place in self._behind and self._inspection is not None:
            self._behind.remove(place)
            self._pages[place].show_inspection(self._inspection)

    @property
    def handing(self) -> bool:
        """Whether some page does not know yet what was read last."""
        return bool(self._behind)

    def minimumSizeHint(self) -> QSize:
        """Of the page that is shown; the others have their time."""
        shown = self.currentWidget()
        return shown.minimumSizeHint() if shown is not None else QSize()

    def under_way(self) -> tuple[Text, ...]:
        """What runs, and would end with its page."""
        return tuple(words for page in self._pages.values() if (words := page.under_way()) is not None)

    def left(self) -> dict[Place, object]:
        """What the pages of another language go on with."""
        told = {place: page.left() for place, page in self._pages.items()}
        return {**self._left, **{place: left for place, left in told.items() if left is not None}}

    def bar(self) -> Bar:
        shown = self.currentWidget()
        return shown.bar() if isinstance(shown, Page) else Bar()

    def close_down(self) -> None:
        self.warm_up.drop()
        self._behind.clear()
        for page in self._pages.values():
            page.close_down()

    def _wait(self) -> QWidget:
        if self._waiting is None:
            from gpuassist.ui.widgets.cards import EmptyState  # hardly ever seen: the imports take a third of a second

            words = self._desk.words
            self._waiting = EmptyState(Mark.BUSY, words(text("One moment")), words(text("The plot is being prepared.")), self)
            self.addWidget(self._waiting)
        return self._waiting

    def _show(self) -> None:
        place, errand = self._shown
        waits = place is WizardStep.LIVE and not self.warm_up.is_done
        if waits:
            self.warm_up.start()
        wanted: QWidget = self._wait() if waits else self.page(place)
        before, focused = self.currentWidget(), self.focused
        had_focus = focused is not None and self.isAncestorOf(focused)
        fresh = wanted.focusWidget() is None
        if isinstance(before, Page) and before is not wanted:
            before.leave()
        self.setCurrentWidget(wanted)
        given = self.focused  # by Qt: to what had it there before, else to whatever Tab comes to first
        if isinstance(wanted, Page):
            if self._reading and before is not wanted:
                wanted.show_reading(self._reading)
            wanted.arrive(errand)
            first = fresh and before is not wanted and self.focused is given
            if had_focus and (first or given is None or not given.isVisible()):
                wanted.take_focus()

    @Slot()
    def _show_what_waited(self) -> None:
        if self._waiting is not None and self.currentWidget() is self._waiting:
            self._show()
            self.bar_changed.emit()
