"""The command lines with which a container engine starts the child in an image, or in one that runs, with the GPUs passed."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from gpuassist.model.text import Text, text
from gpuassist.verify.bundle import script


class Engine(str, Enum):
    """A container engine, by the name of its program."""

    DOCKER = "docker"
    PODMAN = "podman"
    APPTAINER = "apptainer"


PROGRAMS: Mapping[Engine, tuple[str, ...]] = {
    Engine.DOCKER: ("docker",),
    Engine.PODMAN: ("podman",),
    Engine.APPTAINER: ("apptainer", "singularity"),
}
CONTAINER = "container"
_MANAGE_CONTAINERS = (Engine.DOCKER, Engine.PODMAN)


class Place(Struct, frozen=True):
    """Where to verify: `kind` is an engine's name with an image (a file, for apptainer) or `container` with one that runs."""

    kind: str
    name: str

    @property
    def label(self) -> str:
        """As the user writes it."""
        return f"{self.kind}:{self.name}"

    @property
    def engines(self) -> tuple[Engine, ...]:
        """Those that could know it."""
        return _MANAGE_CONTAINERS if self.kind == CONTAINER else (Engine(self.kind),)


class NoPlaceError(ValueError):
    """Words that name no image and no container; `reason` says what would."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


def place_of(words: str) -> Place:
    """The place that `docker:IMAGE`, `podman:IMAGE`, `apptainer:FILE` or `container:NAME` names; raises `NoPlaceError`."""
    kind, colon, name = words.partition(":")
    kinds = (*(engine.value for engine in Engine), CONTAINER)
    if not colon or kind not in kinds:
        raise NoPlaceError(
            text("{words} names no image: write docker:IMAGE, podman:IMAGE, apptainer:FILE or container:NAME", words=words)
        )
    # What begins with a dash would be an option of the engine.
    if not name or name.startswith("-") or not name.isprintable() or (kind != Engine.APPTAINER.value and " " in name):
        raise NoPlaceError(text("{words} names no image and no container", words=words))
    if kind == Engine.APPTAINER.value and "://" in name:
        raise NoPlaceError(text("{name} would be fetched: fetch it with apptainer pull, and name the file", name=name))
    return Place(kind, name)


class Passing(str, Enum):
    """How GPUs are given to a container."""

    NONE = "none"
    GPUS = "gpus"  # docker's own option
    CDI = "cdi"
    NV = "nv"  # apptainer's
    THERE = "there"  # a container that runs has what it was started with


def passings(engine: Engine, place: Place, *, wanted: bool) -> tuple[Passing, ...]:
    """The ways to try, one after another: a docker that is set up with CDI alone knows no other, one before 25 knows no CDI."""
    if place.kind == CONTAINER:
        return (Passing.THERE,)
    if not wanted:
        return (Passing.NONE,)
    ways = {Engine.DOCKER: (Passing.GPUS, Passing.CDI), Engine.PODMAN: (Passing.CDI,), Engine.APPTAINER: (Passing.NV,)}
    return ways[engine]


class Inside(Struct, frozen=True):
    """How the child is started there: by which program, with the GPUs passed in which way; `chosen` are UUIDs, empty for all."""

    engine: Engine
    program: str
    place: Place
    passing: Passing
    chosen: tuple[str, ...] = ()

    def command(self, mark: str, request: str) -> tuple[tuple[str, ...], bytes]:
        """The command line, and what its standard input is given."""
        run = script(request)
        return (self.program, *self._before(mark), *run.words), run.given

    def end_command(self, mark: str) -> tuple[str, ...]:
        """What ends it where its client had to be killed; empty where that is done by the end of its input alone."""
        if self.place.kind == CONTAINER or self.engine is Engine.APPTAINER:
            return ()
        return (self.program, "rm", "--force", _name(mark))

    def _before(self, mark: str) -> tuple[str, ...]:
        # CDI names a GPU by its UUID only where its list was written so, and apptainer passes all: CUDA itself chooses among them.
        visible = ("--env", f"CUDA_VISIBLE_DEVICES={','.join(self.chosen)}") if self.chosen else ()
        if self.place.kind == CONTAINER:
            return ("exec", "--interactive", *visible, self.place.name, "sh")
        if self.engine is Engine.APPTAINER:
            return ("exec", *_PASSED.get(self.passing, ()), *visible, self.place.name, "sh")
        # No network, and nothing of this machine but the GPUs. The name is what ends it; NCCL needs more shared memory than 64 MB
        # (NCCL user guide, troubleshooting, "Shared memory").
        run = ("run", "--interactive", "--rm", "--name", _name(mark), "--pull=never", "--network=none", "--shm-size=1g")
        # Without its labels a container may open the GPUs' nodes where SELinux rules (NVIDIA's page on podman and CDI).
        labels = ("--security-opt=label=disable",) if self.engine is Engine.PODMAN else ()
        return (*run, *labels, *self._passed(), *visible, "--entrypoint=sh", self.place.name)

    def _passed(self) -> tuple[str, ...]:
        if self.passing is Passing.GPUS and self.chosen:
            return ("--gpus", f'"device={",".join(self.chosen)}"')  # a line of CSV: the quotes keep its commas together
        return _PASSED.get(self.passing, ())


_PASSED: Mapping[Passing, tuple[str, ...]] = {
    Passing.GPUS: ("--gpus", "all"),
    Passing.CDI: ("--device=nvidia.com/gpu=all",),
    Passing.NV: ("--nv",),
}


def _name(mark: str) -> str:
    return f"gpuassist-verify-{mark}"
