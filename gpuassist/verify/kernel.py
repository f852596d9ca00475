"""The proof of a compiler: a small kernel, compiled for a GPU and, where there is one, run on it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.model.version import ComputeCapability
from gpuassist.system.disk import scratch
from gpuassist.system.login import login_environment
from gpuassist.system.own_child import clean
from gpuassist.system.ownership import own_cache, why_not_run
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.system.streams import MARK
from gpuassist.system.world import World
from gpuassist.verify.kernel_sources import ANSWER, KernelProgram

COMPILE_SECONDS = 120.0
RUN_SECONDS = 30.0
_WORDS_AT_MOST = 4000
_WRONG_AT_MOST = 400
_DRIVER_NODES = ("/dev/nvidiactl", "/dev/dxg")  # Linux; WSL


class KernelVerdict(str, Enum):
    """How far the kernel came."""

    RAN = "ran"
    COMPILED = "compiled"
    NOT_COMPILED = "not compiled"
    DID_NOT_RUN = "did not run"
    WRONG = "wrong result"
    HUNG = "hung"
    CANCELLED = "cancelled"


class KernelCheck(Struct, frozen=True):
    """What came of it: `words` are for the user, `said` is what the compiler or the kernel's program printed, `ending` alone what
    became of a kernel that was run and did not pass.
    """

    verdict: KernelVerdict
    words: Text
    command: tuple[str, ...]
    said: str = ""
    seconds: float = 0.0
    ending: Text | None = None

    @property
    def passed(self) -> bool:
        """Whether nothing stands in the way as far as could be looked."""
        return self.verdict in {KernelVerdict.RAN, KernelVerdict.COMPILED}


class KernelWish(Struct, frozen=True):
    """What to compile with and for: `architecture` is `sm_89`, empty for the compiler's own choice; `devices` are the UUIDs or
    indices to run it on one after the other, or why there are none; `host` is the host compiler, empty for the one that nvcc
    takes by itself.
    """

    nvcc: str
    architecture: str
    environment: Mapping[str, str]
    devices: tuple[str, ...] = ()
    why_none: Text = text("no driver is loaded")
    host: str = ""
    program: KernelProgram = ANSWER


class CompiledKernel(Struct, frozen=True):
    """What came of compiling, and the directory that the program lies in."""

    check: KernelCheck
    directory: str


def check_kernel(world: World, wish: KernelWish, *, cancelled: Callable[[], bool] | None = None) -> KernelCheck:
    """Compiles the kernel in a directory of its own, then runs it on each device; stops soon after it was `cancelled`."""
    with compiled_kernel(world, wish, cancelled=cancelled) as compiled:
        check = compiled.check
        if not check.passed:
            return check
        for device in wish.devices:
            ran = run_kernel(world, compiled, wish, device, cancelled=cancelled)
            check = replace(ran, seconds=check.seconds + ran.seconds)
            if not check.passed:
                break
        return check


@contextmanager
def compiled_kernel(world: World, wish: KernelWish, *, cancelled: Callable[[], bool] | None = None) -> Iterator[CompiledKernel]:
    """The kernel compiled in a directory of its own, which goes in the end, and with it whatever compiling left."""
    options = (f"-arch={wish.architecture}",) if wish.architecture else ()
    host = ("-ccbin", wish.host) if wish.host else ()
    command = (wish.nvcc, *options, *host, "-o", "kernel", "kernel.cu")
    refused = why_not_run(world, command) or (why_not_run(world, (wish.host,)) if wish.host else None)
    if refused is not None:
        yield CompiledKernel(KernelCheck(KernelVerdict.NOT_COMPILED, text("not compiled: {words}", words=refused), command), "")
        return
    mark = secrets.token_hex(8)
    with scratch(own_cache(world)) as directory:
        world.disk.create(f"{directory}/kernel.cu")
        world.disk.write(f"{directory}/kernel.cu", wish.program.source.encode())
        environment = {**wish.environment, "TMPDIR": directory, MARK: mark}
        try:
            outcome = world.processes.run(
                command, seconds=COMPILE_SECONDS, environment=environment, directory=directory, cancelled=cancelled
            )
            yield CompiledKernel(_compiled(wish, command, outcome), directory)
        finally:
            world.programs.end_marked(mark)  # what left the compiler's process group, which was ended


def run_kernel(
    world: World, compiled: CompiledKernel, wish: KernelWish, device: str, *, cancelled: Callable[[], bool] | None = None
) -> KernelCheck:
    """Runs a kernel that was compiled on one device, a UUID or an index."""
    command, directory = compiled.check.command, compiled.directory
    chosen = {**wish.environment, "CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": device}
    outcome = world.processes.run(
        (f"{directory}/kernel",), seconds=RUN_SECONDS, environment=chosen, directory=directory, cancelled=cancelled
    )
    if outcome.ending is Ending.CANCELLED:
        words = text("compiled; cancelled before it ran on the GPU {device}", device=device)
        return KernelCheck(KernelVerdict.CANCELLED, words, command, "", outcome.seconds)
    if not outcome.succeeded:
        verdict = KernelVerdict.HUNG if outcome.ending is Ending.TIMED_OUT else KernelVerdict.DID_NOT_RUN
        ending, said = _ending(outcome), _said(outcome)
    elif (found := outcome.text.strip()) != wish.program.right:
        verdict = KernelVerdict.WRONG
        ending, said = _wrong(wish.program, found), _decoded(outcome.stderr)  # a number is no message, and nobody can explain one
    else:
        words = text("compiled, run, and the result is right")
        return KernelCheck(KernelVerdict.RAN, words, command, "", outcome.seconds)
    words = text("compiled, but on the GPU {device} {ending}", device=device, ending=ending)
    return KernelCheck(verdict, words, command, said, outcome.seconds, ending)


def _compiled(wish: KernelWish, command: tuple[str, ...], outcome: ProcessResult) -> KernelCheck:
    seconds = outcome.seconds
    if outcome.ending is Ending.CANCELLED:
        return KernelCheck(KernelVerdict.CANCELLED, text("cancelled before it was compiled"), command, "", seconds)
    if outcome.succeeded:
        words = text("compiled; not run, because {reason}", reason=wish.why_none)
        return KernelCheck(KernelVerdict.COMPILED, words, command, "", seconds)
    if outcome.ending is not Ending.EXITED:
        why_not = text("not compiled: {nvcc} {ending}", nvcc=wish.nvcc, ending=_ending(outcome))
    elif not _said(outcome):
        why_not = text("not compiled: {nvcc} said nothing (exit status {status})", nvcc=wish.nvcc, status=outcome.status)
    else:
        why_not = text("not compiled: {words}", words=first_error(_said(outcome)))
    verdict = KernelVerdict.HUNG if outcome.ending is Ending.TIMED_OUT else KernelVerdict.NOT_COMPILED
    return KernelCheck(verdict, why_not, command, _said(outcome), seconds)


def _ending(outcome: ProcessResult) -> Text:
    if outcome.ending is Ending.TIMED_OUT:
        return text("took longer than {seconds:.0f} s", seconds=outcome.seconds)
    if outcome.ending is Ending.KILLED:
        return text("was killed by signal {number}", number=outcome.status)
    if outcome.ending is not Ending.EXITED:
        return text("could not be started: {words}", words=outcome.words)
    return text("it failed: {words}", words=first_error(_said(outcome)) or str(outcome.status))


def _wrong(program: KernelProgram, found: str) -> Text:
    shown = "; ".join(found[:_WRONG_AT_MOST].splitlines()) or "''"
    if program.tells:
        return text("the result is wrong: {found}", found=shown)
    return text("the result was {found} and not {expected}", found=shown, expected=program.right)


def _said(outcome: ProcessResult) -> str:
    return _decoded(outcome.stderr + outcome.stdout)


def _decoded(said: bytes) -> str:
    return said.decode("utf-8", "replace").strip()[:_WORDS_AT_MOST]


_ERROR = lazy_regex(r"\b(?:error|fatal)\b", re.IGNORECASE)
# What fails without that word: the linker, the shell that looks for a part of the toolkit.
_FAILURE = lazy_regex(r"undefined reference|cannot find|: not found|No such file")


def first_error(said: str) -> str:
    """The line that names the error: nvcc and the host compiler warn before they fail, and the linker's driver, which is called
    collect2, only repeats that it did.
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    named = [line for line in lines if (_ERROR.search(line) or _FAILURE.search(line)) and "warning:" not in line]
    own = [line for line in named if not line.startswith("collect2:")]
    return (own or named or lines or [""])[0]


