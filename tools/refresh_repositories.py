"""Reads what a package repository of NVIDIA's lists and brings its row of resources/knowledge/repositories.json up to date.

Run from the project's root with what was fetched from developer.download.nvidia.com/compute/cuda/repos/<name>/<architecture>: the
page that lists its files, `Packages` of apt or `primary.xml` of dnf and zypper, as they are or packed by gzip:
`python tools/refresh_repositories.py --checked 2026-11-23 fedora44 x86_64 index.html`. Such a list is whole: what is older than its
oldest is not there. Whether newer ones will come it does not say; a row that `ends` and got a newer one does not end any more.
Prints the difference to the table; with `--check` nothing is written, and a difference is exit status 1.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.tables import Row, options_of, read_table, write_table

TABLE, RELEASES = Path("resources/knowledge/repositories.json"), Path("resources/knowledge/toolkits.json")
SOURCE = "index"
# Files of the page that lists them, `cuda-toolkit-13-3-13.3.0-1.x86_64.rpm` and `cuda-toolkit-12-8_12.8.1-1_amd64.deb`; names are
# compared whole, because `cuda-toolkit-13-3-config-common` and `cuda-drivers-fabricmanager` are other packages.
FILE = re.compile(r"(?<![\w.+-])(?P<name>[a-z][a-z0-9+-]*?)[-_](?P<version>\d+(?:\.\d+)+)-[\w.~^+]+\.(?:rpm|deb)\b")
STANZA = re.compile(r"^Package: (?P<name>\S+)\n(?:(?!\n\n)[\s\S])*?^Version: (?:\d+:)?(?P<version>\d+(?:\.\d+)+)", re.MULTILINE)
ENTRY = re.compile(r"<name>(?P<name>[^<]+)</name>[\s\S]*?<version [^>]*\bver=\"(?P<version>\d+(?:\.\d+)+)\"")
TOOLKIT = re.compile(r"cuda-toolkit-(?P<major>\d+)-(?P<minor>\d+)")
PIN = re.compile(r"nvidia-driver-pinning-(?P<branch>\d+)")
DRIVERS = frozenset({"cuda-drivers", "nvidia-open"})

Numbers = tuple[int, ...]


class NoListError(ValueError):
    """A file that lists no packages: an error page, or something else's."""


def main() -> int:
    """Compares the row with what the repository lists, and writes it unless it shall only be checked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", help="its name, such as ubuntu2404")
    parser.add_argument("architecture", choices=("x86_64", "sbsa"))
    parser.add_argument("lists", nargs="+", type=Path, help="what was fetched of it")
    options = options_of(parser)
    header, rows = read_table(TABLE)
    place = next((number for number, row in enumerate(rows) if _key(row) == (options.repository, options.architecture)), None)
    before = rows[place] if place is not None else {"repository": options.repository, "architecture": options.architecture}
    try:
        found = [one for path in options.lists for one in packages(path)]
    except NoListError as error:
        parser.error(str(error))
    after = row_of(before, found, _releases(), options.checked)
    differs = {**before, "checked": ""} != {**after, "checked": ""}
    print(f"{before}\n  -> {after}" if differs else f"{options.repository}/{options.architecture}: no difference")
    if options.check:
        return int(differs)
    if place is None:
        rows.append(after)
    else:
        rows[place] = after
    write_table(TABLE, header, rows)
    return 0


def packages(path: Path) -> Iterator[tuple[str, str]]:
    """Each package with a version of it; raises `NoListError` where the file lists none."""
    content = path.read_bytes()
    words = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode("utf-8", "replace")
    if re.search(r"^Package: ", words, re.MULTILINE):
        pattern = STANZA
    else:
        pattern = ENTRY if "<metadata" in words and "<package" in words else FILE
    found = [(one["name"], one["version"]) for one in pattern.finditer(words)]
    if not found:
        raise NoListError(f"{path} lists no packages")
    yield from found


def row_of(before: Row, found: Iterable[tuple[str, str]], releases: Iterable[str], checked: str) -> Row:
    """The row of a repository that holds these packages, and of all CUDA releases not those that it lacks."""
    names = list(found)
    held = sorted({(int(one["major"]), int(one["minor"])) for name, _ in names if (one := TOOLKIT.fullmatch(name))})
    drivers = sorted({_numbers(version): version for name, version in names if name in DRIVERS}.items())
    known = sorted(_numbers(one) for one in releases)
    lacks = [_spelled(one) for one in known if held and held[0] < one < held[-1] and one not in held]
    row: Row = {"repository": before["repository"], "architecture": before["architecture"]}
    row["first_toolkit"], row["last_toolkit"] = (_spelled(held[0]), _spelled(held[-1])) if held else (None, None)
    row["first_driver"], row["last_driver"] = (drivers[0][1], drivers[-1][1]) if drivers else (None, None)
    row["begins"] = True
    newest = before.get("last_toolkit")
    if before.get("ends") and (not held or (newest is not None and held[-1] <= _numbers(newest))):
        row["ends"] = True
    row |= {"lacks": lacks} if lacks else {}
    pins = {*before.get("pins", ()), *(int(one["branch"]) for name, _ in names if (one := PIN.fullmatch(name)))}
    row |= {"pins": sorted(pins)} if pins else {}
    return {**row, "seen": "index", "source": SOURCE, "checked": checked}


def _releases() -> tuple[str, ...]:
    return tuple(row["release"] for row in read_table(RELEASES)[1])


def _key(row: Row) -> tuple[str, str]:
    return row["repository"], row["architecture"]


def _numbers(words: str) -> Numbers:
    return tuple(int(part) for part in words.split("."))


def _spelled(numbers: Numbers) -> str:
    return ".".join(map(str, numbers))


if __name__ == "__main__":
    raise SystemExit(main())
