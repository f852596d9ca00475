"""Everything that the repair page changes as one kind of value: what is wished, the plan of it, making it, and what holds then."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from gpuassist.changes.scope_proof import provable, prove_scope
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Outcome, Receipt, Result
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.session import fix
from gpuassist.session.clean_plan import CleanShell, plan_clean, prove_clean
from gpuassist.session.context import Session
from gpuassist.session.cuda_plan import CudaPlan, UseCuda, plan_use_cuda
from gpuassist.session.devices_plan import DevicesPlan, UseDevices, plan_use_devices, prove_devices
from gpuassist.session.scope_plan import ScopePlan, plan_cuda_in, plan_devices_in
from gpuassist.session.scope_words import Kind
from gpuassist.session.shell_plan import ShellPlan, make
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.terminal import ask_terminal

SHELL = Kind.SHELL.value
_RECORDED = text("this is a recorded machine: what stands in its files, environments and projects is not here")


class Aim(str, Enum):
    """What is repaired."""

    TOOLKIT = "toolkit"
    CLEAN = "clean"
    DEVICES = "devices"


@dataclass(frozen=True, slots=True)
class RepairWish:
    """What the user wishes: `cuda`, `clean` or `devices` as the aim says; `scope` says where a toolkit or GPUs are chosen."""

    aim: Aim
    cuda: UseCuda = field(default_factory=lambda: UseCuda(""))
    clean: CleanShell = field(default_factory=CleanShell)
    devices: str = "all"
    scope: str = SHELL


@dataclass(frozen=True, slots=True)
class Repair:
    """The plan as every repair shows it, and the one that it was made of: none of them for a cleaning."""

    wish: RepairWish
    shell: ShellPlan
    now: Fact[Terminal]
    cuda: CudaPlan | None = None
    devices: DevicesPlan | None = None
    scope: ScopePlan | None = None

    @property
    def recorded(self) -> bool:
        """Whether it can be looked at only."""
        return self.cuda is not None and self.cuda.recorded


@dataclass(frozen=True, slots=True)
class Carried:
    """What came of making it: `holds` is whether a real shell does what was planned, and `words` say so, none where none was asked.

    `terminal` is what a new terminal holds now, none where nobody looked; `applied` tells more of a toolkit.
    """

    outcome: Outcome
    receipts: tuple[Receipt, ...] = ()
    notes: tuple[Text, ...] = ()
    holds: Fact[bool] | None = None
    words: Text | None = None
    terminal: Fact[Terminal] | None = None
    applied: fix.Applied | None = None

    @property
    def wrote(self) -> bool:
        """Whether what was planned stands in the files now."""
        return self.outcome.result in {Result.MODIFIED, Result.UNCHANGED}


def plan_repair(session: Session, machine: Machine, wish: RepairWish, *, recorded: bool = False) -> Repair:
    """Plans it without changing anything; raises `RepairError` with what to say where there is nothing to plan."""
    now = machine.shell.new_terminal
    if recorded and (wish.aim is not Aim.TOOLKIT or wish.scope != SHELL):
        raise RepairError(_RECORDED)
    if wish.aim is Aim.CLEAN:
        return Repair(wish, plan_clean(session, machine, wish.clean), now)
    if wish.scope != SHELL:
        scoped = _scoped(session, machine, wish)
        return Repair(wish, scoped.shell, now, scope=scoped)
    if wish.aim is Aim.DEVICES:
        devices = plan_use_devices(session, machine, UseDevices(wish.devices))
        return Repair(wish, devices.shell, now, devices=devices)
    return of_toolkit(plan_use_cuda(session, machine, wish.cuda, recorded=recorded))


def of_toolkit(cuda: CudaPlan) -> Repair:
    """The plan of a toolkit for new shells as one of these."""
    shell = ShellPlan(cuda.plan, f"use cuda {cuda.wish.version}", cuda.lines, cuda.block, cuda.paste, cuda.obstacle)
    return Repair(RepairWish(Aim.TOOLKIT, cuda=cuda.wish), shell, cuda.now, cuda=cuda)


def make_repair(session: Session, repair: Repair) -> Carried:
    """Makes the planned change, and asks a real shell whether it does what was planned."""
    if repair.cuda is not None:
        return _toolkit(session, repair.cuda)
    made = make(session, repair.shell)
    carried = Carried(made.outcome, made.receipts, made.notes)
    if not carried.wrote:
        return carried
    holds, words = _proved(session, repair)
    terminal = ask_terminal(session.world) if repair.scope is None else None
    return Carried(made.outcome, made.receipts, made.notes, holds, words, terminal)


def _scoped(session: Session, machine: Machine, wish: RepairWish) -> ScopePlan:
    if wish.aim is Aim.DEVICES:
        return plan_devices_in(session, machine, wish.devices, scope=wish.scope)
    loader = wish.cuda.ld_library_path
    return plan_cuda_in(session, machine, wish.cuda.version, scope=wish.scope, ld_library_path=loader)


def _toolkit(session: Session, cuda: CudaPlan) -> Carried:
    applied = fix.apply(session, cuda)
    holds: Fact[bool] | None = None
    if applied.proof is not None:
        holds = _as_fact(applied.proof)
    words = applied.proof.words if applied.proof is not None else None
    terminal = applied.after if applied.proof is not None else None
    return Carried(applied.outcomes[0], applied.receipts, applied.notes, holds, words, terminal, applied)


def _as_fact(proof: fix.Proof) -> Fact[bool]:
    if proof.holds is fix.Holds.UNKNOWN:
        return Unknown(proof.words)
    return Known(proof.holds is fix.Holds.YES, proof.terminal.source if isinstance(proof.terminal, Known) else "")


def _proved(session: Session, repair: Repair) -> tuple[Fact[bool] | None, Text | None]:
    if repair.devices is not None:
        devices = prove_devices(session.world, repair.devices)
        return devices.holds, devices.words
    if repair.scope is None:
        clean = prove_clean(session.world, repair.now)
        return clean.holds, clean.words
    if provable(repair.scope.scope):
        scope = prove_scope(session.world, repair.scope.scope, repair.scope.held)
        return scope.holds, scope.words
    return None, None
