"""Several partial accounts of one machine joined to one; and whether a text is of the machine that is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.detect.readers.facts import CUT, agree, either, same_environment, same_gpu, same_toolkit, same_torch, united
from gpuassist.model.driver import KernelModule
from gpuassist.model.environment import PythonEnvironment, Torch
from gpuassist.model.fact import Fact, Known, T, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Distribution, Host, Machine
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.model.toolkit import Compiler
from gpuassist.model.version import Version

# The first account that speaks of a fact counts.


One = TypeVar("One", bound=Struct)

_LINE = lazy_regex(r", line (\d+)$")


class Contradiction(Struct, frozen=True):
    """A fact that a text states in two ways: what it says, and in which lines; the first value is the one that counts."""

    fact: Text
    values: tuple[str, ...]
    lines: tuple[int, ...]


class Joined(Struct, frozen=True):
    """The machine that the accounts make, and where they contradict each other."""

    machine: Machine
    contradictions: tuple[Contradiction, ...] = ()


def join(parts: tuple[Machine, ...]) -> Joined:
    """The parts as one; of two that speak of one fact, the first counts."""
    machine = Machine()
    told: dict[tuple[Text, frozenset[str]], Contradiction] = {}
    for part in parts:
        for one in _contradictions(machine, part):
            told.setdefault((one.fact, frozenset(one.values)), one)
        machine = unite(machine, part)
    return Joined(machine, tuple(told.values()))


def unite(first: Machine, second: Machine) -> Machine:
    """Two accounts as one; where both speak, the first counts."""
    if second == Machine():
        return first
    return replace(
        united(first, second),
        gpus=gpus(first.gpus, second.gpus),
        driver=replace(
            united(first.driver, second.driver),
            loaded=listed(first.driver.loaded, second.driver.loaded, _same_module),
            on_disk=listed(first.driver.on_disk, second.driver.on_disk, _same_module),
            libcuda=listed(first.driver.libcuda, second.driver.libcuda, lambda one, other: one.path == other.path),
        ),
        toolkits=listed(first.toolkits, second.toolkits, same_toolkit),
        compilers=listed(first.compilers, second.compilers, _same_compiler),
        environments=listed(first.environments, second.environments, same_environment, _environment),
        holders=listed(first.holders, second.holders, lambda one, other: one.pid == other.pid),
        shell=replace(
            united(first.shell, second.shell), new_terminal=_terminal(first.shell.new_terminal, second.shell.new_terminal)
        ),
    )


def listed(
    first: Fact[tuple[One, ...]],
    second: Fact[tuple[One, ...]],
    same: Callable[[One, One], bool],
    unite_two: Callable[[One, One], One] = united,
) -> Fact[tuple[One, ...]]:
    """Two lists as one: what is in both is united, what is in one alone stands as it is, the first list's before."""
    if not isinstance(first, Known) or not isinstance(second, Known):
        return either(first, second)
    left = list(second.value)
    found: list[One] = []
    for one in first.value:
        other = next((candidate for candidate in left if same(one, candidate)), None)
        if other is not None:
            left.remove(other)
        found.append(one if other is None else unite_two(one, other))
    return Known((*found, *left), first.source)


def gpus(first: Fact[tuple[Gpu, ...]], second: Fact[tuple[Gpu, ...]]) -> Fact[tuple[Gpu, ...]]:
    """Two lists of GPUs as one: where every GPU of the shorter is in the longer, they are of one machine; else the first counts."""
    if not isinstance(first, Known) or not isinstance(second, Known):
        return either(first, second)
    joined = listed(first, second, same_gpu, _gpu)
    most = max(len(first.value), len(second.value))
    return joined if len(value_or(joined, ())) == most else first


def _gpu(first: Gpu, second: Gpu) -> Gpu:
    """A name that is cut short in a table may stand elsewhere in full."""
    cut = isinstance(first.name, Known) and first.name.value.endswith(CUT) and isinstance(second.name, Known)
    both = united(first, second)
    return replace(both, name=second.name) if cut else both


def _environment(first: PythonEnvironment, second: PythonEnvironment) -> PythonEnvironment:
    name = next((one.name for one in (first, second) if one.name and not one.name.startswith("python")), first.name or second.name)
    both = united(first, second)
    return replace(both, name=name, torch=listed(first.torch, second.torch, same_torch, _torch))


