"""What the child script says, line by line: strict, because what another program writes there must not pass for a proof."""

from __future__ import annotations

import math
from typing import TypeVar, Union

from msgspec import Struct

from gpuassist.model.codec import DecodeError, decode
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.verdict import HELD, Cause, Check, Verdict
from gpuassist.verify.provenance import ProcessLibraries

NO_TORCH = "ModuleNotFoundError: No module named 'torch'"
NO_INTERPRETER = "there is no Python"
"""What the shell of an image says in the child's place where it finds no interpreter."""
NO_DISTRIBUTED = "this torch has no torch.distributed"
ONE_RANK = "there is only one rank"
OPTIONS = "options"
"""The stage at which a launcher refuses the options that it is given."""
RANKS = "ranks"
"""What the ranks of a launcher are called, where others are `pair`, `twice` and `group`."""

_NOT_SUPPORTED = "CUDA error: operation not supported"
_SHOWN_AT_MOST = 80
_ABSENT = math.inf  # which no line can say


class ProtocolError(ValueError):
    """A line is not what the child script writes; `reason` says in which way."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class Planned(Struct, frozen=True):
    """A check that a device will go through."""

    name: str
    dtype: str


class Device(Struct, frozen=True):
    """A device that will be checked, by torch's name for it, what it is, and what it goes through."""

    device: str
    name: str
    checks: tuple[Planned, ...]
    uuid: str = ""
    pci: str = ""
    capability: str = ""
    code: str = ""
    memory_total_bytes: int = 0
    multiprocessors: int = 0
    mig: bool = False
    members: tuple[str, ...] = ()  # the devices of what several devices, or several processes, do together


class Imported(Struct, frozen=True):
    """torch is imported; the driver is started next."""

    seconds: float


class ShownGpu(Struct, frozen=True):
    """A GPU that CUDA shows, by its UUID and PCI address as far as they are told."""

    uuid: str = ""
    pci: str = ""


class Started(Struct, frozen=True):
    """The devices are known: the environment in its own words, why there is no accelerator, and what CUDA shows all the same."""

    environment: tuple[tuple[str, str], ...]
    devices: tuple[Device, ...]
    accelerators: int
    no_accelerator: str
    visible_devices: str | None = None
    shown_by_driver: tuple[ShownGpu, ...] = ()


class Refused(Struct, frozen=True):
    """There is nothing to check: torch could not be imported (`stage` is `import`), the driver not be started (`driver`; `hung`
    where it gave no answer), a device that was asked for is not there (`devices`), a launcher does not take its options
    (`options`), or its ranks are no group (`ranks`).
    """

    stage: str
    python: str
    error: str
    torch: str = ""
    cuda: str = ""
    hung: bool = False


class CheckBegun(Struct, frozen=True):
    """A check runs now."""

    device: str
    name: str
    dtype: str


class CheckDone(Struct, frozen=True):
    """A check is done."""

    device: str
    check: Check


class DeviceDone(Struct, frozen=True):
    """All checks of a device are done."""

    device: str


class LibrariesTold(Struct, frozen=True):
    """Which libraries the process of a device has loaded, after its checks."""

    device: str
    process: ProcessLibraries


class Finished(Struct, frozen=True):
    """The child has said everything."""


Event = Union[Imported, Started, Refused, CheckBegun, CheckDone, LibrariesTold, DeviceDone, Finished]


class _StartLine(Struct, frozen=True):
    python: str
    torch: str
    cuda: str
    hip: str
    cudnn: str
    devices: tuple[Device, ...]
    accelerators: int
    no_accelerator: str
    visible_devices: str | None = None
    shown_by_driver: tuple[ShownGpu, ...] = ()

    def event(self) -> Started:
        known = (("python", self.python), ("torch", self.torch), ("cuda", self.cuda), ("hip", self.hip), ("cudnn", self.cudnn))
        environment = tuple((name, words) for name, words in known if words or name != "hip")
        why = self.no_accelerator
        return Started(environment, self.devices, self.accelerators, why, self.visible_devices, self.shown_by_driver)


