"""What a board told of a GPU as facts: a refusal of NVML, and an answer of it that cannot be true, is an unknown with a reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from msgspec.structs import replace

from gpuassist.formats.cgroup import read_cgroup
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.sample import GpuSample, ProcessKind, ProcessSample
from gpuassist.model.text import Text, text
from gpuassist.system import nvml_sense
from gpuassist.system.files import Files
from gpuassist.system.nvml import FUNCTION_NOT_FOUND, NOT_SUPPORTED, Memory, Refusal
from gpuassist.system.nvml_sense import MemoryFacts
from gpuassist.system.process_names import NOT_VISIBLE, ProcessNames

T = TypeVar("T")

SOURCE = "NVML"
NO_PERMISSION, DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND, GPU_IS_LOST, RESET_REQUIRED, MISMATCH = 4, 9, 12, 15, 16, 18

ASLEEP = Unknown(text("the GPU is asleep, and asking it would wake it"))
LOST = Unknown(text("the GPU is lost: it has fallen off the bus, and mostly only a reboot brings it back"))
RESET_NEEDED = Unknown(text("the GPU has to be reset before it can be used again"))
_NOT_OF_AN_INSTANCE = Unknown(text("the driver tells this of the whole GPU, not of a MIG instance"))
_WSL = Unknown(text("under WSL 2 the driver does not tell which processes use the GPU"))
_WSL_MEMORY = Unknown(text("under WSL 2 the driver does not tell what a process uses: Windows manages the memory"))
_MEMINFO = "/proc/meminfo"
_NO_NVML = Unknown(text("this Jetson has no NVML, which would tell it"))
# Where the kernels of Jetson Linux put the load of the GPU, the oldest last.
_LOAD_FILES = (
    "/sys/devices/platform/gpu.0/load",
    "/sys/devices/platform/*.gpu/load",
    "/sys/devices/platform/bus@0/*.gpu/load",
    "/sys/devices/platform/*.ga10b/load",
    "/sys/devices/gpu.0/load",
    "/sys/devices/*.gpu/load",
)


class GpuReadings:
    """Makes samples of GPUs; remembers who the processes are."""

    def __init__(self, files: Files, me: int, *, under_wsl: bool) -> None:
        self._files, self._wsl = files, under_wsl
        self.names = ProcessNames(files, me)
        self._load_file: str | None = None  # empty where it was looked for in vain

    def gpu(self, told: Mapping[str, Any], index: int, now: float, now_epoch: Callable[[float], float]) -> GpuSample:
        """`now_epoch` turns clock ticks since boot into seconds since the epoch."""
        uuid, name = _made(told.get("uuid"), _known), _made(told.get("name"), _known)
        lost = refusal_of(told.get("lost"))
        if lost is not None:
            return unread(index, uuid, name, unknown(lost))
        memory, shared = self._memory(told)
        whole = "parent" not in told
        watts, margin = nvml_sense.watts, _made(told.get("margin"), nvml_sense.margin)
        slowdown = _made(told.get("slowdown"), nvml_sense.celsius)
        celsius = _of_gpu(told, "celsius", nvml_sense.celsius, whole)
        if isinstance(slowdown, Unknown) and isinstance(margin, Known) and isinstance(celsius, Known):
            # Since Ada the driver tells a margin in place of a threshold (nvmlDeviceGetTemperatureThreshold, nvml.h).
            slowdown = Known(celsius.value + margin.value, f"{SOURCE} margin")
        percent = _of_gpu(told, "percent", nvml_sense.percent, whole)
        if shared and isinstance(percent, Unknown):
            percent = self._module_load() or percent
        activity = told.get("activity")
        units = activity if isinstance(activity, list) else [activity, activity]
        return GpuSample(
            index,
            uuid,
            name,
            memory.total,
            memory.used,
            memory.free,
            percent,
            celsius,
            _of_gpu(told, "milliwatts", watts, whole),
            self._processes(told, memory.total, now, now_epoch),
            power_limit_watts=_of_gpu(told, "limit_milliwatts", watts, whole),
            slowdown_celsius=slowdown if whole else _NOT_OF_AN_INSTANCE,
            memory_celsius=_of_gpu(told, "memory_celsius", nvml_sense.memory_celsius, whole),
            sm_clock_mhz=_of_gpu(told, "sm_megahertz", nvml_sense.megahertz, whole),
            memory_clock_mhz=_of_gpu(told, "memory_megahertz", nvml_sense.megahertz, whole),
            pcie_received_bytes_per_second=_of_gpu(told, "received", nvml_sense.bytes_per_second, whole),
            pcie_sent_bytes_per_second=_of_gpu(told, "sent", nvml_sense.bytes_per_second, whole),
            fan_percent=_of_gpu(told, "fan", nvml_sense.fan_percent, whole),
            throttle_reasons=_of_gpu(told, "reasons", nvml_sense.throttle_reasons, whole),
            sm_activity_percent=_made(units[0], nvml_sense.activity) if whole else _NOT_OF_AN_INSTANCE,
            tensor_activity_percent=_made(units[1], nvml_sense.activity) if whole else _NOT_OF_AN_INSTANCE,
            thermal_margin_celsius=margin if whole else _NOT_OF_AN_INSTANCE,
            shares_memory=shared,
            silent_seconds=_silence(told.get("memory")),
        )

    def module(self) -> tuple[GpuSample, ...]:
        """The GPU of a Jetson module by what the kernel tells alone: older systems of it have no NVML."""
        percent = self._module_load()
        if percent is None:
            return ()
        memory, _ = self._of_machine()
        path = "/proc/device-tree/model"
        model = self._files.text(path, 256).rstrip("\0\n")
        gpu = unread(0, _NO_NVML, Known(model, path) if model else _NO_NVML, _NO_NVML)
        known = {"memory_total_bytes": memory.total, "memory_used_bytes": memory.used, "memory_free_bytes": memory.free}
        return (replace(gpu, **known, utilization_percent=percent, shares_memory=True),)

    def _module_load(self) -> Fact[int] | None:
        """Of a Jetson's GPU, in thousandths; None on other machines."""
        if self._load_file is None:
            self._load_file = next((path for pattern in _LOAD_FILES for path in self._files.glob(pattern)), "")
        words = self._files.text(self._load_file, 64).strip() if self._load_file else ""
        return nvml_sense.percent(round(int(words) / 10), self._load_file) if words.isdigit() else None

    def _memory(self, told: Mapping[str, Any]) -> tuple[MemoryFacts, bool]:
        given = told.get("memory")
        refused = refusal_of(given)
        if isinstance(given, list):
            facts = nvml_sense.memory(Memory(*given), SOURCE)
            # Drivers answer for a GPU without memory of its own with a refusal, earlier ones with 0 bytes.
            if given[0] or not _is_part_of_processor(told):
                return facts, False
        elif refused is None or refused.code != NOT_SUPPORTED or not _is_part_of_processor(told):
            return MemoryFacts.unknown(_unknown(given)), False
        return self._of_machine()

    def _of_machine(self) -> tuple[MemoryFacts, bool]:
        words = dict(line.split(":", 1) for line in self._files.text(_MEMINFO, 1 << 14).splitlines() if ":" in line)
        sizes = {
            name: int(words.get(name, "").split()[0]) << 10 for name in ("MemTotal", "MemAvailable") if words.get(name, "").split()
        }
        if len(sizes) != 2:
            return MemoryFacts.unknown(
                Unknown(text("the GPU uses the machine's memory, and {path} does not tell it", path=_MEMINFO))
            ), True
        total, free = sizes["MemTotal"], sizes["MemAvailable"]
        return MemoryFacts(Known(total, _MEMINFO), Known(total - free, _MEMINFO), Known(free, _MEMINFO)), True

    def _processes(
        self, told: Mapping[str, Any], total: Fact[int], now: float, now_epoch: Callable[[float], float]
    ) -> Fact[tuple[ProcessSample, ...]]:
        listed = told.get("processes")
        if not isinstance(listed, list):
            return _unknown(listed)
        if self._wsl and not listed:
            return _WSL
        shares = told.get("shares")
        loads: dict[int, Any] = dict(shares) if isinstance(shares, list) else {}
        nobody = 0 if isinstance(shares, list) else shares  # whoever did nothing is not among them
        found = []
        for pid, used, kind in listed:
            name, load = self.names.look_and_load(pid, now)
            memory = _WSL_MEMORY if self._wsl and used is None else nvml_sense.process_memory(used, total, SOURCE)
            found.append(
                ProcessSample(
                    pid,
                    name.user,
                    name.command,
                    memory,
                    _kind(kind),
                    _place(name.cgroup),
                    _made(loads.get(pid, nobody), nvml_sense.percent),
                    load.cpu_percent,
                    load.resident_bytes,
                    Known(now_epoch(name.started), "/proc/PID/stat")
                    if name.started and name.user is not NOT_VISIBLE
                    else NOT_VISIBLE,
                    name.notebook,
                    load.idle_seconds,
                )
            )
        return Known(tuple(found), SOURCE)


