"""One GPU that is awake, as NVML tells of it: which calls are made when, and what is known of it at a moment.

It runs in the child (`monitor.sampling_child`) and stands without dataclasses and typing, as `system.nvml` says. Its pieces run on
threads of crews (`monitor.crew`), each piece on one at a time.
"""

from __future__ import annotations

import time

from gpuassist.system.nvml import FUNCTION_NOT_FOUND, MIG_DEVICES_AT_MOST, NOT_SUPPORTED, Nvml, Refusal, ask
from gpuassist.system.nvml_activity import MEMORY_CELSIUS, PCIE_RECEIVED, PCIE_SENT, Activity, FieldValue, Shares, fields

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Answer = dict[str, Any]

CURVES, SHARES, ACTIVITY = "curves", "shares", "activity"
"""What is asked where somebody wants it: clocks, fan, memory temperature and PCIe; who has which share; what the units do."""

BASE_SECONDS = 0.45  # power is an average over a second on most GPUs (nvmlDeviceGetPowerUsage), so asking oftener tells nothing
EXTRA_SECONDS = 0.9  # a little under a second, so that a sample a second has each of them new
LIMITS_SECONDS = 60.0
MIG_SECONDS = 10.0
THROUGHPUT_SECONDS = 5.0  # a call measures for 20 ms, and there are two a device
LOST_SECONDS = 5.0
MPS_READINGS = 5  # the list of an MPS server's clients is mostly empty
LATE_SECONDS = 2.0
"""What is older, of a device that does not answer, is no figure of now."""

MIG_INDEX = 1000
"""A MIG instance has the index MIG_INDEX * (its GPU's index + 1) + its place there."""


def gpu_label(index: int) -> str:
    """`0`; of a MIG instance `0:1`, as Docker and nvidia-smi number it."""
    whole, place = divmod(index, MIG_INDEX)
    return f"{whole - 1}:{place}" if whole else str(index)


_OFTEN = ("memory", "percent", "processes")
_BASE = ("celsius", "milliwatts", "reasons")
_LASTING = frozenset({"limit_milliwatts", "slowdown", "capability"})
_UNINITIALIZED, _IS_LOST, _RESET_REQUIRED = 1, 15, 16
_TEMPERATURE_OF_GPU, _SLOWDOWN, _SM, _MEMORY = 0, 1, 1, 2  # nvml.h: nvmlTemperatureSensors_t, ...Thresholds_t, nvmlClockType_t
_SENT, _RECEIVED = 0, 1  # nvmlPcieUtilCounter_t


