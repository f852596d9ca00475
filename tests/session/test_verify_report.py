"""What stands beside a verification: GPUs that CUDA does not show, what torch warned of, and whose processes are others'."""

from __future__ import annotations

import os
import subprocess
import sys

from msgspec.structs import replace

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.model.verdict import Check, DeviceVerdict, Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.session.verify_report import DeviceCount, VerifyReport, device_count, memory_errors, warnings_of
from gpuassist.verify.load import NvmlDevice
from gpuassist.verify.load_child import descends
from tests.rows import for_each
from tests.verify.loads import load, look, nvml_device

FIRST = nvml_device(index=0, uuid="GPU-aa", address="00000000:01:00.0")
SECOND = nvml_device(index=1, uuid="GPU-bb", address="00000000:02:00.0")
BOTH: Fact[tuple[NvmlDevice, ...]] = Known((FIRST, SECOND), "NVML")


def seen(*uuids: str, built: str = "12.4") -> Verification:
    checks = (Check("matmul", "fp32", Verdict.PASS),)
    devices = tuple(DeviceVerdict(f"cuda:{place}", "RTX", Verdict.PASS, checks, uuid=one) for place, one in enumerate(uuids))
    return Verification("python", (("cuda", built),), devices, visible=len(uuids), verdict=Verdict.PASS)


def verdict_of(result: Verification, count: DeviceCount) -> Verdict:
    return VerifyReport(result, count=count).verdict


def test_every_gpu_that_nvml_lists_is_no_news() -> None:
    count, words = device_count(seen("GPU-aa", "GPU-bb"), BOTH, {}, ("all",))
    assert (count.listed, count.expected.value if isinstance(count.expected, Known) else None, words) == (Known(2, "NVML"), 2, ())
    assert verdict_of(seen("GPU-aa", "GPU-bb"), count) is Verdict.PASS


def test_a_gpu_that_nothing_hides_and_cuda_does_not_show_is_missing() -> None:
    count, (words,) = device_count(seen("GPU-aa"), BOTH, {}, ("all",))
    assert count.too_few
    assert "1 (NVIDIA GeForce RTX 4090, 0000:02:00.0)" in ENGLISH(words)
    assert "CUDA_VISIBLE_DEVICES is not set" in ENGLISH(words)
    assert verdict_of(seen("GPU-aa"), count) is Verdict.SKIPPED
    assert verdict_of(replace(seen("GPU-aa"), verdict=Verdict.FAIL), count) is Verdict.FAIL


def test_where_torch_could_not_start_what_cuda_shows_counts() -> None:
    result = replace(seen(), visible=0, shown_by_driver=(("GPU-bb", "0000:02:00.0"),), verdict=Verdict.ERROR)
    count, (words,) = device_count(result, BOTH, {}, ("all",))
    assert (count.seen, count.too_few) == (1, True)
    assert "missing: 0 (" in ENGLISH(words)


@for_each(
    "value, asked, uuids, said",
    [
        ("1", ("all",), ("GPU-bb",), 0),
        ("0,7", ("all",), ("GPU-aa",), 1),  # the list ends early
        ("", ("GPU-aa",), ("GPU-aa",), 1),  # others would see none
        (None, ("GPU-aa",), ("GPU-aa",), 0),  # one was asked for
        ("0", ("cpu",), (), 0),
    ],
)
def test_what_a_variable_hides_is_not_missing(value: str | None, asked: tuple[str, ...], uuids: tuple[str, ...], said: int) -> None:
    variables = {} if value is None else {"CUDA_VISIBLE_DEVICES": value}
    count, words = device_count(seen(*uuids), BOTH, variables, asked)
    assert (count.too_few, len(words), count.variable) == (False, said, value)


def test_without_nvml_or_a_gpus_torch_nothing_is_missing() -> None:
    silent: Fact[tuple[NvmlDevice, ...]] = Unknown(text("no NVML"))
    assert device_count(seen("GPU-aa"), silent, {}, ("all",))[1] == ()
    assert device_count(seen(built=""), BOTH, {}, ("all",))[1] == ()


WARNED = """\
/e/lib/python3.11/site-packages/torch/cuda/__init__.py:235: UserWarning:{blank}
NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.
The current PyTorch install supports CUDA capabilities sm_50 sm_90.

  warnings.warn(
"""


def test_what_torch_warned_of_is_said_once() -> None:
    printed = "hello\n" + WARNED.format(blank=" ") * 2 + "/e/mine.py:3: UserWarning: of a package of mine\n  warn()\n"
    (words,) = warnings_of(printed)
    assert ENGLISH(words).endswith("PyTorch installation. The current PyTorch install supports CUDA capabilities sm_50 sm_90.")
    assert warnings_of("all is well\n") == ()


def test_what_gpuassist_started_is_its_own() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert descends(child.pid, os.getpid())
        assert not descends(os.getpid(), child.pid)
        child.communicate(b"\n")
    assert not descends(2**22 + 1, os.getpid())


@for_each("counts, told", [((), 0), ((None, 0), 0), ((0, 1), 1), ((3,), 1)])
def test_what_ecc_could_not_correct_is_told_beside_checks_that_passed(counts: tuple[int | None, ...], told: int) -> None:
    of_first = load(*(look(float(place), uncorrected=count) for place, count in enumerate(counts)), uuid="GPU-aa")
    found = [ENGLISH(one) for one in memory_errors(seen("GPU-aa"), (of_first,))]
    assert len(found) == told
    assert all(f" {counts[-1]} error" in one for one in found)
    assert not [*memory_errors(seen("GPU-bb"), (of_first,))]
