"""Work off the GUI thread: every result comes home on it, as a value, or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Slot
from pytestqt.qtbot import QtBot

from gpuassist.ui.jobs import Control, Done, Failed, Job, Jobs


class Asker(QObject):
    """Asks for work and keeps what came of it, with the thread that it came on."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[Done | Failed] = []
        self.told: list[object] = []
        self.threads: set[int] = set()

    def listen(self, job: Job) -> Job:
        """Hears of everything that the job tells."""
        job.finished.connect(self._finish)
        job.told.connect(self._hear)
        return job

    @Slot(object)
    def _finish(self, result: Done | Failed) -> None:
        self.results.append(result)
        self.threads.add(threading.get_ident())

    @Slot(object)
    def _hear(self, told: object) -> None:
        self.told.append(told)
        self.threads.add(threading.get_ident())


@pytest.fixture
def jobs(qtbot: QtBot) -> Iterator[Jobs]:
    made = Jobs()
    yield made
    made.shutdown()


@pytest.fixture
def asker(qtbot: QtBot) -> Asker:
    return Asker()


def _fails(control: Control) -> object:
    raise ValueError("a made-up fault")


def _waits(entered: threading.Event) -> Callable[[Control], object]:
    def work(control: Control) -> object:
        entered.set()
        return control.cancelled.wait(100)

    return work


def test_a_result_comes_home_on_the_gui_thread(jobs: Jobs, asker: Asker, qtbot: QtBot) -> None:
    asker.listen(jobs.start(lambda _: 6 * 7, asker))
    qtbot.waitUntil(lambda: bool(asker.results))
    assert asker.results == [Done(42)]
    assert asker.threads == {threading.get_ident()}


def test_the_work_runs_on_another_thread(jobs: Jobs, asker: Asker, qtbot: QtBot) -> None:
    asker.listen(jobs.start(lambda _: threading.get_ident(), asker))
    qtbot.waitUntil(lambda: bool(asker.results))
    assert asker.results != [Done(threading.get_ident())]


def test_a_fault_comes_home_as_a_value_with_its_trace(jobs: Jobs, asker: Asker, qtbot: QtBot) -> None:
    asker.listen(jobs.start(_fails, asker))
    qtbot.waitUntil(lambda: bool(asker.results))
    (result,) = asker.results
    assert isinstance(result, Failed)
    assert isinstance(result.error, ValueError)
    assert "in _fails" in result.trace


def test_what_is_told_arrives_in_order_before_the_result(jobs: Jobs, asker: Asker, qtbot: QtBot) -> None:
    def work(control: Control) -> object:
        for number in range(20):
            control.tell(number)
        return None

    asker.listen(jobs.start(work, asker))
    qtbot.waitUntil(lambda: bool(asker.results))
    assert asker.told == list(range(20))


def test_large_numbers_arrive_whole(jobs: Jobs, asker: Asker, qtbot: QtBot) -> None:
    asker.listen(jobs.start(lambda _: 10 << 30, asker))
    qtbot.waitUntil(lambda: bool(asker.results))
    assert asker.results == [Done(10 << 30)]


def test_fifty_jobs_bring_fifty_results(jobs: Jobs, asker: Asker, qtbot: QtBot) -> None:
    for number in range(50):
        asker.listen(jobs.start(lambda _, number=number: number, asker))  # type: ignore[misc]
    qtbot.waitUntil(lambda: len(asker.results) == 50)
    assert {result.value for result in asker.results if isinstance(result, Done)} == set(range(50))


def test_cancelling_asks_the_work_to_stop(jobs: Jobs, asker: Asker, qtbot: QtBot) -> None:
    entered = threading.Event()
    job = asker.listen(jobs.start(_waits(entered), asker))
    assert entered.wait(100)
    job.cancel()
    qtbot.waitUntil(lambda: bool(asker.results))
    assert asker.results == [Done(True)]


def test_a_finished_job_is_let_go(jobs: Jobs, asker: Asker, qtbot: QtBot) -> None:
    job = asker.listen(jobs.start(lambda _: None, asker))
    qtbot.waitUntil(lambda: bool(asker.results))
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert not shiboken6.isValid(job)


def test_a_result_for_somebody_who_has_gone_is_dropped(jobs: Jobs, asker: Asker, qtbot: QtBot) -> None:
    entered, gone = threading.Event(), QObject()
    job = jobs.start(_waits(entered), gone)
    assert entered.wait(100)
    job.cancel()
    shiboken6.delete(gone)
    asker.listen(jobs.start(lambda _: "after", asker))
    qtbot.waitUntil(lambda: bool(asker.results))
    assert asker.results == [Done("after")]


def test_shutting_down_cancels_and_waits(jobs: Jobs, asker: Asker) -> None:
    entered = threading.Event()
    asker.listen(jobs.start(_waits(entered), asker))
    assert entered.wait(100)
    jobs.shutdown()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("gpuassist-job")]


def test_nothing_arrives_after_shutting_down(jobs: Jobs, asker: Asker) -> None:
    asker.listen(jobs.start(lambda _: "late", asker))
    jobs.shutdown()
    QCoreApplication.sendPostedEvents()
    assert asker.results == []


def test_shutting_down_an_idle_pool_starts_no_thread(qtbot: QtBot) -> None:
    before = threading.active_count()
    Jobs().shutdown()
    assert threading.active_count() == before
