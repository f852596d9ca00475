"""`gpuassist plan --project DIR`: the JSON of its contract, its exit status, and the change that is written only when asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuassist.changes.undo import undo
from gpuassist.cli import plan
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.model.machine import Machine, encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from tests.changes.homes import world_at
from tests.cli.made_session import live_session, run_live
from tests.cli.runs import Run
from tests.values import RTX_5090, knowledge, machine

BLACKWELL = machine(gpus=(RTX_5090,), driver="580.95.05", open_module=True, cuda="13.0", toolkits=("12.8.93",), nvcc="12.8")
CONTRACT = ["schema", "fits", "checks", "changes", "steps"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "home" / "training"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def session(project: Path) -> Session:
    return Session(world_at(project.parent), knowledge(), ENGLISH)


def saved(folder: Path, made: Machine) -> str:
    path = folder / "machine.json"
    path.write_text(json.dumps(encode_machine(made, ENGLISH)), "utf-8")
    return str(path)


def judged(project: Path, made: Machine, *arguments: str) -> Run:
    recording = saved(project.parent, made)
    return run_live(plan, "--project", str(project), *arguments, machine_file=recording, session=live_session({}))


def told(project: Path, made: Machine) -> dict[str, Any]:
    document = json.loads(judged(project, made, "--json").out)
    assert isinstance(document, dict)
    return document


@pytest.fixture
def on_blackwell(monkeypatch: pytest.MonkeyPatch) -> None:
    """The live machine is one with an RTX 5090."""
    monkeypatch.setattr("gpuassist.cli.plan_project.look", lambda session, recording="": BLACKWELL)
    monkeypatch.setattr("gpuassist.cli.plan_project.load_probes", lambda: None)


def test_json_is_its_contract(project: Path) -> None:
    (project / "requirements.txt").write_text("numpy\ntorch==1.13\n")
    document = told(project, BLACKWELL)
    assert list(document) == CONTRACT
    assert (document["schema"], document["fits"]) == (1, False)
    assert all(list(check) == ["id", "state", "text", "file", "line"] for check in document["checks"])
    broken = [check for check in document["checks"] if check["state"] == "broken"]
    assert [(check["id"], check["file"], check["line"]) for check in broken] == [("architecture", "requirements.txt", 2)]
    assert broken[0]["text"] == "cannot fit: RTX 5090 needs sm_120 from torch 2.7 on, and the project pins 1.13"
    (change,) = document["changes"]
    assert list(change) == ["file", "diff", "text", "may_break"]
    assert change["diff"].splitlines()[:2] == ["--- requirements.txt", "+++ requirements.txt"]
    assert change["may_break"]


def test_json_of_a_step_is_that_of_every_plan(project: Path) -> None:
    (project / "requirements.txt").write_text("torch==2.5.1\n")
    steps = told(project, machine(driver=""))["steps"]
    assert steps
    assert all(list(step) == ["kind", "text", "commands", "diff", "check", "needs_root"] for step in steps)


@pytest.mark.parametrize(
    ("words", "ends"),
    [("torch==2.5.1\n", Exit.HEALTHY), ("torch==2.15.0\n", Exit.PROBLEMS), ("torch==2.99\n", Exit.UNDETERMINED)],
)
def test_exit_says_whether_it_fits(project: Path, words: str, ends: Exit) -> None:
    (project / "requirements.txt").write_text(words)
    assert judged(project, machine()).exit is ends


def test_what_is_shown_names_file_line_and_diff(project: Path) -> None:
    (project / "requirements.txt").write_text("torch==1.13\n")
    out = judged(project, BLACKWELL).out
    assert "(requirements.txt, line 1)" in out
    assert "    -torch==1.13\n    +torch==2.8.0\n" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ("torch", "--project", "DIR"),
        ("--project", "DIR", "--run"),
        ("--project", "DIR", "--back"),
        ("--project", "DIR/nowhere"),
        ("--write", "torch"),
    ],
)
def test_wrong_usage(project: Path, arguments: tuple[str, ...]) -> None:
    words = tuple(one.replace("DIR", str(project)) for one in arguments)
    with pytest.raises(UsageError):
        run_live(plan, *words, machine_file=saved(project.parent, machine()), session=live_session({}))


def test_a_recorded_machine_is_not_written_for(project: Path) -> None:
    (project / "requirements.txt").write_text("torch==1.13\n")
    with pytest.raises(UsageError):
        judged(project, BLACKWELL, "--write", "--yes")
    assert (project / "requirements.txt").read_text() == "torch==1.13\n"


@pytest.mark.usefixtures("on_blackwell")
def test_nothing_is_written_without_write(project: Path, session: Session) -> None:
    (project / "requirements.txt").write_text("torch==1.13\n")
    assert run_live(plan, "--project", str(project), session=session).exit is Exit.PROBLEMS
    assert [path.name for path in project.iterdir()] == ["requirements.txt"]
    assert (project / "requirements.txt").read_text() == "torch==1.13\n"


@pytest.mark.usefixtures("on_blackwell")
def test_write_asks_where_somebody_can_be_asked(project: Path, session: Session) -> None:
    (project / "requirements.txt").write_text("torch==1.13\n")
    with pytest.raises(UsageError):
        run_live(plan, "--project", str(project), "--write", session=session)
    assert (project / "requirements.txt").read_text() == "torch==1.13\n"


@pytest.mark.usefixtures("on_blackwell")
def test_what_is_written_is_on_record_and_comes_back(project: Path, session: Session) -> None:
    (project / "requirements.txt").write_bytes(b"torch==1.13\r\nnumpy # \xff\r\n")
    (project / "environment.yml").write_text(
        "channels:\n  - conda-forge\ndependencies:\n  - python=3.11\n  - pip:\n    - torch==2.0.1\n"
    )
    before = {path.name: path.read_bytes() for path in project.iterdir()}
    ran = run_live(plan, "--project", str(project), "--write", "--yes", "--json", session=session)
    document = json.loads(ran.out)
    assert list(document) == [*CONTRACT, "written"]
    assert (ran.exit, document["written"]["result"]) == (Exit.HEALTHY, "modified")
    assert (project / "requirements.txt").read_bytes() == b"torch==2.8.0\r\nnumpy # \xff\r\n"
    assert b"torch==2.8.0" in (project / "environment.yml").read_bytes()
    undo(session.world, document["written"]["change"])
    assert {path.name: path.read_bytes() for path in project.iterdir()} == before


@pytest.mark.usefixtures("on_blackwell")
def test_what_fits_is_not_written(project: Path, session: Session) -> None:
    (project / "requirements.txt").write_text("torch==2.8.0\n")
    ran = run_live(plan, "--project", str(project), "--write", "--yes", "--json", session=session)
    assert (ran.exit, json.loads(ran.out)["written"]["result"]) == (Exit.HEALTHY, "unchanged")


@pytest.mark.usefixtures("on_blackwell")
def test_a_link_out_of_the_project_is_not_followed_for_writing(project: Path, session: Session) -> None:
    elsewhere = project.parent / "shared.txt"
    elsewhere.write_text("torch==1.13\n")
    (project / "requirements.txt").symlink_to(elsewhere)
    ran = run_live(plan, "--project", str(project), "--write", "--yes", "--json", session=session)
    assert (ran.exit, json.loads(ran.out)["written"]["result"]) == (Exit.PROBLEMS, "refused")
    assert elsewhere.read_text() == "torch==1.13\n"
