"""The lines of the managed block by section: the toolkit, its libraries for the loader, the GPUs; written for sh's kin or for fish.

Whoever changes one section keeps the others as they stand. Those for fish start no process: `contains` and `set` are its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.shellfiles.block import cuda_lines, quoted, require_plain
from gpuassist.shellfiles.dialect import Dialect

_PREAMBLE = b"# Written by gpuassist, "
_LOADER_STARTS = (b"LD_LIBRARY_PATH=", b"# The toolkit's libraries ")
_DEVICES_STARTS = b"# Programs see "


@dataclass(frozen=True, slots=True)
class Sections:
    """What the block holds, each section as its lines; an empty one is not there."""

    toolkit: tuple[bytes, ...] = ()
    loader: tuple[bytes, ...] = ()
    devices: tuple[bytes, ...] = ()

    @property
    def lines(self) -> tuple[bytes, ...]:
        """The block's lines; none where every section is empty, because a block that does nothing is not written."""
        said = (*self.toolkit, *self.loader, *self.devices)
        return (cuda_lines("/x", "")[0], *said) if said else ()


def read_sections(lines: tuple[bytes, ...]) -> Sections:
    """The sections of a block's lines, whichever version of gpuassist wrote them."""
    toolkit: list[bytes] = []
    loader: list[bytes] = []
    devices: list[bytes] = []
    current = toolkit
    for line in lines:
        if line.startswith(_DEVICES_STARTS):
            current = devices
        elif line.startswith(_LOADER_STARTS) and current is toolkit:
            current = loader
        if not line.startswith(_PREAMBLE):
            current.append(line)
    return Sections(tuple(toolkit), tuple(loader), tuple(devices))


def toolkit_section(root: str, dialect: Dialect) -> tuple[bytes, ...]:
    """Makes a toolkit the one that new shells use; raises `RepairError` for a path that no line can hold."""
    if dialect is not Dialect.FISH:
        return cuda_lines(root, "")[1:]
    require_plain(root)
    return (
        b"# The toolkit's directory is taken out of the list wherever it stands, then put first.",
        b"set -gx CUDA_HOME " + quoted_for(root, dialect),
        *_put_first("PATH", "$CUDA_HOME/bin"),
    )


def loader_section(root: str, library_directory: str, dialect: Dialect) -> tuple[bytes, ...]:
    """Puts the toolkit's libraries first on LD_LIBRARY_PATH; stands below the toolkit's own section."""
    if dialect is not Dialect.FISH:
        return cuda_lines(root, library_directory)[len(cuda_lines(root, "")) :]
    require_plain(library_directory)
    directory = "$CUDA_HOME" + library_directory.removeprefix(root)
    return (b"# The toolkit's libraries come first for the loader.", *_put_first("LD_LIBRARY_PATH", directory))


def devices_section(devices: tuple[str, ...], dialect: Dialect) -> tuple[bytes, ...]:
    """Shows these GPUs alone, by index or by UUID; by index in the order of the PCI bus, which is how nvidia-smi counts them."""
    value = ",".join(devices)
    header = b"# Programs see these GPUs alone; `gpuassist use devices all` takes these lines out."
    order = (_set("CUDA_DEVICE_ORDER", "PCI_BUS_ID", dialect),) if value.replace(",", "").isdigit() else ()
    return (header, *order, _set("CUDA_VISIBLE_DEVICES", value, dialect))


def quoted_for(words: str, dialect: Dialect) -> bytes:
    """The words as one that the shell takes as it is, whatever stands in it."""
    if dialect is not Dialect.FISH:
        return quoted(words)
    escaped = words.replace("\\", "\\\\").replace("'", "\\'")
    return b"'" + escaped.encode("utf-8", "surrogateescape") + b"'"


def _set(name: str, value: str, dialect: Dialect) -> bytes:
    if dialect is Dialect.FISH:
        return f"set -gx {name} ".encode() + quoted_for(value, dialect)
    return f"export {name}=".encode() + quoted_for(value, dialect)


def _put_first(variable: str, directory: str) -> tuple[bytes, ...]:
    # fish splits every variable whose name ends in PATH at its colons, and joins it again for programs (fish 3.0). One that is set
    # to nothing is one empty element: behind a directory that would mean the current one.
    return (
        f"while contains -- {directory} ${variable}".encode(),
        f"    set -e {variable}[(contains -i -- {directory} ${variable})]".encode(),
        b"end",
        f'test -n "${variable}"; or set -e {variable}'.encode(),
        f"set -gx {variable} {directory} ${variable}".encode(),
    )