def unread(index: int, uuid: Fact[str], name: Fact[str], why: Unknown, *, asleep: bool = False) -> GpuSample:
    """A GPU of which nothing is told now."""
    every: dict[str, Any] = {field: why for field in GpuSample.__struct_fields__ if field not in NO_FACTS}
    return GpuSample(index, **{**every, "uuid": uuid, "name": name}, asleep=asleep)


_NOT_LOADED = text("NVIDIA's driver is not loaded, so there is nothing to watch")
_DIFFERENT = text("the driver's kernel module and its library NVML are of different versions; a reboot makes them the same")


def trouble_of(refusal: Refusal) -> Text:
    """Why nothing can be read, in a sentence."""
    sentences = {
        DRIVER_NOT_LOADED: _NOT_LOADED,
        LIBRARY_NOT_FOUND: text("NVML, the driver's own library (libnvidia-ml.so.1), is not there: is NVIDIA's driver installed?"),
        MISMATCH: _DIFFERENT,
        NO_PERMISSION: text("this user may not use the GPUs (no permission on /dev/nvidia*)"),
    }
    other = text("NVML could not be asked: {name} ({words})", name=refusal.name, words=refusal.words)
    return nvml_sense.nonsense(refusal) or sentences.get(refusal.code, other)


def refusal_of(told: Any) -> Refusal | None:
    return Refusal(told["code"], told["name"], told["words"]) if isinstance(told, dict) and "code" in told else None


