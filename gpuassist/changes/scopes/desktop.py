"""The file of environment.d from which systemd takes the variables of everything that a desktop session starts.

Its lines are KEY=VALUE; other variables are named as in a shell, so a list can be prepended to (environment.d(5)).
"""

from __future__ import annotations

from gpuassist.changes.scopes.values import HEAD, ScopeValues, require_simple, settings_line

PLACE = ".config/environment.d/60-gpuassist.conf"


def lines(held: ScopeValues) -> tuple[bytes, ...]:
    """The block's lines; none where nothing is held. Raises `RepairError` for a path that would need quotes."""
    if held == ScopeValues():
        return ()
    require_simple(held)
    return (
        HEAD,
        settings_line(held),
        *(f"{name}={value}".encode() for name, value in held.variables),
        *(f"{name}={directory}${{{name}:+:${name}}}".encode() for name, directory in held.lists),
    )
