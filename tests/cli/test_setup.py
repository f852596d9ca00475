"""`gpuassist setup` on recordings and on this very machine: what it prints, what it ends with, what it remembers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.cli import setup
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.present.marks import Exit
from gpuassist.session import setup_record
from gpuassist.session.inspect import inspection_of
from gpuassist.session.setup_values import SetupRecord
from tests.cli.made_session import run_live
from tests.install.installs_made import session_at
from tests.rows import for_each
from tests.session.setup_cases import READY
from tests.values import machine

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "resources" / "machines"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return session_at(tmp_path / "home")


@for_each(
    ("example", "status", "now", "command"),
    [
        ("01-new-rtx-5090-nouveau", Exit.PROBLEMS, "driver", None),
        ("06-driver-library-mismatch", Exit.PROBLEMS, "restart", None),
        ("02-rtx-4090-cuda-11-7-first", Exit.PROBLEMS, "toolkit", None),
        ("08-healthy", Exit.HEALTHY, None, None),
    ],
)
def test_a_recording_is_told_with_its_status(
    tmp_path: Path, example: str, status: Exit, now: str | None, command: str | None
) -> None:
    session, file = session_at(tmp_path / "home"), str(EXAMPLES / f"{example}.json")
    printed = run_live(setup, "--json", session=session, machine_file=file)
    document = json.loads(printed.out)
    assert (printed.exit, document["now"], document["command"], document["recorded"]) == (status, now, command, True)
    assert [one["id"] for one in document["stages"]] == ["driver", "restart", "toolkit", "torch", "verify", "live"]
    shown = run_live(setup, session=session, machine_file=file)
    assert (shown.exit, len(shown.out.splitlines()) > 6) == (status, True)
    assert not setup_record.load(session.world)[0].begun_at


def test_what_is_remembered_is_forgotten_when_asked_to(session: Session) -> None:
    setup_record.save(session.world, SetupRecord(begun_at="2026"))
    assert json.loads(run_live(setup, "--forget", "--json", session=session).out)["forgotten"]
    assert run_live(setup, "--forget", session=session).exit is Exit.HEALTHY
    assert setup_record.load(session.world)[0] == SetupRecord()


@pytest.mark.parametrize("arguments", [("--forget",), ("--compile", "yes"), ("--env", "/nowhere")])
def test_nothing_of_a_recording_is_remembered(session: Session, arguments: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        run_live(setup, *arguments, session=session, machine_file=str(EXAMPLES / "08-healthy.json"))


def test_wishes_are_remembered_and_an_environment_must_be_there(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpuassist.session.inspect import open_example

    found = replace(open_example(session, "08-healthy"), recorded=False)
    monkeypatch.setattr(setup, "inspect_machine", lambda _: found)
    with pytest.raises(UsageError):
        run_live(setup, "--env", "/nowhere", session=session)
    for wrong in (("--forget", "--compile", "no"), ("--project", ".", "--compile", "no"), ("--project", "/nowhere")):
        with pytest.raises(UsageError):
            run_live(setup, *wrong, session=session)
    prefix = "/home/you/miniforge3/envs/train"
    printed = json.loads(run_live(setup, "--env", f"{prefix}/", "--compile", "yes", "--json", session=session).out)
    assert (printed["now"], printed["command"]) == ("verify", f"gpuassist verify --python {prefix}")
    record = setup_record.load(session.world)[0]
    assert (record.environment, record.compiles) == (prefix, True)
    shown = run_live(setup, "--env", "", session=session)
    assert (shown.exit, shown.out.splitlines()[-1].strip()) == (Exit.WARNINGS, "gpuassist verify")


def test_a_project_that_compiles_wants_a_toolkit(session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = replace(inspection_of(session, machine(READY)), recorded=False)
    monkeypatch.setattr(setup, "inspect_machine", lambda _: found)
    plain, compiled = tmp_path / "plain", tmp_path / "compiled"
    for folder in (plain, compiled):
        folder.mkdir()
        (folder / "requirements.txt").write_text("torch==2.9.1\n")
    extension = "from torch.utils.cpp_extension import CUDAExtension\nsetup(ext_modules=[CUDAExtension('a', ['a.cu'])])\n"
    (compiled / "setup.py").write_text(f"from setuptools import setup\n{extension}")
    for folder, now in ((plain, "verify"), (compiled, "toolkit"), (plain, "verify")):
        assert json.loads(run_live(setup, "--project", str(folder), "--json", session=session).out)["now"] == now