def _torch(first: Torch, second: Torch) -> Torch:
    """The longer of two versions tells more: pip leaves `+cu124` out."""
    told = sorted((first.version, second.version), key=lambda one: -len(value_or(one, "")))
    return replace(united(first, second), version=told[0])


def _terminal(first: Fact[Terminal], second: Fact[Terminal]) -> Fact[Terminal]:
    """What a text tells of a terminal is a part of it; the rest is as the other account has it."""
    if not isinstance(first, Known) or not isinstance(second, Known) or first.value.whole:
        return either(first, second)
    one, other = first.value, second.value
    variables = (*one.variables, *(variable for variable in other.variables if not one.is_set(variable.name)))
    # A program at the same place in both leads where the account says that could follow its links.
    known = ((command, other.command(command.name)) for command in one.commands)
    told = tuple(there if there is not None and there.path == command.path else command for command, there in known)
    names = {command.name for command in one.commands}
    commands = (*told, *(command for command in other.commands if command.name not in names))
    return Known(Terminal(other.shell, variables, commands), first.source)


def _same_compiler(one: Compiler, other: Compiler) -> bool:
    return (
        one.family == other.family
        and (one.path == other.path or not one.path or not other.path)
        and agree(one.version, other.version)
    )


def _same_module(one: KernelModule, other: KernelModule) -> bool:
    return (one.path == other.path or not one.path or not other.path) and agree(one.version, other.version)


def _contradictions(first: Machine, second: Machine) -> Iterator[Contradiction]:
    for label, one, other in _comparable(first, second):
        if isinstance(one, Known) and isinstance(other, Known) and not agree(one, other):
            yield Contradiction(label, (str(one.value), str(other.value)), (_line(one.source), _line(other.source)))
    one_list, other_list = first.gpus, second.gpus
    if isinstance(one_list, Known) and isinstance(other_list, Known) and gpus(one_list, other_list) is one_list != other_list:
        values = (_gpu_names(one_list.value), _gpu_names(other_list.value))
        yield Contradiction(text("the GPUs"), values, (_line(one_list.source), _line(other_list.source)))


def _comparable(first: Machine, second: Machine) -> Iterator[tuple[Text, Fact[object], Fact[object]]]:
    yield text("the driver's version"), first.driver.version, second.driver.version
    yield text("the CUDA that the driver speaks"), first.driver.cuda_version, second.driver.cuda_version
    if isinstance(first.driver.loaded, Known) or isinstance(second.driver.loaded, Known):
        yield text("the loaded kernel module"), _module_version(first), _module_version(second)
    yield text("NVML's answer"), _status(first), _status(second)
    yield text("the kernel"), first.host.kernel, second.host.kernel
    yield text("the distribution"), _distribution(first), _distribution(second)
    yield text("the processor's architecture"), first.host.architecture, second.host.architecture


def _module_version(machine: Machine) -> Fact[Version]:
    loaded = machine.driver.loaded
    return loaded.value[0].version if isinstance(loaded, Known) and loaded.value else machine.driver.version


def _status(machine: Machine) -> Fact[object]:
    told = machine.driver.nvml_status
    return Known(told.value.name, told.source) if isinstance(told, Known) else told


def _distribution(machine: Machine) -> Fact[object]:
    told = machine.host.distribution
    return Known(" ".join(filter(None, (told.value.id, told.value.version_id))), told.source) if isinstance(told, Known) else told


def _gpu_names(every: tuple[Gpu, ...]) -> str:
    return ", ".join(value_or(gpu.name, "?") for gpu in every)


def _line(source: str) -> int:
    found = _LINE.search(source)
    return int(found[1]) if found else 0


# A text and the machine that is looked at: where they are one, what the text says wins.


_ANOTHER = "the text speaks of another environment"


