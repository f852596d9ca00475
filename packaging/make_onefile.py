"""Makes gpuassist.pyz: all of gpuassist but its window in one file, for any Python 3.10 or newer of one kind of processor.

`python packaging/make_onefile.py WHEEL DIRECTORY [--machine aarch64]` asks pip for the compiled parts, of each version of Python
that there is one for: their names tell the versions apart, so that all of them lie side by side.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
NEEDED = ("msgspec", "tree-sitter", "tree-sitter-bash", "nvidia-ml-py", "packaging", "prometheus-client")
PLATFORMS = ("manylinux_2_28", "manylinux_2_17", "manylinux2014")
_LEFT_OUT = (".pyi", ".pyc", ".po", ".c", ".h")
_OPENING = b"#!/usr/bin/env python3\n"
_DAY = (2020, 2, 2, 0, 0, 0)  # of every file in it, so that the same parts are the same file


def main() -> None:
    """Writes the file and says how large it is."""
    parser = argparse.ArgumentParser()
    parser.add_argument("wheel", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--machine", default=os.uname().machine)
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        parts = Path(directory, "parts")
        gather(options.wheel, parts, options.machine)
        made = options.target / f"gpuassist-{options.machine}.pyz"
        write(parts, made, options.machine)
    print(f"{made}: {made.stat().st_size / 1e6:.1f} MB, for Python {PYTHONS[0]} to {PYTHONS[-1]} on {options.machine}")


def gather(wheel: Path, parts: Path, machine: str) -> None:
    """Everything that is unpacked later, as it then lies."""
    _unpack(wheel, parts)
    for version in PYTHONS:
        with tempfile.TemporaryDirectory() as wheels:
            _fetch(version, machine, wheels)
            for one in Path(wheels).glob("*.whl"):
                _unpack(one, parts)
    shutil.rmtree(parts / "gpuassist" / "ui")
    for data in parts.glob("*.data"):
        shutil.rmtree(data)
    for one in [*parts.rglob("*")]:
        if one.suffix in _LEFT_OUT:
            # which languages there are is told by the sources' names; the words are in what was compiled of them
            one.write_bytes(b"") if one.suffix == ".po" else one.unlink()
        elif one.suffix == ".so" and machine == os.uname().machine and shutil.which("strip"):
            subprocess.run(["strip", "--strip-debug", str(one)], check=True)


def _fetch(version: str, machine: str, target: str) -> None:
    short = version.replace(".", "")
    wanted = [*NEEDED, *(["tomli"] if version == "3.10" else [])]
    abis = [word for abi in (f"cp{short}", "abi3", "none") for word in ("--abi", abi)]
    platforms = [word for one in PLATFORMS for word in ("--platform", f"{one}_{machine}")]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", target]
    subprocess.run([*command, "--python-version", version, "--implementation", "cp", *abis, *platforms, *wanted], check=True)


def _unpack(wheel: Path, parts: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(parts)


def write(parts: Path, made: Path, machine: str) -> None:
    """One file that Python runs, of these parts."""
    files = sorted(one for one in parts.rglob("*") if one.is_file())
    digest = hashlib.sha256()
    for one in files:
        digest.update(f"{one.relative_to(parts)}\0".encode() + hashlib.sha256(one.read_bytes()).digest())
    told = {"IDENTITY": digest.hexdigest()[:16], "PYTHONS": " ".join(PYTHONS), "MACHINE": machine}
    entry = (HERE / "onefile" / "__main__.py").read_text("utf-8")
    for name, value in told.items():
        entry = entry.replace(f"@{name}@", value)
    with made.open("wb") as file:
        file.write(_OPENING)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            archive.writestr(zipfile.ZipInfo("__main__.py", _DAY), entry, zipfile.ZIP_DEFLATED)
            for one in files:
                archive.writestr(zipfile.ZipInfo(str(one.relative_to(parts)), _DAY), one.read_bytes(), zipfile.ZIP_DEFLATED)
    made.chmod(0o755)


if __name__ == "__main__":
    main()
