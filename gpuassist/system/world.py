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
    from gpuassist.system.streams import NotStarted, Program, Programs, Stream, Streams


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
        from gpuassist.system.child import run

        return run(command, seconds=seconds, environment=environment, directory=directory, stdin=stdin, cancelled=cancelled)


class RealStreams:
    """See `streams.Streams`."""

    def start(
        self, command: Sequence[str], *, environment: Mapping[str, str], directory: str = "/", given: bytes = b""
    ) -> Stream | NotStarted:
        from gpuassist.system.child import stream, stream_through

        return stream_through(command, environment, directory, given) if given else stream(command, environment, directory)


class RealPrograms:
    """See `streams.Programs`."""

    def start(self, command: Sequence[str], *, environment: Mapping[str, str], directory: str, mark: str) -> Program | NotStarted:
        from gpuassist.system.child import program

        return program(command, environment, directory, mark)

    def marked(self, mark: str) -> tuple[int, ...]:
        from gpuassist.system.stop_process import marked

        return marked(mark)

    def end_marked(self, mark: str) -> int:
        from gpuassist.system.stop_process import end_marked

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
