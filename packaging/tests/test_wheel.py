"""The wheel, the source distribution and gpuassist.pyz, installed and started as users do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import ROOT, only, program
from windows import shown_after

FLEET = str(ROOT / "resources" / "machines")
WHEEL_AT_MOST_BYTES, FILE_AT_MOST_BYTES = 6_000_000, 8_000_000


def ran(*command: str | Path, environment: Mapping[str, str], status: tuple[int, ...] = (0,), where: Path | None = None) -> str:
    done = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode in status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def works(gpuassist: str | Path, environment: Mapping[str, str]) -> None:
    """It says its version, and what it finds here."""
    assert ran(gpuassist, "--version", environment=environment).startswith("gpuassist ")
    assert json.loads(ran(gpuassist, "doctor", "--json", environment=environment, status=(0, 1, 2, 3)))
    assert "shell" in json.loads(ran(gpuassist, "detect", "--json", environment=environment))


def test_wheel_is_small_and_complete() -> None:
    wheel = only("gpuassist-*.whl")
    print(f"\n{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB")
    assert wheel.stat().st_size <= WHEEL_AT_MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
    for ending in (
        "man/man1/gpuassist.1",
        "completions/gpuassist",
        "site-functions/_gpuassist",
        "gpuassist.fish",
        "gpuassist.desktop",
    ):
        assert [name for name in names if name.endswith(f"/{ending}") and ".data/data/share/" in name]
    for field in (
        "License-Expression: MIT",
        "License-File: LICENSE",
        "Requires-Python: >=3.10",
        "Summary: ",
        "Description-Content-Type: text/markdown",
    ):
        assert field in metadata
    assert metadata.count("Classifier: ") >= 10


def test_source_distribution_makes_the_same_wheel(tmp_path: Path, variables: dict[str, str]) -> None:
    with tarfile.open(only("gpuassist-*.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.glob("gpuassist-*")
    ran(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "made", source, environment=variables)
    (made,) = (tmp_path / "made").glob("*.whl")
    with zipfile.ZipFile(made) as ours, zipfile.ZipFile(only("gpuassist-*.whl")) as theirs:
        assert sorted(ours.namelist()) == sorted(theirs.namelist())


@pytest.mark.parametrize("tool", ["pip", "pipx", "uv"])
def test_installs_and_starts(tool: str, tmp_path: Path, variables: dict[str, str], display: str) -> None:
    wheel, home = only("gpuassist-*.whl"), Path(variables["HOME"])
    if tool == "pip":
        ran(sys.executable, "-m", "venv", tmp_path / "venv", environment=variables)
        ran(tmp_path / "venv/bin/python", "-m", "pip", "install", "--quiet", wheel, environment=variables)
        gpuassist, share = tmp_path / "venv/bin/gpuassist", tmp_path / "venv/share"
    elif tool == "pipx":
        ran(program("pipx"), "install", str(wheel), environment=variables)
        gpuassist = home / ".local/bin/gpuassist"
        share = gpuassist.resolve().parent.parent / "share"
    else:
        uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
        ran(program(uv), "tool", "install", "--python", sys.executable, str(wheel), environment=variables)
        gpuassist = home / ".local/bin/gpuassist"
        share = gpuassist.resolve().parent.parent / "share"
    works(gpuassist, variables)
    assert (share / "man/man1/gpuassist.1").exists()
    assert (share / "applications/gpuassist.desktop").exists()
    print(f"\n{tool}: window after {shown_after([str(gpuassist)], variables, display):.2f} s")


def test_one_file_does_all_but_the_window(variables: dict[str, str], left_files: Path) -> None:
    made = only(f"gpuassist-{os.uname().machine}.pyz")
    print(f"\n{made.name}: {made.stat().st_size / 1e6:.2f} MB")
    assert made.stat().st_size <= FILE_AT_MOST_BYTES
    named = [found for minor in range(10, 15) if (found := shutil.which(f"python3.{minor}"))]
    # pyenv puts names on PATH that answer only where a version has been chosen; its versions lie apart
    named += [str(one) for one in sorted(Path.home().glob(".pyenv/versions/3.1[0-4].*/bin/python3"))]
    answers = [one for one in named if subprocess.run([one, "-c", ""], env=variables, capture_output=True).returncode == 0]
    for python in (versions := [sys.executable, *answers]):
        assert ran(python, made, "--version", environment=variables).startswith("gpuassist ")
        assert json.loads(ran(python, made, "doctor", "--json", environment=variables, status=(0, 1, 2, 3)))
        has_numpy = subprocess.run([python, "-c", "import numpy"], env=variables, capture_output=True).returncode == 0
        runs = (("estimate 7B", 3), ("profile", 0), ("profile run.prof", 0), (f"doctor --fleet {FLEET}", 2))
        for words, status in (
            *runs,
            ("snapshot peak.pickle", 1 if has_numpy else 3),
            ("profile trace.json", 0 if has_numpy else 3),
        ):
            ran(python, made, *words.split(), environment=variables, status=(status,), where=left_files)
        done = subprocess.run(
            [python, made, "monitor", "--window"], env={**variables, "DISPLAY": ":9"}, capture_output=True, text=True
        )
        assert (done.returncode, "pipx install gpuassist" in done.stderr) == (64, True), done
    print(f"started by {', '.join(versions)}")
