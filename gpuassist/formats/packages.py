"""The packages of a Python environment by the records in site-packages and conda-meta, their metadata, and what is frozen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from gpuassist.model.environment import Package
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Version, VersionError, whole_number

# What is judged, or explains a failure: torch, what belongs to a release of it, the libraries that it brings, and frameworks.
_OF_INTEREST = lazy_regex(
    r"torch|torch-?(?:vision|audio|text|data|codec)|pytorch(?:-(?:cuda|mutex|gpu|cpu|triton\S*|nightly))?|libtorch|cpuonly|cudatoolkit"
    r"|(?:pytorch-)?triton(?:-\S+)?|xformers|flash-attn|bitsandbytes|onnxruntime(?:-\S+)?|nvidia-\S+|cuda-(?:toolkit|version|bindings)"
    r"|cudnn|numpy|setuptools|mkl|jax|jaxlib|tensorflow|tensorrt(?:-\S+)?"
)
_RECORD = lazy_regex(r"([A-Za-z0-9][\w.-]{0,100}?)-(\d[\w.!+]{0,60})\.(?:dist|egg)-info")
_CONDA_RECORD = lazy_regex(r"([a-z0-9_][\w.-]{0,100})-(\d[\w.!+]{0,60})-([\w.+]{1,80})\.json")
_VITAL = lazy_regex(r"torch/(?:\w+\.py|lib/lib[\w.+-]+\.so[\w.]*|_C\.[\w-]+\.so)")
_SEPARATORS = lazy_regex(r"[-_.]+")


def python_packages(names: Iterable[str]) -> Iterator[Package]:
    """The packages that the `.dist-info` directories among the names are of."""
    for name in sorted(names):
        found = _RECORD.fullmatch(name)
        package = normalised(found[1]) if found else ""
        if found and _OF_INTEREST.fullmatch(package):
            yield Package(package, found[2])


def conda_packages(names: Iterable[str]) -> tuple[Package, ...]:
    """Those that the records in a conda-meta are of, with their build strings."""
    found = (match for name in sorted(names) if (match := _CONDA_RECORD.fullmatch(name)))
    return tuple(
        Package(normalised(match[1]), match[2], match[3]) for match in found if _OF_INTEREST.fullmatch(normalised(match[1]))
    )


def is_of_interest(name: str) -> bool:
    """Whether a package of this name is judged, or explains a failure."""
    return _OF_INTEREST.fullmatch(name) is not None


def normalised(name: str) -> str:
    """A package's name as indexes compare it: PEP 503."""
    return _SEPARATORS.sub("-", name).lower()


def recorded_sizes(record: str) -> dict[str, int]:
    """The modules at the top of torch and its own libraries, with the bytes that a RECORD says they have."""
    rows = (line.rsplit(",", 2) for line in record.splitlines() if line.startswith("torch/"))
    sizes = ((row[0], whole_number(row[2])) for row in rows if len(row) == 3 and _VITAL.fullmatch(row[0]))
    return {path: size for path, size in sizes if size is not None}


# The files that describe a Python environment: pyvenv.cfg and the names in conda-meta.


_CONDA_PYTHON = lazy_regex(r"python-(\d{1,9}(?:\.\d{1,9})+)-[^-]+\.json")
_LIBRARY = lazy_regex(r"python(\d{1,9}\.\d{1,9})t?")


def parse_pyvenv(words: str) -> dict[str, str]:
    """The keys of a pyvenv.cfg, in lower case as `site` reads them."""
    pairs = (line.partition("=") for line in words.splitlines() if "=" in line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def python_version(settings: dict[str, str]) -> Version | None:
    """The interpreter's version: `version` of venv, `version_info` of virtualenv and uv."""
    words = settings.get("version") or settings.get("version_info", "")
    try:
        return Version(Version.parse(words).parts[:3])
    except VersionError:
        return None


def conda_python(names: Iterable[str]) -> Version | None:
    """The Python that conda installed, from the names of its conda-meta records."""
    return next((Version.parse(found[1]) for name in names if (found := _CONDA_PYTHON.fullmatch(name))), None)


def library_versions(names: Iterable[str]) -> tuple[Version, ...]:
    """The versions of the `pythonX.Y` directories among the names in a `lib`, newest first."""
    found = {Version.parse(match[1]) for name in names if (match := _LIBRARY.fullmatch(name))}
    return tuple(sorted(found, reverse=True))


# The metadata of an installed Python package: its name, its version and what it asks for (core metadata, PEP 566 and 643).


HEAD_AT_MOST_BYTES = 256 << 10  # what comes before the description; that of torch 2.13 is 10 KB
_FIELD = lazy_regex(r"^(Name|Version|Requires-Dist): *(.+?)\s*$", re.MULTILINE | re.IGNORECASE)


class PackageMetadata(Struct, frozen=True):
    """A package by its normalised name; `requires` as it is written."""

    name: str
    version: str
    requires: tuple[str, ...] = ()


def read_package_metadata(words: str) -> PackageMetadata | None:
    """From the head of a METADATA file; None where it names no package."""
    head = words.replace("\r\n", "\n").partition("\n\n")[0]
    name = version = ""
    requires = []
    for field, value in _FIELD.findall(head):
        key = field.lower()
        if key == "requires-dist":
            requires.append(value)
        elif key == "name":
            name = name or normalised(value)
        else:
            version = version or value
    return PackageMetadata(name, version, tuple(requires)) if name and version else None


# What an environment held, as `pip freeze` and `conda list --explicit` print it, and what takes it back to that.


_EDITABLE = lazy_regex(r"-e .*[#&]egg=([\w.-]+)")
_NAMED = lazy_regex(r"([\w.-]+)\s*(?:==|===|@)")
_CONDA = lazy_regex(r".*/(?P<name>[^/]+)-[^-/]+-[^-/]+(?:\.tar\.bz2|\.conda)(?:#\w*)?")


class FreezeDifference(Struct, frozen=True):
    """`remove` are the names of what was added, `restore` the lines of what was changed or removed; `left` are the names of what
    somebody else changed since, which stays.
    """

    remove: tuple[str, ...]
    restore: tuple[str, ...]
    left: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        return not (self.remove or self.restore)


def frozen_packages(lines: Iterable[str]) -> dict[str, str]:
    """The lines of `pip freeze` by the normalised name of the package."""
    found = {}
    for line in lines:
        match = _EDITABLE.match(line) or _NAMED.match(line)
        if match is not None:
            found[normalised(match[1])] = line.strip()
    return found


def explicit_packages(lines: Iterable[str]) -> dict[str, str]:
    """The lines of `conda list --explicit` by the name of the package."""
    return {match["name"]: line.strip() for line in lines if (match := _CONDA.fullmatch(line.strip()))}


def back_to(before: Mapping[str, str], after: Mapping[str, str], now: Mapping[str, str]) -> FreezeDifference:
    """What takes `now` back to `before`, as far as a step that left `after` had changed it."""
    ours = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    still = {name for name in ours if now.get(name) == after.get(name)}
    others = {name for name in ours - still if now.get(name) != before.get(name)}
    return FreezeDifference(
        tuple(sorted(name for name in still if name not in before)),
        tuple(before[name] for name in sorted(still) if name in before),
        tuple(sorted(others)),
    )
