"""What tests of verifying share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from gpuassist.model.verdict import Verification
from gpuassist.system.clock import Clock
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.verify.protocol import Event
from gpuassist.verify.runner import Level, Limits, RunRequest, run
from tests.torch_environment import ReadyTorch, surroundings

Run = Callable[..., Verification]


@pytest.fixture(scope="session")
def ready_torch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReadyTorch]:
    """One interpreter with torch for all doctored runs."""
    ready = ReadyTorch(tmp_path_factory.mktemp("torch"))
    yield ready
    ready.end()


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
