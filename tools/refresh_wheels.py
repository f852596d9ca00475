"""Looks into wheels of NVIDIA's packages and brings resources/knowledge/wheels.json up to date with what lies in them.

Run from the project's root with wheel files (`pip download --no-deps nvidia-cuda-runtime-cu12 ...`):
`python tools/refresh_wheels.py --checked 2026-11-21 downloaded/*.whl`. Looked at are the names of the files: shared libraries with
a version, programs that compile, and the directory. A row keeps what other versions of its package hold. Prints each difference
to the table; with `--check` nothing is written, and a difference is exit status 1.
"""

from __future__ import annotations

import argparse
import re
import zipfile
from collections import Counter
from pathlib import Path, PurePosixPath

from tools.tables import Row, options_of, read_table, write_table

TABLE = Path("resources/knowledge/wheels.json")
SONAME = re.compile(r"lib\w+\.so\.\d+(\.\d+)?")
COMPILERS = frozenset({"nvcc", "ptxas", "cicc"})
NAME = re.compile(r"(?P<name>[A-Za-z0-9_.]+)-(?P<version>[^-]+)-.*\.whl")


def main() -> int:
    """Compares the table with the wheels, and writes it unless it shall only be checked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", nargs="+", help="wheel files")
    options = options_of(parser)
    header, rows = read_table(TABLE)
    by_name = {row["distribution"]: row for row in rows}
    differ = [_bring_up_to_date(by_name, Path(wheel), options.checked) for wheel in options.wheels]
    if options.check:
        return int(any(differ))
    write_table(TABLE, header, rows)
    return 0


def _bring_up_to_date(by_name: dict[str, Row], wheel: Path, checked: str) -> bool:
    named = NAME.fullmatch(wheel.name)
    if named is None:
        raise SystemExit(f"{wheel}: not the name of a wheel")
    distribution, version = re.sub(r"[-_.]+", "-", named["name"]).lower(), named["version"]
    row = by_name.get(distribution)
    if row is None:
        print(f"{distribution} {version}: not in the table; its role needs a person")
        return True
    changes = _changes(row, _inside(wheel))
    print(f"{distribution} {version}: {'; '.join(changes) or 'no difference'}")
    if changes:
        row["checked"] = checked
    return bool(changes)


def _changes(row: Row, inside: Row) -> list[str]:
    """What the wheel holds and the row does not say, put into the row."""
    changes = []
    for field in ("libraries", "compilers"):
        new = sorted(set(inside[field]) - set(row.get(field, [])))
        if new:
            row[field] = [*row.get(field, []), *new]
            changes.append(f"{field} +{' +'.join(new)}")
    if inside["libraries"] and inside["directory"] != row["directory"]:
        changes.append(f"directory {row['directory']} -> {inside['directory']}")
        row["directory"] = inside["directory"]
    return changes


def _inside(wheel: Path) -> Row:
    with zipfile.ZipFile(wheel) as archive:
        files = [PurePosixPath(name) for name in archive.namelist()]
    libraries = [file for file in files if SONAME.fullmatch(file.name)]
    homes = Counter(str(file.parent) for file in libraries)
    return {
        "libraries": sorted({file.name for file in libraries}),
        "compilers": sorted({file.name for file in files if file.parent.name == "bin"} & COMPILERS),
        "directory": homes.most_common(1)[0][0] if homes else "",
    }


if __name__ == "__main__":
    raise SystemExit(main())
