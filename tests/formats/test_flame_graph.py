"""Flame graphs as SVG: py-spy's, those of flamegraph.pl, and pictures that a stranger made to do harm."""

from __future__ import annotations

import pytest

from gpuassist.formats.profiles.flame_graph import FlameGraphReader, TooManyFramesError
from gpuassist.model.profile import ProfileForm, ProfileGap, ProfileReading, TimeKind
from tests.rows import for_each

HEAD = '<?xml version="1.0" standalone="no"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd"><svg width="1200">'
# As py-spy draws it: the root above, and places in samples.
PY_SPY = (
    HEAD
    + """<script><![CDATA[var inverted = true;]]></script><text id="title">py-spy record</text><svg id="frames">"""
    + "".join(
        f"<g><title>{name} ({count} samples, {count / 10:.2f}%)</title>"
        f'<rect x="{begin / 10:.4f}%" y="{height}" width="{count / 10:.4f}%" height="15"'
        f' fill="rgb(1,2,3)" fg:x="{begin}" fg:w="{count}"/><text x="0.25%" y="10">{name[:4]}..</text></g>'
        for name, begin, count, height in (
            ("all", 0, 1000, 52),
            ("&lt;module&gt; (train.py:41)", 0, 400, 68),
            ("&lt;module&gt; (train.py:3)", 400, 600, 68),
            ("train (train.py:37)", 0, 400, 84),
            ("forward (train.py:21)", 0, 250, 100),
            ("Pictures.__getitem__ (train.py:14)", 250, 100, 100),
            ("decode (train.py:5)", 250, 60, 116),
            ("_find_and_load (&lt;frozen importlib._bootstrap&gt;:1176)", 400, 599, 84),
            ("helper (own.py:2)", 400, 100, 100),
        )
    )
    + "</svg></svg>"
)
# As flamegraph.pl draws it: the root below, and places in parts of the picture.
PLAIN = (
    HEAD
    + "".join(
        f"<g >\n<title>{name} ({count} samples, 9%)</title>"
        f'<rect x="{begin}" y="{height}" width="{width}" height="15.0" fill="x" rx="2" />'
        f'\n<text  x="1" y="2" ></text>\n</g>\n'
        for name, begin, width, count, height in (
            ("load (a.py:7)", 10.0, 590.0, "1,000", 33),
            ("all", 10.0, 1180.0, "2,000", 65),
            ("main (a.py:9)", 10.0, 1180.0, "2,000", 49),
        )
    )
    + "</svg>"
)


def read(words: str, piece: int = 1 << 20) -> ProfileReading | None:
    reader, data = FlameGraphReader(), words.encode()
    for place in range(0, len(data), piece):
        reader.feed(data[place : place + piece])
    return reader.reading()


def own(words: str, piece: int = 1 << 20) -> dict[str, float]:
    told = read(words, piece)
    assert told is not None
    return {one.name: one.seconds for one in told.entries}


@for_each("piece", [1 << 20, 700, 37])
def test_the_own_samples_of_each_frame_are_told(piece: int) -> None:
    assert own(PY_SPY, piece) == {
        "<frozen importlib._bootstrap>:1176(_find_and_load)": 499,
        "train.py:21(forward)": 250,
        "own.py:2(helper)": 100,
        "train.py:5(decode)": 60,
        "train.py:37(train)": 50,
        "train.py:14(Pictures.__getitem__)": 40,
        "train.py:3(<module>)": 1,
    }


def test_what_an_import_and_a_data_set_call_is_theirs() -> None:
    told = read(PY_SPY)
    assert told is not None
    assert told.form is ProfileForm.FLAME_GRAPH
    assert told.seconds is None
    assert ProfileGap.SAMPLED in told.gaps
    assert {one.kind: one.seconds for one in told.shares} == {TimeKind.START: 599, TimeKind.DATA: 100, TimeKind.PYTHON: 301}


def test_a_graph_that_grows_upwards_is_read_as_well() -> None:
    assert own(PLAIN) == {"a.py:9(main)": 1000, "a.py:7(load)": 1000}


def test_what_was_too_narrow_to_be_drawn_has_no_name() -> None:
    told = read(PY_SPY.replace("all (1000 samples", "all (1100 samples"))
    assert told is not None
    assert told.spent(TimeKind.REST) == 100


_FRAME = '<title>f (9 samples, 9%)</title><rect x="1" y="2" width="3" fg:x="0" fg:w="9"/>'


@for_each(
    "words",
    [
        "<svg></svg>",
        "<svg><title>f (9 samples, 9%)</title><text/></svg>",
        "<svg><title>f (9 samples, 9%)</title><rect y='1'/></svg>",
        '<svg><title>f (9 samples, 9%)</title><rect x="1e999" y="1" width="nan"/></svg>',
        "<title>" * 50_000,
        "<svg><title>" + "a" * 2_000_000,
        "<svg><title>f (9 samples, 9%)</title>" + " " * 1_000_000,
        "<svg>" + "<title>f (9 samples, 9%)</title><rect " * 20_000,
    ],
)
def test_a_picture_without_frames_is_none(words: str) -> None:
    assert read(words, 1 << 16) is None


def test_entities_of_the_file_are_not_expanded() -> None:
    bomb = '<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]><svg>'
    assert set(own(bomb + _FRAME.replace("f (", "&b;&c; ("))) == {"&b;&c;"}


def test_frames_without_number_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuassist.formats.profiles.flame_graph._MOST_FRAMES", 5)
    with pytest.raises(TooManyFramesError):
        read(_FRAME * 6)


def test_frames_in_each_other_without_end_take_no_time() -> None:
    nested = "".join(_FRAME.replace('y="2"', f'y="{place}"') for place in range(20_000))
    assert sum(own(nested).values()) == 9


def test_what_no_frame_of_the_root_has_is_a_share_and_nobodys_name() -> None:
    frames = (("all", 0, 1000, 52), ("main (a.py:3)", 0, 600, 68))
    drawn = "".join(
        f'<g><title>{name} ({count} samples, 1%)</title><rect y="{height}" fg:x="{begin}" fg:w="{count}"/></g>'
        for name, begin, count, height in frames
    )
    reading = read(f'{HEAD}<svg id="frames">{drawn}</svg></svg>')
    assert reading is not None
    assert [one.name for one in reading.entries] == ["a.py:3(main)"]
    assert {one.kind: one.seconds for one in reading.shares}[TimeKind.REST] == 400
