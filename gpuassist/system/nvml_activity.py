"""What NVML tells of a device's work beside its memory: fields, who had which share, what its units did, and events.

As `system.nvml` it stands without dataclasses and typing, because the process that asks NVML is started for every sample on the
command line. Each piece here is used by one thread.
"""

from __future__ import annotations

import struct

from gpuassist.system.nvml import (
    INSUFFICIENT_SIZE,
    NO_DATA,
    NOT_SUPPORTED,
    PROCESSES_AT_MOST,
    SUCCESS,
    Refusal,
    ask,
    nonsense,
    raw,
    refusal,
)

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

MEMORY_CELSIUS, PCIE_SENT, PCIE_RECEIVED = 82, 197, 198
"""NVML_FI_DEV_MEMORY_TEMP, NVML_FI_DEV_PCIE_COUNT_TX_BYTES and _RX_BYTES of nvml.h; sent and received are as the GPU sees it."""

NOT_FOUND, TIMEOUT = 6, 10
XID = 8  # nvmlEventTypeXidCriticalError
_EVENTS_AT_MOST = 256  # that are taken at a time: a broken GPU tells thousands

# nvml.h, nvmlValueType_t: which of the eight bytes hold the value, and whether it counts further than 32 bits do.
_FORMS = {0: ("d", True), 1: ("I", False), 2: ("L", True), 3: ("Q", True), 4: ("q", True), 5: ("i", False), 6: ("H", False)}
_SHARE = struct.Struct("@IQIIII")  # nvmlProcessUtilizationSample_t
_SM_ACTIVE, _TENSOR_ACTIVE = 2, 5  # NVML_GPM_METRIC_SM_UTIL, NVML_GPM_METRIC_ANY_TENSOR_UTIL
_GPM_VERSION = 1


class FieldValue:
    """A field's value; `wide` where it is of 64 bits."""

    __slots__ = ("value", "wide")

    def __init__(self, value: float, *, wide: bool) -> None:
        self.value, self.wide = value, wide


def fields(handle: Any, numbers: Sequence[int]) -> dict[int, FieldValue | Refusal] | Refusal:
    """Several fields of a device by one call."""
    told = ask("nvmlDeviceGetFieldValues", handle, list(numbers))
    if isinstance(told, Refusal):
        return told
    found: dict[int, FieldValue | Refusal] = {}
    for number, one in zip(numbers, told):  # noqa: B905 -- as many as were asked for
        form = _FORMS.get(one.valueType)
        if one.nvmlReturn != SUCCESS:
            found[number] = refusal(one.nvmlReturn, "")
        elif form is None:
            found[number] = nonsense("field", one.valueType)
        else:
            value = struct.unpack_from(f"@{form[0]}", bytes(one.value))[0]
            found[number] = FieldValue(value, wide=form[1])
    return found


class Shares:
    """How much of a device's time each process had, since this was asked before."""

    def __init__(self) -> None:
        self._seen = 0
        self._room = 128
        self._buffer: Any = None

    def read(self, handle: Any) -> list[list[int]] | Refusal:
        """Process and percent, the newest of each; without those that did nothing."""
        call = raw("nvmlDeviceGetProcessUtilization")
        if isinstance(call, Refusal):
            return call
        import ctypes

        def called() -> tuple[int, int]:
            count = ctypes.c_uint(self._room)
            if self._buffer is None:
                self._buffer = ctypes.create_string_buffer(self._room * _SHARE.size)
            return int(call(handle, self._buffer, ctypes.byref(count), ctypes.c_ulonglong(self._seen))), count.value

        code, count = called()
        if code == INSUFFICIENT_SIZE and self._room < count <= PROCESSES_AT_MOST:
            self._room, self._buffer = count * 2, None
            code, count = called()
        if code in {NOT_FOUND, NO_DATA} or (code == SUCCESS and not count):
            return []  # nobody did anything since
        if code != SUCCESS:
            return refusal(code, str(ask("nvmlErrorString", code)))
        if count > self._room:
            return nonsense("processes", count)
        newest: dict[int, tuple[int, int]] = {}
        rows = memoryview(self._buffer)[: count * _SHARE.size]
        for pid, when, percent, _memory, _encoder, _decoder in _SHARE.iter_unpack(rows):
            # Entries of processes that have ended hold anything (a hundred of them with loads above 10^6 were seen).
            if pid > 0 and percent <= 100 and when > newest.get(pid, (self._seen, 0))[0]:
                newest[pid] = (when, percent)
        if newest:
            self._seen = max(when for when, _ in newest.values())
        return [[pid, percent] for pid, (_, percent) in newest.items()]


