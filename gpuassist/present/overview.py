"""A machine in words, for the first page: the title, a card for each GPU, the software rows, the host.

Everything here is a `Text` with its source; nothing is judged, that is what rules are for.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from gpuassist.model.chain import Status
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.gpu import Gpu, PowerState, Recovery
from gpuassist.model.machine import Host, Machine
from gpuassist.model.text import Text, counted, text, verbatim
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version

_GIB = 1024**3
_NVML_SUCCESS = 0
# Transfer rates of PCI Express 1.0 to 7.0 in GT/s (PCI-SIG).
_PCIE_GENERATION = {2.5: "1.0", 5.0: "2.0", 8.0: "3.0", 16.0: "4.0", 32.0: "5.0", 64.0: "6.0", 128.0: "7.0"}


class CardRow(Struct, frozen=True):
    """One row of a card; `known` is false where `value` is the reason why there is none."""

    label: Text
    value: Text
    source: str = ""
    strong: bool = False
    known: bool = True


class GpuCard(Struct, frozen=True):
    """What the card of one GPU says; `figures` are those that stand beside each other's where there are many."""

    title: Text
    subtitle: Text
    status: Status
    state: Text
    lines: tuple[CardRow, ...]
    index: int | None
    figures: tuple[CardRow, ...]


FIGURES = (text("Compute capability"), text("Memory"), text("PCIe"), text("Kernel driver"))


def title(machine: Machine) -> Text:
    """The machine in one line."""
    version = driver_version(machine)
    if isinstance(version, Known):
        driver_in_title = text("driver {branch}", branch=version.value.major)
    elif is_true(machine.driver.nouveau_loaded):
        driver_in_title = text("nouveau instead of NVIDIA's driver")
    else:
        loaded = machine.driver.loaded
        driver_in_title = text("no driver") if isinstance(loaded, Known) and not loaded.value else text("driver not known")
    parts = [_gpus_in_title(machine.gpus), driver_in_title]
    toolkits = value_or(machine.toolkits, ())
    if toolkits:
        parts.append(text("two toolkits") if len(toolkits) == 2 else counted("one toolkit", "{count} toolkits", len(toolkits)))
    if len(parts) == 2:
        return text("{gpus}, {driver}", gpus=parts[0], driver=parts[1])
    return text("{gpus}, {driver}, {toolkits}", gpus=parts[0], driver=parts[1], toolkits=parts[2])


def _gpus_in_title(gpus: Fact[tuple[Gpu, ...]]) -> Text:
    if isinstance(gpus, Unknown):
        return text("The GPUs could not be read")
    if not gpus.value:
        return text("No NVIDIA GPU")
    if len(gpus.value) == 1:
        name = value_or(gpus.value[0].name, "")
        return verbatim(short_name(name)) if name else text("One NVIDIA GPU")
    return text("Two NVIDIA GPUs") if len(gpus.value) == 2 else counted("One NVIDIA GPU", "{count} NVIDIA GPUs", len(gpus.value))


def driver_version(machine: Machine) -> Fact[Version]:
    """The version of the driver that is running: NVML's word, else the loaded module's."""
    if isinstance(machine.driver.version, Known):
        return machine.driver.version
    loaded = value_or(machine.driver.loaded, ())
    return next((module.version for module in loaded if isinstance(module.version, Known)), machine.driver.version)


def short_name(name: str) -> str:
    """`RTX 4090` of `NVIDIA GeForce RTX 4090`."""
    return name.removeprefix("NVIDIA ").removeprefix("GeForce ")


def gpu_cards(machine: Machine) -> tuple[GpuCard, ...]:
    gpus = value_or(machine.gpus, ())
    status = machine.driver.nvml_status
    nvml_works = isinstance(status, Known) and status.value.code == _NVML_SUCCESS
    numbered = any(isinstance(gpu.index, Known) for gpu in gpus)  # then a place in the list is no number: one of them has it
    places = ((None if numbered else place, gpu) for place, gpu in enumerate(gpus))
    return tuple(_gpu_card(place, gpu, nvml_works=nvml_works, lists_some=numbered) for place, gpu in places)