# On what, and in which surroundings: as a new terminal would.


def terminal_environment(world: World, terminal: Fact[Terminal]) -> dict[str, str]:
    """What programs get in a new terminal; where nobody asked one, what gpuassist itself has."""
    around = world.surroundings
    if isinstance(terminal, Known):
        held = {one.name: one.value for one in terminal.value.variables}
        login = login_environment(world.files, around, shell=around.login_shell, home=around.home)
    else:
        held, login = {}, clean(around.variables)
    # What hides GPUs from programs is not what is proved here, and each is chosen by name.
    return {**login, **{name: value for name, value in held.items() if name != "CUDA_VISIBLE_DEVICES"}}


def inside_conda(world: World, nvcc: str, path: str) -> dict[str, str]:
    """What activating an environment of conda's sets for its nvcc: the host compiler beside it (conda-forge's cuda-nvcc)."""
    prefix = nvcc.removesuffix("/bin/nvcc")
    if not world.files.is_directory(f"{prefix}/conda-meta"):
        return {}
    compiler = next(iter(world.files.glob(f"{prefix}/bin/*-conda-linux-gnu-c++")), "")
    flags = {"NVCC_PREPEND_FLAGS": f"-ccbin={compiler}"} if compiler else {}
    return {"PATH": f"{prefix}/bin:{path}", "CONDA_PREFIX": prefix, **flags}


