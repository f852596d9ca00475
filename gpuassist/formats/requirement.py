"""What packages ask of each other, as pip judges it: their requirements with markers (PEP 508) held against what is installed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from gpuassist.formats.packages import PackageMetadata, normalised
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Version as Number

if TYPE_CHECKING:
    from packaging.requirements import Requirement

# `packaging` is imported where a requirement is read: it compiles its patterns then, in 25 ms of every look at a machine, and there
# is not one to be read where no package asks for torch.

_NAME = lazy_regex(r"\s*([A-Za-z0-9][\w.-]*)")


class AskedPackage(Struct, frozen=True):
    """One package asks for another, `wanted` as it writes that, without the marker; `has` is the version there, empty for none."""

    package: str
    version: str
    name: str
    wanted: str
    has: str
    met: bool


def marker_environment(python: Number, architecture: str) -> dict[str, str]:
    """What markers are held against: a CPython of that version on Linux."""
    full = str(python) if len(python.parts) > 2 else f"{python.release}.0"
    return {
        "implementation_name": "cpython",
        "implementation_version": full,
        "os_name": "posix",
        "platform_machine": architecture,
        "platform_python_implementation": "CPython",
        "platform_system": "Linux",
        "python_full_version": full,
        "python_version": str(python.release),
        "sys_platform": "linux",
    }


def asked(
    packages: Mapping[str, PackageMetadata], environment: Mapping[str, str], *, about: Collection[str]
) -> Iterator[AskedPackage]:
    """What the packages ask of those that `about` names, or what those ask of others. Reading a requirement costs 20 µs: of the
    others' only the names are read.
    """
    for package in packages.values():
        for line in package.requires:
            found = _NAME.match(line)
            if package.name in about or (found and normalised(found[1]) in about):
                yield from _of(package, line, packages, environment)


def names_asked(lines: Iterable[str], environment: Mapping[str, str]) -> frozenset[str]:
    """The packages that such lines really ask for here."""
    read = (_requirement(line) for line in lines)
    return frozenset(normalised(one.name) for one in read if one is not None and _applies(one, environment))


def _of(
    package: PackageMetadata, line: str, packages: Mapping[str, PackageMetadata], environment: Mapping[str, str]
) -> Iterator[AskedPackage]:
    requirement = _requirement(line)
    if requirement is None or not _applies(requirement, environment):
        return
    name = normalised(requirement.name)
    there = packages.get(name)
    has = there.version if there else ""
    wanted = f"{requirement.name}{requirement.specifier}"
    yield AskedPackage(package.name, package.version, name, wanted, has, bool(has) and _admits(requirement, has))


def _applies(requirement: Requirement, environment: Mapping[str, str]) -> bool:
    """Whether it is asked for without an extra; those of extras are what `pip check` passes over, too."""
    return requirement.marker is None or requirement.marker.evaluate({**environment, "extra": ""})


def _admits(requirement: Requirement, version: str) -> bool:
    from packaging.version import InvalidVersion, Version

    try:
        return requirement.url is not None or requirement.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return True  # one of a maker's own counting: nobody can tell


@lru_cache(4096)
def _requirement(line: str) -> Requirement | None:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(line)
    except InvalidRequirement:
        return None  # an old `torch (>=1.0)*`: pip leaves it out with a warning
