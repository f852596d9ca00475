"""What the programs of a step do to an environment, and the same programs made to look only."""

from __future__ import annotations

import shlex

import pytest

from gpuassist.install.dry_run import Does, conda_looks, pip_looks, pip_looks_anew, read_act, uv_looks, uv_looks_anew
from gpuassist.model.plan import Tool

INDEX = "https://download.pytorch.org/whl/cu128"


def words(line: str) -> tuple[str, ...]:
    return tuple(shlex.split(line))


@pytest.mark.parametrize(
    ("line", "does", "tool"),
    [
        ("/home/you/train/bin/python -m pip install torch==2.9.1", Does.INSTALLS, Tool.PIP),
        ("python3.12 -m pip uninstall -y torch", Does.REMOVES, Tool.PIP),
        ("/opt/pypy3.11/bin/pypy3.11 -m pip install six", Does.INSTALLS, Tool.PIP),
        ("python3.14t -m pip install torch", Does.INSTALLS, Tool.PIP),
        ("/home/you/train/bin/pip3 install torch", Does.INSTALLS, Tool.PIP),
        ("python3 -m venv torch-gpu", Does.CREATES, Tool.PIP),
        ("uv venv --python 3.12 torch-gpu", Does.CREATES, Tool.UV),
        ("uv pip install --python torch-gpu/bin/python torch", Does.INSTALLS, Tool.UV),
        ("/home/you/.local/bin/uv pip uninstall torch", Does.REMOVES, Tool.UV),
        ("conda create -n torch-gpu -c conda-forge pytorch-gpu", Does.INSTALLS, Tool.CONDA),
        ("mamba install -n train pytorch=2.5.1", Does.INSTALLS, Tool.CONDA),
        ("/home/you/bin/micromamba remove -n train cpuonly", Does.INSTALLS, Tool.CONDA),
        ("python3 -m pip", Does.OTHER, Tool.PIP),
        ("python3 -m pip download torch", Does.OTHER, Tool.PIP),
        ("python3 -m ensurepip --upgrade", Does.OTHER, None),
        ("uv sync", Does.OTHER, None),
        ("conda info", Does.OTHER, None),
        ("docker pull nvcr.io/nvidia/pytorch:25.09-py3", Does.OTHER, None),
        ("", Does.OTHER, None),
    ],
)
def test_what_a_program_does(line: str, does: Does, tool: Tool | None) -> None:
    act = read_act(words(line))
    assert (act.does, act.tool) == (does, tool)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("python -m pip uninstall -y torch Torch_Vision nvidia-cudnn-cu12", ("torch", "torch-vision", "nvidia-cudnn-cu12")),
        ("python -m pip uninstall --yes -r gone.txt torch --root-user-action ignore", ("torch",)),
        ("uv pip uninstall --python /home/you/train/bin/python torch triton", ("torch", "triton")),
    ],
)
def test_packages_that_a_removal_names(line: str, names: tuple[str, ...]) -> None:
    assert read_act(words(line)).names == names


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("uv venv --python 3.12 new", "3.12"),
        ("uv venv --python=3.12 new", "3.12"),
        ("uv venv -p /usr/bin/python3 new", "/usr/bin/python3"),
        ("uv venv new", ""),
    ],
)
def test_value_of_an_option(line: str, value: str) -> None:
    assert read_act(words(line)).value("--python", "-p") == value


def test_pip_only_looks_and_writes_a_report() -> None:
    command = pip_looks(read_act(words(f"/e/bin/python -m pip install torch==2.9.1 --index-url {INDEX}")), "/scratch/1")
    assert command[:7] == ("/e/bin/python", "-m", "pip", "install", "--dry-run", "--report", "/scratch/1")
    assert command[-3:] == ("torch==2.9.1", "--index-url", INDEX)


def test_pip_of_an_environment_to_come_is_that_of_its_maker() -> None:
    command = pip_looks_anew(read_act(words("new/bin/python -m pip install torch")), "/scratch/1", "/usr/bin/python3.12")
    assert command[:4] == ("/usr/bin/python3.12", "-m", "pip", "install")
    assert {"--dry-run", "--ignore-installed", "torch"} <= {*command}


def test_uv_only_looks_as_if_what_is_taken_out_were_gone() -> None:
    command = uv_looks(read_act(words("uv pip install --python /e/bin/python torch --torch-backend=cu128")), ("torch", "triton"))
    assert command[:4] == ("uv", "pip", "install", "--dry-run")
    assert "--reinstall-package torch --reinstall-package triton" in " ".join(command)
    assert command[-4:] == ("--python", "/e/bin/python", "torch", "--torch-backend=cu128")


@pytest.mark.parametrize(
    ("python", "asked"), [("3.12", ("--python-version", "3.12")), ("/usr/bin/python3", ("--python", "/usr/bin/python3"))]
)
def test_uv_of_an_environment_to_come_looks_into_an_empty_directory(python: str, asked: tuple[str, str]) -> None:
    command = uv_looks_anew(read_act(words("uv pip install --python new/bin/python torch")), "/scratch/1", python)
    assert "new/bin/python" not in command
    place = command.index("--target")
    assert (*command[place : place + 4], command[-1]) == ("--target", "/scratch/1", *asked, "torch")


@pytest.mark.parametrize("tool", ["conda", "mamba", "micromamba"])
def test_conda_only_looks(tool: str) -> None:
    command = conda_looks(read_act(words(f"{tool} install -n train 'pytorch=2.5.1=py3.12_cuda12.4*'")))
    assert command == (tool, "install", "--dry-run", "--json", "-n", "train", "pytorch=2.5.1=py3.12_cuda12.4*")
