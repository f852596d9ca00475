"""`gpuassist shell` on the command line: the table for people, the document for programs, recorded machines, wrong usage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuassist.cli import shell
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine, encode_machine
from gpuassist.model.shell import Shell, StartupFile, Terminal, Variable
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from tests.changes.homes import world_at
from tests.cli.runs import Run, run

BASHRC = """export CUDA_HOME=/old
# >>> conda initialize >>>
export PATH=/opt/conda/bin:$PATH
# <<< conda initialize <<<
if true; then
  export CUDA_HOME=/new
fi
export LD_LIBRARY_PATH=/a:\\
/b
"""


def _session(home: Path, content: str = BASHRC) -> Session:
    (home / ".bashrc").write_text(content)
    return Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)


def _shell(session: Session, *options: str, machine_file: str = "") -> Run:
    return run(shell, session, *options, machine_file=machine_file)


def _document(session: Session, *options: str, machine_file: str = "") -> dict[str, Any]:
    done = _shell(session, "--json", *options, machine_file=machine_file)
    document = json.loads(done.out)
    assert isinstance(document, dict)
    assert (document["schema"], done.exit, done.err) == (1, Exit.HEALTHY, "")
    return document


def _lines(document: dict[str, Any], home: Path) -> dict[int, dict[str, Any]]:
    return {line["line"]: line for line in document["lines"] if line["file"] == f"{home}/.bashrc"}


def test_the_document_says_all_of_a_line(tmp_path: Path) -> None:
    line = _lines(_document(_session(tmp_path)), tmp_path)[6]
    assert line == {
        "file": f"{tmp_path}/.bashrc",
        "line": 6,
        "last_line": 6,
        "text": "  export CUDA_HOME=/new",
        "variables": ["CUDA_HOME"],
        "contributions": [{"variable": "CUDA_HOME", "effect": "sets", "elements": ["/new"]}],
        "inside": "if true; then",
        "owner": "",
        "in_effect": True,
        "effect": "new terminals have this value",
        "wins": ["CUDA_HOME"],
        "changeable": True,
        "why": "inside “if true; then”",
        "read_by": "",
    }


def test_the_document_says_who_owns_and_who_wins(tmp_path: Path) -> None:
    lines = _lines(_document(_session(tmp_path)), tmp_path)
    assert {number: (line["in_effect"], line["owner"], line["wins"], line["changeable"]) for number, line in lines.items()} == {
        1: (False, "", [], True),
        3: (True, "conda initialize", [], False),
        6: (True, "", ["CUDA_HOME"], True),
        8: (True, "", ["LD_LIBRARY_PATH"], True),
    }
    assert (lines[8]["last_line"], lines[8]["contributions"][0]["elements"]) == (9, ["/a", "/b"])


def test_the_document_has_seconds_and_notes(tmp_path: Path) -> None:
    document = _document(_session(tmp_path))
    assert isinstance(document["seconds"], float)
    assert document["seconds_reason"] is None
    assert document["shell"] == "/bin/bash"
    assert any("a login shell (ssh, a text console) does not see its lines" in note for note in document["notes"])


def test_the_table_is_for_people(tmp_path: Path) -> None:
    done = _shell(_session(tmp_path))
    assert done.exit is Exit.HEALTHY
    lines = [line.strip() for line in done.out.splitlines()]
    assert f"{tmp_path}/.bashrc" in lines
    assert "- 1: export CUDA_HOME=/old" in lines
    assert "a later line sets it again" in lines
    assert "✓ 6: export CUDA_HOME=/new" in lines
    assert "this line wins for CUDA_HOME" in lines
    assert "owner: conda initialize" in lines
    assert "✓ 8-9: export LD_LIBRARY_PATH=/a:\\ …" in lines
    assert any(line.startswith("A new terminal is ready after") for line in lines)


def test_what_a_terminal_does_not_tell_is_null(tmp_path: Path) -> None:
    document = _document(_session(tmp_path, "export CUDA_HOME=/c\nsleep 30\n"), "--seconds", "0.5")
    line = _lines(document, tmp_path)[1]
    assert (line["in_effect"], document["seconds"]) == (None, None)
    assert "were not done after" in document["seconds_reason"]
    assert "were not done after" in line["effect"]


def test_what_a_terminal_does_not_tell_has_a_question_mark(tmp_path: Path) -> None:
    out = _shell(_session(tmp_path, "export CUDA_HOME=/c\nexit 0\n")).out
    assert "? 1: export CUDA_HOME=/c" in out
    assert "which line wins was told by reading alone" in out.replace("\n", " ")


def test_bytes_that_are_no_text_are_shown_escaped(tmp_path: Path) -> None:
    session = _session(tmp_path)
    (tmp_path / ".bashrc").write_bytes(b"export CUDA_HOME=/opt/\xff\n")
    line = _lines(_document(session), tmp_path)[1]
    assert (line["text"], line["contributions"][0]["elements"]) == ("export CUDA_HOME=/opt/\\xff", ["/opt/\\xff"])


@pytest.mark.parametrize("seconds", ["0", "-1", "1e9", "nan"])
def test_a_time_limit_that_is_none_is_wrong_usage(tmp_path: Path, seconds: str) -> None:
    with pytest.raises(UsageError):
        _shell(_session(tmp_path), f"--seconds={seconds}")


def _recording(place: Path, *, content: str) -> str:
    file = StartupFile("/home/else/.bashrc", exists=True, content=Known(content, "the recording"))
    terminal = Terminal("/bin/bash", (Variable("CUDA_HOME", "/c"),), ())
    machine = Machine("2026-11-21T09:00:00Z", shell=Shell(Known("/bin/bash", "x"), Known((file,), "x"), Known(terminal, "x")))
    place.write_text(json.dumps(encode_machine(machine, ENGLISH)))
    return str(place)


def test_a_recorded_machine_is_read_and_nothing_runs(tmp_path: Path) -> None:
    session = _session(tmp_path, "touch ~/ran\n")
    document = _document(session, machine_file=_recording(tmp_path / "machine.json", content="export CUDA_HOME=/c\n"))
    assert [(line["file"], line["in_effect"], line["wins"]) for line in document["lines"]] == [
        ("/home/else/.bashrc", True, ["CUDA_HOME"])
    ]
    assert not (tmp_path / "ran").exists()
    assert document["seconds"] is None


def test_a_recording_without_a_shell_runs_nothing_either(tmp_path: Path) -> None:
    session = _session(tmp_path, "touch ~/ran\n")
    (tmp_path / "machine.json").write_text(json.dumps(encode_machine(Machine("2026-11-21T09:00:00Z"), ENGLISH)))
    assert _document(session, machine_file=str(tmp_path / "machine.json"))["lines"] == []
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("content", ["", "{}", "not json", "[]"])
def test_a_damaged_recording_is_wrong_usage(tmp_path: Path, content: str) -> None:
    (tmp_path / "machine.json").write_text(content)
    with pytest.raises(UsageError):
        _shell(_session(tmp_path), machine_file=str(tmp_path / "machine.json"))


def test_no_file_of_the_user_is_changed(tmp_path: Path) -> None:
    session = _session(tmp_path)
    before = (tmp_path / ".bashrc").read_bytes()
    _shell(session)
    assert (tmp_path / ".bashrc").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [".bashrc"]
