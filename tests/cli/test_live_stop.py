"""Ending a process from the live table."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

import pytest

from gpuassist.cli import live_stop
from gpuassist.cli.live_stop import LiveStop
from gpuassist.detect.gpu_holders import GpuHolder, Holding, Role
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Holder
from gpuassist.model.plan import Outcome, Result
from gpuassist.model.text import Text, text
from gpuassist.present.process_table import Grouping, LiveRow, table_rows
from tests.cli.made_session import live_session
from tests.monitor.samples import gpu, process

ENDED = text("it ended")


def held(pid: int, *, may_stop: bool = True) -> GpuHolder:
    holder = Holder(pid, "ann", "python train.py", ("/dev/nvidia0",))
    return GpuHolder(holder, (0,), Known(1, "test"), Role.PROGRAM, may_stop=may_stop, why=text("why"))


class Ender:
    """A `LiveStop` of a machine on which these processes hold a GPU."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *there: GpuHolder) -> None:
        self.ended: list[int] = []
        self.woken = Event()
        self.patience = Event()
        self.patience.set()

        def stop_holder(_: object, one: GpuHolder, *, called_off: Callable[[], bool]) -> Outcome:
            while not self.patience.wait(0.01) and not called_off():
                pass
            self.ended += [] if called_off() else [one.holder.pid]
            return Outcome(Result.MODIFIED, ENDED)

        monkeypatch.setattr(live_stop, "holding", lambda _: Holding(there, (), (), looked=True))
        monkeypatch.setattr(live_stop, "stop_holder", stop_holder)
        self.stop = LiveStop(live_session(), self.woken.set)

    def ask(self, pid: int) -> None:
        self.stop.ask(row(pid))
        self.wait()

    def wait(self) -> None:
        assert self.woken.wait(60)
        self.woken.clear()


def row(*pids: int) -> LiveRow:
    (made,) = table_rows((gpu(9, *(process(pid, 1, "python a.py") for pid in pids)),), grouping=Grouping.SCRIPT)
    return made


def message(note: Text | None) -> str:
    return note.message if note is not None else ""


def test_it_is_asked_for_and_yes_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ender = Ender(monkeypatch, held(7))
    ender.ask(7)
    ender.stop.shown()
    assert ender.stop.asks
    ender.stop.answer("y")
    ender.wait()
    assert (ender.ended, ender.stop.note, ender.stop.question) == ([7], ENDED, None)


def test_every_other_key_leaves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ender = Ender(monkeypatch, held(7))
    for key in ("n", "enter", "escape", "k", "q", "down"):
        ender.ask(7)
        ender.stop.shown()
        ender.stop.answer(key)
        assert (ender.ended, ender.stop.question, ender.stop.note) == ([], None, None)


def test_a_key_that_came_before_the_question_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    ender = Ender(monkeypatch, held(7))
    ender.ask(7)
    assert not ender.stop.asks
    ender.stop.drop()
    assert ender.stop.question is None


def test_only_ones_own_process_that_is_there_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    ender = Ender(monkeypatch, held(7, may_stop=False))
    for pid in (7, 8):
        ender.ask(pid)
        assert ender.stop.question is None
        assert dict(ender.stop.note.parameters if ender.stop.note is not None else ())["pid"] == pid
    for several in (None, row(7, 8)):
        ender.stop.ask(several)
        assert ender.stop.question is None
        assert ender.stop.note is not None


def test_one_that_is_waited_for_is_not_killed_once_the_table_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    ender = Ender(monkeypatch, held(7))
    assert ender.stop.close() is None
    ender.patience.clear()
    ender.ask(7)
    ender.stop.shown()
    ender.stop.answer("y")
    ender.stop.ask(row(7))  # meanwhile nobody is asked again
    assert ender.stop.question is None
    assert ender.stop.close() == ENDED
    assert ender.ended == []
