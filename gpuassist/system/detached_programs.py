"""Programs that are the user's once they run: they are started, let go of, and outlive us."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

_SECONDS = 5.0


def start_detached(command: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Starts it as a child of nobody here, and says whether that went well as far as can be told."""
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", '"$@" &', "sh", *command],
            env=dict(environment),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
