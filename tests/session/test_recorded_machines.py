"""Whole recorded machines against what is to be found on them; `tools/make_cases.py` writes both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuassist.diagnose.catalogue_entry import read_entry
from gpuassist.model.finding import Severity
from gpuassist.system.resources import Resources
from tests.diagnose.only_text import ONLY_TEXT
from tests.rows import for_each
from tests.session.told import told_of

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = sorted((ROOT / "tests" / "cases" / "machines").iterdir())
EXAMPLES = sorted((ROOT / "resources" / "machines").glob("*.json"))

every_case = for_each("case", CASES)


def _facts(case: Path) -> Path:
    recorded = case / "facts.json"
    return recorded if recorded.exists() else ROOT / "resources" / "machines" / f"{case.name}.json"


def _expected(case: Path) -> dict[str, Any]:
    document = json.loads((case / "findings.json").read_text("utf-8"))
    assert isinstance(document, dict)
    return document


@every_case
def test_machine_tells_what_was_recorded(case: Path) -> None:
    assert told_of(_facts(case)) == _expected(case)


def test_every_shipped_example_is_a_case() -> None:
    assert {example.stem for example in EXAMPLES} <= {case.name for case in CASES}


def test_there_are_enough_of_them() -> None:
    assert (len(EXAMPLES) >= 8, len(CASES) >= 28) == (True, True)


@pytest.mark.parametrize("case", [case for case in CASES if case.name.startswith("sound-") or "healthy" in case.name])
def test_sound_machines_have_neither_problem_nor_warning(case: Path) -> None:
    assert not {found["severity"] for found in _expected(case)["findings"]} & {"problem", "warning"}
    assert _expected(case)["undetermined"] == []


def test_most_problems_of_the_catalogue_have_a_whole_machine() -> None:
    shown = {found["id"] for case in CASES for found in _expected(case)["findings"]}
    described = {name.removesuffix(".toml") for name in Resources().names("problems", ".toml")}
    assert len(described - shown - ONLY_TEXT) <= 4, sorted(described - shown - ONLY_TEXT)


def test_severities_are_those_that_the_catalogue_allows() -> None:
    for case in CASES:
        for found in _expected(case)["findings"]:
            entry = read_entry(Resources().read(f"problems/{found['id']}.toml"))
            assert Severity(found["severity"]) in {entry.severity, *(severity for _, severity in entry.severity_when)}
