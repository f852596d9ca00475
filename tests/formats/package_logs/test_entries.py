"""Pieces of a log and its moments."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from gpuassist.formats.package_logs.entries import LogPiece, Moments, doer, instant, is_relevant, pieces, words_of
from tests.formats.package_logs.reading import BERLIN, of


def test_lines_keep_their_numbers_however_the_log_is_cut() -> None:
    log = b"".join(b"line %d\n" % number for number in range(1, 60))
    for block in (1, 7, 64, 1000):
        numbered = {
            line: number
            for piece in of(log, block=block)
            for number, line in enumerate(piece.data.split(b"\n")[1:], piece.line)
            if line
        }
        assert numbered == {b"line %d" % number: number for number in range(1, 60)}, block


def test_line_at_counts_from_the_line_feed_before() -> None:
    piece = LogPiece(b"\na\nb\nc", 4)
    assert [piece.line_at(place) for place, sign in enumerate(piece.data) if sign == 10] == [4, 5, 6]


def test_an_entry_is_not_cut() -> None:
    log = b"\nStart-Date: 1\nInstall: a\n\nStart-Date: 2\nInstall: b\n\n"
    for block in (1, 5, 20, 100):
        whole = [piece.data for piece in of(log, b"\nStart-Date: ", block)]
        assert all(data.count(b"Start-Date") == data.count(b"Install") for data in whole), block
        assert b"".join(whole).replace(b"\n", b"") == log.replace(b"\n", b"")


def test_an_entry_without_end_does_not_grow_for_ever() -> None:
    largest = max(len(piece.data) for piece in pieces(b"x" * (1 << 20) for _ in range(20)))
    assert largest <= (9 << 20) + 1


def test_nul_of_a_crash_ends_a_line() -> None:
    (piece,) = pieces([b"2026-01-01 10:00:00 upgr\0\0\0\0\0" + b"2026-01-02 08:00:00 startup\n"])
    assert b"\n2026-01-02 08:00:00 startup" in piece.data


def test_local_time_gets_the_offset_of_its_day() -> None:
    moments = Moments(BERLIN)
    assert moments.at("2026-11-14  06:12:03") == "2026-11-14T06:12:03+01:00"
    assert moments.at("2026-07-14 06:12:03") == "2026-07-14T06:12:03+02:00"
    assert moments.at("2026-07-14T06:12:03-0330") == "2026-07-14T06:12:03-03:30"
    assert moments.at("2026-07-14T06:12:03Z") == "2026-07-14T06:12:03+00:00"
    assert moments.at("2019-06-01 06:12") == "2019-06-01T06:12:00+02:00"
    assert Moments(None).at("2026-11-14 06:12:03") == "2026-11-14T06:12:03"


def test_what_is_no_moment_is_empty() -> None:
    moments = Moments(BERLIN)
    for words in ("", "yesterday", "2026-13-01 00:00:00", "2026-02-30 00:00:00", "2026-01-01 24:00:00", "2026-01-01", "\n" * 20):
        assert moments.at(words) == "", words
    for seconds in (float(1 << 62), -float(1 << 62)):
        assert moments.of_epoch(seconds) == ""


def test_the_hour_that_is_there_twice_goes_on_where_the_log_does() -> None:
    moments = Moments(BERLIN)  # on 25 October 2026 clocks go from 3:00 back to 2:00
    told = [moments.at(f"2026-10-25 {time}") for time in ("01:59:00", "02:10:00", "02:50:00", "02:05:00", "02:30:00", "03:01:00")]
    assert [at[-6:] for at in told] == ["+02:00", "+02:00", "+02:00", "+01:00", "+01:00", "+01:00"]
    assert sorted(told, key=instant) == told


def test_the_hour_that_there_is_not_and_a_clock_that_jumps_are_kept() -> None:
    moments = Moments(BERLIN)
    assert moments.at("2026-03-29 02:30:00").startswith("2026-03-29T02:30:00+0")
    assert [moments.at(f"{year}-01-01 00:00:00")[:4] for year in (2026, 1970, 2037, 2026)] == ["2026", "1970", "2037", "2026"]


def test_the_end_of_all_time_does_no_harm() -> None:
    for zone in (BERLIN, ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Pacific/Niue")):
        for words in ("0001-01-01 00:00:00", "9999-12-31 23:59:59"):
            assert instant(Moments(zone).at(words)) is not None


def test_a_program_is_told_without_its_directory_and_an_address_without_its_login() -> None:
    assert doer("/usr/bin/unattended-upgrade") == "unattended-upgrade"
    assert doer("apt install  nvidia-driver-580") == "apt install nvidia-driver-580"
    assert "secret" not in doer("conda install -c https://you:secret@conda.example/channel torch")
    assert len(doer("apt install " + "x " * 10_000)) < 400


def test_words_of_either_encoding() -> None:
    assert words_of("Jürgen".encode()) == words_of("Jürgen".encode("latin-1")) == "Jürgen"


def test_relevant_names_in_bytes() -> None:
    assert is_relevant(b"nvidia-driver-580")
    assert not is_relevant(b"bash")
    assert not is_relevant(b"nvidia-\xff\xfe\n")
