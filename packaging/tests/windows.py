"""A program's window on an X display: how long until it is there, and what it looks like."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from conftest import program

_SECONDS = 60.0


def shown_after(command: Sequence[str], environment: Mapping[str, str], display: str, picture: Path | None = None) -> float:
    """Seconds from its start until its window is mapped; with a picture of the screen once it has been drawn. Then it is ended."""
    seen = program("xdotool")
    around = {**environment, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    began = time.monotonic()
    with subprocess.Popen(command, env=around, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as started:
        try:
            while subprocess.run(
                [seen, "search", "--onlyvisible", "--name", "gpuassist"], env=around, capture_output=True
            ).returncode:
                assert started.poll() is None, started.communicate()[0].decode()
                assert time.monotonic() - began < _SECONDS, "no window"
            lasted = time.monotonic() - began
            if picture is not None:
                time.sleep(4)  # what it reads of the machine comes after the first paint
                subprocess.run([program("import"), "-display", display, "-window", "root", str(picture)], check=True)
        finally:
            started.terminate()
            with suppress(subprocess.TimeoutExpired):
                started.wait(10)
            started.kill()
    return lasted
