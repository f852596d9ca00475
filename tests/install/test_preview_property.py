"""What is told before is what is done then: small made-up indexes, really looked at and really installed from."""

from __future__ import annotations

import importlib.metadata
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gpuassist.model.fact import Unknown
from gpuassist.model.solve import DryRun
from tests.solving import Place, changes
from tests.wheels import Wheel

NAMES = ("alpha", "beta", "gamma", "delta-one", "torch")
VERSIONS = ("1.0", "1.1+cu128", "2.0", "2.1")


@dataclass(frozen=True)
class World:
    """What an index offers, what an environment holds, and what is asked of it."""

    offered: tuple[Wheel, ...]
    held: tuple[Wheel, ...]
    removed: tuple[str, ...]
    wanted: tuple[str, ...]

    @property
    def programs(self) -> tuple[str, ...]:
        removal = (f"uninstall {' '.join(self.removed)}",) if self.removed else ()
        return (*removal, f"install {' '.join(self.wanted)}")


def requirements(names: tuple[str, ...]) -> st.SearchStrategy[str]:
    limits = st.sampled_from(
        ("", "", ">=1.1", "<2", "==2.0", "!=2.1", ">=2; python_version < '3'", "==1.0; sys_platform == 'linux'")
    )
    return st.builds(lambda name, limit: name + limit, st.sampled_from(names), limits)


def wheels(name: str) -> st.SearchStrategy[Wheel]:
    others = requirements(tuple(one for one in NAMES if one != name))
    asks = st.lists(others, max_size=2, unique=True).map(tuple)
    return st.builds(lambda version, requires: Wheel(name, version, requires), st.sampled_from(VERSIONS), asks)


def several(name: str, least: int) -> st.SearchStrategy[list[Wheel]]:
    return st.lists(wheels(name), min_size=least, max_size=3, unique_by=lambda one: one.version)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    offered = tuple(one for name in NAMES for one in draw(several(name, 1)))
    names = draw(st.lists(st.sampled_from(NAMES), max_size=4, unique=True))
    held = tuple(draw(st.one_of(st.sampled_from([one for one in offered if one.name == name]), wheels(name))) for name in names)
    removed = tuple(draw(st.lists(st.sampled_from(names), max_size=2, unique=True))) if names else ()
    return World(offered, held, removed, tuple(draw(st.lists(requirements(NAMES), min_size=1, max_size=2, unique=True))))


def found(site: Path) -> dict[str, str]:
    """By what Python itself reads of the records."""
    packages = importlib.metadata.distributions(path=[str(site)])
    named = {one.metadata["Name"]: one.version for one in packages}
    return {name: version for name, version in named.items() if name != "pip"}


def checked(place: Place) -> bool:
    """Whether uv finds that all that is installed fits together."""
    command = ["uv", "pip", "check", "--python", place.python]
    return subprocess.run(command, env=place.variables, capture_output=True, timeout=100).returncode == 0


def told(looked: DryRun) -> dict[str, tuple[str, str]]:
    return {name: (before, after) for name, before, after in changes(looked) if before != after}


def done(before: dict[str, str], after: dict[str, str]) -> dict[str, tuple[str, str]]:
    every = {name: (before.get(name, ""), after.get(name, "")) for name in {*before, *after}}
    return {name: change for name, change in every.items() if change[0] != change[1]}


def holds(tool: str, world: World, root: Path) -> None:
    place = Place(root)
    place.offers(*world.offered)
    place.has(*world.held)
    step = place.by(tool, *world.programs)
    before, sound = found(place.site), checked(place)
    looked = place.look(step)
    assert found(place.site) == before
    taken = place.take(step)
    if isinstance(looked.solve, Unknown):
        assert taken.returncode != 0
        return
    assert taken.returncode == 0, taken.stderr
    assert told(looked) == done(before, found(place.site))
    if sound:
        assert bool(looked.stops) == (not checked(place))


EXCHANGE = World(
    offered=(Wheel("torch", "1.0"), Wheel("beta", "2.0", ("torch",)), Wheel("gamma", "1.0")),
    held=(Wheel("torch", "1.1+cu128"), Wheel("delta-one", "1.0"), Wheel("gamma", "1.0", ("delta-one",))),
    removed=("torch", "delta-one"),
    wanted=("beta!=2.1",),
)
LITTLE = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(LITTLE, max_examples=15)
@given(world=worlds())
@example(world=EXCHANGE)
def test_uv_does_what_was_told(world: World) -> None:
    with TemporaryDirectory() as root:
        holds("uv", world, Path(root))


@pytest.mark.slow
@settings(LITTLE, max_examples=2)
@given(world=worlds())
@example(world=EXCHANGE)
def test_pip_does_what_was_told(world: World) -> None:
    with TemporaryDirectory() as root:
        holds("pip", world, Path(root))
