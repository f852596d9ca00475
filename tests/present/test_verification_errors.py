"""What a verification that failed hands to the page that explains."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.model.text import text, verbatim
from gpuassist.model.verdict import Check, DeviceVerdict, Verdict, Verification
from gpuassist.present.verification import errors_to_explain

NO_IMAGE = "CUDA error: no kernel image is available for execution on the device"
WRONG = Check("matmul", "fp32", Verdict.FAIL, verbatim(NO_IMAGE))
HUNG = Check("convolution", "fp32", Verdict.HUNG, text("no answer within 60 s"))
SKIPPED = Check("matmul", "fp8", Verdict.SKIPPED, text("this torch has no fp8"))
RIGHT = Check("matmul", "bf16", Verdict.PASS)


def run(*checks: Check, verdict: Verdict = Verdict.FAIL) -> Verification:
    device = DeviceVerdict("cuda:0", "RTX 5090", verdict, checks)
    return Verification("/envs/a/bin/python", (), (device,), visible=1, verdict=verdict)


def test_every_error_is_a_line() -> None:
    assert errors_to_explain(run(WRONG, RIGHT, HUNG)).splitlines() == [NO_IMAGE, "no answer within 60 s"]


def test_an_error_that_comes_again_is_said_once() -> None:
    assert errors_to_explain(run(WRONG, WRONG)) == NO_IMAGE


def test_what_torch_printed_follows() -> None:
    assert errors_to_explain(replace(run(WRONG), output="UserWarning: sm_120\n")) == f"{NO_IMAGE}\nUserWarning: sm_120"


def test_what_was_skipped_is_no_error() -> None:
    assert "fp8" not in errors_to_explain(run(WRONG, SKIPPED))


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.SKIPPED])
def test_a_run_without_a_failure_has_nothing_to_explain(verdict: Verdict) -> None:
    assert errors_to_explain(replace(run(RIGHT, SKIPPED, verdict=verdict), output="a warning")) == ""


def test_why_there_is_no_accelerator_is_explained() -> None:
    why = "Found no NVIDIA driver on your system."
    assert errors_to_explain(replace(run(RIGHT, verdict=Verdict.ERROR), no_accelerator=why)) == why


def test_a_run_that_broke_is_explained_by_its_end() -> None:
    broken = Verification("/envs/a/bin/python", (), (), verbatim("libcudart.so.12: cannot open"), verdict=Verdict.FAIL)
    assert errors_to_explain(broken) == "libcudart.so.12: cannot open"


def test_the_error_of_a_device_is_explained() -> None:
    device = DeviceVerdict("cuda:0", "RTX 5090", Verdict.HUNG, (), verbatim("Unable to determine the device handle"))
    found = errors_to_explain(Verification("/envs/a/bin/python", (), (device,), visible=1, verdict=Verdict.HUNG))
    assert found == "Unable to determine the device handle"
