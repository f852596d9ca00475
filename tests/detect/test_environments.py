"""Python environments as their files describe them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.detect import environments
from gpuassist.model.environment import Manager, PythonEnvironment
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Terminal, Variable
from gpuassist.model.words import ENGLISH
from gpuassist.system.files import Files
from tests.detect.made_python import make_conda, make_torch, make_venv
from tests.fakes import ScriptedProcesses, link, put, world_under


def _found(root: Path, **variables: str) -> tuple[PythonEnvironment, ...]:
    terminal = Known(Terminal("/bin/bash", tuple(Variable(*one) for one in variables.items()), ()), "a test")
    fact = environments.probe(world_under(root, variables={"PATH": ""}), terminal)
    assert isinstance(fact, Known)
    return fact.value


def _value(fact: Fact[Any]) -> Any:
    assert isinstance(fact, Known), fact
    return fact.value


def _why(fact: Fact[Any]) -> str:
    assert isinstance(fact, Unknown), fact
    return ENGLISH(fact.reason)


def test_venv_of_a_project_is_described(tmp_path: Path) -> None:
    make_venv(tmp_path, "/home/you/project/.venv")
    make_torch(tmp_path, "/home/you/project/.venv/lib/python3.12/site-packages", "2.5.1+cpu")
    (found,) = _found(tmp_path)
    assert (found.prefix, found.name) == ("/home/you/project/.venv", "project/.venv")
    assert (_value(found.manager), str(_value(found.python_version))) == (Manager.VENV, "3.12.1")
    assert _value(found.interpreter) == "/home/you/project/.venv/bin/python"
    assert [_value(torch.version) for torch in _value(found.torch)] == ["2.5.1+cpu"]


def test_environment_without_torch_has_none(tmp_path: Path) -> None:
    make_venv(tmp_path, "/home/you/.venv")
    assert _value(_found(tmp_path)[0].torch) == ()


def test_active_environment_is_marked_and_first(tmp_path: Path) -> None:
    make_venv(tmp_path, "/home/you/a")
    make_venv(tmp_path, "/home/you/b")
    link(tmp_path, "/data/link", "/home/you/b")
    first, second = _found(tmp_path, VIRTUAL_ENV="/data/link")
    assert (_value(first.active), _value(second.active), second.prefix) == (True, False, "/home/you/a")


def test_missing_interpreter_is_unknown_with_where_it_was(tmp_path: Path) -> None:
    make_venv(tmp_path, "/home/you/.venv", interpreter=False)
    link(tmp_path, "/home/you/.venv/bin/python", "/usr/bin/python3.9")
    (found,) = _found(tmp_path)
    assert _why(found.interpreter) == "/home/you/.venv/bin/python leads to /usr/bin/python3.9, which is not there"


def test_empty_environment_holds_no_python(tmp_path: Path) -> None:
    make_venv(tmp_path, "/home/you/.venv", interpreter=False)
    assert _why(_found(tmp_path)[0].interpreter) == "/home/you/.venv/bin holds no python"


def test_interpreter_that_may_not_run_is_unknown(tmp_path: Path) -> None:
    make_venv(tmp_path, "/home/you/.venv", interpreter=False)
    put(tmp_path, "/home/you/.venv/bin/python", mode=0o644)
    assert _why(_found(tmp_path)[0].interpreter) == "/home/you/.venv/bin/python may not be run by this user"


def test_conda_base_and_environment_have_their_names(tmp_path: Path) -> None:
    make_conda(tmp_path, "/home/you/miniconda3")
    put(tmp_path, "/home/you/miniconda3/condabin/conda")
    make_conda(tmp_path, "/home/you/miniconda3/envs/torch", version="3.10.4")
    assert [(one.name, str(_value(one.python_version))) for one in _found(tmp_path)] == [("base", "3.11.9"), ("torch", "3.10.4")]


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("/home/you/.pyenv/versions/3.11.7", "3.11.7"),
        ("/home/you/.pyenv/versions/mine", "3.11"),
        ("/home/you/.local/share/uv/python/cpython-3.11.7-linux-x86_64-gnu", "3.11.7"),
    ],
)
def test_version_is_in_the_name_or_the_library(tmp_path: Path, path: str, version: str) -> None:
    put(tmp_path, f"{path}/lib/python3.11/os.py")
    assert str(_value(_found(tmp_path)[0].python_version)) == version


def test_system_has_one_environment_a_python(tmp_path: Path) -> None:
    for release in ("3.9", "3.12"):
        put(tmp_path, f"/usr/lib/python{release}/os.py")
        put(tmp_path, f"/usr/bin/python{release}", mode=0o755)
    put(tmp_path, "/usr/lib/python3.7/leftover.py")
    assert [(one.name, _value(one.interpreter)) for one in _found(tmp_path)] == [
        ("python3.12", "/usr/bin/python3.12"),
        ("python3.9", "/usr/bin/python3.9"),
    ]


def test_users_own_torch_shadows_the_systems_and_both_are_listed(tmp_path: Path) -> None:
    put(tmp_path, "/usr/lib/python3.12/os.py")
    put(tmp_path, "/usr/bin/python3.12", mode=0o755)
    make_torch(tmp_path, "/usr/lib/python3/dist-packages", "2.0.1", installer="")
    make_torch(tmp_path, "/home/you/.local/lib/python3.12/site-packages", "2.5.1+cu124", cuda="12.4", targets="sm_90")
    (found,) = _found(tmp_path)
    assert [_value(torch.version) for torch in _value(found.torch)] == ["2.5.1+cu124", "2.0.1"]


def test_python_path_of_the_terminal_shadows_too(tmp_path: Path) -> None:
    make_venv(tmp_path, "/home/you/.venv")
    make_torch(tmp_path, "/home/you/pytorch", "2.8.0a0", installer="")
    (found,) = _found(tmp_path, PYTHONPATH="/home/you/pytorch")
    assert [torch.path for torch in _value(found.torch)] == ["/home/you/pytorch/torch"]


def test_no_interpreter_is_run(tmp_path: Path) -> None:
    make_venv(tmp_path, "/home/you/.venv")
    make_torch(tmp_path, "/home/you/.venv/lib/python3.12/site-packages", "2.5.1+cpu")
    processes = ScriptedProcesses()
    environments.probe(world_under(tmp_path, processes=processes), Known(Terminal("/bin/bash", (), ()), "a test"))
    assert processes.asked == []


def test_pip_torch_in_a_conda_environment_keeps_its_installer(tmp_path: Path) -> None:
    make_conda(tmp_path, "/opt/conda")
    put(tmp_path, "/opt/conda/conda-meta/pytorch-2.5.1-cpu_mkl_py311h_100.json")
    make_torch(tmp_path, "/opt/conda/lib/python3.11/site-packages", "2.6.0+cu124", cuda="12.4", targets="sm_90", installer="pip")
    (found,) = _found(tmp_path)
    assert [_value(torch.installer) for torch in _value(found.torch)] == ["pip"]


def test_environment_without_settings_or_library_says_so(tmp_path: Path) -> None:
    put(tmp_path, "/opt/conda/conda-meta/history")
    (found,) = _found(tmp_path)
    assert _why(found.python_version) == "/opt/conda holds no Python library"
    assert _value(found.torch) == ()


def test_a_strangers_interpreter_is_none_for_root(tmp_path: Path) -> None:
    make_venv(tmp_path, "/home/you/.venv")
    world = world_under(tmp_path, variables={"PATH": ""})
    root = replace(world, surroundings=replace(world.surroundings, uid=0), files=_Theirs(str(tmp_path)))
    fact = environments.probe(root, Known(Terminal("/bin/bash", (), ()), "a test"))
    assert isinstance(fact, Known)
    assert "is not run as root" in _why(fact.value[0].interpreter)


class _Theirs(Files):
    """Files that all belong to an ordinary user, but for the root directory."""

    def own_status(self, path: str) -> os.stat_result:
        found = super().own_status(path)
        return os.stat_result((*found[:4], 0 if path == "/" else 1000, *found[5:]))

    def status(self, path: str) -> os.stat_result:
        return self.own_status(self.real(path))
