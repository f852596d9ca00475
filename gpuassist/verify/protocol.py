"""What the child script says, line by line: strict, because what another program writes there must not pass for a proof."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, Union

from msgspec import Struct

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.verdict import Check, Verdict

T = TypeVar("T")

_SHOWN_AT_MOST = 80


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


def parse(line: bytes) -> Event:
    """The event that a line reports; raises `ProtocolError` where it reports none."""
    try:
        document = read_json(line)
    except NotJsonError:
        raise ProtocolError(text("it wrote a line that is not JSON: {line}", line=_shown(line))) from None
    if not isinstance(document, dict):
        raise ProtocolError(text("it wrote a line that is not an object: {line}", line=_shown(line)))
    read = _READERS.get(_get(document, "type", str))
    if read is None:
        raise ProtocolError(text("it wrote a line of an unknown type: {line}", line=_shown(line)))
    return read(document)


def _started(document: dict[str, Any]) -> Started:
    environment = tuple((name, _get(document, name, str)) for name in ("python", "torch", "cuda", "cudnn"))
    devices = tuple(Device(_get(one, "device", str), _get(one, "name", str)) for one in _objects(document, "devices"))
    checks = tuple(Planned(_get(one, "name", str), _get(one, "dtype", str)) for one in _objects(document, "checks"))
    return Started(environment, devices, checks, _get(document, "accelerators", int), _get(document, "no_accelerator", str))


def _refused(document: dict[str, Any]) -> Refused:
    return Refused(_get(document, "python", str), _get(document, "error", str))


def _begun(document: dict[str, Any]) -> CheckBegun:
    return CheckBegun(_get(document, "device", str), _get(document, "name", str), _get(document, "dtype", str))


def _done(document: dict[str, Any]) -> CheckDone:
    verdict = _verdict(_get(document, "verdict", str))
    words = _get(document, "error", str)
    why_none = text("the check was skipped") if verdict is Verdict.SKIPPED else text("the check did not get that far")
    check = Check(
        _get(document, "name", str),
        _get(document, "dtype", str),
        verdict,
        verbatim(words) if words else None,
        _number(document, "max_abs_error", why_none),
        _number(document, "tolerance", why_none),
        _number(document, "seconds", why_none),
        _number(document, "rate", text("this check has no rate") if verdict is Verdict.PASS else why_none),
        _get(document, "rate_unit", str) if "rate" in document else "",
    )
    error, bound = check.max_abs_error, check.tolerance
    if check.verdict is Verdict.PASS and not (isinstance(error, Known) and isinstance(bound, Known) and error.value <= bound.value):
        raise ProtocolError(text("it says that {check} passed, but not with which error", check=check.name))
    if check.verdict is Verdict.FAIL and check.error is None:
        raise ProtocolError(text("it says that {check} failed, but not why", check=check.name))
    return CheckDone(_get(document, "device", str), check)


def _device_done(document: dict[str, Any]) -> DeviceDone:
    return DeviceDone(_get(document, "device", str))


def _finished(_document: dict[str, Any]) -> Finished:
    return Finished()


_READERS: dict[str, Callable[[dict[str, Any]], Event]] = {
    "start": _started,
    "error": _refused,
    "check-begin": _begun,
    "check": _done,
    "device-end": _device_done,
    "end": _finished,
}


def _verdict(words: str) -> Verdict:
    if words not in ("pass", "fail", "skipped"):  # that something hung is said by who waits, not by who hangs
        raise ProtocolError(text("it wrote a verdict that does not exist: {words}", words=words[:_SHOWN_AT_MOST]))
    return Verdict(words)


def _number(document: dict[str, Any], name: str, why_none: Text) -> Fact[float]:
    if name not in document:
        return Unknown(why_none)
    value = document[name]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _wrong(name)
    return Known(float(value), "verify")


def _objects(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    items = _get(document, name, list)
    if not all(isinstance(item, dict) for item in items):
        raise _wrong(name)
    return items


def _get(document: dict[str, Any], name: str, kind: type[T]) -> T:
    value = document.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _wrong(name)
    return value


def _wrong(name: str) -> ProtocolError:
    return ProtocolError(text("it wrote a line in which {name} is missing or of another kind", name=name))


def _shown(line: bytes) -> str:
    return line[:_SHOWN_AT_MOST].decode("utf-8", "replace")
