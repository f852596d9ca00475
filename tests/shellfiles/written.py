"""What gpuassist writes into start-up files, for tests: its block as it is now and as versions before 1.1 wrote it."""

from __future__ import annotations

from gpuassist.shellfiles.block import loader_section, toolkit_section
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.edit import LineChanges

NO_LINES = LineChanges()


def block_lines(root: str, libraries: str = "", dialect: Dialect = Dialect.BASH) -> tuple[bytes, ...]:
    """The block's lines for a toolkit, with those for its libraries where these are named."""
    return (*toolkit_section(root, dialect), *(loader_section(root, libraries, dialect) if libraries else ()))


def older_lines(root: str, libraries: str = "") -> tuple[bytes, ...]:
    """The same as versions before 1.1 wrote them for bash and zsh: a directory is taken out of a list in a loop, then put first."""
    behind = libraries.removeprefix(root)
    return (
        b"# Written by gpuassist, which rewrites these lines as a whole; `gpuassist undo` takes them out again.",
        b"# The toolkit's directory is taken out of the list wherever it stands, then put first.",
        f"export CUDA_HOME='{root}'".encode(),
        *_put_first("PATH", "$CUDA_HOME/bin"),
        *(_put_first("LD_LIBRARY_PATH", f"$CUDA_HOME{behind}") if behind else ()),
    )


def older_file(change: str, lines: tuple[bytes, ...], added: int = 0) -> bytes:
    """The whole block of a version before 1.1, with its markers."""
    begin = f"# >>> gpuassist version=1 change={change} added={added} >>>".encode()
    return b"\n".join((begin, *lines, b"# <<< gpuassist <<<", b""))


def _put_first(variable: str, directory: str) -> tuple[bytes, ...]:
    loop = 'while [ "${V#*":D:"}" != "$V" ]; do V="${V%%":D:"*}:${V#*":D:"}"; done'.replace("V", variable).replace("D", directory)
    return (
        f'{variable}=":${{{variable}-}}:"'.encode(),
        loop.encode(),
        f'{variable}="${{{variable}#:}}"; {variable}="${{{variable}%:}}"'.encode(),
        f'export {variable}="{directory}${{{variable}:+:${variable}}}"'.encode(),
    )
