"""The outside world as one value that `app.py` makes and hands to whoever needs it; tests make their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from gpuassist.system.clock import Clock
from gpuassist.system.disk import Disk
from gpuassist.system.files import Files
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings

if TYPE_CHECKING:
    from gpuassist.system.processes import Processes, ProcessResult
    from gpuassist.system.programs import Program, Programs
    from gpuassist.system.streams import NotStarted, Stream, Streams


# The ports that run programs, as the operating system does: what they need is imported when the first program is run. A sample of
# the GPUs and most of the window's start run none, and `subprocess` with the values around it costs 8 ms.


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
    ) -> ProcessResult:
        """See `processes.Processes.run`."""
        from gpuassist.system.run import run

        return run(command, seconds=seconds, environment=environment, directory=directory, stdin=stdin, cancelled=cancelled)


class RealStreams:
    """See `streams.Streams`."""

    def start(self, command: Sequence[str], *, environment: Mapping[str, str], directory: str = "/") -> Stream | NotStarted:
        """Starts `command`, in which `streams.DESCRIPTOR` stands for the number to report on; whoever starts it must `end` it."""
        from gpuassist.system.stream_running import start

        return start(command, environment, directory)


class RealPrograms:
    """See `programs.Programs`."""

    def start(self, command: Sequence[str], *, environment: Mapping[str, str], directory: str, mark: str) -> Program | NotStarted:
        """Starts `command`; whoever starts it must `end` it."""
        from gpuassist.system.program_running import start

        return start(command, environment, directory, mark)

    def marked(self, mark: str) -> tuple[int, ...]:
        """The processes of this user that carry the mark."""
        from gpuassist.system.process_marks import marked

        return marked(mark)

    def end_marked(self, mark: str) -> int:
        """Ends them, and says how many there were."""
        from gpuassist.system.process_marks import end_marked

        return end_marked(mark)


class World(Struct, frozen=True):
    """The ports that stages use instead of `os`, `subprocess` and `time`."""

    surroundings: Surroundings
    files: Files = field(default_factory=Files)
    processes: Processes = field(default_factory=RealProcesses)
    clock: Clock = field(default_factory=Clock)
    resources: Resources = field(default_factory=Resources)
    disk: Disk = field(default_factory=Disk)
    streams: Streams = field(default_factory=RealStreams)
    programs: Programs = field(default_factory=RealPrograms)
