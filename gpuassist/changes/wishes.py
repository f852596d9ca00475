"""What the user may wish for his files: a toolkit, GPUs, or clean start-up files. `plan_change` makes a plan of each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Union

from msgspec import Struct

from gpuassist.model.text import Text
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.lines import LineChoice

SHELL = "shell"  # the scope of the start-up files


class WishError(RepairError):
    """The wish means nothing: wrong usage, not a state of the machine."""


class LdLibraryPath(str, Enum):
    """Whether the toolkit's libraries go on LD_LIBRARY_PATH; `AUTO` decides by what this machine shows."""

    ON = "on"
    OFF = "off"
    AUTO = "auto"


class UseCuda(Struct, frozen=True):
    """A CUDA version, the start-up file (empty: the login shell's own), and what becomes of which lines.

    `lines` are the lines that are not kept; none means what is suggested, an empty tuple no line. `retire` says the same of the one
    file alone by line numbers. Another `scope` than the shell's has no start-up file.
    """

    version: str
    rc: str = ""
    ld_library_path: LdLibraryPath = LdLibraryPath.AUTO
    retire: tuple[int, ...] | None = None
    lines: tuple[LineChoice, ...] | None = None
    scope: str = SHELL


class UseDevices(Struct, frozen=True):
    """GPUs by indices or UUIDs, or all of them, and the start-up file (empty: the login shell's own) or another `scope`. `lines` of
    his own are the ones that are not kept, none for what is suggested.
    """

    devices: str
    rc: str = ""
    scope: str = SHELL
    lines: tuple[LineChoice, ...] | None = None


class CleanShell(Struct, frozen=True):
    """`lines` that do not stay, none for what is suggested; `hurts` says of directories why they hurt on LD_LIBRARY_PATH, none to
    look that up in this machine's environments.
    """

    lines: tuple[LineChoice, ...] | None = None
    hurts: Mapping[str, Text] | None = None


class FitProject(Struct, frozen=True):
    """Files of a project in `directory`, each by its path from there, with what it held when it was
    judged and what it shall hold.
    """

    directory: str
    files: tuple[tuple[str, bytes, bytes], ...]


ChangeWish = Union[UseCuda, UseDevices, CleanShell, FitProject]
