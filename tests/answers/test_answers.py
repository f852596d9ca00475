"""What a good answer must name and must never name, on machines that were made up before any answer was looked at.

`must` and `never` of a row of `rows.jsonl` are regular expressions over the answer as it is laid out here: what is said, and each
command line behind `$ ` without its comment. So `^\\$ .*\\bdnf\\b` is about what is typed, and a bare `dnf` about what is said too.
`@name` in front is a pattern of `patterns.json`.
A row that fails is a wrong answer, or a wrong row: which, its `source` decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from gpuassist.cli import doctor, explain, know, plan
from gpuassist.context import Session
from tests.answers.build import MACHINES, recording
from tests.cli.made_session import live_session, run_live
from tests.rows import for_each

_VERBS: dict[str, ModuleType] = {"doctor": doctor, "plan": plan, "explain": explain, "know": know}
_COMMENT = re.compile(r"\s+#\s.*$")
_NAMED = re.compile(r"@([-\w]+)")
_SEVERITIES = ("problem", "warning", "info")


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question; `machine` is none where no machine is asked about."""

    machine: str | None
    command: tuple[str, ...]
    must: tuple[str, ...]
    never: tuple[str, ...]
    why: str
    source: str


@cache
def rows() -> tuple[Row, ...]:
    lines = (Path(__file__).parent / "rows.jsonl").read_text("utf-8").splitlines()
    return tuple(msgspec.json.decode(line, type=Row) for line in lines)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every machine as a recording."""
    folder = tmp_path_factory.mktemp("machines")
    for name, machine in MACHINES.items():
        (folder / f"{name}.json").write_text(json.dumps(recording(machine)), "utf-8")
    return folder


@pytest.fixture(scope="module")
def session() -> Session:
    return live_session({})


@for_each("row", rows)
def test_answer_names_what_is_right_and_nothing_wrong(row: Row, recordings: Path, session: Session) -> None:
    answer = _answer(row, recordings, session)
    missing = [pattern for pattern in row.must if not _found(pattern, answer)]
    wrong = [f"{pattern}  in  {found.group().splitlines()[-1]}" for pattern in row.never if (found := _found(pattern, answer))]
    assert not missing + wrong, f"{row.why}\nmissing: {missing}\nwrong: {wrong}\nsource: {row.source}"


def test_every_named_pattern_is_used() -> None:
    used = {named[1] for row in rows() for one in (*row.must, *row.never) if (named := _NAMED.match(one))}
    assert used == set(_patterns())


def test_every_row_is_about_a_machine_that_is_there() -> None:
    asked = [(row.machine, row.command) for row in rows()]
    assert len(asked) == len(set(asked))
    assert {name for name, _ in asked if name} == set(MACHINES)


@for_each("row", rows)
def test_every_row_says_something_and_why(row: Row) -> None:
    assert row.must or row.never
    assert row.why
    assert row.source


@cache
def _patterns() -> dict[str, str]:
    return msgspec.json.decode((Path(__file__).parent / "patterns.json").read_bytes(), type=dict[str, str])


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    named = _NAMED.match(pattern)
    whole = f"(?:{_patterns()[named[1]]}){pattern[named.end() :]}" if named else pattern
    return re.compile(whole, re.MULTILINE | re.IGNORECASE)


def _found(pattern: str, answer: str) -> re.Match[str] | None:
    return _regex(pattern).search(answer)


def _answer(row: Row, recordings: Path, session: Session) -> str:
    verb, *given = row.command
    file = str(recordings / f"{row.machine}.json") if row.machine else ""
    if verb == "explain":
        pasted = recordings / "pasted.txt"
        pasted.write_text(given[0], "utf-8")
        given = [str(pasted)]
    printed = run_live(_VERBS[verb], *given, session=session, machine_file=file).out
    if verb == "know":
        return printed
    document = json.loads(run_live(_VERBS[verb], *given, "--json", session=session, machine_file=file).out)
    return "\n".join([printed, *_lines(document)])  # what is said of the whole ("Nothing has to be done.") stands in no key


def _lines(value: Any, key: str = "") -> Iterator[str]:
    """A document laid out: a finding's severity and id in front of its title, command lines behind `$ `."""
    if isinstance(value, dict):
        if value.get("severity") in _SEVERITIES:
            yield f"[{value['severity']}] {value['id']}"
        for name, one in value.items():
            yield from _lines(one, name)
    elif isinstance(value, list):
        for one in value:
            yield from _lines(one, key)
    elif isinstance(value, str) and key == "commands":
        for line in value.splitlines():
            command = _COMMENT.sub("", line)
            yield f"$ {command}"
            if command != line:
                yield line[len(command) :].strip()
    elif isinstance(value, str) and key not in {"links", "source"}:
        yield value
