"""Small real implementations of the ports, for tests: scripted programs, a fixed clock, a world under a directory."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from gpuassist.system.clock import Clock
from gpuassist.system.files import Files
from gpuassist.system.processes import Ending, Processes, ProcessResult
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World


@dataclass
class ScriptedProcesses:
    """Answers each command line (its words joined by a space) with its text; an unknown one is not found."""

    answers: dict[str, str | ProcessResult | Callable[[], ProcessResult]] = field(default_factory=dict)
    asked: list[tuple[str, ...]] = field(default_factory=list)

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
        self.asked.append(tuple(command))
        answer = self.answers.get(" ".join(command))
        if answer is None:
            return ProcessResult(Ending.NOT_FOUND, 0, b"", b"", 0.0, f"not found: {command[0]}")
        if isinstance(answer, str):
            return ProcessResult(Ending.EXITED, 0, answer.encode(), b"", 0.0)
        return answer if isinstance(answer, ProcessResult) else answer()


class FixedClock(Clock):
    """A clock that stands until it is moved."""

    def __init__(self, moment: datetime = datetime(2026, 11, 21, 9, 0, tzinfo=timezone.utc)) -> None:
        self.moment = moment
        self.ticks = 100.0

    def now(self) -> datetime:
        return self.moment

    def epoch(self) -> float:
        return self.moment.timestamp()

    def monotonic(self) -> float:
        return self.ticks

    def since_boot(self) -> float:
        return self.ticks


class TimeThatRunsOut:
    """Stands in for `time` in a module: its limits are passed as soon as something has happened, and not before."""

    def __init__(self, happened: Callable[[], bool]) -> None:
        self._happened = happened

    def monotonic(self) -> float:
        return time.monotonic() + (1_000_000 if self._happened() else 0)


def world_under(
    root: Path, *, processes: Processes | None = None, variables: Mapping[str, str] | None = None, home: str = "/home/you"
) -> World:
    """A world whose files lie under `root` and whose programs are scripted."""
    return World(
        Surroundings(home, "you", 1000, dict(variables or {"PATH": "/usr/bin:/bin"}), home, "/bin/bash"),
        Files(str(root)),
        processes or ScriptedProcesses(),
        FixedClock(),
        Resources(),
    )


def put(root: Path, path: str, content: str | bytes = "", *, mode: int = 0o644) -> Path:
    """Writes one file of a made-up machine."""
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.encode() if isinstance(content, str) else content)
    place.chmod(mode)
    return place


def link(root: Path, path: str, to: str) -> Path:
    """Makes one symlink of a made-up machine, its target as written."""
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(to)
    return place
