"""A check's figures read the same in the window and in the terminal."""

from __future__ import annotations

import pytest

from gpuassist.model.fact import Known, Unknown
from gpuassist.model.text import verbatim
from gpuassist.model.verdict import Check, Verdict
from gpuassist.model.words import ENGLISH
from gpuassist.present.verification import measured, rate_words


def _check(rate: float, unit: str) -> Check:
    return Check("fft", "complex64", Verdict.PASS, rate=Known(rate, "child"), rate_unit=unit)


@pytest.mark.parametrize(
    ("rate", "unit", "words"),
    [
        (41.27, "TFLOP/s", "41.3 TFLOP/s"),
        (0.5, "GB/s", "0.5 GB/s"),
        (0.000253, "TFLOP/s", "0.253 GFLOP/s"),
        (0.0000253, "TFLOP/s", "25.3 MFLOP/s"),
        (0.01, "kB/s", "0.01 kB/s"),
        (0.0, "TFLOP/s", "0 TFLOP/s"),
    ],
)
def test_rate_is_shown_in_its_best_unit(rate: float, unit: str, words: str) -> None:
    assert rate_words(_check(rate, unit)) == words


def test_rate_that_was_not_measured_is_empty() -> None:
    assert rate_words(Check("fft", "complex64", Verdict.PASS)) == ""


def test_error_stands_beside_its_bound() -> None:
    found = measured(Check("matmul", "float32", Verdict.PASS, max_abs_error=Known(3.14e-7, "c"), tolerance=Known(4.2e-6, "c")))
    assert found is not None
    assert ENGLISH(found) == "3.1e-07 / 4.2e-06"


@pytest.mark.parametrize(("error", "bound"), [(Unknown(verbatim("x")), Known(1.0, "c")), (Known(1.0, "c"), Unknown(verbatim("x")))])
def test_half_a_measure_is_none(error: Known[float] | Unknown, bound: Known[float] | Unknown) -> None:
    assert measured(Check("fft", "complex64", Verdict.FAIL, max_abs_error=error, tolerance=bound)) is None
