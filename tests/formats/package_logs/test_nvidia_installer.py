"""The log of NVIDIA's own installer."""

from __future__ import annotations

from gpuassist.formats.package_logs.entries import Moments
from gpuassist.formats.package_logs.nvidia_installer import read_nvidia_installer
from tests.formats.package_logs.reading import BERLIN, short

HEAD = """\
nvidia-installer log file '/var/log/nvidia-installer.log'
creation time: Sat Nov 14 06:12:03 2026
installer version: 580.95.05

PATH: /usr/bin:/bin

nvidia-installer command line:
    ./nvidia-installer
    --silent

"""
UNINSTALLED = "-> Uninstallation of existing driver: NVIDIA Accelerated Graphics Driver for Linux-x86_64 ({before}) is complete.\n"
INSTALLED = (
    "-> Installation of the NVIDIA Accelerated Graphics Driver for Linux-x86_64 (version: 580.95.05) is now complete.  Please\n"
)


def test_what_it_did() -> None:
    rows = (
        (INSTALLED, ("installed", "NVIDIA-Linux", "", "580.95.05")),
        (UNINSTALLED.format(before="570.86.15") + INSTALLED, ("upgraded", "NVIDIA-Linux", "570.86.15", "580.95.05")),
        (UNINSTALLED.format(before="590.1.1") + INSTALLED, ("downgraded", "NVIDIA-Linux", "590.1.1", "580.95.05")),
        (UNINSTALLED.format(before="570.86.15"), ("removed", "NVIDIA-Linux", "570.86.15", "")),
    )
    for words, expected in rows:
        event = read_nvidia_installer(HEAD + words, Moments(BERLIN), "/var/log/nvidia-installer.log")
        assert event is not None
        assert (short(event), event.at, event.by) == (expected, "2026-11-14T06:12:03+01:00", "nvidia-installer --silent")


def test_a_run_that_failed_and_a_log_that_is_none() -> None:
    for words in ("", HEAD, HEAD + "ERROR: Installation has failed.\n", INSTALLED, HEAD.replace("Nov 14", "Foo 99") + INSTALLED):
        assert read_nvidia_installer(words, Moments(BERLIN), "") is None
