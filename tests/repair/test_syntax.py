"""Whether bash can parse a file: asked of the real bash, which runs none of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.repair.syntax import breaks, check
from gpuassist.system.processes import Ending, Outcome
from tests.fakes import ScriptedProcesses, world_under
from tests.repair.homes import world_at


@pytest.mark.parametrize("content", [b"", b"export A=1\n", b"no newline", b"# caf\xe9\n", b"f() { :; }\n"])
def test_valid_files_are_valid(home: Path, content: bytes) -> None:
    syntax = check(world_at(home), content)
    assert (syntax.broken, syntax.asked) == (False, True)


@pytest.mark.parametrize("content", [b"if x; then\n", b"fi\n", b'echo "\n', b"f() {\n", b"case x in\r\n a) ;;\r\nesac\r\n"])
def test_broken_files_are_broken(home: Path, content: bytes) -> None:
    syntax = check(world_at(home), content)
    assert syntax.broken
    assert "line" in syntax.words


def test_nothing_of_the_file_runs(home: Path) -> None:
    check(world_at(home), f"touch {home}/ran\nexec touch {home}/ran\n".encode())
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("ending", [Ending.NOT_FOUND, Ending.TIMED_OUT, Ending.KILLED])
def test_a_bash_that_does_not_answer_is_unknown(tmp_path: Path, ending: Ending) -> None:
    silent = ScriptedProcesses({"bash --noprofile --norc -n": Outcome(ending, 0, b"", b"", 0.0)})
    syntax = check(world_under(tmp_path, processes=silent), b"fi\n")
    assert (syntax.broken, syntax.asked, syntax.words) == (False, False, ending.value)


@pytest.mark.parametrize(
    ("before", "after", "broke"), [(b"x\n", b"fi\n", True), (b"fi\n", b"fi\nfi\n", False), (b"fi\n", b"x\n", False)]
)
def test_only_what_was_right_can_break(home: Path, before: bytes, after: bytes, broke: bool) -> None:
    world = world_at(home)
    assert breaks(check(world, before), check(world, after)) is broke
