"""The one managed block of a start-up file: its markers, where it stands in a file's bytes, and its lines by section.

The sections are the toolkit, its libraries for the loader, and the GPUs, written for sh's kin or for fish as an expert would by
hand. Whoever changes one keeps the others as they stand; the lines of earlier versions, which took the directory out of the list in
a loop, are told apart in the same way. They run in every new shell, so they start no process and leave no variable behind. Comments
hold no back-ticks and no `$(`: inside an unfinished here-document they would be run."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, listed, text
from gpuassist.shellfiles.dialect import Dialect

VERSION = 1
_BEGIN = b"# >>> gpuassist "
_END = b"# <<< gpuassist <<<"
_PLAIN = lazy_regex(r"[A-Za-z0-9_./,+@%=-]+")


class RepairError(Exception):
    """A repair that cannot be made, or taken back, as asked; `reason` is what the user must know."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class Block(Struct, frozen=True):
    """The managed block in a file: `change` is the id of the change that wrote it, `added` the line ends put in front of it."""

    change: str
    added: int
    lines: tuple[bytes, ...]
    first_byte: int
    end_byte: int


def quoted(path: str) -> bytes:
    """The path as one word that a shell takes as it is: plain where that is so without quotes, as people write it."""
    if _PLAIN.fullmatch(path):
        return path.encode()
    return b"'" + path.encode("utf-8", "surrogateescape").replace(b"'", b"'\\''") + b"'"


def render(change: str, added: int, lines: tuple[bytes, ...]) -> bytes:
    """The block's bytes, its markers included; LF alone ends its lines, because bash takes a CR for a part of the word."""
    begin = _BEGIN + f'version={VERSION} change={change} added={added} ("gpuassist undo" takes these lines out again) >>>'.encode()
    return b"\n".join((begin, *lines, _END, b""))


def find(content: bytes) -> Block | None:
    """The managed block of a file, none where it has none; raises `RepairError` where its markers do not pair up."""
    begins = _line_starts(content, _BEGIN)
    ends = _line_starts(content, _END)
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        places = listed(str(_line_number(content, place)) for place in sorted([*begins, *ends]))
        raise RepairError(
            text(
                "gpuassist's own markers in this file do not pair up ({begins} that begin, {ends} that end; line numbers: "
                "{places}). Nothing was changed: please leave one block or take the marker lines out, then try again.",
                begins=len(begins),
                ends=len(ends),
                places=places,
            )
        )
    place = begins[0]
    words = content[place + len(_BEGIN) : _line_end(content, place)].decode("ascii", "replace").split()
    said = dict(word.split("=", 1) for word in words if "=" in word)
    if said.get("version") != str(VERSION) or not said.get("change") or said.get("added") not in {"0", "1", "2"}:
        line = _line_number(content, place)
        raise RepairError(text("line {line} begins a block of another version of gpuassist; nothing was changed", line=line))
    lines = content[place : ends[0]].split(b"\n")[1:-1]
    return Block(said["change"], int(said["added"]), tuple(lines), place, _line_end(content, ends[0]))


def require_plain(path: str) -> None:
    """Raises `RepairError` for a toolkit's path that no line of a start-up file can hold."""
    if any(sign in path for sign in "\n\r\0"):
        raise RepairError(
            text("the toolkit's path {path} holds a line end or a NUL: no line of a file can hold it", path=repr(path))
        )
    if ":" in path:
        raise RepairError(text("the toolkit's path {path} holds a colon, which separates the directories of PATH", path=path))
    if not path.startswith("/") or not path.strip("/"):
        raise RepairError(text("{path} is not the directory of a toolkit", path=path or "''"))


def _line_starts(content: bytes, marker: bytes) -> list[int]:
    starts: list[int] = []
    place = content.find(marker)
    while place >= 0:
        if place == 0 or content[place - 1 : place] == b"\n":
            starts.append(place)
        place = content.find(marker, place + 1)
    return starts


def _line_end(content: bytes, place: int) -> int:
    end = content.find(b"\n", place)
    return len(content) if end < 0 else end + 1


def _line_number(content: bytes, place: int) -> int:
    return content.count(b"\n", 0, place) + 1


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
