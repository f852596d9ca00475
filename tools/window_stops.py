"""The stops of a walk through the window: each page in its main states, on machines of every kind, the long-named among them."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import cast

from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gpuassist.app import compose
from gpuassist.install.what_if import Wish
from gpuassist.model.machine import Machine, encode_machine
from gpuassist.model.text import verbatim
from gpuassist.model.words import ENGLISH, Words
from gpuassist.session.navigation import (
    Destination,
    GoTo,
    Place,
    SideTool,
    ToExplainText,
    ToGuide,
    ToInstall,
    ToProject,
    ToRepair,
    ToWhatIf,
    WizardStep,
)
from gpuassist.session.other_machine import OtherMachine
from gpuassist.session.plan import ANY, InstallWish
from gpuassist.session.verify_report import VerifyReport
from gpuassist.ui.dialogs import Asking
from gpuassist.ui.frame import Frame
from gpuassist.ui.jobs import Done, Jobs
from gpuassist.ui.page import Desk, Page
from gpuassist.ui.page_stack import classes_made
from gpuassist.ui.pages.holders.page import HoldersPage
from gpuassist.ui.pages.live.page import LivePage
from gpuassist.ui.pages.repair.page import RepairPage
from gpuassist.ui.pages.verify.page import VerifyPage
from gpuassist.ui.pages.verify.work import Ran
from gpuassist.ui.theme import Appearance, Theme
from gpuassist.ui.widgets.finding_card import FindingCard
from tests.pseudo import Pseudo
from tests.translations import shipped
from tests.ui.holders import Made, card, holder
from tests.ui.made import known
from tests.ui.pages.live_shown import HandFed
from tests.ui.test_other_machine import MadeOther
from tests.values import machine as machine_of
from tools.screenshots import OUT_OF_MEMORY
from tools.window_dialogs import Make, dialogs
from tools.window_files import estimate, profile, snapshot
from tools.window_machines import LONG, failed_verification, machines, made_sample

_PATIENCE_SECONDS = 20
_REST_MILLISECONDS = 100


class Breakable(Pseudo):
    """The tests' own language, whose sentences may break within what makes them longer, as those of a real one may."""

    def gettext(self, message: str) -> str:
        return re.sub("~{8}(?=~)", "~~~~~~~~ ", super().gettext(message))

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return re.sub("~{8}(?=~)", "~~~~~~~~ ", super().ngettext(msgid1, msgid2, n))


class Stand:
    """A window that is walked through: its application dressed, a frame in it, and dialogs in its place."""

    def __init__(self, application: QApplication, language: str) -> None:
        for step in classes_made():
            step()
        self.theme = Theme(application, Appearance.LIGHT)
        self.theme.write(language)
        words = Words("xx", Breakable()) if language == "xx" else shipped(language) if language != "en" else compose("en").words
        self.desk = Desk(replace(compose("en"), words=words), Jobs(), Asking())
        self.host = QWidget()
        self.host.show()
        self.shown: QWidget = self.host
        self.frame: Frame | None = None
        self.other: OtherMachine | None = None  # over ssh, instead of this one
        self._over: Make | None = None

    def __enter__(self) -> Stand:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
        self.desk.jobs.shutdown()
        self.host.deleteLater()
        self.theme.undress()

    def open(self, machine: Machine | None) -> Frame:
        """A new frame on this machine; on none it goes on reading."""
        self.close()
        frame = Frame(
            replace(self.desk, other=self.other), machine_file=_recorded(machine), appearance=Appearance.LIGHT, parent=self.host
        )
        self.frame = self.shown = frame
        frame.resize(self.host.size())
        frame.show()
        if machine is None:
            frame.pages.machine_page.show_reading(self.desk.words(verbatim("…")))
            frame.pages.warm_up.start()
        else:
            frame.begin()
        self.until(lambda: frame.pages.warm_up.is_done)
        self.until(lambda: machine is None or (frame.flow.inspected and not frame.setup.busy))
        return frame

    def close(self) -> None:
        self._over = None
        self._close_over()
        if self.frame is not None:
            self.until(lambda: self.frame is not None and self.frame.pages.warm_up.is_done)
            self.frame.close_down()
            self.frame.hide()
            self.frame.deleteLater()
            self.frame, self.shown = None, self.host
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    def lay_over(self, make: Make) -> None:
        """Shows something that is made anew for each size of the window, because what it opens as is its own choice."""
        self._over = make
        self._open_over()

    def _open_over(self) -> None:
        self._close_over()
        if self._over is not None:
            self.shown = self._over(self.host)
            self.shown.show()
            self.until(lambda: not getattr(self.shown, "busy", False))

    def _close_over(self) -> None:
        if self.shown is not self.host and self.shown is not self.frame:
            self.shown.close()
            self.shown.deleteLater()
            self.shown = self.host
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    def go(self, place: Destination) -> Page:
        """The page of a place, once it has done what it was opened for."""
        assert self.frame is not None
        self.shown = self.frame
        self.frame.go(place)
        page = self.frame.pages.page(self.frame.flow.current)
        read = self.frame.flow.inspected
        self.until(lambda: not getattr(page, "busy", False) and (not read or getattr(page, "is_complete", True)))
        return page

    def resize(self, width: int, height: int) -> None:
        self.host.resize(width, height)
        self._open_over()
        if not self.shown.isWindow():
            self.shown.resize(width, height)
        settle()

    def rest(self) -> None:
        QTest.qWait(_REST_MILLISECONDS)
        settle()

    def until(self, happened: Callable[[], bool]) -> None:
        began = time.monotonic()
        while not happened():
            if time.monotonic() - began > _PATIENCE_SECONDS:
                raise TimeoutError(f"the window did not settle at {self.frame.flow.current if self.frame else None}")
            QTest.qWait(5)
        settle()


