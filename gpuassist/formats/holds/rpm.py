"""What dnf, yum, zypper and rpm-ostree keep: version locks, excludes, module streams, zypper's locks, an image's overrides."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.formats.holds.lines import LONGEST_PATTERN, HoldLine, Match, numbered
from gpuassist.model.holds import HoldKind, HoldReach
from gpuassist.model.lazy_regex import lazy_regex

# `name-epoch:version-release.arch` (dnf 4), `epoch:name-version-release.arch` (yum), or a pattern as it was given.
_NEVRA = lazy_regex(r"(?:(?P<first>\d+):)?(?P<name>.+)-(?:(?P<epoch>\d+|\*):)?(?P<version>[^-:]+)-(?P<release>[^-:]+)")
_BRANCH = lazy_regex(r".*?(?P<branch>\d{3})(?:\.[\d.]*)?\*")


def read_version_lock(words: str) -> Iterator[HoldLine]:
    """The list of dnf 4 (dnf-plugins-core, versionlock) and of yum; a line with `!` keeps that one version away."""
    for number, line in numbered(words):
        entry = line.strip()
        if not entry or entry.startswith("#"):
            continue
        away = entry.startswith("!")
        entry = entry.lstrip("!").strip()
        if len(entry) > LONGEST_PATTERN:
            continue
        found = _NEVRA.fullmatch(entry)
        kind = HoldKind.VERSION_LOCK
        if found is not None:
            version = f"{found['version']}-{found['release']}".removesuffix(".*")
            reach = HoldReach.ONE_VERSION if away else HoldReach.EVERY_UPGRADE
            yield HoldLine(number, kind, reach, found["name"], version=version)
        elif entry:
            branch = _BRANCH.match(entry)
            version = f"{branch['branch']}*" if branch is not None else ""
            reach = HoldReach.OTHER_BRANCHES if version else HoldReach.EVERY_UPGRADE
            reach = HoldReach.ONE_VERSION if away else reach
            yield HoldLine(number, kind, reach, entry, version=version, whole=True)


# dnf 5's list (dnf5-versionlock(8)): TOML as dnf writes it, read line by line because a place is a line.


_TOML = lazy_regex(r"""(?P<key>[A-Za-z_]+)\s*=\s*(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)')""")
_HEADING = lazy_regex(r"\[\[?\s*(?P<name>[\w.]+)\s*\]\]?")
_READ = "1.0"  # dnf 5 applies a file of this version alone


def read_version_lock_toml(words: str) -> Iterator[HoldLine]:
    """Each package with conditions on its version; on its architecture or epoch alone nothing is kept."""
    version = section = name = ""
    at = 0
    conditions: list[dict[str, str]] = []
    held: list[HoldLine] = []
    for number, line in (*numbered(words), (0, "[[packages]]")):
        stripped = line.strip()
        heading = _HEADING.match(stripped)
        value = _TOML.match(stripped)
        if heading is not None:
            section = heading["name"]
            if section == "packages":
                held += _conditioned(name, at, conditions)
                name, at, conditions = "", number, []
            elif section == "packages.conditions":
                conditions.append({})
        elif value is not None:
            told = value["double"] if value["double"] is not None else value["single"]
            if not section and value["key"] == "version":
                version = told
            elif section == "packages" and value["key"] == "name":
                name, at = told, number
            elif section == "packages.conditions" and conditions:
                conditions[-1][value["key"]] = told
    if version == _READ:
        yield from held


def _conditioned(name: str, number: int, conditions: list[dict[str, str]]) -> Iterator[HoldLine]:
    told = [(one.get("comparator", ""), one.get("value", "")) for one in conditions if one.get("key") == "evr"]
    if not name or not told:
        return
    kind, signs = HoldKind.VERSION_LOCK, dict(told)
    if "=" in signs:
        yield HoldLine(number, kind, HoldReach.EVERY_UPGRADE, name, version=signs["="])
        return
    least, most = signs.get(">=") or signs.get(">"), signs.get("<") or signs.get("<=")
    if least is not None and most is not None:
        yield HoldLine(number, kind, HoldReach.OTHER_BRANCHES, name, version=least)
    elif most is not None:
        sign = "<" if "<" in signs else "<="
        yield HoldLine(number, kind, HoldReach.OTHER_BRANCHES, name, version=f"{sign} {most}")
    elif "!=" in signs:
        yield HoldLine(number, kind, HoldReach.ONE_VERSION, name, version=signs["!="])


# The files of dnf and yum themselves: what they exclude for all repositories or for one, and the stream of a module.


_EXCLUDES = frozenset({"exclude", "excludepkgs"})
_SECTION = lazy_regex(r"\[(?P<name>[^\]]+)\]")
_MAIN = "main"


