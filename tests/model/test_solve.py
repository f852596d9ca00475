"""What a tool would change, sorted: each change is an addition, a removal or another version, and never two of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.fact import Known, Unknown
from gpuassist.model.plan import Tool
from gpuassist.model.solve import DryRun, PackageChange, Solve
from gpuassist.model.text import verbatim

VERSIONS = st.sampled_from(["", "1.0", "2.0"])
CHANGES = st.lists(
    st.builds(PackageChange, st.sampled_from(["torch", "numpy", "triton"]), VERSIONS, VERSIONS).filter(
        lambda one: bool(one.before or one.after)
    ),
    max_size=6,
).map(tuple)

ADDED = PackageChange("triton", "", "3.3.1")
REMOVED = PackageChange("torchtext", "0.16.0")
CHANGED = PackageChange("torch", "2.6.0", "2.7.1")
REBUILT = PackageChange("pytorch", "2.7.1", "2.7.1", "cpu_py312", "cuda129_py312")
SOLVE = Solve(Tool.PIP, (ADDED, REMOVED, CHANGED, REBUILT))


def test_what_was_not_there_is_added() -> None:
    assert SOLVE.added == (ADDED,)


def test_what_is_there_no_more_is_removed() -> None:
    assert SOLVE.removed == (REMOVED,)


def test_another_build_of_the_same_version_is_a_change() -> None:
    assert SOLVE.changed == (CHANGED, REBUILT)


@given(CHANGES)
def test_every_change_is_counted_once(changes: tuple[PackageChange, ...]) -> None:
    solve = Solve(Tool.CONDA, changes)
    sorted_out = (*solve.added, *solve.removed, *solve.changed)
    assert sorted(map(repr, sorted_out)) == sorted(map(repr, changes))


def test_a_tool_that_changes_nothing_says_so() -> None:
    solve = Solve(Tool.PIP)
    assert (solve.added, solve.removed, solve.changed) == ((), (), ())


def test_nothing_to_download_is_not_the_same_as_not_said() -> None:
    assert PackageChange("torch", "", "2.7.1", size_bytes=0) != PackageChange("torch", "", "2.7.1")


def test_what_could_not_be_solved_stops_nothing_by_itself() -> None:
    looked = DryRun(Unknown(verbatim("the index did not answer")))
    assert (looked.stops, looked.warnings, looked.requires) == ((), (), ())


def test_what_was_looked_at_is_compared_by_value() -> None:
    assert DryRun(Known(SOLVE, "pip")) == DryRun(Known(Solve(Tool.PIP, SOLVE.changes), "pip"))