def _gpu_card(place: int | None, gpu: Gpu, *, nvml_works: bool, lists_some: bool) -> GpuCard:
    name = gpu.name.value if isinstance(gpu.name, Known) and gpu.name.value else ""
    status, state = _gpu_state(gpu, nvml_works=nvml_works, lists_some=lists_some)
    lines = (_architecture(gpu), _memory(gpu), _link(gpu), _bound(gpu), _display(gpu), _mig(gpu))
    index = value_or(gpu.index, place)
    where = value_or(gpu.pci_address, "")
    if index is None:
        subtitle = verbatim(where)
    else:
        subtitle = text("GPU {index} · {address}", index=index, address=where) if where else text("GPU {index}", index=index)
    return GpuCard(
        verbatim(name) if name else text("NVIDIA GPU {id}", id=value_or(gpu.pci_id, "")),
        subtitle,
        status,
        state,
        tuple(one for one in lines if one is not None),
        index,
        _figures(gpu),
    )


def _figures(gpu: Gpu) -> tuple[CardRow, ...]:
    """Each in as few words as there are."""
    total, link, capability = gpu.memory_total_bytes, gpu.pcie_link, gpu.compute_capability
    return (
        line(FIGURES[0], capability),
        line(FIGURES[1], total, gibibytes(total.value) if isinstance(total, Known) else None),
        line(FIGURES[2], link, link_words(link.value.speed_gigatransfers, link.value.width) if isinstance(link, Known) else None),
        _bound(gpu),
    )


def _gpu_state(gpu: Gpu, *, nvml_works: bool, lists_some: bool) -> tuple[Status, Text]:
    if value_or(gpu.power_state, PowerState.ACTIVE) is PowerState.ASLEEP:
        return Status.UNKNOWN, text("asleep, not woken")
    if isinstance(gpu.uuid, Known) and gpu.uuid.value:
        return Status.RIGHT, text("ready")
    driver = gpu.kernel_driver
    if isinstance(driver, Known) and driver.value != "nvidia":
        return Status.PROBLEM, text("driven by {driver}", driver=driver.value) if driver.value else text("no driver")
    if nvml_works and value_or(gpu.recovery, Recovery.NONE) is Recovery.POWER_CYCLE:
        return Status.PROBLEM, text("the driver no longer reaches this GPU")
    if nvml_works and value_or(gpu.recovery, Recovery.NONE) is Recovery.START:
        # A job or a container may have been given the others alone.
        return Status.UNKNOWN if lists_some else Status.PROBLEM, text("the driver does not list this GPU")
    if nvml_works and isinstance(gpu.index, Known) and not isinstance(gpu.memory_total_bytes, Known):
        # The driver counts it, and gets nothing from it.
        return Status.PROBLEM, text("does not answer")
    if nvml_works:
        return Status.PROBLEM, text("not used by the loaded driver")
    return Status.UNKNOWN, text("not readable") if isinstance(driver, Known) else text("not known")


def _architecture(gpu: Gpu) -> CardRow:
    label = text("Architecture")
    capability = gpu.compute_capability
    if isinstance(gpu.architecture, Known) and isinstance(capability, Known):
        words = text("{name}, compute capability {capability}", name=gpu.architecture.value, capability=str(capability.value))
        return CardRow(label, words, capability.source)
    if isinstance(capability, Known):
        return CardRow(label, text("compute capability {capability}", capability=str(capability.value)), capability.source)
    return line(label, gpu.architecture)


def _memory(gpu: Gpu) -> CardRow:
    total, used = gpu.memory_total_bytes, gpu.memory_used_bytes
    if isinstance(total, Known) and isinstance(used, Known):
        words = text("{total}, {used} used", total=gibibytes(total.value), used=gibibytes(used.value))
        return CardRow(text("Memory"), words, total.source)
    return line(text("Memory"), total, gibibytes(total.value) if isinstance(total, Known) else None)


