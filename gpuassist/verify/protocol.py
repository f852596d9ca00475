"""What the child script says, line by line: strict, because what another program writes there must not pass for a proof."""

from __future__ import annotations

import math
from typing import Union

from msgspec import Struct

from gpuassist.model.codec import DecodeError, decode
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.verdict import Check, Verdict

_SHOWN_AT_MOST = 80
_ABSENT = math.inf  # which no line can say


class ProtocolError(ValueError):
    """A line is not what the child script writes; `reason` says in which way."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class Planned(Struct, frozen=True):
    """A check that every device will go through."""

    name: str
    dtype: str


class Device(Struct, frozen=True):
    """A device that will be checked, by torch's name for it, and what it is."""

    device: str
    name: str


class Started(Struct, frozen=True):
    """torch is imported: the environment in its own words, what will be checked, and why there is no accelerator."""

    environment: tuple[tuple[str, str], ...]
    devices: tuple[Device, ...]
    checks: tuple[Planned, ...]
    accelerators: int
    no_accelerator: str


class Refused(Struct, frozen=True):
    """torch could not be imported, or a device that was asked for is not there."""

    python: str
    error: str


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


class Finished(Struct, frozen=True):
    """The child has said everything."""


Event = Union[Started, Refused, CheckBegun, CheckDone, DeviceDone, Finished]


class _StartLine(Struct, frozen=True):
    python: str
    torch: str
    cuda: str
    cudnn: str
    devices: tuple[Device, ...]
    checks: tuple[Planned, ...]
    accelerators: int
    no_accelerator: str

    def event(self) -> Started:
        environment = (("python", self.python), ("torch", self.torch), ("cuda", self.cuda), ("cudnn", self.cudnn))
        return Started(environment, self.devices, self.checks, self.accelerators, self.no_accelerator)


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

    def event(self) -> CheckDone:
        if self.verdict not in ("pass", "fail", "skipped"):  # that something hung is said by who waits, not by who hangs
            raise ProtocolError(text("it wrote a verdict that does not exist: {words}", words=self.verdict[:_SHOWN_AT_MOST]))
        verdict = Verdict(self.verdict)
        if verdict is Verdict.PASS and not self.max_abs_error <= self.tolerance < _ABSENT:
            raise ProtocolError(text("it says that {check} passed, but not with which error", check=self.name))
        if verdict is Verdict.FAIL and not self.error:
            raise ProtocolError(text("it says that {check} failed, but not why", check=self.name))
        if self.rate != _ABSENT and self.rate_unit is None:
            raise _wrong("rate_unit")
        why_none = text("the check was skipped") if verdict is Verdict.SKIPPED else text("the check did not get that far")
        check = Check(
            self.name,
            self.dtype,
            verdict,
            verbatim(self.error) if self.error else None,
            _number(self.max_abs_error, why_none),
            _number(self.tolerance, why_none),
            _number(self.seconds, why_none),
            _number(self.rate, text("this check has no rate") if verdict is Verdict.PASS else why_none),
            self.rate_unit if self.rate_unit and self.rate != _ABSENT else "",
        )
        return CheckDone(self.device, check)


_LINES = {
    "start": _StartLine,
    "error": Refused,
    "check-begin": CheckBegun,
    "check": _CheckLine,
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


def _number(value: float, why_none: Text) -> Fact[float]:
    return Unknown(why_none) if value == _ABSENT else Known(value, "verify")


def _wrong(name: str) -> ProtocolError:
    return ProtocolError(text("it wrote a line in which {name} is missing or of another kind", name=name))


def _shown(line: bytes) -> str:
    return line[:_SHOWN_AT_MOST].decode("utf-8", "replace")
