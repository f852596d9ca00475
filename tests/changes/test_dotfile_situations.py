"""`use cuda` on start-up files in every state that people have them in: done once, done again, taken back, nothing else touched.

The situations are those that rustup's installer is held to, and those that its users and conda's have reported.
"""

from __future__ import annotations

import os
import stat
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.changes import use_toolkit
from gpuassist.changes.undo import undo
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.changes.wishes import UseCuda
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Result
from gpuassist.model.shell import Shell
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.system.terminal import ask_ways
from tests.changes.homes import made, make_toolkit, world_at

OLD = b"export PATH=/usr/local/cuda-11.7/bin:$PATH\n"


def _machine(home: Path) -> Machine:
    root = home / "cuda-12.4"
    if not root.exists():
        make_toolkit(root, "12.4.131")
    toolkit = Toolkit(str(root), version=Known(Version.parse("12.4.131"), "x"))
    return Machine(toolkits=Known((toolkit,), "x"), shell=Shell(login_shell=Known("/bin/bash", "x")))


def _make(home: Path) -> tuple[Result, str]:
    """Plans and applies without the proof, which runs the files: here it is their bytes that count."""
    world = world_at(home)
    outcome = made(world, plan_use_cuda(world, _machine(home), UseCuda("12.4")))
    return outcome.result, ENGLISH(outcome.text)


def _snapshot(home: Path) -> dict[str, tuple[bytes, int]]:
    files = (path for path in home.iterdir() if path.is_file() and not path.is_symlink())
    return {path.name: (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) for path in files}


SITUATIONS: dict[str, dict[str, bytes]] = {
    "no file at all": {},
    "an empty file": {".bashrc": b""},
    "one line end": {".bashrc": b"\n"},
    "no line end at the end": {".bashrc": b"alias x=y"},
    "a comment without a line end": {".bashrc": b"# the end"},
    "the old line without a line end": {".bashrc": OLD.rstrip()},
    "the old line alone": {".bashrc": OLD},
    "the old line twice": {".bashrc": OLD + OLD},
    "the old line as a comment": {".bashrc": b"# " + OLD},
    "spaces and tabs": {".bashrc": b" \t\n\t\n"},
    "windows line ends": {".bashrc": b"alias x=y\r\n" + OLD.replace(b"\n", b"\r\n")},
    "a byte order mark": {".bashrc": b"\xef\xbb\xbf" + OLD},
    "latin-1": {".bashrc": b"# caf\xe9\n" + OLD},
    "a backslash at the end": {".bashrc": b"alias x=y \\"},
    "an if whose only line it is": {".bashrc": b"if true; then\n" + OLD + b"fi\n"},
    "an else whose only line it is": {".bashrc": b"if true; then\n:\nelse\n" + OLD + b"fi\n"},
    "a function whose only line it is": {".bashrc": b"f() {\n" + OLD + b"}\n"},
    "a guard above": {".bashrc": b"case $- in *i*) ;; *) return;; esac\n" + OLD},
    "a profile that reads it": {".bashrc": OLD, ".profile": b'. "$HOME/.bashrc"\n' + OLD},
    "a profile that does not": {".bashrc": OLD, ".profile": OLD},
    "three login files": {".bash_profile": OLD, ".bash_login": OLD, ".profile": OLD},
    "a file that is read in": {".bashrc": b". ~/.env\n", ".env": OLD},
    "another's lines with the same words": {
        ".bashrc": b'. "$HOME/.cargo/env"\n# >>> conda initialize >>>\n# <<< conda initialize <<<\n'
    },
    "very long lines": {".bashrc": b"export X=" + b"a" * 70_000 + b"\n" + OLD},
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_done_twice_is_done_once_and_comes_back(home: Path, name: str) -> None:
    for file, content in SITUATIONS[name].items():
        (home / file).write_bytes(content)
        (home / file).chmod(0o640)
    before = _snapshot(home)
    assert _make(home)[0] is Result.MODIFIED
    once = _snapshot(home)
    assert _make(home)[0] is Result.UNCHANGED
    assert _snapshot(home) == once
    assert all(content.count(b"# >>> gpuassist") <= 1 for content, _ in once.values())
    assert b"/cuda-12.4" in once[".bashrc"][0] + once.get(".env", (b"", 0))[0]
    assert {mode for file, (_, mode) in once.items() if file in before} <= {0o640}
    undo(world_at(home), "")
    assert _snapshot(home) == before


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a\0b\n" + OLD, "is a binary file"),
        (b"cat <<EOF\n" + OLD, "it stops reading there, and lines below it are never reached"),
        (b"if true; then\n" + OLD, "it stops reading there, and lines below it are never reached"),
    ],
)
def test_a_file_that_its_shell_does_not_read_to_the_end_is_refused(home: Path, content: bytes, says: str) -> None:
    (home / ".bashrc").write_bytes(content)
    result, words = _make(home)
    assert result is Result.REFUSED
    assert says in words
    assert (home / ".bashrc").read_bytes() == content


