"""Whether bash can parse a start-up file, asked of bash itself, which then runs none of it."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.system.processes import Ending
from gpuassist.system.world import World

_SECONDS = 10.0
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}


@dataclass(frozen=True, slots=True)
class Syntax:
    """`broken` where bash cannot parse it; `words` are bash's own, or say why bash could not be asked."""

    broken: bool
    asked: bool
    words: str = ""


def check(world: World, content: bytes) -> Syntax:
    """Asks `bash -n`, which reads and does not run."""
    command = ("bash", "--noprofile", "--norc", "-n")
    outcome = world.processes.run(command, seconds=_SECONDS, environment=_ENVIRONMENT, stdin=content)
    if outcome.ending is not Ending.EXITED:
        return Syntax(broken=False, asked=False, words=outcome.words or outcome.ending.value)
    said = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
    return Syntax(broken=outcome.status != 0, asked=True, words=said[0] if said else "")


def breaks(before: Syntax, after: Syntax) -> bool:
    """Whether a change broke what was right."""
    return after.broken and not before.broken
