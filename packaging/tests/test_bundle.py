"""The application in one folder, started in Debians that have no Python, and what its children are given."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import DIST, ROOT, ROOTS, only, program
from windows import shown_after

sys.path.insert(0, str(ROOT / "packaging"))
from make_bundle import NEWEST, OLDEST, bare_root

AT_MOST_BYTES = 220_000_000
WINDOW_RATIO, ROUNDS = 2.0, 5
PYSIDE_GLIBC = (2, 28)  # by the tag of its wheels, manylinux_2_28
TORCH = ROOT / ".venv-torch" / "bin" / "python"


@pytest.fixture(scope="session")
def folder() -> Path:
    return only("gpuassist/gpuassist").parent


def test_no_library_asks_for_a_newer_glibc(folder: Path) -> None:
    asks: dict[str, tuple[int, ...]] = {}
    for one in [folder / "gpuassist", *folder.rglob("*.so*")]:
        if one.is_file() and not one.is_symlink():
            told = subprocess.run([program("objdump"), "-T", one], capture_output=True, text=True, check=True).stdout
            versions = [tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_(2\.[0-9.]+)", told)]
            asks[str(one.relative_to(folder))] = max(versions, default=(0,))
    qt = max(version for name, version in asks.items() if "PySide6" in name)
    print(f"\n{len(asks)} libraries; the newest glibc that one asks for: {max(asks.values())}, Qt's own {qt}")
    assert len(asks) > 80
    assert {name: version for name, version in asks.items() if version > PYSIDE_GLIBC} == {}


def test_its_size(folder: Path) -> None:
    size = sum(one.lstat().st_size for one in folder.rglob("*") if one.is_file() and not one.is_symlink())
    print(f"\nthe folder: {size / 1e6:.0f} MB, packed {only('gpuassist-linux-x86_64.tar.xz').stat().st_size / 1e6:.0f} MB")
    assert size <= AT_MOST_BYTES
    assert [one for one in folder.rglob("*") if one.is_symlink() and not one.exists()] == []
    names = {one.name for one in folder.rglob("*")}
    assert not names & {"libQt6Quick.so.6", "libQt6Network.so.6", "libQt6Qml.so.6", "pyqtgraph", "tkinter", "libssl.so.1.1"}


_IN_ROOT = """set -e
mount -t proc proc "$1/proc"; mkdir -p "$1/opt/gpuassist" "$1/tmp/.X11-unix"
mount --bind "$2" "$1/opt/gpuassist"; mount --bind /tmp/.X11-unix "$1/tmp/.X11-unix"
root=$1; shift 2
exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/bin:/bin LANG=C.UTF-8 DISPLAY="$DISPLAY" "$@\""""


def within(root: Path, folder: Path, *command: str) -> list[str]:
    return ["unshare", "--mount", "sh", "-c", _IN_ROOT, "sh", str(root), str(folder), *command]


