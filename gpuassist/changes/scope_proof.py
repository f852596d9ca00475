"""The proof of a choice for an environment: a real shell enters it as its users do, is asked what it holds, and leaves it again."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from gpuassist.changes.scope_find import Scope
from gpuassist.changes.scopes.kinds import Kind
from gpuassist.changes.scopes.wanted import Held
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import Text, text
from gpuassist.system.processes import Ending
from gpuassist.system.world import World

_SECONDS = 10.0
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
_NAMES = ("PATH", "CUDA_HOME", "LD_LIBRARY_PATH", "CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES")
_ASK = "env -0; printf '%s\\0' \"$mark\""
# conda runs all hooks of the environment by name, and those that leave it the other way round (conda, activate.py).
_CONDA = f"""mark=$1
{_ASK}
export CONDA_PREFIX="$2" CONDA_SHLVL=1 PATH="$2/bin:$PATH"
for hook in "$2"/etc/conda/activate.d/*.sh; do [ ! -f "$hook" ] || . "$hook"; done >/dev/null 2>&1
{_ASK}
PATH="${{PATH%%"$2/bin:"*}}${{PATH#*"$2/bin:"}}"
hooks=()
for hook in "$2"/etc/conda/deactivate.d/*.sh; do hooks=("$hook" "${{hooks[@]}}"); done
for hook in "${{hooks[@]}}"; do [ ! -f "$hook" ] || . "$hook"; done >/dev/null 2>&1
{_ASK}
"""
_VENV = f"""mark=$1
{_ASK}
. "$2/bin/activate" >/dev/null 2>&1
{_ASK}
deactivate >/dev/null 2>&1
{_ASK}
"""


@dataclass(frozen=True, slots=True)
class ScopeProof:
    """Whether a real shell holds in the environment what was chosen, and what it held before once it has left it again."""

    holds: Fact[bool]
    words: Text


def provable(scope: Scope) -> bool:
    """Whether a shell can be asked: the others are read by programs that gpuassist does not start."""
    return scope.kind in {Kind.CONDA, Kind.VENV}


def prove_scope(world: World, scope: Scope, held: Held) -> ScopeProof:
    """Asks bash, from an otherwise empty environment."""
    mark = f"gpuassist-{secrets.token_hex(8)}"
    script = _CONDA if scope.kind is Kind.CONDA else _VENV
    around = world.surroundings
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": around.home,
        "USER": around.user,
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
    }
    command = ("bash", "--noprofile", "--norc", "-c", script, "bash", mark, scope.place)
    outcome = world.processes.run(command, seconds=_SECONDS, environment=environment)
    states = [_state(part) for part in outcome.stdout.decode("utf-8", "surrogateescape").split(f"{mark}\0")[:-1]]
    if outcome.ending is not Ending.EXITED or len(states) != len(("before", "inside", "after")):
        reason = outcome.words or outcome.stderr.decode("utf-8", "replace").strip() or outcome.ending.value
        unknown = text("bash could not enter and leave {place}: {reason}", place=scope.place, reason=reason)
        return ScopeProof(Unknown(unknown), unknown)
    return _judged(states[0], states[1], states[2], held)


def _judged(before: Mapping[str, str], inside: Mapping[str, str], after: Mapping[str, str], held: Held) -> ScopeProof:
    for name, value in held.variables:
        if inside.get(name) != value:
            return _no(text("in the environment {name} is {value}", name=name, value=inside.get(name) or "''"))
    for name, directory in held.lists:
        if inside.get(name, "").split(":")[0] != directory:
            return _no(text("in the environment {directory} is not the first on {name}", directory=directory, name=name))
    left = next((name for name in _NAMES if before.get(name) != after.get(name)), "")
    if left:
        return _no(text("leaving the environment did not put {name} back: it is {value}", name=left, value=after.get(left) or "''"))
    if held == Held():
        words = text("bash enters the environment, and nothing is chosen there")
    else:
        chosen = ", ".join(f"{name}={value}" for name, value in held.variables)
        words = text("bash finds {chosen} in the environment, and everything as before once it has left it", chosen=chosen)
    return ScopeProof(Known(value=True, source="bash"), words)


def _no(words: Text) -> ScopeProof:
    return ScopeProof(Known(value=False, source="bash"), words)


def _state(part: str) -> dict[str, str]:
    found = (row.split("=", 1) for row in part.split("\0") if "=" in row)
    return {name: value for name, value in found if name in _NAMES}
