"""The edit as a pure function: twice is once, taking back gives the original, and no other byte moves."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.shellfiles.bash import Place, read
from gpuassist.shellfiles.block import cuda_lines, find, render
from gpuassist.shellfiles.edit import Lines, change_lines, mentions, take_back, write

BLOCK = cuda_lines("/usr/local/cuda-12.4", "")
OLDER = cuda_lines("/usr/local/cuda-11.8", "")
LINE = b"export PATH=/usr/local/cuda-11.7/bin:$PATH\n"


def _retire_all(content: bytes) -> tuple[Lines, ...]:
    """Every statement that could be retired: more than anybody ticks."""
    ours = find(content)
    statements = read(content, {}).statements
    return tuple(
        Lines(one.first_byte, one.end_byte, nested=one.place not in {Place.TOP, Place.CONDITION})
        for one in statements
        if not one.shared and (ours is None or not ours.first_byte <= one.first_byte < ours.end_byte)
    )


def _use(content: bytes, change: str = "one", block: tuple[bytes, ...] = BLOCK) -> bytes:
    return write(content, block, _retire_all(content), change)


def test_retires_a_line_and_appends_the_block() -> None:
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


@pytest.mark.parametrize("content", FILES)
def test_twice_is_once(content: bytes) -> None:
    once = _use(content)
    assert _use(once, "two") == once


@pytest.mark.parametrize("content", FILES)
def test_taking_back_gives_the_original(content: bytes) -> None:
    assert take_back(_use(content)) == content
    assert take_back(_use(content), "one") == content


@pytest.mark.parametrize("content", FILES)
def test_the_block_comes_last(content: bytes) -> None:
    after = _use(content)
    block = find(after)
    assert block is not None
    assert block.end_byte == len(after)


@pytest.mark.parametrize("content", FILES)
def test_every_other_line_stays(content: bytes) -> None:
    after = _use(content).split(b"\n")
    retired = b"".join(content[lines.first_byte : lines.end_byte] for lines in _retire_all(content)).split(b"\n")
    for line in content.split(b"\n"):
        assert line in after or line in retired


@pytest.mark.parametrize(
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


def test_a_retired_line_does_nothing() -> None:
    script = _use(b"if true; then\n  export CUDA_HOME=/old\nfi\n") + b'echo "$CUDA_HOME"\n'
    done = subprocess.run(["bash", "--norc"], input=script, capture_output=True, timeout=100, env={"PATH": "/usr/bin"})
    assert done.stdout == b"/usr/local/cuda-12.4\n"


def test_another_toolkit_takes_the_blocks_place() -> None:
    both = _use(_use(b"a\n", "one", OLDER), "two", BLOCK)
    assert both == b"a\n" + render("two", 0, BLOCK)


def test_a_block_moves_below_what_was_added() -> None:
    edited = _use(b"a\n") + b"export PATH=/later:$PATH\n"
    after = write(edited, BLOCK, (), "two")
    assert after == b"a\nexport PATH=/later:$PATH\n" + render("two", 0, BLOCK)


def test_taking_back_keeps_what_was_added_below() -> None:
    assert take_back(_use(b"a\n") + b"b\n") == b"a\nb\n"


def test_taking_back_does_not_join_lines() -> None:
    assert take_back(_use(b"no newline") + b"b\n") == b"no newline\nb\n"


def test_taking_back_keeps_changes_above() -> None:
    assert take_back(b"new\n" + _use(b"a\n" + LINE)) == b"new\na\n" + LINE


def test_one_change_alone_is_taken_back() -> None:
    first = write(LINE, OLDER, _retire_all(LINE), "one")
    edited = LINE + first
    second = write(edited, BLOCK, (Lines(0, len(LINE), nested=False),), "two")
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


NEW = b"export PATH=/usr/local/cuda-12.4/bin:$PATH"


def _rewrite_all(content: bytes, change: str = "one", instead: bytes = NEW) -> bytes:
    """Every statement in the place of which nothing was written yet is rewritten."""
    return change_lines(content, (replace(lines, instead=(instead,)) for lines in _retire_all(content)), change)


def test_a_rewritten_line_stands_below_the_old_one() -> None:
    expected = b"a\n# gpuassist retired one: " + LINE + NEW + b" # gpuassist rewrote one\nb\n"
    assert _rewrite_all(b"a\n" + LINE + b"b\n") == expected


@pytest.mark.parametrize("content", FILES)
def test_a_rewritten_file_comes_back(content: bytes) -> None:
    after = _rewrite_all(content)
    assert take_back(after) == content
    assert take_back(after, "one") == content
    assert take_back(write(after, BLOCK, (), "one"), "one") == content


def test_a_rewritten_line_in_a_branch_leaves_no_empty_branch() -> None:
    after = _rewrite_all(b"if true; then\n" + LINE + b"fi\n")
    assert b": #" not in after
    assert subprocess.run(["bash", "--norc", "-n"], input=after, timeout=100).returncode == 0


ORDERS = [("one", "two"), ("two", "one")]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "content", [LINE, b"a\n" + LINE + b"b\n", b"export CUDA_HOME=/a\n" + LINE, b"export PATH=/a:\\\n/b:$PATH\n"]
)
def test_a_line_rewritten_twice_comes_back_in_any_order(content: bytes, order: tuple[str, str]) -> None:
    twice = _rewrite_all(_rewrite_all(content, "one"), "two", NEW + b":/two")
    assert take_back(take_back(twice, order[0]), order[1]) == content
    assert take_back(twice) == content


@pytest.mark.parametrize("order", ORDERS)
def test_a_line_rewritten_then_retired_comes_back_in_any_order(order: tuple[str, str]) -> None:
    content = b"if true; then\n" + LINE + b"fi\n"
    both = change_lines(_rewrite_all(content, "one"), _retire_all(_rewrite_all(content, "one")), "two")
    assert take_back(take_back(both, order[0]), order[1]) == content


def test_taking_back_the_first_keeps_the_second() -> None:
    twice = _rewrite_all(_rewrite_all(LINE, "one"), "two", b"newer")
    assert take_back(twice, "one") == b"# gpuassist retired two: " + LINE + b"newer # gpuassist rewrote two\n"


def test_a_rewritten_line_goes_where_its_comment_was_taken_out() -> None:
    assert take_back(b"a\n" + NEW + b" # gpuassist rewrote one\nb\n", "one") == b"a\nb\n"


def test_a_rewritten_line_is_mentioned() -> None:
    after = _rewrite_all(LINE)
    assert mentions(after, "one")
    assert not mentions(after, "two")


def test_no_block_takes_the_old_one_out() -> None:
    assert write(_use(b"a\n"), (), (), "two") == b"a\n"


def test_lines_change_and_the_block_stays() -> None:
    after = change_lines(write(LINE, BLOCK, (), "one"), (Lines(0, len(LINE), nested=False),), "two")
    assert find(after) is not None
    assert after.startswith(b"# gpuassist retired two: " + LINE)


def test_lines_that_overlap_are_changed_once() -> None:
    both = (Lines(0, len(LINE) * 2, nested=False), Lines(len(LINE), len(LINE) * 2, nested=False))
    after = change_lines(LINE + LINE, both, "one")
    assert after.count(b"retired one") == 2
    assert take_back(after, "one") == LINE + LINE


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


@settings(max_examples=80, deadline=None)
@given(st.one_of(BYTES, PIECES), st.sampled_from(ORDERS))
def test_any_file_rewritten_twice_comes_back(content: bytes, order: tuple[str, str]) -> None:
    twice = _rewrite_all(_rewrite_all(content, "one"), "two", NEW + b":/two")
    assert take_back(twice) == content
    assert take_back(take_back(twice, order[0]), order[1]) == content


@settings(max_examples=80, deadline=None)
@given(PIECES)
def test_two_changes_come_back_as_one(content: bytes) -> None:
    assert take_back(_use(_use(content, "one", OLDER), "two", BLOCK)) == content
