"""Undo for programs and for people: every state of a change, and what meets where a file was edited since."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuassist.changes.record import ChangeRecord, ChangeStatus, FileRecord
from gpuassist.changes.restore import FileUndo, ThreeWay
from gpuassist.changes.undo import UndoPlan
from gpuassist.model.plan import FileEdit, Receipt
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.moments import minute
from gpuassist.present.undo import (
    back_json,
    conflict_json,
    conflict_lines,
    diff_of,
    meeting_words,
    receipt_json,
    record_json,
    record_lines,
    state_of,
)
from gpuassist.shellfiles.merge import Meeting
from tests.changes.scoped import session_at

KEYS = {
    *("id", "group", "made_at", "goal", "file", "target", "existed", "hash_before", "hash_after", "undone_at", "backup"),
    *("stands", "standing", "edited_since"),
}
THREE = ThreeWay("~/.bashrc", b"a\nours\nb\n", b"a\ntheirs\nb\n", b"a\nb\n", (Meeting(2, b"ours\n", b"", b"theirs\n"),))


def receipt(path: str = "~/.bashrc", *, undone: str = "", group: str = "") -> Receipt:
    return Receipt(
        "20261121-090000-ab", "2026-11-21T09:00:00Z", "use CUDA 12.4", path, f"/home/you/{path}", True, "aa", "bb", undone, group
    )


def record(standing: ChangeStatus = ChangeStatus.STANDS, *, edited: bool = False, path: str = "~/.bashrc") -> FileRecord:
    undone = "2026-11-21T10:00:00Z" if standing is ChangeStatus.UNDONE else ""
    return FileRecord(receipt(path, undone=undone), standing, edited)


def lines(*files: FileRecord) -> list[str]:
    return [ENGLISH(one) for one in record_lines(ChangeRecord(files))]


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (record(), "in effect"),
        (record(edited=True), "in effect; the file was edited since"),
        (record(ChangeStatus.UNDONE), f"undone {minute('2026-11-21T10:00:00Z')}"),
        (record(ChangeStatus.NOTHING_LEFT), "nothing of it is left in the file"),
        (record(ChangeStatus.MISSING), "the file is not there any more"),
        (record(ChangeStatus.UNREADABLE), "the file cannot be read"),
    ],
)
def test_state_of_a_file_is_told(one: FileRecord, words: str) -> None:
    assert ENGLISH(state_of(one)) == words
    assert lines(one) == [f"20261121-090000-ab  2026-11-21T09:00:00Z  use CUDA 12.4  ~/.bashrc  ({words})"]


def test_change_of_several_files_has_a_line_for_each() -> None:
    head, *files = lines(record(), record(ChangeStatus.MISSING, path="~/.profile"))
    assert head == "20261121-090000-ab  2026-11-21T09:00:00Z  use CUDA 12.4"
    assert files == ["    ~/.bashrc  (in effect)", "    ~/.profile  (the file is not there any more)"]


@pytest.mark.parametrize(
    ("standing", "stands", "edited"),
    [
        (ChangeStatus.STANDS, True, True),
        (ChangeStatus.NOTHING_LEFT, False, True),
        (ChangeStatus.UNDONE, False, True),
        (ChangeStatus.MISSING, None, None),
        (ChangeStatus.UNREADABLE, None, None),
    ],
)
def test_what_cannot_be_known_is_null(home: Path, standing: ChangeStatus, stands: bool | None, edited: bool | None) -> None:
    (document,) = record_json(session_at(home), ChangeRecord((record(standing, edited=True),)))
    assert isinstance(document, dict)
    assert set(document) == KEYS
    assert (document["stands"], document["edited_since"], document["standing"]) == (stands, edited, standing.value)


def test_file_of_a_group_names_it(home: Path) -> None:
    document = receipt_json(session_at(home), receipt(group="20261121-085959-cd"))
    assert isinstance(document, dict)
    assert (document["id"], document["group"]) == ("20261121-090000-ab", "20261121-085959-cd")
    assert document["undone_at"] is None


def test_taking_back_tells_each_file() -> None:
    edit = FileEdit("~/.bashrc", "/home/you/.bashrc", b"a\nb\n", b"a\n", existed=True)
    files = (
        FileUndo(receipt(), edit, removes_file=False, way=text("its lines are taken out"), edited=True),
        FileUndo(receipt("~/.profile"), None, removes_file=True, way=text("it is removed"), passed_over=True),
    )
    first, second = json.loads(json.dumps(back_json(UndoPlan(files), ENGLISH)))
    assert (first["message"], first["removes_file"], first["edited_since"]) == ("its lines are taken out", False, True)
    assert "-b" in first["diff"].splitlines()
    assert (second["removes_file"], second["passed_over"], second["diff"]) == (True, True, "")


def test_file_that_does_not_change_has_no_diff() -> None:
    edit = FileEdit("~/x", "/x", b"a\n", b"a\n", existed=True)
    assert diff_of(FileUndo(receipt(), edit, removes_file=False, way=text("x"))) == ""


def test_conflict_is_three_ways() -> None:
    document = conflict_json(THREE)
    assert isinstance(document, dict)
    assert document["file"] == "~/.bashrc"
    assert "+theirs" in str(document["since"])
    assert "-ours" in str(document["undo"])
    assert document["meetings"] == [{"line": 2, "written": "ours\n", "now": "theirs\n", "undo": ""}]


def test_conflict_is_told_to_people() -> None:
    told = [ENGLISH(one) for one in conflict_lines(THREE)]
    assert told[0] == "What was changed in ~/.bashrc since:"
    assert told[2] == "What undo would change in the file as gpuassist wrote it:"
    assert told[4:] == ["Both change line 2:", meeting_words(THREE.meetings[0])]


@pytest.mark.parametrize(
    ("meeting", "words"),
    [
        (Meeting(1, b"b\n", b"o\n", b"t\n"), "<<<<<<< now\nt\n||||||| written\nb\n======= undo\no\n>>>>>>>"),
        (Meeting(1, b"b", b"", b"t"), "<<<<<<< now\nt\n||||||| written\nb\n======= undo\n>>>>>>>"),
        (Meeting(1, b"", b"", b"\xff"), "<<<<<<< now\n\\xff\n||||||| written\n======= undo\n>>>>>>>"),
    ],
)
def test_meeting_is_marked_as_merges_are(meeting: Meeting, words: str) -> None:
    assert meeting_words(meeting) == words