def _recorded(machine: Machine | None) -> str:
    if machine is None:
        return ""
    place = Path(os.environ["HOME"], "machine.json")
    place.write_text(json.dumps(encode_machine(machine, ENGLISH)))
    return str(place)


def settle() -> None:
    """Layouts ask once more for what their widgets say only once they have a size."""
    for _ in range(4):
        QCoreApplication.sendPostedEvents()
        QApplication.processEvents()


def stops(stand: Stand, wanted: Sequence[str] | None = None, places: Sequence[str] | None = None) -> Iterator[str]:
    """Brings the window from one stop to the next, and tells its name."""
    if not wanted or "nothing" in wanted:
        stand.open(None)
        for place in (*WizardStep, *SideTool):
            if not places or place.value in places:
                stand.go(GoTo(place))
                yield f"nothing/{place.value}"
    for name, make in machines(stand.desk.session).items():
        if not wanted or name in wanted:
            stand.open(make())
            for place in (*WizardStep, *SideTool):
                if not places or place.value in places:
                    for state in STATES[place](stand):
                        settle()
                        yield f"{name}/{place.value}{f'-{state}' if state else ''}"
    if not wanted or "other-machine" in wanted:
        stand.other = MadeOther(stand.desk.session, machine_of(note="of another machine"))
        stand.other.host = "node-017.cluster.example.com"
        frame = stand.open(None)
        frame.begin()
        stand.until(lambda: frame.flow.inspected and not frame.setup.busy)
        for place in (*WizardStep, *SideTool):
            if not places or place.value in places:
                stand.go(GoTo(place))
                yield f"other-machine/{place.value}"
        stand.other = None
    if (not wanted or "dialogs" in wanted) and not places:
        stand.close()
        for name, over in dialogs(stand.desk, Path(os.environ["HOME"], "changed")).items():
            stand.lay_over(over)
            yield f"dialogs/{name}"


def _plainly(place: Place) -> Callable[[Stand], Iterator[str]]:
    def walk(stand: Stand) -> Iterator[str]:
        stand.go(GoTo(place))
        yield ""

    return walk


def _machine(stand: Stand) -> Iterator[str]:
    page = stand.go(GoTo(WizardStep.MACHINE))
    yield ""
    if stand.frame is not None and stand.frame.setup.isVisible():
        stand.frame.setup._hide(hidden=True)
        yield "setup-folded"
        stand.frame.setup._hide(hidden=False)
    page.show_reading(stand.desk.words(verbatim("…")))
    yield "reading"
    page.show_reading("")


def _found(stand: Stand) -> Iterator[str]:
    page = stand.go(GoTo(WizardStep.FOUND))
    yield ""
    cards = page.findChildren(FindingCard)
    for one in cards:
        one.set_open(not one.is_open)
    if cards:
        yield "flipped"