def joined(told: Machine, live: Machine) -> Machine:
    """The machine as it is, but for what the text says of it; the environment that the text speaks of is the one that counts."""
    if not agree(_release(told.host), _release(live.host)):  # of a container on it: what mends the driver is typed outside
        told = replace(told, host=replace(told.host, distribution=live.host.distribution, glibc=live.host.glibc))
    both = replace(unite(told, live), taken_at=live.taken_at)
    if not isinstance(told.environments, Known) or not isinstance(both.environments, Known):
        return both
    count = len(told.environments.value)
    of_text, others = both.environments.value[:count], both.environments.value[count:]
    idle = (replace(one, active=Known(value=False, source=_ANOTHER)) for one in others)
    return replace(both, environments=Known((*of_text, *idle), both.environments.source))


def same_machine(told: Machine, live: Machine) -> Text | None:
    """Why the text is plainly of another machine; None where it may be of this one."""
    return next(_differences(told, live), None)


def _differences(told: Machine, live: Machine) -> Iterator[Text]:
    yield from _host_differences(told.host, live.host)
    named, running = told.host.distribution, live.host.distribution
    if isinstance(named, Known) and isinstance(running, Known) and not _shares_hardware(told, live):
        one, other = named.value, running.value
        if not _same_distribution(one, other):
            yield text("the text is of {told}, the machine runs {live}", told=one.name or one.id, live=other.name or other.id)
    missing = _missing(told.gpus, live.gpus)
    if missing is not None:
        yield text("the text names {gpu}, which the machine does not have", gpu=value_or(missing.name, "a GPU"))
    driver, here = _module_version(told), _module_version(live)
    if isinstance(driver, Known) and isinstance(here, Known) and not agree(driver, here):
        yield text("the text names driver {told}, the machine runs {live}", told=str(driver.value), live=str(here.value))


def _host_differences(told: Host, live: Host) -> Iterator[Text]:
    if isinstance(told.wsl, Known) and isinstance(live.wsl, Known) and bool(told.wsl.value) != bool(live.wsl.value):
        yield (
            text("the text is of WSL, the machine is not") if told.wsl.value else text("the machine is WSL, the text is not of one")
        )
    if (
        isinstance(told.container, Known)
        and isinstance(live.container, Known)
        and told.container.value
        and not live.container.value
    ):
        yield text("the text is of a container")
    if not agree(told.architecture, live.architecture):
        yield text("the text is of a machine of another processor architecture")


def _shares_hardware(told: Machine, live: Machine) -> bool:
    """Whether kernel, a GPU's UUID, or driver and GPUs together show that a text of another distribution is of a container here."""
    if _both(told.host.kernel, live.host.kernel) and agree(told.host.kernel, live.host.kernel):
        return True
    uuids = {gpu.uuid.value for gpu in value_or(live.gpus, ()) if isinstance(gpu.uuid, Known)}
    if any(isinstance(gpu.uuid, Known) and gpu.uuid.value in uuids for gpu in value_or(told.gpus, ())):
        return True
    driver, here = _module_version(told), _module_version(live)
    same = _both(driver, here) and agree(driver, here) and bool(value_or(told.gpus, ()))
    return same and _missing(told.gpus, live.gpus) is None


def _both(one: Fact[T], other: Fact[T]) -> bool:
    return isinstance(one, Known) and isinstance(other, Known)


def _release(host: Host) -> Fact[tuple[str, str]]:
    told = host.distribution
    return Known((told.value.id, told.value.version_id), told.source) if isinstance(told, Known) else told


def _same_distribution(one: Distribution, other: Distribution) -> bool:
    if one.id and other.id and one.id != other.id:
        return False
    pieces = zip(one.version_id.split("."), other.version_id.split("."), strict=False)  # Debian 12 is a Debian 12.5
    return not one.version_id or not other.version_id or all(first == second for first, second in pieces)


def _missing(told: Fact[tuple[Gpu, ...]], live: Fact[tuple[Gpu, ...]]) -> Gpu | None:
    """A GPU of the text that this machine lacks; the addresses and numbers of GPUs change with a slot, their names do not."""
    if not isinstance(told, Known) or not isinstance(live, Known):
        return None
    left = list(live.value)
    for gpu in told.value:
        found = next((one for one in left if same_gpu(_by_name(gpu), _by_name(one))), None)
        if found is None:
            return gpu
        left.remove(found)
    return None


def _by_name(gpu: Gpu) -> Gpu:
    return Gpu(name=gpu.name, compute_capability=gpu.compute_capability, uuid=gpu.uuid)
