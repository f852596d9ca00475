"""The stages of a set-up on machines of all kinds, and that they say the same as what was found."""

from __future__ import annotations

from gpuassist.session.setup_values import SetupStageState
from tests.rows import for_each
from tests.session.setup_cases import CASES, SetupCase, judged, letters


@for_each("case", CASES)
def test_each_stage_stands_as_was_written_down(case: SetupCase) -> None:
    found = judged(case)
    now = found.now
    assert (letters(found), now.problem if now is not None else "") == (case.letters, case.problem)
    assert sum(one.state is SetupStageState.NOW for one in found.stages) <= 1
