"""The block of a project's .envrc: direnv runs it with bash and puts everything back itself, so it is the shell's own block."""

from __future__ import annotations

from gpuassist.formats.startup import Dialect
from gpuassist.repair.scopes.wanted import Held, settings_line
from gpuassist.repair.sections import Sections, devices_section, loader_section, toolkit_section


def lines(held: Held) -> tuple[bytes, ...]:
    """The block's lines; none where nothing is held."""
    if held == Held():
        return ()
    toolkit = toolkit_section(held.toolkit, Dialect.BASH) if held.toolkit else ()
    loader = loader_section(held.toolkit, held.libraries, Dialect.BASH) if held.libraries else ()
    devices = devices_section(held.devices, Dialect.BASH)[1:] if held.devices else ()
    head, *said = Sections(toolkit, loader, devices).lines
    return (head, settings_line(held), *said)
