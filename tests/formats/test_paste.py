"""What comes out of what people paste: text, whatever its encoding, its colours, its length."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.paste import Gathering, read_paste

MESSAGE = "RuntimeError: CUDA error: 显存不足 é\nline two\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marked_encodings_are_read(encoding: str) -> None:
    assert read_paste(MESSAGE.encode(encoding)).words == MESSAGE


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_text_without_a_mark_is_read(encoding: str) -> None:
    plain = "nvcc fatal   : Unsupported gpu architecture 'compute_89'\n"
    assert read_paste(plain.encode(encoding)).words == plain


def test_latin_bytes_are_read() -> None:
    assert read_paste("Bibliothèque introuvable: libcuda.so.1\n".encode("latin-1")).words.startswith("Bibliothèque intro")


def test_one_damaged_byte_leaves_the_rest() -> None:
    words = read_paste("显存不足 显存不足".encode() + b"\xff CUDA out of memory").words
    assert words.startswith("显存不足")
    assert words.endswith("CUDA out of memory")


@pytest.mark.parametrize(
    ("pasted", "read"),
    [
        ("\x1b[1;31mnvcc fatal\x1b[0m : x", "nvcc fatal : x"),
        ("\x1b[38;2;255;0;0mred\x1b[m", "red"),
        ("\x1b]0;a title\x07prompt$", "prompt$"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\ text", "link text"),
        ("\x1b(B\x1b[?25lhidden\x1b[?25h", "hidden"),
        ("\x1b7saved\x1b8", "saved"),
        ("\x1bPdevice\x1b\\control", "control"),
        ("cut \x1b[1", "cut 1"),
    ],
)
def test_escapes_are_taken_out(pasted: str, read: str) -> None:
    assert read_paste(pasted).words.replace("[", "") == read


def test_windows_line_ends_become_plain() -> None:
    assert read_paste("one\r\ntwo\r\n").words == "one\ntwo\n"


def test_old_line_ends_become_plain() -> None:
    assert read_paste("one\rtwo words\rthree").words == "one\ntwo words\nthree"


@pytest.mark.parametrize(
    "bar",
    [
        "\r 10%|#         | 1/10\r 50%|#####     | 5/10\r100%|##########| 10/10",
        "Downloading 1.2 MB\rDownloading 5.0 MB\r100%|##########| 10/10",
        "\r|\r/\r-\r\\\r100%|##########| 10/10",
    ],
)
def test_progress_bar_shows_its_last_state(bar: str) -> None:
    assert read_paste(f"{bar}\nnext").words == "100%|##########| 10/10\nnext"


def test_error_on_the_line_of_a_bar_is_kept() -> None:
    words = read_paste(" 10%|# | 1/10\r 20%|## | 2/10\r 30%|### | 3/10RuntimeError: CUDA out of memory\n").words
    assert words == " 30%|### | 3/10RuntimeError: CUDA out of memory\n"


def test_overstruck_words_are_read_as_seen() -> None:
    assert read_paste("N\bNA\bAM\bME\bE").words == "NAME"


def test_controls_and_invisible_marks_are_taken_out() -> None:
    assert read_paste("\ufeffa\x00b\u200bc\u202ed\xa0e").words == "abcd e"


@pytest.mark.parametrize("digits", [100, 400, 5000, 1 << 20])
def test_number_without_an_end_is_none(digits: int) -> None:
    assert read_paste(f"Driver Version: {'9' * digits}.54 CUDA").words == "Driver Version: ….54 CUDA"


def test_long_number_is_one() -> None:
    assert read_paste("7" * 99 + ".1").words == "7" * 99 + ".1"


def test_tabs_stay() -> None:
    assert read_paste("a\tb").words == "a\tb"


@pytest.mark.parametrize("junk", [random.Random(1).randbytes(50_000), b"\x7fELF\x02\x01\x01" + bytes(5000), bytes(300)])
def test_binary_junk_is_no_text(junk: bytes) -> None:
    paste = read_paste(junk)
    assert paste.words == ""
    assert paste.left_out == len(junk)


def test_nothing_is_nothing() -> None:
    paste = read_paste(b"")
    assert (paste.words, paste.left_out) == ("", 0)


def _long_log(lines: int) -> bytes:
    middle = b"".join(b"%08d step loss 0.25\n" % number for number in range(lines))
    return b"NVIDIA-SMI first\n" + middle + b"CUDA out of memory at last\n"


def test_long_log_keeps_both_ends_in_whole_lines() -> None:
    log = _long_log(400_000)
    paste = read_paste(log)
    lines = paste.words.split("\n")
    assert lines[0] == "NVIDIA-SMI first"
    assert lines[-2] == "CUDA out of memory at last"
    assert {len(line) for line in lines[1:-2]} <= {0, len("00000000 step loss 0.25")}


def test_what_is_left_out_is_counted() -> None:
    log = _long_log(400_000)
    paste = read_paste(log)
    assert 0 <= len(log) - len(paste.words) - paste.left_out < 100


def test_a_line_that_a_log_repeats_stays_first_and_last() -> None:
    lines = read_paste("head\n" + "CUDA error: again and again\n" * 20_000 + "tail").words.split("\n")
    assert len(lines) == 20_002
    assert lines.count("CUDA error: again and again") == 20
    assert (lines[0], lines[1], lines[-2], lines[-1]) == (
        "head",
        "CUDA error: again and again",
        "CUDA error: again and again",
        "tail",
    )


def test_long_wide_text_is_cut_between_characters() -> None:
    log = _long_log(200_000).decode()
    assert read_paste(log.encode("utf-16")).words.endswith("CUDA out of memory at last\n")


def test_pieces_are_held_no_longer_than_needed() -> None:
    gathering = Gathering()
    for _ in range(64):
        gathering.add(b"x" * 999_999 + b"\n")
    paste = gathering.paste()
    assert len(paste.words) <= 5 << 20
    assert paste.left_out >= 59_000_000


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_pieces_read_like_the_whole(pieces: list[bytes]) -> None:
    gathering = Gathering()
    for piece in pieces:
        gathering.add(piece)
    assert gathering.paste() == read_paste(b"".join(pieces))


@given(st.binary(max_size=400))
def test_any_bytes_are_survived(data: bytes) -> None:
    words = read_paste(data).words
    assert "\r" not in words
    assert "\x00" not in words


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs", "S")), max_size=200))
def test_plain_text_stays_as_it_is(words: str) -> None:
    assert read_paste(words).words == words.replace("\xa0", " ")


@pytest.mark.parametrize("unit", ["\x1b[", "\x1b]", "\x1b[1;1;1;", "\b", "\r", "a\b\b", "\x1bP\x1b"])
def test_hostile_repetitions_are_read(unit: str) -> None:
    assert read_paste(unit * 100_000).words is not None


@pytest.mark.parametrize(
    "words",
    [
        "错误: 找不到 CUDA 驱动程序，请安装。\nnvcc fatal",
        "'nvcc' 不是内部或外部命令，也不是可运行的程序",
        "显存不足：需要 2 GiB\n" * 9000,
    ],
)
def test_chinese_of_a_windows_console_is_read(words: str) -> None:
    assert read_paste(words.encode("gb18030")).words.split("\n")[0] == words.split("\n")[0]


@pytest.mark.parametrize("words", ["Gerät nicht gefunden: Größe", "périphérique introuvable, mémoire épuisée", "ÄÖ"])
def test_letters_of_western_europe_stay_what_they_are(words: str) -> None:
    assert read_paste(words.encode("latin-1")).words == words


def test_chinese_in_utf_8_with_a_damaged_byte_is_not_taken_for_another_encoding() -> None:
    words = "找不到驱动程序" * 20
    assert read_paste(words.encode() + b"\xff").words == words + "\ufffd"
