"""GPUs from the PCI tree, which needs no driver and wakes no sleeping GPU."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from gpuassist.detect.small_files import made, read, unreadable
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.gpu import Gpu, PcieLink, PowerState
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text
from gpuassist.system.files import Files
from gpuassist.system.pci import DEVICES, is_gpu, is_nvidia
from gpuassist.system.world import World

_ADDRESS = lazy_regex(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_SPEED = lazy_regex(r"(\d+(?:\.\d+)?) GT/s")
_DRIVER = "/proc/driver/nvidia/gpus"
_MEMORY, _WIDE = 0x200, 0x100000  # IORESOURCE_MEM, IORESOURCE_MEM_64 (linux/ioport.h)
_UNTRAINED_WIDTHS = (0, 63)  # what a link that is down shows


def probe(world: World, knowledge: Knowledge) -> Fact[tuple[Gpu, ...]]:
    """Every NVIDIA GPU by its address, named from the table of PCI ids."""
    files = world.files
    if not files.is_directory(DEVICES):
        return Unknown(text("{path} is not there, so the PCI devices cannot be listed", path=DEVICES))
    silent: list[Unknown] = []
    gpus = []
    for address in files.names(DEVICES):
        path = f"{DEVICES}/{address}"
        found = made(read(files, f"{path}/vendor"), is_nvidia)
        if isinstance(found, Known) and found.value:
            found = made(read(files, f"{path}/class"), is_gpu)
        if isinstance(found, Unknown):
            silent.append(found)
        elif found.value:
            power_state = _power_state(files, path)
            asleep = isinstance(power_state, Known) and power_state.value is PowerState.ASLEEP
            gpu = Gpu(
                pci_address=Known(address, path),
                pci_id=made(read(files, f"{path}/device"), lambda words: f"10de:{int(words, 16):04x}"),
                kernel_driver=_kernel_driver(files, path),
                power_state=power_state,
                pcie_link=Unknown(text("the GPU is asleep, and its link with it")) if asleep else link_of(files, path),
                addressed=made(read(files, f"{path}/resource"), _is_addressed),
                excluded=NOT_ASKED if asleep else _told_by_driver(files, f"{_DRIVER}/{address}/information", "GPU Excluded", "Yes"),
                sleeps=_told_by_driver(files, f"{_DRIVER}/{address}/power", "Runtime D3 status", "Enabled"),
            )
            gpus.append(named(gpu, knowledge))
    if silent and not gpus:
        return silent[0]
    return Known(tuple(gpus), DEVICES)


def named(gpu: Gpu, knowledge: Knowledge) -> Gpu:
    """The GPU with name, architecture and compute capability by its PCI id."""
    if isinstance(gpu.pci_id, Unknown):
        return replace(gpu, name=gpu.pci_id, architecture=gpu.pci_id, compute_capability=gpu.pci_id)
    record = knowledge.gpu(gpu.pci_id.value)
    if record is None:
        unlisted = Unknown(text("gpuassist's list of GPUs does not have the PCI id {pci_id}", pci_id=gpu.pci_id.value))
        return replace(gpu, name=unlisted, architecture=unlisted, compute_capability=unlisted)
    capability = record.compute_capability
    return replace(
        gpu,
        name=Known(record.name, record.list_name),
        architecture=Known(record.architecture, record.list_name),
        compute_capability=Known(capability, record.list_name)
        if capability
        else Unknown(text("the compute capability of {chip} is not published", chip=record.chip)),
    )


def _kernel_driver(files: Files, path: str) -> Fact[str]:
    link = f"{path}/driver"
    if not files.is_link(link):
        return Known("", path)
    try:
        return Known(files.readlink(link).rpartition("/")[2], link)
    except OSError as error:
        return unreadable(link, error)


def _power_state(files: Files, path: str) -> Fact[PowerState]:
    runtime = read(files, f"{path}/power/runtime_status")
    device = read(files, f"{path}/power_state")
    for state, sleeping in ((runtime, ("suspended",)), (device, ("D3cold", "D3hot"))):
        if isinstance(state, Known) and state.value in sleeping:
            return Known(PowerState.ASLEEP, state.source)
    for state, waking in ((runtime, ("active", "resuming", "suspending")), (device, ("D0", "D1", "D2"))):
        if isinstance(state, Known) and state.value in waking:
            return Known(PowerState.ACTIVE, state.source)
    return (
        runtime if isinstance(runtime, Unknown) else Unknown(text("{path} says {state}", path=runtime.source, state=runtime.value))
    )


def link_of(files: Files, path: str) -> Fact[PcieLink]:
    """What the way from the GPU to the processor carries; `path` is the device's own in sysfs."""
    facts = (
        _least(files, path, "current_link_width", _width),
        _least(files, path, "max_link_width", _width),
        _least(files, path, "current_link_speed", _speed),
        _least(files, path, "max_link_speed", _speed),
    )
    known = [fact.value for fact in facts if isinstance(fact, Known)]
    if len(known) < len(facts):
        return next(fact for fact in facts if isinstance(fact, Unknown))
    width, max_width, speed, max_speed = known
    return Known(PcieLink(int(width), int(max_width), speed, max_speed), path)


def _least(files: Files, path: str, name: str, parse: Callable[[str], float]) -> Fact[float]:
    # A switch or an external enclosure may be slower than both the GPU and its own slot: the whole way up counts.
    least = made(read(files, f"{path}/{name}"), parse)
    if isinstance(least, Unknown):
        return least
    bridge = files.real(path).rpartition("/")[0]
    while _ADDRESS.fullmatch(bridge.rpartition("/")[2]):
        above = made(read(files, f"{bridge}/{name}"), parse)
        if isinstance(above, Known) and above.value < least.value:
            least = above
        bridge = bridge.rpartition("/")[0]
    return least


def _width(words: str) -> float:
    width = int(words)
    if width in _UNTRAINED_WIDTHS:
        raise ValueError(words)
    return width


def _speed(words: str) -> float:
    found = _SPEED.match(words)
    if found is None:
        raise ValueError(words)
    return float(found[1])


def _is_addressed(words: str) -> bool:
    """Whether each of the GPU's regions has a place: the kernel keeps the flags of one that it found none for, or clears them."""
    regions = [tuple(int(number, 16) for number in line.split()) for line in words.splitlines()[:5]]
    if len(regions) < 2 or any(len(region) != 3 for region in regions):
        raise ValueError(words)
    homeless = any(flags & _MEMORY and not start for start, _, flags in regions)
    gone = not regions[0][2] & _WIDE and not any(regions[1])  # a narrow first region is never the only one
    return not (homeless or gone)


def _told_by_driver(files: Files, path: str, label: str, answer: str) -> Fact[bool]:
    lines = made(read(files, path), str.splitlines)
    if isinstance(lines, Unknown):
        return NOT_ASKED  # the driver is not loaded, or too old to say
    told = [
        value.strip() for name, colon, value in (line.partition(":") for line in lines.value) if colon and name.strip() == label
    ]
    return Known(told[0].startswith(answer), path) if told else NOT_ASKED
