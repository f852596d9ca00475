"""The process groups of programs that we started and that have not ended: none of them may outlive us."""

from __future__ import annotations

import os

under_way: set[int] = set()
_SIGKILL = 9  # without `signal`, whose enumerations cost every start a millisecond


def end_all() -> None:
    """Kills them. Ctrl-C and a closed window end us while a thread still waits for the user's shell, which hears of neither."""
    for pid in tuple(under_way):
        end_group(pid)


def end_group(pid: int) -> None:
    """Kills the process group that `pid` leads; one that is gone already is what was wanted."""
    try:
        os.killpg(pid, _SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
