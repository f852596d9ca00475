"""NVML through NVIDIA's own binding, which is imported here alone: every question ends in a value or in a `Refusal`.

Calls can hang in the driver, and the library can crash or answer nonsense: it is asked from children alone that may be killed
(`system.nvml_probe`, `monitor.sampling_child`). The second is started for every sample on the command line, so this module stands
without dataclasses and typing, which cost its start 14 ms of 40. What is answered is judged in `system.nvml_sense`.
"""

from __future__ import annotations

import struct
import sys
from types import ModuleType

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone
if TYPE_CHECKING:
    import ctypes
    from typing import Any

    Handle = Any

NOT_SUPPORTED, LIBRARY_NOT_FOUND, FUNCTION_NOT_FOUND, NO_DATA, ARGUMENT_VERSION_MISMATCH, UNKNOWN = 3, 12, 13, 21, 25, 999
SUCCESS, INSUFFICIENT_SIZE = 0, 7
NONSENSE = -1  # no code of nvml.h: an answer that cannot be true; the refusal's name says of what, its words which

GPUS_AT_MOST = 128  # NVIDIA's driver for Linux serves 32 (NV_MAX_DEVICES of its open kernel module); the largest machine has 16
PROCESSES_AT_MOST = 1 << 16
PROCESS_NUMBERS_AT_MOST = 1 << 22  # the kernel's PID_MAX_LIMIT
MIG_DEVICES_AT_MOST = 64

_NAMES = {
    **dict(enumerate(("UNINITIALIZED", "INVALID_ARGUMENT", "NOT_SUPPORTED", "NO_PERMISSION", "ALREADY_INITIALIZED"), 1)),
    **dict(enumerate(("NOT_FOUND", "INSUFFICIENT_SIZE", "INSUFFICIENT_POWER", "DRIVER_NOT_LOADED", "TIMEOUT", "IRQ_ISSUE"), 6)),
    **dict(enumerate(("LIBRARY_NOT_FOUND", "FUNCTION_NOT_FOUND", "CORRUPTED_INFOROM", "GPU_IS_LOST", "RESET_REQUIRED"), 12)),
    **dict(enumerate(("OPERATING_SYSTEM", "LIB_RM_VERSION_MISMATCH", "IN_USE", "MEMORY", "NO_DATA"), 17)),
    **dict(enumerate(("VGPU_ECC_NOT_SUPPORTED", "INSUFFICIENT_RESOURCES", "FREQ_NOT_SUPPORTED"), 22)),
    **dict(enumerate(("ARGUMENT_VERSION_MISMATCH", "DEPRECATED", "NOT_READY", "GPU_NOT_FOUND", "INVALID_STATE"), 25)),
    **dict(enumerate(("RESET_TYPE_NOT_SUPPORTED",), 30)),
    999: "UNKNOWN",
}

# What nvidia-ml-py 13.615 raises beside its own NVMLError: NVMLLibraryMismatchError (no NVMLError) for a list that an old driver
# lacks, TypeError in nvmlDeviceGetRunningProcessDetailList, UnicodeDecodeError (a ValueError) for a name that is not UTF-8.
_BINDING_FAULTS = (AttributeError, TypeError, ValueError, LookupError, OSError, RuntimeError)


class Value:
    """What is equal where all of it is."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and type(self) is type(other) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._all()}"

    def _all(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)


class Refusal(Value):
    """Why NVML gave no value: nvml.h's code, its name (`NVML_ERROR_GPU_IS_LOST`), and the words that came with it."""

    __slots__ = ("code", "name", "words")

    def __init__(self, code: int, name: str, words: str) -> None:
        self.code, self.name, self.words = code, name, words


class Memory(Value):
    """A device's memory; `used_bytes` is without what the driver keeps for itself, where the driver tells the two apart."""

    __slots__ = ("free_bytes", "total_bytes", "used_bytes")

    def __init__(self, total_bytes: int, used_bytes: int, free_bytes: int) -> None:
        self.total_bytes, self.used_bytes, self.free_bytes = total_bytes, used_bytes, free_bytes


class Listed(Value):
    """A process that NVML lists on a device, `kind` as `compute+graphics`; None where it does not say how much memory it has."""

    __slots__ = ("kind", "pid", "used_bytes")

    def __init__(self, pid: int, kind: str, used_bytes: int | None) -> None:
        self.pid, self.kind, self.used_bytes = pid, kind, used_bytes


