"""What stands beside the checks: earlier runs, toolkits, libraries, the speed of each format."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QPushButton

from gpuassist.model.fact import Known
from gpuassist.model.libraries import LibraryFault, LibraryLoaded
from gpuassist.model.text import text, verbatim
from gpuassist.model.verdict import Check, DeviceVerdict, Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.present.earlier_verifications import earlier_line
from gpuassist.present.marks import Mark
from gpuassist.present.verify_table import Column
from gpuassist.session.verifications import KeptVerification
from gpuassist.session.verify_report import RateSeen, VerifyReport
from gpuassist.ui.pages.verify.beside import EarlierRunsCard, LibrariesCard, ToolkitsCard
from gpuassist.ui.pages.verify.result import RatesCard, rate_bars
from gpuassist.verify.expectation import Expectation, MeasuredRate, Peak, PeakKind
from gpuassist.verify.toolkits import ToolkitCheck
from tests.ui.showing import Show, button_named


def kept(verdict: str = "pass", *, verified: bool = True, day: int = 20, **more: object) -> KeptVerification:
    document = {
        "accelerator_verified": verified,
        "environment": {"torch": "2.6.0"},
        "devices": [{"name": "NVIDIA GeForce RTX 4090", "verdict": verdict}],
        **more,
    }
    return KeptVerification(f"2026-11-{day}T09:02:11+00:00", "550.54.14", "full", document)


@pytest.mark.parametrize(
    ("one", "mark", "words"),
    [
        (kept(), Mark.RIGHT, "passed"),
        (kept("fail", verified=False), Mark.PROBLEM, "failed"),
        (kept("hung", verified=False), Mark.PROBLEM, "hung"),
        (kept("error", verified=False), Mark.PROBLEM, "error"),
        (kept("pass", verified=False), Mark.UNKNOWN, "no GPU tested"),
        (kept(verified=False, devices=[]), Mark.UNKNOWN, "nothing verified"),
        (kept(verified=False, devices="nonsense"), Mark.UNKNOWN, "nothing verified"),
    ],
)
def test_an_earlier_run_is_a_line(one: KeptVerification, mark: Mark, words: str) -> None:
    line = earlier_line(one)
    assert (line.when, line.mark, ENGLISH(line.verdict)) == ("2026-11-20 09:02", mark, words)


def test_an_earlier_run_says_what_it_ran_with() -> None:
    assert ENGLISH(earlier_line(kept()).about) == "RTX 4090 · torch 2.6.0 · driver 550.54.14 · Full"
    assert ENGLISH(earlier_line(KeptVerification("", "", "", {"environment": 7})).about) == ""


def test_the_last_runs_are_shown_and_the_others_on_demand(show: Show) -> None:
    card = show(EarlierRunsCard(ENGLISH), 500, 400)
    card.show_kept(tuple(kept(day=day) for day in range(28, 10, -1)))
    few = len(card.sentences)
    card.more.click()
    assert (few, len(card.sentences), card.more.isVisibleTo(card)) == (5, 18, False)


def test_without_earlier_runs_nothing_is_shown(show: Show) -> None:
    card = show(EarlierRunsCard(ENGLISH), 500, 400)
    card.show_kept((kept(),))
    card.show_kept(())
    assert not card.isVisible()


def report(**more: object) -> VerifyReport:
    return VerifyReport(Verification("/envs/a/bin/python", (), (), **more))  # type: ignore[arg-type]


def test_what_a_compiler_printed_is_folded(show: Show) -> None:
    card = show(ToolkitsCard(ENGLISH), 500, 400)
    bad = ToolkitCheck(verbatim("nvcc 11.7 with g++ 13"), Verdict.ERROR, "/nvcc", said="unsupported GNU version!")
    good = ToolkitCheck(verbatim("nvcc 12.4 with g++ 13"), Verdict.PASS, "/nvcc", said="a warning")
    card.show_report(VerifyReport(report().verification, toolkits=(good, bad)))
    assert card.sentences == ("nvcc 12.4 with g++ 13: passed", "nvcc 11.7 with g++ 13: error")
    assert len(card.findChildren(QPushButton)) == 1
    button_named(card, "What was printed").click()


def test_a_quick_run_shows_no_toolkits(show: Show) -> None:
    card = show(ToolkitsCard(ENGLISH), 500, 400)
    card.show_report(report())
    assert not card.isVisible()


def test_faults_of_libraries_are_said_and_the_files_folded(show: Show) -> None:
    card = show(LibrariesCard(ENGLISH), 500, 400)
    loaded = LibraryLoaded("libcudnn", "/opt/libcudnn.so.9", "9.1.0", text("LD_LIBRARY_PATH"))
    fault = LibraryFault(text("libcudnn is older than torch was built with"), ("libcudnn",))
    card.show_report(report(libraries=(loaded,), library_faults=(fault,)))
    assert card.sentences == ("libcudnn is older than torch was built with",)
    button_named(card, "Loaded libraries").click()
    card.show_report(report())
    assert not card.isVisible()


FP16 = Check("matmul", "fp16", Verdict.PASS, rate=Known(158.0, "x"), rate_unit="TFLOP/s")
FP32 = Check("matmul", "fp32", Verdict.PASS, rate=Known(30.6, "x"), rate_unit="TFLOP/s")
COPY = Check("copy-from-device", "int64", Verdict.PASS, rate=Known(24.0, "x"), rate_unit="GB/s")
BROKEN = Check("matmul", "bf16", Verdict.FAIL, rate=Known(999.0, "x"), rate_unit="TFLOP/s")


def measured(*names: str) -> Verification:
    devices = tuple(DeviceVerdict(name, "RTX 4090", Verdict.PASS, (FP16, FP32, COPY, BROKEN)) for name in names)
    return Verification("/envs/a/bin/python", (), devices, visible=len(names))


def columns(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, text("GPU {index}", index=place)) for place, name in enumerate(names))


def test_rates_stand_beside_the_fastest_of_their_unit() -> None:
    bars = rate_bars(VerifyReport(measured("cuda:0")), columns("cuda:0"), ENGLISH)
    assert [(bar.label, bar.share) for bar in bars] == [
        ("Matrix product fp16", 1.0),
        ("Matrix product fp32", pytest.approx(30.6 / 158)),
        ("Copy back", 1.0),
    ]


def test_formats_of_several_gpus_stand_together() -> None:
    names = ("cuda:0", "cuda:1")
    bars = rate_bars(VerifyReport(measured(*names)), columns(*names), ENGLISH)
    told = [f"GPU {number} · Matrix product {dtype}" for dtype in ("fp16", "fp32") for number in (0, 1)]
    assert [bar.label for bar in bars][:4] == told


def test_a_rate_that_is_held_back_says_so(show: Show) -> None:
    result = measured("cuda:0")
    peak = Known(Peak(82.6, PeakKind.NVIDIA, "table"), "table")
    words = text("37 % of what RTX 4090 should reach: power limit 150 W")
    seen = RateSeen(
        result.devices[0], FP32, Expectation(MeasuredRate("fp32", 30.6), peak, Known(0.37, "table"), (), words, held_back=True)
    )
    bars = rate_bars(VerifyReport(result, (seen,)), columns("cuda:0"), ENGLISH)
    card = show(RatesCard(ENGLISH), 300, 400)
    card.show_bars(bars)
    assert [(bar.expected, bar.low) for bar in bars] == [(0.0, False), (82.6, True), (0.0, False)]
    assert card.note.text() == f"Matrix product fp32: {ENGLISH(words)}."


def test_many_rates_are_shown_on_demand(show: Show) -> None:
    names = tuple(f"cuda:{place}" for place in range(8))
    card = show(RatesCard(ENGLISH), 300, 400)
    card.show_bars(rate_bars(VerifyReport(measured(*names)), columns(*names), ENGLISH))
    few = len(card.bars.bars)
    card.more.click()
    assert (few, len(card.bars.bars)) == (12, 24)
