"""Builds the application in one folder, in the oldest Debian that can be had here, and what can be made of that folder.

`python packaging/make_bundle.py DIRECTORY [--roots DIRECTORY]`, as root and with debootstrap: the root of that Debian is made once,
and kept. pip is asked for wheels out here; in there nothing is asked for anything.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OLDEST, NEWEST = "bullseye", "trixie"  # glibc 2.31 and 2.41; the mirror has none that is older
MIRROR = "http://deb.debian.org/debian"
MENDED = f"{MIRROR}-security"
# 6.10 needs glibc 2.34, which is newer than all of Debian 11, RHEL 8 and Ubuntu 20.04 have
WHEELS = (
    *("PySide6-Essentials>=6.9,<6.10", "numpy>=1.26", "nvidia-ml-py>=12.560", "tree-sitter>=0.23", "tree-sitter-bash>=0.23"),
    *("msgspec>=0.19", "packaging>=22", "prometheus-client>=0.20", "pyinstaller>=6.10"),
)
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
# To compile Python, and what the application takes from a system that has it.
PACKAGES = (
    *(
        "gcc",
        "libc6-dev",
        "make",
        "pkg-config",
        "binutils",
        "xz-utils",
        "libffi-dev",
        "zlib1g-dev",
        "libncurses-dev",
        "libexpat1-dev",
        "libbz2-dev",
        "liblzma-dev",
        "perl",
        "tcl",
    ),
    *(
        "libegl1",
        "libgl1",
        "libglx0",
        "libglib2.0-0",
        "libfontconfig1",
        "libfreetype6",
        "libdbus-1-3",
        "libx11-xcb1",
        "libxkbcommon0",
    ),
    *(
        "libxkbcommon-x11-0",
        "libxcb-cursor0",
        "libxcb-icccm4",
        "libxcb-image0",
        "libxcb-keysyms1",
        "libxcb-randr0",
        "libxcb-render0",
    ),
    *("libxcb-render-util0", "libxcb-shape0", "libxcb-shm0", "libxcb-sync1", "libxcb-xfixes0", "libxcb-xkb1"),
    *("libwayland-client0", "libwayland-cursor0", "libwayland-egl1"),
)
SOURCES = {
    "python3.13": (f"{MIRROR} {NEWEST}", "python3.13_*.orig.tar.xz"),
    "sqlite3": (f"{MIRROR} {NEWEST}", "sqlite3_*.orig.tar.xz"),
    "openssl": (f"{MENDED} {NEWEST}-security", "openssl_*.orig.tar.gz"),
    "libpng1.6": (f"{MIRROR} {OLDEST}", "libpng1.6_*.orig.tar.gz"),
    "dbus": (f"{MIRROR} bookworm", "dbus_*.orig.tar.xz"),  # the last one that is built by make
}
# Mounts of its own, which are gone with it: nothing of this machine can be written in there, and none is left behind.
_WITHIN = """set -e
mount -t proc proc "$1/proc"
if [ -n "$2" ]; then mkdir -p "$1/source"; mount --bind "$2" "$1/source"; mount -o remount,ro,bind "$1/source"; fi
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
exec chroot "$1" sh -c "$3\""""


