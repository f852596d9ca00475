"""The distribution's packages that GPU work depends on (of dpkg's or pacman's own files, or told by rpm), NVIDIA's repositories."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from gpuassist.detect.small_files import unreadable
from gpuassist.formats.holds.apt import DpkgPackage, read_dpkg_status
from gpuassist.formats.holds.lines import numbered
from gpuassist.knowledge.package_parts import part_of
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.holds import GpuRepository, SystemPackage
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text
from gpuassist.system.files import Files
from gpuassist.system.own_child import clean
from gpuassist.system.processes import Ending
from gpuassist.system.world import World

DPKG_STATUS, PACMAN = "/var/lib/dpkg/status", "/var/lib/pacman/local"
_RPM_DATABASES = ("/usr/lib/sysimage/rpm", "/var/lib/rpm")  # Fedora 36 and openSUSE; RHEL
_MOST_BYTES = 64 << 20  # dpkg's status file is 3 to 10 MB
_MOST_PACKAGES = 2000
_MOST_FILES = 300
_FILE_MOST_BYTES = 1 << 20
_RPM_SECONDS = 8.0
_ASKED = r"%{NAME}\t%|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\n"
_PACKAGE_NAME = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9@._+-]{0,200}")  # deb-version(7), rpm's and pacman's names alike
_OF_PACMAN = lazy_regex(r"(?P<name>.+)-(?P<version>[^-]+-[^-]+)")
_NVIDIA = lazy_regex(r"https?://[\w.-]*developer\.download\.nvidia\.(?:com|cn)/compute/cuda/repos/(?P<name>[\w.-]{1,40})")


class SettingsFiles:
    """Reads files that tell what is kept, each bounded; those that are there and cannot be read are named."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._texts: dict[str, str] = {}
        self.unread: list[Text] = []

    def read(self, path: str, limit: int = _FILE_MOST_BYTES) -> str:
        """The text, empty of a file that is not there."""
        real = self._files.real(path)
        if real not in self._texts:
            self._texts[real] = self._beginning(path, limit)
        return self._texts[real]

    def _beginning(self, path: str, limit: int) -> str:
        if not self._files.is_file(path):  # a pipe has no end
            return ""
        try:
            words = self._files.read_text(path, limit + 1)
        except OSError as error:
            self.unread.append(unreadable(path, error).reason)
            return ""
        if len(words) > limit:
            self.unread.append(text("{path} is longer than {count} bytes, and only its beginning was read", path=path, count=limit))
        return words[:limit]

    def each(self, pattern: str) -> Iterator[tuple[str, str]]:
        """The files of a pattern with their text, in their order."""
        directory = pattern.rpartition("/")[0]
        if "*" not in directory and self._files.is_directory(directory) and not self._files.may(directory, os.R_OK):
            self.unread.append(text("{path} could not be listed: permission denied", path=directory))
        paths = self._files.glob(pattern)
        for path in paths[:_MOST_FILES]:
            yield path, self.read(path)
        if len(paths) > _MOST_FILES:
            self.unread.append(
                text("{path} holds more than {count} files, and the rest was not read", path=pattern, count=_MOST_FILES)
            )


class Installed:
    """The packages, by whichever package manager there is, and what dpkg's own file says of holds."""

    def __init__(self, world: World, settings: SettingsFiles) -> None:
        self.held: tuple[DpkgPackage, ...] = ()
        files = world.files
        if files.exists(DPKG_STATUS):
            found = tuple(read_dpkg_status(settings.read(DPKG_STATUS, _MOST_BYTES), _is_one))[:_MOST_PACKAGES]
            self.held = tuple(one for one in found if one.number)
            every = ((one.name, one.version) for one in found)
            self.packages: Fact[tuple[SystemPackage, ...]] = Known(_listed(every), DPKG_STATUS)
        elif files.is_directory(PACMAN):
            names = (_OF_PACMAN.fullmatch(name) for name in files.names(PACMAN) if len(name) < 300)
            self.packages = Known(_listed((one["name"], one["version"]) for one in names if one is not None), PACMAN)
        else:
            self.packages = _of_rpm(world)


