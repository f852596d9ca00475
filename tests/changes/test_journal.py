"""The journal: what is on record when, and what a damaged record does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gpuassist.changes.journal import Journal, JournalEntry, JournalState, Kept, difference, digest, patched, undone
from gpuassist.model.codec import Json
from gpuassist.model.plan import Receipt
from gpuassist.system.disk import Disk

RECEIPT = Receipt("one", "2026-11-21T09:00:00.000+00:00", "use cuda 12.4", "/r", "/r", True, digest(b"old"), digest(b"new"))


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    journal = Journal(Disk(), str(tmp_path / "journal"))
    with journal.lock():
        journal.prepare([Kept(RECEIPT, b"old", b"new")])
    return journal


def test_keeps_both_contents(journal: Journal) -> None:
    assert journal.before(RECEIPT) == b"old"
    assert journal.after(RECEIPT) == b"new"


def test_keeps_both_contents_when_it_is_settled(journal: Journal) -> None:
    journal.settle(RECEIPT, JournalState.UNDONE)
    assert journal.after(RECEIPT) == b"new"


CONTENTS = st.one_of(st.binary(max_size=50), st.lists(st.sampled_from([b"a\n", b"b\n"]), max_size=9).map(b"".join))


@given(CONTENTS, CONTENTS)
def test_a_difference_makes_the_one_of_the_other(before: bytes, after: bytes) -> None:
    assert patched(before, difference(before, after)) == after


@pytest.mark.parametrize(
    "written", [None, [], {}, {"head": 1}, {"head": 0, "tail": 0, "middle": "?"}, {"head": "", "tail": 0, "middle": ""}]
)
def test_a_damaged_difference_is_none(written: Json) -> None:
    assert patched(b"before", written) == b""


def test_a_change_is_prepared_first(journal: Journal) -> None:
    assert journal.entries() == (JournalEntry(RECEIPT, JournalState.PREPARED),)


def test_a_settled_change_says_so(journal: Journal) -> None:
    journal.settle(RECEIPT, JournalState.MADE)
    assert journal.entries() == (JournalEntry(RECEIPT, JournalState.MADE),)


def test_an_undone_change_keeps_its_time(journal: Journal) -> None:
    taken = undone(RECEIPT, "2026-11-21T10:00:00.000+00:00")
    journal.settle(taken, JournalState.UNDONE)
    assert journal.entries()[0].receipt.undone_at == "2026-11-21T10:00:00.000+00:00"


def test_a_forgotten_change_leaves_nothing(journal: Journal) -> None:
    journal.forget([RECEIPT])
    assert [path.name for path in Path(journal.directory).iterdir()] == ["lock"]


def test_lists_by_time(journal: Journal) -> None:
    journal.prepare([Kept(Receipt("a", "2026-11-22", "g", "/r", "/r", True, "", ""), b"", b"")])
    journal.prepare([Kept(Receipt("b", "2026-11-20", "g", "/r", "/r", True, "", ""), b"", b"")])
    assert [entry.receipt.id for entry in journal.entries()] == ["b", "one", "a"]


def test_an_id_is_never_used_twice(journal: Journal) -> None:
    assert journal.unused("two") == "two"
    assert journal.unused("one") == "one-2"
    journal.prepare([Kept(Receipt("one-2", "x", "g", "/r", "/r", True, "", ""), b"", b"")])
    assert journal.unused("one") == "one-3"


def test_there_is_no_journal_at_first(tmp_path: Path) -> None:
    assert Journal(Disk(), str(tmp_path / "nothing")).entries() == ()


DAMAGED = [
    "",
    "{",
    "[]",
    "null",
    '{"schema": 9}',
    '{"schema": 1}',
    '{"schema": 1, "state": "made"}',
    '{"schema": 1, "state": "?"}',
    "\udcff",
    pytest.param("[" * 100_000, id="deep"),
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_record_is_left_out(journal: Journal, content: str) -> None:
    Path(journal.directory, "bad.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    assert [entry.receipt.id for entry in journal.entries()] == ["one"]


NAMES = ["id", "made_at", "goal", "path", "target", "hash_before", "hash_after", "undone_at", "group", "dialect", "hash_undone"]


def _damaged(journal: Journal, name: str, value: Json) -> None:
    """A second record, in which one value is another."""
    document = json.loads(Path(journal.directory, "one.prepared").read_bytes()) | {"id": "two", name: value}
    Path(journal.directory, "two.json").write_text(json.dumps(document))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [None, 5, ["x"], {"x": "y"}, True])
def test_a_record_with_one_wrong_value_is_left_out(journal: Journal, name: str, value: Json) -> None:
    _damaged(journal, name, value)
    assert [entry.receipt.id for entry in journal.entries()] == ["one"]


@pytest.mark.parametrize(
    ("name", "value"), [("existed", "yes"), ("existed", None), ("made_directories", 5), ("made_directories", None), ("schema", "1")]
)
def test_a_record_of_another_shape_is_left_out(journal: Journal, name: str, value: Json) -> None:
    _damaged(journal, name, value)
    assert [entry.receipt.id for entry in journal.entries()] == ["one"]


@pytest.mark.parametrize("name", ["hash_undone", "group", "dialect", "undone_at", "made_directories"])
def test_a_record_of_before_lacks_what_came_later(journal: Journal, name: str) -> None:
    document = json.loads(Path(journal.directory, "one.prepared").read_bytes())
    del document[name]
    Path(journal.directory, "one.prepared").write_text(json.dumps(document))
    assert journal.entries() == (JournalEntry(RECEIPT, JournalState.PREPARED),)


def test_a_record_of_later_may_say_more(journal: Journal) -> None:
    _damaged(journal, "colour", "green")
    assert {entry.receipt.id for entry in journal.entries()} == {"one", "two"}


@pytest.mark.parametrize("change", ["../one", "/etc/passwd", "a/b"])
def test_no_other_file_is_read_by_an_id(journal: Journal, change: str) -> None:
    assert journal.group(change) == ()


def test_files_of_a_change_are_found_by_any_of_them(journal: Journal) -> None:
    for name in ("two", "two-2"):
        journal.prepare([Kept(replace(RECEIPT, id=name, group="two"), b"old", b"new")])
    assert [entry.receipt.id for entry in journal.group("two-2")] == ["two", "two-2"]
    assert journal.group("three") == ()


def test_what_is_prepared_is_what_is_unsettled(journal: Journal) -> None:
    assert [entry.receipt.id for entry in journal.unsettled()] == ["one"]
    journal.commit([RECEIPT])
    assert journal.unsettled() == ()
    assert journal.settled("one") == JournalEntry(RECEIPT, JournalState.MADE)


def test_an_undo_that_was_begun_is_remembered(journal: Journal) -> None:
    journal.begin_undo("one", {"one": digest(b"old")})
    assert journal.unfinished_undos() == (("one", {"one": digest(b"old")}),)
    journal.end_undo("one")
    assert journal.unfinished_undos() == ()


@pytest.mark.parametrize("content", ["", "null", "5", "[]", "{", '"x"', pytest.param("[" * 100_000, id="deep")])
def test_an_undo_whose_note_was_lost_is_still_one(journal: Journal, content: str) -> None:
    Path(journal.directory, "one.undoing").write_text(content)
    assert journal.unfinished_undos() == (("one", {}),)


def test_what_somebody_had_made_of_it_is_kept(journal: Journal) -> None:
    for content in (b"mine\n", b"mine, later\n"):
        journal.keep_edited(RECEIPT, content)
    assert Path(journal.directory, "one.edited").read_bytes() == b"mine, later\n"


def test_what_was_being_put_on_record_is_cleared(journal: Journal) -> None:
    for name in ("two.preparing", "two.before", "one.json.new"):
        Path(journal.directory, name).write_bytes(b"half")
    journal.clear()
    assert sorted(path.name for path in Path(journal.directory).iterdir()) == ["lock", "one.before", "one.prepared"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2026-11-21T10:00:00+02:00", "2026-11-21T09:00:00+00:00"),
        ("2026-10-25T02:30:00+02:00", "2026-10-25T02:10:00+01:00"),
        ("not a time", "2026-11-21T09:00:00+00:00"),
        ("2026-11-21T09:00:00", "2026-11-21T09:00:01+00:00"),
    ],
)
def test_times_are_compared_as_moments(journal: Journal, first: str, second: str) -> None:
    for name, made_at in (("b", first), ("a", second)):
        journal.prepare([Kept(replace(RECEIPT, id=name, made_at=made_at), b"", b"")])
    assert [entry.receipt.id for entry in journal.entries() if entry.receipt.id != "one"] == ["b", "a"]


def test_the_record_is_json_with_a_schema(journal: Journal) -> None:
    document = json.loads(Path(journal.directory, "one.prepared").read_bytes())
    assert (document["schema"], document["state"], document["hash_before"]) == (1, "made", digest(b"old"))


def test_one_at_a_time(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuassist.changes.journal._LOCK_SECONDS", 0.0)
    with journal.lock(), pytest.raises(BlockingIOError), journal.lock():
        pass


def test_the_lock_is_given_back(journal: Journal) -> None:
    for _ in range(2):
        with journal.lock():
            pass


@pytest.mark.parametrize("path", ["/r\0x", "\ud800"])
def test_a_record_of_a_path_that_cannot_be_is_left_out(journal: Journal, path: str) -> None:
    place = Path(journal.directory) / "one.prepared"
    document = json.loads(place.read_text())
    assert [one.receipt.id for one in journal.entries()] == ["one"]
    for name in ("path", "target", "id"):
        place.write_text(json.dumps({**document, name: path}))
        assert journal.entries() == ()
