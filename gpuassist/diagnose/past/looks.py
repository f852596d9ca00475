"""Two looks at a machine side by side: what both know of, and what is otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.diagnose.past.transactions import Transaction
from gpuassist.model.fact import Fact, Known
from gpuassist.model.machine import Machine
from gpuassist.model.past import Direction, KeptMachine, MachineChange, Subject

T = TypeVar("T")
K = TypeVar("K")


class Looks(Struct, frozen=True):
    """What was kept (None: nothing was), what is there now, and what the logs tell of the time between, oldest first."""

    kept: KeptMachine | None
    latest: KeptMachine
    logged: tuple[Transaction, ...] = ()

    @property
    def now(self) -> Machine:
        return self.latest.machine

    def both(self, fact: Callable[[Machine], Fact[T]]) -> tuple[T, T] | None:
        """What it was and is; None where one of the two looks does not know, which never makes a change."""
        if self.kept is None:
            return None
        before, after = fact(self.kept.machine), fact(self.now)
        return (before.value, after.value) if isinstance(before, Known) and isinstance(after, Known) else None

    def differs(self, fact: Callable[[Machine], Fact[T]]) -> tuple[T, T] | None:
        """What it was and is, where these are known and not the same."""
        found = self.both(fact)
        return found if found is not None and found[0] != found[1] else None

    def source(self, fact: Callable[[Machine], Fact[Any]]) -> tuple[str, ...]:
        found = fact(self.now)
        return (found.source,) if isinstance(found, Known) and found.source else ()

    def of(self, subject: Subject) -> tuple[Transaction, ...]:
        """What the logs tell of a subject, of the system's packages alone."""
        return tuple(one for one in self.logged if one.subject is subject and not one.environment)

    def seen(self, subject: Subject, direction: Direction, name: str, **told: Any) -> MachineChange:
        """A change that the two looks show, at some moment between them."""
        kept = self.kept.at if self.kept is not None else ""
        # Of a look from the future the clock was wrong, and nothing is between the two.
        earliest, latest = (kept, self.latest.at) if not self.latest.at or kept <= self.latest.at else ("", "")
        return MachineChange(subject, direction, name, earliest=earliest, latest=latest, **told)


def told_by(one: Transaction, change: MachineChange, *, without: Iterable[str] = ()) -> MachineChange:
    """The change with when it was and who did it, as the logs have it."""
    return replace(
        change,
        at=one.at,
        earliest="",
        latest="",
        by=one.by,
        user=one.user,
        sources=tuple(dict.fromkeys((*one.sources, *change.sources))),
        packages=tuple(dict.fromkeys((*change.packages, *one.packages(without)))),
    )


def logged(one: Transaction, subject: Subject, direction: Direction, name: str, **told: Any) -> MachineChange:
    """A change that the logs alone tell."""
    return told_by(one, MachineChange(subject, direction, name, **told))


def apart(before: Mapping[K, T], after: Mapping[K, T]) -> dict[K, tuple[T | None, T | None]]:
    """What is only in one of the two, or not the same in both, in the order in which it stands there."""
    keys = dict.fromkeys((*before, *after))
    return {key: (before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)}
