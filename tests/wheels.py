"""Small made-up wheels in a local index: torch look-alikes for the CPU and for CUDA, companions with pins, and anything else."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Wheel:
    """A package: `requires` as its metadata writes it, `files` beside its own empty module."""

    name: str
    version: str
    requires: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    requires_python: str = ""

    @property
    def file_name(self) -> str:
        """As the wheel format spells it."""
        return f"{self._stem}-py3-none-any.whl"

    @property
    def _stem(self) -> str:
        return f"{self.name.replace('-', '_')}-{self.version}"

    @property
    def members(self) -> dict[str, str]:
        """What lies in it, without its RECORD."""
        python = f"Requires-Python: {self.requires_python}\n" if self.requires_python else ""
        asks = "".join(f"Requires-Dist: {one}\n" for one in self.requires)
        about = f"Metadata-Version: 2.1\nName: {self.name}\nVersion: {self.version}\n{python}{asks}\nMade up for a test.\n"
        record = f"{self._stem}.dist-info"
        return {
            f"{self.name.replace('-', '_')}/__init__.py": "",
            **self.files,
            f"{record}/METADATA": about,
            f"{record}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }

    @property
    def recorded(self) -> dict[str, str]:
        """All that lies in it."""
        record, members = f"{self._stem}.dist-info/RECORD", self.members
        lines = [f"{name},{_digest(words)},{len(words.encode())}" for name, words in members.items()]
        return {**members, record: "\n".join([*lines, f"{record},,", ""])}

    def write(self, directory: Path) -> Path:
        """Makes the file."""
        directory.mkdir(parents=True, exist_ok=True)
        place = directory / self.file_name
        with zipfile.ZipFile(place, "w") as archive:
            for name, words in self.recorded.items():
                archive.writestr(zipfile.ZipInfo(name), words)
        return place


def torch(version: str, *requires: str) -> Wheel:
    """A torch look-alike, of the build that its version names (`2.9.1+cu128`, `2.9.1+cpu`), of CUDA 12.8 where it names none."""
    tag = version.partition("+")[2]
    digits = "128" if not tag else tag.removeprefix("cu") if tag.startswith("cu") else ""
    cuda = f"{digits[:-1]}.{digits[-1]}" if digits else ""
    lines = f"__version__ = {version!r}\ndebug = False\ncuda = {cuda or None!r}\nhip = None\nxpu = None\n"
    runtime = "nvidia-cuda-runtime" + (f"-cu{digits[:-1]}" if int(digits or 0) < 130 else "")  # so named from CUDA 13 on
    asks = requires or ((runtime,) if cuda else ())
    init = "from torch.version import __version__\n"
    return Wheel("torch", version, asks, {"torch/__init__.py": init, "torch/version.py": lines})


def index(directory: Path, wheels: Iterable[Wheel]) -> str:
    """A package index of these as a file URL (the simple repository API, PEP 503)."""
    pages: dict[str, list[str]] = {}
    for one in wheels:
        place = one.write(directory / one.name)
        python = (
            f' data-requires-python="{one.requires_python.replace(">", "&gt;").replace("<", "&lt;")}"'
            if one.requires_python
            else ""
        )
        pages.setdefault(one.name, []).append(f'<a href="{place.name.replace("+", "%2B")}"{python}>{place.name}</a>')
    for name, links in pages.items():
        (directory / name / "index.html").write_text("<!DOCTYPE html>\n" + "\n".join(links), "utf-8")
    return directory.as_uri()


def unpack(wheels: Iterable[Wheel], site: Path) -> None:
    """As if they were installed in that directory, without a tool."""
    for one in wheels:
        for name, words in one.recorded.items():
            place = site / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(words, "utf-8")


def _digest(words: str) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(words.encode()).digest()).rstrip(b"=").decode()
