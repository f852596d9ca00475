"""A made-up machine with processes on its GPUs, for tests of the page that shows who holds them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from gpuassist.context import Session
from gpuassist.detect.gpu_holders import GpuHolder, Holding, holding_of
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu, GpuProcess, Holder
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Outcome, Result
from gpuassist.model.text import Text, text
from tests.ui.made import GIB, known

ME, ADA = os.getuid(), os.getuid() + 777


def holder(
    pid: int = 42, command: str = "python train.py --batch 24", *, uid: int = ME, unit: str = "", state: str = "S", inside: str = ""
) -> Holder:
    """A process of mine with the first GPU open, unless said otherwise."""
    return Holder(
        pid,
        "you" if uid == ME else "ada",
        command,
        ("/dev/nvidia0", "/dev/nvidiactl"),
        known(uid),
        known(state),
        known(5000),
        known(unit),
        known(inside),
    )


def card(index: int = 0, *, total: float = 24, **gibibytes: float) -> Gpu:
    """A card with what each process has on it, written `p42=3.5`."""
    processes = tuple(GpuProcess(int(pid[1:]), "compute", known(int(size * GIB))) for pid, size in gibibytes.items())
    return Gpu(
        name=known("NVIDIA GeForce RTX 4090"),
        index=known(index),
        minor=known(index),
        memory_total_bytes=known(int(total * GIB)),
        processes=known(processes),
    )


def machine(*holders: Holder, gpus: tuple[Gpu, ...] = (card(),)) -> Machine:
    """A machine whose GPUs these hold."""
    return Machine(gpus=Known(gpus, "made up"), holders=Known(holders, "made up"))


class Made:
    """Stands in for the look at this machine and for the stopping, and remembers what was asked of it."""

    def __init__(self, *holders: Holder, gpus: tuple[Gpu, ...] = (card(),)) -> None:
        self.machine = machine(*holders, gpus=gpus)
        self.notes: tuple[Text, ...] = ()
        self.looks = 0
        self.stopped: list[int] = []
        self.outcome = Outcome(Result.MODIFIED, text("process {pid} ended", pid=42))
        self.fault: Exception | None = None
        self.waits = False  # until it is called off

    def show(self, *holders: Holder, gpus: tuple[Gpu, ...] = (card(),)) -> None:
        """What is there from now on."""
        self.machine = machine(*holders, gpus=gpus)

    def look(self, session: Session) -> Holding:
        """Instead of looking at this machine."""
        self.looks += 1
        if self.fault is not None:
            raise self.fault
        found = holding_of(session, self.machine, live=True)
        # Of a live machine an ordinary user is told what cannot be seen; a test says itself what is.
        return Holding(found.held, self.notes, found.cards, found.may_fall_asleep)

    def end(self, session: Session, held: GpuHolder, *, called_off: Callable[[], bool]) -> Outcome:
        """Instead of stopping a process."""
        self.stopped.append(held.holder.pid)
        while self.waits and not called_off():
            threading.Event().wait(0.01)
        if self.fault is not None:
            raise self.fault
        return Outcome(Result.UNCHANGED, text("spared")) if self.waits else self.outcome
