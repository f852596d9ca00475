"""What a verification proves, what it says of each device, and what torch printed: in words that can be read and copied."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from gpuassist.model.text import text, verbatim
from gpuassist.model.verdict import Cause, Check, DeviceVerdict, Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.ui.pages.verify.result import ProvesCard, ResultCard, TorchOutputCard
from gpuassist.ui.widgets.buttons import CopyButton
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.verify.runner import Level
from tests.ui.showing import Show, words_in

CARD = "cuda:0 (NVIDIA GeForce RTX 4090)"
RIGHT = Check("matmul", "fp32", Verdict.PASS)
WRONG = Check("matmul", "fp16", Verdict.FAIL, text("the greatest error is {error}", error="0.5"))
SKIPPED = Check("matmul", "fp8", Verdict.SKIPPED, text("this torch has no fp8"))
HUNG = Check("convolution", "fp32", Verdict.HUNG, text("no answer within 60 s"))


@pytest.fixture
def card(show: Show) -> ResultCard:
    return show(ResultCard(ENGLISH), 320, 400)


@pytest.fixture
def output(show: Show) -> TorchOutputCard:
    return show(TorchOutputCard(ENGLISH), 480, 300)


def device(verdict: Verdict, *checks: Check, name: str = "cuda:0") -> DeviceVerdict:
    return DeviceVerdict(name, "NVIDIA GeForce RTX 4090", verdict, checks)


def run(*devices: DeviceVerdict, visible: int = 1, why: str = "") -> Verification:
    return Verification("/envs/a/bin/python", (), devices, visible=visible, no_accelerator=why)


def told(card: ResultCard, result: Verification) -> tuple[str, ...]:
    card.show_result(result)
    return card.sentences


def test_what_is_proved_is_said_before_any_run(show: Show) -> None:
    shown = words_in(show(ProvesCard(ENGLISH), 320, 300))
    assert shown[0] == "What this proves"
    assert any("Full" in words for words in shown)


def test_going_back_to_quick_brings_its_words_back(show: Show) -> None:
    card = show(ProvesCard(ENGLISH), 320, 300)
    card.show_level(Level.FULL)
    card.show_level(Level.QUICK)
    assert sum("Full runs longer" in sentence for sentence in card.sentences) == 1


def test_before_a_run_there_is_no_result(card: ResultCard) -> None:
    assert ResultCard(ENGLISH, card).isHidden()
    assert card.sentences == ()


@pytest.mark.parametrize(
    ("one", "sentence"),
    [
        (device(Verdict.PASS, RIGHT), f"{CARD}: 1 check passed."),
        (device(Verdict.PASS, RIGHT, RIGHT), f"{CARD}: all 2 checks passed."),
        (device(Verdict.PASS, RIGHT, SKIPPED), f"{CARD}: 1 check passed."),
        (device(Verdict.FAIL, RIGHT, WRONG, SKIPPED), f"{CARD}: of 2 checks 1 gave a wrong result."),
        (device(Verdict.FAIL, RIGHT, RIGHT), f"{CARD}: ended after 2 checks."),
        (device(Verdict.HUNG, RIGHT, HUNG), f"{CARD}: of 2 checks 1 hung."),
        (device(Verdict.SKIPPED), f"{CARD}: not verified."),
    ],
    ids=["one", "two", "one-skipped", "wrong", "ended", "hung", "skipped"],
)
def test_each_device_is_one_sentence(card: ResultCard, one: DeviceVerdict, sentence: str) -> None:
    assert told(card, run(one))[0] == sentence


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (WRONG, "matrix product (fp16): the greatest error is 0.5"),
        (HUNG, "convolution (fp32): no answer within 60 s"),
        (Check("new-check", "fp32", Verdict.FAIL, verbatim("CUDA error: 700")), "new-check (fp32): CUDA error: 700"),
    ],
)
def test_what_failed_is_named_with_its_reason(card: ResultCard, check: Check, sentence: str) -> None:
    assert sentence in told(card, run(device(check.verdict, RIGHT, check)))


def test_what_was_skipped_is_no_failure(card: ResultCard) -> None:
    assert len(told(card, run(device(Verdict.PASS, RIGHT, SKIPPED)))) == 2


def test_failures_stand_below_their_device(card: ResultCard) -> None:
    sentences = told(card, run(device(Verdict.FAIL, WRONG), device(Verdict.HUNG, HUNG, name="cuda:1"), visible=2))
    assert [sentence.split(":")[0] for sentence in sentences[:4]] == [
        "cuda",
        "matrix product (fp16)",
        "cuda",
        "convolution (fp32)",
    ]


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (run(device(Verdict.PASS, RIGHT)), "Every GPU that this torch sees computed the right results."),
        (run(device(Verdict.PASS, RIGHT), visible=2), "1 of the 2 GPUs that this torch sees is verified."),
        (run(device(Verdict.FAIL, WRONG)), "The GPU that this torch sees is not verified."),
        (run(device(Verdict.PASS, RIGHT, name="cpu"), visible=0), "No GPU was tested."),
        (
            run(device(Verdict.PASS, RIGHT, name="cpu"), visible=0, why="this torch is built for the CPU"),
            "No GPU was tested: torch says “this torch is built for the CPU”",
        ),
    ],
    ids=["all", "half", "none", "cpu", "cpu-because"],
)
def test_the_last_sentence_is_of_all_gpus(card: ResultCard, result: Verification, sentence: str) -> None:
    assert told(card, result)[-1] == sentence


def test_of_many_devices_those_that_passed_are_counted(card: ResultCard) -> None:
    right = tuple(device(Verdict.PASS, RIGHT, name=f"cuda:{place}") for place in range(7))
    sentences = told(card, run(*right, device(Verdict.FAIL, WRONG, name="cuda:7"), visible=8))
    assert sentences[0].startswith("cuda:7")
    assert "7 GPUs passed." in sentences


def test_of_what_several_did_together_only_failures_are_named(card: ResultCard) -> None:
    pair = replace(device(Verdict.PASS, RIGHT, name="cuda:0+cuda:1"), name="pair", members=("cuda:0", "cuda:1"))
    assert len(told(card, run(device(Verdict.PASS, RIGHT), pair))) == 2
    assert any(
        "hung" in one for one in told(card, run(device(Verdict.PASS, RIGHT), replace(pair, verdict=Verdict.HUNG, checks=(HUNG,))))
    )


def test_many_failures_are_named_but_for_the_last(card: ResultCard) -> None:
    bad = tuple(Check("sort", f"kind{place}", Verdict.FAIL, verbatim("wrong")) for place in range(5))
    sentences = told(card, run(device(Verdict.FAIL, *bad)))
    assert sum(sentence.startswith("sort") for sentence in sentences) == 3
    assert "and 2 more" in sentences


def test_what_was_not_tested_is_said_with_its_reason(show: Show) -> None:
    late = Check("fft", "complex64", Verdict.SKIPPED, verbatim("time"), cause=Cause.TIME)
    lacking = Check("matmul", "fp8", Verdict.SKIPPED, verbatim("no fp8"), cause=Cause.FORMAT)
    card = show(ProvesCard(ENGLISH), 320, 300)
    card.show_level(Level.QUICK, run(device(Verdict.PASS, RIGHT, late, lacking)))
    assert "Not run for lack of time: Fourier transform complex64." in card.sentences
    assert any("matrix product fp8" in sentence for sentence in card.sentences)


def test_marks_stand_in_the_order_of_devices(card: ResultCard) -> None:
    card.show_result(run(device(Verdict.FAIL, WRONG), device(Verdict.PASS, RIGHT, name="cuda:1"), visible=2))
    assert [icon.mark for icon in card.findChildren(MarkIcon)] == [Mark.PROBLEM, Mark.RIGHT]


def test_another_run_takes_the_firsts_place(card: ResultCard) -> None:
    told(card, run(device(Verdict.FAIL, WRONG)))
    assert told(card, run(device(Verdict.PASS, RIGHT))) == (
        f"{CARD}: 1 check passed.",
        "Every GPU that this torch sees computed the right results.",
    )


def test_a_run_that_came_to_nothing_hides_the_last_result(card: ResultCard) -> None:
    told(card, run(device(Verdict.PASS, RIGHT)))
    assert told(card, run()) == ()
    assert not card.isVisible()


def test_before_a_run_nothing_was_printed(output: TorchOutputCard) -> None:
    assert TorchOutputCard(ENGLISH, output).isHidden()


def test_output_is_opened_and_closed_by_key(output: TorchOutputCard) -> None:
    output.show_output("one\ntwo\n")
    QTest.keyClick(output.toggle, Qt.Key.Key_Space)
    assert (output.block.isHidden(), output.toggle.text()) == (False, "Hide what torch printed")
    QTest.keyClick(output.toggle, Qt.Key.Key_Space)
    assert (output.block.isHidden(), output.toggle.text()) == (True, "Show what torch printed")


def test_output_is_copied_without_its_empty_end(output: TorchOutputCard, clipboard: QClipboard) -> None:
    output.show_output("  one\ntwo\n\n\n")
    output.toggle.click()
    output.findChildren(CopyButton)[0].click()
    assert clipboard.text() == "  one\ntwo"


def test_output_of_another_run_is_closed_again(output: TorchOutputCard) -> None:
    output.show_output("one")
    output.toggle.click()
    output.show_output("two")
    assert output.block.isHidden()
    assert output.toggle.text() == "Show what torch printed"


def test_a_silent_run_takes_the_output_away(output: TorchOutputCard) -> None:
    output.show_output("one")
    output.show_output("")
    assert not output.isVisible()


def test_a_page_of_output_scrolls(output: TorchOutputCard) -> None:
    output.show_output("\n".join(f"line {number}" for number in range(5000)))
    output.toggle.click()
    assert output.sizeHint().height() < 500


def test_long_output_does_not_widen_the_card(output: TorchOutputCard) -> None:
    output.show_output("x" * 20_000)
    output.toggle.click()
    assert output.minimumSizeHint().width() <= 480
    assert len(output.findChildren(QPushButton)) == 2
