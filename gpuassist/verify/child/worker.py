"""One device, checked in a process of its own: what it finds goes to the supervisor, line by line."""

from __future__ import annotations

import gc
import json
import math
import os
import platform
import re
import sys
import time
import traceback
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from . import first_kernel, libraries
from .bench import FULL, SEED, Bench, Check, Measured, Skipped, Wrong
from .devices import context_bytes, identify
from .families import checks_of

BINARY, PTX, NONE = "binary", "ptx", "none"
_WORDS_AT_MOST = 6000
# The last: torch asks NVML who holds the memory only when there is none left, and that failed too.
_NO_MEMORY = re.compile(r"out of memory|ALLOC_FAILED|cudaErrorMemoryAllocation|NVML_SUCCESS == .*CUDACachingAllocator", re.I | re.S)
# What a library says that could not start, without a word of memory.
_NOT_STARTED = re.compile(r"Create\w*\(|CUFFT_INTERNAL_ERROR|STATUS_NOT_INITIALIZED")
_WANTED = re.compile(r"Tried to allocate ([0-9.]+) (bytes|KiB|MiB|GiB)")
_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_TO_START_BYTES = 512 << 20  # more than CUDA's libraries take to start, beside what torch holds
_SEGMENT_BYTES = 20 << 20  # what torch's allocator takes at once for tensors of 1 to 10 MiB (kLargeBuffer, CUDACachingAllocator)
_BUSY = re.compile(r"busy or unavailable|cudaErrorDevicesUnavailable", re.IGNORECASE)
_NOT_HERE = re.compile(r"not implemented for|not supported on this device|is only supported|requires compute capability", re.I)
# Error 801, and no other that begins so: 717 is "operation not supported on global/shared address space".
_NOT_SUPPORTED = re.compile(r"CUDA error: operation not supported$", re.MULTILINE)
_MOSTLY_OURS = 0.25  # of the memory held by others: less than that, and it is not they who leave too little


class Task(NamedTuple):
    """What a worker is told: `first` is the place of its first check, `until` when no further check may begin (on the monotonic
    clock, 0 for never), `threads` how many it may use on the CPU (0: as torch chooses).
    """

    level: str
    first: int
    until: float
    threads: int
    scratch: str


class Report:
    """The pipe to the supervisor, and the sign of life beside it."""

    def __init__(self, descriptor: int, alive: Callable[[], None]) -> None:
        self._descriptor, self.alive = descriptor, alive

    def say(self, kind: str, **line: Any) -> None:
        """One line, whole."""
        self.alive()
        rest = (json.dumps(dict(line, type=kind), allow_nan=False) + "\n").encode()
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]


def wishes_to_devices(torch: Any, wishes: List[str]) -> Tuple[List[str], int, str]:
    """Which devices of torch are meant, how many accelerators it sees, and why none where it sees none.

    `all` is every accelerator, and the CPU where there is none; `cuda` is every accelerator and nothing else. Raises `LookupError`
    for a device that is not there.
    """
    if wishes == ["cpu"]:
        return ["cpu"], 0, ""
    count, reason = accelerators(torch)
    chosen: List[str] = []
    for wish in wishes:
        if wish in ("all", "cuda"):
            if wish == "cuda" and not count:
                raise LookupError(reason)
            found = ["cuda:{}".format(index) for index in range(count)] or ["cpu"]
        else:
            found = [_one(torch, wish, count, reason)]
        chosen += [one for one in found if one not in chosen]
    return chosen, count, reason


def _one(torch: Any, wish: str, count: int, reason: str) -> str:
    if wish == "cpu":
        return wish
    if not count:
        raise LookupError(reason)
    for index in range(count):
        uuid = identify(torch, index)["uuid"]
        if wish == str(index) or (uuid and wish.lower() in (uuid.lower(), uuid.lower().replace("gpu-", "", 1))):
            return "cuda:{}".format(index)
    raise LookupError("torch sees {} GPU{}, and {} is none of them".format(count, "" if count == 1 else "s", wish))


def accelerators(torch: Any) -> Tuple[int, str]:
    if not (torch.version.cuda or getattr(torch.version, "hip", None)):
        return 0, "this torch is built for the CPU only"
    # init() is asked first: is_available() keeps the reason to itself.
    count, error = attempt(lambda: torch.cuda.init() or torch.cuda.device_count())
    if error is not None:
        return 0, said(error)
    return count, "" if count else "torch sees no GPU"


