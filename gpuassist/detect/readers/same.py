"""Whether a text is of the machine that is looked at, and the two as one where it is: what the text says wins."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.detect.readers.alike import same_gpu
from gpuassist.detect.readers.facts import agree
from gpuassist.detect.readers.join import unite
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import Fact, Known, T, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Distribution, Host, Machine
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version

_ANOTHER = "the text speaks of another environment"


def joined(told: Machine, live: Machine) -> Machine:
    """The machine as it is, but for what the text says of it; the environment that the text speaks of is the one that counts."""
    if not agree(_release(told.host), _release(live.host)):  # of a container on it: what mends the driver is typed outside
        told = replace(told, host=replace(told.host, distribution=live.host.distribution, glibc=live.host.glibc))
    both = unite(told, live)
    return replace(both, taken_at=live.taken_at, environments=_environments(told.environments, both.environments))


def same_machine(told: Machine, live: Machine) -> Text | None:
    """Why the text is plainly of another machine; None where it may be of this one."""
    return next(_differences(told, live), None)


def _environments(
    told: Fact[tuple[PythonEnvironment, ...]], both: Fact[tuple[PythonEnvironment, ...]]
) -> Fact[tuple[PythonEnvironment, ...]]:
    if not isinstance(told, Known) or not isinstance(both, Known):
        return both
    of_text, others = both.value[: len(told.value)], both.value[len(told.value) :]
    idle = tuple(replace(one, active=Known(False, _ANOTHER)) for one in others)  # noqa: FBT003 -- the fact's value
    return Known((*of_text, *idle), both.source)


def _differences(told: Machine, live: Machine) -> Iterator[Text]:
    yield from _host(told.host, live.host)
    if not _shares_hardware(told, live):
        yield from _distribution(told.host, live.host)
    missing = _missing(told.gpus, live.gpus)
    if missing is not None:
        yield text("the text names {gpu}, which the machine does not have", gpu=value_or(missing.name, "a GPU"))
    driver, here = _driver(told), _driver(live)
    if isinstance(driver, Known) and isinstance(here, Known) and not agree(driver, here):
        yield text("the text names driver {told}, the machine runs {live}", told=str(driver.value), live=str(here.value))


def _host(told: Host, live: Host) -> Iterator[Text]:
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


def _distribution(told: Host, live: Host) -> Iterator[Text]:
    if isinstance(told.distribution, Known) and isinstance(live.distribution, Known):
        one, other = told.distribution.value, live.distribution.value
        if not _same_distribution(one, other):
            yield text("the text is of {told}, the machine runs {live}", told=one.name or one.id, live=other.name or other.id)


def _shares_hardware(told: Machine, live: Machine) -> bool:
    """Whether kernel, a GPU's UUID, or driver and GPUs together show that a text of another distribution is of a container here."""
    if _both(told.host.kernel, live.host.kernel) and agree(told.host.kernel, live.host.kernel):
        return True
    uuids = {gpu.uuid.value for gpu in value_or(live.gpus, ()) if isinstance(gpu.uuid, Known)}
    if any(isinstance(gpu.uuid, Known) and gpu.uuid.value in uuids for gpu in value_or(told.gpus, ())):
        return True
    driver, here = _driver(told), _driver(live)
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


def _driver(machine: Machine) -> Fact[Version]:
    loaded = machine.driver.loaded
    return loaded.value[0].version if isinstance(loaded, Known) and loaded.value else machine.driver.version
