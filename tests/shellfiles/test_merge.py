"""Merging three texts: both sides' changes where they do not meet, and a refusal that shows both where they do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.shellfiles.merge import Meeting, merge
from tests.rows import for_each

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"# x\r\n", b"\xff\0\n"]), max_size=12).map(b"".join)
TEXTS = st.one_of(
    LINES, st.builds(lambda lines, end: lines + end, LINES, st.sampled_from([b"a", b"no end"])), st.binary(max_size=40)
)

CLEAN = [
    # what was written, what undo makes of it, what stands there now, what comes of it
    (b"a\nNEW\n", b"a\n", b"a\nNEW\nmine\n", b"a\nmine\n"),
    (b"a\nNEW\n", b"a\n", b"mine\na\nNEW\n", b"mine\na\n"),
    (b"a\nNEW\n", b"a", b"a\nNEW\nmine\n", b"a\nmine\n"),
    (b"a\nNEW\n", b"a", b"mine\na\nNEW\n", b"mine\na"),
    (b"NEW\na\n", b"a\n", b"mine\nNEW\na\n", b"mine\na\n"),
    (b"a\nNEW\nb\n", b"a\nb\n", b"a\nmine\nNEW\nb\n", b"a\nmine\nb\n"),
    (b"a\nNEW\nb\nc\n", b"a\nOLD\nb\nc\n", b"a\nNEW\nb\nC\n", b"a\nOLD\nb\nC\n"),
    (b"a\nNEW\n", b"a\n", b"a\n", b"a\n"),
    (b"", b"", b"x", b"x"),
    (b"NEW\n", b"", b"NEW\nmine", b"mine"),
    (b"a\r\nNEW\r\n", b"a\r\n", b"a\r\nNEW\r\nmine\r\n", b"a\r\nmine\r\n"),
    (b"\xff\nNEW\n", b"\xff\n", b"\0\n\xff\nNEW\n", b"\0\n\xff\n"),
]


@for_each(("base", "ours", "theirs", "wanted"), CLEAN)
def test_joins_what_does_not_meet(base: bytes, ours: bytes, theirs: bytes, wanted: bytes) -> None:
    merged = merge(base, ours, theirs)
    assert (merged.content, merged.meetings) == (wanted, ())


MEETING = [
    (b"a\nNEW\n", b"a\nOLD\n", b"a\nMINE\n", Meeting(2, b"NEW\n", b"OLD\n", b"MINE\n")),
    (b"a\nNEW\n", b"a\n", b"a\nNEW edited\n", Meeting(2, b"NEW\n", b"", b"NEW edited\n")),
    (b"a\n", b"a\nOLD\n", b"a\nMINE\n", Meeting(2, b"", b"OLD\n", b"MINE\n")),
    (b"a\nNEW\n", b"a\n", b"a", Meeting(1, b"a\nNEW\n", b"a\n", b"a")),
    (b"one\ntwo\n", b"", b"one\nmine\ntwo\n", Meeting(1, b"one\ntwo\n", b"", b"one\nmine\ntwo\n")),
    (b"x\nNEW \\\nb\n", b"x\nOLD\nb\n", b"top\nx\nNEW \\\nB\n", Meeting(3, b"NEW \\\nb\n", b"OLD\nb\n", b"NEW \\\nB\n")),
]


@pytest.mark.parametrize(("base", "ours", "theirs", "meeting"), MEETING)
def test_says_where_both_meet(base: bytes, ours: bytes, theirs: bytes, meeting: Meeting) -> None:
    assert merge(base, ours, theirs).meetings == (meeting,)


@given(TEXTS, TEXTS)
def test_one_side_alone_is_that_side(base: bytes, changed: bytes) -> None:
    assert merge(base, base, changed).content == changed
    assert merge(base, changed, base).content == changed
    assert merge(base, changed, changed).content == changed


@given(TEXTS, TEXTS, TEXTS)
def test_neither_side_is_the_first(base: bytes, ours: bytes, theirs: bytes) -> None:
    one, other = merge(base, ours, theirs), merge(base, theirs, ours)
    assert bool(one.meetings) is bool(other.meetings)
    assert one.meetings or one.content == other.content


@given(TEXTS, TEXTS, TEXTS)
def test_every_line_comes_from_one_of_them(base: bytes, ours: bytes, theirs: bytes) -> None:
    known = {line for side in (ours, theirs) for line in side.split(b"\n")}
    merged = merge(base, ours, theirs)
    assert merged.meetings or set(merged.content.split(b"\n")) <= known | {b""}


@given(LINES, LINES, LINES)
def test_what_was_added_at_the_end_goes_and_the_rest_stays(before: bytes, above: bytes, below: bytes) -> None:
    written = before + b"GPUASSIST\n"
    assert merge(written, before, above + written + below).content == above + before + below


def test_thousands_of_equal_lines_are_merged() -> None:
    base = b"x\n" * 1_000
    merged = merge(base + b"NEW\n", base, b"mine\n" + base + b"NEW\n" + b"x\n" * 1_000)
    assert (merged.content, merged.meetings) == (b"mine\n" + base + b"x\n" * 1_000, ())


def test_far_apart_differences_of_a_huge_text_count_as_one() -> None:
    rows = [b"%d\n" % number for number in range(6_000)]
    base, ours = b"".join(rows), b"".join([b"NEW\n", *rows[1:-1], b"NEW\n"])
    assert merge(base, ours, base + b"mine\n").content == ours + b"mine\n"
    assert merge(base, ours, base.replace(b"\n3000\n", b"\nmine\n")).meetings
