"""What `make package-test` looks at, and a display to look at it on."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DIST = Path(os.environ.get("GPUASSIST_DIST", ROOT / "dist"))
ROOTS = Path(os.environ.get("GPUASSIST_ROOTS", ROOT / ".cache" / "roots"))


def only(pattern: str) -> Path:
    """The one thing of that name that `make package` made."""
    found = sorted(DIST.glob(pattern))
    if not found:
        pytest.skip(f"NOT RUN: there is no {DIST}/{pattern}: `make package` makes it, the application in one folder only as root")
    return found[-1]


def program(name: str) -> str:
    """A program of the system."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"NOT RUN: {name} is not installed")
    return found


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """An environment in which nothing is the developer's own."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "UV_")) or name == "PATH"}
    return {**kept, "HOME": str(home), "LANG": "C.UTF-8", "SHELL": "/bin/bash"}


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """The name of an X display of its own."""
    reader, writer = os.pipe()
    # -noreset: without it the server starts anew, and lets nobody in, whenever the last window has gone
    command = [program("Xvfb"), "-displayfd", str(writer), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-ac", "-noreset"]
    with subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL) as server:
        try:
            yield f":{os.read(reader, 16).decode().strip()}"
        finally:
            server.terminate()


@pytest.fixture
def left_files(tmp_path: Path) -> Path:
    """A directory with what programs leave: a memory snapshot, a trace, a profile, an export of Nsight Systems."""
    import cProfile
    import pickle
    import sqlite3

    from tests.formats.made_traces import steps, trace
    from tests.snapshots import training

    (tmp_path / "peak.pickle").write_bytes(pickle.dumps(training(16, leaks=True).told))
    (tmp_path / "trace.json").write_bytes(trace(steps(3)))
    profile = cProfile.Profile()
    profile.runcall(sorted, range(1000))
    profile.dump_stats(tmp_path / "run.prof")
    export = sqlite3.connect(tmp_path / "run.sqlite")
    export.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, shortName INT)")
    export.execute("CREATE TABLE StringIds (id INT, value TEXT)")
    export.execute("INSERT INTO StringIds VALUES (1, 'gemm')")
    export.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 1)", [(1000 * n, 1000 * n + 500) for n in range(100)])
    export.commit()
    export.close()
    return tmp_path
