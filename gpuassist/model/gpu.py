"""One NVIDIA GPU, as the PCI tree and NVML describe it, and the processes that use it."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import ComputeCapability

_NUMBER_OF_NVML = lazy_regex(r"[0-9]{1,10}")

# A process that NVML says is on a GPU.


class GpuProcess(Struct, frozen=True):
    """A process that NVML says is on the GPU; what NVML does not tell (under WSL2, in a container) is unknown."""

    pid: int
    kind: str
    memory_used_bytes: Fact[int] = NOT_ASKED


class PowerState(str, Enum):
    """The runtime power state: an asleep GPU is not asked through NVML, which would wake it."""

    ACTIVE = "active"
    ASLEEP = "asleep"


class Recovery(str, Enum):
    """What has to be done before a GPU works again: `POWER_CYCLE` of one that the driver has lost, `START` of one that it has and
    NVML does not list; an action that NVML has numbered since has its number as value, and is none of these.
    """

    NONE = ""
    RESET = "reset"
    REBOOT = "reboot"
    DRAIN = "drain"
    POWER_CYCLE = "power cycle"
    START = "start"

    @classmethod
    def _missing_(cls, value: object) -> Recovery | None:
        if not isinstance(value, str) or not _NUMBER_OF_NVML.fullmatch(value):
            return None
        unnamed = str.__new__(cls, value)
        unnamed._name_ = unnamed._value_ = value
        return unnamed


class PcieLink(Struct, frozen=True):
    """Lanes and speed of the slot's link; the speed falls at idle by design, the width does not."""

    width: int
    max_width: int
    speed_gigatransfers: float
    max_speed_gigatransfers: float


class Gpu(Struct, frozen=True):
    """A physical GPU. `pci_id` is `10de:2684`, `pci_address` `0000:01:00.0`, `kernel_driver` is empty where none is bound.

    `addressed`: the firmware gave it its place in memory. `excluded`: an option of the driver leaves it out. `sleeps`: the driver
    may switch it off while nothing uses it. `persistence`: the driver stays ready while nothing does. `slowdowns`: what the
    hardware slows it for just now, `heat` or `power brake`. `fabric`: how far it is registered with the NVSwitches, `not started`,
    `in progress` or `completed`, empty where it has none.
    """

    pci_address: Fact[str] = NOT_ASKED
    pci_id: Fact[str] = NOT_ASKED
    name: Fact[str] = NOT_ASKED
    architecture: Fact[str] = NOT_ASKED
    compute_capability: Fact[ComputeCapability] = NOT_ASKED
    kernel_driver: Fact[str] = NOT_ASKED
    power_state: Fact[PowerState] = NOT_ASKED
    pcie_link: Fact[PcieLink] = NOT_ASKED
    index: Fact[int] = NOT_ASKED
    uuid: Fact[str] = NOT_ASKED
    minor: Fact[int] = NOT_ASKED
    memory_total_bytes: Fact[int] = NOT_ASKED
    memory_used_bytes: Fact[int] = NOT_ASKED
    display_active: Fact[bool] = NOT_ASKED
    mig_enabled: Fact[bool] = NOT_ASKED
    mig_uuids: Fact[tuple[str, ...]] = NOT_ASKED
    compute_mode: Fact[str] = NOT_ASKED
    processes: Fact[tuple[GpuProcess, ...]] = NOT_ASKED
    addressed: Fact[bool] = NOT_ASKED
    excluded: Fact[bool] = NOT_ASKED
    sleeps: Fact[bool] = NOT_ASKED
    persistence: Fact[bool] = NOT_ASKED
    slowdowns: Fact[tuple[str, ...]] = NOT_ASKED
    recovery: Fact[Recovery] = NOT_ASKED
    fabric: Fact[str] = NOT_ASKED


# A process that holds a GPU open, as the kernel and NVML tell of it.


class Holder(Struct, frozen=True):
    """A process that has a `/dev/nvidia*` node open; only own processes show theirs without root.

    `state` is the letter of proc(5) (R, S, D, Z, T), `started` when it began in clock ticks since boot, `unit` the systemd unit
    that it runs in (empty where in none), `container` its kind and identity, such as `docker 3f2a51c07d1e` (empty outside one).
    """

    pid: int
    user: str
    command: str
    devices: tuple[str, ...]
    uid: Fact[int] = NOT_ASKED
    state: Fact[str] = NOT_ASKED
    started: Fact[int] = NOT_ASKED
    unit: Fact[str] = NOT_ASKED
    container: Fact[str] = NOT_ASKED
