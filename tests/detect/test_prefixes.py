"""Environments wherever their makers put them, each once, and no more than a bounded number."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.detect import prefixes
from gpuassist.detect.prefixes import Prefix
from gpuassist.model.environment import Manager
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.shell import Terminal, Variable
from gpuassist.model.text import text
from tests.detect.made_python import make_conda, make_venv
from tests.fakes import FixedClock, link, put, world_under

NO_TERMINAL = Unknown(text("no"))


def _terminal(**variables: str) -> Known[Terminal]:
    return Known(Terminal("/bin/bash", tuple(Variable(*one) for one in variables.items()), ()), "a test")


def _scan(root: Path, **variables: str) -> dict[str, Manager]:
    fact = prefixes.scan(world_under(root, variables={"PATH": "", **variables}))
    assert isinstance(fact, Known)
    return {one.path: one.manager for one in fact.value}


@pytest.mark.parametrize(
    "path",
    [
        "/home/you/.venv",
        "/home/you/torch-env",
        "/home/you/project/.venv",
        "/home/you/project/venv",
        "/home/you/work/project/.venv",
        "/home/you/.virtualenvs/torch",
        "/home/you/.local/share/virtualenvs/torch-1a2b",
        "/home/you/.cache/pypoetry/virtualenvs/torch-py3.12",
        "/home/you/envs/torch",
    ],
)
def test_venv_is_found(tmp_path: Path, path: str) -> None:
    make_venv(tmp_path, path)
    assert _scan(tmp_path) == {path: Manager.VENV}


@pytest.mark.parametrize(
    "path",
    [
        "/home/you/miniconda3",
        "/home/you/miniforge3/envs/torch",
        "/home/you/.conda/envs/torch",
        "/opt/conda",
        "/opt/conda/envs/torch",
    ],
)
def test_conda_is_found(tmp_path: Path, path: str) -> None:
    make_conda(tmp_path, path)
    assert _scan(tmp_path) == {path: Manager.CONDA}


def test_conda_environment_elsewhere_is_found_by_its_list(tmp_path: Path) -> None:
    make_conda(tmp_path, "/data/envs/torch")
    put(tmp_path, "/home/you/.conda/environments.txt", "/data/envs/torch\n/data/envs/gone\n\n")
    assert _scan(tmp_path) == {"/data/envs/torch": Manager.CONDA}


def test_pyenv_versions_and_their_environments_are_found(tmp_path: Path) -> None:
    put(tmp_path, "/home/you/.pyenv/versions/3.11.7/lib/python3.11/os.py")
    make_venv(tmp_path, "/home/you/.pyenv/versions/3.11.7/envs/torch")
    link(tmp_path, "/home/you/.pyenv/versions/torch", "/home/you/.pyenv/versions/3.11.7/envs/torch")
    found = _scan(tmp_path)
    assert found["/home/you/.pyenv/versions/3.11.7"] is Manager.PYENV
    assert len(found) == 2


def test_root_of_pyenv_may_be_elsewhere(tmp_path: Path) -> None:
    put(tmp_path, "/data/pyenv/versions/3.11.7/lib/python3.11/os.py")
    assert _scan(tmp_path, PYENV_ROOT="/data/pyenv") == {"/data/pyenv/versions/3.11.7": Manager.PYENV}


def test_interpreters_of_uv_are_found_once(tmp_path: Path) -> None:
    base = "/home/you/.local/share/uv/python"
    put(tmp_path, f"{base}/cpython-3.12.1-linux-x86_64-gnu/lib/python3.12/os.py")
    link(tmp_path, f"{base}/cpython-3.12-linux-x86_64-gnu", "cpython-3.12.1-linux-x86_64-gnu")
    assert list(_scan(tmp_path).values()) == [Manager.UV]


def test_venv_of_uv_is_told_by_its_settings(tmp_path: Path) -> None:
    make_venv(tmp_path, "/home/you/project/.venv", more="uv = 0.5.1\n")
    assert _scan(tmp_path) == {"/home/you/project/.venv": Manager.UV}


def test_system_python_is_found(tmp_path: Path) -> None:
    put(tmp_path, "/usr/lib/python3.12/os.py")
    assert _scan(tmp_path) == {"/usr": Manager.SYSTEM}


def test_ordinary_directories_are_none(tmp_path: Path) -> None:
    put(tmp_path, "/home/you/project/main.py")
    put(tmp_path, "/home/you/env/notes.txt")
    assert _scan(tmp_path) == {}


def test_symlinked_directories_are_not_walked(tmp_path: Path) -> None:
    make_venv(tmp_path, "/mnt/nas/project/.venv")
    link(tmp_path, "/home/you/nas", "/mnt/nas")
    assert _scan(tmp_path) == {}


def test_active_environment_comes_first_wherever_it_is(tmp_path: Path) -> None:
    make_venv(tmp_path, "/data/mine")
    make_venv(tmp_path, "/home/you/.venv")
    world = world_under(tmp_path, variables={"PATH": ""})
    found = prefixes.with_active(world, _terminal(VIRTUAL_ENV="/data/mine/"), (Prefix("/home/you/.venv", Manager.VENV),))
    assert [one.path for one in found] == ["/data/mine", "/home/you/.venv"]


def test_our_own_environment_counts_as_active(tmp_path: Path) -> None:
    make_conda(tmp_path, "/data/mine")
    world = world_under(tmp_path, variables={"CONDA_PREFIX": "/data/mine"})
    assert prefixes.active_prefixes(world, NO_TERMINAL) == {"/data/mine"}
    assert [one.path for one in prefixes.with_active(world, NO_TERMINAL, ())] == ["/data/mine"]


def test_number_of_environments_is_bounded(tmp_path: Path) -> None:
    for number in range(prefixes.AT_MOST + 5):
        put(tmp_path, f"/home/you/envs/{number}/pyvenv.cfg")
    assert len(_scan(tmp_path)) == prefixes.AT_MOST


def test_search_of_a_slow_home_ends(tmp_path: Path) -> None:
    class Racing(FixedClock):
        def monotonic(self) -> float:
            self.ticks += 1
            return self.ticks

    for number in range(20):
        put(tmp_path, f"/home/you/{number:02}/.venv/pyvenv.cfg")
    world = world_under(tmp_path)
    slow = type(world)(world.surroundings, world.files, world.processes, Racing(), world.resources)
    found = prefixes.scan(slow)
    assert isinstance(found, Known)
    assert len(found.value) < 3
