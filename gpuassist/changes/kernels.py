"""The proof of a toolkit on this machine's GPUs: a kernel compiled for each of their architectures, as in a new terminal."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.model.fact import Fact, Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, listed, text
from gpuassist.verify.kernel import KernelCheck, KernelWish, by_capability, check_kernel, devices_of, terminal_environment


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
    environment = terminal_environment(session.world, terminal)
    proofs = []
    for capability, gpus in by_capability(machine).items():
        architecture = f"sm_{capability.major}{capability.minor}" if capability is not None else ""
        if cancelled is not None and cancelled():
            break
        doing = (
            text("compiling a kernel for {architecture}", architecture=architecture) if architecture else text("compiling a kernel")
        )
        on_progress(doing)
        wish = KernelWish(nvcc, architecture, environment)
        devices = devices_of(session.world, machine, gpus)
        if isinstance(devices, Known):
            wish = replace(wish, devices=tuple(device for _, device in devices.value))
        else:
            wish = replace(wish, why_none=devices.reason)
        names = tuple(value_or(gpu.name, "?") for gpu in gpus)
        proofs.append(KernelProof(architecture, names, check_kernel(session.world, wish, cancelled=cancelled)))
    return tuple(proofs)


def told(proof: KernelProof) -> Text:
    """The proof in one sentence."""
    if not proof.architecture:
        return text("a kernel for the architecture that nvcc chooses by itself: {words}", words=proof.check.words)
    names = listed(dict.fromkeys(proof.gpus))
    return text(
        "a kernel for {architecture} ({gpus}): {words}", architecture=proof.architecture, gpus=names, words=proof.check.words
    )
