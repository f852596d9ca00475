"""The journal: what is on record when, and what a damaged record does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.codec import Json
from gpuassist.model.plan import Receipt
from gpuassist.repair.journal import Entry, Journal, Kept, State, difference, digest, patched, undone
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
    journal.settle(RECEIPT, State.UNDONE)
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
    assert journal.entries() == (Entry(RECEIPT, State.PREPARED),)


def test_a_settled_change_says_so(journal: Journal) -> None:
    journal.settle(RECEIPT, State.MADE)
    assert journal.entries() == (Entry(RECEIPT, State.MADE),)


def test_an_undone_change_keeps_its_time(journal: Journal) -> None:
    taken = undone(RECEIPT, "2026-11-21T10:00:00.000+00:00")
    journal.settle(taken, State.UNDONE)
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
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_record_is_left_out(journal: Journal, content: str) -> None:
    Path(journal.directory, "bad.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    assert [entry.receipt.id for entry in journal.entries()] == ["one"]


def test_the_record_is_json_with_a_schema(journal: Journal) -> None:
    document = json.loads(Path(journal.directory, "one.prepared").read_bytes())
    assert (document["schema"], document["state"], document["hash_before"]) == (1, "made", digest(b"old"))


def test_one_at_a_time(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuassist.repair.journal._LOCK_SECONDS", 0.0)
    with journal.lock(), pytest.raises(BlockingIOError), journal.lock():
        pass


def test_the_lock_is_given_back(journal: Journal) -> None:
    for _ in range(2):
        with journal.lock():
            pass
