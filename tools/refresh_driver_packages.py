"""Reads the indexes of package repositories and brings resources/knowledge/driver_packages.json up to date with them.

Run from the project's root with what the repositories publish, each file after the shelf that it is of:
`python tools/refresh_driver_packages.py --checked 2026-11-23 apt:debian:13:own=Packages rpm:fedora:44:rpmfusion=primary.xml
listing:fedora:44:nvidia=index.html aur:arch::aur=info.json`. `apt` is a Packages file, `rpm` a primary.xml (both may be
compressed by gzip), `listing` a directory of NVIDIA's repositories as its server shows it, `aur` what the AUR's RPC answers
(`/rpc/v5/info?arg[]=nvidia-580xx-dkms`). Several files of one shelf are read together, the highest version counts.

Prints each difference to the table; with `--check` nothing is written, and a difference is exit status 1. What an index does not
say (the newest kernel that a module is built for) stays as a person wrote it; rows of shelves that no file is given for stay.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tools.tables import Row, options_of, read_table, write_table

TABLE = Path("resources/knowledge/driver_packages.json")
LEGACY = (390, 470, 580)  # the branches that cards end with: an index that was read and has none of one says so
MIXED = frozenset({("debian", "testing")})  # os-release does not tell testing and unstable apart, so what one lacks is not lacking
BY_HAND = ("newest_kernel",)
VERSION = re.compile(r"(?:\d+:)?(?P<branch>\d{3})\.[\d.]+\d")
NAMES = (
    re.compile(r"nvidia-driver-(?P<branch>\d{3})(?P<server>-server)?(?P<open>-open)?"),  # Ubuntu
    re.compile(r"nvidia-(?:tesla|legacy)-(?P<branch>\d{3})(?:xx)?-driver"),  # Debian
    re.compile(r"akmod-nvidia-(?P<branch>\d{3})xx"),  # RPM Fusion
    re.compile(r"nvidia-(?P<branch>\d{3})xx-dkms"),  # AUR
)
PLAIN = frozenset({"nvidia-driver", "akmod-nvidia"})  # whichever branch its version has
OPEN_MODULES = "nvidia-open-kernel-dkms"
FILE = re.compile(r"(?:cuda-drivers|nvidia-driver)[-_](?:\d+:)?(?P<version>\d{3}\.[\d.]+\d)-\d")
XML = "{http://linux.duke.edu/metadata/common}"


class Package(NamedTuple):
    """A package of an index: `leads` is the driver's package that a transitional one depends on."""

    name: str
    version: str
    leads: str = ""


class ShelfKey(NamedTuple):
    """Whose packages a file lists."""

    distribution: str
    release: str
    holder: str


def main() -> int:
    """Compares the table with what was given, and writes it unless it shall only be checked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("indexes", nargs="+", help="KIND:DISTRIBUTION:RELEASE:HOLDER=FILE")
    options = options_of(parser)
    header, rows = read_table(TABLE)
    read = _read(options.indexes)
    differs = False
    for shelf, (kind, packages) in read.items():
        before = [row for row in rows if _shelf(row) == shelf]
        after = _rows(shelf, packages, before, rolling=kind == "listing")
        differs |= _told(shelf, before, after)
        rows = [*(row for row in rows if _shelf(row) != shelf), *after]
        header["sources"][_source(shelf)] = {"text": _words(shelf, kind), "checked": options.checked}
    if options.check:
        return int(differs)
    named = {row["source"] for row in rows}
    header["sources"] = {key: value for key, value in header["sources"].items() if key in named}
    write_table(TABLE, header, sorted(rows, key=_order))
    return 0


def _read(indexes: Iterable[str]) -> dict[ShelfKey, tuple[str, list[Package]]]:
    found: dict[ShelfKey, tuple[str, list[Package]]] = {}
    for given in indexes:
        place, _, file = given.partition("=")
        kind, *parts = place.split(":")
        if kind not in READERS or len(parts) != 3 or not file:
            raise SystemExit(f"{given}: not KIND:DISTRIBUTION:RELEASE:HOLDER=FILE, with KIND one of {', '.join(READERS)}")
        content = Path(file).read_bytes()
        words = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode("utf-8", "replace")
        found.setdefault(ShelfKey(*parts), (kind, []))[1].extend(READERS[kind](words))
    return found


def read_packages(words: str) -> Iterator[Package]:
    """A Packages file of apt: paragraphs of fields, whose continuations begin with a space."""
    for paragraph in words.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+):[ \t]*(.*)$", paragraph, re.MULTILINE))
        name = fields.get("Package", "")
        if not _is_driver(name):
            continue
        depends = [re.split(r"[\s(:|]", one.strip())[0] for one in fields.get("Depends", "").split(",")]
        others = [one for one in depends if one != name and any(pattern.fullmatch(one) for pattern in NAMES)]
        transitional = "transitional" in fields.get("Description", "").lower()
        yield Package(name, fields.get("Version", ""), others[0] if others and (transitional or len(depends) == 1) else "")


def read_primary(words: str) -> Iterator[Package]:
    """A primary.xml of dnf's repodata."""
    for package in ElementTree.fromstring(words).iter(f"{XML}package"):
        name, version = package.findtext(f"{XML}name", ""), package.find(f"{XML}version")
        if version is not None and (_is_driver(name) or name == "cuda-drivers"):
            yield Package(name, version.get("ver", ""))


def read_listing(words: str) -> Iterator[Package]:
    """The files of a directory, however its page shows them."""
    for found in FILE.finditer(words):
        yield Package("cuda-drivers", found["version"])


