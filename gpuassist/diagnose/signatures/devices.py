"""What programs say that ask for a GPU which is not there or not visible."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import with_mig
from gpuassist.diagnose.signature import Meaning, Sign, Signature, SignatureInput, means, passages, sign
from gpuassist.formats.devices import DeviceListFault, read_visible_devices
from gpuassist.model.fact import Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight

_ASKED = (
    ("cuda:", "device", "gpu", "local_rank"),
    r"cuda:(\d{1,2})\b|device!?\((\d{1,2})\)|\bgpu_?(?:idx|ids?|index|num)?s? ?[=:] ?\[?(\d{1,2})\b|local_rank ?[=:]? ?(\d{1,2})\b"
    r"|--(?:gpu|device|gpus?-id)[ =](\d{1,2})\b|device_ids ?= ?\[(\d{1,2})|\bdevice ?= ?['\"]?(\d{1,2})\b",
)
_ELEMENT = r"(?:-?\d{1,4}|GPU-[\da-f-]{4,40})"
_MANY = 1024  # GPUs, where the text does not say how many there are
_FAR = 3000  # characters
_USED = lazy_regex(
    r"\.cuda\(|\.to\(\s?(?:f?['\"]cuda|device)|\bdevice\s?=\s?['\"]cuda|cuda\.(?:is_available|device_count|set_device|get_device"
    r"|current_device|init|mem_get_info|empty_cache)"
)
_WITHOUT_EFFECT = (
    "still",
    "ignore",
    "no effect",
    "device_count",
    "wrong gpu",
    "all gpus",
    "gpu 0",
    "cuda:0",
    "仍",
    "还是",
    "不起作用",
)
_SET = lazy_regex(r"CUDA_VISIBLE_DEVICES['\"\]]{0,3} ?= ?['\"]?([\w,-]{0,80})", re.IGNORECASE)


def _ordinal(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Where a GPU is divided, a process sees one of its instances, so that the second process asks for what it cannot have."""
    number = match.groupdict().get("ordinal") or _asked(setting)
    if with_mig(setting):
        yield sign("mig-mode", Weight.CAUSE)
    yield sign("cuda-visible-devices-bad", Weight.CAUSE, ordinal=number)


def _asked(setting: SignatureInput) -> str:
    """The number that the program asks for, where the text names just one that cannot be there."""
    count = len(setting.case.cards) if isinstance(setting.case.machine.gpus, Known) and setting.case.cards else 1
    numbers = {int(number) for found in passages(setting, *_ASKED) for number in found.groups() if number}
    beyond = sorted(number for number in numbers if number >= count)
    return str(beyond[0]) if len(beyond) == 1 else ""


