"""What a scope shall hold, a toolkit and GPUs, and the line of a block that says so, from which it is read back."""

from __future__ import annotations

import json
import re

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.json_reader import read_json
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text
from gpuassist.shellfiles.block import RepairError, require_plain

HEAD = b'# Written by gpuassist, which rewrites these lines as a whole; "gpuassist undo" takes them out again.'
_SETTINGS = b"# Settings: "
_SIMPLE = lazy_regex(r"[A-Za-z0-9_./+@%,:=-]*", re.ASCII)


class ScopeValues(Struct, frozen=True):
    """The toolkit's root and its library directory, and the GPUs as CUDA_VISIBLE_DEVICES names them; empty where not chosen."""

    toolkit: str = ""
    libraries: str = ""
    devices: tuple[str, ...] = ()

    @property
    def variables(self) -> tuple[tuple[str, str], ...]:
        """The variables that have one value, in the order in which they are written."""
        value = ",".join(self.devices)
        by_index = value.replace(",", "").isdigit()
        return (
            *((("CUDA_HOME", self.toolkit),) if self.toolkit else ()),
            *((("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),) if by_index else ()),
            *((("CUDA_VISIBLE_DEVICES", value),) if value else ()),
        )

    @property
    def lists(self) -> tuple[tuple[str, str], ...]:
        """The lists, and the directory that comes first on each."""
        found = (("PATH", f"{self.toolkit}/bin" if self.toolkit else ""), ("LD_LIBRARY_PATH", self.libraries))
        return tuple((name, directory) for name, directory in found if directory)


class Wanted(Struct, frozen=True):
    """What is to be chosen; none where it stays as it is. `libraries` belong to the toolkit; no `devices` stand for all GPUs."""

    toolkit: str | None = None
    libraries: str = ""
    devices: tuple[str, ...] | None = None

    def over(self, held: ScopeValues) -> ScopeValues:
        if self.toolkit is not None:
            held = replace(held, toolkit=self.toolkit, libraries=self.libraries)
        return held if self.devices is None else replace(held, devices=self.devices)


def settings_line(held: ScopeValues) -> bytes:
    """The line of a block that says what it holds; raises `RepairError` for a path that no line can hold."""
    for path in (held.toolkit, held.libraries):
        if path:
            require_plain(path)
    said = {"toolkit": held.toolkit, "libraries": held.libraries, "devices": list(held.devices)}
    return _SETTINGS + json.dumps(said).encode()


def block_lines(held: ScopeValues, *lines: bytes) -> tuple[bytes, ...]:
    """The lines of a block below what it says of itself; none where nothing is held."""
    return () if held == ScopeValues() else (HEAD, settings_line(held), *lines)


def read_settings(lines: tuple[bytes, ...]) -> ScopeValues:
    """What a block says that it holds; nothing where somebody made that line unreadable."""
    said = next((line.removeprefix(_SETTINGS) for line in lines if line.startswith(_SETTINGS)), b"{}")
    try:
        found = read_json(said)
        return ScopeValues(
            str(found.get("toolkit", "")), str(found.get("libraries", "")), tuple(map(str, found.get("devices", ())))
        )
    except (ValueError, AttributeError, TypeError):
        return ScopeValues()


def require_simple(held: ScopeValues) -> None:
    """Raises `RepairError` for a path that not every reader of such a file takes as it stands."""
    for path in (held.toolkit, held.libraries):
        if not _SIMPLE.fullmatch(path):
            raise RepairError(
                text(
                    "the path {path} holds a space, a quote or the like, which not every reader of such a file takes as it stands",
                    path=repr(path),
                )
            )