def ask(function: str, *arguments: Any) -> Any:
    """What the function of that name in nvidia-ml-py returns (bytes as text), or a `Refusal`; never raises for what NVML does."""
    try:
        import pynvml  # 23 ms: only where NVML is asked at all
    except ImportError as error:
        return refusal(LIBRARY_NOT_FOUND, str(error))
    import ctypes  # here and below, because whoever reads what NVML said in another process has no need of it

    try:
        value = getattr(pynvml, function)(*arguments)
    except pynvml.NVMLError as error:
        # Some drivers answer "no entries" with success, which the binding raises as an error.
        return refusal(error.value or NO_DATA, str(error))
    except pynvml.NVMLLibraryMismatchError:
        return refusal(FUNCTION_NOT_FOUND, f"this driver has no {function} of the binding's version")
    except (*_BINDING_FAULTS, ctypes.ArgumentError) as error:
        missing = isinstance(error, AttributeError) and not hasattr(pynvml, function)
        return refusal(FUNCTION_NOT_FOUND if missing else UNKNOWN, str(error))
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def import_alone() -> None:
    """Imports the binding without `ctypes.util`, which it never calls and which costs 13 ms (shutil, subprocess, tempfile).

    Only for a process in which nothing else is being imported meanwhile: a sample on the command line, the report's child.
    """
    if "ctypes.util" in sys.modules or "pynvml" in sys.modules:
        return
    stand_in = ModuleType("ctypes.util")
    stand_in.find_library = lambda name: None  # type: ignore[attr-defined]
    sys.modules["ctypes.util"] = stand_in
    try:
        import pynvml  # noqa: F401 -- for `ask`, which finds it imported
    except ImportError:
        pass  # `ask` says so
    finally:
        del sys.modules["ctypes.util"]


def refusal(code: int, words: str) -> Refusal:
    """The refusal of a code, named as nvml.h does."""
    return Refusal(code, status_name(code), words)


def nonsense(what: str, told: object) -> Refusal:
    """The refusal of an answer that cannot be true: `devices`, 4294967295."""
    return Refusal(NONSENSE, what, str(told))


def status_name(code: int) -> str:
    return "NVML_SUCCESS" if code == SUCCESS else f"NVML_ERROR_{_NAMES.get(code, code)}"


