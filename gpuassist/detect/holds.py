"""What the distribution keeps at its version, as far as a user can read: every file that tells a package manager so."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from gpuassist.detect.system_packages import DPKG_STATUS, PACMAN, Installed, SettingsFiles, gpu_repositories
from gpuassist.formats.holds.apt import read_blacklist, read_preferences
from gpuassist.formats.holds.lines import LONGEST_PATTERN, HoldLine, is_for_all, matcher
from gpuassist.formats.holds.pacman import included, read_pacman_conf
from gpuassist.formats.holds.rpm import (
    read_excludes,
    read_module,
    read_origin,
    read_version_lock,
    read_version_lock_toml,
    read_zypper_locks,
)
from gpuassist.knowledge.package_parts import EXAMPLES, part_of
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.holds import HeldPart, HoldKind, HoldReach, PackageHold, SystemPackage, SystemPackages
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.system.files import Files
from gpuassist.system.world import World

_MOST_HOLDS = 500
_MOST_INCLUDES = 50
_PREFERENCE = lazy_regex(r"[\w.-]+\Z")
_SWITCHED_OFF = lazy_regex(r"(?m)^\s*enabled\s*=\s*(?:0|no|false|off)\s*$")
_PACMAN_CONF = "/etc/pacman.conf"
_OWNERS = "/var/lib/dpkg/info/nvidia-driver-pinning-*.list"  # NVIDIA's package of apt's preferences for a branch

Reader = Callable[[str], Iterator[HoldLine]]


class HoldFacts(Struct, frozen=True):
    """What is kept, and the packages that it is about."""

    holds: Fact[tuple[PackageHold, ...]]
    packages: SystemPackages


def unknown(reason: Unknown) -> HoldFacts:
    return HoldFacts(reason, SystemPackages(reason, reason, reason))


def probe(world: World) -> HoldFacts:
    files, settings = world.files, SettingsFiles(world.files)
    installed = Installed(world, settings)
    packages = value_or(installed.packages, ())
    held = tuple(
        PackageHold(
            HoldKind.DPKG,
            HoldReach.EVERY_UPGRADE,
            one.name,
            f"{DPKG_STATUS}:{one.number}",
            version=one.version,
            covers=(one.name,),
            parts=_parts((one.name,)),
        )
        for one in installed.held
    )
    told = (_resolved(path, line, packages, owner) for path, line, owner in _lines(files, settings))
    found = (*held, *(one for one in told if one is not None))[:_MOST_HOLDS]
    repositories = gpu_repositories(settings)
    sources = tuple(dict.fromkeys(one.source.rpartition(":")[0] for one in found)) or (_source(files),)
    holds: Fact[tuple[PackageHold, ...]] = Known(found, ", ".join(sources[:6]))
    if isinstance(installed.packages, Unknown) and not found and not any(map(files.exists, _ANY)):
        holds = installed.packages  # no package manager that is known here
    return HoldFacts(
        holds,
        SystemPackages(installed.packages, repositories, Known(tuple(settings.unread), "apt, dnf, pacman, zypper")),
    )


_ANY = (DPKG_STATUS, PACMAN, _PACMAN_CONF, "/etc/dnf", "/etc/yum.conf", "/etc/zypp", "/etc/apt")


def _source(files: Files) -> str:
    return next((path for path in _ANY if files.exists(path)), _ANY[0])


def _lines(files: Files, settings: SettingsFiles) -> Iterator[tuple[str, HoldLine, str]]:
    """Every line with its file, and the package that brought that."""
    owners = {line: path for path, words in settings.each(_OWNERS) for line in words.splitlines()}
    for path, line in (*_of_apt(settings), *_of_rpm(files, settings), *_of_pacman(files, settings)):
        owner = owners.get(path, "").rpartition("/")[2].removesuffix(".list")
        yield path, line, owner


def _of_apt(settings: SettingsFiles) -> Iterator[tuple[str, HoldLine]]:
    yield from _read(settings, "/etc/apt/preferences", read_preferences)
    # apt passes over files of other endings (apt_preferences(5), apt.conf(5)).
    for directory, ending, reader in (
        ("/etc/apt/preferences.d", ".pref", read_preferences),
        ("/etc/apt/apt.conf.d", ".conf", read_blacklist),
    ):
        for path, words in settings.each(f"{directory}/*"):
            name = path.rpartition("/")[2].removesuffix(ending)
            if _PREFERENCE.match(name) and "." not in name:
                yield from ((path, line) for line in reader(words))
    yield from _read(settings, "/etc/apt/apt.conf", read_blacklist)


def _of_rpm(files: Files, settings: SettingsFiles) -> Iterator[tuple[str, HoldLine]]:
    program = files.real("/usr/bin/dnf") if files.exists("/usr/bin/dnf") else ""
    fifth = program.endswith("dnf5")  # each generation of dnf reads its own list alone
    if not fifth and not _SWITCHED_OFF.search(settings.read("/etc/dnf/plugins/versionlock.conf")):
        yield from _read(settings, "/etc/dnf/plugins/versionlock.list", read_version_lock)
    if not program or fifth:
        yield from _read(settings, "/etc/dnf/versionlock.toml", read_version_lock_toml)
    if not program and not _SWITCHED_OFF.search(settings.read("/etc/yum/pluginconf.d/versionlock.conf")):
        yield from _read(settings, "/etc/yum/pluginconf.d/versionlock.list", read_version_lock)
    for path in dict.fromkeys(files.real(one) for one in ("/etc/dnf/dnf.conf", "/etc/yum.conf")):  # mostly one file
        yield from _read(settings, path, read_excludes)
    directories = ("/etc/dnf/libdnf5.conf.d/*.conf", "/etc/dnf/repos.override.d/*.repo", "/etc/yum.repos.d/*.repo")
    for pattern, reader in (*((one, read_excludes) for one in directories), ("/etc/dnf/modules.d/*.module", read_module)):
        for path, words in settings.each(pattern):
            yield from ((path, line) for line in reader(words))
    yield from _read(settings, "/etc/zypp/locks", read_zypper_locks)
    for path, words in settings.each("/ostree/deploy/*/deploy/*.origin"):
        name = path.rpartition("/")[2].removesuffix(".origin")
        yield from ((path, line) for line in read_origin(words, name))


def _of_pacman(files: Files, settings: SettingsFiles) -> Iterator[tuple[str, HoldLine]]:
    words = settings.read(_PACMAN_CONF)
    yield from ((_PACMAN_CONF, line) for line in read_pacman_conf(words))
    for section, pattern in tuple(dict.fromkeys(included(words)))[:_MOST_INCLUDES]:
        for path, told in settings.each(pattern) if "mirrorlist" not in pattern else ():
            yield from ((path, line) for line in read_pacman_conf(told, section))


def _read(settings: SettingsFiles, path: str, reader: Reader) -> Iterator[tuple[str, HoldLine]]:
    return ((path, line) for line in reader(settings.read(path)))


# What a pattern means here: the installed packages that it covers, or what it is about where none of those is installed.


def _resolved(path: str, line: HoldLine, packages: tuple[SystemPackage, ...], owner: str) -> PackageHold | None:
    """None for one that has nothing to do with computing on a GPU."""
    covers, parts = _covers(line, packages)
    if not parts and line.kind is not HoldKind.OSTREE_PIN:
        return None
    return PackageHold(
        line.kind,
        line.reach,
        line.pattern if len(line.pattern) <= LONGEST_PATTERN else f"{line.pattern[: LONGEST_PATTERN - 1]}…",
        f"{path}:{line.number}",
        version=line.version[:LONGEST_PATTERN],
        covers=covers,
        parts=parts,
        repository=line.repository[:LONGEST_PATTERN],
        owner=owner,
    )


def _covers(line: HoldLine, packages: tuple[SystemPackage, ...]) -> tuple[tuple[str, ...], tuple[HeldPart, ...]]:
    if line.kind is HoldKind.MODULE_STREAM:
        driver = tuple(one.name for one in packages if one.part is HeldPart.DRIVER)
        return driver, (HeldPart.DRIVER,)
    if is_for_all(line.pattern):  # about every package: of matter where it keeps NVIDIA's repository away
        if "nvidia" not in line.repository.lower():
            return (), ()
        every = tuple(one.name for one in packages if one.part is not HeldPart.KERNEL)
        return every, (HeldPart.DRIVER, HeldPart.TOOLKIT)
    meant = matcher(line)
    covers = tuple(one.name for one in packages if meant(one.name, one.version))
    if covers:
        return covers, _parts(covers)
    return (), _parts(tuple(name for name in EXAMPLES if meant(name, "")) or (line.pattern.strip("*^.$/"),))


def _parts(names: tuple[str, ...]) -> tuple[HeldPart, ...]:
    found = {part_of(name) for name in names}
    return tuple(part for part in HeldPart if part in found)