@pytest.mark.parametrize("name", SITUATIONS)
def test_no_file_is_touched_that_holds_nothing_of_it(home: Path, name: str) -> None:
    for file, content in SITUATIONS[name].items():
        (home / file).write_bytes(content)
    others = {".zshrc": OLD, ".config.fish": OLD, "notes.txt": OLD, ".bashrc.bak": OLD, ".bash_logout": OLD}
    for file, content in others.items():
        (home / file).write_bytes(content)
    _make(home)
    assert {file: (home / file).read_bytes() for file in others} == others


def test_what_people_add_below_is_kept_by_undo(home: Path) -> None:
    (home / ".bashrc").write_bytes(b"alias x=y\n" + OLD)
    _make(home)
    with (home / ".bashrc").open("ab") as file:
        file.write(b"alias z=w\n")
    undo(world_at(home), "")
    assert (home / ".bashrc").read_bytes() == b"alias x=y\n" + OLD + b"alias z=w\n"


def test_a_link_stays_a_link_and_its_target_is_written(home: Path) -> None:
    (home / "dotfiles").mkdir()
    (home / "dotfiles" / "bashrc").write_bytes(OLD)
    (home / ".bashrc").symlink_to("dotfiles/bashrc")
    assert _make(home)[0] is Result.MODIFIED
    assert (home / ".bashrc").is_symlink()
    undo(world_at(home), "")
    assert (home / "dotfiles" / "bashrc").read_bytes() == OLD


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("directory", "is a directory"),
        ("pipe", "not a regular file"),
        ("read-only", "read-only"),
        ("dangling", "does not create files"),
    ],
)
def test_what_cannot_be_a_start_up_file_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch, kind: str, says: str) -> None:
    monkeypatch.setattr(use_toolkit, "ask_ways", partial(ask_ways, seconds=0.5))  # a shell that opens a pipe waits for a writer
    place = home / ".bashrc"
    if kind == "directory":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "dangling":
        place.symlink_to("nowhere/bashrc")
    else:
        place.write_bytes(OLD)
        place.chmod(0o400)
    result, words = _make(home)
    assert result is Result.REFUSED
    assert says in words


OURS, UTF_16 = b"gpuassist", (b"\xff\xfe", b"\xfe\xff")
BYTES = st.binary(max_size=80).filter(lambda content: OURS not in content and not content.startswith(UTF_16))
PIECES = st.sampled_from([OLD, b"a\n", b"if true; then\n", b"fi\n", b"f() {\n", b"}\n", b"\\", b"'", b"\r\n", b"\0"])
CONTENT = st.one_of(BYTES, st.lists(PIECES).map(b"".join))


@settings(max_examples=12, deadline=None)
@given(CONTENT)
def test_any_bytes_come_back(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / ".bashrc").write_bytes(content)
    result, _ = _make(home)
    if result is Result.MODIFIED:
        assert _make(home)[0] is Result.UNCHANGED
        undo(world_at(home), "")
    assert (home / ".bashrc").read_bytes() == content
