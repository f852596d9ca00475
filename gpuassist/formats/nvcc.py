"""What nvcc prints: its version, the architectures that it lists, and the directory that it takes its parts from."""

from __future__ import annotations

import re

from gpuassist.model.version import ComputeCapability, Target, Version, VersionError

_VERSION = re.compile(r"^Cuda compilation tools, release \S+, V(\d{1,9}(?:\.\d{1,9})+)\s*$", re.MULTILINE)
_HERE = re.compile(r"^#\$ _HERE_=(/.*)$", re.MULTILINE)


def parse_version(words: str) -> Version | None:
    """The full version of `nvcc --version`; none where the text is not nvcc's."""
    found = _VERSION.search(words)
    return Version.parse(found[1]) if found else None


def parse_targets(words: str) -> tuple[Target, ...]:
    """The architectures of `nvcc --list-gpu-arch`, in ascending order: nvcc's own order is not (13.x puts 110 before 103)."""
    found = {target for line in words.split() for target in _target(line)}
    return tuple(sorted(found, key=_ascending))


def parse_directory(words: str) -> str:
    """The directory of the nvcc that really ran, from what `nvcc -dryrun` says; empty where it does not say."""
    found = _HERE.search(words)
    return found[1] if found else ""


def _target(word: str) -> tuple[Target, ...]:
    try:
        return (Target.parse(word),)
    except VersionError:
        return ()


def _ascending(target: Target) -> tuple[ComputeCapability, str]:
    return target.capability, target.suffix
