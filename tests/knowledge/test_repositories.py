"""What NVIDIA's repositories hold: between what was seen, not before a known beginning, and beyond that nobody knows."""

from __future__ import annotations

import pytest

from gpuassist.install.drivers.packages import packages_of
from gpuassist.knowledge.families import packages_family
from gpuassist.knowledge.repositories import Held, RepositoryRecord, Sighting
from gpuassist.model.machine import Distribution
from gpuassist.model.version import Version
from tests.rows import for_each
from tests.values import knowledge

version = Version.parse
RECORDS = knowledge().repositories()
RELEASES = {one.release for one in knowledge().toolkits()}


def made(first: str, last: str, **flags: bool) -> RepositoryRecord:
    begins, ends = flags.get("begins", False), flags.get("ends", False)
    one, other = (version(words) if words else None for words in (first, last))
    return RepositoryRecord("made1", "x86_64", one, other, None, None, begins, ends, (version("12.5"),), (), Sighting.INDEX, "", "")


@pytest.mark.parametrize(
    ("record", "release", "expected"),
    [
        (made("12.4", "12.9"), "12.4", Held.HOLDS),
        (made("12.4", "12.9"), "12.9", Held.HOLDS),
        (made("12.4", "12.9"), "12.5", Held.LACKS),
        (made("12.4", "12.9"), "12.3", Held.UNKNOWN),
        (made("12.4", "12.9", begins=True), "12.3", Held.LACKS),
        (made("12.4", "12.9", begins=True), "13.0", Held.UNKNOWN),
        (made("12.4", "12.9", ends=True), "13.0", Held.LACKS),
        (made("", "12.9", ends=True), "12.8", Held.UNKNOWN),
        (made("", "12.9", ends=True), "13.0", Held.LACKS),
        (made("12.4", ""), "12.4", Held.HOLDS),
        (made("12.4", ""), "12.6", Held.UNKNOWN),
        (made("", "", begins=True), "12.8", Held.LACKS),
        (made("", ""), "12.8", Held.UNKNOWN),
    ],
)
def test_release_is_held_where_it_was_seen_and_missing_where_that_is_known(
    record: RepositoryRecord, release: str, expected: Held
) -> None:
    assert record.toolkit(version(release)) is expected


@pytest.mark.parametrize(
    ("name", "release", "expected"),
    [
        ("fedora43", "13.2", Held.HOLDS),
        ("fedora43", "13.5", Held.LACKS),
        ("fedora44", "13.2", Held.LACKS),
        ("suse16", "12.9", Held.LACKS),
        ("debian13", "13.0", Held.LACKS),
        ("debian10", "11.8", Held.LACKS),
        ("ubuntu2404", "12.4", Held.LACKS),
        ("ubuntu2404", "12.8", Held.HOLDS),
        ("rhel10", "12.8", Held.LACKS),
        ("fedora40", "12.6", Held.LACKS),
    ],
)
def test_shipped_rows_say_it_of_releases_that_were_asked_for(name: str, release: str, expected: Held) -> None:
    record = knowledge().repository(name, "x86_64")
    assert record is not None
    assert record.toolkit(version(release)) is expected


def test_driver_of_an_older_branch_than_the_first_is_missing() -> None:
    fedora, suse = (knowledge().repository(name, "x86_64") for name in ("fedora43", "suse16"))
    assert fedora is not None
    assert suse is not None
    assert [fedora.driver(branch) for branch in (580, 595)] == [Held.LACKS, Held.HOLDS]
    assert suse.driver(580) is Held.LACKS


@for_each("record", RECORDS)
def test_ends_are_releases_in_order_and_gaps_lie_between(record: RepositoryRecord) -> None:
    first, last = record.first_toolkit, record.last_toolkit
    assert {one for one in (first, last, *record.lacks) if one is not None} <= RELEASES
    assert first is None or last is None or first <= last
    assert all(first is not None and last is not None and first < one < last for one in record.lacks)
    drivers = record.first_driver, record.last_driver
    assert None in drivers or drivers[0] <= drivers[1]  # type: ignore[operator]


def test_no_repository_stands_twice() -> None:
    keys = [(one.repository, one.architecture) for one in RECORDS]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("name", "release"),
    [
        *(("ubuntu", release) for release in ("20.04", "22.04", "24.04", "26.04")),
        *(("debian", release) for release in ("12", "13")),
        *(("fedora", release) for release in ("41", "42", "43", "44")),
        *(("rocky", release) for release in ("8.10", "9.5", "10.0")),
        ("amzn", "2023"),
        *(("opensuse-leap", release) for release in ("15.6", "16.0")),
        ("sles", "15.7"),
        ("opensuse-tumbleweed", "20261101"),
    ],
)
def test_distributions_that_people_have_are_known_by_the_name_that_their_packages_give(name: str, release: str) -> None:
    distribution = Distribution(name, ("rhel",) if name == "rocky" else (), release, name)
    repository = packages_of(packages_family(distribution)).repository(distribution)
    assert knowledge().repository(repository, "x86_64") is not None
