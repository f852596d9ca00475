"""What tests of verifying share."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gpuassist.model.verdict import Verification
from gpuassist.system.clock import Clock
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.verify.protocol import Event
from gpuassist.verify.runner import Level, Limits, RunRequest, run
from tests.torch_environment import CHILD, ReadyTorch, surroundings

Run = Callable[..., Verification]
Corrupted = Callable[..., dict[str, Any]]
PROJECT = str(Path(__file__).resolve().parents[2])


@pytest.fixture(scope="session")
def ready_torch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReadyTorch]:
    """One interpreter with torch for all doctored runs."""
    ready = ReadyTorch(tmp_path_factory.mktemp("torch"))
    yield ready
    ready.end()


@pytest.fixture
def corrupted(ready_torch: ReadyTorch, tmp_path: Path) -> Corrupted:
    """What `corrupting.passed` finds of families of checks, asked with torch; once a test."""

    def ask(*families: str, **how: Any) -> dict[str, Any]:
        code = f"""
sys.path.insert(0, {PROJECT!r})
from tests.verify import corrupting
checks = [check for family in {families!r} for check in corrupting.families()[family]]
print(json.dumps(corrupting.passed(checks, **{how!r})))
"""
        python = ready_torch.runs(tmp_path, code)
        done = subprocess.run([python, CHILD, "1"], capture_output=True, text=True, check=True, timeout=100)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return ask


@pytest.fixture
def verified() -> Run:
    """Runs the child script, or what stands in for it, to the end; `heard` collects the events."""

    def verify(
        interpreter: str,
        *,
        devices: tuple[str, ...] = ("all",),
        level: Level = Level.QUICK,
        limits: Limits | None = None,
        heard: list[Event] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        variables: Mapping[str, str] | None = None,
        clock: Clock | None = None,
    ) -> Verification:
        events: list[Event] = [] if heard is None else heard
        request = RunRequest(interpreter, variables or surroundings(), devices, level, limits)
        world = World(Surroundings.current(), clock=clock or Clock())
        return run(world, request, on_event=events.append, cancelled=cancelled)

    return verify
