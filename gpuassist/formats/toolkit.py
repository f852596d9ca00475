"""What tells which CUDA toolkit it is: version.json, version.txt, crt/host_config.h, and what its nvcc prints."""

from __future__ import annotations

import re

from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Target, Version, VersionError

_VERSION_TXT = lazy_regex(r"^CUDA Version (\d+(?:\.\d+)+)", re.MULTILINE)

# `#if __GNUC__ > 12`; before 8.0 also `__GNUC__ > 4 || (__GNUC__ == 4 && __GNUC_MINOR__ > 9)`: the first number is the major.
_GCC = lazy_regex(r"^#\s*if\b.*?__GNUC__\s*>\s*(\d{1,4})\b", re.MULTILINE)

# The line of plain clang, which the guard above names; Grace's and other makers' clangs have lines of their own above it.
_CLANG_GUARD = lazy_regex(r"^#\s*if defined\(__clang__\)")
_CLANG_LATER = lazy_regex(r"__clang_major__\s*(>=|>)\s*(\d{1,4})\b")


def parse_version_json(data: bytes) -> Version | None:
    """The CUDA release of a version.json (11.1 and later): `cuda.version`; none where it does not say."""
    try:
        document = read_json(data)
    except NotJsonError:
        return None
    cuda = document.get("cuda") if isinstance(document, dict) else None
    words = cuda.get("version") if isinstance(cuda, dict) else None
    return _version(words) if isinstance(words, str) else None


def parse_version_txt(words: str) -> Version | None:
    """The CUDA release of a version.txt (until 11.0)."""
    found = _VERSION_TXT.search(words)
    return _version(found[1]) if found else None


def parse_gcc_limit(host_config: str) -> int | None:
    """The newest gcc major that this toolkit's own header accepts."""
    limits = [int(found[1]) for found in _GCC.finditer(host_config)]
    return max(limits, default=None)


def parse_clang_limit(host_config: str) -> int | None:
    """The newest clang major that it accepts; none where the header says nothing of clang."""
    lines = iter(host_config.splitlines())
    for line in lines:
        if _CLANG_GUARD.match(line):
            found = next((later for one in lines if (later := _CLANG_LATER.search(one))), None)
            if found is not None:
                return int(found[2]) - 1 if found[1] == ">=" else int(found[2])
    return None


def _version(words: str) -> Version | None:
    try:
        return Version.parse(words)
    except VersionError:
        return None


# What nvcc prints: its version, the architectures that it lists, and the directory that it takes its parts from.


_VERSION = lazy_regex(r"^Cuda compilation tools, release \S+, V(\d{1,9}(?:\.\d{1,9})+)\s*$", re.MULTILINE)
_HERE = lazy_regex(r"^#\$ _HERE_=(/.*)$", re.MULTILINE)


def parse_version(words: str) -> Version | None:
    """The full version of `nvcc --version`; none where the text is not nvcc's."""
    found = _VERSION.search(words)
    return Version.parse(found[1]) if found else None


def parse_targets(words: str) -> tuple[Target, ...]:
    """The architectures of `nvcc --list-gpu-arch`, in ascending order: nvcc's own order is not (13.x puts 110 before 103)."""
    found = {target for line in words.split() for target in _target(line)}
    return tuple(sorted(found, key=lambda one: (one.capability, one.suffix)))


def parse_directory(words: str) -> str:
    """The directory of the nvcc that really ran, from what `nvcc -dryrun` says; empty where it does not say."""
    found = _HERE.search(words)
    return found[1] if found else ""


def _target(word: str) -> tuple[Target, ...]:
    try:
        return (Target.parse(word),)
    except VersionError:
        return ()


# Directories beside a toolkit's libraries whose libcuda is not the driver's own.


def holds_stubs(directory: str) -> bool:
    """Whether it is where a toolkit keeps what stands in for the driver's libraries while a program is linked."""
    return directory.rstrip("/").endswith("/stubs")


def holds_compatibility(directory: str) -> bool:
    """NVIDIA's package cuda-compat puts it into /usr/local/cuda-12.8/compat, its images into /usr/local/cuda/compat/lib."""
    own = directory.rstrip("/").removesuffix("/lib").removesuffix("/lib.real")
    return "cuda" in own and own.endswith("/compat")
