"""fish's grammar as far as it is read: words, quotes, blocks, chains, and the place where it is not understood any more."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.shellfiles.fish_parse import FishCommand, FishPiece, parse
from tests.rows import for_each

WORDS = st.sampled_from(["set", "-gx", "PATH", "/a b", "$PATH", '"$HOME/x"', "'it''s'", "(ls)", "\\ ", "é", "#x", "~"])


def commands(seen: str) -> list[FishCommand]:
    return parse(seen).commands


def only(seen: str) -> FishCommand:
    (command,) = commands(seen)
    return command


def plain(seen: str) -> list[list[str]]:
    """The words of each command."""
    return [[word.plain for word in command.words] for command in commands(seen)]


@for_each(
    ("seen", "words"),
    [
        ("a b  c", ["a", "b", "c"]),
        ("a\tb", ["a", "b"]),
        ("a b\r\n", ["a", "b"]),
        ("a 'b c'", ["a", "b c"]),
        ('a "b c"', ["a", "b c"]),
        ("a b'c d'e", ["a", "bc de"]),
        ("a 'it\\'s'", ["a", "it's"]),
        ("a 'b\\\\'", ["a", "b\\"]),
        ("a 'b\\n'", ["a", "b\\n"]),
        ('a "b\\"c"', ["a", 'b"c']),
        ('a "\\$b"', ["a", "$b"]),
        ('a "b\\n"', ["a", "b\\n"]),
        ("a b\\ c", ["a", "b c"]),
        ("a \\$b", ["a", "$b"]),
        ("a ''", ["a", ""]),
        ('a ""', ["a", ""]),
        ("a \\\n b", ["a", "b"]),
        ("a # b", ["a"]),
        ("a b#c", ["a", "b#c"]),
        ("a $b", ["a", ""]),
        ("a (b c)", ["a", ""]),
        ("a $(b 'c)')d", ["a", ""]),
        ('a "x$(b "c")y"', ["a", ""]),
        ("a <b", ["a", "<b"]),
    ],
)
def test_words_are_those_of_fish(seen: str, words: list[str]) -> None:
    assert [word.plain for word in only(seen).words] == words


@pytest.mark.parametrize(
    ("word", "part", "words"),
    [
        ("$PATH", FishPiece.VARIABLE, "PATH"),
        ("$PATH[1]", FishPiece.UNKNOWN, "PATH"),
        ("$$PATH", FishPiece.UNKNOWN, "PATH"),
        ("$PATH[1..-1]", FishPiece.UNKNOWN, "PATH"),
        ("(pwd)", FishPiece.UNKNOWN, ""),
        ("$(pwd)", FishPiece.UNKNOWN, ""),
        ("pwd", FishPiece.BARE, "pwd"),
        ("'pwd'", FishPiece.QUOTED, "pwd"),
        ("\\~", FishPiece.QUOTED, "~"),
        ("$", FishPiece.BARE, "$"),
    ],
)
def test_piece_is_known_for_what_it_is(word: str, part: FishPiece, words: str) -> None:
    (piece,) = only(f"echo {word}").words[1].pieces
    assert (piece.part, piece.words, piece.written) == (part, words, word)


@for_each(
    ("seen", "found"),
    [
        ("a; b", [["a"], ["b"]]),
        ("a\n\n\nb\n", [["a"], ["b"]]),
        ("a & b", [["a"], ["b"]]),
        ("a && b || c", [["a"], ["b"], ["c"]]),
        ("a | b", [["a"], ["b"]]),
        ("if a; b; end", [["if"], ["a"], ["b"], ["end"]]),
        ("for x in 1 2; a; end", [["for", "x", "in", "1", "2"], ["a"], ["end"]]),
        ("function f --on-event x; a; end", [["function", "f", "--on-event", "x"], ["a"], ["end"]]),
        ("not a", [["not"], ["a"]]),
        ("", []),
        ("# nothing", []),
        (" ;;\n ", []),
    ],
)
def test_commands_are_told_apart(seen: str, found: list[list[str]]) -> None:
    assert plain(seen) == found


@pytest.mark.parametrize(
    ("seen", "blocks"),
    [
        ("a", []),
        ("if true; a; end", ["if"]),
        ("if true; else; a; end", ["if"]),
        ("if true; else if false; a; end", ["if"]),
        ("while true; begin; a; end; end", ["while", "begin"]),
        ("function f; switch x; case y; a; end; end", ["function", "switch"]),
        ("{ a; }", ["{"]),
    ],
)
def test_command_knows_the_blocks_around_it(seen: str, blocks: list[str]) -> None:
    found = next(command for command in commands(seen) if command.words[0].plain == "a")
    assert [block.keyword for block in found.blocks] == blocks


@pytest.mark.parametrize(
    ("seen", "linked"),
    [
        ("a; b", False),
        ("a\nb", False),
        ("a && b", True),
        ("a || b", True),
        ("a | b", True),
        ("a; and b", True),
        ("a; or b", True),
        ("a &&\nb", True),
        ("a & b", False),
        ("if a; b; end", False),
        ("if b; end", True),
    ],
)
def test_command_that_hangs_on_another_says_so(seen: str, linked: bool) -> None:
    found = next(command for command in commands(seen) if command.words[0].plain == "b")
    assert found.linked is linked
    assert (found.chain < found.first) is linked


@pytest.mark.parametrize(
    ("seen", "place"),
    [
        ("a\nb 'c", 4),
        ('a "b', 2),
        ("a (b", 2),
        ("a $(b", 2),
        ("end", 0),
        ("a\nend\nb", 2),
        ("if true\na\n", 0),
        ("a; function f; if x; end", 3),
        ("a 'b'\n", -1),
    ],
)
def test_place_that_is_not_understood_is_told(seen: str, place: int) -> None:
    assert parse(seen).error == place


def test_backslash_at_the_very_end_ends_there() -> None:
    assert only("set x \\").end == len("set x \\")


def test_comments_are_told_with_their_ends() -> None:
    seen = "a # one\n#two"
    assert [seen[first:end] for first, end in parse(seen).comments] == ["# one", "#two"]


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_every_word_is_where_it_says(words: list[str]) -> None:
    seen = " ".join(["echo", *words])
    for command in commands(seen):
        for word in command.words:
            written = "".join(piece.written for piece in word.pieces)
            assert seen[word.first : word.end].replace('"', "") == written  # double quotes are around pieces, not of them


@given(st.text(alphabet="ab $'\"()\\\n;&|#{}[]~endif", max_size=60))
def test_any_text_ends_and_stays_in_order(seen: str) -> None:
    found = parse(seen)
    ends = [(command.first, command.end) for command in found.commands]
    assert all(first < end <= len(seen) for first, end in ends)
    assert all(one[1] <= other[0] for one, other in pairwise(ends))
    assert -1 <= found.error < max(1, len(seen))
