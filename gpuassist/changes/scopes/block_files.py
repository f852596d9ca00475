"""The files that hold nothing of a scope's but our block: a project's .envrc or .env, and one of environment.d for the desktop.

direnv runs .envrc with bash and puts everything back itself, so its lines are those of a start-up file. A .env is KEY=VALUE as
every reader of such files takes it, without quotes or expansion: not every one knows `$PATH`, so the toolkit is CUDA_HOME alone.
From environment.d systemd takes the variables of all that a desktop session starts; a list can be prepended to there
(environment.d(5))."""

from __future__ import annotations

from gpuassist.changes.scopes.values import ScopeValues, block_lines, require_simple
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.shellfiles.block import Sections, devices_section, loader_section, toolkit_section
from gpuassist.shellfiles.dialect import Dialect

_SETS = lazy_regex(rb"(?:export|set -gx) (CUDA_HOME|CUDA_VISIBLE_DEVICES)[= ](?:'(.*)'|([^'\"\s]+))")
_DEVICES = b'# Programs see these GPUs alone; "gpuassist use devices all --scope envrc:DIR" takes these lines out.'
_LIBRARIES = lazy_regex(rb'(?:export LD_LIBRARY_PATH="|set -gx LD_LIBRARY_PATH )\$CUDA_HOME(/[^$" ]+).*')


def envrc_lines(held: ScopeValues) -> tuple[bytes, ...]:
    """The block's lines; none where nothing is held."""
    toolkit = toolkit_section(held.toolkit, Dialect.BASH) if held.toolkit else ()
    loader = loader_section(held.toolkit, held.libraries, Dialect.BASH) if held.libraries else ()
    devices = (_DEVICES, *devices_section(held.devices, Dialect.BASH)[1:]) if held.devices else ()
    return Sections(toolkit, loader, devices).lines


def read_envrc(block: tuple[bytes, ...]) -> ScopeValues:
    """What a block of this kind holds, a start-up file's too; `use … --rc .envrc` writes the same lines."""
    matches = (match for match in map(_SETS.fullmatch, block) if match is not None)
    words = {match[1]: (match[2] or match[3] or b"").replace(b"'\\''", b"'") for match in matches}
    found = {name: value.decode("utf-8", "surrogateescape") for name, value in words.items()}
    toolkit, devices = found.get(b"CUDA_HOME", ""), found.get(b"CUDA_VISIBLE_DEVICES", "")
    folder = next((match[1] for match in map(_LIBRARIES.fullmatch, block) if match is not None), b"")
    libraries = toolkit + folder.decode("utf-8", "surrogateescape") if folder else ""
    return ScopeValues(toolkit, libraries, tuple(devices.split(",")) if devices else ())


def dotenv_lines(held: ScopeValues) -> tuple[bytes, ...]:
    """The block's lines; none where nothing is held. Raises `RepairError` for a path that would need quotes."""
    require_simple(held)
    return block_lines(held, *(f"{name}={value}".encode() for name, value in held.variables))


DESKTOP_FILE = ".config/environment.d/60-gpuassist.conf"


def desktop_lines(held: ScopeValues) -> tuple[bytes, ...]:
    """The block's lines; raises as `dotenv_lines` does."""
    require_simple(held)
    return block_lines(
        held,
        *(f"{name}={value}".encode() for name, value in held.variables),
        *(f"{name}={directory}${{{name}:+:${name}}}".encode() for name, directory in held.lists),
    )
