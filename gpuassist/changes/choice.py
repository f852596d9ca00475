"""Which installed toolkit a wished version means, and whether its libraries belong on LD_LIBRARY_PATH."""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import Enum
from pathlib import PurePosixPath

from msgspec import Struct

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import Text, text
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.model.version import Version, VersionError
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.files import Files

_SYSTEM_ROOTS = frozenset({"/", "/usr", "/usr/local"})
_CONFIGURATION_AT_MOST_BYTES = 1 << 16


class LdLibraryPath(str, Enum):
    """Whether the toolkit's libraries go on LD_LIBRARY_PATH; `AUTO` decides by what this machine shows."""

    ON = "on"
    OFF = "off"
    AUTO = "auto"


class LoaderChoice(Struct, frozen=True):
    """What was decided about a new line for LD_LIBRARY_PATH, and what it rests on; what stands there already follows the toolkit.

    `listed` where the loader finds the libraries without it; `harms` where a program of this machine breaks with them on it, so
    that what stands there is taken out.
    """

    on: bool
    reason: Text
    listed: bool = False
    harms: bool = False


class WishError(RepairError):
    """The wished version is none: wrong usage, not a state of the machine."""


def choose_toolkit(toolkits: Fact[tuple[Toolkit, ...]], wish: str) -> Toolkit:
    """The installed toolkit of that version, of several the newest; raises `RepairError` that lists what is installed."""
    try:
        version = Version.parse(wish)
    except VersionError:
        raise WishError(text("{wish} is not a CUDA version; 12.4 or 12.4.1 is", wish=wish or "''")) from None
    if str(version) != wish.strip().lstrip("Vv"):
        raise WishError(text("{wish} is not a CUDA version; 12.4 or 12.4.1 is", wish=wish))
    if isinstance(toolkits, Unknown):
        raise RepairError(text("which toolkits are installed is not known: {reason}", reason=toolkits.reason))
    fitting = [toolkit for toolkit in toolkits.value if _fits(toolkit, version)]
    usable = [toolkit for toolkit in fitting if _unusable(toolkit) is None]
    if usable:
        return max(usable, key=_preference)
    if fitting:
        raise RepairError(_unusable(fitting[0]) or text("{root} cannot be used", root=fitting[0].root))
    installed = "; ".join(f"{version_of(toolkit)} ({toolkit.root})" for toolkit in toolkits.value if _unusable(toolkit) is None)
    if not installed:
        raise RepairError(text("CUDA {version} is not installed, and no other toolkit is", version=wish))
    raise RepairError(text("CUDA {version} is not installed. Installed: {installed}", version=wish, installed=installed))


def version_of(toolkit: Toolkit) -> str:
    """Its version for people, or a question mark."""
    known = (fact.value for fact in (toolkit.version, toolkit.nvcc_version) if isinstance(fact, Known))
    return next((str(version) for version in known), "?")


def choose_loader_path(files: Files | None, toolkit: Toolkit, wish: LdLibraryPath) -> LoaderChoice:
    """Whether to write LD_LIBRARY_PATH, where no program was looked at; `files` is none for a recorded machine."""
    if wish is LdLibraryPath.ON:
        return LoaderChoice(
            on=True, reason=text("you asked for it; it comes before the libraries that Python packages bring along")
        )
    if wish is LdLibraryPath.OFF:
        return LoaderChoice(on=False, reason=text("you asked for no toolkit on it"))
    listed = _listed_in(files, library_directory(files, toolkit)) if files else ""
    if listed:
        reason = text(
            "not needed: {file} lets the loader find this toolkit's libraries.",
            file=listed,
        )
        return LoaderChoice(on=False, reason=reason, listed=True)
    reason = text(
        "left alone: nvcc links the CUDA runtime statically unless told otherwise, PyTorch brings its own CUDA libraries, and "
        "LD_LIBRARY_PATH would come before those. Turn it on if a program of yours says that it cannot find libcudart, libcublas "
        "or the like. Based on general rules; no program of this machine was looked at."
    )
    return LoaderChoice(on=False, reason=reason)


def library_directory(files: Files | None, toolkit: Toolkit) -> str:
    """Where the toolkit's libraries lie: lib64, or lib where it has no lib64."""
    if files is None:
        return toolkit.root + "/lib64"
    return next(
        (f"{toolkit.root}/{name}" for name in ("lib64", "lib") if files.is_directory(f"{toolkit.root}/{name}")),
        toolkit.root + "/lib64",
    )


def require_executable(files: Files, toolkit: Toolkit) -> None:
    """Raises `RepairError` where the toolkit's nvcc could not win, because no shell would run it."""
    nvcc = f"{toolkit.root}/bin/nvcc"
    if not files.is_file(nvcc):
        raise RepairError(text("{nvcc} does not exist", nvcc=nvcc))
    if not files.may(nvcc, os.X_OK):
        raise RepairError(text("{nvcc} is not executable, so no shell would find it", nvcc=nvcc))


def _fits(toolkit: Toolkit, wish: Version) -> bool:
    versions = (fact.value for fact in (toolkit.version, toolkit.nvcc_version) if isinstance(fact, Known))
    return any(version.parts[: len(wish.parts)] == wish.parts for version in versions)


def _unusable(toolkit: Toolkit) -> Text | None:
    if isinstance(toolkit.origin, Known) and toolkit.origin.value in {Origin.CONDA, Origin.WHEEL}:
        return text("{root} belongs to a Python environment: activate that environment where you need it", root=toolkit.root)
    if toolkit.root in _SYSTEM_ROOTS:
        return text("the programs of {root} are on every PATH; take the lines of other toolkits out instead", root=toolkit.root)
    if isinstance(toolkit.nvcc, Known) and not toolkit.nvcc.value:
        return text("{root} holds no nvcc", root=toolkit.root)
    return None


def _preference(toolkit: Toolkit) -> tuple[tuple[int, ...], bool, str]:
    version = toolkit.version.value.parts if isinstance(toolkit.version, Known) else ()
    return version, toolkit.root.startswith("/usr/local/"), toolkit.root


def _listed_in(files: Files, directory: str) -> str:
    wanted = {directory, files.real(directory)}
    for path in ("/etc/ld.so.conf", *files.glob("/etc/ld.so.conf.d/*.conf")):
        if any(line in wanted or files.real(line) in wanted for line in _directories(files, path)):
            return path
    return ""


def _directories(files: Files, path: str) -> Iterator[str]:
    try:
        content = files.read_text(path, _CONFIGURATION_AT_MOST_BYTES)
    except OSError:
        return
    for line in content.splitlines():
        directory = line.partition("#")[0].strip()
        if directory.startswith("/"):
            yield str(PurePosixPath(directory))
