"""The order of what the child says, and the verdicts that follow."""

from __future__ import annotations

from typing import Any

import pytest

from gpuassist.model.text import verbatim
from gpuassist.model.verdict import DeviceVerdict, Verdict
from gpuassist.model.words import ENGLISH
from gpuassist.verify.protocol import ProtocolError, parse
from gpuassist.verify.transcript import Transcript
from tests.rows import for_each
from tests.verify.lines import BEGIN, DONE, END, FAIL, IMPORTED, PASS, REFUSAL, SKIP, START, line, on

TWO = on("cuda:0", "cuda:1")
WHY = verbatim("because")


def heard(*documents: dict[str, Any]) -> Transcript:
    transcript = Transcript()
    for document in documents:
        transcript.take(parse(line(document)))
    return transcript


def devices(*documents: dict[str, Any], verdict: Verdict = Verdict.FAIL) -> tuple[DeviceVerdict, ...]:
    return heard(*documents).devices(verdict, WHY)


def refused(*documents: dict[str, Any]) -> str:
    with pytest.raises(ProtocolError) as caught:
        heard(*documents)
    return ENGLISH(caught.value.reason)


def test_a_whole_run_passes() -> None:
    transcript = heard(START, BEGIN, PASS, DONE, END)
    assert transcript.finished
    assert [device.verdict for device in transcript.devices(Verdict.FAIL, WHY)] == [Verdict.PASS]


def test_one_failure_fails_the_device() -> None:
    two = on("cuda:0", checks=("fp32", "fp16"))
    half = {"dtype": "fp16"}
    found = devices(two, BEGIN, PASS, {**BEGIN, **half}, {**FAIL, **half}, DONE, END)
    assert found[0].verdict is Verdict.FAIL
    assert [check.verdict for check in found[0].checks] == [Verdict.PASS, Verdict.FAIL]


def test_a_device_of_which_all_is_skipped_is_skipped() -> None:
    assert devices(START, BEGIN, SKIP, DONE, END)[0].verdict is Verdict.SKIPPED


def test_the_environment_is_the_childs_own_words() -> None:
    assert dict(heard(START).environment)["torch"] == "2.5.1+cu124"
    assert heard(START).accelerators == 1


def test_nothing_heard_is_no_device() -> None:
    transcript = Transcript()
    assert (transcript.environment, transcript.accelerators, transcript.no_accelerator) == ((), 0, "")
    assert transcript.devices(Verdict.FAIL, WHY) == ()


def test_a_refusal_knows_the_python_alone() -> None:
    transcript = heard(REFUSAL)
    assert transcript.environment == (("python", "3.11.7"),)
    assert transcript.refused is not None


def test_the_check_that_was_running_gets_the_verdict() -> None:
    found = devices(START, BEGIN, verdict=Verdict.HUNG)[0]
    assert (found.verdict, found.error) == (Verdict.HUNG, WHY)
    assert [(check.name, check.verdict, check.error) for check in found.checks] == [("matmul", Verdict.HUNG, WHY)]


def test_between_two_checks_the_device_gets_it() -> None:
    two = on("cuda:0", checks=("fp32", "fp16"))
    found = devices(two, BEGIN, PASS)[0]
    assert (found.verdict, found.error) == (Verdict.FAIL, WHY)
    assert [check.verdict for check in found.checks] == [Verdict.PASS]


def test_a_device_that_was_not_reached_is_skipped() -> None:
    found = devices(TWO, BEGIN)
    assert [device.verdict for device in found] == [Verdict.FAIL, Verdict.SKIPPED]
    assert found[1].error is not None
    assert ENGLISH(found[1].error) == "it was not reached"


def test_a_device_that_was_done_keeps_its_verdict() -> None:
    second = {"device": "cuda:1"}
    found = devices(TWO, BEGIN, PASS, DONE, {**BEGIN, **second}, verdict=Verdict.HUNG)
    assert [device.verdict for device in found] == [Verdict.PASS, Verdict.HUNG]


def test_devices_side_by_side_have_their_own_checks() -> None:
    second = {"device": "cuda:1"}
    found = devices(IMPORTED, TWO, BEGIN, {**BEGIN, **second}, {**FAIL, **second}, PASS, DONE, {**DONE, **second}, END)
    assert [device.verdict for device in found] == [Verdict.PASS, Verdict.FAIL]


@for_each(
    ("skips", "verdict"),
    [
        (("format",), Verdict.PASS),
        (("time",), Verdict.SKIPPED),
        (("absent", "format"), Verdict.PASS),
        (("memory",), Verdict.SKIPPED),
        (("format", "busy"), Verdict.SKIPPED),
    ],
)
def test_what_others_held_leaves_a_device_undecided(skips: tuple[str, ...], verdict: Verdict) -> None:
    kinds = ("fp32", *("fp16", "bf16")[: len(skips)])
    lines = [{**SKIP, "dtype": kind, "cause": cause} for kind, cause in zip(kinds[1:], skips, strict=True)]
    assert devices(on("cuda:0", checks=kinds), BEGIN, PASS, *lines, DONE, END)[0].verdict is verdict


def test_a_check_that_never_began_can_only_be_skipped() -> None:
    assert devices(START, SKIP, DONE, END)[0].verdict is Verdict.SKIPPED
    assert "order" in refused(START, FAIL)


@for_each(
    "documents",
    [
        (BEGIN,),
        (END,),
        (START, START),
        (START, REFUSAL),
        (REFUSAL, END),
        (START, PASS),
        (START, IMPORTED),
        (IMPORTED, IMPORTED),
        (IMPORTED, BEGIN),
        (START, BEGIN, BEGIN),
        (START, BEGIN, DONE),
        (START, BEGIN, {**PASS, "dtype": "fp16"}),
        (START, BEGIN, {**PASS, "device": "cuda:1"}),
        (START, {**BEGIN, "device": "cuda:7"}),
        (START, DONE),
        (START, END),
        (START, BEGIN, PASS, END),
        (START, BEGIN, PASS, DONE, DONE),
        (START, BEGIN, PASS, DONE, BEGIN),
        (START, BEGIN, PASS, DONE, END, END),
        (TWO, BEGIN, PASS, DONE, END),
    ],
)
def test_another_order_is_refused(documents: tuple[dict[str, Any], ...]) -> None:
    assert refused(*documents)