class Nvml:
    """NVML as one thread uses it: knows which layouts this driver speaks, keeps its buffer. Open it, ask, close it."""

    def __init__(self) -> None:
        self._memory_version = 2
        self._process_versions = [3, 2, 1]
        self._room = 256
        self._buffer = _buffer(self._room)

    def open(self) -> Refusal | None:
        """Initialises NVML; the refusal says why it could not be."""
        refused = ask("nvmlInit")
        if isinstance(refused, Refusal):
            return refused
        if str(ask("nvmlSystemGetDriverVersion")).startswith("535."):
            # Drivers 535.43 to 535.86 fill version 3 of the list with entries of 32 bytes; version 2 is what it was.
            self._process_versions = [2, 1]
        return None

    def close(self) -> None:
        """Shuts NVML down, so that an idle GPU may sleep."""
        ask("nvmlShutdown")

    def handles(self) -> tuple[Handle | Refusal, ...] | Refusal:
        """A handle a device in NVML's order, or why that one has none."""
        count = device_count()
        if isinstance(count, Refusal):
            return count
        return tuple(ask("nvmlDeviceGetHandleByIndex", index) for index in range(count))

    def memory(self, handle: Handle) -> Memory | Refusal:
        """Memory by version 2 of the call; drivers before 510 know only version 1, which counts what is reserved as used."""
        if self._memory_version == 2:
            answer = ask("nvmlDeviceGetMemoryInfo", handle, _MEMORY_V2)
            if not _is_refused_with(answer, FUNCTION_NOT_FOUND, ARGUMENT_VERSION_MISMATCH):
                return _memory(answer)
            self._memory_version = 1
        return _memory(ask("nvmlDeviceGetMemoryInfo", handle))

    def another(self) -> Nvml:
        """For another thread: with a buffer of its own."""
        made = Nvml()
        made._memory_version, made._process_versions = self._memory_version, list(self._process_versions)
        return made

    def processes(self, handle: Handle, *, mps: bool = True) -> tuple[Listed, ...] | Refusal:
        """Who is on the device by all its lists, merged by process; without that of the clients of an MPS server where `mps` is
        false. Read by hand: pynvml takes two calls a list.
        """
        lists: dict[str, list[_Entry]] = {}
        for kind, function in _LISTS if mps else _LISTS[:2]:
            answer = self._list(function, handle)
            if not isinstance(answer, Refusal):
                lists[kind] = answer
            elif kind == "compute" or answer.code not in {NOT_SUPPORTED, FUNCTION_NOT_FOUND}:
                return answer
        kinds: dict[int, str] = {}
        amounts: dict[tuple[int, int], int] = {}
        for kind, entries in lists.items():
            for pid, used, instance in entries:
                before = kinds.setdefault(pid, kind)
                if kind not in before:
                    kinds[pid] = f"{before}+{kind}"
                # A process that computes and draws stands in both lists with the same memory: it counts once.
                if used != _NOT_AVAILABLE:
                    amounts[pid, instance] = max(used, amounts.get((pid, instance), 0))
        # One process may be in several MIG instances of a GPU, in each with memory of its own.
        total: dict[int, int] = {}
        for (pid, _instance), used in amounts.items():
            total[pid] = total.get(pid, 0) + used
        listed = tuple(Listed(pid, kinds[pid], total.get(pid)) for pid in kinds)
        strange = [process.pid for process in listed if process.pid > PROCESS_NUMBERS_AT_MOST]
        return nonsense("process number", strange[0]) if strange else listed

    def _list(self, function: str, handle: Handle) -> list[_Entry] | Refusal:
        while len(self._process_versions) > 1:
            answer = self._read(function, self._process_versions[0], handle)
            if not _is_refused_with(answer, FUNCTION_NOT_FOUND):
                return answer
            if function != _LISTS[0][1]:  # only the compute list, which every driver has, tells the version
                return answer
            del self._process_versions[0]
        return self._read(function, self._process_versions[0], handle)

    def _read(self, function: str, version: int, handle: Handle) -> list[_Entry] | Refusal:
        call = raw(function if version == 1 else f"{function}_v{version}")
        if isinstance(call, Refusal):
            return call
        import ctypes

        for _ in range(_TRIES):
            count = ctypes.c_uint(self._room)
            code = call(handle, ctypes.byref(count), self._buffer)
            if code == SUCCESS and count.value <= self._room:
                rows = memoryview(self._buffer)
                entries: list[_Entry] = []
                if version == 1:
                    for pid, used in _ENTRY_V1.iter_unpack(rows[: count.value * _ENTRY_V1.size]):
                        entries.append((pid, used, 0))
                else:
                    for pid, used, instance, _compute in _ENTRY.iter_unpack(rows[: count.value * _ENTRY.size]):
                        entries.append((pid, used, instance))
                return entries
            if code not in {SUCCESS, INSUFFICIENT_SIZE}:
                return refusal(code, str(ask("nvmlErrorString", code)))
            # It wants more room than it was given: anything else would be asked for ever, or fill the memory of this machine.
            if not self._room < count.value <= PROCESSES_AT_MOST:
                return nonsense("processes", count.value)
            self._room = count.value * 2 + 64
            self._buffer = _buffer(self._room)
        return refusal(INSUFFICIENT_SIZE, "the list grew faster than it could be read")


def device_count() -> int | Refusal:
    """How many devices NVML says there are, where that can be."""
    count = ask("nvmlDeviceGetCount")
    if isinstance(count, Refusal):
        return count
    return int(count) if 0 <= count <= GPUS_AT_MOST else nonsense("devices", count)


def _buffer(entries: int) -> ctypes.Array[ctypes.c_char]:
    import ctypes

    return ctypes.create_string_buffer(entries * _WIDEST_ENTRY)


_Entry = tuple[int, int, int]  # process, bytes used, MIG instance
_MEMORY_V2 = 0x02000028
_NOT_AVAILABLE = 2**64 - 1
_WIDEST_ENTRY = 32
_TRIES = 8  # the list may grow between two calls, but not for ever
_LISTS = (
    ("compute", "nvmlDeviceGetComputeRunningProcesses"),
    ("graphics", "nvmlDeviceGetGraphicsRunningProcesses"),
    ("mps", "nvmlDeviceGetMPSComputeRunningProcesses"),
)
# nvml.h: {unsigned pid; unsigned long long used;}, and from version 2 on {..., unsigned gpu instance, unsigned compute instance}.
_ENTRY_V1, _ENTRY = struct.Struct("@IQ"), struct.Struct("@IQII")


def _is_refused_with(answer: object, *codes: int) -> bool:
    return isinstance(answer, Refusal) and answer.code in codes


def _memory(answer: Any) -> Memory | Refusal:
    return answer if isinstance(answer, Refusal) else Memory(answer.total, answer.used, answer.free)


def raw(name: str) -> Any:
    """The C function of that name, or a `Refusal` where this driver has none; whoever calls it judges its code."""
    import pynvml

    try:
        return getattr(pynvml.nvmlLib, name)
    except AttributeError as error:
        return refusal(FUNCTION_NOT_FOUND, str(error))
