"""cProfile's files are read without Python's own marshal, which damaged bytes can crash."""

from __future__ import annotations

import cProfile
import marshal
from pathlib import Path
from typing import Any

import pytest

from gpuassist.formats.profiles.marshal_values import read_marshal
from gpuassist.formats.profiles.python_profile import read_statistics
from gpuassist.model.profile import TimeKind
from tests.rows import for_each

STATISTICS = {
    ("data.py", 5, "__getitem__"): (3, 3, 2.0, 2.0, {}),
    ("~", 0, "<built-in method time.sleep>"): (1, 1, 5.0, 5.0, {("data.py", 5, "__getitem__"): (1, 1, 5.0, 5.0)}),
}


def test_own_file_of_cprofile(tmp_path: Path) -> None:
    profiler = cProfile.Profile()
    profiler.runcall(sorted, range(1000))
    profiler.dump_stats(tmp_path / "p.prof")
    told = read_statistics((tmp_path / "p.prof").read_bytes())
    assert any("sorted" in one.name for one in told.entries)


def test_kinds_of_functions() -> None:
    told = read_statistics(marshal.dumps(STATISTICS))
    assert {one.kind: one.seconds for one in told.shares} == {TimeKind.DATA: 7.0}
    assert told.entries[0].place == "data.py:5(__getitem__)"


def test_what_an_import_calls_is_a_cost_of_starting_and_the_program_is_none() -> None:
    run, program = ("~", 0, "<built-in method builtins.exec>"), ("train.py", 1, "<module>")
    bootstrap, imported = ("<frozen importlib._bootstrap>", 1167, "_find_and_load"), ("tools.py", 1, "<module>")
    read, sleep = ("~", 0, "<built-in method builtins.sorted>"), ("~", 0, "<built-in method time.sleep>")
    told = {
        run: (1, 2, 0.0, 20.0, {bootstrap: (1, 1, 0.0, 6.0)}),
        program: (1, 1, 3.0, 20.0, {run: (1, 1, 3.0, 20.0)}),
        bootstrap: (1, 1, 1.0, 7.0, {program: (1, 1, 1.0, 7.0)}),
        imported: (1, 1, 2.0, 6.0, {run: (1, 1, 2.0, 6.0)}),
        read: (9, 9, 10.0, 10.0, {imported: (1, 1, 4.0, 4.0), program: (8, 8, 6.0, 6.0)}),
        sleep: (1, 1, 4.0, 4.0, {program: (1, 1, 4.0, 4.0)}),
    }
    reading = read_statistics(marshal.dumps(told))
    assert {one.kind: round(one.seconds, 1) for one in reading.shares} == {
        TimeKind.PYTHON: 9.0,
        TimeKind.START: 11.0,
    }
    assert (reading.entries[0].name, reading.entries[0].kind) == ("{built-in method builtins.sorted}", TimeKind.PYTHON)
    other = ("a", 1, "b")
    for callers in ({}, {other: 3}, {other: ("x",)}, {run: (1, 1, -1.0, 2.0)}, {run: 7}):  # what is none counts as none
        assert read_statistics(marshal.dumps({run: (1, 1, 1.0, 1.0, callers)})).seconds == 1.0


@for_each("value", [{}, {1: ("a", "ä" * 300, 2**40, -7, 1.5, None, True)}, {"a": 1, ("b", 2): (1, (2, (3,)))}])
def test_values_are_those_of_marshal(value: Any) -> None:
    assert read_marshal(marshal.dumps(value)) == value


def _deep() -> bytes:
    """A key whose parts are references to tuples of references: deeper than its hash survives, with nothing nested in the file."""
    made = b"(" + (2).to_bytes(4, "little") + b"\xa9\x00"
    return b"{" + made + b"(" + (1 << 20).to_bytes(4, "little")


@for_each(
    "data",
    [
        b"",
        b"0",
        b"{",
        b"(" + (2**31).to_bytes(4, "little"),
        b"\xa9\x01" * 5000,
        b"l" + (2**30).to_bytes(4, "little"),
        b"r" + (9).to_bytes(4, "little"),
        b"{(\x01\x00\x00\x00(\x01\x00\x00\x00Ni\x01\x00\x00\x000",
        marshal.dumps(compile("1", "f", "eval")),
        marshal.dumps({1: frozenset()}),
        _deep(),
    ],
)
def test_what_is_damaged_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        read_statistics(data)