def describe(torch: Any, device: str, level: str) -> Dict[str, Any]:
    """The line's part on a device that will be checked."""
    if device == "cpu":
        name = platform.processor() or platform.machine() or "CPU"
        what: Dict[str, Any] = {"name": name, "uuid": "", "pci": "", "capability": "", "memory_total_bytes": 0, "code": BINARY}
    else:
        what = identify(torch, int(device.partition(":")[2]))
        what["code"] = code_for(torch.cuda.get_arch_list(), what["capability"])
    return dict(what, device=device, checks=[{"name": one.name, "dtype": one.dtype} for one in checks_of(level, device)])


def code_for(architectures: List[str], capability: str) -> str:
    """Whether torch holds code that this GPU runs as it is, code that its driver must compile first, or none.

    Code runs on GPUs of the same major capability and at least its minor one, PTX on every later GPU (CUDA C++ programming guide,
    application compatibility). ROCm's names (gfx…) say nothing of that.
    """
    major, minor = (int(part) for part in capability.split("."))
    kinds = set()
    for architecture in architectures:
        found = re.match(r"(sm|compute)_(\d+)(\d)([af]?)$", architecture)
        if found is None:
            return BINARY
        kind, there = found.group(1), (int(found.group(2)), int(found.group(3)))
        if kind == "compute" and there <= (major, minor) and found.group(4) == "":
            kinds.add(PTX)
        if kind == "sm" and there[0] == major and there[1] <= minor and (found.group(4) != "a" or there[1] == minor):
            kinds.add(BINARY)
    return BINARY if BINARY in kinds or not architectures else PTX if PTX in kinds else NONE


def attempt(action: Callable[[], Any]) -> Tuple[Any, Optional[Exception]]:
    """What `action` gives, or what it raised: torch, a driver and a user's own packages may raise anything."""
    try:
        return action(), None
    except (Skipped, Wrong, LookupError) as error:
        return None, _alone(error)
    except Exception as error:  # noqa: BLE001 -- the border
        traceback.print_exc()
        return None, _alone(error)


def _alone(error: Exception) -> Exception:
    """Without the frames that it came through: they lead back to who keeps it, and such a ring would hold a check's tensors."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def said(error: BaseException) -> str:
    """What an exception says, behind its kind."""
    words, _, _ = str(error).partition("\n\nCUDA call was originally invoked at:")  # and a traceback of torch's own import
    return "{}: {}".format(type(error).__name__, words.strip() or "no message")[:_WORDS_AT_MOST]


def verify(torch: Any, report: Report, device: str, task: Task) -> None:
    """All checks from the first one on; returns early after an error that took the device's context with it."""
    if task.threads:
        torch.set_num_threads(task.threads)
    torch.manual_seed(SEED)
    bench = _sized(Bench(torch, torch.device(device), 0, 0, task.level, report.alive, task.scratch))
    checks = checks_of(task.level, device)
    for number, check in enumerate(checks[task.first :], task.first):
        which = {"device": device, "name": check.name, "dtype": check.dtype}
        if number and task.until and time.monotonic() >= task.until:
            report.say("check", seconds=0.0, verdict="skipped", cause="time", error="not run: time", **which)
            continue
        report.say("check-begin", **which)
        began = time.perf_counter()
        outcome = outcome_of(bench, check)
        report.say("check", seconds=time.perf_counter() - began, **dict(which, **outcome))
        if outcome["verdict"] not in ("error", "skipped") or not bench.on_gpu:
            continue
        if check.name == first_kernel.NAME:
            figures = {name: outcome[name] for name in outcome if name.endswith("_bytes")}
            words = "not run: nothing runs on this GPU"
            report.say("left", device=device, cause=outcome.get("cause", "lost"), error=words, figures=figures)
            return
        if _lost(bench):
            report.say("lost", device=device)
            return
    told, _ = attempt(lambda: libraries.report(torch))
    if told is not None:
        report.say("libraries", device=device, process=told)
    report.say("device-end", device=device)


def outcome_of(bench: Bench, check: Check) -> Dict[str, Any]:
    """Runs a check: its verdict, and all that is to be said of it."""
    measured, error = attempt(lambda: _settled(bench, check.run(bench, check.dtype)))
    if isinstance(error, Skipped):
        return {"verdict": "skipped", "error": str(error), "cause": error.cause}
    if isinstance(error, Wrong):
        return {"verdict": "fail", "error": str(error)}
    if error is not None:
        return _broken(bench, check, said(error))
    outcome: Dict[str, Any] = {"verdict": "pass", "error": "", "compared": measured.compared}
    if measured.notes:
        outcome["notes"] = {name: str(value) for name, value in measured.notes.items()}
    if not math.isfinite(measured.tolerance):  # of numbers, a line says only finite ones
        return dict(outcome, verdict="fail", error="the result is so far off that no bound is left for it")
    outcome["tolerance"] = measured.tolerance
    if not math.isfinite(measured.error):
        return dict(outcome, verdict="fail", error="the result holds values that are not finite")
    outcome["max_abs_error"] = measured.error
    if measured.error > measured.tolerance:
        return dict(outcome, verdict="fail", error="the result is further from the reference than rounding can explain")
    if measured.rate is not None and math.isfinite(measured.rate):
        outcome.update(rate=measured.rate, rate_unit=measured.unit)
    return outcome


