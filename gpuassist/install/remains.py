"""What installs on record have left, and how each is taken away: by its way back, or by lines that the user copies."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.install import records
from gpuassist.install.records import Install, InstallState, StepRecord, StepState
from gpuassist.install.rollback import BackStep, plan_back
from gpuassist.knowledge.families import Family
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.plan import StepKind
from gpuassist.model.text import Text
from gpuassist.system.world import World

_TAKEN = {StepState.DONE, StepState.FAILED, StepState.CANCELLED, StepState.RUNNING}
_THEIRS = {StepKind.COMMAND, StepKind.ROOT_COMMAND}
_PACKAGE = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9+._:@-]*")
_REMOVES = {
    "apt": ("system-packages-remove", Family.DEBIAN),
    "apt-get": ("system-packages-remove", Family.DEBIAN),
    "dnf": ("system-packages-remove", Family.FEDORA),
    "zypper": ("system-packages-remove", Family.OPENSUSE),
    "pacman": ("system-packages-remove", Family.ARCH),
    "rpm-ostree": ("system-packages-remove-layered", Family.FEDORA),
    "transactional-update": ("system-packages-remove-snapshot", Family.OPENSUSE),
}


class ByHand(Struct, frozen=True):
    """A step that the user took: the lines that were to be run, and those that take away what these installed, as far as known."""

    text: Text
    commands: tuple[str, ...]
    removes: tuple[str, ...] = ()
    needs_root: bool = False


class InstallRemains(Struct, frozen=True):
    """What is left of an install: what gpuassist takes back (the last step first), and what the user did by hand. `unknown` says
    why the way back could not be told.
    """

    install: Install
    back: tuple[BackStep, ...] = ()
    by_hand: tuple[ByHand, ...] = ()
    unknown: Text | None = None

    @property
    def needs_record(self) -> bool:
        """Whether what is on record is what takes it back."""
        return bool(self.back) or self.unknown is not None


def remains(session: Session, install: Install, *, unknown: Text | None = None) -> InstallRemains | None:
    """What is left of it; none where nothing is. Its environments are asked what they hold, so nobody else may be at an install:
    with `unknown` that says why they are not.
    """
    by_hand = tuple(_by_hand(session, install))
    if unknown is not None:
        begun = any(one.step.run is not None and one.state in _TAKEN for one in install.steps)
        return InstallRemains(install, (), by_hand, unknown) if begun or by_hand else None
    back = tuple(one for one in plan_back(session, install) if _is_left(session.world, install, one))
    return InstallRemains(install, back, by_hand) if back or by_hand else None


def on_record(world: World) -> tuple[Install, ...]:
    """Installs that were not taken back, newest first."""
    return tuple(one for one in records.installs(world) if one.state is not InstallState.TAKEN_BACK)


def unread(world: World) -> tuple[str, ...]:
    """Directories among the installs whose record cannot be read: what they left is not known."""
    directory = records.root(world)
    return tuple(
        f"{directory}/{name}" for name in world.disk.names(directory) if name != "lock" and records.load(world, name) is None
    )


def _is_left(world: World, install: Install, back: BackStep) -> bool:
    if back.removes:
        return world.disk.exists(back.removes)
    run = install.steps[back.number].step.run
    if run is not None and not any(world.files.exists(one) for one in (run.environment, run.interpreter) if one):
        return False  # with the environment went what was installed into it
    return bool(back.commands) or back.obstacle is not None


def _by_hand(session: Session, install: Install) -> Iterator[ByHand]:
    for record in reversed(install.steps):
        step = record.step
        if step.run is None and step.kind in _THEIRS and record.state is StepState.DONE and step.commands:
            yield ByHand(step.text, step.commands, tuple(_removing(session, record)), step.needs_root)


def _removing(session: Session, record: StepRecord) -> Iterator[str]:
    for line in reversed(record.step.commands):
        manager, packages = _installed_by(line)
        if packages:
            key, family = _REMOVES[manager]
            yield from session.knowledge.commands.render(key, family, {"packages": " ".join(packages)})


def _installed_by(line: str) -> tuple[str, tuple[str, ...]]:
    """The package manager and the packages of a line that installs some; none where it is anything else, or more than that."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return "", ()
    words = words[1:] if words[:1] == ["sudo"] else words
    manager, rest = (words[0], words[1:]) if words else ("", [])
    if manager not in _REMOVES:
        return "", ()
    verb = next((place for place, word in enumerate(rest) if word == "install" or (manager == "pacman" and word[:2] == "-S")), None)
    if verb is None or "--reinstall" in rest or "--only-upgrade" in rest:
        return "", ()
    named = [word.partition("=")[0] for word in rest[verb + 1 :] if not word.startswith("-")]
    return manager, tuple(one for one in named if _PACKAGE.fullmatch(one)) if all(map(_is_word, named)) else ()


def _is_word(word: str) -> bool:
    """Whether it is one word of a command: what a shell would do more with is no name of a package."""
    return word not in {"&&", "||", "|", ";", "&"} and not any(sign in word for sign in "|;&<>`")
