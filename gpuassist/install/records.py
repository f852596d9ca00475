"""Installs on record under XDG state: the goal, its steps, how far each came, in single writes that a crash cannot halve."""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager
from enum import Enum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.model.codec import DecodeError, Json, decode, encode
from gpuassist.model.json_reader import read_json
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.plan import Proves, Step
from gpuassist.model.text import verbatim
from gpuassist.model.words import ENGLISH, Words
from gpuassist.system.clock import iso
from gpuassist.system.disk import Disk
from gpuassist.system.ownership import require_own_state, strangers_home, why_state_untrusted, why_untrusted
from gpuassist.system.untrusted_state import UntrustedStateError
from gpuassist.system.world import World

SCHEMA = 1
_LOCK_SECONDS = 0.5
_NAME = "install.json"
_ID = lazy_regex(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")


class StepState(str, Enum):
    """How far a step came; `running` on record while nothing runs means that gpuassist was ended meanwhile."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TAKEN_BACK = "taken-back"


class InstallState(str, Enum):
    """Whether somebody still has to go on with it."""

    OPEN = "open"
    DONE = "done"
    GIVEN_UP = "given-up"
    TAKEN_BACK = "taken-back"


class StepRecord(Struct, frozen=True):
    """A step and what came of it. `boot` is the boot in which it was begun, `made` whether what it creates was not there before,
    `tries` how often it was begun: each try has a log of its own.
    """

    step: Step
    state: StepState = StepState.WAITING
    words: str = ""
    boot: str = ""
    made: bool = False
    tries: int = 0


class Install(Struct, frozen=True):
    """An install: `goal` in words, `goals` as they were typed, `directory` where its programs run, `boot` in which it was begun."""

    id: str
    made_at: str
    goal: str
    goals: tuple[str, ...]
    directory: str
    boot: str
    steps: tuple[StepRecord, ...]
    state: InstallState = InstallState.OPEN

    def with_step(self, number: int, record: StepRecord) -> Install:
        return replace(self, steps=(*self.steps[:number], record, *self.steps[number + 1 :]))


def root(world: World) -> str:
    """The directory that holds them."""
    return f"{world.surroundings.state()}/installs"


def place(world: World, install: Install) -> str:
    """The directory of one of them."""
    return f"{root(world)}/{install.id}"


def lock(world: World) -> AbstractContextManager[None]:
    """One install at a time; raises `BlockingIOError` where another gpuassist is at it, and `UntrustedStateError`: also for root in
    another user's home, where what is installed would lie beyond that user's reach.
    """
    stranger = strangers_home(world)
    if stranger is not None:
        raise UntrustedStateError(stranger)
    require_own_state(world, root(world))
    world.disk.make_directory(root(world))
    require_own_state(world, root(world))
    return world.disk.lock(f"{root(world)}/lock", _LOCK_SECONDS)


def boot_id(world: World) -> str:
    """Names the time since the machine was started; empty where the kernel does not say."""
    try:
        return world.files.read_text("/proc/sys/kernel/random/boot_id", 100).strip()
    except OSError:
        return ""


def begin(session: Session, goal: str, steps: tuple[Step, ...], *, goals: tuple[str, ...] = (), directory: str) -> Install:
    """Puts a new install on record, before anything of it is done."""
    world = session.world
    base = f"{world.clock.now():%Y%m%d-%H%M%S}"
    number, chosen = 1, base
    while world.disk.exists(f"{root(world)}/{chosen}"):
        number += 1
        chosen = f"{base}-{number}"
    records = tuple(StepRecord(_placed(_plain(one, session.words), directory)) for one in steps)
    made = Install(chosen, iso(world.clock.now()), goal, goals, directory, boot_id(world), records)
    world.disk.make_directory(place(world, made))
    save(world, made)
    return made


def save(world: World, install: Install) -> None:
    """Writes the record in one step: whoever reads it finds the old one or the new one."""
    write_whole(world.disk, f"{place(world, install)}/{_NAME}", (json.dumps(_encoded(install), indent=1) + "\n").encode())
    world.disk.flush(place(world, install))


def write_whole(disk: Disk, path: str, content: bytes, *, lasting: bool = True) -> None:
    """Writes a file beside it first: a crash leaves the one that was there, or the new one. Where that need not hold for a power
    cut as well, it is not `lasting`, and the disk is not waited for.
    """
    fresh = f"{path}.new"
    disk.remove(fresh)
    disk.create(fresh)
    disk.write(fresh, content)
    if lasting:
        disk.flush(fresh)
    disk.replace(fresh, path)


def installs(world: World) -> tuple[Install, ...]:
    """All on record, newest first; a damaged record is left out, and one that another user could have written."""
    found = (load(world, name) for name in reversed(world.disk.names(root(world))))
    return tuple(sorted((one for one in found if one is not None), key=lambda one: (one.made_at, one.id), reverse=True))


def load(world: World, install: str) -> Install | None:
    """The one of this id, where there is one that can be read."""
    # What is on record is run when an install is gone on with, so nobody else may have put it there.
    directory = f"{root(world)}/{install}"
    if not _ID.fullmatch(install) or why_state_untrusted(world, directory) is not None:
        return None
    try:
        content, status = world.disk.read_own(f"{directory}/{_NAME}")
        found = _decoded(read_json(content)) if why_untrusted(world, status) is None else None
        return found if found is not None and found.id == install else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, DecodeError, RecursionError):
        return None


def _plain(step: Step, words: Words) -> Step:
    """The step with its words as they were read, so that they come back from the record as they are."""
    check = verbatim(words(step.check)) if step.check is not None else None
    return replace(step, text=verbatim(words(step.text)), check=check, edit=None)


def _placed(step: Step, directory: str) -> Step:
    """The step with places that mean the same wherever it is gone on with; its programs run in `directory` and keep their words."""
    run, proof = step.run, step.proof
    if run is not None:
        environment, interpreter, creates = (_absolute(one, directory) for one in (run.environment, run.interpreter, run.creates))
        run = replace(run, environment=environment, interpreter=interpreter, creates=creates)
    if proof is not None and proof.proves is not Proves.DRIVER:  # of a driver it is the flavour
        proof = replace(proof, place=_absolute(proof.place, directory))
    return replace(step, run=run, proof=proof)


def _absolute(path: str, directory: str) -> str:
    return os.path.normpath(os.path.join(directory, path)) if path else ""


def _encoded(install: Install) -> Json:
    """The record, in which a step and what came of it are one object; an edit is never on record, for the journal has it."""
    document: Any = encode(install, ENGLISH)
    steps = document.pop("steps")
    for one in steps:
        step = one.pop("step")
        del step["edit"]
        one.update(step)
    return {"schema": SCHEMA, **document, "steps": steps}


_WRITTEN = {*Install.__struct_fields__, "schema"}
_STEP_WRITTEN = {*StepRecord.__struct_fields__, *Step.__struct_fields__} - {"step", "edit"}


def _decoded(document: Any) -> Install | None:
    """Nothing has a default here: a step whose state was lost is not one that waits."""
    if document["schema"] != SCHEMA or not document.keys() >= _WRITTEN:
        return None
    if not all(one.keys() >= _STEP_WRITTEN for one in document["steps"]):
        return None
    document["steps"] = [{**one, "step": {**one, "edit": None}} for one in document["steps"]]
    install: Install = decode(Install, document)
    return install
