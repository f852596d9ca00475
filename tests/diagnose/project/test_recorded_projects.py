"""Every recorded project is answered as a good engineer would: fits, the line of each link, the change, the commands."""

from __future__ import annotations

from typing import Any

from gpuassist.model.project import LinkState, ProjectOutlook
from tests.project_cases import cases, files_of, judged
from tests.rows import for_each


def _found(outlook: ProjectOutlook, state: LinkState) -> list[list[object]]:
    return [[one.id.value, one.state.value, one.file or None, one.line or None] for one in outlook.checks if one.state is state]


@for_each("case", cases)
def test_project_is_answered(case: dict[str, Any]) -> None:
    outlook = judged(case)
    wrong = [*_found(outlook, LinkState.BROKEN), *_found(outlook, LinkState.UNKNOWN)]
    for check in case.get("checks", []):
        assert check in wrong, wrong
    for check in case.get("holds", []):
        assert [check[0], "holds", *check[1:]] in _found(outlook, LinkState.HOLDS)
    assert outlook.fits is case["fits"], wrong
    changed = {one.file: one.after.decode() for one in outlook.changes}
    if "after" in case:
        assert changed == case["after"]
    if case.get("no_change"):
        assert changed == {}
    lines = [line for step in outlook.steps for line in step.commands]
    for command in case.get("commands", []):
        assert command in lines, lines
    if case.get("may_break"):
        assert all(one.may_break for one in outlook.changes)


@for_each("case", cases)
def test_every_line_that_is_named_is_there(case: dict[str, Any]) -> None:
    files = files_of(case)
    for one in judged(case).checks:
        if one.file:
            assert one.file in files
            assert 0 <= one.line <= files[one.file].count(b"\n") + 1
