"""Samples cross from the sampler's thread to the GUI thread, and stop when they are told to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QObject, QThread, QTimer, Slot
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.model.sample import Sample
from gpuassist.session.watch import Watch
from gpuassist.ui.pages.live.live_watch import Watching
from tests.ui.made import gpu, sample


class Numbered:
    """A source whose samples are numbered, or that hangs until it is let go."""

    def __init__(self, *, hangs: bool = False) -> None:
        self.closed = threading.Event()
        self.free = threading.Event()
        self.count = 0
        self._hangs = hangs

    def read(self) -> Sample:
        if self._hangs:
            self.free.wait(100)
        self.count += 1
        return sample(self.count, gpu(0))

    def close(self) -> None:
        self.closed.set()

    def interrupt(self) -> None:
        """It hangs whatever is done."""


class Listener(QObject):
    """Remembers what it heard, and on which thread."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Sample] = []
        self.threads: list[QThread] = []

    @Slot(object)
    def hear(self, heard: Sample) -> None:
        self.heard.append(heard)
        self.threads.append(QThread.currentThread())


class Rig:
    """A watching with a listener, over a source of the test's own."""

    def __init__(self, session: Session, source: Numbered) -> None:
        self.source = source
        self.listener = Listener()
        self.owner = QObject()
        self.watching = Watching(Watch(session, hz=100, source=lambda _: source), self.owner)
        self.watching.sampled.connect(self.listener.hear)


@pytest.fixture
def rig(session: Session, qtbot: QtBot) -> Iterator[Rig]:
    made = Rig(session, Numbered())
    yield made
    made.watching.stop()


def test_samples_arrive(rig: Rig, qtbot: QtBot) -> None:
    rig.watching.start()
    qtbot.waitUntil(lambda: len(rig.listener.heard) >= 3)
    assert rig.listener.heard[0].gpus[0].index == 0


def test_samples_arrive_on_the_gui_thread(rig: Rig, qtbot: QtBot) -> None:
    rig.watching.start()
    qtbot.waitUntil(lambda: bool(rig.listener.threads))
    assert set(rig.listener.threads) == {rig.owner.thread()}


def test_samples_arrive_in_order(rig: Rig, qtbot: QtBot) -> None:
    rig.watching.start()
    qtbot.waitUntil(lambda: len(rig.listener.heard) >= 5)
    times = [one.monotonic for one in rig.listener.heard]
    assert times == sorted(times)


def test_starting_twice_samples_once(rig: Rig, qtbot: QtBot) -> None:
    rig.watching.start()
    rig.watching.start()
    samplers = [thread for thread in threading.enumerate() if thread.name == "gpuassist sampler"]
    assert len(samplers) == 1


def test_stopping_lets_the_driver_go(rig: Rig, qtbot: QtBot) -> None:
    rig.watching.start()
    qtbot.waitUntil(lambda: rig.source.count > 0)
    rig.watching.stop()
    assert rig.source.closed.is_set()
    assert not rig.watching.running


def test_nothing_is_heard_after_stopping(rig: Rig, qtbot: QtBot) -> None:
    rig.watching.start()
    qtbot.waitUntil(lambda: rig.source.count > 0)
    rig.watching.stop()
    count = len(rig.listener.heard)
    rig.watching._hear(sample(99, gpu(0)))
    assert len(rig.listener.heard) == count


def test_stopping_what_never_ran_is_nothing(rig: Rig) -> None:
    rig.watching.stop()
    assert not rig.watching.running


def test_it_can_be_started_again(rig: Rig, qtbot: QtBot) -> None:
    rig.watching.start()
    qtbot.waitUntil(lambda: rig.source.count > 0)
    rig.watching.stop()
    count = rig.source.count
    rig.watching.start()
    qtbot.waitUntil(lambda: rig.source.count > count)


def test_a_source_that_hangs_delays_nothing_here(session: Session, qtbot: QtBot) -> None:
    hanging = Rig(session, Numbered(hangs=True))
    hanging.watching.start()
    ticked: list[int] = []
    _soon(hanging.owner, lambda: ticked.append(1))
    qtbot.waitUntil(lambda: bool(ticked))
    assert hanging.listener.heard == []
    hanging.source.free.set()
    hanging.watching.stop()


def _soon(owner: QObject, what: Callable[[], None]) -> None:
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.timeout.connect(what)
    timer.start(1)
