"""A start-up file of every kind, good and bad: the doctor answers, the repair keeps every byte or refuses and says why."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.changes.wishes import UseCuda
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Result
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from tests.changes.homes import made, make_toolkit, world_at
from tests.e2e.command import Done, bashrc, gpuassist, gpuassist_here, in_shell
from tests.e2e.contract import check_diagnosis

USE = ("use", "cuda", "12.4", "--yes", "--json")
OLD = b"# mine\nexport PATH=%s/cuda-11.7/bin:$PATH\n"


@pytest.fixture
def scratch(home: Path) -> Path:
    """A home with two toolkits and a start-up file that puts the older one first."""
    make_toolkit(home / "cuda-11.7", "11.7.99")
    make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / ".bashrc").write_bytes(OLD % bytes(home))
    return home


def _terminal(done: Done) -> Any:
    return done.document()["shell"]["new_terminal"]


def _nvcc(home: Path) -> str:
    """What a new terminal of this home finds, as `detect` sees it."""
    commands = _terminal(gpuassist_here(home, "detect", "--json"))["value"]["commands"]
    return next((command["path"] for command in commands if command["name"] == "nvcc"), "")


def _use(home: Path) -> Done:
    return gpuassist_here(home, *USE)


def _everything(home: Path) -> dict[str, object]:
    """What lies in a home, but for the journal: names with what they hold."""
    paths = (path for path in sorted(home.rglob("*")) if ".local" not in path.parts and not path.is_relative_to(home / "cuda-12.4"))
    return {str(path): _content(path) for path in paths}


def _content(path: Path) -> object:
    if path.is_symlink():
        return os.readlink(path)
    return path.read_bytes() if path.is_file() else path.is_dir()


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "kept").write_text("mine")


def _dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("dotfiles/bashrc")


def _to_itself(path: Path) -> None:
    path.unlink()
    path.symlink_to(".bashrc")


def _read_only(path: Path) -> None:
    path.chmod(0o444)


def _utf_16(path: Path) -> None:
    path.write_bytes("export A=1\n".encode("utf-16"))


def _binary(path: Path) -> None:
    path.write_bytes(b"# a\0b\nexport C=1\n")


REFUSED = (_directory, _dangling, _to_itself, _read_only, _utf_16, _binary)


@pytest.mark.parametrize("make", REFUSED)
def test_what_cannot_be_written_is_refused(scratch: Path, make: Callable[[Path], None]) -> None:
    make(scratch / ".bashrc")
    before = _everything(scratch)
    done = _use(scratch)
    document = done.document()
    assert (done.status, document["result"], document["change"], document["proof"]) == (2, "refused", None, None)
    assert ".bashrc" in document["message"]
    assert f"export CUDA_HOME={scratch}/cuda-12.4\n" in document["block"]
    assert _everything(scratch) == before


@pytest.mark.parametrize("make", REFUSED)
def test_doctor_answers_whatever_the_file_is(scratch: Path, make: Callable[[Path], None]) -> None:
    make(scratch / ".bashrc")
    check_diagnosis(gpuassist_here(scratch, "doctor", "--json").document())


KEPT = {
    "empty": b"",
    "no end": b"# no end",
    "crlf": b"# mine\r\nexport A=1\r\n",
    "latin-1": b"# caf\xe9\nexport B=\xff\n",
    "tabs": b"if true; then\n\texport D=1\nfi\n",
    "here-document": b"cat > /dev/null <<'EOF'\nexport PATH=/x:$PATH\nEOF\n",
    "guard": b"case $- in *i*) ;; *) return;; esac\n",
    "banner": b"echo hello\necho oops >&2\n",
    "two mebibytes": b"# filler filler filler\n" * 91_000,
}


@pytest.mark.parametrize("name", KEPT)
def test_change_is_proved_and_taken_back_byte_for_byte(scratch: Path, name: str) -> None:
    file = scratch / ".bashrc"
    file.write_bytes(KEPT[name])
    done = _use(scratch)
    assert (done.status, done.document()["proof"]["holds"]) == (0, True), done
    found = in_shell(scratch, "bash -ic 'command -v nvcc'").text.splitlines()
    assert found[-1] == f"{scratch}/cuda-12.4/bin/nvcc"
    assert gpuassist_here(scratch, "undo").status == 0
    assert file.read_bytes() == KEPT[name]


def test_detect_finds_what_a_process_of_its_own_chose(scratch: Path) -> None:
    assert gpuassist(scratch, *USE).status == 0
    assert _nvcc(scratch) == f"{scratch}/cuda-12.4/bin/nvcc"
    assert gpuassist(scratch, "undo").status == 0
    assert _nvcc(scratch) == f"{scratch}/cuda-11.7/bin/nvcc"


def _lines_of_a_block(home: Path) -> list[str]:
    bashrc(home, "alias x=y")
    toolkit = Toolkit(f"{home}/cuda-12.4", version=Known(Version.parse("12.4.131"), "made"))
    machine = Machine(toolkits=Known((toolkit,), "made"), environments=Known((), "made"))
    world = world_at(home)
    assert made(world, plan_use_cuda(world, machine, UseCuda("12.4"))).result is Result.MODIFIED
    lines = (home / ".bashrc").read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("# >>> gpuassist"))
    return lines[first:]


@pytest.mark.parametrize("damage", ["no end", "no beginning", "twice", "inside out"])
def test_unbalanced_markers_lose_nothing(scratch: Path, damage: str) -> None:
    block = _lines_of_a_block(scratch)
    after = ["export MINE=1"]
    damaged = {
        "no end": [*block[:-1], *after],
        "no beginning": [*block[1:], *after],
        "twice": [*block, *block, *after],
        "inside out": [block[-1], *block[1:-1], block[0], *after],
    }[damage]
    file = bashrc(scratch, *damaged)
    before = file.read_bytes()
    done = _use(scratch)
    assert (done.status, done.document()["result"]) == (2, "refused")
    assert "markers in this file do not pair up" in done.document()["message"]
    assert file.read_bytes() == before


def test_symlink_into_a_checkout_is_followed_and_noted(scratch: Path) -> None:
    checkout = scratch / "dotfiles"
    (checkout / ".git").mkdir(parents=True)
    (scratch / ".bashrc").rename(checkout / "bashrc")
    (scratch / ".bashrc").symlink_to("dotfiles/bashrc")
    document = _use(scratch).document()
    assert (document["result"], document["target"]) == ("modified", str(checkout / "bashrc"))
    assert any("git" in note for note in document["notes"])
    assert (scratch / ".bashrc").is_symlink()


def test_undo_keeps_what_was_written_since(scratch: Path) -> None:
    file = scratch / ".bashrc"
    before = file.read_bytes()
    _use(scratch)
    file.write_bytes(file.read_bytes() + b"alias later=true\n")
    assert gpuassist_here(scratch, "undo").status == 0
    assert file.read_bytes() == before + b"alias later=true\n"


STRANGE = ("a 'quoted' space", "$(touch hacked)`touch hacked`", 'a"b;c\\d*', "ünï", "-n")


def _unhacked(directory: Path) -> bool:
    return not list(directory.rglob("hacked"))


@pytest.mark.parametrize("name", STRANGE)
def test_home_with_a_strange_name_is_served(tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    home.mkdir()
    make_toolkit(home / "cuda-12.4", "12.4.131")
    proof = _use(home).document()["proof"]
    assert (proof["holds"], proof["nvcc"]) == (True, f"{home}/cuda-12.4/bin/nvcc")
    assert gpuassist_here(home, "undo").status == 0
    assert not (home / ".bashrc").exists()
    assert _unhacked(tmp_path)


@pytest.mark.parametrize("name", STRANGE)
def test_toolkit_with_a_strange_name_is_not_run_as_code(home: Path, name: str) -> None:
    root = make_toolkit(home / f"cuda-12.4{name}", "12.4.131")
    proof = _use(home).document()["proof"]
    assert (proof["holds"], proof["nvcc"]) == (True, f"{root}/bin/nvcc")
    assert _unhacked(home)


@pytest.mark.parametrize("name", ["a\nline", "a:colon"])
def test_toolkit_that_no_line_can_hold_is_refused(home: Path, name: str) -> None:
    make_toolkit(home / f"cuda-12.4{name}", "12.4.131")
    done = _use(home)
    assert (done.status, done.document()["result"]) == (2, "refused")
    assert "holds a" in done.document()["message"]
    assert not (home / ".bashrc").exists()


@pytest.mark.parametrize("variables", [{"HOME": ""}, {"HOME": "/nonexistent"}, {"HOME": "relative"}, {"HOME": "/dev/null"}])
def test_home_that_is_none_is_no_fault(home: Path, variables: dict[str, str]) -> None:
    check_diagnosis(gpuassist_here(home, "doctor", "--json", **variables).document())


@pytest.mark.parametrize(
    "variables", [{"PATH": "/nonexistent"}, {"SHELL": "/nonexistent"}, {"SHELL": "/bin/false"}, {"PATH": ":::"}]
)
def test_environment_that_is_broken_is_no_fault(home: Path, variables: dict[str, str]) -> None:
    done = gpuassist_here(home, "doctor", "--json", **variables)
    check_diagnosis(done.document())


LEAVES = {"exec": "exec sh", "exit": "exit 7", "killed": "kill -9 $$", "syntax": "if then (("}


@pytest.mark.parametrize("name", LEAVES)
def test_file_that_leaves_the_shell_is_said(home: Path, name: str) -> None:
    bashrc(home, LEAVES[name])
    done = gpuassist_here(home, "detect", "--json")
    fact = _terminal(done)
    assert done.status == 0
    assert fact["value"] is not None or "/bin/bash" in fact["reason"]


@pytest.mark.parametrize(
    "line", ["echo hello", "echo oops >&2", "printf 'a\\0b'", "read answer", "set -e; false || true", "PS1='> '"]
)
def test_chatty_file_is_read_all_the_same(home: Path, line: str) -> None:
    bashrc(home, line, "export CUDA_HOME=/opt/mine")
    variables = _terminal(gpuassist_here(home, "detect", "--json"))["value"]["variables"]
    assert {"name": "CUDA_HOME", "value": "/opt/mine"} in variables