def _emptied(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A value that names no GPU is the cause where something then finds none."""
    found_none = setting.says("no cuda", "is_available()", "false", "no gpu", "device_count", "cuda_error_no_device", "cpu")
    if found_none:
        value = match["value"] or ""
        yield sign("cuda-visible-devices-bad", Weight.STATE, empty="yes", value=value)


def _listed(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A list with a fault in it, where something then finds no GPU; how many there are is known where the text says so."""
    if not setting.says("no cuda", "false", "no gpu", "cuda_error_no_device", "no cuda-capable device", "device_count"):
        return
    cards = setting.case.cards
    uuids = [one.gpu.uuid.value for one in cards if isinstance(one.gpu.uuid, Known)]
    value = match["value"].rstrip(",")
    count = len(cards) if cards and (len(uuids) == len(cards) or "-" not in value) else 0
    read = read_visible_devices(
        value, count or _MANY, uuids if count else [one for one in value.split(",") if one.startswith(("GPU-", "MIG-"))]
    )
    if read.fault is not None and (read.fault is DeviceListFault.TWICE or count):
        fault = read.fault.value.replace("-", "_")
        told = {"count": str(count), "last": str(count - 1)} if count else {}
        weight = Weight.CAUSE if read.fault is DeviceListFault.TWICE else Weight.STATE
        yield sign("cuda-visible-devices-bad", weight, value=value, element=read.element, **told, **{fault: "yes"})


def _late(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """CUDA reads the variable once, when it starts; the program has used it before it sets the variable."""
    before = setting.paste.words[max(0, match.start() - _FAR) : match.start()]
    if _USED.search(before) and setting.says(*_WITHOUT_EFFECT):
        yield sign("cuda-visible-devices-late", Weight.CAUSE, value=match["value"])


def _without_effect(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if not setting.says("cuda unknown error", "incorrectly set up environment"):
        yield sign("cuda-visible-devices-late", Weight.STATE)


BY_STATE: dict[str, Meaning] = {"invalid-device": _ordinal}

SIGNATURES = (
    Signature(
        ("invalid device ordinal value",),
        r"invalid device ordinal value \((?P<ordinal>\d{1,3})\)",
        _ordinal,
    ),
    Signature(
        ("attempting to deserialize object on cuda device",),
        r"Attempting to deserialize object on CUDA device (?P<ordinal>\d{1,3}) but torch\.cuda\.device_count\(\) is \d+",
        _ordinal,
    ),
    Signature(
        ("invalid device id", "invalid device string", "invalid device argument"),
        r"(?:AssertionError: Invalid device id|Invalid device (?:string|argument)[^\n]{0,10}: '?cuda:?(?P<ordinal>\d{1,3}))",
        _ordinal,
    ),
    Signature(
        ("you requested gpu", "but your machine only has", "invalid cuda 'device=", "does not exist, "),
        r"(?:You requested gpus?: \[?[\d, ]{1,60}\]?\s{0,4}But your machine only has: ?\[?[\d, ]{0,60}\]?"
        r"|Invalid CUDA 'device=(?P<ordinal>\d{1,3})[\d,]{0,30}' requested)",
        _ordinal,
    ),
    Signature(
        ("internal assert failed",),
        r"(?:device >= 0 && device < num_gpus"
        r"|device < num_gpus)[^\n]{0,3} ?INTERNAL ASSERT FAILED(?:[^\n]{0,200}?device=(?P<ordinal>\d{1,3}))?",
        _ordinal,
    ),
    Signature(
        ("is not visible (cuda_visible_devices",),
        r"device (?P<ordinal>\d{1,3}) is not visible \(CUDA_VISIBLE_DEVICES=",
        _ordinal,
    ),
    Signature(
        ("duplicate gpu detected",),
        r"Duplicate GPU detected ?: rank \d+ and rank \d+ both on CUDA device",
        means("cuda-visible-devices-bad"),
    ),
    Signature(
        ("processes", "nproc"),
        r"(?:nproc_per_node|num_processes|number of processes)[^\n]{0,60}(?:greater|larger|more|exceeds)[^\n]{0,40}GPUs?",
        means("cuda-visible-devices-bad", Weight.STATE, ordinal=_asked),
    ),
    Signature(
        ("cuda_visible_devices",),
        r"CUDA_VISIBLE_DEVICES(?:['\"]\])? ?= ?(?P<value>-1|['\"]-1['\"]|['\"]{2}|none|NoDevFiles)(?=[\s;,)]|(?m:$))",
        _emptied,
    ),
    # A shell that is given nothing: before the program in its line, or for all that follow.
    Signature(
        ("cuda_visible_devices=",),
        r"(?<![\w'\"])(?P<value>)CUDA_VISIBLE_DEVICES=(?=[ \t]{1,4}(?:[A-Z_]{2,40}=\S|(?!#)[\w./~])|[ \t]*(?m:$))",
        _emptied,
    ),
    Signature(
        ("cuda_visible_devices",),
        rf"CUDA_VISIBLE_DEVICES(?:['\"]\])? ?= ?['\"]?(?P<value>{_ELEMENT}(?:,{_ELEMENT}){{0,31}})(?=[\s'\";)]|\Z)",
        _listed,
    ),
    Signature(
        ("cuda_visible_devices",),
        r"environ(?:\[|\.(?:setdefault|update)\()\{?['\"]CUDA_VISIBLE_DEVICES['\"]\]?\s{0,3}[=,:]\s?(?:str\()?['\"]?"
        r"(?P<value>[\w,.-]{0,60})",
        _late,
    ),
    Signature(
        ("cuda_visible_devices",),
        r"CUDA_VISIBLE_DEVICES[^\n]{0,80}(?:(?:has|have|had|with) no effect|(?:is|gets|being|seems) ignored"
        r"|(?:do(?:es)? ?n[o']t|not|never) (?:work|take effect|respected)|不起作用|没有效果|不生效|无效)",
        _without_effect,
        200,
    ),
)