def read_aur(words: str) -> Iterator[Package]:
    """What the AUR's RPC answers to a question for packages by name."""
    for result in json.loads(words)["results"]:
        if _is_driver(result["Name"]):
            yield Package(result["Name"], result["Version"])


READERS: dict[str, Callable[[str], Iterator[Package]]] = {
    "apt": read_packages,
    "rpm": read_primary,
    "listing": read_listing,
    "aur": read_aur,
}


def _is_driver(name: str) -> bool:
    return name in PLAIN or name == OPEN_MODULES or any(pattern.fullmatch(name) for pattern in NAMES)


def _rows(shelf: ShelfKey, packages: list[Package], before: list[Row], *, rolling: bool) -> list[Row]:
    """The rows of a shelf; of NVIDIA's repositories one alone, which says where it begins."""
    newest: dict[str, Package] = {}
    for one in packages:
        if VERSION.match(one.version) and (one.name not in newest or _numbers(one.version) > _numbers(newest[one.name].version)):
            newest[one.name] = one
    if rolling or "cuda-drivers" in newest:
        first = min((one for one in packages if VERSION.match(one.version)), key=lambda one: _numbers(one.version), default=None)
        return [] if first is None else [_row(shelf, first, before, extent="begins", modules=["open", "proprietary"])]
    opened = newest.pop(OPEN_MODULES, None)
    rows: list[Row] = []
    for one in newest.values():
        named = next((found for pattern in NAMES if (found := pattern.fullmatch(one.name))), None)
        flavours = ["open"] if named is not None and named.groupdict().get("open") else ["proprietary"]
        # Debian's open modules serve the driver of their own version alone.
        same = opened is not None and _upstream(opened.version) == _upstream(one.version)
        rows.append(_row(shelf, one, before, modules=["open", *flavours] if one.name in PLAIN and same else flavours))
    rows = _joined(rows)
    there = {row["branch"] for row in rows}
    if shelf[:2] not in MIXED:
        rows += [_row(shelf, Package("", ""), before, branch=one, brings=0) for one in LEGACY if one not in there]
    return rows


def _row(shelf: ShelfKey, package: Package, before: list[Row], **given: object) -> Row:
    named = next((found for pattern in NAMES if (found := pattern.fullmatch(package.name))), None)
    version = VERSION.match(package.version)
    branch = int(named["branch"]) if named else int(version["branch"]) if version else 0
    led = next((found for pattern in NAMES if (found := pattern.fullmatch(package.leads))), None)
    row: Row = {**shelf._asdict(), "branch": branch}
    if led is not None:
        row["brings"] = int(led["branch"])
    elif version is not None and int(version["branch"]) != branch:
        row["brings"] = int(version["branch"])
    if package.name and package.name != "cuda-drivers":
        row |= {"package": package.name}
    if version is not None:
        row["version"] = _upstream(package.version)
    row |= given
    kept = next((one for one in before if (one["branch"], one.get("package")) == (row["branch"], row.get("package"))), {})
    row |= {name: kept[name] for name in BY_HAND if name in kept}
    return {**row, "seen": "index", "source": _source(shelf)}


def _joined(rows: list[Row]) -> list[Row]:
    """Ubuntu has packages of a branch for each kernel module: one row, by the name without it."""
    joined: dict[tuple[int, str], Row] = {}
    for row in rows:
        name = row["package"].removesuffix("-open")
        known = joined.setdefault((row["branch"], name), {**row, "package": name})
        known["modules"] = sorted({*known["modules"], *row["modules"]})
    return list(joined.values())


def _told(shelf: ShelfKey, before: list[Row], after: list[Row]) -> bool:
    """Prints what differs in what is installed, which is more than the day."""
    old, new = ({_identity(row): row for row in rows} for rows in (before, after))
    differ = [key for key in sorted({*old, *new}) if _plain(old.get(key)) != _plain(new.get(key))]
    for key in differ:
        print(f"{':'.join(shelf)} {key[0]} {key[1]}: {_plain(old.get(key))}\n  -> {_plain(new.get(key))}")
    return bool(differ)


def _plain(row: Row | None) -> Row | None:
    return None if row is None else {name: value for name, value in row.items() if name not in {"source", "seen"}}


def _identity(row: Row) -> tuple[int, str]:
    return row["branch"], row.get("package", "")


def _shelf(row: Row) -> ShelfKey:
    return ShelfKey(row["distribution"], row["release"], row["holder"])


def _order(row: Row) -> tuple[str, tuple[int, ...], str, int, str]:
    release = tuple(int(part) for part in re.findall(r"\d+", row["release"]))
    return row["distribution"], release, row["holder"], row["branch"], row.get("package", "")


def _source(shelf: ShelfKey) -> str:
    return "-".join(("index", *(part for part in shelf if part)))


def _words(shelf: ShelfKey, kind: str) -> str:
    what = {
        "apt": "Packages of apt (newest kernels: the packages' own descriptions)",
        "rpm": "primary.xml of dnf",
        "listing": "directory of its repository",
        "aur": "RPC of the AUR",
    }
    release = f" {shelf.release}" if shelf.release else ""
    return f"{shelf.distribution}{release}, {shelf.holder}: {what[kind]}, read as a whole"


def _upstream(version: str) -> str:
    found = VERSION.match(version)
    return found[0].rpartition(":")[2] if found else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.rpartition(":")[2]))


if __name__ == "__main__":
    raise SystemExit(main())
