"""A window of another machine: it says whose it is, shows and watches that one, and every page that acts says why it does not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, text
from gpuassist.session.navigation import GoTo, Place, StepStatus, WizardStep
from gpuassist.session.other_connection import OtherMachineError
from gpuassist.session.other_machine import OtherMachine
from gpuassist.ui.application import WindowRun
from gpuassist.ui.frame import Frame
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.live.page import LivePage
from gpuassist.ui.pages.verify.page import VerifyPage
from gpuassist.ui.theme import Appearance
from tests.ui.showing import Show
from tests.values import machine

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
PROCESS = {"pid": 1, "user": "you", "command": "python train.py", "memory_used_bytes": 1 << 30, "kind": "compute"}


class MadeOther(OtherMachine):
    """Answers with a machine, or why there is none; its GPU has one process, whose number is init's here."""

    def __init__(self, session: Session, found: Machine | Text) -> None:
        super().__init__(session, "box")
        self.found, self.given = found, 0

    def machine(self, *, tell: Callable[[Text], None] = print, ends: Callable[[], bool] = bool) -> Machine:
        tell(text("Connecting to {host}…", host=self.host))
        if isinstance(self.found, Text):
            raise OtherMachineError(self.found)
        return self.found

    def lines(self, hz: float, *, ends: Callable[[], bool] = bool) -> MadeOther:  # type: ignore[override]
        return self

    def line(self, seconds: float) -> str | None:
        self.given += 1
        gpu = {"index": 0, "name": "H100", "uuid": "GPU-1", "memory_total_bytes": 80 << 30, "memory_used_bytes": 2 << 30}
        return json.dumps({"schema": 1, "time": "2026-11-24T09:00:00+00:00", "gpus": [{**gpu, "processes": [PROCESS]}]})


Open = Callable[..., Frame]


@pytest.fixture
def opened(desk: Desk, show: Show, qtbot: QtBot) -> Iterator[Open]:
    frames: list[Frame] = []

    def frame_of(found: Machine | Text, start: Place = WizardStep.MACHINE) -> Frame:
        other = MadeOther(desk.session, found)
        frame = show(Frame(replace(desk, other=other), start=GoTo(start), appearance=Appearance.LIGHT), 1280, 800)
        frames.append(frame)
        frame.begin()
        qtbot.waitUntil(lambda: frame.flow.state(WizardStep.MACHINE) in {StepStatus.RIGHT, StepStatus.UNKNOWN})
        qtbot.waitUntil(lambda: frame.pages.warm_up.is_done)
        return frame

    yield frame_of
    for frame in frames:
        frame.close_down()


def page_of(frame: Frame, qtbot: QtBot, place: Place) -> object:
    frame.go(GoTo(place))
    qtbot.waitUntil(lambda: frame.pages.currentWidget() is frame.pages.page(place))
    return frame.pages.page(place)


def test_it_says_whose_it_is_and_what_it_does_not_do(opened: Open, qtbot: QtBot) -> None:
    frame = opened(machine())
    assert [one.words for one in frame.banners.told if not one.isHidden()] == [
        "This window shows box, over SSH. It is only looked at: nothing there is changed from here."
    ]
    assert frame.banners.recorded is None
    assert "Read over SSH from box" in frame.pages.machine_page._scroll.header.subtitle
    verify = page_of(frame, qtbot, WizardStep.VERIFY)
    assert isinstance(verify, VerifyPage)
    assert not verify._wishes.start.isEnabled()
    assert "gpuassist verify" in verify._empty._words.text()


def test_another_try_reads_what_could_not_be_reached(opened: Open, qtbot: QtBot) -> None:
    frame = opened(text("box cannot be reached"))
    assert frame.flow.state(WizardStep.MACHINE) is StepStatus.UNKNOWN
    assert frame.pages.machine_page._trouble is not None
    assert frame.pages.machine_page._trouble.words == "box cannot be reached"
    other = frame._desk.other
    assert isinstance(other, MadeOther)
    other.found = machine()
    frame._reading.again()
    qtbot.waitUntil(lambda: frame.flow.state(WizardStep.MACHINE) is StepStatus.RIGHT)


def test_its_live_memory_is_that_machines_and_its_processes_are_left_alone(opened: Open, qtbot: QtBot) -> None:
    frame = opened(machine())
    live = page_of(frame, qtbot, WizardStep.LIVE)
    assert isinstance(live, LivePage)
    qtbot.waitUntil(lambda: live.view.shown is not None and bool(live.view.lanes))
    assert live.view.watch.server == "box"
    assert [gpu.index for gpu in live.view.shown.gpus] == [0]  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: bool(live.view.card.model.live))
    row = live.view.card.model.live[0]
    assert row.single is not None
    live.view.card.stop_wanted.emit(row.single)
    assert not live.view._stopping.busy
    assert live._head.said.words == "box is only looked at from here: what changes it is done there."


@pytest.fixture
def run(session: Session, qapp: QApplication, qtbot: QtBot) -> Iterator[WindowRun]:
    made = WindowRun(session, qapp, other=MadeOther(session, machine()))
    made.window.show()
    qtbot.waitUntil(lambda: made.frame is not None and made.frame.flow.inspected)
    yield made
    qtbot.waitUntil(lambda: made.frame is not None and not made.frame.pages.warm_up.under_way)
    made.window.close()
    made.end()


def test_the_title_of_the_window_names_it(run: WindowRun) -> None:
    assert run.window.windowTitle() == "box – gpuassist"
    assert run.frame is not None
    assert run.frame.flow.inspected
