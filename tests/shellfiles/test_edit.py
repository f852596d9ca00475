"""The edit as a pure function: twice is once, taking back gives the original, and no other byte moves."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.shellfiles.bash import read
from gpuassist.shellfiles.block import find, render
from gpuassist.shellfiles.edit import LineChanges, Lines, Replacement, change_lines, mentions, take_back, write
from gpuassist.shellfiles.statements import StatementPlace
from tests.rows import for_each
from tests.shellfiles.written import NO_LINES, block_lines, older_file, older_lines

BLOCK = block_lines("/usr/local/cuda-12.4")
OLDER = block_lines("/usr/local/cuda-11.8")
LINE = b"export PATH=/usr/local/cuda-11.7/bin:$PATH\n"


def _comment_all(content: bytes) -> LineChanges:
    """Every statement that could be commented out: more than anybody ticks."""
    ours = find(content)
    statements = read(content, {}).statements
    return LineChanges(
        tuple(
            Lines(one.first_byte, one.end_byte, nested=one.place not in {StatementPlace.TOP, StatementPlace.CONDITION})
            for one in statements
            if not one.shared and (ours is None or not ours.first_byte <= one.first_byte < ours.end_byte)
        )
    )


def _use(content: bytes, change: str = "one", block: tuple[bytes, ...] = BLOCK) -> bytes:
    return write(content, block, _comment_all(content), change)


def test_comments_a_line_out_and_appends_the_block() -> None:
    expected = b"a\n# gpuassist retired one: " + LINE + b"b\n" + render("one", 0, BLOCK)
    assert _use(b"a\n" + LINE + b"b\n") == expected


def test_leaves_a_file_without_lines_as_it_was() -> None:
    assert _use(b"# mine\nalias x=y\n").startswith(b"# mine\nalias x=y\n# >>> gpuassist")


FILES = [
    b"",
    b"\n",
    b"a\n",
    b"no newline at the end",
    LINE,
    LINE.rstrip(),
    b"\xef\xbb\xbf# bom\n" + LINE,
    b"# caf\xe9\n" + LINE,
    LINE.replace(b"\n", b"\r\n") + b"x\r\n",
    b"x\r\n" + LINE.rstrip() + b"\r",
    b"a\0b\n" + LINE,
    b"ends in a backslash \\",
    b"ends in a backslash \\\n",
    b"two backslashes \\\\\n",
    b"\n\n\n",
    b"  " + LINE,
    b"export PATH=/a:\\\n/b:$PATH\nx\n",
    b"if x; then\n  " + LINE + b"fi\n",
    b"f() {\n" + LINE + b"}\n",
    LINE + b"\xff\xfe",
    b"cat <<EOF\n" + LINE + b"EOF\n",
    b"export CUDA_HOME=/c; export PATH=/c:$PATH\n",
]


@for_each("content", FILES)
def test_twice_is_once(content: bytes) -> None:
    once = _use(content)
    assert _use(once, "two") == once


@for_each("content", FILES)
def test_taking_back_gives_the_original(content: bytes) -> None:
    assert take_back(_use(content)) == content
    assert take_back(_use(content), "one") == content


@for_each("content", FILES)
def test_the_block_comes_last(content: bytes) -> None:
    after = _use(content)
    block = find(after)
    assert block is not None
    assert block.end_byte == len(after)


@for_each("content", FILES)
def test_every_other_line_stays(content: bytes) -> None:
    after = _use(content).split(b"\n")
    lines = _comment_all(content).commented
    commented = b"".join(content[one.first_byte : one.end_byte] for one in lines).split(b"\n")
    for line in content.split(b"\n"):
        assert line in after or line in commented


@for_each(
    "content",
    [
        b"if true; then\n" + LINE + b"fi\n",
        b"if true; then\n :\nelse\n" + LINE + b"fi\n",
        b"f() {\n" + LINE + b"}\n",
        b"for x in 1; do\n" + LINE + b"done\n",
        b"while false; do\n" + LINE + b"done\n",
        b"case x in\n y)\n" + LINE + b" ;;\nesac\n",
        b"(\n" + LINE + b")\n",
        b"{\n" + LINE + b"}\n",
        b"if true; then\n  export PATH=/a:\\\n/b\nfi\n",
        b"if true; then\n[ -d /a ] &&\n  " + LINE + b"fi\n",
        b"[ -d /a ] &&\n  " + LINE,
        b"ends in a backslash \\",
        b"echo a\\",
    ],
)
def test_the_result_parses_where_the_original_did(content: bytes) -> None:
    for candidate in (content, _use(content)):
        done = subprocess.run(["bash", "--norc", "-n"], input=candidate, capture_output=True, timeout=100)
        assert done.returncode == 0, done.stderr


def test_a_line_that_is_commented_out_does_nothing() -> None:
    script = _use(b"if true; then\n  export CUDA_HOME=/old\nfi\n") + b'echo "$CUDA_HOME"\n'
    done = subprocess.run(["bash", "--norc"], input=script, capture_output=True, timeout=100, env={"PATH": "/usr/bin"})
    assert done.stdout == b"/usr/local/cuda-12.4\n"


def test_another_toolkit_takes_the_blocks_place() -> None:
    both = _use(_use(b"a\n", "one", OLDER), "two", BLOCK)
    assert both == b"a\n" + render("two", 0, BLOCK)


def test_a_block_moves_below_what_was_added() -> None:
    edited = _use(b"a\n") + b"export PATH=/later:$PATH\n"
    after = write(edited, BLOCK, NO_LINES, "two")
    assert after == b"a\nexport PATH=/later:$PATH\n" + render("two", 0, BLOCK)


def test_taking_back_keeps_what_was_added_below() -> None:
    assert take_back(_use(b"a\n") + b"b\n") == b"a\nb\n"


def test_taking_back_does_not_join_lines() -> None:
    assert take_back(_use(b"no newline") + b"b\n") == b"no newline\nb\n"


def test_taking_back_keeps_changes_above() -> None:
    assert take_back(b"new\n" + _use(b"a\n" + LINE)) == b"new\na\n" + LINE


def test_one_change_alone_is_taken_back() -> None:
    first = write(LINE, OLDER, _comment_all(LINE), "one")
    edited = LINE + first
    second = write(edited, BLOCK, LineChanges((Lines(0, len(LINE)),)), "two")
    without = take_back(second, "one")
    assert without == second.replace(b"# gpuassist retired one: ", b"")
    assert mentions(without, "two")
    assert not mentions(without, "one")


def test_an_earlier_block_comes_back() -> None:
    first = _use(b"a\n", "one", OLDER)
    second = _use(first, "two", BLOCK)
    assert take_back(second + b"b\n", "two", find(first)) == b"a\nb\n" + render("one", 0, OLDER)


def test_an_unknown_change_takes_nothing_back() -> None:
    content = _use(LINE)
    assert take_back(content, "other") == content


@pytest.mark.parametrize(
    "line", [b"# gpuassist retired", b"# gpuassist retired x", b"# gpuassist retired two words: x", b" # gpuassist retired x: y"]
)
def test_a_comment_that_resembles_ours_stays(line: bytes) -> None:
    assert take_back(line + b"\n") == line + b"\n"


OLD_WORD, NEW_WORD = b"/usr/local/cuda-11.7", b"/usr/local/cuda-12.4"


def _replace_all(content: bytes, old: bytes = OLD_WORD, new: bytes = NEW_WORD) -> LineChanges:
    """The word wherever it stands, whatever it stands in."""
    places = (place for place in range(len(content)) if content.startswith(old, place))
    return LineChanges(replaced=tuple(Replacement(place, place + len(old), new) for place in places))


def test_a_replaced_word_leaves_no_mark() -> None:
    content = b"a\n" + LINE + b"b\n"
    assert change_lines(content, _replace_all(content), "one") == content.replace(OLD_WORD, NEW_WORD)


def test_a_word_of_a_line_that_is_commented_out_stays() -> None:
    content = LINE + LINE
    changes = LineChanges((Lines(0, len(LINE)),), _replace_all(content).replaced)
    assert change_lines(content, changes, "one") == b"# gpuassist retired one: " + LINE + LINE.replace(OLD_WORD, NEW_WORD)


def test_the_same_word_of_two_statements_is_replaced_once() -> None:
    content = b"export CUDA_HOME=/c; export PATH=/c:$PATH\n"
    words = _replace_all(content, b"/c", b"/longer").replaced
    assert change_lines(content, LineChanges(replaced=(*words, *words)), "one") == content.replace(b"/c", b"/longer")


PLACES = [(b"exec fish\n", b"a\n"), (LINE, b"exec fish\n" + LINE), (b"", LINE), (b"a\n", b"exec fish"), (b"a\n", b"return\n\n")]


@pytest.mark.parametrize(("above", "below"), PLACES)
def test_the_block_stands_where_it_is_read(above: bytes, below: bytes) -> None:
    content = above + below
    changes = _replace_all(content)
    after = write(content, BLOCK, changes, "one", place=len(above))
    assert after == (above + render("one", 0, BLOCK) + below).replace(OLD_WORD, NEW_WORD)
    assert take_back(after) == content.replace(OLD_WORD, NEW_WORD)
    assert write(after, BLOCK, NO_LINES, "two", place=after.index(render("one", 0, BLOCK)) + len(render("one", 0, BLOCK))) == after


def test_a_block_at_the_end_moves_in_front_of_what_ends_the_file() -> None:
    before = b"a\nexec fish\n" + render("one", 0, BLOCK)
    assert write(before, BLOCK, NO_LINES, "two", place=2) == b"a\n" + render("two", 0, BLOCK) + b"exec fish\n"


def test_a_block_of_before_is_replaced_and_taken_back() -> None:
    older = b"a\n" + older_file("one", older_lines("/usr/local/cuda-11.8"))
    after = write(older, BLOCK, NO_LINES, "two")
    assert after == b"a\n" + render("two", 0, BLOCK)
    assert take_back(older) == b"a\n"


def test_no_block_takes_the_old_one_out() -> None:
    assert write(_use(b"a\n"), (), NO_LINES, "two") == b"a\n"


def test_lines_change_and_the_block_stays() -> None:
    after = change_lines(write(LINE, BLOCK, NO_LINES, "one"), LineChanges((Lines(0, len(LINE)),)), "two")
    assert find(after) is not None
    assert after.startswith(b"# gpuassist retired two: " + LINE)


def test_lines_that_overlap_are_changed_once() -> None:
    both = LineChanges((Lines(0, len(LINE) * 2), Lines(len(LINE), len(LINE) * 2)))
    after = change_lines(LINE + LINE, both, "one")
    assert after.count(b"retired one") == 2
    assert take_back(after, "one") == LINE + LINE


# What versions before 1.1 left: a line of the user's as a comment, below it the line in its place with the change at its end.
NEW = LINE.replace(OLD_WORD, NEW_WORD).rstrip()
REWRITTEN = b"# gpuassist retired one: " + LINE + NEW + b" # gpuassist rewrote one\n"
REPLACED = b"# gpuassist retired two: " + NEW + b" # gpuassist rewrote one\n"
TWICE = b"# gpuassist retired one: " + LINE + REPLACED + NEW + b":/two # gpuassist rewrote two\n"
NESTED = (
    b"if true; then\n# gpuassist retired one: " + LINE + b": # gpuassist retired two: " + NEW + b" # gpuassist rewrote one\nfi\n"
)


@pytest.mark.parametrize("around", [(b"", b""), (b"a\n", b"b\n"), (b"if true; then\n", b"fi\n"), (b"x\r\n", b"y")])
def test_a_line_rewritten_by_a_version_of_before_comes_back(around: tuple[bytes, bytes]) -> None:
    above, below = around
    for change in ("", "one"):
        assert take_back(above + REWRITTEN + below, change) == above + LINE + below
    assert take_back(write(above + REWRITTEN, BLOCK, NO_LINES, "one"), "one") == above + LINE


ORDERS = [("one", "two"), ("two", "one")]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("content", "wanted"), [(TWICE, LINE), (NESTED, b"if true; then\n" + LINE + b"fi\n")])
def test_a_line_that_two_of_them_changed_comes_back_in_any_order(order: tuple[str, str], content: bytes, wanted: bytes) -> None:
    assert take_back(content) == wanted
    assert take_back(take_back(content, order[0]), order[1]) == wanted


def test_taking_back_the_first_keeps_the_second() -> None:
    assert take_back(TWICE, "one") == b"# gpuassist retired two: " + LINE + NEW + b":/two # gpuassist rewrote two\n"


def test_a_rewritten_line_goes_where_its_comment_was_taken_out() -> None:
    assert take_back(b"a\n" + NEW + b" # gpuassist rewrote one\nb\n", "one") == b"a\nb\n"


def test_a_rewritten_line_is_mentioned() -> None:
    assert mentions(REWRITTEN, "one")
    assert not mentions(REWRITTEN, "two")


# hypothesis tries our own markers too; what happens with those is said in test_block.py
BYTES = st.binary(max_size=200).filter(lambda content: b"gpuassist" not in content)
PIECES = st.lists(
    st.sampled_from(
        [
            LINE,
            b"a\n",
            b"\n",
            b"if true; then\n",
            b"fi\n",
            b"  export CUDA_HOME=/c\n",
            b"\\",
            b"\r\n",
            b"cat <<EOF\n",
            b"EOF\n",
            b"\xff",
            b"\0",
            b"f() {\n",
            b"}\n",
            b"'",
            b'"',
            b": ",
            b"# c",
            b"PATH=/a && CUDA_HOME=/b\n",
            b"export PATH=/x:\\\n/y:$PATH\n",
        ]
    ),
    max_size=14,
).map(b"".join)


@settings(max_examples=80, deadline=None)
@given(st.one_of(BYTES, PIECES))
def test_any_file_twice_is_once(content: bytes) -> None:
    once = _use(content)
    assert _use(once, "two") == once


@settings(max_examples=80, deadline=None)
@given(st.one_of(BYTES, PIECES))
def test_any_file_comes_back(content: bytes) -> None:
    assert take_back(_use(content)) == content


@settings(max_examples=80, deadline=None)
@given(PIECES, PIECES)
def test_any_addition_below_survives(content: bytes, below: bytes) -> None:
    taken = take_back(_use(content) + below)
    assert taken.startswith(content)
    assert taken.endswith(below)


WHOLE = st.lists(st.sampled_from([LINE, b"a\n", b"\n", b"exec fish\n", b"# caf\xe9\n", b"  " + LINE, b"x\r\n"]), max_size=8)


@settings(max_examples=80, deadline=None)
@given(WHOLE, WHOLE, st.data())
def test_every_byte_outside_what_is_changed_stays(above: list[bytes], below: list[bytes], data: st.DataObject) -> None:
    """Rows are left alone, have their word replaced, or are commented out; the block stands anywhere between rows."""
    rows = [*above, *below]
    fates = data.draw(st.lists(st.sampled_from(["keep", "word", "comment"]), min_size=len(rows), max_size=len(rows)))
    commented: list[Lines] = []
    replaced: list[Replacement] = []
    wanted: list[bytes] = []
    first = 0
    for row, fate in zip(rows, fates, strict=True):
        word = row.find(OLD_WORD)
        if fate == "comment":
            commented.append(Lines(first, first + len(row)))
            row_after = b"# gpuassist retired one: " + row
        elif fate == "word" and word >= 0:
            replaced.append(Replacement(first + word, first + word + len(OLD_WORD), NEW_WORD))
            row_after = row.replace(OLD_WORD, NEW_WORD)
        else:
            row_after = row
        wanted.append(row_after)
        first += len(row)
    place = len(b"".join(above))
    after = write(b"".join(rows), BLOCK, LineChanges(tuple(commented), tuple(replaced)), "one", place=place)
    assert after == b"".join((*wanted[: len(above)], render("one", 0, BLOCK), *wanted[len(above) :]))


@settings(max_examples=80, deadline=None)
@given(PIECES)
def test_two_changes_come_back_as_one(content: bytes) -> None:
    assert take_back(_use(_use(content, "one", OLDER), "two", BLOCK)) == content
