"""The block of a project's .env: lines of KEY=VALUE that every reader of such files takes alike, without quotes or expansion.

Lists cannot be prepended to in it, because not every reader knows `$PATH`: the toolkit is CUDA_HOME alone.
"""

from __future__ import annotations

from gpuassist.changes.scopes.values import HEAD, ScopeValues, require_simple, settings_line


def lines(held: ScopeValues) -> tuple[bytes, ...]:
    """The block's lines; none where nothing is held. Raises `RepairError` for a path that would need quotes."""
    if held == ScopeValues():
        return ()
    require_simple(held)
    return (HEAD, settings_line(held), *(f"{name}={value}".encode() for name, value in held.variables))