class Activity:
    """What part of the multiprocessors, and of the tensor cores' time, was used between two readings (NVML's GPM, since Hopper)."""

    def __init__(self) -> None:
        self._refused: Refusal | None = None
        self._samples: list[Any] = []
        self._filled = False

    def read(self, handle: Any) -> list[Any] | Refusal | None:
        """Percent of the multiprocessors and of the tensor cores, each of which may be a `Refusal`; None at the first reading."""
        if self._refused is None and not self._samples:
            self._refused = self._begin(handle)
        if self._refused is not None:
            return self._refused
        before, now = self._samples
        taken = ask("nvmlGpmSampleGet", handle, now)
        if isinstance(taken, Refusal):
            self._filled = False
            return taken
        self._samples = [now, before]
        if not self._filled:
            self._filled = True
            return None
        import pynvml

        wanted = pynvml.c_nvmlGpmMetricsGet_t()
        wanted.version, wanted.numMetrics = _GPM_VERSION, 2
        wanted.sample1, wanted.sample2 = before, now
        wanted.metrics[0].metricId, wanted.metrics[1].metricId = _SM_ACTIVE, _TENSOR_ACTIVE
        told = ask("nvmlGpmMetricsGet", wanted)
        if isinstance(told, Refusal):
            return told
        return [one.value if one.nvmlReturn == SUCCESS else refusal(one.nvmlReturn, "") for one in told.metrics[:2]]

    def _begin(self, handle: Any) -> Refusal | None:
        offered = ask("nvmlGpmQueryDeviceSupport", handle)
        if isinstance(offered, Refusal):
            return offered
        if not offered.isSupportedDevice:
            return refusal(NOT_SUPPORTED, "")
        samples = [ask("nvmlGpmSampleAlloc") for _ in range(2)]
        refused = next((one for one in samples if isinstance(one, Refusal)), None)
        self._samples = samples if refused is None else []
        return refused

    def close(self) -> None:
        for sample in self._samples:
            ask("nvmlGpmSampleFree", sample)
        self._samples = []


class Events:
    """The Xids that a driver tells while this is open."""

    def __init__(self) -> None:
        self._set: Any = None
        self._places: dict[int | None, int] = {}

    def open(self, handles: Sequence[tuple[int, Any]]) -> None:
        """Asks to be told of these devices, each with its number; where none can tell, nothing is asked later."""
        made = ask("nvmlEventSetCreate")
        if isinstance(made, Refusal):
            return
        for place, handle in handles:
            offered = ask("nvmlDeviceGetSupportedEventTypes", handle)
            if isinstance(offered, Refusal) or not offered & XID:
                continue
            if not isinstance(ask("nvmlDeviceRegisterEvents", handle, XID, made), Refusal):
                self._places[_address(handle)] = place
        if self._places:
            self._set = made
        else:
            ask("nvmlEventSetFree", made)

    def read(self) -> list[list[int]]:
        """Device's number and Xid of each that came since; it does not wait."""
        found: list[list[int]] = []
        while self._set is not None and len(found) < _EVENTS_AT_MOST:
            told = ask("nvmlEventSetWait_v2", self._set, 0)
            if isinstance(told, Refusal):
                break  # NVML_ERROR_TIMEOUT: there are no more
            place = self._places.get(_address(told.device))
            if told.eventType & XID and place is not None:
                found.append([place, int(told.eventData)])
        return found

    def close(self) -> None:
        if self._set is not None:
            ask("nvmlEventSetFree", self._set)
        self._set = None
        self._places.clear()


def _address(handle: Any) -> int | None:
    import ctypes

    return ctypes.cast(handle, ctypes.c_void_p).value
