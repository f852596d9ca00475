"""The stages of a set-up on machines of all kinds, and that they say the same as what was found."""

from __future__ import annotations

from pathlib import Path

from gpuassist.model.finding import Severity
from gpuassist.session.inspect import open_recording
from gpuassist.session.navigation import GoTo, ToInstall, ToRepair, WizardStep
from gpuassist.session.setup import look_at_setup
from gpuassist.session.setup_findings import stage_of
from gpuassist.session.setup_values import SetupStageId, SetupStageState
from gpuassist.ui.leads import mends
from tests.rows import for_each
from tests.session.setup_cases import CASES, SESSION, SetupCase, judged, letters

ROOT = Path(__file__).resolve().parent.parent.parent
MACHINES = sorted((ROOT / "tests" / "cases" / "machines").iterdir())


def facts_of(case: Path) -> Path:
    recorded = case / "facts.json"
    return recorded if recorded.exists() else ROOT / "resources" / "machines" / f"{case.name}.json"


@for_each("case", CASES)
def test_each_stage_stands_as_was_written_down(case: SetupCase) -> None:
    found = judged(case)
    now = found.now
    assert (letters(found), now.problem if now is not None else "") == (case.letters, case.problem)
    assert sum(one.state is SetupStageState.NOW for one in found.stages) <= 1


@for_each("case", MACHINES)
def test_what_is_now_is_where_the_worst_finding_is_mended(case: Path) -> None:
    inspection = open_recording(SESSION, str(facts_of(case)))
    found = look_at_setup(SESSION, inspection)
    now, worst = found.now, next(iter(inspection.answers), None)
    if worst is None or worst.severity is not Severity.PROBLEM:
        problem = (
            worst.id if worst is not None and stage_of(worst) is SetupStageId.TOOLKIT and worst.severity is Severity.WARNING else ""
        )
        assert (now.problem if now is not None else "") == problem
        return
    assert now is not None
    assert now.problem == worst.id
    way = mends((worst,), inspection.machine)
    if way is not None and isinstance(way.destination, (ToInstall, ToRepair)):
        assert now.destination == way.destination
    else:
        assert now.destination == GoTo(WizardStep.FOUND) or now.id is SetupStageId.RESTART
    assert not any(one.command for one in found.stages)  # which would be for this machine


def test_where_a_finding_is_mended_is_known_of_every_one_that_rules_make() -> None:
    machines = (open_recording(SESSION, str(facts_of(case))) for case in MACHINES)
    answers = {one.id: one for machine in machines for one in machine.answers if one.severity is Severity.PROBLEM}
    anywhere = {name for name, one in answers.items() if stage_of(one) is None}
    assert anywhere == {
        "compute-mode-exclusive",
        "cuda-compat-conflict",
        "cuda-visible-devices-bad",
        "gpu-reset-required",
        "ld-library-path-stubs",
    }
