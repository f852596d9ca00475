"""A change becomes steps in the order in which they are done, with the command lines of the place from the one list."""

from __future__ import annotations

import pytest

from gpuassist.install.outlook import install_steps
from gpuassist.install.place import InstallPlace, step
from gpuassist.install.torch import jetson_ways
from gpuassist.knowledge.change import DriverMove, GccMove, ToolkitMove, TorchMove, VersionChange
from gpuassist.knowledge.commands import use
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.records import TorchBuild
from gpuassist.model.outlook import Method
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import verbatim
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.values import knowledge

JETPACK_6 = next(one for one in knowledge().jetpacks() if one.release.major == 6)
UBUNTU = InstallPlace((Family.UBUNTU, Family.ANY), "ubuntu2404", "x86_64")
DEBIAN = InstallPlace((Family.DEBIAN, Family.ANY), "debian12", "x86_64")
VENV = InstallPlace(python="/home/you/train/bin/python", tool="pip", torch_there=True)
version = Version.parse


def build(release: str, tag: str) -> TorchBuild:
    return next(one for one in knowledge().torch_builds(version(release)) if one.tag == tag and one.machine == "x86_64")


def steps(change: VersionChange, place: InstallPlace = UBUNTU) -> tuple[Step, ...]:
    return install_steps(change, place, knowledge())


def lines(change: VersionChange, place: InstallPlace = UBUNTU) -> list[str]:
    return [line for one in steps(change, place) for line in one.commands]


def driver(words: str, *, opened: bool = True, pinned: bool = False) -> VersionChange:
    return VersionChange(driver=DriverMove(version(words), opened, pinned))


def test_driver_comes_first_and_is_restarted() -> None:
    change = VersionChange(
        DriverMove(version("595"), open_module=True), TorchMove(build("2.14", "cu130")), ToolkitMove(version("13.0"))
    )
    kinds = [one.kind for one in steps(change)]
    assert kinds[:2] == [StepKind.ROOT_COMMAND, StepKind.REBOOT]
    assert ENGLISH(steps(change)[0].text) == "Install NVIDIA's driver, branch 595, with the open kernel modules"


def test_check_names_no_branch_where_the_packages_hold_only_their_newest() -> None:
    check = steps(driver("595"), DEBIAN)[0].check
    assert check is not None
    assert "595" not in ENGLISH(check)


def test_fedoras_driver_needs_its_repository() -> None:
    first, *_ = steps(driver("580", opened=False), InstallPlace((Family.FEDORA, Family.ANY)))
    assert all(f"https://mirrors.rpmfusion.org/{one}/fedora/" in first.commands[0] for one in ("free", "nonfree"))


def test_nothing_to_change_is_no_step() -> None:
    assert steps(VersionChange()) == ()


@pytest.mark.parametrize(
    ("family", "opened", "first"),
    [
        (Family.UBUNTU, True, "sudo apt install nvidia-driver-595-open"),
        (Family.UBUNTU, False, "sudo apt install nvidia-driver-595"),
        (Family.ARCH, True, "sudo pacman -Syu nvidia-open"),
        (Family.OPENSUSE, True, "sudo zypper install openSUSE-repos-Tumbleweed-NVIDIA"),
    ],
)
def test_driver_of_the_distribution(family: Family, opened: bool, first: str) -> None:
    assert lines(driver("595", opened=opened), InstallPlace((family, Family.ANY)))[0] == first


def test_debian_takes_nvidias_repository() -> None:
    assert lines(driver("595"), DEBIAN)[-2:] == ["sudo apt install nvidia-open", "sudo systemctl reboot"]


def test_debian_without_nvidias_packages_is_asked() -> None:
    (only,) = steps(driver("595"), InstallPlace((Family.DEBIAN, Family.ANY)))
    assert only.commands == ("apt-cache policy nvidia-driver nvidia-tesla-595-driver",)


def test_unknown_distribution_is_told_in_words() -> None:
    assert lines(driver("595"), InstallPlace()) == ["sudo systemctl reboot"]


@pytest.mark.parametrize(
    ("family", "line"),
    [
        (Family.DEBIAN, "sudo apt install nvidia-driver-pinning-580"),
        (Family.FEDORA, "sudo dnf versionlock add '*nvidia*'580'*'"),
        (Family.RHEL, "sudo dnf module enable nvidia-driver:580-open"),
    ],
)
def test_branch_that_was_asked_for_is_held(family: Family, line: str) -> None:
    place = InstallPlace((family, Family.ANY), "somewhere1", "x86_64")
    assert line in lines(driver("580", pinned=True), place)


@pytest.mark.parametrize("family", [Family.ARCH, Family.OPENSUSE, Family.FEDORA, Family.RHEL])
def test_branch_that_no_package_holds_is_a_question_without_a_restart(family: Family) -> None:
    (only,) = steps(driver("595", pinned=True), InstallPlace((family, Family.ANY)))
    assert (len(only.commands), only.needs_root) == (1, False)


def test_windows_driver_is_no_step_in_linux() -> None:
    found = steps(driver("595"), InstallPlace((Family.WSL, Family.UBUNTU, Family.ANY)))
    assert [one.needs_root for one in found] == [False]
    assert found[0].commands == ("wsl.exe --update", "wsl.exe --shutdown")


