"""The entries of package logs put together again to what somebody did at once: one upgrade of a driver is twenty-five packages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta, timezone

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.diagnose.past.moments import moment, zone_of
from gpuassist.diagnose.past.versions import driver_version
from gpuassist.formats.package_logs.kinds import subject_of
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.past import PackageAction, PackageEvent, Subject

_APART = timedelta(minutes=5)
_MOST_EVENTS = 20_000


class Transaction(Struct, frozen=True):
    """What was done at once to one subject, of the system or of one environment: at least one entry, in their order."""

    subject: Subject
    events: tuple[PackageEvent, ...]

    @property
    def at(self) -> str:
        return self.events[0].at

    @property
    def environment(self) -> str:
        return self.events[0].environment

    @property
    def by(self) -> str:
        return next((one.by for one in self.events if one.by), "")

    @property
    def user(self) -> str:
        return next((one.user for one in self.events if one.user), "")

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.source for one in self.events if one.source))[:_MOST_SOURCES]

    def packages(self, without: Iterable[str] = ()) -> tuple[str, ...]:
        """Each package with what became of its version."""
        left_out = frozenset(without)
        return tuple(dict.fromkeys(in_short(one) for one in self.events if one.package not in left_out))

    def of(self, *actions: PackageAction) -> tuple[PackageEvent, ...]:
        return tuple(one for one in self.events if one.action in actions)

    @property
    def is_reinstalled(self) -> bool:
        """Whether everything in it came again in the version that it had."""
        return all(one.action is PackageAction.REINSTALLED or (one.before and one.before == one.after) for one in self.events)


_MOST_SOURCES = 8


def in_short(event: PackageEvent) -> str:
    """`numpy 2.1.0 → 1.26.4`."""
    versions = " → ".join(dict.fromkeys(one for one in (event.before, event.after) if one))
    sign = {PackageAction.INSTALLED: "+", PackageAction.REMOVED: "−"}.get(event.action, "")
    return f"{sign if not (event.before and event.after) else ''}{event.package} {versions}".rstrip()


def transactions(events: Sequence[PackageEvent], after: datetime | None, zone_from: str) -> tuple[Transaction, ...]:
    """Those of GPU work since a moment, oldest first; `zone_from` is a moment whose zone is that of entries without one. An entry
    without a moment cannot be placed and is left out.
    """
    zone = zone_of(zone_from)
    placed = (
        (when, one)
        for one in events[-_MOST_EVENTS:]
        if (when := moment(one.at, zone)) is not None and (after is None or when > after)
    )
    open_: dict[tuple[str, str], _Open] = {}
    done: list[_Open] = []
    for when, one in sorted(placed, key=lambda pair: pair[0]):
        subject = _subject(one)
        if subject is None:
            continue
        key = (one.environment, "" if one.environment else subject.value)
        current = open_.get(key)
        if current is None or not current.takes(when, one):
            current = open_[key] = _Open(when)
            done.append(current)
        current.add(when, one)
    found = [_made(tuple(current.events)) for current in done]
    return tuple(sorted(_modules_with_kernels(found), key=lambda one: (moment(one.at, zone) or _EARLIEST, one.subject.value)))


_EARLIEST = datetime.min.replace(tzinfo=timezone.utc)


class _Open:
    """A transaction to which more may belong."""

    def __init__(self, when: datetime) -> None:
        self.events: list[PackageEvent] = []
        self._last, self._by = when, ""
        self._led_to: dict[str, tuple[str, str]] = {}

    def takes(self, when: datetime, one: PackageEvent) -> bool:
        """What an entry led to and another one leads away from was done in two acts; apt and dpkg tell of one act alike."""
        if when - self._last > _APART or (one.by and self._by and one.by != self._by):
            return False
        before, after = self._led_to.get(one.package, ("", ""))
        return not (after and after == one.before and (before, after) != (one.before, one.after))

    def add(self, when: datetime, one: PackageEvent) -> None:
        self.events.append(one)
        self._last, self._by = when, self._by or one.by
        if one.after:
            self._led_to[one.package] = (one.before, one.after)


def _subject(one: PackageEvent) -> Subject | None:
    """With the tools that are released with every driver and belong to no other work."""
    if not one.environment and _WITH_DRIVER.fullmatch(one.package):
        return Subject.DRIVER
    return subject_of(one.package, in_environment=bool(one.environment))


_WITH_DRIVER = lazy_regex(r"nvidia-settings(?::\S+)?|libnvidia-egl-\S+|nvidia-prime")
# What containers get GPUs by, and what makes the driver's module for a new kernel: without it the next kernel has none.
_CONTAINERS = lazy_regex(r"(?:lib)?nvidia-container\S*|nvidia-docker2?|nvidia-cuda-mps")
_NEEDED = lazy_regex(r"dkms|akmods|kmod|initramfs-tools(?:-core)?|dracut|mkinitcpio")


def of_itself(package: str, *, gone: bool) -> bool:
    """Whether a package of the system is worth a line where nothing points at it; `gone`: it was taken away."""
    if _CONTAINERS.fullmatch(package) or (gone and _NEEDED.fullmatch(package)):
        return True
    return subject_of(package) not in {Subject.SYSTEM_PACKAGE, Subject.KERNEL, Subject.SECURE_BOOT, Subject.COMPILER} and not (
        _WITH_DRIVER.fullmatch(package)
    )


def _made(events: tuple[PackageEvent, ...]) -> Transaction:
    subjects = {_subject(one) or Subject.SYSTEM_PACKAGE for one in events}
    return Transaction(min(subjects, key=tuple(Subject).index), events)


def _modules_with_kernels(found: list[Transaction]) -> Iterator[Transaction]:
    """The driver's modules that are built for one kernel come and go with it (linux-modules-nvidia-580-6.8.0-48-generic)."""
    kernels = [one for one in found if one.subject is Subject.KERNEL]
    given: dict[int, list[PackageEvent]] = {}
    for one in found:
        if one.subject is Subject.DRIVER:
            bound = [event for event in one.events if not driver_version(event.after or event.before)]
            near = [place for place, kernel in enumerate(kernels) if _near(kernel, one)]
            if bound and near:
                given.setdefault(near[0], []).extend(bound)
                rest = tuple(event for event in one.events if event not in bound)
                if rest:
                    yield replace(one, events=rest)
                continue
        if one.subject is not Subject.KERNEL:
            yield one
    for place, kernel in enumerate(kernels):
        yield replace(kernel, events=(*kernel.events, *given.get(place, ())))


def _near(one: Transaction, other: Transaction) -> bool:
    left, right = moment(one.at), moment(other.at)
    return left is not None and right is not None and abs(left - right) <= _APART