def unknown(refusal: Refusal) -> Unknown:
    known = _REASONS.get(refusal.code)
    words = nvml_sense.nonsense(refusal) or text("NVML refused it: {name} ({words})", name=refusal.name, words=refusal.words)
    return known or Unknown(words)


NO_FACTS = frozenset({"index", "parent", "asleep", "shares_memory", "silent_seconds", "number"})
"""The fields of a GPU's sample that are no facts."""

_REASONS = {
    NOT_SUPPORTED: Unknown(text("this GPU does not tell it")),
    FUNCTION_NOT_FOUND: Unknown(text("this driver does not tell it")),
    DRIVER_NOT_LOADED: Unknown(_NOT_LOADED),
    MISMATCH: Unknown(_DIFFERENT),
    NO_PERMISSION: Unknown(text("this user may not read it")),
    GPU_IS_LOST: LOST,
    RESET_REQUIRED: RESET_NEEDED,
}


def _of_gpu(told: Mapping[str, Any], name: str, make: Callable[[Any, str], Fact[T]], whole: bool) -> Fact[T]:  # noqa: FBT001
    return _made(told.get(name), make) if whole else _NOT_OF_AN_INSTANCE


def _made(told: Any, make: Callable[[Any, str], Fact[T]]) -> Fact[T]:
    return _unknown(told) if told is None or isinstance(told, dict) else make(told, SOURCE)


def _unknown(told: Any) -> Unknown:
    """Of an answer that is no value: nobody asked yet, nothing came back, or NVML refused it."""
    if told is None:
        return NOT_ASKED
    refused = refusal_of(told)
    if refused is not None:
        return unknown(refused)
    return Unknown(text("the driver has not answered for {seconds:.0f} s", seconds=told.get("silent", 0.0)))


def _silence(memory: Any) -> float:
    return float(memory.get("silent", 0.0)) if isinstance(memory, dict) else 0.0


def _known(told: str, source: str) -> Fact[str]:
    return Known(str(told), source)


@lru_cache(maxsize=16)
def _kind(told: str) -> Fact[ProcessKind]:
    compute, graphics = "compute" in told or "mps" in told, "graphics" in told
    return Known(ProcessKind.BOTH if compute and graphics else ProcessKind.GRAPHICS if graphics else ProcessKind.COMPUTE, SOURCE)


def _place(cgroup: Fact[str]) -> Fact[str]:
    return Known(_place_of(cgroup.value), cgroup.source) if isinstance(cgroup, Known) else cgroup


@lru_cache(maxsize=1024)
def _place_of(cgroup: str) -> str:
    return read_cgroup(cgroup).place


def _is_part_of_processor(told: Mapping[str, Any]) -> bool:
    """A GPU without memory of its own: in Jetson modules, and in GB10."""
    if str(told.get("name")).endswith("(nvgpu)"):  # the kernel's driver for those of Jetson modules
        return True
    if not isinstance(told.get("capability"), list):
        return False
    # Here, because few machines have one, and a start is 20 ms longer by it.
    from gpuassist.knowledge.compatibility import is_jetson
    from gpuassist.model.version import ComputeCapability

    capability = ComputeCapability(*told["capability"])
    return capability == ComputeCapability(12, 1) or is_jetson(capability)
