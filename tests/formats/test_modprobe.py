"""Lines that forbid a kernel module."""

from __future__ import annotations

import pytest

from gpuassist.formats.kernel_module import forbidden_by_command_line, forbidden_by_file


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("blacklist nvidia", "nvidia"),
        ("  blacklist   nouveau  # for NVIDIA's driver", "nouveau"),
        ("blacklist nvidia-drm", "nvidia_drm"),
        ("install nvidia /bin/false", "nvidia"),
        ("install nouveau /usr/bin/true", "nouveau"),
        ("alias nvidia off", "nvidia"),
    ],
)
def test_line_forbids_its_module(line: str, module: str) -> None:
    assert list(forbidden_by_file(f"# a comment\n{line}\n")) == [(module, 2, line.strip())]


@pytest.mark.parametrize(
    "line",
    [
        "# blacklist nvidia",
        "install nvidia modprobe -i nvidia-current $CMDLINE_OPTS",
        "options nouveau modeset=0",
        "alias pci:v000010DEd00000E00sv*sd*bc04sc80i00* nvidia",
        "softdep nvidia post: nvidia-uvm",
        "blacklist",
    ],
)
def test_other_lines_forbid_nothing(line: str) -> None:
    assert not list(forbidden_by_file(line))


def test_command_line_names_several_modules() -> None:
    told = forbidden_by_command_line("quiet modprobe.blacklist=nouveau,nvidia-drm rd.driver.blacklist=nvidia")
    assert [module for module, _ in told] == ["nouveau", "nvidia_drm"]


def test_command_line_of_the_kernel_itself_counts() -> None:
    assert list(forbidden_by_command_line("module_blacklist=nvidia ro")) == [("nvidia", "module_blacklist=nvidia")]
