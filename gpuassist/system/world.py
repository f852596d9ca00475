"""The outside world as one value that `app.py` makes and hands to whoever needs it; tests make their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpuassist.system.clock import Clock
from gpuassist.system.disk import Disk
from gpuassist.system.files import Files
from gpuassist.system.real import RealProcesses, RealPrograms, RealStreams
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings

if TYPE_CHECKING:
    from gpuassist.system.processes import Processes
    from gpuassist.system.programs import Programs
    from gpuassist.system.streams import Streams


@dataclass(frozen=True, slots=True)
class World:
    """The ports that stages use instead of `os`, `subprocess` and `time`."""

    surroundings: Surroundings
    files: Files = field(default_factory=Files)
    processes: Processes = field(default_factory=RealProcesses)
    clock: Clock = field(default_factory=Clock)
    resources: Resources = field(default_factory=Resources)
    disk: Disk = field(default_factory=Disk)
    streams: Streams = field(default_factory=RealStreams)
    programs: Programs = field(default_factory=RealPrograms)