def gibibytes(count: int) -> Text:
    """A size as people read it."""
    if count < _GIB:
        return text("{size} MiB", size=str(round(count / 1024**2)))
    return text("{size} GiB", size=f"{count / _GIB:.2f}".rstrip("0").rstrip("."))


def _link(gpu: Gpu) -> CardRow | None:
    if not isinstance(gpu.pcie_link, Known):
        return None
    link = gpu.pcie_link.value
    words = link_words(link.max_speed_gigatransfers, link.max_width)
    if (link.width, link.speed_gigatransfers) != (link.max_width, link.max_speed_gigatransfers):
        words = text("{most} (now {now})", most=words, now=link_words(link.speed_gigatransfers, link.width))
    return CardRow(text("PCIe"), words, gpu.pcie_link.source)


def link_words(speed: float, width: int) -> Text:
    generation = _PCIE_GENERATION.get(speed, "")
    if generation:
        return text("{generation} ×{width}", generation=generation, width=width)
    return text("{speed} GT/s ×{width}", speed=f"{speed:g}", width=width)


def _bound(gpu: Gpu) -> CardRow:
    driver = gpu.kernel_driver
    words = text("none bound") if isinstance(driver, Known) and not driver.value else None
    return line(text("Kernel driver"), driver, words)


def _display(gpu: Gpu) -> CardRow | None:
    display = gpu.display_active
    if not isinstance(display, Known):
        return None
    return CardRow(text("Drives a display"), text("yes") if display.value else text("no"), display.source)


def _mig(gpu: Gpu) -> CardRow | None:
    mig = gpu.mig_enabled
    if not isinstance(mig, Known) or not mig.value:
        return None
    slices = value_or(gpu.mig_uuids, ())
    return CardRow(text("MIG"), counted("on, one instance", "on, {count} instances", len(slices)), mig.source)


def software_lines(machine: Machine) -> tuple[CardRow, ...]:
    """Driver, toolkits and host compilers."""
    lines, cuda, toolkits = [_driver(machine)], machine.driver.cuda_version, machine.toolkits
    if isinstance(cuda, Known):
        words = text("{release}, and any {major}.x", release=str(cuda.value.release), major=cuda.value.major)
        lines.append(CardRow(text("Runs CUDA"), words, cuda.source))
    if isinstance(toolkits, Unknown):
        lines.append(line(text("Toolkits"), toolkits))
    elif not toolkits.value:
        lines.append(CardRow(text("Toolkits"), text("none installed"), toolkits.source))
    else:
        lines += [_toolkit(toolkit, first_nvcc(machine)) for toolkit in toolkits.value]
    return (*lines, _compiler(machine))


def _driver(machine: Machine) -> CardRow:
    version = driver_version(machine)
    label = text("Driver")
    if isinstance(version, Unknown):
        return _missing_driver(machine, label, version)
    loaded = value_or(machine.driver.loaded, ())
    flavour = next((module.open_flavour for module in loaded if isinstance(module.open_flavour, Known)), None)
    if flavour is None:
        return CardRow(label, verbatim(str(version.value)), version.source)
    words = text("{version}, open module", version=str(version.value))
    if not flavour.value:
        words = text("{version}, proprietary module", version=str(version.value))
    return CardRow(label, words, version.source)


def _missing_driver(machine: Machine, label: Text, version: Unknown) -> CardRow:
    nouveau, loaded = machine.driver.nouveau_loaded, machine.driver.loaded
    if isinstance(nouveau, Known) and nouveau.value:
        return CardRow(label, text("nouveau is loaded"), nouveau.source, strong=True)
    if isinstance(loaded, Known) and not loaded.value:
        return CardRow(label, text("none loaded"), loaded.source, strong=True)
    return line(label, version)


