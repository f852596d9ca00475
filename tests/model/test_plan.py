"""A change of several files has one name, whichever of its receipts is asked."""

from __future__ import annotations

import pytest

from gpuassist.model.outlook import Goal, GoalKind, Method, Outlook
from gpuassist.model.plan import OPEN_MODULES, FileEdit, Proves, Receipt, Step, StepKind, StepProof, StepRun, Tool
from gpuassist.model.text import verbatim


def receipt(name: str, group: str = "") -> Receipt:
    return Receipt(name, "2026-11-21T09:00:00", "use cuda 12.4", "~/.bashrc", "/home/you/.bashrc", True, "a", "b", group=group)


def test_a_change_of_one_file_is_named_after_it() -> None:
    assert receipt("20261121-090000-abcdef").change == "20261121-090000-abcdef"


def test_files_of_one_change_share_its_name() -> None:
    assert {receipt(name, "20261121-090000-abcdef").change for name in ("one", "two")} == {"20261121-090000-abcdef"}


def test_a_receipt_is_of_a_change_that_stands() -> None:
    made = receipt("one")
    assert (made.undone_at, made.hash_undone, made.made_directories, made.dialect) == ("", "", (), "bash")


def test_a_step_is_the_users_unless_it_says_otherwise() -> None:
    step = Step(StepKind.COMMAND, verbatim("do it"))
    assert (step.run, step.proof, step.edit, step.needs_root, step.commands) == (None, None, None, False, ())


def test_a_proof_of_any_version_names_none() -> None:
    assert StepProof(Proves.DRIVER) == StepProof(Proves.DRIVER, "", "")
    assert StepProof(Proves.DRIVER, OPEN_MODULES) != StepProof(Proves.DRIVER)


def test_a_run_changes_no_environment_unless_it_says_so() -> None:
    run = StepRun((("true",),), Tool.PIP)
    assert (run.environment, run.interpreter, run.creates) == ("", "", "")


def test_an_edit_has_the_usual_mode_and_dialect() -> None:
    edit = FileEdit("~/.bashrc", "/home/you/.bashrc", b"", b"x", existed=False)
    assert (edit.dialect, edit.mode) == ("bash", None)


@pytest.mark.parametrize("kind", list(GoalKind))
def test_a_goal_of_any_version_is_none_of_a_certain_one(kind: GoalKind) -> None:
    assert (Goal(kind).version, Goal(kind).name) == (None, "")


def test_an_outlook_that_nothing_stands_in_the_way_of() -> None:
    outlook = Outlook(verbatim("torch"), (), (), ())
    assert not any((outlook.blocked_by, outlook.notes, outlook.undetermined, outlook.links, outlook.ways))


@pytest.mark.parametrize("kind", [StepKind, Tool, Proves, Method, GoalKind])
def test_names_on_record_are_words_with_dashes(kind: type[StepKind | Tool | Proves | Method | GoalKind]) -> None:
    names = [one.value for one in kind]
    assert all(name == name.lower() and "_" not in name and " " not in name for name in names)
    assert len(set(names)) == len(names)
