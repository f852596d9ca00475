"""A toolkit comes by NVIDIA's packages, or without root by its installer, by conda or by the wheels of its compiler."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.install.outlook import install_steps, install_ways
from gpuassist.install.place import InstallPlace, System, TorchSurroundings
from gpuassist.knowledge.change import DriverMove, GccMove, ToolkitMove, VersionChange
from gpuassist.knowledge.families import Family
from gpuassist.model.outlook import Method, WayPlan
from gpuassist.model.plan import Proves, Step, Tool
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.values import knowledge

ROOT = System("ubuntu", "24.04", "6.8.0-60-generic", home="/home/you")
NO_ROOT = replace(ROOT, administrator=False)
UBUNTU = InstallPlace((Family.UBUNTU, Family.ANY), "ubuntu2404", "x86_64", system=ROOT)
USER = replace(UBUNTU, system=NO_ROOT)
WITH_CONDA = replace(USER, system=replace(NO_ROOT, conda=True), around=TorchSurroundings(conda_root="/home/you/miniforge3/envs"))
version = Version.parse


def ways(release: str, place: InstallPlace = UBUNTU) -> tuple[WayPlan, ...]:
    return install_ways(VersionChange(toolkit=ToolkitMove(version(release))), place, knowledge())


def kinds(release: str, place: InstallPlace = UBUNTU) -> list[Method]:
    return [one.way for one in ways(release, place)]


def way(release: str, wanted: Method, place: InstallPlace = UBUNTU) -> WayPlan:
    return next(one for one in ways(release, place) if one.way is wanted)


def lines(steps: tuple[Step, ...]) -> list[str]:
    return [line for one in steps for line in one.commands]


@pytest.mark.parametrize(
    ("release", "place", "expected"),
    [
        ("12.8", UBUNTU, [Method.PACKAGES, Method.RUNFILE, Method.CONDA]),
        ("13.0", UBUNTU, [Method.PACKAGES, Method.RUNFILE, Method.WHEELS, Method.CONDA]),
        ("13.0", USER, [Method.RUNFILE, Method.WHEELS, Method.CONDA]),
        ("13.0", WITH_CONDA, [Method.RUNFILE, Method.CONDA, Method.WHEELS]),
        ("11.8", USER, [Method.RUNFILE]),
        ("13.5", USER, [Method.WHEELS]),
        ("12.8", replace(UBUNTU, repository=""), [Method.RUNFILE, Method.CONDA]),
        ("12.8", replace(USER, repository_architecture=""), []),
        ("13.0", replace(USER, system=replace(NO_ROOT, jetson=True)), [Method.WHEELS, Method.CONDA]),
    ],
)
def test_best_way_comes_first(release: str, place: InstallPlace, expected: list[Method]) -> None:
    assert kinds(release, place) == expected


@pytest.mark.parametrize(
    ("repository", "release", "expected"),
    [
        ("ubuntu2404", "12.4", [Method.RUNFILE, Method.CONDA]),
        ("fedora44", "13.2", [Method.RUNFILE, Method.WHEELS, Method.CONDA]),
        ("fedora43", "13.2", [Method.PACKAGES, Method.RUNFILE, Method.WHEELS, Method.CONDA]),
        ("suse16", "12.9", [Method.RUNFILE, Method.CONDA]),
        ("ubuntu2404", "13.5", [Method.WHEELS, Method.PACKAGES]),
        ("ubuntu2804", "12.8", [Method.RUNFILE, Method.CONDA, Method.PACKAGES]),
    ],
)
def test_packages_come_first_where_they_are_known_to_be_there(repository: str, release: str, expected: list[Method]) -> None:
    assert kinds(release, replace(UBUNTU, repository=repository)) == expected


def test_repository_is_asked_where_nobody_knows_what_it_holds() -> None:
    asked = way("13.5", Method.PACKAGES)
    installing = asked.steps[-2].commands
    assert installing[-2:] == ("apt-cache policy cuda-toolkit-13-5", "sudo apt install cuda-toolkit-13-5")
    assert len(asked.notes) == 1
    assert not any("apt-cache policy" in line for line in lines(way("12.8", Method.PACKAGES).steps))


def test_what_the_repository_lacks_is_told() -> None:
    (note,) = way("12.4", Method.RUNFILE).notes[1:]
    told = dict(note.parameters)
    assert (told["repository"], told["first"], told["last"]) == ("ubuntu2404", "12.5", "13.4")


def arch(**system: object) -> InstallPlace:
    return InstallPlace((Family.ARCH, Family.ANY), "", "x86_64", system=replace(ROOT, distribution="arch", **system))


def test_distributions_own_toolkit_comes_first_where_it_is_the_release() -> None:
    first = ways("13.4", arch())[0]
    assert lines(first.steps) == ["sudo pacman -S cuda", "gpuassist use cuda 13"]
    assert [one.proof.place for one in first.steps if one.proof] == ["/opt/cuda/bin/nvcc", "/opt/cuda"]
    assert not any("pacman" in line for line in lines(ways("13.2", arch())[0].steps))
    assert not any("pacman" in line for one in ways("13.4", arch(administrator=False)) for line in lines(one.steps))


@pytest.mark.parametrize(("tool", "first"), [(Tool.CONDA, Method.CONDA), (Tool.PIP, Method.WHEELS), (Tool.UV, Method.WHEELS)])
def test_tool_that_is_asked_for_goes_before_the_others(tool: Tool, first: Method) -> None:
    assert kinds("13.0", replace(UBUNTU, around=TorchSurroundings(wished=tool)))[0] is first


def test_toolkit_that_is_there_has_no_ways() -> None:
    change = VersionChange(toolkit=ToolkitMove(version("12.4"), "/usr/local/cuda-12.4"))
    assert install_ways(change, UBUNTU, knowledge()) == ()
    assert lines(install_steps(change, UBUNTU, knowledge())) == ["gpuassist use cuda 12.4"]


def test_toolkit_that_is_there_is_proved_in_a_new_terminal() -> None:
    change = VersionChange(toolkit=ToolkitMove(version("12.4"), "/opt/cuda-12.4"))
    proof = install_steps(change, UBUNTU, knowledge())[0].proof
    assert proof is not None
    assert (proof.proves, proof.place, proof.wanted) == (Proves.NEW_TERMINAL, "/opt/cuda-12.4", "12.4")


@pytest.mark.parametrize("release", ["11.8", "12.8", "13.0", "13.3"])
def test_no_way_without_root_needs_root(release: str) -> None:
    for one in ways(release, USER):
        assert not any(step.needs_root for step in one.steps)
        assert not any("sudo" in line for line in lines(one.steps))


@pytest.mark.parametrize(
    ("kind", "nvcc"),
    [
        (Method.PACKAGES, "/usr/local/cuda-12.8/bin/nvcc"),
        (Method.RUNFILE, "/home/you/cuda-12.8/bin/nvcc"),
        (Method.CONDA, "/home/you/miniforge3/envs/cuda-12.8/bin/nvcc"),
    ],
)
def test_nvcc_proves_the_installation(kind: Method, nvcc: str) -> None:
    proof = next(one.proof for one in way("12.8", kind).steps if one.proof and one.proof.proves is Proves.NVCC)
    assert proof is not None
    assert (proof.proves, proof.place, proof.wanted) == (Proves.NVCC, nvcc, "12.8")


def test_installer_is_that_of_the_machine() -> None:
    place = replace(USER, repository_architecture="sbsa")
    assert any("cuda_12.8.1_570.124.06_linux_sbsa.run" in line for line in lines(way("12.8", Method.RUNFILE, place).steps))


def test_installer_touches_nothing_but_its_directory() -> None:
    (line,) = [line for line in lines(way("12.4", Method.RUNFILE).steps) if line.startswith("sh ")]
    words = line.split()
    assert {"--silent", "--toolkit", "--toolkitpath=/home/you/cuda-12.4", "--installpath=/home/you/cuda-12.4"} <= set(words)
    assert "--driver" not in words


def test_conda_can_be_run_and_taken_back() -> None:
    (made,) = way("12.8", Method.CONDA, WITH_CONDA).steps
    assert made.run is not None
    assert made.run.tool is Tool.CONDA
    assert made.run.creates == "/home/you/miniforge3/envs/cuda-12.8"
    assert made.run.programs[0][:3] == ("conda", "create", "--yes")


def test_wheels_can_be_run_and_taken_back() -> None:
    made, installed, used = way("13.0", Method.WHEELS).steps
    assert made.run is not None
    assert made.run.creates == "/home/you/cuda-13.0"
    assert installed.run is not None
    assert installed.run.programs[0][-1] == "cuda-toolkit[nvcc,cccl]~=13.0.0"
    assert used.commands == ("gpuassist use cuda 13.0",)


def test_conda_brings_a_host_compiler_and_the_others_do_not() -> None:
    change = VersionChange(toolkit=ToolkitMove(version("12.4")), gcc=GccMove(version("13"), there=False))
    found = {one.way: lines(one.steps) for one in install_ways(change, WITH_CONDA, knowledge())}
    assert not any("gxx" in line for line in found[Method.CONDA])
    assert any("gxx_linux-64=13" in line for line in found[Method.RUNFILE])


def test_compiler_without_root_is_condas() -> None:
    change = VersionChange(gcc=GccMove(version("13"), there=False))
    found = install_steps(change, USER, knowledge())
    assert not any(one.needs_root for one in found)
    assert "/home/you/miniforge3/envs/gcc-13/bin/x86_64-conda-linux-gnu-g++" in found[1].commands[0]


def test_compiler_of_a_system_that_nobody_knows_is_named_by_condas_environment() -> None:
    change = VersionChange(gcc=GccMove(version("9"), there=False))
    install, call = install_steps(change, InstallPlace(), knowledge())
    assert install.commands == ("conda create -n gcc-9 -c conda-forge gxx_linux-64=9",)
    assert call.commands[0] == "conda activate gcc-9"
    assert not any("/usr/bin" in line for line in call.commands)


def test_nobody_knows_a_way_is_told_in_words() -> None:
    place = replace(UBUNTU, repository="", repository_architecture="")
    first, last = install_steps(VersionChange(toolkit=ToolkitMove(version("11.8"))), place, knowledge())
    assert (first.commands, first.needs_root) == ((), True)
    assert "from NVIDIA's download page" in ENGLISH(first.text)
    assert last.commands == ("gpuassist use cuda 11.8",)


def test_driver_comes_before_every_way() -> None:
    change = VersionChange(DriverMove(version("595"), open_module=True), toolkit=ToolkitMove(version("13.0")))
    for one in install_ways(change, UBUNTU, knowledge()):
        assert one.steps[0].commands == ("sudo apt install nvidia-driver-595-open",)


def test_conda_itself_comes_first_where_it_is_not_there() -> None:
    first, second = way("12.8", Method.CONDA, USER).steps
    assert first.commands[1] == "sh Miniforge3-Linux-x86_64.sh -b -p /home/you/miniforge3"
    assert (first.needs_root, second.run) == (False, None)


def test_compiler_of_the_wheels_is_proved_where_the_python_is_known() -> None:
    place = replace(UBUNTU, around=TorchSurroundings(pythons=((version("3.12.3"), "/usr/bin/python3"),)))
    made, installed, used = way("13.0", Method.WHEELS, place).steps
    root = "/home/you/cuda-13.0/lib/python3.12/site-packages/nvidia/cu13"
    assert made.commands[0] == "/usr/bin/python3 -m venv /home/you/cuda-13.0"
    assert installed.proof is not None
    assert used.proof is not None
    assert (installed.proof.place, used.proof.place) == (f"{root}/bin/nvcc", root)