def by_capability(machine: Machine) -> dict[ComputeCapability | None, tuple[Gpu, ...]]:
    """The machine's GPUs by what code runs on them, None where that is not known; one of no GPUs where there is none."""
    found: dict[ComputeCapability | None, tuple[Gpu, ...]] = {}
    for gpu in value_or(machine.gpus, ()):
        capability = value_or(gpu.compute_capability, None)
        found[capability] = (*found.get(capability, ()), gpu)
    return found or {None: ()}


def devices_of(world: World, machine: Machine, gpus: tuple[Gpu, ...]) -> Fact[tuple[tuple[Gpu | None, str], ...]]:
    """Each of some GPUs of the machine with the name by which CUDA is told to take it, or why nothing runs on any of them.

    A GPU that is divided (MIG) is taken by its instances. Where nobody numbers the GPUs, CUDA itself takes the first.
    """
    if not any(world.files.exists(node) for node in _DRIVER_NODES):
        return Unknown(text("no driver is loaded"))
    known = tuple((gpu, name) for gpu in gpus for name in _names(gpu))
    if not known and any(_names(gpu) for gpu in value_or(machine.gpus, ())):
        return Unknown(text("the driver does not list this GPU"))
    return Known(known or ((gpus[0] if gpus else None, "0"),), "NVML")


def _names(gpu: Gpu) -> tuple[str, ...]:
    instances = value_or(gpu.mig_uuids, ()) if gpu.mig_enabled.is_true else ()
    if instances:
        return instances
    fact = gpu.uuid if isinstance(gpu.uuid, Known) else gpu.index
    return (str(fact.value),) if isinstance(fact, Known) else ()
