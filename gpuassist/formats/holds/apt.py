"""What dpkg and apt keep: selections in dpkg's status file, apt's preferences, the blacklist of unattended-upgrades."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from gpuassist.formats.holds.lines import HoldLine, Match, numbered
from gpuassist.model.holds import HoldKind, HoldReach
from gpuassist.model.lazy_regex import lazy_regex

# dpkg's status file, a stanza a package (deb822(5)); the state is `want ok status` (dpkg(1)).


class DpkgPackage(Struct, frozen=True):
    """A package of which files are installed; `number` is the line of its Status where it is on hold, else 0."""

    name: str
    version: str
    number: int


_NAME = "Package: "
_STATUS = lazy_regex(r"^Status: (\w+) \w+ ([\w-]+)[ \t]*$")
_INSTALLED = frozenset({"installed", "triggers-pending", "triggers-awaited", "half-configured", "unpacked"})


def read_dpkg_status(words: str, wanted: Callable[[str], bool]) -> Iterator[DpkgPackage]:
    """Those of whose names `wanted` says so."""
    number = 1
    for stanza in words.split("\n\n"):
        before = len(stanza) - len(stanza.lstrip("\n"))
        first, _, rest = stanza[before:].partition("\n")
        name = first.removeprefix(_NAME).strip()
        if first.startswith(_NAME) and wanted(name):
            yield from _installed(name, rest, number + before + 1)
        number += stanza.count("\n") + 2


def _installed(name: str, rest: str, number: int) -> Iterator[DpkgPackage]:
    want = state = version = ""
    at = 0
    for place, line in enumerate(rest.split("\n")):
        if line.startswith("Version: "):
            version = line.removeprefix("Version: ").strip()
        elif (found := _STATUS.match(line)) is not None:
            want, state, at = found[1], found[2], number + place
    if state in _INSTALLED:
        yield DpkgPackage(name, version, at if want == "hold" else 0)


# apt's preferences (apt_preferences(5)): stanzas of Package, Pin and Pin-Priority; a field goes on in an indented line.


_FIELD = lazy_regex(r"(?P<name>[A-Za-z-]+)[ \t]*:[ \t]*(?P<value>.*)")
_KEEPS = 500  # what every repository's versions have: only more than that goes before a newer one
_REGEX = lazy_regex(r"/(?P<inner>.*)/i?")
_SOURCE = lazy_regex(r"src:")
_ARCHITECTURE = lazy_regex(r":(?:any|native|all|amd64|i386|arm64|armhf)\Z")
_PRIORITY = lazy_regex(r"[+-]?\d{1,9}\Z")
_HOST = lazy_regex(r"""origin\s+"?(?P<host>[^"\s]*)"?\s*\Z""")
_RELEASE = lazy_regex(r"(?:release\s+)?.*\b(?:o|l)=(?P<name>[^,]+)")


def read_preferences(words: str) -> Iterator[HoldLine]:
    """Those of the records that keep a package from a version or a repository; which version goes first is no hold."""
    fields: dict[str, str] = {}
    begins, last = 0, ""
    for number, line in (*numbered(words), (0, "")):
        if line.startswith("#"):
            continue
        if not line.strip():
            yield from _pinned(fields, begins)
            fields, begins, last = {}, 0, ""
        elif line[0] in " \t" and last:
            fields[last] += f" {line.strip()}"
        elif (found := _FIELD.match(line)) is not None:
            last = found["name"].lower()
            if last == "package" and "pin-priority" in fields:  # a record that no empty line ends, which apt itself reads as one
                yield from _pinned(fields, begins)
                fields = {}
            fields[last] = found["value"].strip()
            begins = number if last == "package" else begins or number


def _pinned(fields: dict[str, str], number: int) -> Iterator[HoldLine]:
    pin, told = fields.get("pin", ""), fields.get("pin-priority", "")
    if not pin or _PRIORITY.match(told) is None:
        return
    priority = int(told)
    kind, _, value = pin.partition(" ")
    version, repository = "", ""
    if kind == "version":
        version = value.strip()
        if priority > _KEEPS:
            exact = not any(sign in version for sign in "*?[/")
            reach = HoldReach.EVERY_UPGRADE if exact else HoldReach.OTHER_BRANCHES
        elif priority < 0 and version != "*":
            reach = HoldReach.ONE_VERSION
        elif priority < 0:
            reach, version = HoldReach.EVERY_UPGRADE, ""
        else:
            return
    elif priority < 100:  # what is installed stays before it
        repository = _repository(pin)
        reach = HoldReach.ONE_REPOSITORY if repository else HoldReach.EVERY_UPGRADE
    else:
        return
    for one in fields.get("package", "").replace("\\", " ").split():
        bare = _ARCHITECTURE.sub("", _SOURCE.sub("", one, count=1))
        inner = _REGEX.fullmatch(bare)
        match = Match.GLOB if inner is None else Match.REGEX
        pattern = bare if inner is None else inner["inner"]
        yield HoldLine(number, HoldKind.APT_PIN, reach, pattern, match=match, version=version, repository=repository)


def _repository(pin: str) -> str:
    """The host or the name that a pin is about; empty for `release *` and what else is of every repository."""
    host = _HOST.match(pin)
    if host is not None:
        return host["host"]
    named = _RELEASE.match(pin)
    return named["name"].strip() if named is not None else pin.partition(" ")[2].strip(" *")


# The blacklist of unattended-upgrades, in apt's own configuration (apt.conf(5)): a list by name, or nested in braces.


_TOKENS = lazy_regex(r"""//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|\#clear[^\n]*|\#[^\n]*|"(?:[^"\\\n]|\\.)*"|[{};]|\n|[^\s{};"]+""")
_LIST = ("unattended-upgrade", "package-blacklist")


def read_blacklist(words: str) -> Iterator[HoldLine]:
    """Each pattern of the list; the file is taken for all that there is."""
    path: list[tuple[str, ...]] = []
    pending: list[tuple[int, str]] = []
    number = 1
    for found in _TOKENS.finditer(words):
        token = found[0]
        if token == "\n" or token.startswith(("//", "#", "/*")):
            number += token.count("\n")
        elif token == "{":
            path.append(_scope(pending[0][1]) if pending else ())
            pending = []
        elif token == "}":
            del path[-1:]
            pending = []
        elif token == ";":
            yield from _listed(tuple(part for scope in path for part in scope), pending)
            pending = []
        else:
            pending.append((number, token))


def _scope(word: str) -> tuple[str, ...]:
    return tuple(part for part in word.strip('"').lower().split("::") if part)


def _listed(path: tuple[str, ...], pending: list[tuple[int, str]]) -> Iterator[HoldLine]:
    if path == _LIST and len(pending) == 1:
        value = pending[0]
    elif len(pending) == 2 and (*path, *_scope(pending[0][1])) == _LIST:
        value = pending[1]
    else:
        return
    number, word = value
    pattern = word.strip('"')
    if pattern:  # re.match of Python's (unattended-upgrade, is_pkgname_in_blacklist)
        yield HoldLine(number, HoldKind.UNATTENDED, HoldReach.AUTOMATIC_UPGRADES, pattern, match=Match.REGEX_FROM_START)
