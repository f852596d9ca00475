"""torch in a container: tried, used, and as the ground of an image of one's own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gpuassist.install.outlook_container import container_way
from gpuassist.install.place import InstallPlace
from gpuassist.knowledge.families import Family
from gpuassist.model.outlook import Method
from gpuassist.model.words import ENGLISH
from tests.values import knowledge

IMAGE = "nvcr.io/nvidia/pytorch:25.11-py3"
PLACE = InstallPlace((Family.UBUNTU, Family.ANY))


def lines(*, integrated: bool = False) -> list[str]:
    way = container_way(IMAGE, "2.10.0a0", PLACE, knowledge().commands, integrated=integrated)
    return [line for step in way.steps for line in step.commands]


def test_the_gpus_are_given_to_the_container() -> None:
    assert [("--gpus all" in line, "--runtime nvidia" in line) for line in lines()[:2]] == [(True, False)] * 2


def test_jetson_gives_its_gpu_by_the_runtime() -> None:
    assert [("--gpus all" in line, "--runtime nvidia" in line) for line in lines(integrated=True)[:2]] == [(False, True)] * 2


def test_data_loaders_get_the_shared_memory_that_they_need() -> None:
    assert "--ipc=host" in lines()[1]


def test_nothing_of_it_is_run_by_gpuassist() -> None:
    way = container_way(IMAGE, "2.10.0a0", PLACE, knowledge().commands)
    assert (way.way, {step.run for step in way.steps}) == (Method.CONTAINER, {None})
    assert "2.10.0a0" in ENGLISH(way.text)


@pytest.mark.needs("bash")
def test_the_dockerfile_has_three_lines(tmp_path: Path) -> None:
    write = next(line for line in lines() if "> Dockerfile" in line)
    subprocess.run(["bash", "-c", write], cwd=tmp_path, check=True, timeout=100)
    assert (tmp_path / "Dockerfile").read_text("utf-8").splitlines() == [f"FROM {IMAGE}", "WORKDIR /workspace/project", "COPY . ."]


def test_the_program_that_tries_it_is_python() -> None:
    program = lines()[0].split(" python -c ")[1].strip("'")
    compile(program, "program", "exec")
