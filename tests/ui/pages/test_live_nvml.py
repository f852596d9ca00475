"""The live page over the scripted NVML: what each kind of driver and card looks like, and that the GUI thread never asks NVML."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpuassist.session.watch import Watch
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.live.page import LivePage
from tests.nvml_fixture import FakeNvml
from tests.ui.made import framed, with_variables

pytestmark = pytest.mark.needs("gcc")
EIGHT = "".join(f"[gpu]\nuuid = GPU-{index}\npci = 00000000:0{index + 1}:00.0\n" for index in range(8))


class Live:
    """A page that watches whatever NVML was loaded."""

    def __init__(self, desk: Desk, qtbot: QtBot, variables: Mapping[str, str]) -> None:
        self.qtbot = qtbot
        session = with_variables(desk.session, variables)
        self.frame = framed(qtbot)
        self.page = LivePage(desk, self.frame, watch=Watch(session, hz=20))
        self.page.resize(1056, 760)
        self.page.show()

    def begin(self) -> None:
        self.page.arrive(None)

    def until(self, holds: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(holds)

    def words(self) -> str:
        return " ".join(label.text() for label in self.page.findChildren(QLabel) if label.isVisibleTo(self.page))


@pytest.fixture
def live(desk: Desk, qtbot: QtBot, fake_nvml: FakeNvml) -> Iterator[Live]:
    made = Live(desk, qtbot, fake_nvml.variables)
    yield made
    made.page.close_down()


def test_eight_gpus_have_eight_lanes(live: Live, fake_nvml: FakeNvml) -> None:
    fake_nvml(EIGHT)
    live.begin()
    live.until(lambda: len(live.page.view.lanes) == 8)


def test_a_process_is_drawn_and_listed(live: Live, fake_nvml: FakeNvml) -> None:
    fake_nvml(f"[gpu]\nprocess = {os.getpid()} c 2048\n")
    live.begin()
    live.until(lambda: bool(live.page.view.lanes) and live.page.view.lanes[0].pids == (os.getpid(),))
    assert [part.process.pid for row in live.page.view._processes.live for part in row.parts] == [os.getpid()]


def test_a_card_is_named_with_its_figures(live: Live, fake_nvml: FakeNvml) -> None:
    fake_nvml("[gpu]\nname = NVIDIA GeForce RTX 5090\nutilization = 97\ntemperature = 71\n")
    live.begin()
    live.until(lambda: bool(live.page.view.lanes) and live.page.view.lanes[0].head.title == "GPU 0 · RTX 5090")
    assert "97 % · 71 °C" in live.page.view.lanes[0].figures


def test_a_gpu_that_falls_off_the_bus_says_so(live: Live, fake_nvml: FakeNvml) -> None:
    fake_nvml("[gpu]\n[gpu]\nuuid = GPU-2\npci = 00000000:02:00.0\nfault = nvmlDeviceGet* 15 from=0.4\n")
    live.begin()
    live.until(lambda: len(live.page.view.lanes) == 2 and bool(live.page.view.lanes[1].trouble))
    assert live.page.view.lanes[0].trouble == ""


def test_a_mismatch_is_told_in_words(live: Live, fake_nvml: FakeNvml) -> None:
    fake_nvml("fault = nvmlInit* 18\n[gpu]\n")
    live.begin()
    live.until(lambda: "No GPU data available" in live.words())


def test_the_driver_that_comes_back_is_drawn(live: Live, fake_nvml: FakeNvml) -> None:
    fake_nvml("fault = nvmlInit* 9\n[gpu]\n")
    live.begin()
    live.until(lambda: "No GPU data available" in live.words())
    fake_nvml("[gpu]\n")
    live.until(lambda: len(live.page.view.lanes) == 1)


def test_an_old_driver_is_drawn(live: Live, fake_nvml: FakeNvml) -> None:
    fake_nvml("[gpu]\nused = 4096\n", old=True)
    live.begin()
    live.until(lambda: bool(live.page.view.lanes) and live.page.view.lanes[0].figures.startswith("4.3 of"))  # with what is reserved


def test_figures_that_a_card_refuses_are_left_out(live: Live, fake_nvml: FakeNvml) -> None:
    fake_nvml("[gpu]\npower = -\ntemperature = -\n")
    live.begin()
    live.until(lambda: bool(live.page.view.lanes) and bool(live.page.view.lanes[0].figures))
    assert "W" not in live.page.view.lanes[0].figures
    assert "°C" not in live.page.view.lanes[0].figures


def test_no_gpu_is_told(live: Live, fake_nvml: FakeNvml) -> None:
    fake_nvml("")
    live.begin()
    live.until(lambda: not live.page._watching.watch.history.gpus and "No GPU to watch" in live.words())


def test_the_gui_thread_never_calls_nvml(live: Live, fake_nvml: FakeNvml) -> None:
    fake_nvml(f"[gpu]\nprocess = {os.getpid()} c 2048\n")
    live.begin()
    live.until(lambda: bool(live.page.view.lanes) and bool(live.page.view.lanes[0].pids))
    live.page.close_down()
    calls = fake_nvml.calls()
    assert calls
    assert os.getpid() not in {call.thread for call in calls}


def test_the_window_answers_while_nvml_is_slow(live: Live, fake_nvml: FakeNvml) -> None:
    fake_nvml("fault = * 0 delay=40\n[gpu]\n")
    live.begin()
    beats: list[int] = []
    timer = QTimer(live.page)
    timer.timeout.connect(lambda: beats.append(1))
    timer.start(5)
    live.until(lambda: len(beats) > 20)
    live.until(lambda: len(live.page.view.lanes) == 1)


def test_space_freezes_what_is_sampled(live: Live, fake_nvml: FakeNvml) -> None:
    fake_nvml("[gpu]\nused = 1000..20000/5\n")
    live.begin()
    live.until(lambda: bool(live.page.view.lanes) and bool(live.page.view.lanes[0].memory.numbers.any()))
    live.page.view.pause_or_resume()
    until = live.page._watching.watch.history.until
    live.until(lambda: live.page._watching.watch.history.until > until + 0.3)
    assert live.page.view.lanes[0].grid.until <= until


def test_a_library_that_crashes_leaves_the_window_and_is_told(live: Live, fake_nvml: FakeNvml) -> None:
    fake_nvml("[gpu]\nfault = nvmlDeviceGetMemoryInfo* 0 crash=11 after=20\n")
    live.begin()
    live.until(lambda: len(live.page.view.lanes) == 1)
    live.until(lambda: re.search(r"crashed \(SIGSEGV\).*asked again", live.words()) is not None)


def test_a_library_that_crashes_at_once_is_told_in_lines(live: Live, fake_nvml: FakeNvml) -> None:
    fake_nvml("fault = nvmlInit* 0 crash=11\n[gpu]\n")
    live.begin()
    live.until(lambda: re.search(r"crashed \(SIGSEGV\).*asked again", live.words()) is not None)
    assert "U+000A" not in live.words()
    assert not live.page.view.lanes