@pytest.mark.parametrize("suite", [OLDEST, NEWEST])
def test_starts_where_there_is_no_python(suite: str, folder: Path, display: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("NOT RUN: a root of Debian needs root")
    program("debootstrap")
    root = bare_root(ROOTS, suite)
    assert not list((root / "usr" / "bin").glob("python*"))
    gpuassist = "/opt/gpuassist/gpuassist"
    around = {**os.environ, "DISPLAY": display}

    def said(*arguments: str) -> str:
        command = within(root, folder, gpuassist, *arguments)
        done = subprocess.run(command, capture_output=True, text=True, env=around, timeout=120)
        assert done.returncode <= 3, done.stderr
        return done.stdout

    assert said("--version").startswith("gpuassist ")
    assert "Debian" in json.dumps(json.loads(said("detect", "--json")))
    assert json.loads(said("doctor", "--json"))
    picture = DIST / f"window-{suite}.png"
    lasted = shown_after(within(root, folder, gpuassist), around, display, picture)
    print(f"\n{suite}: window after {lasted:.2f} s; {picture}")


def test_window_is_there_nearly_as_soon_as_of_an_installed_one(folder: Path, variables: dict[str, str], display: str) -> None:
    installed = [sys.executable, "-m", "gpuassist"]
    bundled = [str(folder / "gpuassist")]
    for command in (installed, bundled):
        shown_after(command, variables, display)
    both = [(shown_after(bundled, variables, display), shown_after(installed, variables, display)) for _ in range(ROUNDS)]
    ratio = statistics.median(ours / theirs for ours, theirs in both)
    ours, theirs = (statistics.median(one) for one in zip(*both, strict=True))
    print(f"\nwindow after {ours:.2f} s, installed {theirs:.2f} s: {ratio:.2f} times (at most {WINDOW_RATIO})")
    began = time.monotonic()
    subprocess.run([*bundled, "--version"], env=variables, check=True, capture_output=True)
    print(f"--version after {time.monotonic() - began:.2f} s")
    assert ratio <= WINDOW_RATIO


USERS = {
    "LD_LIBRARY_PATH": "/opt/users/lib",
    "QT_PLUGIN_PATH": "/opt/users/qt",
    "PYTHONPATH": "/opt/users/python",
    "QT_STYLE_OVERRIDE": "users",
}


@pytest.mark.parametrize("given", [{}, USERS], ids=["nothing", "users"])
def test_a_program_of_the_users_has_his_environment(given: Mapping[str, str], folder: Path, variables: dict[str, str]) -> None:
    around = {**variables, **given}
    command = [str(folder / "gpuassist"), "run", "--", "/usr/bin/env", "-0"]
    told = subprocess.run(command, env=around, capture_output=True, timeout=120, check=True).stdout.decode()
    seen = dict(line.split("=", 1) for line in told.split("\0") if "=" in line)
    inside = seen.pop("PYTHONPATH").split(":")  # of `run`: where its own first module lies
    assert inside[1:] == ([given["PYTHONPATH"]] if given else [])
    expected = {name: value for name, value in around.items() if name != "PYTHONPATH"}
    assert {name: value for name, value in seen.items() if not name.startswith("GPUASSIST_")} == expected
    assert "_internal" not in told


def test_shells_of_the_users_are_asked_with_his_environment(folder: Path, variables: dict[str, str]) -> None:
    rc = Path(variables["HOME"], ".bashrc")
    rc.write_text('env > "$HOME/seen"\n')
    command = [str(folder / "gpuassist"), "shell", "--json"]
    done = subprocess.run(
        command, env={**variables, "LD_LIBRARY_PATH": "/opt/users/lib"}, capture_output=True, text=True, timeout=120
    )
    assert json.loads(done.stdout), done.stderr
    seen = Path(variables["HOME"], "seen").read_text()
    assert "_internal" not in seen
    assert "_PYI" not in seen


def test_it_has_what_its_commands_import(folder: Path, variables: dict[str, str], left_files: Path) -> None:
    """SQLite, TLS, numpy, prometheus-client, lzma and bz2, each seen in a command that uses it."""
    runs: tuple[tuple[str, int, str], ...] = (
        ("snapshot peak.pickle", 1, "peak 304.00 MiB"),
        ("profile trace.json", 0, "trace of torch.profiler"),
        ("profile run.prof", 0, "profile of cProfile"),
        ("profile run.sqlite", 0, "Nsight Systems"),
        ("estimate 7B", 3, "needed: "),
        ("monitor --headless --count 1 --record run.db", 3, ""),
        ("monitor --headless --count 1 --export 127.0.0.1:0", 0, "answers for Prometheus"),
        ("monitor --headless --count 1 --source prometheus:https://127.0.0.1:1", 3, "nothing listens there"),
    )
    for words, status, told in runs:
        command = [str(folder / "gpuassist"), *words.split()]
        done = subprocess.run(command, cwd=left_files, env=variables, capture_output=True, text=True, timeout=120)
        assert (done.returncode, told in done.stdout + done.stderr) == (status, True), (words, done)
    module = sorted((folder / "_internal").rglob("_lzma*.so"))
    assert module
    assert sorted((folder / "_internal").rglob("_bz2*.so"))


def test_torch_of_the_users_computes(folder: Path, variables: dict[str, str]) -> None:
    if not TORCH.exists():
        pytest.skip("NOT RUN: there is no .venv-torch, which `make test` makes")
    command = [str(folder / "gpuassist"), "verify", "--device", "cpu", "--python", str(TORCH), "--json"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "_internal" not in done.stdout  # no library of ours is in its process
    assert json.loads(done.stdout)
