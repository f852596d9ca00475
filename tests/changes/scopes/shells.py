"""Runs lines in a real shell with an environment of the test's own, and reads what its programs get where that is asked for."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

WATCHED = ("PATH", "CUDA_HOME", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
SHELLS = {
    "bash": ("bash", "--noprofile", "--norc", "-c"),
    "zsh": ("zsh", "-f", "-c"),
    "dash": ("dash", "-c"),
    "fish": ("fish", "--no-config", "-c"),
}
BASE = {"PATH": "/usr/bin:/bin", "HOME": "/dev/null/nowhere", "LC_ALL": "C.UTF-8", "TERM": "dumb"}


def states(shell: str, script: str, environment: Mapping[str, str] | None = None) -> list[dict[str, str]]:
    """What the environment of a program is at each `@` of the script; fails for anything that the shell complains of."""
    given = {**BASE, **(environment or {})}
    command = (*SHELLS[shell], script.replace("@", "env -0; printf 'END\\0'"))
    done = subprocess.run(command, env=given, capture_output=True, timeout=100, check=False, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stderr.decode()) == (0, ""), script
    return [_variables(part) for part in done.stdout.decode().split("END\0")[:-1]]


def watched(state: Mapping[str, str]) -> dict[str, str]:
    """The variables that a choice is about, those that are set."""
    return {name: state[name] for name in WATCHED if name in state}


def ours(state: Mapping[str, str]) -> list[str]:
    """Names of ours that are left in a program's environment."""
    return sorted(name for name in state if "gpuassist" in name.lower())


def _variables(part: str) -> dict[str, str]:
    pairs = (row.split("=", 1) for row in part.split("\0") if "=" in row)
    return {name: value for name, value in pairs if name not in {"_", "SHLVL", "PWD", "OLDPWD"}}