def _repair(stand: Stand) -> Iterator[str]:
    assert stand.frame is not None
    version = stand.frame.flow.repairable
    page = cast(RepairPage, stand.go(ToRepair(version) if version else GoTo(WizardStep.REPAIR)))
    for place in range(4):
        page.segments.choose(place)
        stand.until(lambda: not page.busy)
        yield f"tab{place}"


def _verify(stand: Stand) -> Iterator[str]:
    page = cast(VerifyPage, stand.go(GoTo(WizardStep.VERIFY)))
    yield ""
    page._end(Done(Ran(VerifyReport(failed_verification()), (), ())))
    yield "failed"


def _live(stand: Stand) -> Iterator[str]:
    assert stand.frame is not None
    stand.go(GoTo(WizardStep.LIVE))
    yield ""
    for count, name in ((1, LONG), (2, LONG), (8, "NVIDIA H100 80GB HBM3")):
        watch = HandFed(stand.desk.session)
        page = LivePage(stand.desk, stand.frame.pages, watch=watch)
        stand.frame.pages.addWidget(page)
        stand.frame.pages.setCurrentWidget(page)
        page.arrive(None)
        stand.until(lambda page=page: page._watching.running)  # type: ignore[misc]
        for second in range(3):
            watch.feed(made_sample(second, count, name))
        page._pace.stop()
        page._draw()
        yield f"gpus{count}"
        page.leave()
        page.close_down()
        stand.frame.pages.removeWidget(page)
        page.hide()
        page.deleteLater()


def _explain(stand: Stand) -> Iterator[str]:
    stand.go(GoTo(SideTool.EXPLAIN))
    yield ""
    stand.go(ToExplainText(OUT_OF_MEMORY))
    yield "answered"


def _what_if(stand: Stand) -> Iterator[str]:
    stand.go(GoTo(SideTool.WHAT_IF))
    yield ""
    stand.go(ToWhatIf(Wish(("10de:2684", "RTX 5090"))))
    yield "asked"


def _install(stand: Stand) -> Iterator[str]:
    stand.go(GoTo(SideTool.INSTALL))
    yield ""
    stand.go(ToInstall(InstallWish(driver=ANY, toolkit="12.8", torch="2.7")))
    yield "planned"


def _guides(stand: Stand) -> Iterator[str]:
    stand.go(ToGuide("memory-numbers"))
    yield ""


def _holders(stand: Stand) -> Iterator[str]:
    assert stand.frame is not None
    stand.go(GoTo(SideTool.HOLDERS))
    yield ""
    cards = (replace(card(p42=13.1, p43=3.2), name=known(LONG)), replace(card(1, p44=3.2), name=known(LONG)))
    others = (holder(43, "jupyter lab", uid=os.getuid() + 7, unit="jupyterhub-singleuser@somebody.service"), holder(44, state="Z"))
    page = HoldersPage(stand.desk, stand.frame.pages, look=Made(holder(42), *others, gpus=cards).look)
    stand.frame.pages.addWidget(page)
    stand.frame.pages.setCurrentWidget(page)
    page.arrive(None)
    stand.until(lambda: page.found is not None and not page.busy)
    yield "some"
    page.close_down()
    stand.frame.pages.removeWidget(page)
    page.hide()
    page.deleteLater()


def _project(stand: Stand) -> Iterator[str]:
    stand.go(GoTo(SideTool.PROJECT))
    yield ""
    folder = Path(os.environ["HOME"], "a-project-with-a-rather-long-name")
    folder.mkdir(exist_ok=True)
    (folder / "requirements.txt").write_text("torch==2.1.0+cu118\nflash-attn==2.5.6\nnumpy\n")
    stand.go(ToProject(str(folder)))
    yield "judged"


STATES: dict[Place, Callable[[Stand], Iterator[str]]] = {
    WizardStep.MACHINE: _machine,
    WizardStep.FOUND: _found,
    WizardStep.REPAIR: _repair,
    WizardStep.VERIFY: _verify,
    WizardStep.LIVE: _live,
    SideTool.EXPLAIN: _explain,
    SideTool.WHAT_IF: _what_if,
    SideTool.INSTALL: _install,
    SideTool.GUIDES: _guides,
    SideTool.HOLDERS: _holders,
    SideTool.PROJECT: _project,
    SideTool.SNAPSHOT: snapshot,
    SideTool.PROFILE: profile,
    SideTool.ESTIMATE: estimate,
}
