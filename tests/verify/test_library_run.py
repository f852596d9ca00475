"""The second run, without the variables that choose libraries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from gpuassist.model.fact import Fact, Known
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.verify.library_run import LibraryComparison, compare_with_clean, libraries_after_import
from gpuassist.verify.provenance import ProcessLibraries
from tests.facts import reason, value
from tests.torch_environment import program, surroundings
from tests.verify.test_provenance import CASES, recorded

MINE = "cudnn-parts-by-variable"
SET = {"LD_LIBRARY_PATH": "/home/you/new/lib:/opt/driver/lib64"}


def _reporting(folder: Path, *names: str, then: str = "") -> str:
    """An interpreter that reports recorded processes, says what it was given, and ends as `then` makes it end."""
    for name in names:
        (folder / f"{name}.line").write_text(json.dumps(json.loads((CASES / f"{name}.json").read_text("utf-8"))) + "\n", "utf-8")
    lines = " ".join(f'"{folder}/{name}.line"' for name in names)
    return program(folder / "python", f'env >"{folder}/given"\ncat {lines} /dev/null >"/proc/$$/fd/$2"\n{then}')


def _compared(interpreter: str, variables: Mapping[str, str], mine: str = MINE) -> Fact[LibraryComparison]:
    world, given = World(Surroundings.current()), {**surroundings(), **variables}
    given.pop("PYTHONPATH", None)
    return compare_with_clean(world, interpreter, given, recorded(mine), seconds=60.0, cancelled=lambda: False)


def _after_import(interpreter: str, *, cancelled: bool = False) -> Fact[ProcessLibraries]:
    world = World(Surroundings.current())
    return libraries_after_import(world, interpreter, surroundings(), seconds=60.0, cancelled=lambda: cancelled)


def test_difference_is_found_by_a_run_without_the_variable(tmp_path: Path) -> None:
    found = value(_compared(_reporting(tmp_path, "torch-2.6"), SET))
    assert (found.torch, {one.variable for one in found.differences}) == (None, {"LD_LIBRARY_PATH"})
    assert "LD_LIBRARY_PATH=/opt/driver/lib64" in (tmp_path / "given").read_text("utf-8").splitlines()


@pytest.mark.parametrize(("mine", "variables"), [("torch-2.6", SET), (MINE, {})])
def test_nothing_is_run_where_no_variable_decided_anything(tmp_path: Path, mine: str, variables: Mapping[str, str]) -> None:
    found = value(_compared(_reporting(tmp_path, "torch-2.6"), variables, mine))
    assert (found, (tmp_path / "given").exists()) == (LibraryComparison(), False)


def test_last_report_counts_and_a_crash_after_the_first_leaves_that(tmp_path: Path) -> None:
    found = value(_after_import(_reporting(tmp_path, "torch-2.6", "torch-2.10")))
    assert found == recorded("torch-2.10")
    assert value(_after_import(_reporting(tmp_path, "torch-1.13", then="kill -ABRT $$"))) == recorded("torch-1.13")


def test_run_that_reports_nothing_says_why(tmp_path: Path) -> None:
    assert reason(_after_import(_reporting(tmp_path))) == "it ended without a report"
    assert reason(_after_import(_reporting(tmp_path), cancelled=True)) == "it was stopped before it reported"
    assert "could not be started" in reason(_after_import(str(tmp_path / "nothing")))
    nonsense = program(tmp_path / "nonsense", 'echo \'{"objects": 3}\' >"/proc/$$/fd/$2"')
    assert reason(_after_import(nonsense)) == "its report makes no sense"


def test_report_of_an_import_that_failed_is_one_too(tmp_path: Path) -> None:
    broken = program(tmp_path / "broken", 'echo \'{"type": "libraries", "error": "ImportError: no"}\' >"/proc/$$/fd/$2"')
    assert _after_import(broken) == Known(ProcessLibraries(error="ImportError: no"), broken)
