"""/proc/driver/nvidia/version: the loaded kernel module's version and flavour in one line."""

from __future__ import annotations

import re

from gpuassist.model.version import Version

# `NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 …`, and since 515 also
# `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (…)  Wed Sep 24 …`
_VERSION = re.compile(r"^NVRM version:.*?Kernel Module(?: for \S+)?\s+(\d{1,9}\.\d{1,9}(?:\.\d{1,9})?)\b", re.MULTILINE)


def parse_version(words: str) -> Version | None:
    """The version in the NVRM line; none where it does not look as known."""
    found = _VERSION.search(words)
    return Version.parse(found[1]) if found else None


def is_open(words: str) -> bool:
    """Whether the line speaks of the open kernel modules."""
    return "Open Kernel Module" in words.partition("\n")[0]