def _is_one(name: str) -> bool:
    return part_of(name) is not None


def _listed(found: Iterator[tuple[str, str]]) -> tuple[SystemPackage, ...]:
    every: dict[str, SystemPackage] = {}
    for name, version in found:
        part = part_of(name)
        if part is not None and _PACKAGE_NAME.fullmatch(name) and len(every) < _MOST_PACKAGES:
            every.setdefault(name, SystemPackage(name, version[:100], part))
    return tuple(sorted(every.values(), key=lambda one: one.name))


def _of_rpm(world: World) -> Fact[tuple[SystemPackage, ...]]:
    database = next((path for path in _RPM_DATABASES if world.files.is_directory(path)), "")
    if not database:
        return Unknown(text("the packages of this distribution are not listed in files that can be read"))
    command = ("rpm", "--dbpath", world.files.place(database), "-qa", "--qf", _ASKED)
    outcome = world.processes.run(command, seconds=_RPM_SECONDS, environment=clean(world.surroundings.variables))
    if outcome.succeeded:
        rows = (line.split("\t") for line in outcome.text.splitlines())
        return Known(_listed((row[0], row[1]) for row in rows if len(row) == 2), "rpm -qa")
    if outcome.ending is Ending.TIMED_OUT:
        return Unknown(text("rpm did not answer in {seconds} seconds", seconds=int(_RPM_SECONDS)))
    return Unknown(text("rpm gave no list of the packages"))


# NVIDIA's repositories, as sources.list(5), its deb822 form, and the files of dnf, yum and zypper have them.


_SOURCES = ("/etc/apt/sources.list", "/etc/apt/sources.list.d/*.list")
_STANZAS = ("/etc/apt/sources.list.d/*.sources",)
_REPOSITORIES = ("/etc/yum.repos.d/*.repo", "/etc/zypp/repos.d/*.repo")
_OFF = re.compile(r"^\s*enabled\s*[=:]\s*(?:0|no|false|off)\s*$", re.IGNORECASE | re.MULTILINE)
_SECTION = lazy_regex(r"\[(?P<name>[^\]]{1,100})\]")


def gpu_repositories(settings: SettingsFiles) -> Fact[tuple[GpuRepository, ...]]:
    """Those that are switched on."""
    found: list[GpuRepository] = []
    for pattern in _SOURCES:
        for path, words in settings.each(pattern):
            lines = ((number, line) for number, line in numbered(words) if line.lstrip().startswith("deb "))
            found += (one for number, line in lines for one in _named(line, path, number))
    for pattern in (*_STANZAS, *_REPOSITORIES):
        for path, words in settings.each(pattern):
            found += _of_sections(words, path, by_heading=path.endswith(".repo"))
    return Known(tuple(dict.fromkeys(found)), ", ".join(("/etc/apt/sources.list.d", "/etc/yum.repos.d", "/etc/zypp/repos.d")))


def _of_sections(words: str, path: str, *, by_heading: bool) -> Iterator[GpuRepository]:
    part: list[tuple[int, str]] = []
    name = ""
    for number, line in (*numbered(words), (0, "[]" if by_heading else "")):
        heading = _SECTION.match(line.strip()) if by_heading else None
        ends = line.strip() == "[]" or heading is not None if by_heading else not line.strip()
        if ends:
            if not _OFF.search("\n".join(row for _, row in part)):
                yield from (one for at, row in part for one in _named(row, path, at, name))
            part, name = [], heading["name"] if heading is not None else ""
        elif not line.lstrip().startswith("#"):
            part.append((number, line))


def _named(line: str, path: str, number: int, name: str = "") -> Iterator[GpuRepository]:
    yield from (GpuRepository(one["name"], f"{path}:{number}", name) for one in _NVIDIA.finditer(line))
