"""A verification as one JSON document, key by key, and as one sentence a device."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.model.fact import Known, Unknown
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.verdict import Cause, Check, DeviceVerdict, Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.present.verification import device_sentence
from gpuassist.present.verification_document import verification_document
from gpuassist.session.proof_words import verdict_on_accelerators
from gpuassist.session.verify_report import VerifyReport

CARD = "cuda:0 (NVIDIA GeForce RTX 4090)"
NUMBERS = ("max_abs_error", "tolerance", "seconds", "rate", "compared")
FULL = Check(
    "matmul",
    "float32",
    Verdict.PASS,
    None,
    Known(1.5e-6, "child"),
    Known(1e-4, "child"),
    Known(0.25, "child"),
    Known(40.0, "child"),
    "TFLOP/s",
    compared=Known(4096, "child"),
)
BARE = Check("fft", "complex64", Verdict.SKIPPED, verbatim("not asked for"))


def _device(name: str = "cuda:0", verdict: Verdict = Verdict.PASS, *checks: Check, error: Text | None = None) -> DeviceVerdict:
    return DeviceVerdict(name, "NVIDIA GeForce RTX 4090", verdict, checks, error)


def _run(*devices: DeviceVerdict, interpreter: str = "/env/bin/python", visible: int = 1, **more: Any) -> Verification:
    return Verification(interpreter, (("torch", "2.13.0+cu130"), ("cuda", "13.0")), devices, visible=visible, **more)


def _document(*results: Verification) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        json.dumps(verification_document([VerifyReport(one) for one in results], ENGLISH), allow_nan=False)
    )
    return document


def _check(check: Check) -> dict[str, Any]:
    told: dict[str, Any] = _document(_run(_device("cuda:0", Verdict.PASS, check)))["devices"][0]["checks"][0]
    return told


def test_document_has_the_keys_of_the_contract() -> None:
    assert set(_document(_run(_device()))) == {
        *("schema", "accelerator_verified", "environment", "environments", "devices"),
        *("libraries", "toolkits", "collectives", "rates", "library_findings"),
    }


def test_schema_is_a_number() -> None:
    assert _document()["schema"] == 1


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "matmul"),
        ("dtype", "float32"),
        ("verdict", "pass"),
        ("error", None),
        ("max_abs_error", 1.5e-6),
        ("tolerance", 1e-4),
        ("seconds", 0.25),
        ("rate", 40.0),
        ("rate_unit", "TFLOP/s"),
    ],
)
def test_check_tells_each_of_its_figures(key: str, value: object) -> None:
    assert _check(FULL)[key] == value


def test_known_figure_has_no_reason_beside_it() -> None:
    assert not [key for key in _check(FULL) if key.endswith("_reason")]


@pytest.mark.parametrize("number", NUMBERS)
def test_unknown_figure_is_null_beside_a_reason(number: str) -> None:
    told = _check(BARE)
    assert (told[number], told[f"{number}_reason"]) == (None, "not looked at")


@pytest.mark.parametrize("number", NUMBERS)
def test_reason_of_one_figure_says_nothing_of_others(number: str) -> None:
    figures: dict[str, Any] = {one: Known(2.0, "child") for one in NUMBERS if one != number}
    told = _check(Check("fft", "float32", Verdict.PASS, **{**figures, number: Unknown(text("too short to time"))}))
    assert [key for key in told if key.endswith("_reason")] == [f"{number}_reason"]
    assert told[f"{number}_reason"] == "too short to time"


def test_zero_error_is_a_figure_and_not_unknown() -> None:
    assert _check(Check("copy-to-device", "float32", Verdict.PASS, max_abs_error=Known(0.0, "child")))["max_abs_error"] == 0.0


def test_check_without_a_rate_has_no_unit() -> None:
    assert _check(BARE)["rate_unit"] is None


def test_error_of_a_check_is_in_words() -> None:
    assert _check(BARE)["error"] == "not asked for"


@pytest.mark.parametrize("verdict", list(Verdict))
def test_verdict_is_one_of_the_words_of_the_contract(verdict: Verdict) -> None:
    device = _document(_run(_device("cuda:0", verdict, Check("fft", "float32", verdict))))["devices"][0]
    assert {device["verdict"], device["checks"][0]["verdict"]} == {verdict.value}
    assert verdict.value in {"pass", "fail", "error", "skipped", "hung"}


def test_device_has_its_name_and_its_environment() -> None:
    told = _document(_run(_device()))["devices"][0]
    assert told == {
        "device": "cuda:0",
        "uuid": None,
        "pci": None,
        "index": None,
        "index_reason": "not looked at",
        "capability": None,
        "name": "NVIDIA GeForce RTX 4090",
        "interpreter": "/env/bin/python",
        "verdict": "pass",
        "error": None,
        "checks": [],
    }


def test_device_that_could_not_be_used_says_why() -> None:
    error = text("{device} has no memory left", device="cuda:0")
    assert _document(_run(_device("cuda:0", Verdict.FAIL, error=error)))["devices"][0]["error"] == "cuda:0 has no memory left"


def test_environment_tells_what_the_child_said() -> None:
    told = _document(_run(_device()))["environment"]
    assert (told["interpreter"], told["torch"], told["cuda"]) == ("/env/bin/python", "2.13.0+cu130", "13.0")


@pytest.mark.parametrize("key", ["no_accelerator", "error"])
def test_what_does_not_apply_to_an_environment_is_null(key: str) -> None:
    told = _document(_run(_device()))["environment"]
    assert told[key] is None


def test_broken_torch_is_told_with_its_environment() -> None:
    told = _document(_run(visible=0, error=text("torch cannot be imported"), verdict=Verdict.FAIL))
    assert (told["environment"]["error"], told["devices"]) == ("torch cannot be imported", [])


@pytest.mark.parametrize(
    ("visible", "reason", "devices", "summary"),
    [
        (1, "", (_device(),), "Every GPU that this torch sees computed the right results."),
        (2, "", (_device(),), "1 of the 2 GPUs that this torch sees is verified."),
        (1, "", (_device("cuda:0", Verdict.HUNG),), "The GPU that this torch sees is not verified."),
        (0, "built without CUDA", (_device("cpu"),), "No GPU was tested: torch says “built without CUDA”"),
        (0, "", (_device("cpu"),), "No GPU was tested."),
    ],
)
def test_summary_says_what_is_proved(visible: int, reason: str, devices: tuple[DeviceVerdict, ...], summary: str) -> None:
    told = _document(_run(*devices, visible=visible, no_accelerator=reason))["environment"]
    assert (told["summary"], told["accelerators"], told["no_accelerator"]) == (summary, visible, reason or None)


@pytest.mark.parametrize(
    ("results", "verified"),
    [
        ((), False),
        ((_run(_device()),), True),
        ((_run(_device("cpu"), visible=0),), False),
        ((_run(_device()), _run(_device())), True),
        ((_run(_device()), _run(_device("cpu"), visible=0)), False),
        ((_run(_device(), visible=2),), False),
    ],
)
def test_accelerator_is_verified_only_in_every_environment(results: tuple[Verification, ...], verified: bool) -> None:
    assert _document(*results)["accelerator_verified"] is verified


def test_no_environment_is_a_reason_and_not_a_guess() -> None:
    told = _document()
    assert told["environment"] == {"reason": "no Python environment with torch was found"}
    assert (told["environments"], told["devices"]) == ([], [])


def test_each_device_says_whose_it_is() -> None:
    told = _document(_run(_device(), interpreter="/a/python"), _run(_device("cpu"), interpreter="/b/python"))
    assert [(one["interpreter"], one["device"]) for one in told["devices"]] == [("/a/python", "cuda:0"), ("/b/python", "cpu")]
    assert told["environment"] == told["environments"][0]
    assert told["environments"][1]["interpreter"] == "/b/python"


@pytest.mark.parametrize(
    ("device", "sentence"),
    [
        (_device("cuda:0", Verdict.PASS, FULL), f"{CARD}: 1 check passed."),
        (_device("cuda:0", Verdict.PASS, FULL, FULL, BARE), f"{CARD}: all 2 checks passed."),
        (_device("cpu", Verdict.FAIL, FULL, Check("fft", "float32", Verdict.FAIL)), "CPU: of 2 checks 1 gave a wrong result."),
        (
            _device("cuda:0", Verdict.ERROR, FULL, Check("fft", "float32", Verdict.ERROR)),
            f"{CARD}: of 2 checks 1 ended in an error.",
        ),
        (_device("cuda:0", Verdict.HUNG, Check("fft", "float32", Verdict.HUNG)), f"{CARD}: the one check that was begun hung."),
        (_device("cuda:0", Verdict.SKIPPED, BARE), f"{CARD}: not verified."),
        (
            _device("cuda:0", Verdict.SKIPPED, FULL, Check("fft", "float32", Verdict.SKIPPED, cause=Cause.TIME)),
            f"{CARD}: not verified; 1 check passed. Not run for lack of time: 1.",
        ),
    ],
)
def test_sentence_counts_what_was_done(device: DeviceVerdict, sentence: str) -> None:
    assert ENGLISH(device_sentence(device)) == sentence


def test_what_several_did_together_is_told_by_the_numbers_of_the_cards() -> None:
    cards = tuple(replace(_device(f"cuda:{place}"), index=Known(1 - place, "NVML")) for place in range(2))
    group = replace(
        _device("all", Verdict.FAIL, Check("all-reduce", "fp32", Verdict.FAIL)), name="group", members=("cuda:0", "cuda:1")
    )
    run = _run(*cards, group, visible=2)
    assert ENGLISH(device_sentence(group, run.devices)) == "GPU 1 and GPU 0 together: the one check that ran gave a wrong result."
    assert "together" in ENGLISH(verdict_on_accelerators(run))
