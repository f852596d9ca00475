"""The second environment, with a real torch, that `make test` makes; and ways to doctor that torch for one test."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import textwrap
from pathlib import Path

import pytest

from gpuassist.verify.runner import CHILD

PLACE = Path(__file__).resolve().parent.parent / ".venv-torch" / "bin" / "python"
NO_TORCH = "NOT RUN: needs torch in .venv-torch, which `make test` installs"


def torch_file(name: str) -> Path | None:
    """A file of its torch, none where that is not installed."""
    return next(PLACE.parent.parent.glob(f"lib/python3*/site-packages/torch/{name}"), None)


def torch_python() -> str:
    """Its interpreter; skips the test where it is not there."""
    if torch_file("version.py") is None:
        pytest.skip(NO_TORCH)
    return str(PLACE)


def program(place: Path, lines: str) -> str:
    """An executable shell script that stands in for an interpreter: it is started with the child script and its arguments."""
    place.write_text(f"#!/bin/sh\n{lines}\n", "utf-8")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return str(place)


def interpreter_that_runs(folder: Path, python: str, code: str) -> str:
    """An interpreter that runs `code` instead of the child script; `sys.argv` is [child, descriptor, devices, level], and
    `say(line)` writes to the descriptor.
    """
    return program(folder / "python", f'exec "{python}" -I "{_script(folder, code)}" "$@"')


def _script(folder: Path, code: str) -> Path:
    script = folder / "instead.py"
    head = """\
        import json, os, sys, time
        sys.argv = sys.argv[1:]
        def say(line):
            os.write(int(sys.argv[1]), line if isinstance(line, bytes) else json.dumps(line).encode() + b"\\n")
        """
    script.write_text(textwrap.dedent(head) + textwrap.dedent(code), "utf-8")
    return script


def doctored_torch(folder: Path, code: str) -> str:
    """The real torch with `code` run after its import and before the child script."""
    return interpreter_that_runs(folder, torch_python(), _doctored(code))


def _doctored(code: str) -> str:
    return f"import torch\n{textwrap.dedent(code)}\nimport runpy\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"


# For each line that it reads it forks, and the fork becomes the process that sent the line: its output, its descriptor, its words.
# It leaves without taking torch apart, which takes half a second.
_READY = """
import os, runpy, sys, torch
with open(os.open(sys.argv[1], os.O_RDWR)) as requests:
    for line in requests:
        pid, script, reply, *words = line.rstrip("\\n\\t").split("\\t")
        fork = os.fork()
        if not fork:
            break
        status = os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])
        os.write(os.open(reply, os.O_RDWR), b"%d\\n" % (status if status >= 0 else 128 - status))
for number in {1, 2, int(words[1])}:
    os.dup2(os.open(f"/proc/{pid}/fd/{number}", os.O_WRONLY), number)
sys.argv, status = [script, *words], 0
try:
    runpy.run_path(script, run_name="__main__")
except SystemExit as end:
    status = end.code or 0
sys.stdout.flush()
os._exit(status)
"""


class ReadyTorch:
    """An interpreter that has imported torch once, which takes two seconds, and of which every run is a fork."""

    def __init__(self, folder: Path) -> None:
        self._requests = folder / "requests"
        os.mkfifo(self._requests)
        self._server = subprocess.Popen(
            [torch_python(), "-I", "-c", _READY, self._requests],
            env=surroundings(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def runs(self, folder: Path, code: str) -> str:
        """As `interpreter_that_runs` makes one; for runs that end by themselves."""
        script, reply = _script(folder, code), folder / "reply"
        os.mkfifo(reply)
        # In a process of its own: this shell's standard output must at no time be the requests, or the fork would write there.
        lines = f"""(printf '%s\\t' "$$" "{script}" "{reply}" "$@"; echo) >"{self._requests}"
read -r status <"{reply}"
exit "$status"
"""
        return program(folder / "python", lines)

    def doctored(self, folder: Path, code: str) -> str:
        """As `doctored_torch` makes one; for runs that end by themselves."""
        return self.runs(folder, _doctored(code))

    def end(self) -> None:
        """With all that still runs of it."""
        os.killpg(self._server.pid, signal.SIGKILL)
        self._server.wait()


def surroundings() -> dict[str, str]:
    """The variables of this process, with one thread for torch, so that tests beside this one are not slowed, and without a
    compiler: to build an extension takes a quarter of a minute.
    """
    return {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "CXX": "no-compiler"}


__all__ = [
    "CHILD",
    "NO_TORCH",
    "ReadyTorch",
    "doctored_torch",
    "interpreter_that_runs",
    "program",
    "surroundings",
    "torch_file",
    "torch_python",
]
