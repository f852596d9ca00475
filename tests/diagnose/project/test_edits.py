"""A pin moved in place: it stays a pin, a range stays a range, and what is written takes the version that was wanted."""

from __future__ import annotations

from typing import Any

import pytest

from gpuassist.diagnose.project.edits import Impossible, NewWords, respelled, written
from gpuassist.diagnose.project.sets import read_project
from gpuassist.diagnose.project.stock import range_of, takes
from gpuassist.formats.project.requirements import requirement_of
from gpuassist.formats.project.spellings import of_conda, of_poetry
from gpuassist.formats.project.values import ProjectRequirement, Spelling, Spot
from tests.project_cases import cases, project_of
from tests.rows import for_each

SPOT = Spot("requirements.txt", 1)


@for_each(
    ("versions", "moved"),
    [
        ("", "<2.9"),
        ("==1.13", "==2.8.0"),
        ("===1.13.1", "===2.8.0"),
        ("==1.13.1+cu117", "==2.8.0+cu128"),
        ("==1.13.*", "==2.8.*"),
        ("~=1.13.0", "~=2.8.0"),
        ("~=1.13", ">=2.8.0,<2.9"),
        (">=1.10", ">=1.10,<2.9"),
        (">=1.10,<2", ">=1.10,<2.9"),
        (">=3", ">=2.8.0,<2.9"),
        ("<2", ">=2.8.0,<2.9"),
        ("!=2.0.0,<2.1", ">=2.8.0,!=2.0.0,<2.9"),
    ],
)
def test_range_of_pip(versions: str, moved: str) -> None:
    one = requirement_of(f"torch{versions}", SPOT)
    assert one is not None
    assert respelled(one, "2.8.0", "cu128") == moved
    range_ = range_of(moved)
    assert range_ is not None
    assert takes(range_, "2.8.0" if versions.startswith("===") else "2.8.0+cu128")


@for_each(
    ("spelled", "moved"), [("^1.13", "~2.8.0"), ("~1.13", "~2.8.0"), ("1.13.1", "2.8.0"), ("*", "<2.9"), (">=1.0,<2", ">=1.0,<2.9")]
)
def test_range_of_poetry(spelled: str, moved: str) -> None:
    one = ProjectRequirement("torch", of_poetry(spelled) or "", SPOT, spelled=spelled, spelling=Spelling.POETRY)
    assert respelled(one, "2.8.0", "cu128") == moved
    range_ = range_of(of_poetry(moved) or "")
    assert range_ is not None
    assert takes(range_, "2.8.0")


@for_each(
    ("spelled", "moved"),
    [("pytorch=2.0.1", "=2.7.1"), ("pytorch==2.0.1", "==2.7.1"), ("pytorch", "=2.7.1"), ("pytorch >=2", "=2.7.1")],
)
def test_range_of_conda(spelled: str, moved: str) -> None:
    one = of_conda(spelled, SPOT, 0)
    assert one is not None
    assert respelled(one, "2.7.1", "") == moved


def test_two_changes_that_meet_are_refused() -> None:
    project = read_project({"requirements.txt": b"torch==1.0\n"})
    first, second = Spot("requirements.txt", 1, 5, 10), Spot("requirements.txt", 1, 8, 12)
    with pytest.raises(Impossible):
        written(project, (NewWords(first, "a"), NewWords(second, "b")))


@pytest.mark.parametrize("name", ["../requirements.txt", "/etc/requirements.txt"])
def test_no_file_outside_the_project_is_written(name: str) -> None:
    project = read_project({name: b"torch==1.0\n"})
    with pytest.raises(Impossible):
        written(project, (NewWords(Spot(name, 1, 5, 10), "==2"),))


@for_each("case", cases)
def test_every_place_holds_what_was_read_there(case: dict[str, Any]) -> None:
    project = project_of(case)
    for name, reading in project.readings.items():
        whole = project.files[name].decode("utf-8", "surrogateescape")
        for one in reading.requirements:
            if one.spot.editable and one.spot.line < 100:
                assert whole[one.spot.first : one.spot.end] == one.spelled
                assert whole.count("\n", 0, one.spot.first) + 1 == one.spot.line
        for index in reading.indexes:
            assert not index.spot.editable or whole[index.spot.first : index.spot.end] == index.url
        wishes = [(one.spot, one.spelled) for one in reading.architectures] + [(one.spot, one.spelled) for one in reading.images]
        for spot, spelled in wishes:
            assert not spot.editable or whole[spot.first : spot.end] == spelled
