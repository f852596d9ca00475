"""Made-up Python environments and the torch in them."""

from __future__ import annotations

from pathlib import Path

from tests.fakes import put
from tests.formats.made_elf import ALLOCATED, PROGBITS, elf


def make_venv(root: Path, path: str, *, version: str = "3.12.1", more: str = "", interpreter: bool = True) -> None:
    """A virtual environment with what its pyvenv.cfg says."""
    release = ".".join(version.split(".")[:2])
    put(root, f"{path}/pyvenv.cfg", f"home = /usr/bin\nversion = {version}\n{more}")
    (root / path.lstrip("/") / f"lib/python{release}/site-packages").mkdir(parents=True)
    if interpreter:
        put(root, f"{path}/bin/python", mode=0o755)


def make_conda(root: Path, path: str, *, version: str = "3.11.9") -> None:
    """A conda environment with its record of Python."""
    put(root, f"{path}/conda-meta/python-{version}-hb806964_0_cpython.json")
    put(root, f"{path}/bin/python", mode=0o755)
    (root / path.lstrip("/") / f"lib/python{version.rpartition('.')[0]}/site-packages").mkdir(parents=True)


def make_torch(root: Path, site: str, version: str, *, cuda: str = "", targets: str = "", installer: str = "pip") -> None:
    """A torch as its wheel unpacks it, in a site-packages directory."""
    said = f"cuda: Optional[str] = {cuda!r}" if cuda else "cuda: Optional[str] = None"
    put(
        root,
        f"{site}/torch/version.py",
        f"from typing import Optional\n__version__ = {version!r}\n{said}\nhip: Optional[str] = None\n",
    )
    constants = b"\0some string\0" + targets.encode() + b"\0other\0"
    put(root, f"{site}/torch/lib/libtorch_python.so", elf((PROGBITS, ALLOCATED, constants)))
    if installer:
        put(root, f"{site}/torch-{version.partition('+')[0]}.dist-info/INSTALLER", f"{installer}\n")
