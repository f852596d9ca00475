"""A damaged knowledge file: the file and the line are named on standard error, and the rest works, whichever file and damage."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from gpuassist.cli import main as cli
from gpuassist.knowledge.files import KnowledgeFiles, RecordTable
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from gpuassist.system.resources import Resources
from tests.cli.made_session import live_session, no_window
from tests.knowledge.shipped import KNOWLEDGE, damaged_at
from tests.rows import for_each

Read = Callable[[str], bytes]
FILES = Resources().names("knowledge", ".json")
LINE = 4
# All that is known costs a second to list: some files at once, no more than are told of. GPUs name a chip of the first.
TOGETHER = (("architectures.json",), *(tuple(one for one in FILES if one != "architectures.json")[at::4] for at in range(4)))


def _cut(content: bytes) -> bytes:
    return content[: content.rindex(b'"', 0, len(content) * 3 // 5)]  # within a row: at its end nothing would be damaged


def _without_header(content: bytes) -> bytes:
    first, _, rest = content.split(b"\n", 2)
    return first + b"\n" + rest


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut short": _cut,
    "without its header": _without_header,
    "empty": lambda content: b"",
    "an empty list": lambda content: b"[]",
    "another schema": lambda content: content.replace(b'"schema": 1', b'"schema": 2'),
    "binary": lambda content: bytes(range(256)) * 40,
    "a page of HTML": lambda content: b"<!DOCTYPE html>\n<html>\n</html>\n",
}
VALUES: tuple[object, ...] = (None, 7, "", "x", [], [3], ["x"], [{}], {}, True, -1, 1e300, "9" * 5000)
LINES = {
    "junk": b"@@@ not json @@@",
    "half a row": b'{"name": "',
    "not UTF-8": b'{"name": "\xff\xfe"},',
    "a list": b"[1, 2, 3],",
    "a number": b"17,",
    "an empty row": b"{},",
    "a row without a source": b'{"name": "x"},',
    "endless brackets": b"[" * 20_000,
    "conflict marker": b"<<<<<<< HEAD",
    "fields of the wrong type": b'{"source": [], "name": 3, "pci_id": {}, "release": [1], "branch": "x", "code": null},',
}


def _reading(file: str, change: Callable[[bytes], bytes]) -> Read:
    def read(name: str) -> bytes:
        content = Resources().read(name)
        return change(content) if name == f"knowledge/{file}" else content

    return read


def _main(read: Read, *arguments: str) -> int:
    session = replace(live_session({}), knowledge=Knowledge(read))
    return cli.main(arguments, compose=lambda language: session, open_window=lambda *_: no_window(None))


@for_each("damage", DAMAGES)
@for_each("file", FILES)
def test_damaged_file_is_named(file: str, damage: str) -> None:
    damaged = _said(_reading(file, DAMAGES[damage]), file)
    assert damaged
    assert all(words.startswith(f"knowledge/{file}") for words in damaged)


@for_each("damage", LINES)
@for_each("file", FILES)
def test_damaged_line_is_named_alone(file: str, damage: str) -> None:
    read = damaged_at(f"knowledge/{file}", LINE, LINES[damage])
    assert _said(read, file) == [f"knowledge/{file}, line {LINE} is damaged and was skipped"]


def _said(read: Read, file: str) -> list[str]:
    """What the table of one file says of it; every chip is one that is known."""
    chip = KNOWLEDGE.architectures()[0].chips[0]
    files = KnowledgeFiles(read, lambda code: (KNOWLEDGE.architectures()[0], chip))
    table: RecordTable[object] = vars(files)[file.removesuffix(".json")]
    return [ENGLISH(words) for words in table.damaged()]


def _damaging(files: tuple[str, ...], change: Callable[[str, bytes], bytes]) -> Read:
    def read(name: str) -> bytes:
        content = Resources().read(name)
        return change(name, content) if name.removeprefix("knowledge/") in files else content

    return read


@pytest.mark.parametrize("files", TOGETHER)
def test_rest_works_without_a_line(files: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    read = _damaging(files, lambda name, _: damaged_at(name, LINE, LINES["junk"])(name))
    assert _main(read, "know", "--all", "--json") == Exit.HEALTHY
    out, err = capsys.readouterr()
    assert [file for file in files if f"knowledge/{file}, line {LINE} is damaged and was skipped\n" not in err] == []
    assert all(json.loads(out)[kind] for kind in ("gpu", "cuda", "torch", "driver", "arch", "xid"))


@for_each("file", FILES)
def test_field_that_nobody_knows_does_no_harm(file: str) -> None:
    assert _said(_reading(file, lambda content: content.replace(b'\n{"', b'\n{"colour": "green", "')), file) == []


def _fields(file: str) -> list[str]:
    rows = json.loads(Resources().read(f"knowledge/{file}"))[1:]
    return sorted({name for row in rows for name in row})


def _with(file: str, field: str, value: object) -> Read:
    """The first rows of a file that have a field, with `value` in it."""

    def change(content: bytes) -> bytes:
        header, *rows = json.loads(content)
        changed = [{**row, field: value} for row in rows if field in row][:5]
        return ("[\n" + ",\n".join(json.dumps(row) for row in (header, *changed)) + "\n]\n").encode()

    return _reading(file, change)


@for_each("file", FILES)
def test_field_of_any_other_type_is_no_fault(file: str) -> None:
    for field in _fields(file):
        for value in VALUES:
            assert len(_said(_with(file, field, value), file)) <= 5


@pytest.mark.parametrize("files", TOGETHER)
def test_file_that_is_missing_is_named_and_the_rest_works(files: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    def missing(name: str, content: bytes) -> bytes:
        raise FileNotFoundError(2, "No such file or directory")

    assert _main(_damaging(files, missing), "know", "--all", "--json") == Exit.HEALTHY
    err = capsys.readouterr().err
    assert [file for file in files if f"knowledge/{file} cannot be read" not in err] == []


@pytest.mark.parametrize(
    "arguments", [("know", "gpu", "RTX 4090"), ("know", "gpu", "RTX 4090", "--json"), ("doctor",), ("detect",)]
)
def test_any_command_names_what_it_met(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    status = _main(damaged_at("knowledge/architectures.json", 3, b"{"), *arguments)
    assert status in {Exit.HEALTHY, Exit.WARNINGS, Exit.PROBLEMS, Exit.UNDETERMINED}
    out, err = capsys.readouterr()
    assert "damaged" not in out
    assert (err == "") == (not re.search(r"line \d+ is damaged", err))


def test_what_was_not_read_is_not_judged(capsys: pytest.CaptureFixture[str]) -> None:
    _main(damaged_at("knowledge/xids.json", 3, b"{"), "know", "cuda", "12.4")
    assert capsys.readouterr().err == ""


def test_many_damaged_lines_are_not_all_told(capsys: pytest.CaptureFixture[str]) -> None:
    read = _reading("gpus.json", lambda content: content.replace(b'"chip"', b'"chap"'))
    _main(read, "know", "--all", "--json")
    err = capsys.readouterr().err.splitlines()
    assert len(err) == 11
    assert re.fullmatch(r"and \d+ more such lines", err[-1])
