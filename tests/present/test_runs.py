"""A run in a line."""

from __future__ import annotations

from gpuassist.model.words import ENGLISH
from gpuassist.present.runs import duration, energy, run_words
from gpuassist.session.run import RunEnding, RunReport
from gpuassist.session.run_tally import GpuShare, TorchTotals
from gpuassist.system.foreground import ForegroundEnd
from tests.rows import for_each

GIB = 1 << 30
CARD = GpuShare(0, int(21.3 * GIB), 24 * GIB)
WHOLE = RunReport(RunEnding.FINISHED, 22320.0, ForegroundEnd(0), (CARD,), TorchTotals(retries=3), 1.9 * 3.6e6)


@for_each(
    "report, words",
    [
        (WHOLE, "6 h 12 min, peak 21.3 of 24 GiB, 3 retries, 1.9 kWh"),
        (RunReport(RunEnding.FINISHED, 0.4, ForegroundEnd(0)), "0 s"),
        (RunReport(RunEnding.FAILED, 61, ForegroundEnd(1)), "failed with status 1: 1 min 1 s"),
        (RunReport(RunEnding.FAILED, 61, ForegroundEnd(137, 9)), "ended by signal 9: 1 min 1 s"),
        (
            RunReport(RunEnding.OUT_OF_MEMORY, 9, ForegroundEnd(1), torch=TorchTotals(ooms=1, retries=1)),
            "out of memory: 9 s, 1 out-of-memory error, 1 retry",
        ),
        (RunReport(RunEnding.IDLE, 3600), "the GPUs stand idle: 1 h 0 min"),
        (
            RunReport(RunEnding.FINISHED, 5, ForegroundEnd(0), (CARD, GpuShare(3, 23 * GIB, 24 * GIB))),
            "5 s, peak 23.0 of 24 GiB on GPU 3",
        ),
        (
            RunReport(RunEnding.FINISHED, 5, ForegroundEnd(0), (GpuShare(0, 576 << 20, 12 * GIB // 10),)),
            "5 s, peak 0.56 of 1.2 GiB",
        ),
        (RunReport(RunEnding.FINISHED, 5, ForegroundEnd(0), (GpuShare(None, 2 * GIB),)), "5 s, peak 2.0 GiB"),
    ],
)
def test_a_run_in_a_line(report: RunReport, words: str) -> None:
    assert ENGLISH(run_words(report)) == words


@for_each("seconds, words", [(59.9, "59 s"), (60, "1 min 0 s"), (3599, "59 min 59 s"), (86399, "23 h 59 min"), (180000, "2 d 2 h")])
def test_durations(seconds: float, words: str) -> None:
    assert ENGLISH(duration(seconds)) == words


@for_each("joules, words", [(0, "0.0 Wh"), (36000, "10.0 Wh"), (3.6e5, "0.1 kWh"), (36e6, "10.0 kWh")])
def test_energies(joules: float, words: str) -> None:
    assert ENGLISH(energy(joules)) == words
