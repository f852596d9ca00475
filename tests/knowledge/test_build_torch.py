"""Rows of torch releases and bad pairs become records, or are refused."""

from __future__ import annotations

from typing import Any

import pytest

from gpuassist.knowledge.build import bad_pair, torch_release
from gpuassist.knowledge.records import Companion, Party
from gpuassist.knowledge.rows import Row, RowError, Source
from gpuassist.model.version import Version, VersionError

SOURCES = {"list": Source("a list", "2026-11-21")}
RELEASE: dict[str, Any] = {
    "release": "2.7",
    "patches": ["2.7.0", "2.7.1"],
    "published": "2025-04-23",
    "pythons": ["3.9", "3.13"],
    "companions": [
        {"name": "torchvision", "version": "0.22.0", "torch": "2.7.0"},
        {"name": "torchvision", "version": "0.22.1", "torch": "2.7.1"},
        {"name": "triton", "version": "~=3.3", "torch": "2.7.1"},
    ],
    "known_in_detail": True,
    "source": "list",
}
PAIR: dict[str, Any] = {
    "key": "torch-numpy2",
    "parties": [{"name": "torch", "versions": "<2.3"}, {"name": "numpy", "versions": ">=2"}],
    "symptom": "a message",
    "why": "a reason",
    "remedy": "what helps",
    "source": "list",
    "checked": "2026-12-01",
}


def row(fields: dict[str, Any], **changed: object) -> Row:
    return Row(2, {**fields, **changed})


def test_release_is_built() -> None:
    built = torch_release(row(RELEASE), SOURCES)
    assert (str(built.release), built.published, built.known_in_detail) == ("2.7", "2025-04-23", True)
    assert [str(patch) for patch in built.patches] == ["2.7.0", "2.7.1"]
    assert (built.source, built.checked) == ("a list", "2026-11-21")


def test_companions_of_a_patch_are_its_own() -> None:
    built = torch_release(row(RELEASE), SOURCES)
    assert built.companions_of(Version.parse("2.7.0")) == (Companion("torchvision", "0.22.0", Version((2, 7, 0))),)
    assert [one.name for one in built.companions_of(Version.parse("2.7.1"))] == ["torchvision", "triton"]


@pytest.mark.parametrize("asked", ["2.7", "2.7.1", "2.7.2", "2.6.9"])
def test_companions_of_an_unlisted_patch_are_the_newest(asked: str) -> None:
    built = torch_release(row(RELEASE), SOURCES)
    assert {str(one.torch) for one in built.companions_of(Version.parse(asked))} == {"2.7.1"}


def test_release_by_name_alone_has_no_companions() -> None:
    built = torch_release(row(RELEASE, companions=[], known_in_detail=False), SOURCES)
    assert (built.companions_of(Version.parse("2.7")), built.known_in_detail) == ((), False)


@pytest.mark.parametrize("field", ["release", "published", "companions", "source"])
def test_release_without_a_field_is_refused(field: str) -> None:
    fields = {name: value for name, value in RELEASE.items() if name != field}
    with pytest.raises(RowError):
        torch_release(row(fields), SOURCES)


@pytest.mark.parametrize(
    "companion", [{"name": "x", "version": "newest", "torch": "2.7.0"}, {"name": "x", "version": "1", "torch": "?"}]
)
def test_companion_that_cannot_be_read_is_refused(companion: dict[str, str]) -> None:
    with pytest.raises(VersionError):
        torch_release(row(RELEASE, companions=[companion]), SOURCES)


def test_bad_pair_is_built() -> None:
    built = bad_pair(row(PAIR), SOURCES)
    assert (built.one, built.other) == (Party("torch", "<2.3"), Party("numpy", ">=2"))
    assert (built.symptom, built.why, built.remedy) == ("a message", "a reason", "what helps")
    assert (built.source, built.checked) == ("a list", "2026-12-01")


@pytest.mark.parametrize("parties", [[], [{"name": "torch", "versions": ""}], [{"name": "torch", "versions": ""}] * 3])
def test_pair_is_two(parties: list[dict[str, str]]) -> None:
    with pytest.raises(RowError):
        bad_pair(row(PAIR, parties=parties), SOURCES)


@pytest.mark.parametrize("versions", ["newer", "=> 2"])
def test_pair_with_an_unreadable_range_is_refused(versions: str) -> None:
    parties = [{"name": "torch", "versions": versions}, {"name": "numpy", "versions": ""}]
    with pytest.raises(VersionError):
        bad_pair(row(PAIR, parties=parties), SOURCES)


def test_unknown_source_is_refused() -> None:
    with pytest.raises(RowError):
        bad_pair(row(PAIR, source="another"), SOURCES)
