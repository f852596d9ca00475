"""The set-up below the pages: judged off the GUI thread when a machine was read, shown as fits the place, hidden where wished."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.session.navigation import Destination, Flow, Place, SideTool, StepStatus, WizardStep
from gpuassist.ui.jobs import Done, Failed, Latest
from gpuassist.ui.page import Desk
from gpuassist.ui.widgets.keys import tab_stops
from gpuassist.ui.widgets.layouts import MARGIN, by_text

if TYPE_CHECKING:
    from gpuassist.context import Session
    from gpuassist.session.inspect import Inspection
    from gpuassist.session.setup_values import Setup, SetupRecord, SetupStage

_LED_TO = frozenset((WizardStep.MACHINE, WizardStep.FOUND, WizardStep.REPAIR, WizardStep.VERIFY, WizardStep.LIVE, SideTool.INSTALL))
_LOW = 240


class SetupCourse(QWidget):
    """Takes no room, and makes nothing, before a machine was judged, and where there is nothing to set up."""

    wanted = Signal(object)  # Destination

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._inspection: Inspection | None = None
        self._place: Place = WizardStep.MACHINE
        self._lead: Destination | None = None
        self._verified = StepStatus.TODO
        self._watched = False
        self._shown: tuple[object, ...] = ()
        self.made: QWidget | None = None
        self.setup: Setup | None = None
        self._closed = False
        self._looking = Latest(desk.jobs, self._show_looked, self)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(MARGIN, 8, MARGIN, 8)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.hide()

    @property
    def busy(self) -> bool:
        return self._looking.busy

    def show_inspection(self, inspection: Inspection) -> None:
        """A machine was read."""
        self._inspection, self._closed = inspection, False
        self._look()

    def show_flow(self, flow: Flow) -> None:
        """The user is somewhere, and pages have told how their steps stand."""
        lead, self._place = flow.lead(), flow.current
        self._lead = lead.destination if lead is not None else None
        verified, self._verified = self._verified, flow.state(WizardStep.VERIFY)
        watched, self._watched = self._watched, flow.state(WizardStep.LIVE) is StepStatus.RIGHT
        ended = verified is not self._verified and verified is StepStatus.BUSY
        if ended or (self._watched and not watched and self._waits_for_live()):
            self._look()
        self.settle()

    def close_down(self) -> None:
        self._looking.drop()

    def _look(self) -> None:
        inspection, session = self._inspection, self._desk.session
        if inspection is None:
            return
        watched = self._watched
        self._looking.ask(lambda _: _looked(session, inspection, watched=watched))

    def _waits_for_live(self) -> bool:
        """Live memory counts as seen once there is a driver by which anything can be seen."""
        from gpuassist.session.setup_values import SetupStageId, SetupStageState

        if self.setup is None or self.setup.recorded:
            return False
        seen = self.setup.stage(SetupStageId.LIVE).state is SetupStageState.DONE
        return not seen and self.setup.stage(SetupStageId.DRIVER).state is SetupStageState.DONE

    def _show_looked(self, result: Done | Failed) -> None:
        value = result.value if isinstance(result, Done) else None
        if value is not None:
            self.setup = value  # type: ignore[assignment]  # a Setup, whose module may not be imported here
            self.settle()

    def settle(self) -> None:
        """Makes what is to be shown here, where that is something else than what is."""
        if self.setup is None:
            return
        setup, place = self.setup, self._place
        kind = self._kind(setup, place)
        now = setup.now
        here = kind == "line" and now is not None and place is now.destination.place
        wanted = (kind, setup, here or (bool(kind) and now is not None and self._is_lead(now)))
        if wanted == self._shown:
            return
        self._shown = wanted
        focused = self.made is not None and self.made.isAncestorOf(self.window().focusWidget())
        if self.made is not None:
            self.made.hide()
            self.made.deleteLater()
            self.made = None
        if kind:
            self.made = self._make(kind, setup, leads=not wanted[2])
            self._column.addWidget(self.made)
            self.made.show()  # a layout that is seen shows it only after a turn, in which there would be none
        self.setVisible(bool(kind))
        if focused and self.made is not None:
            for stop in tab_stops(self.made)[:1]:
                stop.setFocus()

    def _is_lead(self, now: SetupStage) -> bool:
        """Whether the blue button leads there."""
        from gpuassist.ui.widgets.setup_strip import way_of

        return way_of(now).destination == self._lead

    def _kind(self, setup: Setup, place: Place) -> str:
        first = place is WizardStep.MACHINE
        other = self._inspection is not None and self._inspection.host  # nothing there is installed or verified from here
        if other or not setup.gpus:
            return ""
        if setup.now is None:
            return "done" if first and not (setup.recorded or setup.closed or self._closed) else ""
        if setup.hidden:
            return "fold" if first else ""
        return "strip" if first and not self._is_low() else "line" if place in _LED_TO else ""

    def _is_low(self) -> bool:
        """Whether the window is too low for a page above the whole of it, as with very large text on a small screen."""
        return self.window().height() < by_text(_LOW)

    def _make(self, kind: str, setup: Setup, *, leads: bool) -> QWidget:
        """`leads` where its button goes elsewhere than the page and the blue button."""
        from gpuassist.ui.widgets.setup_strip import SetupDone, SetupFold, SetupLine, SetupStrip

        words = self._desk.words
        if kind == "done":
            done = SetupDone(words, setup, self)
            done.closed.connect(self._close)
            self._note(_closed)
            return done
        if kind == "fold":
            fold = SetupFold(words, setup, self)
            fold.wanted.connect(self._unfold)
            return fold
        if kind == "line":
            line = SetupLine(words, setup, self, leads=leads)
            line.wanted.connect(self.wanted)
            return line
        strip = SetupStrip(words, setup, self, leads=leads)
        strip.wanted.connect(self.wanted)
        strip.fold_wanted.connect(self._fold)
        return strip

    def _note(self, change: Callable[[SetupRecord], SetupRecord]) -> None:
        session = self._desk.session
        if self.setup is not None and not self.setup.recorded:
            self._desk.jobs.start(lambda _: _changed(session, change), self)

    @Slot()
    def _close(self) -> None:
        self._closed = True
        self.settle()

    @Slot()
    def _fold(self) -> None:
        self._hide(hidden=True)

    @Slot()
    def _unfold(self) -> None:
        self._hide(hidden=False)

    def _hide(self, *, hidden: bool) -> None:
        from msgspec.structs import replace

        if self.setup is None:
            return
        self.setup = replace(self.setup, hidden=hidden)
        self._note(lambda record: replace(record, hidden=hidden))
        self.settle()


# On the job's thread, which imports what the strip is made of.


def _looked(session: Session, inspection: Inspection, *, watched: bool) -> Setup:
    import gpuassist.ui.widgets.setup_strip  # noqa: F401 -- for the GUI thread, which is not to wait for it
    from gpuassist.session import setup_record
    from gpuassist.session.setup import note_setup
    from gpuassist.session.setup_values import SetupStageId, SetupStageState

    setup = note_setup(session, inspection)
    driver = setup.stage(SetupStageId.DRIVER).state
    if watched and not inspection.recorded and driver is SetupStageState.DONE and setup_record.live_was_seen(session.world):
        setup = note_setup(session, inspection)
    return setup


def _changed(session: Session, change: Callable[[SetupRecord], SetupRecord]) -> None:
    from gpuassist.session import setup_record

    record, _ = setup_record.load(session.world)
    setup_record.save(session.world, change(record))


def _closed(record: SetupRecord) -> SetupRecord:
    from msgspec.structs import replace

    return replace(record, closed=True)
