"""`--machine` with what is no recorded machine: a sentence that names the file, never a traceback, never a wait.

Most of it runs in this process, through the same entry: it starts in a tenth of the time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuassist import app
from tests.e2e.command import Done, gpuassist
from tests.e2e.contract import check_diagnosis
from tests.e2e.test_examples import PATHS

CONTENTS = {
    "empty": b"",
    "blank": b"\n\n",
    "junk": b"\x7fELF\x02\x01\x01\x00\x00",
    "text": b"NVIDIA-SMI 550.54.14\n",
    "half": b'{"schema": 1, "host": {',
    "two documents": b"{}\n{}\n",
    "not utf-8": b'{"schema": "\xff"}',
    "utf-16": '{"schema": 1}'.encode("utf-16"),
    "null": b"null",
    "number": b"1",
    "list": b"[]",
    "empty object": b"{}",
    "deep": b"[" * 200_000,
    "schema 0": b'{"schema": 0}',
    "schema 2": b'{"schema": 2}',
    "schema words": b'{"schema": "1"}',
    "schema true": b'{"schema": true}',
    "a diagnosis": b'{"schema": 1, "findings": [], "undetermined": []}',
    "nan": b'{"schema": NaN}',
    "infinite": b'{"schema": 1e999}',
}


@pytest.fixture
def run(home: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """The command line in this process."""

    def _main(*arguments: str) -> Done:
        try:
            status = app.main(arguments)
        except SystemExit as stop:
            status = int(str(stop.code))
        out, err = capfd.readouterr()
        assert "Traceback" not in err, err
        return Done(status, out.encode(), err.encode())

    return _main


def _refused(done: Done, path: str) -> None:
    assert (done.status, done.out) == (64, b"")
    assert done.said.startswith("gpuassist: ")
    assert path in done.said
    assert done.said.count("\n") == 1


@pytest.mark.parametrize("name", CONTENTS)
def test_file_of_other_content_is_named(run: Callable[..., Done], tmp_path: Path, name: str) -> None:
    path = tmp_path / "machine.json"
    path.write_bytes(CONTENTS[name])
    _refused(run("doctor", "--machine", str(path)), str(path))


@pytest.mark.parametrize("path", ["/nonexistent/machine.json", "/dev/null", "/dev/zero", "/", "/proc/self/mem", "/etc/passwd/x"])
@pytest.mark.parametrize("verb", [("doctor",), ("detect", "--json")], ids=" ".join)
def test_path_of_another_kind_is_named(run: Callable[..., Done], verb: tuple[str, ...], path: str) -> None:
    _refused(run(*verb, "--machine", path), path)


def test_pipe_is_refused_without_waiting(home: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "machine.json")
    _refused(gpuassist(home, "doctor", "--machine", str(tmp_path / "machine.json")), str(tmp_path))


def test_link_to_nowhere_is_named(run: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "machine.json").symlink_to("gone")
    _refused(run("doctor", "--machine", str(tmp_path / "machine.json")), str(tmp_path))


def test_huge_file_is_refused(run: Callable[..., Done], tmp_path: Path) -> None:
    with (tmp_path / "machine.json").open("wb") as file:
        file.truncate(64 << 20)
    _refused(run("doctor", "--machine", str(tmp_path / "machine.json")), str(tmp_path))


@pytest.mark.parametrize("arguments", [("doctor", "--machine", ""), ("doctor", "--machine=")], ids=str)
def test_empty_name_is_wrong_usage(run: Callable[..., Done], arguments: tuple[str, ...]) -> None:
    assert run(*arguments).status == 64


def test_option_without_a_file_is_wrong_usage(home: Path) -> None:
    done = gpuassist(home, "doctor", "--machine")
    assert (done.status, done.out) == (64, b"")


def test_relative_path_is_taken_from_here(home: Path) -> None:
    here = os.path.relpath(PATHS[0])
    assert gpuassist(home, "doctor", "--json", "--machine", here).status in {0, 1, 2, 3}


@pytest.mark.parametrize("name", ["ünï.json", "a space.json", "-.json", "a\nline.json"])
def test_strange_file_names_are_read(run: Callable[..., Done], tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(Path(PATHS[0]).read_bytes())
    assert run("detect", "--json", "--machine", str(tmp_path / name)).status == 0


def test_name_that_is_not_utf_8_is_shown_escaped(home: Path, tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.json")
    done = gpuassist(home, "doctor", "--machine", str(tmp_path / name))
    assert done.status == 64
    assert "caf<U+DCE9>.json" in done.said


def _sections() -> list[str]:
    document = json.loads(Path(PATHS[0]).read_bytes())
    return [name for name in document if name != "schema"]


def _changed(tmp_path: Path, name: str, value: Any) -> str:
    document = json.loads(Path(PATHS[1]).read_bytes())
    document[name] = value
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(document))
    return str(path)


@pytest.mark.parametrize("value", [None, 3, "words", [1], {"value": 7, "source": "x"}, {"value": None}], ids=str)
@pytest.mark.parametrize("name", ["host", "gpus", "driver", "toolkits", "shell"])
def test_section_of_a_wrong_kind_is_refused(run: Callable[..., Done], tmp_path: Path, name: str, value: Any) -> None:
    path = _changed(tmp_path, name, value)
    done = run("doctor", "--machine", path)
    assert done.status in {0, 1, 2, 3, 64}
    assert done.status != 64 or path in done.said


@pytest.mark.parametrize("name", _sections())
def test_missing_section_is_judged_or_refused(run: Callable[..., Done], tmp_path: Path, name: str) -> None:
    document = json.loads(Path(PATHS[1]).read_bytes())
    del document[name]
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(document))
    done = run("doctor", "--json", "--machine", str(path))
    if done.status == 64:
        _refused(done, str(path))
    else:
        check_diagnosis(done.document())


def test_section_that_nobody_knows_is_left_alone(run: Callable[..., Done], tmp_path: Path) -> None:
    path = _changed(tmp_path, "of_a_later_release", {"value": 1})
    assert run("doctor", "--json", "--machine", path).status in {1, 2}
