"""The ports that run programs, as the operating system does: what they need is imported when the first program is run.

A sample of the GPUs and most of the window's start run none, and `subprocess` with the values around it costs 8 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuassist.system.processes import Outcome
    from gpuassist.system.programs import Program
    from gpuassist.system.streams import NotStarted, Stream


class RealProcesses:
    """See `processes.Processes`."""

    def run(
        self,
        command: Sequence[str],
        *,
        seconds: float,
        environment: Mapping[str, str],
        directory: str = "/",
        stdin: bytes = b"",
        cancelled: Callable[[], bool] | None = None,
    ) -> Outcome:
        """See `processes.Processes.run`."""
        from gpuassist.system.running import run

        return run(command, seconds=seconds, environment=environment, directory=directory, stdin=stdin, cancelled=cancelled)


class RealStreams:
    """See `streams.Streams`."""

    def start(self, command: Sequence[str], *, environment: Mapping[str, str], directory: str = "/") -> Stream | NotStarted:
        """Starts `command`, in which `streams.DESCRIPTOR` stands for the number to report on; whoever starts it must `end` it."""
        from gpuassist.system.streaming import start

        return start(command, environment, directory)


class RealPrograms:
    """See `programs.Programs`."""

    def start(self, command: Sequence[str], *, environment: Mapping[str, str], directory: str, mark: str) -> Program | NotStarted:
        """Starts `command`; whoever starts it must `end` it."""
        from gpuassist.system.program_running import start

        return start(command, environment, directory, mark)

    def marked(self, mark: str) -> tuple[int, ...]:
        """The processes of this user that carry the mark."""
        from gpuassist.system.marked import marked

        return marked(mark)

    def end_marked(self, mark: str) -> int:
        """Ends them, and says how many there were."""
        from gpuassist.system.marked import end_marked

        return end_marked(mark)
