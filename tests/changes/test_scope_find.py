"""Naming a scope: which words mean which place, and which files hold what is chosen there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpuassist.changes.scope_find import find_scope
from gpuassist.changes.scope_plan import notes_on_lines
from gpuassist.changes.scopes.kinds import Kind
from gpuassist.changes.scopes.values import Wanted
from gpuassist.context import Session
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.block import RepairError
from tests.changes.scoped import furnish, session_at


@pytest.fixture
def session(home: Path) -> Session:
    return session_at(furnish(home))


@pytest.mark.parametrize(
    ("words", "kind", "place"),
    [
        ("conda:ml", Kind.CONDA, "miniconda3/envs/ml"),
        ("conda:base", Kind.CONDA, "miniconda3"),
        ("conda:~/miniconda3/envs/other", Kind.CONDA, "miniconda3/envs/other"),
        ("conda:~/miniconda3/envs/other/", Kind.CONDA, "miniconda3/envs/other"),
        ("venv:~/project/.venv", Kind.VENV, "project/.venv"),
        ("venv:~/project/../project/.venv", Kind.VENV, "project/.venv"),
        ("envrc:~", Kind.ENVRC, "."),
        ("envrc:~/project", Kind.ENVRC, "project"),
        ("dotenv:~/project/", Kind.DOTENV, "project"),
        ("jupyter:ml", Kind.JUPYTER, ".local/share/jupyter/kernels/ml/kernel.json"),
        ("jupyter:Ml", Kind.JUPYTER, ".local/share/jupyter/kernels/ml/kernel.json"),
        ("jupyter:~/.local/share/jupyter/kernels/ml", Kind.JUPYTER, ".local/share/jupyter/kernels/ml/kernel.json"),
        ("jupyter:~/.local/share/jupyter/kernels/ml/kernel.json", Kind.JUPYTER, ".local/share/jupyter/kernels/ml/kernel.json"),
        ("desktop", Kind.DESKTOP, "."),
    ],
)
def test_words_mean_a_place(session: Session, home: Path, words: str, kind: Kind, place: str) -> None:
    scope = find_scope(session.world, words)
    assert (scope.kind, scope.place, scope.words) == (kind, os.path.normpath(home / place), words)


def test_relative_words_are_below_this_directory(session: Session, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "project")
    assert find_scope(session.world, "dotenv:.").place == f"{home}/project"
    assert find_scope(session.world, "venv:.venv").place == f"{home}/project/.venv"


@pytest.mark.parametrize(
    ("words", "files"),
    [
        ("conda:ml", ["etc/conda/activate.d/gpuassist.sh", "etc/conda/deactivate.d/gpuassist.sh"]),
        ("venv:~/project/.venv", ["bin/activate", "bin/activate.fish"]),
        ("envrc:~/project", [".envrc"]),
        ("dotenv:~/project", [".env"]),
        ("jupyter:ml", []),
        ("desktop", [".config/environment.d/60-gpuassist.conf"]),
    ],
)
def test_each_kind_has_its_files(session: Session, words: str, files: list[str]) -> None:
    scope = find_scope(session.world, words)
    assert [os.path.relpath(file.path, scope.place) for file in scope.files] == files


def test_an_environment_without_fish_scripts_has_none(session: Session, home: Path) -> None:
    (home / "project/.venv/bin/activate.fish").unlink()
    assert len(find_scope(session.world, "venv:~/project/.venv").files) == 1


def test_fish_hooks_that_are_there_are_kept_up(session: Session, home: Path) -> None:
    hook = home / "miniconda3/envs/ml/etc/conda/activate.d/gpuassist.fish"
    hook.parent.mkdir(parents=True)
    hook.write_text("")
    assert len(find_scope(session.world, "conda:ml").files) == 4


def test_condas_own_activate_is_no_virtual_environment(session: Session, home: Path) -> None:
    (home / "miniconda3/bin/activate").write_text("conda activate\n")
    with pytest.raises(RepairError) as caught:
        find_scope(session.world, "venv:~/miniconda3")
    assert f"conda:{home}/miniconda3 names it" in ENGLISH(caught.value.reason)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b"CUDA_HOME=/x", "CUDA_HOME"),
        (b"export CUDA_HOME=/x", "CUDA_HOME"),
        (b"  export CUDA_VISIBLE_DEVICES=1", "CUDA_VISIBLE_DEVICES"),
        (b"set -gx CUDA_DEVICE_ORDER PCI_BUS_ID", "CUDA_DEVICE_ORDER"),
        (b"# CUDA_HOME=/x", ""),
        (b"MY_CUDA_HOME=/x", ""),
        (b"CUDA_HOME_OLD=/x", ""),
        (b"echo CUDA_HOME=/x", ""),
    ],
)
def test_lines_of_the_users_own_are_named(line: bytes, name: str) -> None:
    wanted = Wanted("/opt/cuda", "", ("0",))
    found = [ENGLISH(note) for note in notes_on_lines("/f", b"A=1\n" + line + b"\n", wanted)]
    assert [note.split(" too;")[0] for note in found] == ([f"line 2 of /f sets {name}"] if name else [])


@pytest.mark.parametrize(("wanted", "count"), [(Wanted("/opt/cuda"), 1), (Wanted(devices=("0",)), 2), (Wanted(devices=()), 2)])
def test_only_lines_that_matter_are_named(wanted: Wanted, count: int) -> None:
    content = b"CUDA_HOME=/x\nCUDA_VISIBLE_DEVICES=1\nCUDA_DEVICE_ORDER=PCI_BUS_ID\n"
    assert len(list(notes_on_lines("/f", content, wanted))) == count
