"""`gpuassist report` as a person and as a program runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuassist.cli import detect, report
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.model.codec import Json
from gpuassist.model.machine import encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from gpuassist.session import verifications
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.cli.made_session import live_session, run_live
from tests.cli.runs import Run
from tests.values import knowledge, machine

REPORT_KEYS = {
    *("made_at", "made_by", "findings", "undetermined", "passed", "chains", "changed", "verification", "taken_out", "differing"),
}


@pytest.fixture
def recording(tmp_path: Path) -> str:
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(encode_machine(machine(), ENGLISH)))
    return str(path)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """This machine, with a home of its own in which a verification may be kept."""
    home = tmp_path / "home"
    home.mkdir()
    around = live_session({}).world.surroundings
    return Session(World(Surroundings(str(home), around.user, around.uid, {"HOME": str(home)}, str(home))), knowledge(), ENGLISH)


def _run(*arguments: str, recording: str = "", session: Session | None = None, screen: bool = False) -> Run:
    used = session or Session(live_session({}).world, knowledge(), ENGLISH)
    return run_live(report, *arguments, session=used, machine_file=recording, screen=screen)


def test_the_document_is_a_recorded_machine_and_what_was_found_on_it(recording: str, tmp_path: Path) -> None:
    done = _run("--json", recording=recording)
    told = json.loads(done.out)
    assert done.exit is Exit.HEALTHY
    assert set(told["report"]) == REPORT_KEYS
    (tmp_path / "report.json").write_text(done.out)
    again = run_live(detect, "--json", session=live_session({}), machine_file=str(tmp_path / "report.json"))
    assert json.loads(again.out)["gpus"] == told["gpus"]


@pytest.mark.parametrize(
    ("arguments", "begin"), [((), "# "), (("--format", "html"), "<!DOCTYPE html>"), (("--format", "json"), "{")]
)
def test_each_format_goes_to_standard_output(arguments: tuple[str, ...], begin: str, recording: str) -> None:
    done = _run(*arguments, recording=recording)
    assert (done.exit, done.out.startswith(begin), done.err) == (Exit.HEALTHY, True, "")


def test_what_was_taken_out_is_told_to_whoever_sits_at_a_terminal_and_not_within_the_report(recording: str) -> None:
    done = _run(recording=recording, screen=True)
    assert "- names of users: 1, now user" in done.err
    assert "Look it through" not in done.out


@pytest.mark.parametrize(("name", "begin"), [("r.md", b"# "), ("r.html", b"<!DOCTYPE"), ("r.json", b"{")])
def test_the_ending_of_the_file_says_the_format(name: str, begin: bytes, recording: str, tmp_path: Path) -> None:
    assert _run("--out", str(tmp_path / name), recording=recording).exit is Exit.HEALTHY
    path = tmp_path / name
    assert (path.read_bytes().startswith(begin), path.stat().st_mode & 0o777) == (True, 0o600)


def test_a_file_that_is_there_stays_unless_it_is_said(recording: str, tmp_path: Path) -> None:
    path = tmp_path / "r.md"
    path.write_text("mine")
    with pytest.raises(UsageError):
        _run("--out", str(path), recording=recording)
    assert path.read_text() == "mine"
    assert _run("--out", str(path), "--force", recording=recording).exit is Exit.HEALTHY
    assert path.read_text() != "mine"


REFUSED = (
    ("--out", ""),
    ("--out", "{tmp}"),
    ("--out", "{tmp}/r.pdf"),
    ("--out", "{tmp}/nowhere/r.md"),
    ("--out", "/proc/r.md"),
    ("--force",),
    ("--json", "--format", "md"),
    ("--card", "x.svg", "--json"),
    ("--card", "x.svg"),
    ("--card", "x.gif"),
)


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_what_cannot_be_is_refused_before_anything_is_looked_at(arguments: tuple[str, ...], recording: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        _run(*(one.format(tmp=tmp_path) for one in arguments), recording=recording)
    assert [one.name for one in tmp_path.iterdir()] == ["machine.json"]


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(UsageError):
        _run(recording=str(tmp_path / "x.json"))


# The picture of the last verification.


def _verified(session: Session, *devices: Json) -> None:
    document: dict[str, Json] = {
        "schema": 1,
        "accelerator_verified": True,
        "devices": list(devices),
        "environment": {"torch": "2.9.1+cu128"},
    }
    kept = verifications.new(session.world, document, "580.95.05", "full")
    assert verifications.keep(session.world, kept) is None


def test_without_a_verification_there_is_no_picture(session: Session, tmp_path: Path) -> None:
    assert _run("--card", str(tmp_path / "c.svg"), session=session).exit is Exit.UNDETERMINED
    assert not (tmp_path / "c.svg").exists()


@pytest.mark.parametrize(
    ("device", "loud"),
    [
        ({"device": "cuda:0", "name": "NVIDIA GeForce RTX 5090", "verdict": "pass", "checks": [{"verdict": "pass"}]}, "VERIFIED"),
        ({"device": "cuda:0", "name": "NVIDIA GeForce RTX 5090", "verdict": "fail", "checks": [{"verdict": "fail"}]}, "FAILED"),
        ({"device": "cpu", "name": "", "verdict": "pass", "checks": [{"verdict": "pass"}]}, "CPU ONLY"),
        ({"device": "cpu", "name": "", "verdict": "fail", "checks": [{"verdict": "fail"}]}, "FAILED: not all checks passed"),
        (
            {
                "device": "cuda:0",
                "name": "annas-card",
                "verdict": "skipped",
                "checks": [{"verdict": "pass"}, {"verdict": "skipped", "cause": "time"}],
            },
            "INCOMPLETE",
        ),
    ],
)
def test_the_picture_says_first_what_the_verification_came_to(
    device: Json, loud: str, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "_machine", lambda _: machine())
    _verified(session, device)
    assert _run("--card", str(tmp_path / "c.svg"), session=session).exit is Exit.HEALTHY
    svg = (tmp_path / "c.svg").read_text()
    assert svg.index(loud) < svg.index("2.9.1+cu128")
    on_the_cpu = '"device": "cpu"' in json.dumps(device)
    assert ("annas" in svg, "no GPU was tested" in svg, "PCIe" in svg) == (False, on_the_cpu, not on_the_cpu)
