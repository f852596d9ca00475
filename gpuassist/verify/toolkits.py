"""Every toolkit proved: a kernel compiled by each nvcc with each host compiler for each kind of GPU, run, and compared whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Union

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.knowledge.choice import installed
from gpuassist.knowledge.compatibility import gcc_fits, toolkit_builds_for, toolkit_name_of
from gpuassist.knowledge.records import ToolkitRecord
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Command
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.toolkit import Compiler, Origin, Toolkit
from gpuassist.model.verdict import Cause, Verdict
from gpuassist.model.version import Code, ComputeCapability, Target
from gpuassist.system.terminal import own_terminal
from gpuassist.system.world import World
from gpuassist.verify.kernel import (
    KernelCheck,
    KernelVerdict,
    KernelWish,
    by_capability,
    compiled_kernel,
    devices_of,
    inside_conda,
    run_kernel,
    terminal_environment,
)
from gpuassist.verify.kernel_sources import ARRAYS
from gpuassist.verify.runner import Level

# For all of them; each compilation and each run has a limit of its own.
SECONDS = {Level.QUICK: 60.0, Level.FULL: 1800.0}

_SETS_HOST = ("NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")
_CUDA_ERROR = lazy_regex(r"^CUDA error (\d{1,4}):")
# cudaErrorMemoryAllocation and cudaErrorDevicesUnavailable (driver_types.h): the program itself takes a megabyte.
_HELD = {"2": Cause.MEMORY, "46": Cause.BUSY}
_VERDICTS = {
    KernelVerdict.RAN: Verdict.PASS,
    KernelVerdict.WRONG: Verdict.FAIL,
    KernelVerdict.HUNG: Verdict.HUNG,
    KernelVerdict.COMPILED: Verdict.SKIPPED,
}


class ToolkitBegun(Struct, frozen=True):
    """A check begins: what it is called, and on which GPU it will run (empty while it is compiled)."""

    name: Text
    device: str = ""


class ToolkitCheck(Struct, frozen=True):
    """What came of one nvcc with one host compiler for one architecture, on one GPU.

    `device` is the UUID or index by which CUDA was told the GPU, `gpu` its name; both are empty of what never came to run.
    `reason` says why it did not pass, `cause` why it was skipped, `said` is what the compiler or the program printed. `first`:
    it is the nvcc that new terminals find.
    """

    name: Text
    verdict: Verdict
    nvcc: str
    device: str = ""
    gpu: str = ""
    reason: Text | None = None
    cause: Cause | None = None
    said: str = ""
    command: tuple[str, ...] = ()
    seconds: float = 0.0
    first: bool = False


ToolkitEvent = Union[ToolkitBegun, ToolkitCheck]


class _Watch(Struct, frozen=True):
    """Until when, told to whom, and whether it is still wanted."""

    until: float
    on_event: Callable[[ToolkitEvent], None]
    cancelled: Callable[[], bool]


class _Host(Struct, frozen=True):
    """A host compiler: its path, empty for the one that nvcc takes by itself, and what it is called."""

    path: str
    name: Text


class _Tried(Struct, frozen=True):
    """An nvcc with what is known of it."""

    nvcc: str
    toolkit: Toolkit
    record: ToolkitRecord | None
    first: bool

    @property
    def name(self) -> Text:
        version = self.toolkit.version
        return text("nvcc {version}", version=str(version.value.release)) if isinstance(version, Known) else verbatim(self.nvcc)


def check_toolkits(
    world: World,
    knowledge: Knowledge,
    machine: Machine,
    *,
    level: Level,
    on_event: Callable[[ToolkitEvent], None],
    cancelled: Callable[[], bool],
) -> tuple[ToolkitCheck, ...]:
    """Quick: the nvcc that new terminals find, with its own host compiler. Full: every nvcc, with every host compiler that fits.

    What was found before it was `cancelled` is the result; `on_event` is called on this thread.
    """
    watch = _Watch(world.clock.monotonic() + SECONDS[level], on_event, cancelled)
    environment = terminal_environment(world, machine.shell.new_terminal)
    if not isinstance(machine.shell.new_terminal, Known):
        machine = replace(machine, shell=replace(machine.shell, new_terminal=own_terminal(world)))
    found = []
    for tried in _nvccs(knowledge, machine, level):
        inside = inside_conda(world, tried.nvcc, environment.get("PATH", ""))
        for check in _Job(world, machine, tried, {**environment, **inside}).checks(level, watch):
            found.append(check)
            on_event(check)
        if cancelled():
            break
    return tuple(found)


def _nvccs(knowledge: Knowledge, machine: Machine, level: Level) -> Iterator[_Tried]:
    """The one that new terminals find first, then the others."""
    typed = _typed(machine, "nvcc")
    every = [one for one in value_or(machine.toolkits, ()) if value_or(one.nvcc, "")]
    first = None if typed is None else next((one for one in every if _is(one, typed)), Toolkit(typed.real_path))
    if typed is not None and first is not None:
        yield _Tried(typed.path, first, _record(knowledge, first), first=True)
    if level is Level.FULL:
        for one in every:
            if one is not first:
                yield _Tried(value_or(one.nvcc, ""), one, _record(knowledge, one), first=False)


def _typed(machine: Machine, name: str) -> Command | None:
    terminal = machine.shell.new_terminal
    return terminal.value.command(name) if isinstance(terminal, Known) else None


def _is(toolkit: Toolkit, typed: Command) -> bool:
    return toolkit.runs_as(typed.path) or toolkit.runs_as(typed.real_path)


def _record(knowledge: Knowledge, toolkit: Toolkit) -> ToolkitRecord | None:
    return knowledge.toolkit(toolkit.version.value) if isinstance(toolkit.version, Known) else None


def _lacking(world: World, tried: _Tried) -> Text | None:
    """What a toolkit among the packages of a Python environment lacks: other packages bring its nvcc for its ptxas alone."""
    root = tried.toolkit.root
    if tried.first or value_or(tried.toolkit.origin, Origin.LOCAL) is not Origin.WHEEL:
        return None
    library = "libcudart_static.a"
    if not world.files.exists(f"{root}/include/cuda_runtime.h"):
        missing = "cuda_runtime.h"
    # NVIDIA's wheels have lib, what is laid out as its installer does has lib64 or targets.
    elif not any(world.files.glob(f"{root}/{place}/{library}") for place in ("lib", "lib64", "targets/*/lib")):
        missing = library
    else:
        return None
    return text("{root} is a part of a toolkit: nvcc finds no {missing} there", root=root, missing=missing)


class _Job:
    """All that is done with one nvcc."""

    def __init__(self, world: World, machine: Machine, tried: _Tried, environment: Mapping[str, str]) -> None:
        self._world, self._machine, self._tried = world, machine, tried
        self._environment = environment

    def checks(self, level: Level, watch: _Watch) -> Iterator[ToolkitCheck]:
        lacking = _lacking(self._world, self._tried)
        if lacking is not None:
            yield self._skipped(self._tried.name, lacking, Cause.ABSENT)
            return
        hosts = self._hosts(level)
        for capability, gpus in by_capability(self._machine).items():
            architecture = self._architecture(capability)
            if architecture is None:
                reason = text("it builds no code for compute capability {capability}", capability=str(capability))
                yield self._skipped(self._name(None, f"sm_{str(capability).replace('.', '')}"), reason, Cause.FORMAT)
                continue
            for host in hosts:
                if watch.cancelled():
                    return
                if self._world.clock.monotonic() >= watch.until:
                    yield self._skipped(self._name(host, architecture), text("not run: time"), Cause.TIME)
                else:
                    yield from self._with(host, architecture, gpus, watch)

    def _with(self, host: _Host, architecture: str, gpus: tuple[Gpu, ...], watch: _Watch) -> Iterator[ToolkitCheck]:
        """Compiled once, and run on each of the GPUs."""
        name, devices = self._name(host, architecture), devices_of(self._world, self._machine, gpus)
        told = self._environment
        if host.path:  # what the user's variables choose is the first of the host compilers, and not this one
            told = {variable: value for variable, value in told.items() if variable not in _SETS_HOST}
        wish = KernelWish(self._tried.nvcc, architecture, told, host=host.path, program=ARRAYS)
        if isinstance(devices, Unknown):
            wish = replace(wish, why_none=devices.reason)
        watch.on_event(ToolkitBegun(name))
        with compiled_kernel(self._world, wish, cancelled=watch.cancelled) as compiled:
            if compiled.check.verdict is KernelVerdict.CANCELLED:
                return
            if isinstance(devices, Unknown) or not compiled.check.passed:
                yield self._judged(name, compiled.check)
                return
            seconds = compiled.check.seconds  # the first that runs on it counts what compiling took
            for gpu, device in devices.value:
                watch.on_event(ToolkitBegun(name, device))
                ran = run_kernel(self._world, compiled, wish, device, cancelled=watch.cancelled)
                if ran.verdict is KernelVerdict.CANCELLED:
                    return
                check = self._judged(name, replace(ran, seconds=ran.seconds + seconds))
                yield replace(check, device=device, gpu=value_or(gpu.name, "") if gpu is not None else "")
                seconds = 0.0

    def _skipped(self, name: Text, reason: Text, cause: Cause) -> ToolkitCheck:
        return ToolkitCheck(name, Verdict.SKIPPED, self._tried.nvcc, reason=reason, cause=cause, first=self._tried.first)

    def _judged(self, name: Text, check: KernelCheck) -> ToolkitCheck:
        verdict = _VERDICTS.get(check.verdict, Verdict.ERROR)
        held = _CUDA_ERROR.search(check.said) if check.verdict is KernelVerdict.DID_NOT_RUN else None
        cause = _HELD.get(held[1]) if held is not None else None
        if check.verdict is KernelVerdict.COMPILED:
            cause = Cause.ABSENT
        return ToolkitCheck(
            name,
            Verdict.SKIPPED if cause is not None else verdict,
            self._tried.nvcc,
            reason=None if verdict is Verdict.PASS else check.ending or check.words,
            cause=cause,
            said=check.said,
            command=check.command,
            seconds=check.seconds,
            first=self._tried.first,
        )

    def _name(self, host: _Host | None, architecture: str) -> Text:
        nvcc = self._tried.name
        if host is None:
            return text("{nvcc} for {architecture}", nvcc=nvcc, architecture=architecture)
        if not architecture:
            return text("{nvcc} with {host}", nvcc=nvcc, host=host.name)
        return text("{nvcc} with {host} for {architecture}", nvcc=nvcc, host=host.name, architecture=architecture)

    def _architecture(self, capability: ComputeCapability | None) -> str | None:
        """What this nvcc calls the GPUs' own code; empty where the GPUs are not known, None where it has none for them."""
        if capability is None:
            return ""
        known = installed(self._tried.toolkit, self._tried.record)
        if known is not None and known.targets and not toolkit_builds_for(known.targets, capability):
            return None
        target = Target(capability, Code.CUBIN)
        return str((toolkit_name_of(self._tried.record, target) if self._tried.record is not None else None) or target)

    # The host compilers

    def _hosts(self, level: Level) -> tuple[_Host, ...]:
        taken, name = self._own()
        own = _Host("", name)
        if level is Level.QUICK or value_or(self._tried.toolkit.origin, Origin.LOCAL) is Origin.CONDA:
            return (own,)  # an environment's nvcc works with what its environment brings
        others = []
        seen = {self._world.files.real(taken)} if taken else set()
        for compiler in value_or(self._machine.compilers, ()):
            path = self._fitting(compiler)
            if path and self._world.files.real(path) not in seen:
                seen.add(self._world.files.real(path))
                others.append(_Host(path, _called(compiler)))
        return (own, *others)

    def _own(self) -> tuple[str, Text]:
        """The compiler of C++ that it takes by itself, empty where that is not known, and what it is called.

        nvcc takes the gcc that PATH finds, on which it puts its own directory first, unless a variable says otherwise (its
        documentation: --compiler-bindir, NVCC_PREPEND_FLAGS; what its -dryrun prints).
        """
        if value_or(self._tried.toolkit.origin, Origin.LOCAL) is Origin.CONDA:
            return "", text("the host compiler of its environment")
        for variable in _SETS_HOST:
            value = self._environment.get(variable, "")
            if value and (variable == "NVCC_CCBIN" or any(option in value for option in ("-ccbin", "--compiler-bindir"))):
                return "", text("the host compiler of {variable}", variable=variable)
        beside, typed = f"{self._tried.toolkit.root}/bin/g++", _typed(self._machine, "g++")
        path = beside if self._world.files.exists(beside) else typed.path if typed is not None else ""
        real = self._world.files.real(path) if path else ""
        compilers = [one for one in value_or(self._machine.compilers, ()) if self._world.files.real(one.path) == real]
        return path, _called(compilers[0]) if compilers else text("the host compiler that it takes")

    def _fitting(self, compiler: Compiler) -> str:
        """Where the compiler of C++ lies that goes with it, if this nvcc accepts that; empty where it does not, or nobody knows."""
        if not isinstance(compiler.version, Known) or compiler.family == "gcc":
            return ""
        toolkit, record = self._tried.toolkit, self._tried.record
        if compiler.family == "clang":
            limit = value_or(toolkit.clang_limit, record.clang_limit if record is not None else None)
            directory, _, name = compiler.path.rpartition("/")
            path = f"{directory}/{name.replace('clang', 'clang++', 1)}"
            fits = limit is not None and compiler.version.value.major <= limit and self._world.files.is_file(path)
            return path if fits else ""
        limit = value_or(toolkit.gcc_limit, record.gcc_limit if record is not None else None)
        return compiler.path if limit is not None and gcc_fits(limit, compiler.version.value) else ""


def _called(compiler: Compiler) -> Text:
    if isinstance(compiler.version, Unknown):
        return verbatim(compiler.path)
    return text("{family} {version}", family=compiler.family, version=str(compiler.version.value.major))
