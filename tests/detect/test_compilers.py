"""Host compilers on PATH and beside it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gpuassist.detect import compilers
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Command, Terminal
from gpuassist.model.text import text
from gpuassist.model.toolkit import Compiler
from gpuassist.model.words import ENGLISH
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.fakes import ScriptedProcesses, link, put, world_under
from tests.strangers import NOBODY, OwnedFiles

ASK_GCC = "-dumpfullversion -dumpversion"


def _terminal(*paths: str) -> Known[Terminal]:
    return Known(Terminal("/bin/bash", (), tuple(Command(path.rpartition("/")[2], path, path) for path in paths)), "a test")


def _found(root: Path, terminal: Fact[Terminal], answers: dict[str, str] | None = None) -> tuple[Compiler, ...]:
    fact = compilers.probe(world_under(root, processes=ScriptedProcesses(dict(answers or {}))), terminal)
    assert isinstance(fact, Known)
    return fact.value


def _told(found: tuple[Compiler, ...]) -> list[tuple[str, str, str]]:
    return [(one.family, one.path, str(one.version.value)) for one in found if isinstance(one.version, Known)]


def test_compiler_on_path_tells_its_full_version(tmp_path: Path) -> None:
    put(tmp_path, "/usr/bin/gcc", mode=0o755)
    found = _found(tmp_path, _terminal("/usr/bin/gcc"), {f"/usr/bin/gcc {ASK_GCC}": "13.3.0\n"})
    assert _told(found) == [("gcc", "/usr/bin/gcc", "13.3.0")]


def test_clang_is_asked_its_own_way(tmp_path: Path) -> None:
    found = _found(tmp_path, _terminal("/usr/bin/clang"), {"/usr/bin/clang -dumpversion": "18.1.3\n"})
    assert _told(found) == [("clang", "/usr/bin/clang", "18.1.3")]


def test_numbered_compilers_tell_by_their_names(tmp_path: Path) -> None:
    for name in ("gcc-12", "g++-12", "clang-17", "gcc-ar-12", "clang-format-17", "c89-gcc"):
        put(tmp_path, f"/usr/bin/{name}", mode=0o755)
    assert _told(_found(tmp_path, _terminal())) == [
        ("clang", "/usr/bin/clang-17", "17"),
        ("g++", "/usr/bin/g++-12", "12"),
        ("gcc", "/usr/bin/gcc-12", "12"),
    ]


def test_compiler_that_path_finds_is_listed_once(tmp_path: Path) -> None:
    put(tmp_path, "/usr/bin/x86_64-linux-gnu-gcc-12", mode=0o755)
    link(tmp_path, "/usr/bin/gcc-12", "x86_64-linux-gnu-gcc-12")
    link(tmp_path, "/usr/bin/gcc", "gcc-12")
    found = _found(tmp_path, _terminal("/usr/bin/gcc"), {f"/usr/bin/gcc {ASK_GCC}": "12.2.0\n"})
    assert [one.path for one in found] == ["/usr/bin/gcc"]


def test_compiler_that_prints_junk_is_unknown(tmp_path: Path) -> None:
    (found,) = _found(tmp_path, _terminal("/usr/bin/gcc"), {f"/usr/bin/gcc {ASK_GCC}": "distcc: no hosts\n"})
    assert isinstance(found.version, Unknown)
    assert ENGLISH(found.version.reason) == "/usr/bin/gcc did not tell its version: distcc: no hosts"


def test_no_terminal_still_lists_the_numbered(tmp_path: Path) -> None:
    put(tmp_path, "/usr/bin/gcc-11", mode=0o755)
    assert _told(_found(tmp_path, Unknown(text("no")))) == [("gcc", "/usr/bin/gcc-11", "11")]


def test_dangling_link_is_no_compiler(tmp_path: Path) -> None:
    link(tmp_path, "/usr/bin/gcc-9", "gone")
    assert _found(tmp_path, _terminal()) == ()


@pytest.mark.needs("gcc")
def test_real_gcc_tells_its_version() -> None:
    path = shutil.which("gcc") or ""
    fact = compilers.probe(World(Surroundings("/nonexistent", "you", 1000)), _terminal(path))
    assert isinstance(fact, Known)
    assert isinstance(fact.value[0].version, Known)
    assert fact.value[0].version.value.major >= 4


def test_a_compiler_that_others_could_have_put_there_is_not_run_as_root(tmp_path: Path) -> None:
    gcc = str(put(tmp_path, "bin/gcc", "#!/bin/sh\n", mode=0o755))
    processes = ScriptedProcesses({f"{gcc} {ASK_GCC}": "13.3.0\n"})
    world = World(Surroundings("/root", "root", 0), OwnedFiles(given={gcc: (NOBODY, 0o755)}), processes)
    fact = compilers.probe(world, _terminal(gcc))
    assert isinstance(fact, Known)
    version = next(one.version for one in fact.value if one.path == gcc)
    assert isinstance(version, Unknown)
    assert "is not run as root" in ENGLISH(version.reason)
    assert processes.asked == []
