"""Versions as package managers write them: what the makers' own part of one is, and which of two is newer."""

from __future__ import annotations

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.past import Direction
from gpuassist.model.version import Version, VersionError, whole_number

_LONGEST = 200
_EPOCH = lazy_regex(r"\d{1,9}:")
# A driver's, past an epoch; SUSE puts the kernel behind it (580.95.05_k6.4.0_150600.21). Branches have three digits since 2008,
# Debian's helper packages of the same names are numbered by a day (20220217+3).
_DRIVER = lazy_regex(r"(?:\d{1,9}:)?(\d{3}\.\d{1,3}(?:\.\d{1,3}){0,2})(?![\d.])")
# The first three numbers, the build of the distribution: 6.8.0-48-generic, 6.11.4-301.fc41.x86_64, 6.12.4.arch1-1.
_KERNEL = lazy_regex(r"(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?[-.+_]\S+|\d{1,3}\.\d{1,3}\.\d{1,3})$")
_PIECES = lazy_regex(r"[A-Za-z]*\d+[A-Za-z0-9]*")


def upstream(version: str) -> str:
    """The makers' own part: without the epoch before and the packager's revision behind it."""
    words = version[:_LONGEST]
    found = _EPOCH.match(words)
    words = words[found.end() :] if found else words
    return words.rpartition("-")[0] or words


def driver_version(version: str) -> str:
    """The driver's version in a package's; empty where it is none."""
    found = _DRIVER.match(version[:_LONGEST])
    return found[1] if found else ""


def kernel_in_name(package: str) -> str:
    """`6.8.0-48-generic` of `linux-image-6.8.0-48-generic`; empty where the name has none."""
    found = next(iter(_NAMED.findall(package[:_LONGEST])), "")
    return str(found)


_NAMED = lazy_regex(r"-(\d{1,3}\.\d{1,3}\.\d{1,3}-\d\S*)$")


def same_kernel(one: str, other: str) -> bool:
    """Whether two spellings mean one kernel: the running one calls itself `6.12.4-arch1-1`, its package `6.12.4.arch1-1`."""
    left, right = _numbers(one), _numbers(other)
    least = min(len(left), len(right))
    return least >= _LEAST and left[:least] == right[:least]


_LEAST = 3


def newer_kernel(one: str, than: str) -> bool:
    """Whether the first is of a later release."""
    return _counted(one) > _counted(than)


def _numbers(release: str) -> list[str]:
    return [piece.lower() for piece in _PIECES.findall(release[:_LONGEST]) if not piece.lower().startswith(("x86", "aarch"))][
        :_MOST
    ]


_MOST = 8


def _counted(release: str) -> tuple[int, ...]:
    return tuple(whole_number("".join(filter(str.isdigit, piece))) or 0 for piece in _numbers(release))


def direction(before: str, after: str) -> Direction:
    """From one version to another; both may be empty, but not at once."""
    if not before:
        return Direction.ADDED
    if not after:
        return Direction.REMOVED
    old, new = _version(before), _version(after)
    if old is None or new is None or old == new:
        return Direction.CHANGED
    return Direction.UPGRADED if old < new else Direction.DOWNGRADED


def _version(words: str) -> Version | None:
    try:
        return Version.parse(words[:_LONGEST])
    except VersionError:
        return None


def newest(versions: set[str]) -> str:
    """The newest of them; empty of none."""
    return max(versions, key=lambda words: (_version(words) or Version(())).parts, default="")


def begins_alike(version: str, longer: str) -> bool:
    """Whether a package's version is the one that a program tells of itself: `2.7.0` of `2.7.0+cu126`, `9.1` of `9.1.0.70`."""
    one, other = upstream(version), longer
    short, long = sorted((one, other), key=len)
    return bool(short) and long.startswith(short) and not long[len(short) : len(short) + 1].isdigit()
