"""The lines of the managed block by section: the toolkit, its libraries for the loader, the GPUs; written for sh's kin or for fish.

They are what an expert would write by hand. Whoever changes one section keeps the others as they stand; the lines of earlier
versions, which took the directory out of the list in a loop, are told apart in the same way.
"""

from __future__ import annotations

from msgspec import Struct

from gpuassist.shellfiles.block import quoted, require_plain
from gpuassist.shellfiles.dialect import Dialect

_PREAMBLE = b"# Written by gpuassist, "  # of blocks before 1.1
_LOADER_STARTS = (
    *(b"LD_LIBRARY_PATH=", b"# The toolkit's libraries ", b"export LD_LIBRARY_PATH=", b"set -gx LD_LIBRARY_PATH "),
    b'test -n "$LD_LIBRARY_PATH"',
)
_DEVICES_STARTS = b"# Programs see "


class Sections(Struct, frozen=True):
    """What the block holds, each section as its lines; an empty one is not there."""

    toolkit: tuple[bytes, ...] = ()
    loader: tuple[bytes, ...] = ()
    devices: tuple[bytes, ...] = ()

    @property
    def lines(self) -> tuple[bytes, ...]:
        """The block's lines; none where every section is empty, because a block that does nothing is not written."""
        return (*self.toolkit, *self.loader, *self.devices)


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


def toolkit_section(root: str, dialect: Dialect, also: tuple[tuple[str, str], ...] = (), *, home: bool = True) -> tuple[bytes, ...]:
    """Makes a toolkit the one that new shells use; `also` are other variables that would stay at another one, with their values.

    Without `home` a line of the user's own sets CUDA_HOME. Raises `RepairError` for a path that no line can hold.
    """
    require_plain(root)
    if not home:
        return (*(_set(name, value, dialect) for name, value in also), _alone("PATH", f"{root}/bin", dialect))
    return (
        _set("CUDA_HOME", root, dialect),
        *(_set(name, value, dialect) for name, value in also),
        _first("PATH", "/bin", dialect),
    )


def loader_section(root: str, library_directory: str, dialect: Dialect, *, home: bool = True) -> tuple[bytes, ...]:
    """Puts the toolkit's libraries first on LD_LIBRARY_PATH; below the toolkit's own section it takes `home` from that."""
    require_plain(library_directory)
    behind = library_directory.removeprefix(root)
    if not home:
        line = _alone("LD_LIBRARY_PATH", library_directory, dialect)
        return (b'test -n "$LD_LIBRARY_PATH"; or set -e LD_LIBRARY_PATH', line) if dialect is Dialect.FISH else (line,)
    if dialect is not Dialect.FISH:
        return (_first("LD_LIBRARY_PATH", behind, dialect),)
    # One that is set to nothing is one empty element: behind a directory that would mean the current one.
    return (b'test -n "$LD_LIBRARY_PATH"; or set -e LD_LIBRARY_PATH', _first("LD_LIBRARY_PATH", behind, dialect))


def devices_section(devices: tuple[str, ...], dialect: Dialect) -> tuple[bytes, ...]:
    """Shows these GPUs alone, by index or by UUID; by index in the order of the PCI bus, which is how nvidia-smi counts them."""
    value = ",".join(devices)
    header = b'# Programs see these GPUs alone; "gpuassist use devices all" takes these lines out.'
    order = (_set("CUDA_DEVICE_ORDER", "PCI_BUS_ID", dialect),) if value.replace(",", "").isdigit() else ()
    return (header, *order, _set("CUDA_VISIBLE_DEVICES", value, dialect))


def quoted_for(words: str, dialect: Dialect) -> bytes:
    """The words as one that the shell takes as it is, whatever stands in it."""
    plain = quoted(words)
    if dialect is not Dialect.FISH or not plain.startswith(b"'"):
        return plain
    escaped = words.replace("\\", "\\\\").replace("'", "\\'")
    return b"'" + escaped.encode("utf-8", "surrogateescape") + b"'"


def _set(name: str, value: str, dialect: Dialect) -> bytes:
    if dialect is Dialect.FISH:
        return f"set -gx {name} ".encode() + quoted_for(value, dialect)
    return f"export {name}=".encode() + quoted_for(value, dialect)


def _first(variable: str, behind: str, dialect: Dialect) -> bytes:
    if dialect is Dialect.FISH:
        return f"set -gx {variable} $CUDA_HOME{behind} ${variable}".encode()
    before = f":${variable}" if variable == "PATH" else f"${{{variable}:+:${variable}}}"
    return f'export {variable}="$CUDA_HOME{behind}{before}"'.encode()


def _alone(variable: str, directory: str, dialect: Dialect) -> bytes:
    word = quoted_for(directory, dialect)
    if dialect is Dialect.FISH:
        return f"set -gx {variable} ".encode() + word + f" ${variable}".encode()
    before = b":$PATH" if variable == "PATH" else f"${{{variable}:+:${variable}}}".encode()
    return f"export {variable}=".encode() + word + before
