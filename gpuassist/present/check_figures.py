"""The figures of a check in words: how far off it was beside how far off it may be, and how fast it ran."""

from __future__ import annotations

from gpuassist.model.fact import Known
from gpuassist.model.text import Text, text
from gpuassist.model.verdict import Check

_SMALLER = {"T": "G", "G": "M", "M": "k"}


def measured(check: Check) -> Text | None:
    """`3.1e-07 of 4.2e-06`; None where either is not known."""
    error, bound = check.max_abs_error, check.tolerance
    if isinstance(error, Known) and isinstance(bound, Known):
        return text("{error} of {bound}", error=f"{error.value:.2g}", bound=f"{bound.value:.2g}")
    return None


def rate_words(check: Check) -> str:
    """`58.2 TFLOP/s`, in a prefix that needs no leading zeros; empty where it was not measured."""
    if not isinstance(check.rate, Known):
        return ""
    rate, unit = check.rate.value, check.rate_unit
    while 0 < rate < 0.1 and unit[:1] in _SMALLER:
        rate, unit = rate * 1000, _SMALLER[unit[0]] + unit[1:]
    return f"{rate:.3g} {unit}"
