"""Looking through a project's directory: what belongs to it, what is left out, and what strange files are answered with."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gpuassist.diagnose.project.sets import Project
from gpuassist.model.machine import decode_machine
from gpuassist.model.project import LinkState, ProjectOutlook
from gpuassist.session.project import ProjectError, judge_project, look_at_project, project_outlook
from gpuassist.system.files import Files
from tests.cli.made_session import live_session
from tests.plans import machine_of
from tests.project_cases import DIRECTORY, cases, project_of
from tests.project_cases import judged as judged_case
from tests.rows import for_each
from tests.values import machine

RECORDED = Path(__file__).parent.parent / "cases" / "machines"


def read(folder: Path) -> Project:
    return look_at_project(Files(), str(folder))


def put(folder: Path, name: str, words: str = "torch==2.5.1\n") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(words)
    return path


def judged(folder: Path) -> ProjectOutlook:
    return project_outlook(live_session({}), machine(), str(folder))


def wrong(outlook: ProjectOutlook) -> list[tuple[str, str, int]]:
    return [(one.id.value, one.file, one.line) for one in outlook.checks if one.state is not LinkState.HOLDS]


def test_files_of_subdirectories_count(tmp_path: Path) -> None:
    put(tmp_path, "service/requirements.txt")
    put(tmp_path, ".devcontainer/Dockerfile", "FROM ubuntu:22.04\n")
    assert sorted(read(tmp_path).files) == [".devcontainer/Dockerfile", "service/requirements.txt"]


@pytest.mark.parametrize("place", [".venv", "node_modules/a", "third_party/b", ".git", "a/site-packages"])
def test_what_others_put_there_is_left_out(tmp_path: Path, place: str) -> None:
    put(tmp_path, f"{place}/requirements.txt")
    assert not read(tmp_path).files


@pytest.mark.parametrize("sign", ["pyvenv.cfg", "conda-meta/history", ".git"])
def test_environments_and_submodules_are_left_out(tmp_path: Path, sign: str) -> None:
    put(tmp_path, f"mine/{sign}")
    put(tmp_path, "mine/requirements.txt")
    assert not read(tmp_path).files


def test_a_loop_of_symlinks_ends(tmp_path: Path) -> None:
    put(tmp_path, "a/requirements.txt")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "constraints.txt").symlink_to(tmp_path / "constraints.txt")
    project = read(tmp_path)
    assert sorted(project.files) == ["a/requirements.txt"]
    assert [(one.spot.file, one.spot.line) for one in project.troubles] == [("constraints.txt", 1)]


def test_a_pipe_and_a_device_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "requirements.txt")
    (tmp_path / "Dockerfile").symlink_to("/dev/zero")
    outlook = judged(tmp_path)
    assert wrong(outlook) == [("image", "Dockerfile", 1), ("torch-build", "requirements.txt", 1)]
    assert outlook.fits is None


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Files, path: str, limit: int = -1) -> bytes:
        raise PermissionError(13, "Permission denied", path)

    put(tmp_path, "requirements.txt")
    monkeypatch.setattr(Files, "read_bytes", refuse)  # root may read everything
    (trouble,) = read(tmp_path).troubles
    assert (trouble.about, trouble.spot.file, trouble.spot.line) == ("torch-build", "requirements.txt", 1)


def test_included_files_are_found_wherever_they_lie(tmp_path: Path) -> None:
    put(tmp_path, "project/requirements.txt", "-r ../base.txt\n")
    put(tmp_path, "base.txt", "torch==2.99\n")
    outlook = judged(tmp_path / "project")
    assert wrong(outlook) == [("torch-build", "../base.txt", 1)]
    assert not outlook.changes


def test_no_file_outside_is_changed(tmp_path: Path) -> None:
    put(tmp_path, "project/requirements.txt", "-r ../base.txt\n")
    put(tmp_path, "base.txt", "torch==2.15.0\n")
    outlook = judged(tmp_path / "project")
    assert outlook.fits is False
    assert not outlook.changes


def test_setup_py_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "setup.py", "open('RAN', 'w')\nfrom setuptools import setup\nsetup(install_requires=['torch==2.5.1'])\n")
    assert judged(tmp_path).fits is True
    assert not (tmp_path / "RAN").exists()


def test_a_directory_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ProjectError):
        read(put(tmp_path, "requirements.txt"))


def test_a_hundred_thousand_lines_are_read(tmp_path: Path) -> None:
    put(tmp_path, "requirements.txt", "package-a==1.0\n" * 100_000 + "torch==2.99\n")
    assert wrong(judged(tmp_path)) == [("torch-build", "requirements.txt", 100_001)]


def test_thousands_of_modules_are_passed_over_fast(tmp_path: Path) -> None:
    for number in range(300):
        put(tmp_path, f"package/module_{number}.py", "import torch\n")
    assert not read(tmp_path).files


@for_each(("place", "case"), lambda: enumerate(cases()), every=3)
def test_every_project_is_answered_for_any_machine(place: int, case: dict[str, Any]) -> None:
    recordings = sorted(RECORDED.glob("*/facts.json"))
    made = decode_machine(json.loads(recordings[place % len(recordings)].read_bytes()))
    outlook = judge_project(live_session({}), made, DIRECTORY, project_of(case))
    states = {one.state for one in outlook.checks}
    assert (outlook.fits is False) == (LinkState.BROKEN in states)
    assert outlook.fits is not True or states <= {LinkState.HOLDS}


@for_each("case", cases, every=3)
def test_a_change_makes_it_fit_better(case: dict[str, Any]) -> None:
    """With the change in place less is broken than before, and there is nothing left to change."""
    before, project = judged_case(case), project_of(case)
    if not before.changes or case.get("commands"):
        return
    after = judge_project(
        live_session({}), machine_of(case), DIRECTORY, project.with_files({one.file: one.after for one in before.changes})
    )
    assert len([one for one in after.checks if one.state is LinkState.BROKEN]) < len(wrong(before))
    assert not after.changes
