"""How often the right cause of a pasted text stands first."""

from __future__ import annotations

import pytest

from gpuassist.app import compose
from tests.pasted_cases import Judged, judged, pasted_cases


@pytest.fixture(scope="module")
def results() -> tuple[Judged, ...]:
    """Every public case, explained by its text alone."""
    return judged(compose("en"), pasted_cases())


def test_text_without_a_gpu_problem_gets_none(results: tuple[Judged, ...]) -> None:
    assert [one.case.id for one in results if one.false_alarm] == []