def main() -> None:
    """Makes the folder, and its archive, below the directory that is named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target", type=Path)
    parser.add_argument("--roots", type=Path, default=ROOT / ".cache" / "roots")
    options = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        print("NOT RUN: the application in one folder; it needs root and debootstrap (the package of that name)")
        return
    root = build_root(options.roots.resolve())
    folder = bundle(root, options.target.resolve())
    size = sum(one.lstat().st_size for one in folder.rglob("*") if one.is_file() and not one.is_symlink())
    for half in options.target.glob("gpuassist-*.pyz"):  # beside the program, where `--ssh` looks for what it copies
        shutil.copy(half, folder)
    archive = pack(folder)
    print(f"{folder}: {size / 1e6:.0f} MB; {archive}: {archive.stat().st_size / 1e6:.0f} MB")


def within(root: Path, command: str, source: Path | None = None) -> None:
    """Runs a command in that root, with a directory of this machine as /source, which cannot be written there."""
    subprocess.run(["unshare", "--mount", "sh", "-c", _WITHIN, "sh", str(root), str(source or ""), command], check=True)


def bare_root(roots: Path, suite: str, name: str = "") -> Path:
    """A Debian with nothing but what is needed to install more; made where it is not there yet."""
    root = roots / (name or f"bare-{suite}")
    done = root / ".made"
    if not done.exists():
        shutil.rmtree(root, ignore_errors=True)
        root.parent.mkdir(parents=True, exist_ok=True)
        # with mounts of its own: one that is killed leaves none behind
        command = ["unshare", "--mount", "debootstrap", "--variant=minbase", suite, str(root), MIRROR]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        done.touch()
    return root


def build_root(roots: Path) -> Path:
    """The oldest Debian with a Python of its own, and the wheels that the application stands on."""
    root = bare_root(roots, OLDEST, f"build-{OLDEST}")
    build = root / "build"
    if not (root / "opt" / "python" / "bin" / "python3").exists():
        build.mkdir(exist_ok=True)
        within(root, f"apt-get update -q && apt-get install -q -y --no-install-recommends {' '.join(PACKAGES)}")
        _fetch_sources(roots, build)
        for name in ("older_glibc.h", "make_python.sh"):
            shutil.copy(HERE / "bundle" / name, build)
        within(root, "sh /build/make_python.sh")
    shutil.rmtree(build / "wheels", ignore_errors=True)
    _download(build / "wheels")
    within(
        root,
        "cd /build && rm -rf venv && /opt/python/bin/python3 -m venv venv && venv/bin/pip install --quiet --no-index wheels/*.whl",
    )
    return root


def _fetch_sources(roots: Path, build: Path) -> None:
    """By the newest Debian's apt, which knows the keys of those before it."""
    newest = bare_root(roots, NEWEST, f"build-{NEWEST}")
    (newest / "build").mkdir(exist_ok=True)
    for package, (suite, pattern) in SOURCES.items():
        # Its suite alone, because apt would take the newest that it knows of.
        (newest / "build" / "sources.list").write_text(f"deb-src {suite} main\n")
        apt = "apt-get -q -o Dir::Etc::sourcelist=/build/sources.list -o Dir::Etc::sourceparts=-"
        within(newest, f"cd /build && {apt} update && {apt} source --download-only --tar-only {package}")
        for one in (newest / "build").glob(pattern):
            shutil.copy(one, build)


def _download(target: Path) -> None:
    abis = [word for abi in ("cp313", "abi3", "none") for word in ("--abi", abi)]
    platforms = [word for one in PLATFORMS for word in ("--platform", one)]
    command: Sequence[str] = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--dest", str(target)]
    subprocess.run([*command, "--python-version", "3.13", "--implementation", "cp", *abis, *platforms, *WHEELS], check=True)


def bundle(root: Path, target: Path) -> Path:
    """The folder, with what lies below share/ and the licences of all that is in it."""
    command = "venv/bin/pyinstaller --noconfirm --log-level ERROR --distpath /build/result --workpath /build/work"
    within(root, f"cd /build && PYTHONDONTWRITEBYTECODE=1 {command} /source/packaging/pyinstaller.spec", ROOT)
    folder = target / "gpuassist"
    shutil.rmtree(folder, ignore_errors=True)
    target.mkdir(parents=True, exist_ok=True)
    shutil.copytree(root / "build" / "result" / "gpuassist", folder, symlinks=True)
    subprocess.run([sys.executable, str(HERE / "make_share.py"), str(folder / "share")], check=True)
    _licences(root, folder)
    return folder


def _licences(root: Path, folder: Path) -> None:
    """Ours, those of the wheels, and what Debian writes of the libraries that it lends. Qt's LGPL asks that it can be replaced: the
    folder's libraries are files of their own.
    """
    target = folder / "licences"
    target.mkdir()
    shutil.copy(ROOT / "LICENSE", target / "gpuassist.txt")
    shutil.copy(root / "opt" / "python" / "lib" / "python3.13" / "LICENSE.txt", target / "python.txt")
    for one in (root / "build" / "venv" / "lib" / "python3.13" / "site-packages").glob("*.dist-info"):
        for text in [*one.rglob("LICEN[CS]E*"), *one.rglob("COPYING*")]:
            if text.is_file():
                shutil.copy(text, target / f"{one.name.split('-')[0]}-{text.name}")
    (target / "common").mkdir()
    for one in (root / "usr" / "share" / "common-licenses").iterdir():
        shutil.copy(one, target / "common")
    for library in (folder / "_internal" / "lent").iterdir():
        _of_debian(root, library.name, target)


def _of_debian(root: Path, library: str, target: Path) -> None:
    for listing in (root / "var" / "lib" / "dpkg" / "info").glob("*.list"):
        if any(line.endswith(f"/{library}") for line in listing.read_text("utf-8").splitlines()):
            package = listing.stem.partition(":")[0]
            told = root / "usr" / "share" / "doc" / package / "copyright"
            if told.exists():
                shutil.copy(told, target / f"debian-{package}.txt")


def pack(folder: Path) -> Path:
    """The folder as an archive to hand on."""
    archive = folder.parent / "gpuassist-linux-x86_64.tar.xz"
    with tarfile.open(archive, "w:xz") as file:
        file.add(folder, folder.name)
    return archive


if __name__ == "__main__":
    main()