def first_nvcc(machine: Machine) -> str:
    """The real path of the nvcc that a new terminal finds; empty where none or not known."""
    terminal = machine.shell.new_terminal
    command = terminal.value.command("nvcc") if isinstance(terminal, Known) else None
    return command.real_path if command is not None else ""


def _toolkit(toolkit: Toolkit, nvcc: str) -> CardRow:
    version = toolkit.version if isinstance(toolkit.version, Known) else toolkit.nvcc_version
    label = text("Toolkit {version}", version=str(version.value.release)) if isinstance(version, Known) else text("Toolkit")
    if nvcc and nvcc.startswith(toolkit.root + "/"):
        return CardRow(label, text("first on PATH"), toolkit.root, strong=True)
    if isinstance(toolkit.nvcc, Known) and not toolkit.nvcc.value:
        return CardRow(label, text("without a compiler"), toolkit.root)
    return CardRow(label, text("installed"), toolkit.root)


def _compiler(machine: Machine) -> CardRow:
    label, compilers = text("Host compiler"), machine.compilers
    if isinstance(compilers, Unknown):
        return line(label, compilers)
    found = next((one for family in ("g++", "gcc", "clang") for one in compilers.value if one.family == family), None)
    if found is None:
        return CardRow(label, text("none installed"), compilers.source)
    if isinstance(found.version, Unknown):
        return line(label, found.version)
    return CardRow(label, verbatim(f"{found.family} {found.version.value}"), found.path)


def line(label: Text, fact: Fact[Any], words: Text | None = None) -> CardRow:
    """The row of any fact: its value, or in its place the reason why it is not known."""
    if isinstance(fact, Unknown):
        return CardRow(label, fact.reason, known=False)
    return CardRow(label, words if words is not None else verbatim(str(fact.value)), fact.source)


def host_words(host: Host, machine: Machine) -> tuple[Text, tuple[Text, ...]]:
    """The distribution, and beside it what matters of the rest; what is not known is left to the full list."""
    distribution = host.distribution
    name = verbatim(distribution.value.name) if isinstance(distribution, Known) else text("Linux")
    parts = []
    if isinstance(host.kernel, Known):
        parts.append(text("kernel {version}", version=host.kernel.value))
    if isinstance(host.architecture, Known):
        parts.append(verbatim(host.architecture.value))
    if wsl := value_or(host.wsl, 0):
        parts.append(text("WSL {version}", version=wsl))
    if container := value_or(host.container, ""):
        parts.append(text("in a container ({kind})", kind=container))
    if isinstance(host.secure_boot, Known):
        parts.append(text("Secure Boot on") if host.secure_boot.value else text("Secure Boot off"))
    if shell := value_or(machine.shell.login_shell, ""):
        parts.append(verbatim(shell.rpartition("/")[2]))
    following = next_start_words(machine)
    return name, (*parts, following) if following is not None else tuple(parts)


def next_start_words(machine: Machine) -> Text | None:
    """What starts next, where that is another kernel or driver than now; None where it is not known."""
    following, running = machine.next_start, value_or(machine.host.kernel, "")
    if isinstance(following.kernel, Unknown):
        return None
    versions = {str(one.version.value) for one in value_or(following.modules, ()) if isinstance(one.version, Known)}
    here, driver = driver_version(machine), next(iter(versions)) if len(versions) == 1 else ""
    stays = not driver or (isinstance(here, Known) and str(here.value) == driver)
    if following.kernel.value == running and stays:
        return None
    if isinstance(following.modules, Known) and not following.modules.value and value_or(machine.gpus, ()):
        return text("starts next: kernel {kernel}, no NVIDIA driver", kernel=following.kernel.value)
    if not driver:
        return text("starts next: kernel {kernel}", kernel=following.kernel.value)
    return text("starts next: kernel {kernel}, driver {driver}", kernel=following.kernel.value, driver=driver)


def is_true(fact: Fact[bool]) -> bool:
    """Whether it is known to be so."""
    return isinstance(fact, Known) and fact.value
