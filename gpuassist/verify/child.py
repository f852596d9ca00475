"""Runs tensor operations in the user's interpreter with its own torch, and reports each on a descriptor of its own.

    python child.py DESCRIPTOR DEVICES LEVEL

DEVICES is `all` (every GPU that torch sees, the cpu where it sees none), `cuda` (the same, but none is an error), or a list of
`cpu`, indices and UUIDs, separated by commas; LEVEL is `quick` or `full`. Standard output and error belong to torch. The descriptor
gets one JSON object a line: `start` or `error`; `check-begin` and `check` for every check of a device; `device-end`; `end` last.
This file and `operations.py` beside it stand alone and use no syntax newer than Python 3.8.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import platform
import sys
import time
import traceback
from typing import Any, Callable, Dict, List, TextIO, Tuple


def _beside(name: str) -> Any:
    # By its path: the directory of this file must not be searched for modules, or it would hide the user's own of the same name.
    place = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
    specification = importlib.util.spec_from_file_location("gpuassist_" + name, place)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


operations = _beside("operations")


def main(arguments: List[str]) -> int:
    """Verifies the devices and returns the exit status."""
    descriptor, devices, level = int(arguments[0]), arguments[1], arguments[2]
    os.set_inheritable(descriptor, False)  # noqa: FBT003
    if sys.path and os.path.abspath(sys.path[0]) == os.path.dirname(os.path.abspath(__file__)):
        del sys.path[0]  # as in _beside
    with os.fdopen(descriptor, "w", encoding="utf-8") as channel:
        chosen, trouble = attempt(lambda: _prepare(devices))
        if chosen is None:
            _say(channel, {"type": "error", "python": _python(), "error": trouble})
            return 1
        benches, about = chosen
        checks = operations.checks_of(level)
        _say(channel, dict(about, type="start", checks=[{"name": name, "dtype": kind} for name, kind, _ in checks]))
        for bench in benches:
            _verify(channel, _sized(bench, level), checks)
        _say(channel, {"type": "end"})
    return 0


def attempt(action: Callable[[], Any]) -> Tuple[Any, str]:
    """What `action` gives and no trouble, or nothing and what went wrong in one line; the traceback goes to standard error."""
    try:
        return action(), ""
    except operations.Skipped:
        raise
    except Exception as error:  # noqa: BLE001 -- the border: a check that fails in any way is a result
        traceback.print_exc()
        return None, "{}: {}".format(type(error).__name__, str(error).strip() or "no message")


def _prepare(devices: str) -> Tuple[List[Any], Dict[str, Any]]:
    import torch

    torch.manual_seed(operations.SEED)
    count, reason = _accelerators(torch)
    benches = [operations.Bench(torch, torch.device(name), 0, 0) for name in _chosen(torch, devices, count, reason)]
    about = {
        "python": _python(),
        "torch": str(torch.__version__),
        "cuda": torch.version.cuda or "",
        "cudnn": _cudnn(torch),
        "accelerators": count,
        "no_accelerator": reason,
        "devices": [{"device": str(bench.device), "name": _name(bench)} for bench in benches],
    }
    return benches, about


def _chosen(torch: Any, devices: str, count: int, reason: str) -> List[str]:
    if devices == "cuda" and not count:
        raise RuntimeError(reason)
    if devices in ("all", "cuda"):
        return ["cuda:{}".format(index) for index in range(count)] or ["cpu"]
    return [_one(torch, wish, count, reason) for wish in devices.split(",")]


def _one(torch: Any, wish: str, count: int, reason: str) -> str:
    if wish == "cpu":
        return wish
    if not count:
        raise RuntimeError("{} was asked for, but {}".format(wish, reason))
    uuids = [str(getattr(torch.cuda.get_device_properties(index), "uuid", "")) for index in range(count)]
    for index in range(count):
        if wish == str(index) or wish in (uuids[index], "GPU-" + uuids[index]):
            return "cuda:{}".format(index)
    raise RuntimeError("torch sees {} GPU(s), and {} is none of them".format(count, wish))


def _accelerators(torch: Any) -> Tuple[int, str]:
    if torch.cuda.is_available() and torch.cuda.device_count():
        return torch.cuda.device_count(), ""
    if not (torch.version.cuda or getattr(torch.version, "hip", None)):
        return 0, "this torch is built for the CPU only"
    _, trouble = attempt(torch.cuda.init)
    return 0, trouble or "torch sees no GPU"


def _python() -> str:
    return ".".join(str(part) for part in sys.version_info[:3])


def _cudnn(torch: Any) -> str:
    if not torch.backends.cudnn.is_available():
        return ""
    number = torch.backends.cudnn.version()
    # 8.9.2 is 8902, 9.1.0 is 90100 (cudnn_version.h)
    major, rest = divmod(number, 10000 if number >= 90000 else 1000)
    return "{}.{}.{}".format(major, rest // 100, rest % 100)


def _name(bench: Any) -> str:
    return str(bench.torch.cuda.get_device_name(bench.device)) if bench.on_gpu else platform.processor() or platform.machine()


def _sized(bench: Any, level: str) -> Any:
    if not bench.on_gpu:
        # Small, so that verifying adds little to the second and a half that importing torch takes.
        return bench._replace(size=512 if level == "full" else 192, repeats=3 if level == "full" else 1)
    size = 8192 if level == "full" else 4096
    free, _ = attempt(lambda: bench.torch.cuda.mem_get_info(bench.device)[0])
    while size > 512 and size * size * 4 * 8 > (free or 0):
        size //= 2  # a card that is busy with training has little left
    return bench._replace(size=size, repeats=20 if level == "full" else 5)


def _verify(channel: TextIO, bench: Any, checks: Any) -> None:
    for name, kind, check in checks:
        which = {"device": str(bench.device), "name": name, "dtype": kind}
        _say(channel, dict(which, type="check-begin"))
        began = time.perf_counter()
        outcome = _outcome(bench, check, kind)
        _say(channel, dict(which, type="check", seconds=time.perf_counter() - began, **outcome))
    _say(channel, {"type": "device-end", "device": str(bench.device)})


def _outcome(bench: Any, check: Callable[[Any, str], Any], kind: str) -> Dict[str, Any]:
    try:
        measured, trouble = attempt(lambda: _settled(bench, check(bench, kind)))
    except operations.Skipped as skipped:
        return {"verdict": "skipped", "error": str(skipped)}
    if measured is None:
        missing = "not implemented for" in trouble  # what torch says where a CPU kernel of a format does not exist
        return {"verdict": "skipped" if missing else "fail", "error": trouble}
    if not math.isfinite(measured.error):
        return {"verdict": "fail", "error": "the result holds values that are not finite", "tolerance": measured.tolerance}
    outcome = {"verdict": "pass", "error": "", "max_abs_error": measured.error, "tolerance": measured.tolerance}
    if measured.rate is not None:
        outcome.update(rate=measured.rate, rate_unit=measured.unit)
    if measured.error > measured.tolerance:
        outcome.update(verdict="fail", error="the result is further from the reference than rounding can explain")
    return outcome


def _settled(bench: Any, measured: Any) -> Any:
    operations.synchronize(bench)  # a kernel that failed says so only here
    return measured


def _say(channel: TextIO, line: Dict[str, Any]) -> None:
    channel.write(json.dumps(line, allow_nan=False) + "\n")
    channel.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
