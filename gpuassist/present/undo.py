"""Undo as values for programs and as lines for people: the changes on record, how one is taken back, and what stands in its way."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.changes.journal import Journal
from gpuassist.changes.record import ChangeRecord, ChangeStatus, FileRecord
from gpuassist.changes.restore import FileUndo, ThreeWay
from gpuassist.changes.undo import UndoPlan
from gpuassist.context import Session
from gpuassist.model.codec import Json
from gpuassist.model.plan import Receipt
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.words import Words
from gpuassist.present.moments import minute
from gpuassist.shellfiles.diff import unified
from gpuassist.shellfiles.merge import Meeting

_STANDS = {ChangeStatus.STANDS: True, ChangeStatus.NOTHING_LEFT: False, ChangeStatus.UNDONE: False}
_KNOWN_EDITED = frozenset({ChangeStatus.STANDS, ChangeStatus.NOTHING_LEFT, ChangeStatus.UNDONE})


def record_lines(record: ChangeRecord) -> Iterator[Text]:
    """A change in one line, or in one with a line for each of its files below."""
    receipt = record.receipt
    head = f"{receipt.change}  {receipt.made_at}  {receipt.goal}"
    if len(record.files) == 1:
        yield text("{head}  {path}  ({state})", head=head, path=receipt.path, state=state_of(record.files[0]))
        return
    yield verbatim(head)
    for file in record.files:
        yield text("    {path}  ({state})", path=file.receipt.path, state=state_of(file))


def record_json(session: Session, record: ChangeRecord) -> list[Json]:
    """One object for each file; those of one change have the same `group`."""
    return [
        {
            **receipt_json(session, file.receipt),
            "stands": _STANDS.get(file.standing),
            "standing": file.standing.value,
            "edited_since": file.edited if file.standing in _KNOWN_EDITED else None,
        }
        for file in record.files
    ]


def back_json(taking: UndoPlan, words: Words) -> Json:
    """What taking a change back does to each file."""
    return [
        {
            "id": file.receipt.id,
            "file": file.receipt.path,
            "target": file.receipt.target,
            "message": words(file.way),
            "removes_file": file.removes_file,
            "edited_since": file.edited,
            "passed_over": file.passed_over,
            "diff": diff_of(file),
        }
        for file in taking.files
    ]


def diff_of(file: FileUndo) -> str:
    """What changes in one file, as `diff -u` prints it; empty where nothing does."""
    return "" if file.edit is None else unified(file.edit.path, file.edit.before, file.edit.after)


def conflict_json(three: ThreeWay) -> Json:
    """The three-way diff."""
    return {
        "file": three.path,
        "since": unified(three.path, three.written, three.now),
        "undo": unified(three.path, three.written, three.wanted),
        "meetings": [
            {"line": one.line, "written": _shown(one.base), "now": _shown(one.theirs), "undo": _shown(one.ours)}
            for one in three.meetings
        ],
    }


def conflict_lines(three: ThreeWay) -> Iterator[Text]:
    """The three-way diff: what was changed since, what undo would change, and where they meet."""
    yield text("What was changed in {path} since:", path=three.path)
    yield verbatim(unified(three.path, three.written, three.now))
    yield text("What undo would change in the file as gpuassist wrote it:")
    yield verbatim(unified(three.path, three.written, three.wanted))
    for meeting in three.meetings:
        yield text("Both change line {line}:", line=meeting.line)
        yield verbatim(meeting_words(meeting))


def receipt_json(session: Session, receipt: Receipt) -> dict[str, Json]:
    """What is on record of one file's change."""
    return {
        "id": receipt.id,
        "group": receipt.change,
        "made_at": receipt.made_at,
        "goal": receipt.goal,
        "file": receipt.path,
        "target": receipt.target,
        "existed": receipt.existed,
        "hash_before": receipt.hash_before,
        "hash_after": receipt.hash_after,
        "undone_at": receipt.undone_at or None,
        "backup": Journal.of(session.world).backup(receipt.id),
    }


def state_of(file: FileRecord) -> Text:
    """What became of the change in one file."""
    if file.standing is ChangeStatus.UNDONE:
        return text("undone {when}", when=minute(file.receipt.undone_at))
    if file.standing is ChangeStatus.STANDS:
        return text("in effect; the file was edited since") if file.edited else text("in effect")
    return {
        ChangeStatus.NOTHING_LEFT: text("nothing of it is left in the file"),
        ChangeStatus.MISSING: text("the file is not there any more"),
        ChangeStatus.UNREADABLE: text("the file cannot be read"),
    }[file.standing]


def meeting_words(meeting: Meeting) -> str:
    """The lines that both sides changed, marked as merges are."""
    parts = (("<<<<<<< now\n", meeting.theirs), ("||||||| written\n", meeting.base), ("======= undo\n", meeting.ours))
    return "".join(mark + _ended(_shown(content)) for mark, content in parts) + ">>>>>>>"


def _shown(content: bytes) -> str:
    return content.decode("utf-8", "backslashreplace")


def _ended(words: str) -> str:
    return words if not words or words.endswith("\n") else words + "\n"
