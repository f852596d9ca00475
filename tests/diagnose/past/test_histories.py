"""Each made-up history: every change that is told, in its order, and what is known of the first."""

from __future__ import annotations

from gpuassist.diagnose.catalogue_entry import read_entry
from gpuassist.diagnose.past.compare import compare
from gpuassist.model.past import MachineChange
from gpuassist.system.resources import Resources
from tests.histories import EVERY, History
from tests.rows import for_each


def changes(one: History) -> tuple[MachineChange, ...]:
    blamed = [cause for problem in one.findings for cause in read_entry(Resources().read(f"problems/{problem}.toml")).changed_by]
    return compare(one.before, one.now, one.history, blamed)


def told(found: tuple[MachineChange, ...]) -> tuple[tuple[str, str, str, str, str], ...]:
    return tuple((one.subject.value, one.direction.value, one.name, one.before, one.after) for one in found)


@for_each("one", EVERY)
def test_every_change_is_told_once_and_what_matters_first(one: History) -> None:
    assert told(changes(one)) == one.told, one.name


@for_each("one", EVERY)
def test_the_first_is_told_with_what_is_known_of_it(one: History) -> None:
    for field, wanted in one.facts:
        assert getattr(changes(one)[0], field) == wanted, (one.name, field)