def test_container_changes_the_driver_on_its_host() -> None:
    found = steps(driver("595"), InstallPlace((Family.CONTAINER, Family.UBUNTU, Family.ANY)))
    assert [one.commands for one in found] == [()]
    assert ENGLISH(found[0].text).startswith("On the host, not in this container")


def test_container_without_gpus_is_started_with_them() -> None:
    place = InstallPlace((Family.CONTAINER, Family.UBUNTU, Family.ANY), driver_there=False)
    assert lines(driver("595"), place) == ["docker run --rm --gpus all ubuntu nvidia-smi"]


def test_torch_that_is_there_stays_in_its_environment() -> None:
    found = lines(VersionChange(torch=TorchMove(build("2.14", "cu130"))), VENV)
    assert found[0] == "/home/you/train/bin/python -m venv torch-gpu"
    assert not any("uninstall" in line for line in found)


def test_uv_puts_torch_where_it_made_the_environment() -> None:
    place = InstallPlace(python="/p/bin/python", tool="uv")
    assert lines(VersionChange(torch=TorchMove(build("2.14", "cu130"))), place) == [
        "uv pip install --python /p/bin/python torch==2.14.1 torchvision --torch-backend=cu130"
    ]


def test_environment_that_is_not_ours_gets_a_new_one_beside_it() -> None:
    found = lines(VersionChange(torch=TorchMove(build("2.14", "cu130"))), InstallPlace(python="/usr/bin/python3"))
    assert found[:2] == ["/usr/bin/python3 -m venv torch-gpu", ". torch-gpu/bin/activate"]
    assert found[2].startswith("torch-gpu/bin/python -m pip install torch==2.14.1 ")


def test_other_python_means_a_new_environment_by_uv() -> None:
    found = lines(VersionChange(torch=TorchMove(build("2.6", "cu124"), version("3.12"))), VENV)
    assert found[0] == "uv venv --python 3.12 torch-gpu"
    assert not any("uninstall" in line for line in found)


def test_jetson_takes_nvidias_index() -> None:
    for way in jetson_ways(VENV, knowledge(), JETPACK_6):
        assert way.steps[-1].commands[-1].endswith("--index-url https://pypi.jetson-ai-lab.io/jp6/cu126")


def test_jetson_has_the_same_ways_as_others() -> None:
    assert [way.way for way in jetson_ways(VENV, knowledge(), JETPACK_6)] == [Method.NEW, Method.CLEAN, Method.IN_PLACE]


def test_jetson_without_an_environment_gets_one() -> None:
    (way,) = jetson_ways(InstallPlace(), knowledge(), JETPACK_6)
    assert way.steps[0].commands[0] == "python3 -m venv torch-gpu"


def test_toolkit_that_is_there_is_only_used() -> None:
    assert lines(VersionChange(toolkit=ToolkitMove(version("12.4"), "/usr/local/cuda-12.4"))) == ["gpuassist use cuda 12.4"]


def test_toolkit_is_installed_without_a_driver() -> None:
    found = lines(VersionChange(toolkit=ToolkitMove(version("12.8"))))
    assert found[-2:] == ["sudo apt install cuda-toolkit-12-8", "gpuassist use cuda 12.8"]
    assert "ubuntu2404" in found[0]


def test_toolkit_without_a_repository_is_told_in_words() -> None:
    assert lines(VersionChange(toolkit=ToolkitMove(version("11.8"))), InstallPlace((Family.ARCH, Family.ANY))) == [
        "gpuassist use cuda 11.8"
    ]


def test_compiler_that_is_there_is_only_called() -> None:
    place = InstallPlace((Family.UBUNTU, Family.ANY), compilers=((13, "/opt/gcc-13/bin/g++"),))
    assert lines(VersionChange(gcc=GccMove(version("13.3"), there=True)), place)[1] == "export CUDAHOSTCXX=/opt/gcc-13/bin/g++"


@pytest.mark.parametrize(
    ("family", "path"), [(Family.UBUNTU, "/usr/bin/g++-13"), (Family.RHEL, "/opt/rh/gcc-toolset-13/root/usr/bin/g++")]
)
def test_compiler_is_called_where_its_package_puts_it(family: Family, path: str) -> None:
    assert (
        lines(VersionChange(gcc=GccMove(version("13"), there=False)), InstallPlace((family, Family.ANY)))[-1]
        == f"export CUDAHOSTCXX={path}"
    )


def test_packages_under_wsl_are_the_distributions() -> None:
    assert InstallPlace((Family.WSL, Family.UBUNTU, Family.ANY)).packages is Family.UBUNTU
    assert InstallPlace((Family.CONTAINER,)).packages is Family.ANY


def test_step_takes_its_kind_from_its_commands() -> None:
    commands = knowledge().commands
    made = [
        step((use(key),), UBUNTU, commands, (verbatim(key), None)) for key in ("reboot", "doctor", "module-load", "new-terminal")
    ]
    assert [one.kind for one in made] == [StepKind.REBOOT, StepKind.COMMAND, StepKind.ROOT_COMMAND, StepKind.NEW_SHELL]
