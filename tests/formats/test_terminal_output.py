"""What programs print on a terminal, put together to lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.terminal_output import LINE_AT_MOST, Printed, PrintedLines
from gpuassist.install.run_view import RunView
from tests.rows import for_each


def read(*pieces: bytes) -> list[Printed]:
    """All lines of these pieces."""
    lines = PrintedLines()
    return [*(line for piece in pieces for line in lines.feed(piece)), *lines.close()]


def ended(*pieces: bytes) -> list[str]:
    """The finished ones."""
    return [line.text for line in read(*pieces) if line.ended]


@for_each(
    ("pieces", "expected"),
    [
        ((b"one\ntwo\n",), ["one", "two"]),
        ((b"on", b"e\ntw", b"o\n"), ["one", "two"]),
        ((b"one\r\ntwo\r\n",), ["one", "two"]),
        ((b"one\r", b"\ntwo\n"), ["one", "two"]),
        ((b"10%\r20%\r100%\n",), ["100%"]),
        ((b"10%\r", b"20%\r", b"100%\n"), ["100%"]),
        ((b"10%\r\x1b[2K20%\x1b[", b"0m\n"), ["20%"]),
        ((b"\x1b[31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n",), ["red link"]),
        ((b"tab\tstays\n",), ["tab\tstays"]),
        ((b"a\x00b\x07\x9b\n",), ["ab�"]),
        ((b"\xe4\xbd", b"\xa0\n"), ["你"]),
        ((b"\xff\n",), ["�"]),
        ((b"\n\n",), ["", ""]),
        ((b"never finished",), ["never finished"]),
        ((b"",), []),
    ],
)
def test_pieces_become_lines(pieces: tuple[bytes, ...], expected: list[str]) -> None:
    assert ended(*pieces) == expected


def test_an_unfinished_line_is_shown_and_replaced() -> None:
    lines = PrintedLines()
    assert lines.feed(b"Downloading 10%\r") == [Printed("Downloading 10%", ended=False)]
    assert lines.feed(b"Downloading 20%\r") == [Printed("Downloading 20%", ended=False)]
    assert lines.feed(b"\n") == [Printed("Downloading 20%")]


def test_the_same_progress_is_not_told_twice() -> None:
    lines = PrintedLines()
    assert lines.feed(b"10%\r")
    assert lines.feed(b"10%\r") == []


def test_going_up_says_how_many_lines_are_replaced() -> None:
    assert read(b"one\ntwo\n", b"\x1b[2A\x1b[2Kone more\n")[2:] == [
        Printed("one more", back=2),
        Printed("two", ended=False),
        Printed("two"),
    ]


def test_going_up_in_an_unfinished_line_counts_once() -> None:
    backs = [line.back for line in read(b"one\n", b"\x1b[Ahalf", b" done\n")]
    assert sum(backs) == 1


def test_a_line_without_end_is_broken() -> None:
    pieces = [b"x" * 50_000] * 20
    assert max(len(line) for line in ended(*pieces)) <= LINE_AT_MOST
    assert sum(len(line) for line in ended(*pieces)) == 1_000_000


def test_progress_of_megabytes_stays_one_line() -> None:
    pieces = [b"%06d of 1000000 |#####     |\r" % number for number in range(20_000)]
    assert ended(b"".join(pieces)) == ["019999 of 1000000 |#####     |"]


@given(st.lists(st.binary(max_size=40)))
def test_any_bytes_give_lines_that_can_be_shown(pieces: list[bytes]) -> None:
    for line in read(*pieces):
        assert all(character.isprintable() or not character.isascii() or character == "\t" for character in line.text)
        assert "\n" not in line.text


@given(st.text(alphabet="ab\n", max_size=60), st.integers(1, 7))
def test_pieces_make_no_difference(words: str, size: int) -> None:
    whole = words.encode()
    assert ended(*(whole[start : start + size] for start in range(0, len(whole), size))) == ended(whole)


TOKENS = st.sampled_from(
    ("a", "bc", "\r", "\n", "\x1b[2K", "\x1b[31m", "\x1b[1A", "\x1b[2F", "\x1b]0;title\x07", "é", "\t", "\x07")
)


@given(st.lists(TOKENS, max_size=30), st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_escapes_cut_anywhere_are_drawn_the_same(tokens: list[str], sizes: list[int]) -> None:
    whole = "".join(tokens).encode()
    pieces, start, turn = [], 0, 0
    while start < len(whole):
        size = sizes[turn % len(sizes)]
        pieces.append(whole[start : start + size])
        start, turn = start + size, turn + 1
    assert drawn(*pieces) == drawn(whole)


def drawn(*pieces: bytes) -> tuple[str, ...]:
    """What somebody sees in the end."""
    view = RunView()
    view.add_all(read(*pieces))
    return tuple("\n".join(view.lines()).rstrip("\n").split("\n"))


# As the tools print them on a terminal.
PIP = (
    b"Collecting torch==2.9.1\r\n"
    b"  Downloading torch-2.9.1-cp312-cp312-manylinux_2_28_x86_64.whl (899.8 MB)\r\n"
    b"\x1b[?25l     \x1b[90m\xe2\x94\x81\xe2\x94\x81\x1b[0m \x1b[32m0.0/899.8 MB\x1b[0m \x1b[31m?\x1b[0m eta \x1b[36m-:--:--\x1b[0m"
    b"\r\x1b[2K     \x1b[91m\xe2\x94\x81\xe2\x95\xb8\x1b[0m \x1b[32m450.1/899.8 MB\x1b[0m \x1b[31m45.1 MB/s\x1b[0m eta 0:00:10"
    b"\r\x1b[2K     \x1b[90m\xe2\x94\x81\xe2\x94\x81\x1b[0m \x1b[32m899.8/899.8 MB\x1b[0m \x1b[31m45.1 MB/s\x1b[0m eta 0:00:00"
    b"\r\n\x1b[?25hInstalling collected packages: torch\r\nSuccessfully installed torch-2.9.1\r\n"
)
UV = (
    b"\x1b[2mResolved \x1b[1m3 packages\x1b[0m \x1b[2min 12ms\x1b[0m\n"
    b"\x1b[2mtorch     \x1b[0m ------------------------------     0 B/899.8 MB\r\x1b[2K\n"
    b"\x1b[1A\x1b[2mtorch     \x1b[0m \x1b[32m---------------\x1b[0m--------------- 450.1 MB/899.8 MB\n"
    b"\x1b[1A\x1b[2K\x1b[2mPrepared \x1b[1m1 package\x1b[0m \x1b[2min 20.1s\x1b[0m\n"
    b" \x1b[32m+\x1b[39m \x1b[1mtorch\x1b[0m\x1b[2m==2.9.1+cu128\x1b[0m\n"
)
DOCKER = (
    b"25.10-py3: Pulling from nvidia/pytorch\r\n"
    b"aaa: Pulling fs layer\r\nbbb: Pulling fs layer\r\n"
    b"\x1b[2A\x1b[2K\raaa: Downloading  10MB/20MB\x1b[2B\r"
    b"\x1b[2A\x1b[2K\raaa: Pull complete\r\n\x1b[2K\rbbb: Pull complete\r\n"
    b"Digest: sha256:00\r\n"
)


@pytest.mark.parametrize("size", [1, 3, 17, 10_000])
def test_pip_shows_one_line_of_progress(size: int) -> None:
    assert drawn(*(PIP[start : start + size] for start in range(0, len(PIP), size))) == (
        "Collecting torch==2.9.1",
        "  Downloading torch-2.9.1-cp312-cp312-manylinux_2_28_x86_64.whl (899.8 MB)",
        "     ━━ 899.8/899.8 MB 45.1 MB/s eta 0:00:00",
        "Installing collected packages: torch",
        "Successfully installed torch-2.9.1",
    )


@pytest.mark.parametrize("size", [1, 3, 17, 10_000])
def test_uv_draws_over_its_lines(size: int) -> None:
    assert drawn(*(UV[start : start + size] for start in range(0, len(UV), size))) == (
        "Resolved 3 packages in 12ms",
        "Prepared 1 package in 20.1s",
        " + torch==2.9.1+cu128",
    )


def test_docker_keeps_its_layers_apart() -> None:
    seen = drawn(DOCKER)
    assert seen[0] == "25.10-py3: Pulling from nvidia/pytorch"
    assert seen[-3:] == ("aaa: Pull complete", "bbb: Pull complete", "Digest: sha256:00")
