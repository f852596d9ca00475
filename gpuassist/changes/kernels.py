"""The proof of a toolkit on this machine's GPUs: a kernel compiled for each of their architectures, as in a new terminal."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.model.fact import Fact, Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.system.login import login_environment
from gpuassist.system.world import World
from gpuassist.verify.kernel import KernelCheck, KernelWish, check_kernel

_DRIVER_NODES = ("/dev/nvidiactl", "/dev/dxg")  # Linux; WSL


class KernelProof(Struct, frozen=True):
    """An architecture (empty where no GPU is known and the compiler chose), the names of its GPUs, and what came of it."""

    architecture: str
    gpus: tuple[str, ...]
    check: KernelCheck


def nothing_told(doing: Text) -> None:
    """For who does not want to know how far it is."""


def prove_kernels(
    session: Session,
    machine: Machine,
    nvcc: str,
    terminal: Fact[Terminal],
    *,
    on_progress: Callable[[Text], None] = nothing_told,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[KernelProof, ...]:
    """Compiles for each architecture of the machine's GPUs in what a new terminal holds, and runs it where a driver is there.

    Once `cancelled`, what was being compiled is stopped, and nothing more is begun.
    """
    around = session.world.surroundings
    login = login_environment(session.world.files, around, shell=around.login_shell, home=around.home)
    held = {one.name: one.value for one in terminal.value.variables} if isinstance(terminal, Known) else {}
    # What hides GPUs from programs is not what is proved here, and each is chosen by name.
    environment = {**login, **{name: value for name, value in held.items() if name != "CUDA_VISIBLE_DEVICES"}}
    by_architecture: dict[str, list[Gpu]] = {}
    for gpu in value_or(machine.gpus, ()):
        capability = gpu.compute_capability
        known = f"sm_{capability.value.major}{capability.value.minor}" if isinstance(capability, Known) else ""
        by_architecture.setdefault(known, []).append(gpu)
    proofs = []
    for architecture, gpus in (by_architecture or {"": []}).items():
        if cancelled is not None and cancelled():
            break
        doing = (
            text("compiling a kernel for {architecture}", architecture=architecture) if architecture else text("compiling a kernel")
        )
        on_progress(doing)
        wish = KernelWish(nvcc, architecture, environment, _devices(session.world, gpus))
        names = tuple(value_or(gpu.name, "?") for gpu in gpus)
        proofs.append(KernelProof(architecture, names, check_kernel(session.world, wish, cancelled=cancelled)))
    return tuple(proofs)


def told(proof: KernelProof) -> Text:
    """The proof in one sentence."""
    if not proof.architecture:
        return text("a kernel for the architecture that nvcc chooses by itself: {words}", words=proof.check.words)
    names = ", ".join(dict.fromkeys(proof.gpus))
    return text(
        "a kernel for {architecture} ({gpus}): {words}", architecture=proof.architecture, gpus=names, words=proof.check.words
    )


def _devices(world: World, gpus: list[Gpu]) -> tuple[str, ...]:
    if not any(world.files.exists(node) for node in _DRIVER_NODES):
        return ()
    known = (gpu.uuid if isinstance(gpu.uuid, Known) else gpu.index for gpu in gpus)
    named = tuple(str(fact.value) for fact in known if isinstance(fact, Known))
    # Without NVML nobody numbers the GPUs: CUDA itself takes the first.
    return named or ("0",)
