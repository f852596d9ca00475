"""What NVML says, asked in a killable child, and joined with the PCI tree. A sleeping GPU is left asleep."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.detect.pci import named
from gpuassist.detect.small_files import made
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.driver import NvmlStatus
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.gpu import Gpu, GpuProcess, PowerState, Recovery
from gpuassist.model.text import text
from gpuassist.model.version import ComputeCapability, Version
from gpuassist.system import nvml_probe, nvml_report, nvml_sense
from gpuassist.system.nvml import LIBRARY_NOT_FOUND, Memory, Refusal, status_name
from gpuassist.system.nvml_probe import Report
from gpuassist.system.nvml_sense import MemoryFacts
from gpuassist.system.world import World

_COMPUTE_MODES = {0: "default", 1: "exclusive thread", 2: "prohibited", 3: "exclusive process"}
_SLOWDOWNS = {0x40: "heat", 0x80: "power brake"}  # nvml.h, nvmlClocksEventReasonHw...; the other bits are no fault
_RECOVERIES = {  # nvml.h, NVML_GPU_RECOVERY_ACTION_...
    0: Recovery.NONE,
    1: Recovery.RESET,
    2: Recovery.REBOOT,
    3: Recovery.DRAIN,
    4: Recovery.DRAIN,
}
# nvml.h, NVML_ERROR_GPU_IS_LOST and ..._RESET_REQUIRED: such a GPU tells nothing more.
_GONE = {15: Recovery.POWER_CYCLE, 16: Recovery.RESET}
_FABRIC = {0: "", 1: "not started", 2: "in progress", 3: "completed"}  # nvml.h, NVML_GPU_FABRIC_STATE_...
_NO_FAULT: Fact[str] = Known("", "NVML")
_NO_DRIVER = NvmlStatus(9, "NVML_ERROR_DRIVER_NOT_LOADED")
_NVML_FIELDS = (
    "index",
    "uuid",
    "minor",
    "memory_total_bytes",
    "memory_used_bytes",
    "display_active",
    "mig_enabled",
    "mig_uuids",
    "compute_mode",
    "processes",
    "persistence",
    "slowdowns",
    "recovery",
    "fabric",
)


class NvmlReading(Struct, frozen=True):
    """NVML's own state and the GPUs it lists, without facts of the PCI tree; `fault` as `model.driver.Driver` has it."""

    status: Fact[NvmlStatus]
    nvml_version: Fact[str]
    version: Fact[Version]
    cuda_version: Fact[Version]
    gpus: Fact[tuple[Gpu, ...]]
    fault: Fact[str] = _NO_FAULT


