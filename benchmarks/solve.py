"""What a look before a step costs beside the tool's own time, in an environment of 300 packages of which 60 ask for torch."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.timing import report
from gpuassist.context import Session
from gpuassist.install.preview import look_before
from gpuassist.model.plan import Step
from gpuassist.system.processes import ProcessResult
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import RealProcesses, World
from tests.solving import Place
from tests.values import Recipe, machine
from tests.wheels import Wheel, torch

MOST_MILLISECONDS = 200.0
_PACKAGES = 300
_RUNS = 5


class _Timed(RealProcesses):
    """Counts how long its programs took."""

    def __init__(self) -> None:
        self.seconds = 0.0

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
        began = time.perf_counter()
        outcome = super().run(command, seconds=seconds, environment=environment, directory=directory, cancelled=cancelled)
        self.seconds += time.perf_counter() - began
        return outcome


def main() -> bool:
    """pip and uv exchange a torch, once it is taken out; the shortest of several runs counts."""
    with tempfile.TemporaryDirectory() as root:
        place = Place(Path(root))
        place.offers(torch("2.9.1+cu128"), Wheel("nvidia-cuda-runtime-cu12", "12.8.90"))
        place.has(torch("2.8.0+cu126"), *map(_package, range(_PACKAGES)))
        programs = ("uninstall torch", "install torch==2.9.1")
        measured = {tool: min(_once(place, place.by(tool, *programs)) for _ in range(_RUNS)) for tool in ("uv", "pip")}
    detail = ", ".join(f"{tool} {own:.0f} ms beside its own {theirs:.0f}" for tool, (own, theirs) in measured.items())
    slowest = max(own for own, _ in measured.values())
    return report("look before a step beside the tool's own time, in milliseconds", slowest, MOST_MILLISECONDS, detail)


def _package(number: int) -> Wheel:
    asks = tuple(f"package-{number + step}>=0.{step}; python_version >= '3.8'" for step in range(1, 10))
    return Wheel(f"package-{number}", "1.0", (*asks, "torch>=2.0") if number % 5 == 0 else asks)


def _once(place: Place, step: Step) -> tuple[float, float]:
    """Milliseconds that are ours, and the tool's."""
    processes = _Timed()
    session = place.session
    around = Surroundings(str(place.home), "you", 1000, place.variables, str(place.home))
    began = time.perf_counter()
    look_before(Session(World(around, processes=processes), session.knowledge, session.words), machine(Recipe()), step)
    return (time.perf_counter() - began - processes.seconds) * 1000, processes.seconds * 1000
