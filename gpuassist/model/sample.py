"""One reading of all GPUs at one moment, and what happened between two."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.text import Text


class TorchMemory(Struct, frozen=True):
    """What torch's caching allocator says of one GPU in one program, as `torch.cuda.memory_stats` counts it.

    Peaks are torch's own, since the program's start or its own reset. `ooms` counts allocations that failed for good, `retries`
    those that came after all cached memory was given back.
    """

    allocated_bytes: int
    allocated_peak_bytes: int
    reserved_bytes: int
    reserved_peak_bytes: int
    active_bytes: int
    inactive_split_bytes: int
    ooms: int = 0
    retries: int = 0


class ProcessKind(str, Enum):
    """What a process uses a GPU for, as NVML lists it."""

    COMPUTE = "compute"
    GRAPHICS = "graphics"
    BOTH = "both"


class ProcessSample(Struct, frozen=True):
    """A process on a GPU, and how much of it it has.

    `started` is in seconds since the epoch; `cpu_percent` is of one core, since the sample before; `gpu_percent` NVML's own figure
    for it.
    """

    pid: int
    user: Fact[str] = NOT_ASKED
    command: Fact[str] = NOT_ASKED
    memory_used_bytes: Fact[int] = NOT_ASKED
    kind: Fact[ProcessKind] = NOT_ASKED
    container: Fact[str] = NOT_ASKED
    gpu_percent: Fact[int] = NOT_ASKED
    cpu_percent: Fact[float] = NOT_ASKED
    resident_bytes: Fact[int] = NOT_ASKED
    started: Fact[float] = NOT_ASKED
    notebook: Fact[str] = NOT_ASKED
    idle_seconds: Fact[float] = NOT_ASKED
    torch: Fact[TorchMemory] = NOT_ASKED


class GpuSample(Struct, frozen=True):
    """One GPU now. `throttle_reasons` are nvml.h's names of what holds its clocks back, without `idle` and set limits.

    A MIG instance is one with a `parent`. `shares_memory`: it has no memory of its own, so that its memory figures are those of the
    machine, by the kernel. `silent_seconds`: for how long it has not answered, where it does not. `host` and `workload` (a pod, a
    job) are told of GPUs that a server watches; `number` is what that machine calls it (`1`, of a MIG instance `1:3`) where GPUs of
    several machines are counted through.
    """

    index: int
    uuid: Fact[str] = NOT_ASKED
    name: Fact[str] = NOT_ASKED
    memory_total_bytes: Fact[int] = NOT_ASKED
    memory_used_bytes: Fact[int] = NOT_ASKED
    memory_free_bytes: Fact[int] = NOT_ASKED
    utilization_percent: Fact[int] = NOT_ASKED
    temperature_celsius: Fact[int] = NOT_ASKED
    power_watts: Fact[float] = NOT_ASKED
    processes: Fact[tuple[ProcessSample, ...]] = NOT_ASKED
    power_limit_watts: Fact[float] = NOT_ASKED
    slowdown_celsius: Fact[int] = NOT_ASKED
    memory_celsius: Fact[int] = NOT_ASKED
    sm_clock_mhz: Fact[int] = NOT_ASKED
    memory_clock_mhz: Fact[int] = NOT_ASKED
    pcie_received_bytes_per_second: Fact[int] = NOT_ASKED
    pcie_sent_bytes_per_second: Fact[int] = NOT_ASKED
    fan_percent: Fact[int] = NOT_ASKED
    throttle_reasons: Fact[tuple[str, ...]] = NOT_ASKED
    sm_activity_percent: Fact[float] = NOT_ASKED
    tensor_activity_percent: Fact[float] = NOT_ASKED
    thermal_margin_celsius: Fact[int] = NOT_ASKED
    host: Fact[str] = NOT_ASKED
    workload: Fact[str] = NOT_ASKED
    parent: int | None = None  # of a MIG instance: the index of its GPU
    asleep: bool = False
    shares_memory: bool = False
    silent_seconds: float = 0.0
    number: str = ""


class EventKind(str, Enum):
    """What can happen between two samples."""

    STARTED = "started"
    EXITED = "exited"
    OUT_OF_MEMORY = "out-of-memory"
    RETRY = "retry"
    MARK = "mark"
    XID = "xid"
    THROTTLED = "throttled"
    THROTTLE_ENDED = "throttle-ended"
    LOST = "lost"
    BACK = "back"
    RESET = "reset"
    DRIVER_RELOADED = "driver-reloaded"
    SUSPENDED = "suspended"
    CLOCK_SET = "clock-set"
    SILENT = "silent"
    ALERT = "alert"


class Event(Struct, frozen=True):
    """Something that happened, on the history's axis (`monotonic`); `gpu` is None where it concerns all of them.

    `code` is the number or name that goes with the kind: an Xid, a throttle reason; `text` says it in a line.
    """

    monotonic: float
    kind: EventKind
    text: Text
    gpu: int | None = None
    pid: int | None = None
    code: str = ""


class Sample(Struct, frozen=True):
    """All GPUs at one moment: `time` is seconds since the epoch, `monotonic` seconds of a clock that never jumps.

    `trouble` says why nothing could be read; it is empty where something was. `events` happened since the sample before.
    """

    time: float
    monotonic: float
    gpus: tuple[GpuSample, ...]
    trouble: tuple[Text, ...] = ()
    events: tuple[Event, ...] = ()
