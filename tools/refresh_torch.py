"""Reads torch wheels' own words and brings resources/knowledge/torch.json up to date with them.

Run from the project's root: `python tools/refresh_torch.py --checked 2026-11-21 PATH...`, where a PATH is an installed torch
(`site-packages/torch`), or a report of `python -m pip install --dry-run --no-deps --ignore-installed --report PATH torch==2.7.1`
(--dry-run reads metadata alone where the index serves it apart from the wheel). What is measured: CUDA in version.py, the
architectures among the constants of libtorch_python.so, and what Requires-Dist pins on Linux. Prints each difference to the
table; with --check writes nothing, and ends with 1 where there is one.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from packaging.requirements import Requirement

from gpuassist.formats.torch import find_targets, parse_version_file
from gpuassist.formats.torch_version import read_torch_version
from tools.tables import Row, options_of, read_table, write_table

TABLE = Path("resources/knowledge/torch.json")
WHEEL = re.compile(r"-cp\d+-[^-]+-[^-]*_(x86_64|aarch64)\.whl$")
PYTHONS = tuple(f"3.{minor}" for minor in range(7, 20))
PINNED = re.compile(r"nvidia-|triton$|cuda-(toolkit|bindings)$")


@dataclass(frozen=True)
class Measured:
    """What one wheel says of itself; `tag` is empty where its version names none: then it is the default index's."""

    release: str
    newest: str
    tag: str
    machine: str
    found: Row

    def is_of(self, row: Row) -> bool:
        """Whether a row is that of this build."""
        same_build = row["tag"] == self.tag if self.tag else row.get("default", False)
        return same_build and (row["release"], row["machine"]) == (self.release, self.machine)


def main() -> int:
    """Writes the table with what was measured, or only tells the differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, help="installed torch packages, or reports of pip")
    options = options_of(parser)
    header, rows = read_table(TABLE)
    differing = 0
    for measured in (one for path in options.paths for one in _measure(path)):
        differing += _compare(rows, measured, options.checked)
    if not options.check:
        write_table(TABLE, header, rows)
    return 1 if options.check and differing else 0


def _compare(rows: list[Row], measured: Measured, checked: str) -> bool:
    name = f"{measured.newest}{'+' if measured.tag else ''}{measured.tag} {measured.machine}"
    row = next((row for row in rows if measured.is_of(row)), None)
    if row is None:
        print(f"{name}: not in the table: {measured.found}")
        return True
    changed = {field: value for field, value in measured.found.items() if row.get(field) != value}
    if _number(measured.newest) < _number(row["newest"]):
        print(f"{name}: older than {row['newest']}, which the table describes")
        return False
    print(f"{name}: {changed or 'no difference'}")
    if changed:
        row.update({**changed, "source": row["source"], "checked": checked})
    return bool(changed)


def _measure(path: Path) -> Iterator[Measured]:
    if path.is_dir():
        yield _installed(path)
        return
    for item in json.loads(path.read_text("utf-8"))["install"]:
        if item["metadata"]["name"] == "torch":
            yield _reported(item)


def _installed(package: Path) -> Measured:
    said = parse_version_file((package / "version.py").read_text("utf-8"))
    version = said["__version__"]
    library = package / "lib/libtorch_python.so"
    targets = [str(target) for target in find_targets(library.read_bytes())] if "cuda" in said and library.is_file() else []
    information = next(iter(package.parent.glob("torch-*.dist-info")), None)
    if information is None:
        raise SystemExit(f"{package}: no torch-*.dist-info beside it")
    metadata = HeaderParser().parsestr((information / "METADATA").read_text("utf-8"))
    wheel = HeaderParser().parsestr((information / "WHEEL").read_text("utf-8"))
    machine = "aarch64" if "aarch64" in str(wheel["Tag"]) else "x86_64"
    requires = [str(words) for words in metadata.get_all("Requires-Dist") or ()]
    found: Row = {"pins": _pins(requires, machine)}
    return _named(version, machine, {**({"cuda": said["cuda"], "targets": targets} if targets else {}), **found})


def _reported(item: Row) -> Measured:
    wheel = WHEEL.search(item["download_info"]["url"].partition("#")[0])
    if wheel is None:
        raise SystemExit(f"{item['download_info']['url']}: not a wheel for Linux")
    requires = item["metadata"].get("requires_dist", [])
    return _named(item["metadata"]["version"], wheel[1], {"pins": _pins(requires, wheel[1])})


def _named(version: str, machine: str, found: Row) -> Measured:
    read = read_torch_version(version)
    if read is None:
        raise SystemExit(f"{version}: not a version of torch")
    return Measured(str(read.release.release), str(read.release), read.tag, machine, {"newest": str(read.release), **found})


def _pins(requires: Iterable[str], machine: str) -> dict[str, str]:
    """What a wheel asks for on Linux, of what the table keeps: an exact version bare, a range with its signs."""
    asked = [one for one in map(Requirement, requires) if PINNED.match(one.name)]
    return {one.name: str(one.specifier).removeprefix("==") for one in asked if _applies(one, machine)}


def _applies(requirement: Requirement, machine: str) -> bool:
    """Whether it holds for any Python: a wheel for 3.13 may say that triton has none for it yet."""
    place = {"platform_system": "Linux", "sys_platform": "linux", "platform_machine": machine, "extra": ""}
    marker = requirement.marker
    return marker is None or any(marker.evaluate({**place, "python_version": python}) for python in PYTHONS)


def _number(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


if __name__ == "__main__":
    sys.exit(main())
