"""`gpuassist profile`: the document, the words for people, what is refused, and which profiler next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuassist.cli import main as cli
from gpuassist.cli import profile
from gpuassist.cli.context import NotFoundOutError, UsageError
from gpuassist.context import Session
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from tests.cli.made_session import live_session, run_live
from tests.formats.made_traces import steps, trace
from tests.formats.test_profile_tables import PYTHON
from tests.session.profiles_here import read_here
from tests.values import knowledge


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    path = tmp_path / "trace.json"
    path.write_bytes(trace(steps(40)))
    return path


def test_document(made: Path) -> None:
    done = run_live(profile, str(made), "--json")
    assert done.exit is Exit.HEALTHY
    document = json.loads(done.out)
    assert set(document) == {"schema", "first_change", "profiles", "findings"}
    assert set(document["first_change"]) == {"kind", "share", "name", "place", "hint", "start_seconds"}
    (one,) = document["profiles"]
    keys = {"form", "basis", "seconds", "seconds_reason", "events", "shares", "entries", "timeline", "not_known"}
    assert set(one) == keys
    assert sum(share["share"] for share in one["shares"]) == pytest.approx(1, abs=1e-3)
    assert {len(part) for part in one["timeline"]["parts"]} == {len(one["timeline"]["kinds"])}
    assert document["findings"][0]["id"] == "program-profile"


def test_people_read_the_change_the_shares_and_what_is_not_known(made: Path, tmp_path: Path) -> None:
    said = run_live(profile, str(made)).out
    assert "50 %" in said
    assert "ampere_sgemm_128x64_tn" in said
    (tmp_path / "table.txt").write_text(PYTHON)
    told = run_live(profile, str(tmp_path / "table.txt")).out
    assert "71 % of the running time is spent in dataset.py:31(__getitem__)" in told
    assert "nothing of a GPU is in it" in told


def test_what_is_no_profile_is_not_found_out_and_no_file_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("hello")
    with pytest.raises(NotFoundOutError):
        run_live(profile, str(tmp_path / "a"))
    for arguments in ((str(tmp_path / "none"),), (str(tmp_path),), (str(tmp_path / "a"), "--for", "python")):
        with pytest.raises(UsageError):
            run_live(profile, *arguments)


def test_what_to_type_in_its_place_stands_below_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.ncu-rep").write_bytes(b"\1")
    session = Session(live_session().world, knowledge(), ENGLISH)
    assert cli.main(["profile", str(tmp_path / "a.ncu-rep")], compose=lambda _: session, open_window=lambda *_: Exit.HEALTHY) == 3
    reason, line = capsys.readouterr().err.splitlines()
    assert reason.startswith("gpuassist: ")
    assert line == f"    ncu --import {tmp_path}/a.ncu-rep"


def test_which_profiler_next(tmp_path: Path) -> None:
    python = tmp_path / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    done = run_live(profile, "--for", "running", "--python", str(tmp_path / "env"), "--json")
    (tool,) = json.loads(done.out)["tools"]
    keys = {"question", "text", "tool", "state", "path", "install", "code", "commands", "obstacles", "problem", "note"}
    assert (done.exit, set(tool)) == (Exit.HEALTHY, keys)
    assert tool["install"] == [f"{python} -m pip install py-spy"] or tool["state"] == "ready"
    with pytest.raises(UsageError):
        run_live(profile, "--python", str(tmp_path / "nothing"))