def _settled(bench: Bench, measured: Measured) -> Measured:
    bench.synchronize()  # a kernel that failed says so only here
    return measured


def _broken(bench: Bench, check: Check, words: str) -> Dict[str, Any]:
    """What ended in an error: others hold the GPU or its memory, it is not made for this device, or something broke."""
    if bench.on_gpu and (_NO_MEMORY.search(words) or _NOT_STARTED.search(words)):
        return _without_memory(bench, words)
    if _BUSY.search(words):
        return {"verdict": "skipped", "cause": "busy", "error": words}
    if _NOT_HERE.search(words) or (check.optional and _NOT_SUPPORTED.search(words)):
        return {"verdict": "skipped", "cause": "format", "error": words}
    return {"verdict": "error", "error": words}


def _without_memory(bench: Bench, words: str) -> Dict[str, Any]:
    """What was refused memory: undecided, unless that cannot be why. `others_bytes` is 0 where others hold little of it, and left
    out where nobody knows: where there was too little to start.
    """
    (free, total), needed, refused = _memory(bench), _asked_for(words), _NO_MEMORY.search(words)
    line: Dict[str, Any] = {"verdict": "skipped", "cause": "memory", "error": words}
    if not total:
        size = int(bench.torch.cuda.get_device_properties(bench.device).total_memory)
        none = {"others_bytes": 0} if 0 < size < _TO_START_BYTES else {}
        return dict(line, total_bytes=size, **none) if refused else {"verdict": "error", "error": words}
    # Where a second context does not fit, the first may be as large as any.
    ours = int(bench.torch.cuda.memory_reserved(bench.device)) + (context_bytes(bench.device.index or 0, free) or _TO_START_BYTES)
    others = max(0, total - free - ours)
    theirs = others >= _MOSTLY_OURS * total
    possible = needed <= total and (needed > 0 or theirs or free < _TO_START_BYTES)
    if not (possible if refused else theirs and free < _TO_START_BYTES):
        return {"verdict": "error", "error": words}
    line.update({"needed_bytes": needed} if needed else {})
    return dict(line, free_bytes=free, total_bytes=total, others_bytes=others if theirs else 0)


def _asked_for(words: str) -> int:
    """How many bytes torch wanted; 0 where it does not say."""
    told = _WANTED.search(words)
    return int(float(told.group(1)) * _UNITS[told.group(2)]) if told else 0


def _memory(bench: Bench) -> Tuple[int, int]:
    """Free and total memory of the GPU; zeros where it cannot be asked: too little for a context."""
    told, _ = attempt(lambda: bench.torch.cuda.mem_get_info(bench.device))
    free, total = told or (0, 0)
    return int(free), int(total)


def _lost(bench: Bench) -> bool:
    """Whether the context is dead: then whatever this process asks is answered with the old error."""
    gc.collect()
    _, error = attempt(lambda: bench.torch.cuda.empty_cache() or bench.torch.zeros(1, device=bench.device).cpu())
    return error is not None


def _sized(bench: Bench) -> Bench:
    if not bench.on_gpu:
        # Small, so that verifying adds little to the second and a half that importing torch takes.
        return bench._replace(size=512 if bench.level == FULL else 192, repeats=3 if bench.level == FULL else 1)
    size = 8192 if bench.level == FULL else 4096
    free, _ = _memory(bench)
    while size > 512 and size * size * 4 * 8 + _SEGMENT_BYTES > free:
        size //= 2  # a card that is busy with training has little left
    return bench._replace(size=size, repeats=20 if bench.level == FULL else 5)


def python() -> str:
    return ".".join(str(part) for part in sys.version_info[:3])


def about(torch: Any) -> Dict[str, Any]:
    """The environment in its own words."""
    return {
        "python": python(),
        "torch": str(torch.__version__),
        "cuda": torch.version.cuda or "",
        "hip": getattr(torch.version, "hip", None) or "",
        "cudnn": _cudnn(torch),
        "visible_devices": os.environ.get("CUDA_VISIBLE_DEVICES"),
    }


def _cudnn(torch: Any) -> str:
    # A cuDNN of another version than torch was built with refuses to tell.
    number, _ = attempt(lambda: torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None)
    if not number:
        return ""
    # 8.9.2 is 8902, 9.1.0 is 90100 (cudnn_version.h)
    major, rest = divmod(number, 10000 if number >= 90000 else 1000)
    return "{}.{}.{}".format(major, rest // 100, rest % 100)
