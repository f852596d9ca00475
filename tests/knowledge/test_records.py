"""What records themselves can say: the capabilities of an architecture, and whether a driver branch is over."""

from __future__ import annotations

import pytest

from gpuassist.knowledge.records import ArchitectureRecord, BranchKind, BranchRecord, ChipRecord, ModuleFlavour
from gpuassist.model.version import ComputeCapability
from tests.values import knowledge


def _architecture(*capabilities: str) -> ArchitectureRecord:
    chips = (
        ChipRecord(f"GX10{place}", ComputeCapability.parse(words) if words else None, integrated=False, first_driver=None)
        for place, words in enumerate(capabilities)
    )
    return ArchitectureRecord("Test", tuple(chips), None, ModuleFlavour.OPEN_POSSIBLE, "a list", "2026-11-21")


def _branch(end_of_life: str = "", *, ended: bool = False) -> BranchRecord:
    return BranchRecord(580, BranchKind.LONG_TERM, end_of_life, ended, None, "a list", "2026-11-21")


@pytest.mark.parametrize(
    ("chips", "capabilities"),
    [
        ((), []),
        (("",), []),
        (("8.9",), ["8.9"]),
        (("8.6", "8.0", "8.6"), ["8.0", "8.6"]),
        (("12.0", "10.0", "", "9.0"), ["9.0", "10.0", "12.0"]),
    ],
)
def test_capabilities_are_told_once_and_in_order(chips: tuple[str, ...], capabilities: list[str]) -> None:
    assert list(map(str, _architecture(*chips).capabilities)) == capabilities


@pytest.mark.parametrize(
    ("end_of_life", "today", "ended"),
    [
        ("", "2026-11-21", False),
        ("2026-10", "2026-11-21", True),
        ("2026-11", "2026-11-01", False),
        ("2026-11", "2026-11-30", False),
        ("2026-11", "2026-12-01", True),
        ("2025-12", "2026-01-01", True),
        ("2028-08", "2026-11-21", False),
    ],
)
def test_branch_ends_with_its_last_month(end_of_life: str, today: str, ended: bool) -> None:
    assert _branch(end_of_life).has_ended(today) is ended


@pytest.mark.parametrize("end_of_life", ["", "2030-01"])
def test_branch_that_was_over_when_looked_at_stays_so(end_of_life: str) -> None:
    assert _branch(end_of_life, ended=True).has_ended("2026-11-21")


def test_moment_of_a_snapshot_can_be_the_day() -> None:
    assert not _branch("2026-11").has_ended("2026-11-21T09:00:00.000+00:00")


def test_record_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        _branch().ended = True  # type: ignore[misc]


def test_every_shipped_architecture_has_a_capability() -> None:
    assert all(one.capabilities for one in knowledge().architectures())


def test_every_shipped_month_is_written_so_that_it_sorts() -> None:
    months = [branch.end_of_life for branch in knowledge().branches() if branch.end_of_life]
    assert months
    assert all(len(month) == 7 and month[:4].isdigit() and month[4] == "-" and "01" <= month[5:] <= "12" for month in months)
