"""/proc/driver/nvidia/version as drivers of several years write it."""

from __future__ import annotations

import pytest

from gpuassist.formats.kernel_module import is_open, parse_version
from gpuassist.model.version import Version

CLOSED = (
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\nGCC version:  gcc version 12.3.0\n"
)
OPEN = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder@U22-I3)  Tue Sep 23\n"
    "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n"
)
ARM = "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.82.07  Release Build\n"
OLD = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  390.157  Wed Oct 12 09:19:07 UTC 2022\n"


@pytest.mark.parametrize(("words", "version"), [(CLOSED, "535.183.01"), (OPEN, "580.95.05"), (ARM, "580.82.07"), (OLD, "390.157")])
def test_version_stands_in_the_nvrm_line(words: str, version: str) -> None:
    assert parse_version(words) == Version.parse(version)


@pytest.mark.parametrize("words", ["", "GCC version:  gcc version 12.3.0", "NVRM version: something new"])
def test_other_text_has_no_version(words: str) -> None:
    assert parse_version(words) is None


@pytest.mark.parametrize(("words", "open_flavour"), [(CLOSED, False), (OPEN, True), (ARM, True), (OLD, False)])
def test_flavour_is_told_by_its_words(words: str, open_flavour: bool) -> None:
    assert is_open(words) is open_flavour
