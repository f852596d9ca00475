"""NVIDIA's installers are known by their whole name, which carries the driver that they bring."""

from __future__ import annotations

import re

import pytest

from gpuassist.model.version import Version
from tests.rows import for_each
from tests.values import knowledge

version = Version.parse
RECORDS = [one for one in (knowledge().runfile(record.release) for record in knowledge().toolkits()) if one is not None]


@pytest.mark.parametrize(
    ("release", "machine", "file"),
    [
        ("12.8", "x86_64", "cuda_12.8.1_570.124.06_linux.run"),
        ("12.8", "aarch64", "cuda_12.8.1_570.124.06_linux_sbsa.run"),
        ("11.8", "x86_64", "cuda_11.8.0_520.61.05_linux.run"),
        ("13.2", "x86_64", "cuda_13.2.2_595.71.05_linux.run"),
    ],
)
def test_file_is_named_after_version_and_driver(release: str, machine: str, file: str) -> None:
    record = knowledge().runfile(version(release))
    assert record is not None
    assert record.file(machine) == file


def test_patch_of_a_release_finds_its_installer() -> None:
    record = knowledge().runfile(version("12.8.93"))
    assert record is not None
    assert record.release == version("12.8")


def test_unlisted_release_has_no_installer() -> None:
    assert knowledge().runfile(version("13.5")) is None
    assert knowledge().runfile(version("77.1")) is None


@for_each("record", RECORDS)
def test_records_are_of_their_release(record: object) -> None:
    one = next(each for each in RECORDS if each is record)
    assert one.version.release == one.release
    assert "x86_64" in one.machines
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", one.checked)


@for_each("record", RECORDS)
def test_driver_inside_is_no_older_than_the_releases_first(record: object) -> None:
    one = next(each for each in RECORDS if each is record)
    toolkit = knowledge().toolkit(one.release)
    assert toolkit is not None
    assert toolkit.native_driver is not None
    assert one.driver >= toolkit.native_driver


def test_there_is_one_for_every_release_that_torch_was_built_with_lately() -> None:
    assert {"11.8", "12.1", "12.4", "12.6", "12.8", "12.9", "13.0", "13.2"} <= {str(one.release) for one in RECORDS}
