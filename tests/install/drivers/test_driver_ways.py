"""Systems whose driver comes in a way of their own: images, snapshots, lines of a configuration, children of two families, machines
without a screen.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.model.fact import Known
from gpuassist.model.machine import Distribution
from gpuassist.model.outlook import Outlook
from gpuassist.model.plan import StepKind
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import parse_goal, plan_goals
from tests.cli.made_session import live_session
from tests.plans import machine_of
from tests.values import knowledge

SESSION = live_session({})
BARE: dict[str, Any] = {"driver": "", "cuda": "", "toolkits": [], "nvcc": "", "environments": [], "bound": "nouveau"}
SILVERBLUE = Distribution("fedora", (), "43", "Fedora Linux 43 (Silverblue)", "", "silverblue", image=True)
BAZZITE = Distribution("bazzite", ("fedora",), "43", "Bazzite", "", "bazzite-gnome", image=True)
LMDE = Distribution("linuxmint", ("debian",), "6", "LMDE 6 (faye)", "bookworm")
NIXOS = Distribution("nixos", (), "25.11", "NixOS 25.11 (Xantusia)")
MICROOS = Distribution("opensuse-microos", ("suse", "opensuse"), "20261101", "openSUSE MicroOS")
KARGS = "sudo rpm-ostree kargs --append=rd.driver.blacklist=nouveau,nova_core --append=modprobe.blacklist=nouveau,nova_core"


def plan(distribution: Distribution, gpu: str, kernel: str, goal: str = "driver", **facts: Any) -> Outlook:
    made = machine_of({"machine": {**BARE, "gpus": [gpu], "kernel": kernel, "secure_boot": False, **facts}})
    made = replace(made, host=replace(made.host, distribution=Known(distribution, "/etc/os-release")))
    return plan_goals(SESSION, made, (parse_goal(goal, knowledge()),))


def lines(outlook: Outlook) -> list[str]:
    return [line for step in outlook.steps for line in step.commands]


def said(outlook: Outlook) -> str:
    return " / ".join(ENGLISH(one) for one in (*outlook.blocked_by, *outlook.notes, *(step.text for step in outlook.steps)))


def test_an_image_of_fedoras_has_packages_layered_on_it() -> None:
    found = plan(SILVERBLUE, "RTX 4090", "6.17.8-300.fc43.x86_64")
    kinds = [step.kind for step in found.steps]
    assert kinds == [StepKind.ROOT_COMMAND, StepKind.REBOOT, StepKind.ROOT_COMMAND, StepKind.REBOOT]
    assert lines(found)[0].startswith("sudo rpm-ostree install https://mirrors.rpmfusion.org/free/")
    assert lines(found)[-3:] == [
        "sudo rpm-ostree install akmod-nvidia xorg-x11-drv-nvidia-cuda",
        KARGS,
        "sudo systemctl reboot",
    ]


def test_modules_that_rpm_ostree_builds_are_signed_with_no_key() -> None:
    found = plan(SILVERBLUE, "RTX 4090", "6.17.8-300.fc43.x86_64", secure_boot=True)
    assert found.steps[0].kind is StepKind.HARDWARE
    assert not [line for line in lines(found) if "mokutil --import" in line]


@pytest.mark.parametrize(("gpu", "image"), [("RTX 5090", "bazzite-gnome-nvidia-open"), ("GTX 1080 Ti", "bazzite-gnome-nvidia")])
def test_universal_blue_has_an_image_with_the_driver(gpu: str, image: str) -> None:
    found = plan(BAZZITE, gpu, "6.17.7-ba14.fc43.x86_64")
    assert lines(found) == [
        f"sudo rpm-ostree rebase ostree-image-signed:docker://ghcr.io/ublue-os/{image}:stable",
        "sudo systemctl reboot",
    ]


def test_debians_child_under_mints_name_takes_debians_packages() -> None:
    found = plan(LMDE, "Tesla K80", "6.1.0-37-amd64")
    assert lines(found)[-3:] == [
        "sudo apt install linux-headers-$(uname -r) linux-headers-amd64",
        "sudo apt install nvidia-tesla-470-driver firmware-misc-nonfree",
        "sudo systemctl reboot",
    ]
    assert "main contrib non-free non-free-firmware" in lines(found)[0]


@pytest.mark.parametrize(
    ("gpu", "wanted"),
    [
        ("RTX 4090", ("hardware.nvidia.open = true;",)),
        ("GTX 1080 Ti", ("hardware.nvidia.open = false;", "nvidiaPackages.legacy_580;")),
        ("Tesla K80", ("hardware.nvidia.open = false;", "nvidiaPackages.legacy_470;")),
    ],
)
def test_nixos_is_lines_of_its_configuration(gpu: str, wanted: tuple[str, ...]) -> None:
    found = plan(NIXOS, gpu, "6.12.58")
    assert lines(found) == ["sudo nixos-rebuild switch", "sudo systemctl reboot"]
    every = ('services.xserver.videoDrivers = [ "nvidia" ];', "nixpkgs.config.allowUnfree = true;", *wanted)
    assert all(line in said(found) for line in every)


@pytest.mark.parametrize("name", ["gentoo", "void", "alpine", "slackware", "guix", "solus", "steamos"])
def test_others_have_words_and_no_command(name: str) -> None:
    found = plan(Distribution(name, ("arch",) if name == "steamos" else (), "", name.title()), "RTX 4090", "6.12.58")
    assert lines(found) == []
    assert len(found.steps) == 1


def test_a_system_of_snapshots_installs_into_the_next() -> None:
    found = plan(MICROOS, "RTX 4090", "7.2.1-1-default")
    assert lines(found)[:2] == [
        "sudo transactional-update -n pkg install openSUSE-repos-MicroOS-NVIDIA",
        "sudo transactional-update -n --continue pkg install nvidia-open-driver-G07-signed-kmp-meta nvidia-compute-utils-G07",
    ]
    assert not [line for line in lines(found) if "zypper" in line]


def test_cachyos_has_its_modules_ready_for_its_kernel() -> None:
    found = plan(Distribution("cachyos", ("arch",), "", "CachyOS"), "RTX 4090", "6.12.58-1-cachyos-lts")
    assert lines(found)[0] == "sudo pacman -Syu linux-cachyos-lts-nvidia-open nvidia-utils"


def test_pop_has_its_makers_package() -> None:
    pop = Distribution("pop", ("ubuntu", "debian"), "24.04", "Pop!_OS 24.04 LTS", "noble")
    assert lines(plan(pop, "RTX 4090", "6.17.4-76061704-generic")) == [
        "sudo apt install system76-driver-nvidia",
        "sudo systemctl reboot",
    ]
    assert lines(plan(pop, "GTX 1080 Ti", "6.17.4-76061704-generic")) == [
        "apt-cache policy nvidia-driver-580",
        "apt-cache depends nvidia-driver-580",
    ]


@pytest.mark.parametrize(
    ("provider", "console"), [("gcp", "connect-to-serial-port"), ("aws", "EC2 Serial Console"), ("hetzner", "VNC")]
)
def test_a_machine_without_a_screen_is_told_another_way_to_the_blue_screen(provider: str, console: str) -> None:
    debian = Distribution("debian", (), "12", "Debian GNU/Linux 12 (bookworm)", "bookworm")
    found = plan(debian, "L4", "6.1.0-37-cloud-amd64", provider=provider, secure_boot=True)
    last = ENGLISH(found.steps[-1].text)
    assert console in last
    assert "switch Secure Boot off in the settings of the virtual machine" in last
    assert "screen at hand" not in last
    assert "sudo apt install linux-headers-$(uname -r) linux-headers-cloud-amd64" in lines(found)


def test_a_branch_that_leads_to_another_is_said_and_proved_by_that() -> None:
    noble = Distribution("ubuntu", ("debian",), "24.04", "Ubuntu 24.04.2 LTS", "noble")
    found = plan(noble, "RTX 4090", "6.8.0-60-generic", "driver==570")
    assert lines(found) == ["sudo apt install nvidia-driver-580-open", "sudo systemctl reboot"]
    assert "packages of branch 570 now bring branch 580" in said(found)
    proof = found.steps[-1].proof
    assert proof is not None
    assert proof.wanted == "580"


def test_a_branch_that_leads_to_the_one_that_is_there_is_no_step() -> None:
    noble = Distribution("ubuntu", ("debian",), "24.04", "Ubuntu 24.04.2 LTS", "noble")
    found = plan(noble, "RTX 4090", "6.8.0-60-generic", "driver==570", driver="580.95.05", cuda="13.0", bound="nvidia")
    assert lines(found) == []
    assert "packages of branch 570 now bring branch 580" in said(found)


def test_a_kernel_that_a_module_is_not_known_to_be_built_for_is_named() -> None:
    noble = Distribution("ubuntu", ("debian",), "24.04", "Ubuntu 24.04.3 LTS", "noble")
    found = plan(noble, "GTX 680", "6.14.0-24-generic")
    assert lines(found) == []
    assert "nvidia-driver-470-server" in said(found)
    assert "start this system with a kernel up to 6.11" in said(found)


def test_torch_is_blocked_where_no_driver_serves_and_its_build_for_the_processor_is_named() -> None:
    trixie = Distribution("debian", (), "13", "Debian GNU/Linux 13 (trixie)", "trixie")
    found = plan(trixie, "Tesla K80", "6.12.48+deb13-amd64", "torch")
    assert lines(found) == []
    assert "https://download.pytorch.org/whl/cpu" in said(found)
