"""Measures CUDA toolkits and brings resources/knowledge/toolkits.json up to date with what they say themselves.

Run from the project's root with directories that each hold one toolkit, installed or unpacked from NVIDIA's wheels:
`python tools/refresh_toolkits.py --checked 2026-11-21 /usr/local/cuda-13.0 unpacked/*`. What is asked: nvcc, for each
architecture that its help names (where there is no nvcc program, the help of ptxas alone), and the headers crt/host_config.h and
crt/math_functions.h. Prints each difference to the table; with `--check` nothing is written, and a difference is exit status 1.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path
from typing import Any

from tools.tables import Row, options_of, read_table, write_table

TABLE = Path("resources/knowledge/toolkits.json")
RELEASE = re.compile(r"release (\d+\.\d+), V(\d+\.\d+\.\d+)")
CODE_NAME = re.compile(r"\bsm_(\d+)(\d)([af]?)\b")
GCC_GUARD = re.compile(r"#if __GNUC__ > (\d+)")
# The guard for LLVM's own clang: those for NVIDIA's builds of it (Grace, HOS) have limits of their own. The message after it is
# no measure: in 12.2 and 12.3 it says "less than 16" where the guard lets 16 pass.
CLANG_GUARD = re.compile(r"#if defined\(__clang__\)[^\n]*\s+#if \(__clang_major__ >= (\d+)\)")
# The C library declares these functions too from that release on, and noexcept, so that a declaration without it clashes.
CLASHES = (
    ("2.41", re.compile(r"\bcospi\(double x\) *;")),
    ("2.42", re.compile(r"\brsqrt\(double x\) *;")),
)

HEADERS = ("host_config.h", "math_functions.h")

Code = tuple[int, int, str]  # 12, 1, "a" of sm_121a


def main() -> int:
    """Compares the table with what was measured, and writes it unless it shall only be checked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("roots", nargs="+", help="directories that each hold a toolkit")
    options = options_of(parser)
    header, rows = read_table(TABLE)
    by_release = {row["release"]: row for row in rows}
    differ = [_bring_up_to_date(by_release, Path(root), options.checked) for root in options.roots]
    if options.check:
        return int(any(differ))
    rows = sorted(by_release.values(), key=lambda row: [int(part) for part in row["release"].split(".")])
    write_table(TABLE, header, rows)
    return 0


def _bring_up_to_date(by_release: dict[str, Row], root: Path, checked: str) -> bool:
    release, measured, how = _measure(root)
    row = by_release.setdefault(release, {"release": release})
    changed = {name: (row.get(name), value) for name, value in measured.items() if row.get(name) != value}
    print(f"{release}: {'no difference' if not changed else ''}".rstrip())
    for name, (before, after) in changed.items():
        print(f"  {name}: {_shown(before, after)}")
    row.update({name: value for name, value in measured.items() if value is not None}, measured=how, checked=checked)
    for name in (name for name, value in measured.items() if value is None):
        row.pop(name, None)
    return bool(changed)


def _shown(before: Any, after: Any) -> str:
    if not isinstance(before, list) or not isinstance(after, list):
        return f"{before} -> {after}"
    gone, new = [one for one in before if one not in after], [one for one in after if one not in before]
    return " ".join([*(f"-{one}" for one in gone), *(f"+{one}" for one in new)]) or "another order"


def _measure(root: Path) -> tuple[str, Row, str]:
    """The release, what was measured of it (None: no such thing), and how."""
    nvcc, ptxas = _find(root, "nvcc"), _find(root, "ptxas")
    tool = nvcc or ptxas
    if tool is None:
        raise SystemExit(f"{root}: neither nvcc nor ptxas")
    found = RELEASE.search(_output(tool, "--version"))
    if found is None:
        raise SystemExit(f"{tool}: does not say its release")
    listed = _listed(_output(tool, "--help"))
    measured: Row = {**(_answers(nvcc, listed) if nvcc else _as_row(listed)), **_limits(root), **_clash(root)}
    asked = f"{tool.name} {found[2]}, {'asked for each architecture' if nvcc else '--help'}"
    headers = " and ".join(f"crt/{name}" for name in HEADERS if _find(root, name))
    return found[1], measured, f"{asked}; its {headers}" if headers else asked


def _listed(help_text: str) -> list[Code]:
    return sorted({(int(major), int(minor), suffix) for major, minor, suffix in CODE_NAME.findall(help_text)})


def _answers(nvcc: Path, listed: list[Code]) -> Row:
    """What nvcc says when it is asked for each: the help of 11.2 still names sm_30, which it refuses."""
    said = {code: _asked_for(nvcc, _name(code)) for code in listed}
    accepted = [code for code in listed if said[code] is not None]
    warned = [f"{major}.{minor}" for major, minor, suffix in accepted if not suffix and said[major, minor, suffix]]
    return {**_as_row(accepted), "deprecated": warned}


def _asked_for(nvcc: Path, name: str) -> bool | None:
    """Whether nvcc warns that it will drop an architecture; None where it does not know it."""
    command = [str(nvcc), f"-arch={name}", "--dryrun", "-c", "-x", "cu", "/dev/null", "-o", "/dev/null"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if said.returncode else any("warning" in line and "future release" in line for line in said.stderr.splitlines())


def _as_row(codes: list[Code]) -> Row:
    return {
        "targets": [f"{major}.{minor}" for major, minor, suffix in codes if not suffix],
        "codes": [_name(code) for code in codes],
    }


def _name(code: Code) -> str:
    major, minor, suffix = code
    return f"sm_{major}{minor}{suffix}"


def _limits(root: Path) -> Row:
    header = _find(root, "host_config.h")
    text = header.read_text("utf-8", "replace") if header else ""
    gcc = [int(limit) for limit in GCC_GUARD.findall(text)]
    clang = [int(limit) - 1 for limit in CLANG_GUARD.findall(text)]
    return {name: min(found) for name, found in (("gcc_limit", gcc), ("clang_limit", clang)) if found}


def _clash(root: Path) -> Row:
    header = _find(root, "math_functions.h")
    if header is None:
        return {}
    text = header.read_text("utf-8", "replace")
    return {"glibc_clash": next((glibc for glibc, bare in CLASHES if bare.search(text)), None)}


def _find(root: Path, name: str) -> Path | None:
    return next((place for place in sorted(root.rglob(name)) if place.is_file()), None)


def _output(tool: Path, option: str) -> str:
    return subprocess.run([str(tool), option], capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    raise SystemExit(main())
