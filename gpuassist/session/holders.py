"""Looking at who holds the GPUs now, and stopping one of one's own processes."""

from __future__ import annotations

from collections.abc import Callable

from gpuassist.context import Session
from gpuassist.detect import gpu_holders, nvml, pci
from gpuassist.detect.accounts import Accounts
from gpuassist.detect.gpu_holders import GpuHolder, Holding, holding_of, name_of
from gpuassist.model.driver import Driver
from gpuassist.model.gpu import Holder
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Outcome, Result
from gpuassist.model.text import text
from gpuassist.system.clock import iso
from gpuassist.system.stop_process import Stopped, never, stop
from gpuassist.system.world import World

PATIENCE_SECONDS = 10.0  # a training run writes its checkpoint when it is asked to end


def holding(session: Session) -> Holding:
    """Looks at this machine now; a GPU that sleeps is left asleep."""
    return holding_of(session, look(session), live=True)


def look(session: Session) -> Machine:
    """As much of the machine as the question needs."""
    world = session.world
    on_pci = pci.probe(world, session.knowledge)
    reading = nvml.probe(world, on_pci)
    gpus = nvml.merge(on_pci, reading, session.knowledge)
    driver = Driver(version=reading.version)
    return Machine(iso(world.clock.now()), gpus=gpus, driver=driver, holders=gpu_holders.probe(world))


def stop_holder(
    session: Session, held: GpuHolder, *, seconds: float = PATIENCE_SECONDS, called_off: Callable[[], bool] = never
) -> Outcome:
    """Asks the process to end, waits, then kills it unless that is called off; refuses whatever is not the user's own program."""
    if not held.may_stop:
        return Outcome(Result.REFUSED, held.why)
    pid, name = held.holder.pid, name_of(held.holder)
    stopped = stop(pid, lambda: _is_the_same(session.world, held.holder), seconds=seconds, called_off=called_off)
    outcomes = {
        Stopped.ENDED: (Result.MODIFIED, text("process {pid} ({name}) ended", pid=pid, name=name)),
        Stopped.KILLED: (
            Result.MODIFIED,
            text(
                "process {pid} ({name}) did not end within {seconds:.0f} s of being asked, and was killed",
                pid=pid,
                name=name,
                seconds=seconds,
            ),
        ),
        Stopped.GONE: (
            Result.UNCHANGED,
            text("process {pid} ({name}) had ended already; nothing was stopped", pid=pid, name=name),
        ),
        Stopped.FORBIDDEN: (
            Result.REFUSED,
            text("the system does not let you stop process {pid} ({name})", pid=pid, name=name),
        ),
        Stopped.SPARED: (
            Result.UNCHANGED,
            text("process {pid} ({name}) was asked to end, and was not killed: it may still be there", pid=pid, name=name),
        ),
        Stopped.STILL_THERE: (
            Result.FAILED,
            text(
                "process {pid} ({name}) was killed and is still there: it waits inside the driver, which only a restart of the "
                "machine can end if it does not come back",
                pid=pid,
                name=name,
            ),
        ),
    }
    return Outcome(*outcomes[stopped])


def _is_the_same(world: World, holder: Holder) -> bool:
    now = gpu_holders.look(world.files, holder.pid, Accounts(world))
    return now is not None and (now.started, now.uid) == (holder.started, holder.uid)
