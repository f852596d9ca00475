"""The block of a project's .envrc: direnv runs it with bash and puts everything back itself, so it is the shell's own block."""

from __future__ import annotations

from gpuassist.changes.scopes.values import ScopeValues
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.sections import Sections, devices_section, loader_section, toolkit_section

_SETS = lazy_regex(rb"(?:export|set -gx) (CUDA_HOME|CUDA_VISIBLE_DEVICES)[= ](?:'(.*)'|([^'\"\s]+))")
_DEVICES = b'# Programs see these GPUs alone; "gpuassist use devices all --scope envrc:DIR" takes these lines out.'
_LIBRARIES = lazy_regex(rb'(?:export LD_LIBRARY_PATH="|set -gx LD_LIBRARY_PATH )\$CUDA_HOME(/[^$" ]+).*')


def lines(held: ScopeValues) -> tuple[bytes, ...]:
    """The block's lines; none where nothing is held."""
    toolkit = toolkit_section(held.toolkit, Dialect.BASH) if held.toolkit else ()
    loader = loader_section(held.toolkit, held.libraries, Dialect.BASH) if held.libraries else ()
    devices = (_DEVICES, *devices_section(held.devices, Dialect.BASH)[1:]) if held.devices else ()
    return Sections(toolkit, loader, devices).lines


def read(block: tuple[bytes, ...]) -> ScopeValues:
    """What a block of this kind holds, a start-up file's too; `use … --rc .envrc` writes the same lines."""
    found = {match[1]: _unquoted(match[2] or match[3] or b"") for match in map(_SETS.fullmatch, block) if match is not None}
    toolkit, devices = found.get(b"CUDA_HOME", ""), found.get(b"CUDA_VISIBLE_DEVICES", "")
    folder = next((match[1] for match in map(_LIBRARIES.fullmatch, block) if match is not None), b"")
    libraries = toolkit + folder.decode("utf-8", "surrogateescape") if folder else ""
    return ScopeValues(toolkit, libraries, tuple(devices.split(",")) if devices else ())


def _unquoted(words: bytes) -> str:
    return words.replace(b"'\\''", b"'").decode("utf-8", "surrogateescape")