def read_excludes(words: str) -> Iterator[HoldLine]:
    """Of every section: `main` keeps a package from all repositories, another from that one. A value goes on in indented lines."""
    section, listing = _MAIN, False
    for number, line in numbered(words):
        stripped = line.strip()
        if not stripped or stripped.startswith(("#", ";")):
            continue
        heading = _SECTION.fullmatch(stripped)
        key, sign, value = stripped.partition("=")
        if heading is not None:
            section, listing = heading["name"].strip(), False
        elif line[0] in " \t" and listing:
            yield from _excluded(stripped, number, section)
        else:
            listing = bool(sign) and key.strip().lower() in _EXCLUDES
            if listing:
                yield from _excluded(value, number, section)


def _excluded(value: str, number: int, section: str) -> Iterator[HoldLine]:
    of_all = section == _MAIN
    for pattern in value.replace(",", " ").split():
        reach = HoldReach.EVERY_UPGRADE if of_all else HoldReach.ONE_REPOSITORY
        repository = "" if of_all else section
        yield HoldLine(number, HoldKind.EXCLUDE, reach, pattern, repository=repository, whole=True)


_STREAM = lazy_regex(r"(?P<branch>\d{3})(?:-\w+)?\Z")


def read_module(words: str) -> Iterator[HoldLine]:
    """The stream of the driver's module (/etc/dnf/modules.d), where it is a branch's: `open-dkms` and `latest` hold nothing."""
    values: dict[str, tuple[int, str]] = {}
    for number, line in numbered(words):
        key, sign, value = line.partition("=")
        if sign:
            values[key.strip().lower()] = (number, value.strip())
    number, stream = values.get("stream", (0, ""))
    name, state = values.get("name", (0, ""))[1], values.get("state", (0, ""))[1]
    found = _STREAM.match(stream)
    if state == "enabled" and name == "nvidia-driver" and found is not None:
        yield HoldLine(number, HoldKind.MODULE_STREAM, HoldReach.OTHER_BRANCHES, f"{name}:{stream}", version=f"{found['branch']}*")


# zypper's locks (locks(5) of libzypp): attributes a line, an empty line between two locks.


_MATCHES = {"exact": Match.GLOB, "glob": Match.GLOB, "regex": Match.REGEX, "substring": Match.SUBSTRING, "word": Match.SUBSTRING}


def read_zypper_locks(words: str) -> Iterator[HoldLine]:
    fields: dict[str, tuple[int, str]] = {}
    names: list[tuple[int, str]] = []
    for number, line in (*numbered(words), (0, "")):
        key, sign, value = line.strip().partition(":")
        if line.strip().startswith("#"):
            continue
        if not line.strip():
            yield from _locked(fields, names)
            fields, names = {}, []
        elif sign and key.strip() in {"solvable_name", "query_string"}:
            names += [(number, value.strip())] if value.strip() else []
        elif sign:
            fields[key.strip()] = (number, value.strip())


def _locked(fields: dict[str, tuple[int, str]], names: list[tuple[int, str]]) -> Iterator[HoldLine]:
    if fields.get("type", (0, "package"))[1] != "package":
        return
    repository, version = fields.get("repo", (0, ""))[1], fields.get("version", (0, ""))[1]
    reach = HoldReach.ONE_VERSION if version else HoldReach.EVERY_UPGRADE
    reach = HoldReach.ONE_REPOSITORY if repository else reach
    match = _MATCHES.get(fields.get("match_type", (0, "substring"))[1], Match.SUBSTRING)
    any_case = fields.get("case_sensitive", (0, "off"))[1] not in {"on", "true"}
    for number, name in names:
        yield HoldLine(number, HoldKind.ZYPPER, reach, name, match=match, version=version, repository=repository, any_case=any_case)


# The origin of an image's deployment (ostree, rpm-ostree): an ini file, its lists separated by semicolons.


_PINNED = ("libostree-transient", "pinned")
_LISTS = frozenset({"replace-local", "replace", "remove"})


def read_origin(words: str, deployment: str) -> Iterator[HoldLine]:
    """That the deployment is kept, and the packages that stand in the place of the image's own."""
    section = ""
    for number, line in numbered(words):
        stripped = line.strip()
        heading = _SECTION.fullmatch(stripped)
        key, sign, value = stripped.partition("=")
        if heading is not None:
            section = heading["name"]
        elif (section, key.strip()) == _PINNED and value.strip().lower() in {"true", "1"}:
            yield HoldLine(number, HoldKind.OSTREE_PIN, HoldReach.NOTHING, deployment)
        elif section == "overrides" and sign and key.strip() in _LISTS - {"remove"}:
            yield from _overridden(value, number)


def _overridden(value: str, number: int) -> Iterator[HoldLine]:
    for entry in value.split(";"):
        nevra = entry.partition(":")[2].strip()  # after the checksum
        found = _NEVRA.fullmatch(nevra) if len(nevra) <= LONGEST_PATTERN else None
        if found is not None:
            version = f"{found['version']}-{found['release']}"
            yield HoldLine(number, HoldKind.OSTREE_OVERRIDE, HoldReach.EVERY_UPGRADE, found["name"], version=version)
