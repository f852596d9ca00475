"""`use cuda` for people whose login shell is zsh or fish: the file, its language, the proof in that shell, and the undo."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.plan import ChangeOutcome, ChangePlan
from gpuassist.changes.undo import undo
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.changes.wishes import UseCuda
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known
from gpuassist.model.plan import Result
from gpuassist.model.words import ENGLISH
from gpuassist.session.use import look
from tests.changes.homes import make_toolkit, world_at

ZSH, FISH = pytest.mark.needs("zsh"), pytest.mark.needs("fish")


def _session(home: Path, shell: str, **variables: str) -> Session:
    world = world_at(home)
    around = replace(world.surroundings, login_shell=shell, variables={**world.surroundings.variables, **variables})
    make_toolkit(home / "cuda-11.7", "11.7.99")
    make_toolkit(home / "cuda-12.4", "12.4.131")
    return Session(replace(world, surroundings=around), Knowledge(lambda name: b"[]"), ENGLISH)


def _plan(session: Session, rc: str = "") -> ChangePlan:
    return plan_use_cuda(session.world, look(session), UseCuda("12.4", rc=rc))


def _holds(outcome: ChangeOutcome) -> bool:
    assert outcome.proof is not None
    assert isinstance(outcome.proof.holds, Known)
    return outcome.proof.holds.value


def _files(home: Path) -> dict[str, bytes]:
    hidden = (path for path in home.rglob("*") if path.is_file() and path.name.endswith(("rc", "env", "profile", ".fish")))
    return {str(path.relative_to(home)): path.read_bytes() for path in hidden}


SHELLS = [
    pytest.param(
        "/bin/zsh", {".zshrc": "export PATH={home}/cuda-11.7/bin:$PATH\n", ".zshenv": "typeset -U path\n"}, ".zshrc", marks=ZSH
    ),
    pytest.param("/bin/zsh", {".zshenv": "export ZDOTDIR=$HOME/z\n", "z/.zshrc": "alias x=y\n"}, "z/.zshrc", marks=ZSH),
    pytest.param("/usr/bin/fish", {}, ".config/fish/config.fish", marks=FISH),
    pytest.param(
        "/usr/bin/fish",
        {".config/fish/conf.d/cuda.fish": "set -gx PATH {home}/cuda-11.7/bin $PATH\n"},
        ".config/fish/conf.d/cuda.fish",
        marks=FISH,
    ),
]


@pytest.mark.parametrize(("shell", "files", "main"), SHELLS)
def test_the_login_shell_finds_the_toolkit_and_forgets_it(home: Path, shell: str, files: dict[str, str], main: str) -> None:
    for name, content in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(content.format(home=home))
    session = _session(home, shell)
    plan = _plan(session)
    before = _files(home)  # fish makes a config.fish of its own when it is started for the first time
    assert [edit.path for edit in plan.edits if edit.after != edit.before] == [f"{home}/{main}"]
    outcome = carry_out(session.world, plan)
    assert (outcome.outcome.result, _holds(outcome)) == (Result.MODIFIED, True)
    undo(session.world, "")
    assert _files(home) == before


@FISH
@pytest.mark.parametrize(
    ("content", "after"),
    [
        (
            "set -gx CUDA_HOME {home}/cuda-11.7\nset -gx PATH $CUDA_HOME/bin $PATH\n",
            "set -gx CUDA_HOME {home}/cuda-12.4\nset -gx PATH $CUDA_HOME/bin $PATH\n",
        ),
        ("set -gx PATH {home}/cuda-11.7/bin $HOME/bin $PATH\n", "set -gx PATH {home}/cuda-12.4/bin $HOME/bin $PATH\n"),
        (
            "if test -d {home}/cuda-11.7\n    set -gx CUDA_HOME '{home}/cuda-11.7'\n    fish_add_path -g $CUDA_HOME/bin\nend\n",
            "if test -d {home}/cuda-12.4\n    set -gx CUDA_HOME '{home}/cuda-12.4'\n    fish_add_path -g $CUDA_HOME/bin\nend\n",
        ),
    ],
)
def test_words_of_fish_are_replaced(home: Path, content: str, after: str) -> None:
    folder = home / ".config" / "fish"
    folder.mkdir(parents=True)
    (folder / "config.fish").write_text(content.format(home=home))
    session = _session(home, "/usr/bin/fish")
    assert _holds(carry_out(session.world, _plan(session)))
    assert (folder / "config.fish").read_text() == after.format(home=home)


def test_a_file_of_another_shell_says_who_reads_it(home: Path) -> None:
    session = _session(home, "/bin/bash")
    plan = _plan(session, f"{home}/.zshrc")
    notes = "\n".join(ENGLISH(note) for note in plan.plan.notes)
    assert plan.edit.dialect == "zsh"
    assert "your login shell is bash, which does not read" in notes
    assert "only zsh will find the change" in notes
