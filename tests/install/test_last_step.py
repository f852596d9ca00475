"""What a way to a toolkit ends with is accepted by the machine as the steps before it left it, whatever the way."""

from __future__ import annotations

import re
import shlex
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.choice import choose_toolkit
from gpuassist.detect import toolkits
from gpuassist.install.outlook import install_ways
from gpuassist.install.place import InstallPlace, System, TorchSurroundings
from gpuassist.knowledge.change import ToolkitMove, VersionChange
from gpuassist.knowledge.families import Family
from gpuassist.model.fact import NOT_ASKED
from gpuassist.model.outlook import Method, WayPlan
from gpuassist.model.plan import Proves, Step
from gpuassist.model.version import Version
from tests.detect.made_toolkit import make_toolkit
from tests.fakes import ScriptedProcesses, put, world_under
from tests.rows import for_each
from tests.values import knowledge

version = Version.parse
HOME = "/home/you"
PYTHON = TorchSurroundings(pythons=((version("3.12.3"), "/usr/bin/python3"),), conda_root=f"{HOME}/miniforge3/envs")
PLACES = {
    "ubuntu": InstallPlace((Family.UBUNTU, Family.ANY), "ubuntu2404", "x86_64"),
    "fedora": InstallPlace((Family.FEDORA, Family.ANY), "fedora43", "x86_64"),
    "rocky": InstallPlace((Family.RHEL, Family.ANY), "rhel9", "x86_64"),
    "suse": InstallPlace((Family.OPENSUSE, Family.ANY), "suse16", "x86_64"),
    "arch": InstallPlace((Family.ARCH, Family.ANY), "", "x86_64"),
    "wsl": InstallPlace((Family.WSL, Family.UBUNTU, Family.ANY), "wsl-ubuntu", "x86_64"),
    "unknown": InstallPlace((Family.ANY,), "", "sbsa"),
}
RELEASES = ("11.8", "12.4", "12.8", "12.9", "13.0", "13.2", "13.4", "13.5")


def every_way() -> list[tuple[str, str, WayPlan]]:
    found = []
    for name, release in product(PLACES, RELEASES):
        place = replace(PLACES[name], around=PYTHON, system=System(home=HOME, conda=name == "fedora"))
        change = VersionChange(toolkit=ToolkitMove(version(release)))
        found += [(name, release, way) for way in install_ways(change, place, knowledge())]
    return found


WAYS = every_way()


def installed_at(steps: tuple[Step, ...]) -> tuple[str, str]:
    """Where the steps put their nvcc, and which release that is, as their own proof says."""
    (proof,) = [one.proof for one in steps if one.proof is not None and one.proof.proves is Proves.NVCC]
    return proof.place.removesuffix("/bin/nvcc"), proof.wanted.removesuffix("+")


def test_every_way_is_among_them() -> None:
    assert {way.way for _, _, way in WAYS} == {Method.PACKAGES, Method.RUNFILE, Method.CONDA, Method.WHEELS}
    assert len(WAYS) > 60


@for_each("case", WAYS)
def test_last_step_is_one_that_the_machine_takes(tmp_path: Path, case: tuple[str, str, WayPlan]) -> None:
    _, release, way = case
    root, installed = installed_at(way.steps)
    assert installed == release
    last = way.steps[-1]
    if way.way is Method.CONDA:
        assert last.commands[-1] == f"conda activate {root}"
        return
    (command,) = last.commands
    wished = shlex.split(command)[3]
    assert command == f"gpuassist use cuda {wished}"
    place = tmp_path / re.sub(r"\W", "_", f"{way.way.value}-{root}")
    answers = make_toolkit(place, root, f"{installed}.88")
    if way.way is Method.WHEELS:
        site = root.partition("/nvidia/")[0]
        for name in ("pip", "cuda_toolkit", "nvidia_cuda_nvcc", "nvidia_cuda_runtime"):
            put(place, f"{site}/{name}-1.0.dist-info/METADATA")
        put(place, f"{HOME}/cuda-{installed}/pyvenv.cfg", "version = 3.12.3\n")
    world = world_under(place, processes=ScriptedProcesses({**answers}), variables={"PATH": ""})
    assert choose_toolkit(toolkits.probe(world, NOT_ASKED), wished).root == root
    assert last.proof is not None
    assert (last.proof.proves, last.proof.place) == (Proves.NEW_TERMINAL, root)


@pytest.mark.parametrize("release", ["13.0", "13.5"])
def test_libraries_of_the_wheels_lie_where_nvcc_looks(release: str) -> None:
    way = next(way for name, wanted, way in WAYS if (name, wanted, way.way) == ("ubuntu", release, Method.WHEELS))
    root, _ = installed_at(way.steps)
    lines = [line for one in way.steps for line in one.commands]
    assert f"ln -sfn lib {root}/lib64" in lines
    assert f"ln -sfn libcudart.so.13 {root}/lib/libcudart.so" in lines
    run = way.steps[1].run
    assert run is not None
    assert run.programs[1:] == (
        ("ln", "-sfn", "lib", f"{root}/lib64"),
        ("ln", "-sfn", "libcudart.so.13", f"{root}/lib/libcudart.so"),
    )
