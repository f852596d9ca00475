"""Whether a text is of this machine, and the two as one where it is."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.detect.readers import joined, same_machine
from gpuassist.model.driver import Driver, KernelModule
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Distribution, Host, Machine
from gpuassist.model.text import text
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.facts import value

UBUNTU = Distribution("ubuntu", ("debian",), "24.04", "Ubuntu 24.04.1 LTS")


def known_version(words: str) -> Fact[Version]:
    return Known(Version.parse(words), "here")


def gpu(name: str, index: int = 0) -> Gpu:
    return Gpu(name=Known(name, "here"), index=Known(index, "here"))


def environment(torch: str, *, prefix: str = "", active: Fact[bool] = NOT_ASKED) -> PythonEnvironment:
    accelerator = Accelerator.CPU if torch.endswith("cpu") else Accelerator.CUDA
    installed = Torch("", Known(torch, "here"), Known(accelerator, "here"))
    return PythonEnvironment(prefix, prefix or "python", active=active, torch=Known((installed,), "here"))


LIVE = Machine(
    taken_at="2026-11-21T12:00:00+00:00",
    host=Host(
        distribution=Known(UBUNTU, "/etc/os-release"),
        kernel=Known("6.8.0-45-generic", "uname"),
        architecture=Known("x86_64", "uname"),
        wsl=Known(0, "uname"),
        container=Known("", "/proc/1/cgroup"),
    ),
    gpus=Known((gpu("NVIDIA GeForce RTX 4090"), gpu("NVIDIA GeForce RTX 3060", 1)), "NVML"),
    driver=Driver(
        loaded=Known((KernelModule("/m/nvidia.ko", known_version("550.107.02")),), "/proc"), version=known_version("550.107.02")
    ),
    toolkits=Known((Toolkit("/usr/local/cuda-12.4", version=known_version("12.4.1")),), "/usr/local"),
    environments=Known((environment("2.6.0+cu124", prefix="/home/user/venv", active=Known(True, "VIRTUAL_ENV")),), "here"),
)


def of_host(**facts: object) -> Machine:
    return Machine(host=replace(Host(), **{name: Known(one, "text") for name, one in facts.items()}))


def of_gpus(*every: Gpu) -> Machine:
    return Machine(gpus=Known(every, "text"))


@pytest.mark.parametrize(
    "told",
    [
        Machine(),
        LIVE,
        of_gpus(gpu("NVIDIA GeForce RTX 3060")),
        of_gpus(gpu("GeForce RTX 4090", 3)),
        of_gpus(Gpu(index=Known(0, "text"))),
        of_host(distribution=UBUNTU, architecture="x86_64", wsl=0),
        of_host(distribution=replace(UBUNTU, version_id="", name="Ubuntu")),
        of_host(kernel="5.15.0-30-generic"),
        Machine(driver=Driver(version=known_version("550.107.02"))),
        Machine(driver=Driver(version=known_version("550.107"))),
        Machine(gpus=Unknown(text("unreadable"))),
    ],
)
def test_a_text_that_may_be_of_this_machine_is_taken_so(told: Machine) -> None:
    assert same_machine(told, LIVE) is None


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (of_gpus(gpu("Tesla T4")), "the text names Tesla T4, which the machine does not have"),
        (
            of_gpus(gpu("NVIDIA GeForce RTX 3060"), gpu("NVIDIA GeForce RTX 3060", 1)),
            "the text names NVIDIA GeForce RTX 3060, which the machine does not have",
        ),
        (
            Machine(driver=Driver(version=known_version("470.57.02"))),
            "the text names driver 470.57.02, the machine runs 550.107.02",
        ),
        (
            Machine(driver=Driver(loaded=Known((KernelModule("", known_version("535.54.03")),), "text"))),
            "the text names driver 535.54.03, the machine runs 550.107.02",
        ),
        (of_host(wsl=2), "the text is of WSL, the machine is not"),
        (of_host(container="docker"), "the text is of a container"),
        (of_host(architecture="aarch64"), "the text is of a machine of another processor architecture"),
        (
            of_host(distribution=Distribution("debian", (), "12", "Debian GNU/Linux 12")),
            "the text is of Debian GNU/Linux 12, the machine runs Ubuntu 24.04.1 LTS",
        ),
        (
            of_host(distribution=replace(UBUNTU, version_id="20.04", name="Ubuntu 20.04")),
            "the text is of Ubuntu 20.04, the machine runs Ubuntu 24.04.1 LTS",
        ),
    ],
)
def test_a_text_that_is_plainly_of_another_machine_says_why(told: Machine, reason: str) -> None:
    found = same_machine(told, LIVE)
    assert found is not None
    assert ENGLISH(found) == reason


def test_a_text_of_linux_is_not_of_wsl() -> None:
    found = same_machine(of_host(wsl=0), replace(LIVE, host=replace(LIVE.host, wsl=Known(2, "uname"))))
    assert found is not None


def test_nothing_is_said_of_a_machine_that_knows_nothing() -> None:
    assert same_machine(LIVE, Machine()) is None


def test_a_point_release_is_the_same_distribution() -> None:
    debian = Distribution("debian", (), "12", "Debian")
    live = replace(LIVE, host=replace(LIVE.host, distribution=Known(debian, "/etc/os-release")))
    assert same_machine(of_host(distribution=replace(debian, version_id="12.5")), live) is None


DEBIAN = Distribution("debian", (), "12", "Debian GNU/Linux 12")


@pytest.mark.parametrize(
    "told",
    [
        Machine(host=Host(kernel=Known("6.8.0-45-generic", "text"))),
        Machine(gpus=Known((gpu("GeForce RTX 4090"),), "text"), driver=Driver(version=known_version("550.107.02"))),
        Machine(gpus=Known((replace(gpu("GeForce RTX 4090"), uuid=Known("GPU-1", "text")),), "text")),
    ],
)
def test_another_distribution_on_the_same_hardware_is_a_container_here(told: Machine) -> None:
    told = replace(told, host=replace(told.host, distribution=Known(DEBIAN, "text")))
    first = replace(gpu("NVIDIA GeForce RTX 4090"), uuid=Known("GPU-1", "NVML"))
    live = replace(LIVE, gpus=Known((first,), "NVML"))
    assert same_machine(told, live) is None
    assert value(joined(told, live).host.distribution) == UBUNTU


def test_another_distribution_with_the_same_gpu_alone_is_another_machine() -> None:
    told = replace(of_gpus(gpu("NVIDIA GeForce RTX 4090")), host=Host(distribution=Known(DEBIAN, "text")))
    assert same_machine(told, LIVE) is not None


def test_what_the_text_does_not_say_is_the_machine_s() -> None:
    both = joined(of_gpus(gpu("NVIDIA GeForce RTX 4090")), LIVE)
    assert str(value(both.driver.version)) == "550.107.02"
    assert both.taken_at == LIVE.taken_at


def test_what_the_text_says_wins() -> None:
    both = joined(of_host(kernel="6.8.0-40-generic"), LIVE)
    assert (value(both.host.kernel), value(both.host.wsl)) == ("6.8.0-40-generic", 0)


def test_gpus_of_the_machine_keep_their_facts() -> None:
    both = joined(of_gpus(Gpu(name=Known("NVIDIA GeForce RTX 4090", "text"), memory_used_bytes=Known(5, "text"))), LIVE)
    first, second = value(both.gpus)
    assert (value(first.memory_used_bytes), value(first.index)) == (5, 0)
    assert value(second.name) == "NVIDIA GeForce RTX 3060"


def test_a_toolkit_of_the_text_is_the_installed_one() -> None:
    told = Machine(toolkits=Known((Toolkit("", version=known_version("12.4.131")),), "text"))
    assert [one.root for one in value(joined(told, LIVE).toolkits)] == ["/usr/local/cuda-12.4"]


def test_environment_of_the_text_is_the_one_that_matches() -> None:
    told = Machine(environments=Known((environment("2.6.0"),), "text"))
    (one,) = value(joined(told, LIVE).environments)
    assert (one.prefix, value(one.active)) == ("/home/user/venv", True)


def test_another_environment_of_the_text_is_the_one_that_counts() -> None:
    told = Machine(environments=Known((environment("2.5.1+cpu"),), "text"))
    first, second = value(joined(told, LIVE).environments)
    assert value(value(first.torch)[0].version) == "2.5.1+cpu"
    assert (first.active, value(second.active)) == (NOT_ASKED, False)


def test_a_text_without_environments_leaves_those_of_the_machine() -> None:
    assert joined(of_host(kernel="6.8"), LIVE).environments == LIVE.environments
