"""The report of `pip install --dry-run --report`."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.dry_runs import PlannedPackage, read_pip_report

ROW = {
    "download_info": {
        "url": "https://me:secret@mirror.example.org/torch-2.9.1%2Bcu128-cp312-cp312-linux_x86_64.whl",
        "archive_info": {},
    },
    "is_direct": False,
    "is_yanked": True,
    "requested": True,
    "metadata": {
        "metadata_version": "2.1",
        "name": "Torch",
        "version": "2.9.1+cu128",
        "requires_dist": ["filelock", "numpy; extra == 'np'"],
    },
}


def report(*rows: object, version: str = "1") -> str:
    return json.dumps({"version": version, "pip_version": "26.3", "install": list(rows), "environment": {}})


def changed(**metadata: object) -> dict[str, object]:
    return {**ROW, "metadata": {"name": "torch", "version": "2.9.1", **metadata}}


def test_package_with_what_it_asks_for() -> None:
    url = "https://mirror.example.org/torch-2.9.1%2Bcu128-cp312-cp312-linux_x86_64.whl"
    asks = ("filelock", "numpy; extra == 'np'")
    assert read_pip_report(report(ROW)) == (PlannedPackage("torch", "2.9.1+cu128", asks, url, yanked=True),)


def test_nothing_to_install_is_known_to_be_none() -> None:
    assert read_pip_report(report()) == ()


def test_report_of_the_first_pip_that_had_one() -> None:
    assert read_pip_report(report(changed(), version="0")) is not None


def test_package_that_asks_for_nothing() -> None:
    assert read_pip_report(report({"metadata": {"name": "a", "version": "1"}})) == (PlannedPackage("a", "1"),)


@pytest.mark.parametrize(
    "row",
    [None, 3, "torch", {}, {"metadata": None}, changed(name=""), changed(version=None), changed(name=["torch"]), {"metadata": []}],
)
def test_package_that_cannot_be_read_makes_all_of_it_none(row: object) -> None:
    assert read_pip_report(report(changed(), row)) is None


@pytest.mark.parametrize(
    "words", ["", "{", "[]", "null", "3", '{"install": {}}', '{"install": null}', "Would install torch-2.9.1", "[" * 100_000]
)
def test_other_text_is_none(words: str) -> None:
    assert read_pip_report(words) is None


def test_part_of_it_is_none() -> None:
    whole = report(ROW, changed())
    assert all(read_pip_report(whole[:length]) is None for length in range(0, len(whole), 7))


@given(st.recursive(st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_report_is_read_or_none(install: object) -> None:
    found = read_pip_report(json.dumps({"install": install}))
    assert found is None or isinstance(found, tuple)
