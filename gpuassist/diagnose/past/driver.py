"""What became of the driver: its libraries, its module on disk and the one that runs, and what was done to its packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.diagnose.past.looks import Looks, logged, told_by
from gpuassist.diagnose.past.transactions import Transaction
from gpuassist.diagnose.past.versions import direction, driver_version, newest
from gpuassist.model.driver import KernelModule, Library
from gpuassist.model.fact import Fact, Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.past import Direction, MachineChange, PackageAction, Subject

NAME = "driver"
LIBRARIES, MODULE, LOADED = "driver-libraries", "driver-module", "loaded-module"
_NOUVEAU = "nouveau"
# What a driver is made of, in each distribution's names of it: without one of these it is another, or none. Tools beside it
# (nvidia-modprobe, nvidia-persistenced) may be of another version or be missing.
_CORE = lazy_regex(
    r"nvidia-(?:driver|dkms|utils|open|lts|open-dkms|open-lts|kernel-(?:source|open|dkms|open-dkms))\b(?!-?(?:common|assistant|local)).*|nvidia"
    r"|libnvidia-compute(?:-.*)?|libcuda1(?::.*)?|nvidia-driver-cuda(?:-libs)?|kmod-nvidia.*|akmod-nvidia.*"
    r"|xorg-x11-drv-nvidia(?:-(?:cuda|390xx|470xx|580xx).*)?|nvidia-(?:video|compute|gl)-G\d\d|nvidia-open-driver-G\d\d.*"
    r"|nvidia-driver-G\d\d.*|NVIDIA-Linux|nvidia-gfxG\d\d.*|cuda-drivers(?:-\d+)?|linux\S*-nvidia(?:-\S+)?"
)


_Part = TypeVar("_Part", Library, KernelModule)


class _Halves(Struct, frozen=True):
    """Versions before and now of libraries, module on disk and loaded module; None where one of the looks does not know. An empty
    version is of what is not there.
    """

    libraries: tuple[str, str] | None
    module: tuple[str, str] | None
    loaded: tuple[str, str] | None

    def other(self, pair: tuple[str, str] | None) -> tuple[str, str] | None:
        return pair if pair is not None and pair[0] != pair[1] else None


def driver_changes(looks: Looks) -> Iterator[MachineChange]:
    """What the looks show, joined with the transaction that did it; and the transactions that no look shows."""
    halves = _halves(looks)
    transactions = looks.of(Subject.DRIVER)
    seen = _with_flavour(looks, _seen(looks, halves))
    joined = -1
    if seen is not None:
        joined = max((place for place, one in enumerate(transactions) if _leads_to(one, seen)), default=-1)
        if joined >= 0:
            seen = told_by(transactions[joined], seen)
            earlier = _versions(transactions[joined])[0]
            if any(_versions(one)[1] == earlier for one in transactions[:joined]):
                seen = replace(seen, before=earlier or seen.before)  # the rest of the way was another transaction
        yield seen
    for place, one in enumerate(transactions):
        if place != joined:
            yield _of_log(looks, one)


def _halves(looks: Looks) -> _Halves:
    return _Halves(
        _pair(looks, lambda machine: machine.driver.libcuda),
        _pair(looks, lambda machine: machine.driver.on_disk),
        _pair(looks, lambda machine: machine.driver.loaded) or _told(looks),
    )


def _pair(looks: Looks, parts: Callable[[Machine], Fact[tuple[_Part, ...]]]) -> tuple[str, str] | None:
    found = looks.both(parts)
    if found is None:
        return None
    before, after = _version_of(found[0]), _version_of(found[1])
    return None if before is None or after is None else (before, after)


def _version_of(parts: Iterable[Library | KernelModule]) -> str | None:
    """The newest, empty where there is none; None where one is there and its version is not known."""
    listed = tuple(parts)
    known = {str(one.version.value) for one in listed if isinstance(one.version, Known)}
    return newest(known) if known or not listed else None


def _told(looks: Looks) -> tuple[str, str] | None:
    """What NVML says, where no module can be looked at, as under WSL2."""
    found = looks.both(lambda machine: machine.driver.version)
    return None if found is None else (str(found[0]), str(found[1]))


def _seen(looks: Looks, halves: _Halves) -> MachineChange | None:
    libraries, module, loaded = halves.other(halves.libraries), halves.other(halves.module), halves.other(halves.loaded)
    if libraries is not None:
        stayed = halves.module is not None and module is None and bool(halves.module[1]) and halves.module[1] != libraries[1]
        return _change(looks, LIBRARIES if stayed and libraries[1] else NAME, *libraries, waits=_waits(looks, libraries[1]))
    if module is not None and not (not all(module) and _explained(looks)):
        return _change(looks, MODULE if halves.libraries is not None else NAME, *module, waits=_waits(looks, module[1]))
    if loaded is not None and not (not all(loaded) and _explained(looks)):
        nouveau = looks.now.driver.nouveau_loaded.is_true
        return _change(
            looks, LOADED if halves.libraries or halves.module else NAME, loaded[0], loaded[1] or (_NOUVEAU if nouveau else "")
        )
    return None


def _change(looks: Looks, name: str, before: str, after: str, *, waits: bool = False) -> MachineChange:
    way = Direction.CHANGED if after == _NOUVEAU else direction(before, after)
    sources = looks.source(lambda machine: machine.driver.libcuda if name != LOADED else machine.driver.loaded)
    return looks.seen(Subject.DRIVER, way, name, before=before, after=after, sources=sources, waits=waits)


def _explained(looks: Looks) -> bool:
    """Whether something else that changed decides on whether a module is there: another kernel, a setting, Secure Boot."""
    return bool(
        looks.differs(lambda machine: machine.host.kernel)
        or looks.differs(lambda machine: machine.driver.bars)
        or looks.differs(lambda machine: machine.host.secure_boot)
        or looks.differs(lambda machine: machine.host.product)
    )


def _waits(looks: Looks, version: str) -> bool:
    """Whether another module than that of this version still runs."""
    loaded = looks.now.driver.loaded
    running = _version_of(loaded.value) if isinstance(loaded, Known) else None
    return bool(version and running and running != version)


def _with_flavour(looks: Looks, seen: MachineChange | None) -> MachineChange | None:
    """With the kind of module, where that is another one too."""
    pair = next((pair for place in ("loaded", "on_disk") if (pair := _flavours(looks, place)) is not None), None)
    if pair is None or pair[0] == pair[1]:
        return seen
    named = tuple("open" if is_open else "proprietary" for is_open in pair)
    if seen is None:
        loaded = looks.now.driver.loaded
        version = _version_of(loaded.value) if isinstance(loaded, Known) else ""
        seen = _change(looks, NAME, version or "", version or "")
    if not (seen.before and seen.after):
        return seen
    return replace(seen, before=f"{seen.before} {named[0]}", after=f"{seen.after} {named[1]}")


def _flavours(looks: Looks, place: str) -> tuple[bool, bool] | None:
    found = looks.both(lambda machine: getattr(machine.driver, place))
    if found is None or not (found[0] and found[1]):
        return None
    before, after = found[0][0].open_flavour, found[1][0].open_flavour
    return (before.value, after.value) if isinstance(before, Known) and isinstance(after, Known) else None


# What the logs tell.


def _versions(one: Transaction) -> tuple[str, str]:
    """Of the driver before and after; empty where it was or is not there."""
    core = tuple(event for event in one.events if _CORE.fullmatch(event.package.partition(":")[0]))
    before = {driver_version(event.before) for event in core} - {""}
    after = {driver_version(event.after) for event in core} - {""}
    return newest(before), newest(after)


def _leads_to(one: Transaction, seen: MachineChange) -> bool:
    before, after = _versions(one)
    if not seen.after or seen.after == _NOUVEAU:
        return bool(before) and not after
    wanted, was = seen.after.partition(" ")[0], seen.before.partition(" ")[0]
    return bool(after) and after == wanted and (before != after or was == wanted)  # the same again leads nowhere


def _of_log(looks: Looks, one: Transaction) -> MachineChange:
    """A transaction that is not what the looks show: the driver there and back, again, or a package beside it."""
    before, after = _versions(one)
    there = _there(looks)
    if after and before and before != after:
        waits = there[1] in {"", after} and _waits(looks, after)  # what was exchanged again meanwhile waits for nothing
        return logged(one, Subject.DRIVER, direction(before, after), NAME, before=before, after=after, waits=waits)
    if after and (one.is_reinstalled or (before == after and _same_revisions(one))):
        return logged(one, Subject.DRIVER, Direction.REINSTALLED, NAME, before=after, after=after)
    if after and before:  # the packager's own revision
        event = next(event for event in one.events if driver_version(event.after))
        return logged(one, Subject.DRIVER, Direction.UPGRADED, NAME, before=event.before or before, after=event.after)
    if after and after not in there[0]:
        return logged(one, Subject.DRIVER, Direction.ADDED, NAME, after=after, waits=_waits(looks, after))
    if before and not after and not there[1]:
        return logged(one, Subject.DRIVER, Direction.REMOVED, NAME, before=before)
    return of_packages(one)


def _there(looks: Looks) -> tuple[frozenset[str], str]:
    """The versions that were there before where that is known, and the one that is there now."""
    now = looks.now.driver.libcuda
    is_now = (_version_of(now.value) if isinstance(now, Known) else "") or ""
    kept = looks.kept.machine.driver.libcuda if looks.kept is not None else None
    was = _version_of(kept.value) if isinstance(kept, Known) else None
    return frozenset({was} if was else ()), is_now


def _same_revisions(one: Transaction) -> bool:
    """Whether other packages of the same version took the place of those that were there."""
    return {event.before for event in one.events if event.before} == {event.after for event in one.events if event.after}


def of_packages(one: Transaction, subject: Subject = Subject.SYSTEM_PACKAGE) -> MachineChange:
    """A transaction by the package that it names first."""
    first = one.events[0]
    ways = {
        PackageAction.INSTALLED: Direction.ADDED,
        PackageAction.REMOVED: Direction.REMOVED,
        PackageAction.UPGRADED: Direction.UPGRADED,
        PackageAction.DOWNGRADED: Direction.DOWNGRADED,
        PackageAction.REINSTALLED: Direction.REINSTALLED,
    }
    change = MachineChange(subject, ways[first.action], first.package, before=first.before, after=first.after)
    return told_by(one, change, without=(first.package,))