class _CheckLine(Struct, frozen=True):
    device: str
    name: str
    dtype: str
    verdict: str
    error: str
    max_abs_error: float = _ABSENT
    tolerance: float = _ABSENT
    seconds: float = _ABSENT
    rate: float = _ABSENT
    rate_unit: str | None = None
    cause: str | None = None
    free_bytes: int | None = None
    total_bytes: int | None = None
    needed_bytes: int | None = None
    others_bytes: int | None = None
    compared: int | None = None
    notes: dict[str, str] | None = None

    def event(self) -> CheckDone:
        verdict = _one_of(Verdict, self.verdict)
        if verdict is Verdict.PASS and not self.max_abs_error <= self.tolerance < _ABSENT:
            raise ProtocolError(text("it says that {check} passed, but not with which error", check=self.name))
        if verdict is not Verdict.PASS and not self.error:
            raise ProtocolError(text("it says that {check} failed, but not why", check=self.name))
        if self.rate != _ABSENT and self.rate_unit is None:
            raise _wrong("rate_unit")
        why_none = text("the check was skipped") if verdict is Verdict.SKIPPED else text("the check did not get that far")
        cause = _one_of(Cause, self.cause) if self.cause is not None else None
        check = Check(
            self.name,
            self.dtype,
            verdict,
            self._in_a_line(cause),
            _number(self.max_abs_error, why_none),
            _number(self.tolerance, why_none),
            _number(self.seconds, why_none),
            _number(self.rate, text("this check has no rate") if verdict is Verdict.PASS else why_none),
            self.rate_unit if self.rate_unit and self.rate != _ABSENT else "",
            cause,
            self.error if "\n" in self.error or cause in HELD else "",
            Unknown(why_none) if self.others_bytes is None else Known(self.others_bytes, "verify"),
            Unknown(why_none) if self.compared is None else Known(self.compared, "verify"),
            tuple((self.notes or {}).items()),
        )
        return CheckDone(self.device, check)

    def _in_a_line(self, cause: Cause | None) -> Text | None:
        if cause is Cause.MEMORY:
            return self._too_little()
        if cause is Cause.BUSY:
            return text("another program holds this GPU for itself")
        if cause is Cause.TIME:
            return text("not run: time")
        line = self.error.strip().partition("\n")[0]
        if cause is Cause.FORMAT and line.endswith(_NOT_SUPPORTED):
            return text("this driver or GPU cannot do it (CUDA error 801)")
        return verbatim(line) if line else None

    def _too_little(self) -> Text:
        if self.others_bytes:
            return text("not enough free memory: others hold {size}", size=_size(self.others_bytes))
        if self.free_bytes is None and self.total_bytes:
            return text("too little of the GPU's {total} of memory is free for CUDA to start", total=_size(self.total_bytes))
        if self.free_bytes is None:
            return text("not enough free memory on the GPU, not even to start")
        free = _size(self.free_bytes)
        if self.needed_bytes is None:
            return text("not enough free memory: {free} are free", free=free)
        needed = _size(self.needed_bytes)
        if self.needed_bytes > self.free_bytes:
            return text("not enough free memory: {needed} are needed, {free} are free", needed=needed, free=free)
        return text("the driver refused {needed} of memory, though {free} are free", needed=needed, free=free)


_LINES = {
    "imported": Imported,
    "start": _StartLine,
    "error": Refused,
    "check-begin": CheckBegun,
    "check": _CheckLine,
    "libraries": LibrariesTold,
    "device-end": DeviceDone,
    "end": Finished,
}


def parse(line: bytes) -> Event:
    """The event that a line reports; raises `ProtocolError` where it reports none."""
    try:
        document = read_json(line)
    except NotJsonError:
        raise ProtocolError(text("it wrote a line that is not JSON: {line}", line=_shown(line))) from None
    if not isinstance(document, dict):
        raise ProtocolError(text("it wrote a line that is not an object: {line}", line=_shown(line)))
    try:
        kind = _LINES.get(decode(str, document.get("type"), "$.type"))
        if kind is None:
            raise ProtocolError(text("it wrote a line of an unknown type: {line}", line=_shown(line)))
        read = decode(kind, document)
    except DecodeError as error:
        raise _wrong(error.field) from None
    event: Event = read.event() if isinstance(read, (_StartLine, _CheckLine)) else read
    return event


_Kind = TypeVar("_Kind", Verdict, Cause)


def _one_of(kind: type[_Kind], words: str) -> _Kind:
    try:
        return kind(words)
    except ValueError:
        raise ProtocolError(text("it wrote a verdict that does not exist: {words}", words=words[:_SHOWN_AT_MOST])) from None


def _number(value: float, why_none: Text) -> Fact[float]:
    return Unknown(why_none) if value == _ABSENT else Known(value, "verify")


def _wrong(name: str) -> ProtocolError:
    return ProtocolError(text("it wrote a line in which {name} is missing or of another kind", name=name))


def _size(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB" if size >= 1 << 29 else f"{size >> 20} MiB"


def _shown(line: bytes) -> str:
    return line[:_SHOWN_AT_MOST].decode("utf-8", "replace")
