"""The generator of shapes prints them for anybody: only trying them needs root."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rows import for_each
from tools.shapes import covering, described, document, main, shape

ROOT = Path(__file__).parent.parent


def printed(*arguments: str) -> str:
    """What the tool prints in an environment where no program that it would try shapes with is found."""
    command = [sys.executable, "tools/shapes.py", *arguments]
    ran = subprocess.run(command, cwd=ROOT, env={"PATH": "/nowhere"}, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_shapes_are_printed_as_json() -> None:
    read = json.loads(printed("--json", "--seed", "5", "--only", "0", "7"))
    assert read == [json.loads(json.dumps(document(shape(5, number)))) for number in (0, 7)]


def test_shapes_are_printed_for_people() -> None:
    told = printed("--show", "--seed", "5", "--count", "2")
    assert told == "".join(f"{described(shape(5, number))}\n" for number in (0, 1))
    assert all(f"--- {name}" in told for name in shape(5, 0).files)


@for_each("number", range(0, 200, 10))
def test_what_is_expected_of_a_shape_stands_in_its_files(number: int) -> None:
    made = shape(5, number)
    assert made == shape(5, number)
    texts = {name: content.decode("utf-8", "backslashreplace").replace("\r", "") for name, content in made.files.items()}
    lines = {line for text in texts.values() for line in text.split("\n")}
    assert {plain.text for plain in made.plain} <= lines
    assert all(plain.version in plain.text and plain.mended != plain.text for plain in made.plain)
    assert all(any(frozen in text for text in texts.values()) for _, frozen in made.frozen)
    assert not any(name.startswith("/") for name in (*made.files, *made.links))


def test_covering_takes_the_most_constructs_first() -> None:
    chosen = covering(5, range(100), 3)
    held = [len({tag for number in some for tag in shape(5, number).tags}) for some in (chosen, range(3))]
    assert len(chosen) == 3
    assert held[0] >= held[1]


def test_trying_shapes_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "argv", ["shapes.py", "--count", "1"])
    with pytest.raises(SystemExit, match="needs root"):
        main()
