"""The stages of a set-up on machines of all kinds, and that they say the same as what was found."""

from __future__ import annotations

import json
from pathlib import Path

from gpuassist.model.text import verbatim
from gpuassist.present.marks import Exit
from gpuassist.present.setup import status
from gpuassist.session.inspect import open_recording
from gpuassist.session.navigation import GoTo, ToInstall, ToRepair, WizardStep
from gpuassist.session.setup import look_at_setup
from gpuassist.session.setup_findings import stage_of
from gpuassist.session.setup_values import SetupStageId, SetupStageState
from gpuassist.ui.leads import mends
from tests.rows import for_each
from tests.session.setup_cases import CASES, SESSION, SetupCase, judged, letters

ROOT = Path(__file__).resolve().parent.parent.parent
ANYWHERE = frozenset(
    ("compute-mode-exclusive", "cuda-compat-conflict", "cuda-visible-devices-bad", "gpu-reset-required", "ld-library-path-stubs")
)
"""What stands in the way of whichever stage is now."""
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


def worst_of(case: Path) -> str:
    """How bad the first finding of a recorded machine is; empty where nothing was found."""
    found = json.loads((case / "findings.json").read_text("utf-8"))["findings"]
    return str(found[0]["severity"]) if found else ""


@for_each("case", [case for case in MACHINES if worst_of(case) == "problem"], every=4)
def test_what_is_now_is_where_the_worst_finding_is_mended(case: Path) -> None:
    inspection = open_recording(SESSION, str(facts_of(case)))
    found = look_at_setup(SESSION, inspection)
    now, worst = found.now, inspection.answers[0]
    assert now is not None
    assert (now.problem, stage_of(worst) is None) == (worst.id, worst.id in ANYWHERE)
    way = mends((worst,), inspection.machine)
    if way is not None and isinstance(way.destination, (ToInstall, ToRepair)):
        assert now.destination == way.destination
    else:
        assert now.destination == GoTo(WizardStep.FOUND) or now.id is SetupStageId.RESTART
    assert not any(one.command for one in found.stages)  # which would be for this machine


@for_each("case", [case for case in MACHINES if worst_of(case) == "warning"], every=4)
def test_a_warning_leads_only_where_it_is_about_a_toolkit(case: Path) -> None:
    inspection = open_recording(SESSION, str(facts_of(case)))
    now, worst = look_at_setup(SESSION, inspection).now, inspection.answers[0]
    leads = stage_of(worst) is SetupStageId.TOOLKIT
    assert (now is not None and now.why == verbatim(worst.title)) == leads
    assert now is None or not now.problem  # it stands in nobody's way: the diagnosis says so beside it


@for_each(
    ("name", "expected"),
    [
        ("verified and watched", Exit.HEALTHY),
        ("all there, nothing verified", Exit.WARNINGS),
        ("a new card that no driver has", Exit.PROBLEMS),
        ("the verification failed", Exit.PROBLEMS),
        ("the verification was cut short", Exit.WARNINGS),
        ("a card too old for any torch", Exit.PROBLEMS),
        ("nobody could read the GPUs", Exit.UNDETERMINED),
        ("nobody could read the environments", Exit.WARNINGS),
    ],
)
def test_the_status_says_what_stands_in_the_way(name: str, expected: Exit) -> None:
    assert status(judged(next(case for case in CASES if case.name == name))) is expected
