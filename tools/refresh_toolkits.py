"""Measures CUDA toolkits and brings resources/knowledge/toolkits.json up to date with what they say themselves.

Run from the project's root with directories that each hold one toolkit, installed or unpacked from NVIDIA's wheels:
`python tools/refresh_toolkits.py --checked 2026-11-21 /usr/local/cuda-13.0 unpacked/*`. What is asked: `nvcc --list-gpu-arch`,
`ptxas --help` where there is no nvcc program, and the guards in crt/host_config.h. Prints each difference to the table.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from pathlib import Path
from typing import Any

TABLE = Path("resources/knowledge/toolkits.json")
RELEASE = re.compile(r"release (\d+\.\d+), V(\d+\.\d+\.\d+)")
PTX_NAME = re.compile(r"\bcompute_(\d+)(\d)\b")
GCC_GUARD = re.compile(r"#if __GNUC__ > (\d+)")
# The guard of the clang that comes from LLVM itself; the one for NVIDIA's own build of it reads otherwise.
CLANG_GUARD = re.compile(r"#if \(__clang_major__ >= (\d+)\) \|\|")

Row = dict[str, Any]


def main() -> None:
    """Writes the table with what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("roots", nargs="+", help="directories that each hold a toolkit")
    parser.add_argument("--checked", required=True, help="today, as YYYY-MM-DD")
    options = parser.parse_args()
    header, *rows = json.loads(TABLE.read_text("utf-8"))
    by_release = {row["release"]: row for row in rows}
    for root in options.roots:
        release, measured = _measure(Path(root))
        row = by_release.setdefault(release, {"release": release})
        changed = {name: value for name, value in measured.items() if row.get(name) != value}
        print(f"{release}: {changed or 'no difference'}")
        row.update(measured, checked=options.checked)
    rows = sorted(by_release.values(), key=lambda row: [int(part) for part in row["release"].split(".")])
    TABLE.write_text("[\n" + ",\n".join(json.dumps(row) for row in [header, *rows]) + "\n]\n", "utf-8")


def _measure(root: Path) -> tuple[str, Row]:
    nvcc, ptxas = _find(root, "nvcc"), _find(root, "ptxas")
    tool = nvcc or ptxas
    if tool is None:
        raise SystemExit(f"{root}: neither nvcc nor ptxas")
    found = RELEASE.search(_output(tool, "--version"))
    if found is None:
        raise SystemExit(f"{tool}: does not say its release")
    listing = _output(tool, "--list-gpu-arch" if nvcc else "--help")
    capabilities = sorted({(int(major), int(minor)) for major, minor in PTX_NAME.findall(listing)})
    measured: Row = {"targets": [f"{major}.{minor}" for major, minor in capabilities], **_limits(root)}
    asked = f"nvcc {found[2]} --list-gpu-arch" if nvcc else f"ptxas {found[2]} --help"
    return found[1], {**measured, "measured": f"{asked}; its crt/host_config.h"}


def _limits(root: Path) -> Row:
    header = _find(root, "host_config.h")
    text = header.read_text("utf-8", "replace") if header else ""
    gcc = [int(limit) for limit in GCC_GUARD.findall(text)]
    clang = [int(limit) - 1 for limit in CLANG_GUARD.findall(text)]
    return {name: min(found) for name, found in (("gcc_limit", gcc), ("clang_limit", clang)) if found}


def _find(root: Path, name: str) -> Path | None:
    return next((place for place in sorted(root.rglob(name)) if place.is_file()), None)


def _output(tool: Path, option: str) -> str:
    return subprocess.run([str(tool), option], capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    main()