def probe(world: World, gpus: Fact[tuple[Gpu, ...]], *, wake: bool = False, seconds: float = nvml_probe.SECONDS) -> NvmlReading:
    """Asks NVML, unless one of `gpus` that the driver holds is asleep and may not be woken."""
    sleeper = None if wake else _sleeper(gpus)
    if sleeper is not None:
        why = Unknown(text("NVML was not asked, because that would wake the GPU at {address}", address=sleeper))
        return NvmlReading(why, why, why, why, why, why)
    report = nvml_probe.report(world.processes, world.surroundings.variables, seconds)
    version, path = report.fact(nvml_report.LIBRARY_VERSION), value_or(report.fact(nvml_report.LIBRARY), "")
    return NvmlReading(
        status=made(report.started, lambda code: NvmlStatus(code, status_name(code))),
        nvml_version=Known(version.value, path) if isinstance(version, Known) and path else version,
        version=made(report.fact(nvml_report.SYSTEM[0]), Version.parse),
        cuda_version=made(report.fact(nvml_report.SYSTEM[1]), lambda told: Version((told // 1000, told % 1000 // 10))),
        gpus=made(report.fact(nvml_report.COUNT), lambda count: tuple(_gpu(report, index) for index in range(count))),
        fault=Known("hang" if report.hung else report.crash, "NVML"),
    )


def merge(gpus: Fact[tuple[Gpu, ...]], reading: NvmlReading, knowledge: Knowledge) -> Fact[tuple[Gpu, ...]]:
    """One list: GPUs of the PCI tree with NVML's facts, then those that NVML alone lists, as under WSL2."""
    if isinstance(reading.gpus, Unknown):
        code = value_or(reading.status, _NO_DRIVER).code
        driver_is_there = bool(value_or(reading.fault, "")) or code not in {_NO_DRIVER.code, LIBRARY_NOT_FOUND}
        if isinstance(gpus, Unknown):
            return gpus
        if not gpus.value and driver_is_there:
            return reading.gpus  # a driver without a GPU in the PCI tree, as under WSL2: it alone could say whether there is one
        return Known(tuple(_joined(gpu, None, reading.gpus) for gpu in gpus.value), gpus.source)
    addressed = {gpu.pci_address.value: gpu for gpu in reading.gpus.value if isinstance(gpu.pci_address, Known)}
    nameless = [gpu for gpu in reading.gpus.value if isinstance(gpu.pci_address, Unknown)]  # lost ones
    if isinstance(gpus, Unknown) or not gpus.value:
        alone = (*addressed.values(), *nameless)
        return Known(tuple(_alone(gpu, knowledge) for gpu in alone), reading.gpus.source) if alone else gpus
    reasons = [gpu.pci_address for gpu in nameless if isinstance(gpu.pci_address, Unknown)]
    missing = reasons[0] if reasons else Unknown(text("NVML does not list this GPU"))
    joined = _with_recovery(tuple(_joined(gpu, addressed.pop(_address(gpu), None), missing) for gpu in gpus.value), nameless)
    return Known((*joined, *(_alone(gpu, knowledge) for gpu in addressed.values())), gpus.source)


def _with_recovery(joined: tuple[Gpu, ...], nameless: list[Gpu]) -> tuple[Gpu, ...]:
    """Of what the driver holds and NVML does not list: it was not started, or is one that NVML has lost, which it names no more."""
    silent = [gpu for gpu in joined if isinstance(gpu.index, Unknown) and value_or(gpu.kernel_driver, "") == "nvidia"]
    wanted: Fact[Recovery] = nameless[0].recovery if nameless else Known(Recovery.START, f"NVML {nvml_report.COUNT}")
    if nameless and (len(silent) != len(nameless) or any(gpu.recovery != wanted for gpu in nameless)):
        return joined
    return tuple(replace(gpu, recovery=wanted) if gpu in silent else gpu for gpu in joined)


def _sleeper(gpus: Fact[tuple[Gpu, ...]]) -> str | None:
    """The address of a GPU that NVML would wake: asleep, and not held by another driver or by none."""
    for gpu in value_or(gpus, ()):
        asleep = isinstance(gpu.power_state, Known) and gpu.power_state.value is PowerState.ASLEEP
        if asleep and (isinstance(gpu.kernel_driver, Unknown) or gpu.kernel_driver.value == "nvidia"):
            return _address(gpu)
    return None


def _gpu(report: Report, index: int) -> Gpu:
    def asked(question: str) -> Fact[Any]:
        return report.fact(question, index)

    def capability(told: list[int]) -> ComputeCapability:
        return ComputeCapability(*nvml_sense.capability(told[0], told[1]))

    def slowdowns(reasons: int) -> tuple[str, ...]:
        return tuple(words for bit, words in _SLOWDOWNS.items() if reasons & bit)

    told, pci = asked(nvml_report.MEMORY), asked(nvml_report.PCI)
    if isinstance(told, Unknown):
        memory = MemoryFacts.unknown(told)
    else:
        memory = nvml_sense.memory(Memory(told.value["total"], told.value["used"], told.value["free"]), told.source)
    return Gpu(
        pci_address=made(pci, lambda told: _sysfs_address(told["address"])),
        pci_id=made(pci, lambda told: str(told["id"])),
        name=asked("nvmlDeviceGetName"),
        compute_capability=made(asked("nvmlDeviceGetCudaComputeCapability"), capability),
        index=Known(index, f"NVML {nvml_report.COUNT}"),
        uuid=asked("nvmlDeviceGetUUID"),
        minor=asked("nvmlDeviceGetMinorNumber"),
        memory_total_bytes=memory.total,
        memory_used_bytes=memory.used,
        display_active=made(asked("nvmlDeviceGetDisplayActive"), bool),
        mig_enabled=asked(nvml_report.MIG_MODE),
        mig_uuids=made(asked(nvml_report.MIG_DEVICES), tuple),
        compute_mode=made(asked("nvmlDeviceGetComputeMode"), lambda mode: _COMPUTE_MODES.get(mode, str(mode))),
        persistence=made(asked("nvmlDeviceGetPersistenceMode"), bool),
        slowdowns=made(asked("nvmlDeviceGetCurrentClocksThrottleReasons"), slowdowns),
        recovery=_recovery(report, index),
        fabric=made(asked(nvml_report.FABRIC), lambda state: _FABRIC.get(state, str(state))),
        processes=made(asked(nvml_report.PROCESSES), lambda told: tuple(_process(one, memory.total) for one in told)),
    )


def _recovery(report: Report, index: int) -> Fact[Recovery]:
    for question in (nvml_report.HANDLE, nvml_report.PCI, "nvmlDeviceGetUUID"):
        answer = report.answers.get((index, question))
        if isinstance(answer, Refusal) and answer.code in _GONE:
            return Known(_GONE[answer.code], f"NVML {question}")
    return made(report.fact(nvml_report.FIELDS, index), _recovery_numbered)


def _recovery_numbered(action: int) -> Recovery:
    return _RECOVERIES[action] if action in _RECOVERIES else Recovery(str(action))


def _process(told: tuple[int, str, int | None], total: Fact[int]) -> GpuProcess:
    pid, kind, used = told
    return GpuProcess(pid, kind, nvml_sense.process_memory(used, total, f"NVML {nvml_report.PROCESSES}"))


def _sysfs_address(words: str) -> str:
    """NVML writes the domain with eight digits and capital letters, sysfs with four small ones."""
    domain, rest = words.lower().split(":", 1)
    return f"{int(domain, 16):04x}:{rest}"


def _address(gpu: Gpu) -> str:
    return value_or(gpu.pci_address, "")


def _joined(gpu: Gpu, listed: Gpu | None, missing: Unknown) -> Gpu:
    if listed is None:
        return replace(gpu, **dict.fromkeys(_NVML_FIELDS, missing))
    facts = {name: getattr(listed, name) for name in _NVML_FIELDS}
    for name in ("name", "compute_capability"):
        if isinstance(getattr(listed, name), Known):
            facts[name] = getattr(listed, name)
    return replace(gpu, **facts)


def _alone(gpu: Gpu, knowledge: Knowledge) -> Gpu:
    unseen = Unknown(text("this GPU is not in the PCI tree that this system shows"))
    found = named(gpu, knowledge)
    if isinstance(found.architecture, Unknown):
        if isinstance(gpu.compute_capability, Known):
            generation = knowledge.architecture_of(gpu.compute_capability.value)
            architecture: Fact[str] | None = Known(generation.name, generation.source) if generation else None
        else:
            record = knowledge.gpu_named(value_or(gpu.name, ""))
            architecture = Known(record.architecture, record.list_name) if record else None
        found = replace(found, architecture=architecture or found.architecture)
    seen = _joined(found, gpu, unseen)
    return replace(seen, kernel_driver=unseen, power_state=unseen, pcie_link=unseen)
