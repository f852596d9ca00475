"""A gpuassist that is killed at a given moment of an install, which the tests run as a program of its own.

`python -m tests.install.dying` reads lines of JSON, [HOME, DIRECTORY, MOMENT]; for each a process takes the steps of the install
that waits there, or of a new one, and how it ended is printed. MOMENT is `never`, or the number of the write to disk before which
it is killed, or `in:N`: while step N runs.

The processes are forks of this one: to import what they need takes longer than what they do.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from pathlib import Path

from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.formats.terminal_output import Printed
from gpuassist.install.execution import take
from gpuassist.install.records import Install, lock
from gpuassist.install.resume import next_step, open_install, recheck
from gpuassist.model.plan import Proves, Step, StepProof
from gpuassist.system.disk import Disk
from tests.install.installs_made import begun, script, session_at


class MortalDisk(Disk):
    """Kills the process before the given step of writing."""

    def __init__(self, moment: str) -> None:
        self._left = int(moment) if moment.isdigit() else -1

    def _step(self) -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1

    def create(self, path: str, mode: int = 0o600) -> None:
        self._step()
        super().create(path, mode)

    def write(self, path: str, content: bytes) -> None:
        self._step()
        super().write(path, content)

    def replace(self, path: str, target: str) -> None:
        self._step()
        super().replace(path, target)


def steps(directory: Path) -> tuple[Step, ...]:
    """Each makes a directory of its own, says how often it was run, and takes its time in the middle."""
    return tuple(_step(directory, number) for number in range(3))


def _step(directory: Path, number: int) -> Step:
    made = directory / f"made-{number}"
    source = (
        f"import os, time\nopen({str(directory / f'runs-{number}')!r}, 'a').write('x')\nos.mkdir({str(made)!r})\n"
        f"print('in the middle', flush=True)\ntime.sleep(0.05)\n"
        f"os.mkdir({str(made / 'bin')!r})\nos.symlink({sys.executable!r}, {str(made / 'bin' / 'python')!r})"
    )
    return script(source, creates=str(made), proof=StepProof(Proves.ENVIRONMENT, str(made)))


def main(home: Path, directory: Path, moment: str) -> None:
    """Takes the steps, as far as it lives."""
    session = session_at(home)
    session = replace(session, world=replace(session.world, disk=MortalDisk(moment)))
    with lock(session.world):
        found = open_install(session.world)
        install = recheck(session, found) if found is not None else begun(session, *steps(directory), directory=str(directory))
        while (number := next_step(install)) is not None:
            install = _take(session, install, number, moment)


def _take(session: Session, install: Install, number: int, moment: str) -> Install:
    def on_line(line: Printed) -> None:
        if moment == f"in:{number}":
            os.kill(os.getpid(), signal.SIGKILL)

    install, done = take(session, install, number, on_line=on_line, cancelled=lambda: False)
    assert done.ending.value == "done", session.words(done.words)
    return install


def _forked(home: Path, directory: Path, moment: str) -> int:
    """The status of the process; less than 0 where a signal ended it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        main(home, directory, moment)
    except BaseException:  # noqa: BLE001 -- nothing of it may come back to who reads the lines
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    for line in sys.stdin:
        at, beside, when = json.loads(line)
        sys.stdout.write(f"{_forked(Path(at), Path(beside), when)}\n")
        sys.stdout.flush()
