"""`use cuda` for people whose login shell is zsh or fish: the file, its language, the proof in that shell, and the undo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.plan import Result
from gpuassist.session import fix
from gpuassist.session.context import Session
from gpuassist.session.words import ENGLISH
from tests.changes.homes import make_toolkit, world_at

ZSH, FISH = pytest.mark.needs("zsh"), pytest.mark.needs("fish")


def _session(home: Path, shell: str, **variables: str) -> Session:
    world = world_at(home)
    around = replace(world.surroundings, login_shell=shell, variables={**world.surroundings.variables, **variables})
    make_toolkit(home / "cuda-11.7", "11.7.99")
    make_toolkit(home / "cuda-12.4", "12.4.131")
    return Session(replace(world, surroundings=around), Knowledge(lambda name: b"[]"), ENGLISH)


def _files(home: Path) -> dict[str, bytes]:
    hidden = (path for path in home.rglob("*") if path.is_file() and path.name.endswith(("rc", "env", "profile", ".fish")))
    return {str(path.relative_to(home)): path.read_bytes() for path in hidden}


SHELLS = [
    pytest.param(
        "/bin/zsh", {".zshrc": "export PATH={home}/cuda-11.7/bin:$PATH\n", ".zshenv": "typeset -U path\n"}, ".zshrc", marks=ZSH
    ),
    pytest.param("/bin/zsh", {".zshenv": "export ZDOTDIR=$HOME/z\n", "z/.zshrc": "alias x=y\n"}, "z/.zshrc", marks=ZSH),
    pytest.param("/usr/bin/fish", {}, ".config/fish/conf.d/gpuassist.fish", marks=FISH),
    pytest.param(
        "/usr/bin/fish",
        {".config/fish/conf.d/cuda.fish": "set -gx PATH {home}/cuda-11.7/bin $PATH\n"},
        ".config/fish/conf.d/gpuassist.fish",
        marks=FISH,
    ),
]


@pytest.mark.parametrize(("shell", "files", "main"), SHELLS)
def test_the_login_shell_finds_the_toolkit_and_forgets_it(home: Path, shell: str, files: dict[str, str], main: str) -> None:
    for name, content in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(content.format(home=home))
    session, before = _session(home, shell), _files(home)
    plan = fix.plan_use_cuda(session, fix.look(session), fix.UseCuda("12.4", everywhere=True))
    assert plan.edit.path == f"{home}/{main}"
    applied = fix.apply(session, plan)
    assert (applied.result, applied.proof.holds if applied.proof else None) == (Result.MODIFIED, fix.Holds.YES)
    fix.undo(session)
    assert _files(home) == before


@FISH
def test_a_fish_file_that_leads_elsewhere_is_retired(home: Path) -> None:
    folder = home / ".config" / "fish"
    folder.mkdir(parents=True)
    (folder / "config.fish").write_text(f"set -gx CUDA_HOME {home}/cuda-11.7\nset -gx PATH $CUDA_HOME/bin $PATH\n")
    session = _session(home, "/usr/bin/fish")
    plan = fix.plan_use_cuda(session, fix.look(session), fix.UseCuda("12.4", everywhere=True))
    assert [line.ticked for line in plan.lines if line.file.endswith("config.fish")] == [True, True]
    applied = fix.apply(session, plan)
    assert applied.proof is not None
    assert applied.proof.holds is fix.Holds.YES


@FISH
def test_a_line_of_fish_that_would_win_loses_the_other_toolkit(home: Path) -> None:
    folder = home / ".config" / "fish"
    folder.mkdir(parents=True)
    (folder / "config.fish").write_text(f"set -gx PATH {home}/cuda-11.7/bin $HOME/bin $PATH\n")
    session = _session(home, "/usr/bin/fish")
    plan = fix.plan_use_cuda(session, fix.look(session), fix.UseCuda("12.4", everywhere=True))
    applied = fix.apply(session, plan)
    assert applied.proof is not None
    assert applied.proof.holds is fix.Holds.YES
    assert "\nset -gx PATH $HOME/bin $PATH # gpuassist rewrote" in (folder / "config.fish").read_text()


def test_a_file_of_another_shell_says_who_reads_it(home: Path) -> None:
    session = _session(home, "/bin/bash")
    plan = fix.plan_use_cuda(session, fix.look(session), fix.UseCuda("12.4", rc=f"{home}/.zshrc"))
    notes = "\n".join(ENGLISH(note) for note in plan.plan.notes)
    assert plan.edit.dialect == "zsh"
    assert "your login shell is bash, which does not read" in notes
    assert "only zsh will find the change" in notes
