"""What a plan knows of the environments around: where a new one can be, and who can make it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.install.configuration import around, conda_root, free_place, home_of
from gpuassist.install.place import TorchSurroundings
from gpuassist.model.environment import Manager, Package
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.package_settings import Indexes, PackageSetting, PackageSettings
from gpuassist.model.shell import Shell, StartupFile
from gpuassist.model.version import Version
from tests.values import Env, Recipe, machine


def never(path: str) -> bool:
    return not path


def with_files(*paths: str) -> Machine:
    return Machine(shell=Shell(startup_files=Known(tuple(StartupFile(path, exists=True) for path in paths), "test")))


def with_environments(*environments: Env) -> Machine:
    return machine(Recipe(environments=environments))


def seen(made: Machine) -> TorchSurroundings:
    environment = value_or(made.environments, ())[0]
    torches = value_or(environment.torch, ())
    return around(made, environment, torches[0] if torches else None, never)


@pytest.mark.parametrize(
    ("paths", "home"),
    [
        (("/home/you/.bashrc", "/home/you/.profile"), "/home/you"),
        (("/etc/profile", "/root/.bashrc"), "/root"),
        (("/home/you/.config/fish/config.fish", "/home/you/.profile"), "/home/you"),
        (("/home/you/.config/zsh/.zshrc",), ""),
        (("/etc/profile",), ""),
        ((), ""),
    ],
)
def test_home_is_where_the_shells_own_files_lie(paths: tuple[str, ...], home: str) -> None:
    assert home_of(with_files(*paths)) == home


def test_a_new_environment_comes_to_home() -> None:
    assert free_place(machine(), never) == "/home/you/torch-gpu"


def test_without_a_home_it_comes_to_where_the_terminal_stands() -> None:
    assert free_place(with_files(), never) == "torch-gpu"


def test_a_name_that_an_environment_has_is_not_taken_again() -> None:
    assert free_place(with_environments(Env("torch-gpu"), Env("torch-gpu-2")), never) == "/home/you/torch-gpu-3"


def test_a_directory_that_exists_is_not_taken() -> None:
    assert free_place(machine(), lambda path: path == "/home/you/torch-gpu") == "/home/you/torch-gpu-2"


def test_condas_environments_lie_together() -> None:
    assert conda_root(with_environments(Env("train", manager=Manager.CONDA))) == "/home/you/miniforge3/envs"
    assert conda_root(with_environments(Env("train"))) == ""
    assert TorchSurroundings(new="/home/you/torch-gpu", conda_root="/c/envs").new_of_conda == "/c/envs/torch-gpu"
    assert TorchSurroundings(new="/home/you/torch-gpu").new_of_conda == "/home/you/torch-gpu"


def test_what_is_seen_of_an_environment() -> None:
    found = seen(with_environments(Env("train", "2.5.1+cu124", packages=(Package("xformers", "0.0.28"),))))
    assert (found.prefix, found.name, found.python) == ("/home/you/train", "train", Version.parse("3.11"))
    assert found.directory == "/home/you/train/lib/python3.11/site-packages/torch"
    assert found.has("xformers")
    assert not found.has("torchaudio")
    assert (found.of_conda, found.torch_of_conda) == (False, False)


def test_pythons_of_projects_make_no_other_environment() -> None:
    made = with_environments(Env("train"), Env("usr", python="3.12", manager=Manager.SYSTEM), Env("c", manager=Manager.CONDA))
    assert seen(made).pythons == ((Version.parse("3.12"), "/home/you/usr/bin/python"),)


def test_settings_are_passed_on() -> None:
    settings = PackageSettings(pip=Indexes(index=PackageSetting("https://pypi.example.org/simple", "PIP_INDEX_URL")))
    made = replace(with_environments(Env("train")), package_settings=Known(settings, "test"))
    assert seen(made).settings == settings
    assert seen(with_environments(Env("train"))).settings == PackageSettings()


def test_a_machine_without_environments_has_nothing_around() -> None:
    found = around(with_environments(), None, None, never)
    assert (found.prefix, found.name, found.packages, found.pythons) == ("", "", (), ())
