"""The contract of the command line, command by command: the keys of every JSON document, and what is refused of a recording."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gpuassist.cli import detect, doctor, explain, holders, know, plan, shell, undo, use
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from tests.changes.homes import choose, world_at
from tests.cli.made_session import live_session, run_live
from tests.cli.runs import Run, run
from tests.rows import for_each
from tests.values import knowledge

MACHINES = tuple(sorted((Path(__file__).resolve().parents[2] / "resources" / "machines").glob("*.json")))
NAMES = [machine.stem for machine in MACHINES]
FINDING = ["id", "severity", "title", "explanation", "evidence", "remedies", "links"]
REMEDY = {"text", "commands", "needs_root", "action", "check"}
HELD = {
    *("pid", "user", "command", "gpus", "devices", "memory_used_bytes", "memory_reason", "memory_by_gpu", "state", "unit"),
    *("container", "role", "may_stop", "why", "commands"),
}
LINE = {
    *("file", "line", "last_line", "text", "variables", "contributions", "inside", "owner", "in_effect", "effect", "wins"),
    *("changeable", "why", "read_by"),
}
UNDONE = {"schema", "result", "message", "dry_run", "change", "files", "still_old"}


def session() -> Session:
    """This machine, with knowledge that is read once."""
    return Session(live_session({}).world, knowledge(), ENGLISH)


@cache
def on(verb: ModuleType, recording: Path, *options: str) -> Run:
    return run_live(verb, *options, session=session(), machine_file=str(recording))


def document(verb: ModuleType, recording: Path, *options: str) -> dict[str, Any]:
    """The one document that stands on stdout."""
    done = on(verb, recording, *options, "--json")
    found = json.loads(done.out)
    assert isinstance(found, dict)
    assert found["schema"] == 1
    return found


@pytest.fixture
def changed(home: Path) -> Session:
    """A session that has changed .bashrc once."""
    (home / ".bashrc").write_text("# mine\n")
    session = Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)
    choose(session.world, "12.4.131")
    return session


@pytest.mark.parametrize("recording", MACHINES, ids=NAMES)
def test_doctor_tells_each_finding_whole(recording: Path) -> None:
    found = document(doctor, recording)
    assert {"findings", "undetermined"} <= set(found)
    for finding in found["findings"]:
        assert list(finding)[: len(FINDING)] == FINDING
        assert finding["severity"] in {"problem", "warning", "info"}
        assert all(set(remedy) >= REMEDY for remedy in finding["remedies"])
        assert all(set(fact) == {"fact", "value", "source"} for fact in finding["evidence"])


@pytest.mark.parametrize("recording", MACHINES, ids=NAMES)
def test_doctors_exit_is_the_worst_of_its_findings(recording: Path) -> None:
    found, status = document(doctor, recording), on(doctor, recording, "--json").exit
    severities = {finding["severity"] for finding in found["findings"]}
    if "problem" in severities:
        assert status is Exit.PROBLEMS
    elif "warning" in severities:
        assert status is Exit.WARNINGS
    else:
        assert status in {Exit.HEALTHY, Exit.UNDETERMINED}


@pytest.mark.parametrize("recording", MACHINES, ids=NAMES)
def test_detect_prints_a_recording_as_it_is(recording: Path) -> None:
    found = document(detect, recording)
    again = json.loads(recording.read_text("utf-8"))
    assert {name: found[name] for name in again if name in found and name != "schema"} == {
        name: again[name] for name in again if name in found and name != "schema"
    }


@pytest.mark.parametrize("recording", MACHINES, ids=NAMES)
def test_recorded_start_up_files_are_one_document(recording: Path) -> None:
    found = document(shell, recording)
    assert set(found) == {"schema", "shell", "lines", "notes", "unread", "seconds", "seconds_reason", "still_old"}
    assert found["still_old"] is None
    assert (found["seconds"] is None) is (found["seconds_reason"] is not None)
    assert all(set(line) == LINE for line in found["lines"])


@pytest.mark.parametrize("recording", MACHINES, ids=NAMES)
def test_recorded_holders_are_one_document(recording: Path) -> None:
    found = document(holders, recording)
    assert set(found) == {"schema", "holders", "notes"}
    for held in found["holders"]:
        assert set(held) == HELD
        assert held["may_stop"] is False
        assert (held["memory_used_bytes"] is None) is (held["memory_reason"] is not None)


@for_each("goal", ["driver", "cuda==12.8", "torch"])
@for_each("recording", MACHINES[:4])
def test_plan_tells_each_step_whole(recording: Path, goal: str) -> None:
    found = document(plan, recording, goal)
    for step in found["steps"]:
        assert {"kind", "text", "commands", "diff", "check", "needs_root"} <= set(step)
        assert step["kind"] in {"edit", "command", "root-command", "new-shell", "reboot", "hardware"}
        assert step["needs_root"] is True or step["kind"] != "root-command"


@pytest.mark.parametrize("words", ["", "hello", "CUDA out of memory", "NVRM: Xid (PCI:0000:01:00): 79, pid=1"])
def test_explain_tells_each_finding_whole(tmp_path: Path, words: str) -> None:
    pasted = tmp_path / "pasted.txt"
    pasted.write_text(words)
    done = run_live(explain, str(pasted), "--json", session=session(), machine_file="none")
    for finding in json.loads(done.out)["findings"]:
        assert list(finding)[: len(FINDING)] == FINDING


@pytest.mark.parametrize(
    ("kind", "name"), [("gpu", "RTX 4090"), ("cuda", "12.8"), ("torch", "2.7"), ("driver", "570"), ("xid", "79"), ("nvml", "18")]
)
def test_what_is_known_has_a_source_and_a_day(kind: str, name: str) -> None:
    done = run_live(know, kind, name, "--json", session=session())
    found = json.loads(done.out)
    assert found["schema"] == 1
    assert found["source"]
    assert found["checked"]


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        (use, ("cuda", "12.4")),
        (use, ("devices", "0")),
        (use, ("--scopes",)),
        (undo, ()),
        (undo, ("--list",)),
        (undo, ("--dry-run",)),
        (holders, ("--stop", "1")),
    ],
)
def test_recording_is_never_changed(verb: ModuleType, options: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        on(verb, MACHINES[0], *options)
    assert "--machine shows a recorded machine" in ENGLISH(caught.value.reason)


@pytest.mark.parametrize("verb", [detect, doctor, holders, shell])
@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"schema": 99}', '{"schema": 1}', '{"findings": [], "schema": 1}'])
def test_file_that_is_no_recording_is_wrong_usage(tmp_path: Path, verb: ModuleType, content: str) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(content)
    with pytest.raises(UsageError):
        on(verb, broken)


@pytest.mark.parametrize("seconds", ["0", "-1", "601", "nan", "inf"])
def test_senseless_patience_of_shell_is_wrong_usage(seconds: str) -> None:
    with pytest.raises(UsageError):
        on(shell, MACHINES[0], "--seconds", seconds)


@pytest.mark.parametrize("options", [(), ("cuda",), ("devices",)])
def test_use_without_what_to_use_is_wrong_usage(changed: Session, options: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        run(use, changed, *options)


def test_undo_on_trial_changes_nothing(changed: Session, home: Path) -> None:
    before = (home / ".bashrc").read_bytes()
    done = run(undo, changed, "--dry-run", "--json")
    found = json.loads(done.out)
    assert (done.exit, found["dry_run"], found["result"]) == (Exit.HEALTHY, True, "unchanged")
    assert set(found) == UNDONE
    assert (home / ".bashrc").read_bytes() == before


def test_undo_tells_programs_what_it_did(changed: Session, home: Path) -> None:
    found = json.loads(run(undo, changed, "--json").out)
    assert set(found) == UNDONE
    assert (found["dry_run"], found["result"]) == (False, "modified")
    assert [file["edited_since"] for file in found["files"]] == [False]
    assert (home / ".bashrc").read_text() == "# mine\n"


def test_nothing_to_undo_is_no_error(home: Path) -> None:
    done = run(undo, Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH), "--json")
    assert (done.exit, json.loads(done.out)["result"]) == (Exit.HEALTHY, "unchanged")


def test_changes_on_record_are_told_with_their_standing(changed: Session) -> None:
    (change,) = json.loads(run(undo, changed, "--list", "--json").out)["changes"]
    assert (change["standing"], change["stands"], change["edited_since"], change["undone_at"]) == ("stands", True, False, None)


def test_unknown_change_is_wrong_usage(changed: Session) -> None:
    with pytest.raises(UsageError):
        run(undo, changed, "no-such-change")


def test_scopes_are_one_document(changed: Session) -> None:
    found = json.loads(run(use, changed, "--scopes", "--json").out)
    assert found["schema"] == 1
    assert {scope["scope"] for scope in found["scopes"]} >= {"shell", "desktop"}