class WatchedGpu:
    """`index` is its place; `way` is how its handle was asked for, which is tried again where it is lost."""

    def __init__(self, nvml: Nvml, index: int, handle: Any, way: tuple[str, Any]) -> None:
        self.index, self.handle, self._way = index, handle, way
        self._nvml, self._listing = nvml, nvml.another()  # memory and processes are asked on threads of their own
        self.uninitialized = False
        self._fixed: Answer = {}
        self._values: dict[str, tuple[float, Any]] = {}
        self._lost: Refusal | None = handle if isinstance(handle, Refusal) else None
        self._made_at = self._handle_at = time.monotonic()
        self._refused: dict[str, tuple[float, Refusal]] = {}
        self._readings = 0
        self._mps = True
        self._instances: list[tuple[Answer, Any]] = []
        self._asked: dict[str, float] = {}
        self._wide_counters: bool | None = None
        self._counted: tuple[float, float, float] | None = None
        self._shares, self._activity = Shares(), Activity()

    def read_memory(self) -> None:
        """Of it and of its MIG instances."""
        now = time.monotonic()
        if self._lost is not None and now - self._handle_at >= LOST_SECONDS:
            self.handle, self._handle_at = ask(*self._way), now
        handle = self.handle
        if isinstance(handle, Refusal):
            self._lost = handle
            return
        memory = self._nvml.memory(handle)
        code = memory.code if isinstance(memory, Refusal) else 0
        self.uninitialized = code == _UNINITIALIZED
        self._lost = memory if isinstance(memory, Refusal) and code in {_IS_LOST, _RESET_REQUIRED} else None
        if self._lost is not None:
            return
        self._put("memory", memory if isinstance(memory, Refusal) else [memory.total_bytes, memory.used_bytes, memory.free_bytes])
        for fixed, instance in self._instances:
            self._read_instance(fixed["place"], instance)

    def read_often(self) -> None:
        """Who is on it, and its load."""
        if self._lost is not None:
            return
        if not self._fixed:
            self._read_fixed()
        self._read_processes()
        rates = self._ask("nvmlDeviceGetUtilizationRates")
        self._put("percent", rates if isinstance(rates, Refusal) else int(rates.gpu))
        for fixed, instance in self._instances:
            self._list(f"{fixed['place']}:processes", instance, self._listing)

    def is_due(self, now: float, wanted: Sequence[str]) -> bool:
        return self._lost is None and any(now - self._asked.get(name, -1e9) >= every for name, every in self._groups(wanted))

    def seldom(self, wanted: tuple[str, ...]) -> Callable[[], None]:
        """The piece that asks what is due of this."""

        def read() -> None:
            now = time.monotonic()
            for name, every in self._groups(wanted):
                if now - self._asked.get(name, -1e9) >= every:
                    self._asked[name] = now
                    getattr(self, f"_read_{name}")()

        return read

    def wants_throughput(self, now: float, wanted: Sequence[str]) -> bool:
        due = now - self._asked.get("throughput", -1e9) >= THROUGHPUT_SECONDS
        return CURVES in wanted and self._wide_counters is False and self._lost is None and due

    def read_throughput(self) -> None:
        """By the call that measures for 20 ms in each direction, where there are no counters."""
        self._asked["throughput"] = time.monotonic()
        for name, direction in (("received", _RECEIVED), ("sent", _SENT)):
            kilobytes = ask("nvmlDeviceGetPcieThroughput", self.handle, direction)
            self._put(name, kilobytes if isinstance(kilobytes, Refusal) else int(kilobytes) * 1024)
            if isinstance(kilobytes, Refusal) and kilobytes.code == NOT_SUPPORTED:
                self._asked["throughput"] = float("inf")

    def told(self, late: float) -> list[Answer]:
        """What is known of it and of its MIG instances; `late` is for how long something that is asked seldom did not come back."""
        now = time.monotonic()
        fixed = {"index": self.index, **self._fixed}
        if self._lost is not None:
            lost = _sent(self._lost)
            return [{"name": lost, "uuid": lost, **fixed, "lost": lost}]
        values: Answer = {}
        for name, (when, value) in self._values.copy().items():
            old = now - when > LATE_SECONDS and (name.endswith(_OFTEN) or (late and name not in _LASTING))
            values[name] = {"silent": now - when} if old else _sent(value)
        if late:
            values = {**{name: {"silent": late} for name in _BASE}, **values}
        if not self._fixed:
            values = {**{name: {"silent": now - self._made_at} for name in ("name", "uuid", *_OFTEN)}, **values}
        answers = [{**fixed, **values}]
        for instance, _ in self._instances:
            place = instance["place"]
            own = {name.partition(":")[2]: value for name, value in values.items() if name.startswith(f"{place}:")}
            answers.append({"index": MIG_INDEX * (self.index + 1) + place, "parent": self.index, **instance, **own})
        return answers

    def close(self) -> None:
        self._activity.close()

    def _groups(self, wanted: Sequence[str]) -> list[tuple[str, float]]:
        extras = [(name, EXTRA_SECONDS) for name in (CURVES, SHARES, ACTIVITY) if name in wanted]
        return [("base", BASE_SECONDS), ("limits", LIMITS_SECONDS), ("mig", MIG_SECONDS), *extras]

    def _put(self, name: str, value: Any) -> None:
        self._values[name] = (time.monotonic(), value)

    def _read_fixed(self) -> None:
        name, uuid = ask("nvmlDeviceGetName", self.handle), ask("nvmlDeviceGetUUID", self.handle)
        self._fixed = {"name": _sent(name), "uuid": _sent(uuid)}

    def _read_processes(self) -> None:
        mps = self._mps or self._readings % MPS_READINGS == 0
        self._readings += 1
        processes = self._list("processes", self.handle, self._listing, mps=mps)
        if mps and not isinstance(processes, Refusal):
            self._mps = any("mps" in one.kind for one in processes)

    def _list(self, name: str, handle: Any, nvml: Nvml, *, mps: bool = False) -> Any:
        processes = nvml.processes(handle, mps=mps)
        self._put(name, processes if isinstance(processes, Refusal) else [[one.pid, one.used_bytes, one.kind] for one in processes])
        return processes

    def _read_instance(self, place: int, handle: Any) -> None:
        memory = self._nvml.memory(handle)
        figures = memory if isinstance(memory, Refusal) else [memory.total_bytes, memory.used_bytes, memory.free_bytes]
        self._put(f"{place}:memory", figures)

    def _ask(self, function: str, *arguments: Any) -> Any:
        """Not again for a while where this GPU, or this driver, has no such thing."""
        key = f"{function}{arguments}"
        until, refused = self._refused.get(key, (0.0, None))
        if refused is not None and time.monotonic() < until:
            return refused
        answer = ask(function, self.handle, *arguments)
        if isinstance(answer, Refusal) and answer.code in {NOT_SUPPORTED, FUNCTION_NOT_FOUND}:
            self._refused[key] = (time.monotonic() + LIMITS_SECONDS, answer)
        return answer

    def _read_base(self) -> None:
        self._put("celsius", self._ask("nvmlDeviceGetTemperature", _TEMPERATURE_OF_GPU))
        self._put("milliwatts", self._ask("nvmlDeviceGetPowerUsage"))
        # The name that drivers of every age have.
        self._put("reasons", self._ask("nvmlDeviceGetCurrentClocksThrottleReasons"))

    def _read_limits(self) -> None:
        self._put("limit_milliwatts", ask("nvmlDeviceGetEnforcedPowerLimit", self.handle))
        self._put("slowdown", ask("nvmlDeviceGetTemperatureThreshold", self.handle, _SLOWDOWN))
        memory = self._values.get("memory", (0.0, None))[1]
        if isinstance(memory, Refusal) and memory.code == NOT_SUPPORTED:
            capability = ask("nvmlDeviceGetCudaComputeCapability", self.handle)
            self._put("capability", capability if isinstance(capability, Refusal) else [int(one) for one in capability])

    def _read_mig(self) -> None:
        modes = self._ask("nvmlDeviceGetMigMode")
        count = ask("nvmlDeviceGetMaxMigDeviceCount", self.handle) if not isinstance(modes, Refusal) and modes[0] else 0
        found: list[tuple[Answer, Any]] = []
        for place in range(0 if isinstance(count, Refusal) else min(int(count), MIG_DEVICES_AT_MOST)):
            handle = ask("nvmlDeviceGetMigDeviceHandleByIndex", self.handle, place)
            if not isinstance(handle, Refusal):
                name, uuid = ask("nvmlDeviceGetName", handle), ask("nvmlDeviceGetUUID", handle)
                found.append(({"place": place, "name": _sent(name), "uuid": _sent(uuid)}, handle))
        fresh = [one for one in found if f"{one[0]['place']}:memory" not in self._values]
        self._instances = found
        for instance, handle in fresh:
            self._read_instance(instance["place"], handle)
            self._list(f"{instance['place']}:processes", handle, self._nvml.another())  # `read_often` may be at its own

    def _read_curves(self) -> None:
        self._put("sm_megahertz", self._ask("nvmlDeviceGetClockInfo", _SM))
        self._put("memory_megahertz", self._ask("nvmlDeviceGetClockInfo", _MEMORY))
        self._put("fan", self._ask("nvmlDeviceGetFanSpeed"))
        margin = self._ask("nvmlDeviceGetMarginTemperature")
        self._put("margin", margin if isinstance(margin, Refusal) else int(margin))
        numbers = (MEMORY_CELSIUS,) if self._wide_counters is False else (MEMORY_CELSIUS, PCIE_RECEIVED, PCIE_SENT)
        told = fields(self.handle, numbers)
        if isinstance(told, Refusal):
            self._put("memory_celsius", told)
            self._wide_counters = False
            return
        celsius = told[MEMORY_CELSIUS]
        self._put("memory_celsius", celsius.value if isinstance(celsius, FieldValue) else celsius)
        if self._wide_counters is not False:
            self._count(told[PCIE_RECEIVED], told[PCIE_SENT])

    def _count(self, received: FieldValue | Refusal, sent: FieldValue | Refusal) -> None:
        # A counter of 32 bits goes round in a fifth of a second on a fast link, so that its difference says nothing.
        self._wide_counters = all(isinstance(one, FieldValue) and one.wide for one in (received, sent))
        if not (isinstance(received, FieldValue) and isinstance(sent, FieldValue) and self._wide_counters):
            return
        now, before = (time.monotonic(), received.value, sent.value), self._counted
        self._counted = now
        if before is None or now[0] <= before[0] or now[1] < before[1] or now[2] < before[2]:
            return  # the first, or it went round
        self._put("received", int((now[1] - before[1]) / (now[0] - before[0])))
        self._put("sent", int((now[2] - before[2]) / (now[0] - before[0])))

    def _read_shares(self) -> None:
        self._put("shares", self._shares.read(self.handle))

    def _read_activity(self) -> None:
        told = self._activity.read(self.handle)
        if told is not None:
            self._put("activity", told if isinstance(told, Refusal) else [_sent(one) for one in told])


def _sent(answer: Any) -> Any:
    return {"code": answer.code, "name": answer.name, "words": answer.words} if isinstance(answer, Refusal) else answer
