"""Whether a shell can parse a file: asked of the real shell, which runs none of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.changes.syntax import breaks, check
from gpuassist.system.processes import Ending, ProcessResult
from tests.changes.homes import world_at
from tests.fakes import ScriptedProcesses, world_under

ZSH = pytest.mark.needs("zsh")
FISH = pytest.mark.needs("fish")


@pytest.mark.parametrize(
    ("dialect", "content"),
    [
        ("bash", b""),
        ("bash", b"export A=1\n"),
        ("bash", b"no newline"),
        ("bash", b"# caf\xe9\n"),
        ("bash", b"f() { :; }\n"),
        pytest.param("zsh", b"path=(/a $path)\n() { print hi }\n", marks=ZSH),
        pytest.param("zsh", b"", marks=ZSH),
        pytest.param("fish", b"if true\n set -gx A 1\nend\n", marks=FISH),
        pytest.param("fish", b"", marks=FISH),
        ("json", b'{"a": 1}'),
        ("env", b"if ( then\n"),
        ("environment", b"A=1\n"),
        ("text", b"\xff\0"),
    ],
)
def test_valid_files_are_valid(home: Path, dialect: str, content: bytes) -> None:
    syntax = check(world_at(home), content, dialect)
    assert (syntax.broken, syntax.asked) == (False, True)


@pytest.mark.parametrize(
    ("dialect", "content"),
    [
        ("bash", b"if x; then\n"),
        ("bash", b"fi\n"),
        ("bash", b'echo "\n'),
        ("bash", b"f() {\n"),
        ("bash", b"case x in\r\n a) ;;\r\nesac\r\n"),
        pytest.param("zsh", b"a\nfi\n", marks=ZSH),
        pytest.param("fish", b"a\nif true\n", marks=FISH),
        ("json", b'{"a":\n'),
        ("json", b"[" * 200_000),
    ],
)
def test_broken_files_are_broken(home: Path, dialect: str, content: bytes) -> None:
    syntax = check(world_at(home), content, dialect)
    assert syntax.broken
    assert syntax.shell == dialect
    assert syntax.words


def test_a_here_document_that_nothing_ends_is_broken(home: Path) -> None:
    """bash only warns of it, and takes everything below for its text."""
    syntax = check(world_at(home), b"cat <<EOF >/dev/null\nunclosed\n", "bash")
    assert syntax.broken
    assert "here-document" in syntax.words
    assert not check(world_at(home), b"cat <<EOF >/dev/null\nclosed\nEOF\n", "bash").broken


@pytest.mark.parametrize("shell", ["bash", pytest.param("zsh", marks=ZSH), pytest.param("fish", marks=FISH)])
def test_nothing_of_the_file_runs(home: Path, shell: str) -> None:
    check(world_at(home), f"touch {home}/ran\nexec touch {home}/ran\n".encode(), shell)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("ending", [Ending.NOT_FOUND, Ending.TIMED_OUT, Ending.KILLED])
def test_a_bash_that_does_not_answer_is_unknown(tmp_path: Path, ending: Ending) -> None:
    silent = ScriptedProcesses({"bash --noprofile --norc -n": ProcessResult(ending, 0, b"", b"", 0.0)})
    syntax = check(world_under(tmp_path, processes=silent), b"fi\n")
    assert (syntax.broken, syntax.asked, syntax.words) == (False, False, ending.value)


@pytest.mark.parametrize(
    ("before", "after", "broke"), [(b"x\n", b"fi\n", True), (b"fi\n", b"fi\nfi\n", False), (b"fi\n", b"x\n", False)]
)
def test_only_what_was_right_can_break(home: Path, before: bytes, after: bytes, broke: bool) -> None:
    world = world_at(home)
    assert breaks(check(world, before), check(world, after)) is broke
