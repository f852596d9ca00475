"""What conda, mamba and micromamba print with `--dry-run --json`, generation by generation.

The forms are those of real output: conda 4.2 and 4.3 (conda pull request 5628, issues 5825 and 6641), 4.13 (mamba issue 1802),
mamba 0.3 (issue 207) and 0.24 (1802), micromamba 1.3 (2346), 1.4 (2513), 2.x (878, libmamba's package_info.cpp and output.cpp).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.dry_runs import DryRunRefused, read_conda_dry_run
from gpuassist.model.solve import PackageChange
from tests.rows import for_each

CASES = Path(__file__).parent.parent / "cases" / "solves"
READABLE = sorted(one.stem for one in CASES.glob("*.txt") if one.stem != "mamba-0.24-not-found")


def words(name: str) -> str:
    return (CASES / f"{name}.txt").read_text("utf-8")


def changes(name: str) -> dict[str, PackageChange]:
    found = read_conda_dry_run(words(name))
    assert isinstance(found, tuple)
    return {one.name: one for one in found}


def builds(name: str) -> dict[str, tuple[str, str]]:
    return {
        one.name: (f"{one.before} {one.build_before}".strip(), f"{one.after} {one.build_after}".strip())
        for one in changes(name).values()
    }


def refused(text: str) -> DryRunRefused:
    found = read_conda_dry_run(text)
    assert isinstance(found, DryRunRefused)
    return found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("conda-4.2", {"numpy": ("1.11.3 py36_0", "1.13.1 py36_0"), "pytorch": ("", "0.2.0 py36hf0d2509_4cu75")}),
        ("conda-4.3", {"pytest": ("3.3.0 py36_0", "3.3.1 py36_0")}),
        (
            "conda-24.9",
            {
                "cpuonly": ("2.0 0", ""),
                "mkl": ("", "2023.1.0 h213fc3f_46344"),
                "pytorch": ("2.4.1 py3.12_cpu_0", "2.5.1 py3.12_cuda12.4_cudnn9.1.0_0"),
                "pytorch-cuda": ("", "12.4 hc786d27_7"),
            },
        ),
        ("mamba-0.3", {"zlib": ("", "1.2.11 h01d97ff_1006")}),
        ("micromamba-1.3", {"_libgcc_mutex": ("", "0.1 conda_forge"), "libgomp": ("", "12.2.0 h65d4601_19")}),
        (
            "micromamba-2.3",
            {
                "libuv": ("", "1.51.0 h8b12597_1"),
                "pytorch": ("2.7.1 cpu_generic_py312_h8a8d4b4_4", "2.8.0 cuda129_generic_py312_h3e8b0a4_201"),
            },
        ),
        ("conda-nothing", {}),
    ],
)
def test_every_package_that_comes_changes_or_goes(name: str, expected: dict[str, tuple[str, str]]) -> None:
    assert builds(name) == expected


@pytest.mark.parametrize(
    ("name", "package", "size"),
    [
        ("conda-24.9", "pytorch", 1470000000),
        ("conda-24.9", "mkl", 0),  # in the cache already: it is not among what is fetched
        ("conda-24.9", "cpuonly", None),
        ("conda-4.3", "pytest", None),
        ("micromamba-2.3", "pytorch", 24000000),
        ("micromamba-2.3", "libuv", 0),
    ],
)
def test_size_is_what_would_be_downloaded(name: str, package: str, size: int | None) -> None:
    assert changes(name)[package].size_bytes == size


@pytest.mark.parametrize(
    ("name", "package", "source"),
    [
        ("conda-4.2", "pytorch", "pytorch"),
        ("conda-24.9", "mkl", "pkgs/main"),
        (
            "conda-26.7-cpu",
            "pytorch",
            "https://conda.anaconda.org/conda-forge/linux-64/pytorch-2.7.0-cpu_mkl_py313_h71c3b9c_100.conda",
        ),
        ("mamba-0.3", "zlib", "api/conda/conda-remote-conda-forge"),
    ],
)
def test_where_a_package_comes_from(name: str, package: str, source: str) -> None:
    assert changes(name)[package].source == source


@pytest.mark.parametrize(
    ("name", "error", "start"),
    [
        ("conda-4.13-not-found", "PackagesNotFoundError", "The following packages are not available from current channels"),
        ("conda-2015-unsatisfiable", "UnsatisfiableSpecifications", "Hint: the following packages conflict"),
        ("micromamba-1.4-unsolvable", "", "package libarrow-12.0.0-h07599e3_0_cuda requires libevent"),
        ("micromamba-2.8-unsolvable", "", "Could not solve for environment specs"),
    ],
)
def test_refusal_in_the_words_of_the_tool(name: str, error: str, start: str) -> None:
    found = refused(words(name))
    assert found.name == error
    assert found.words.startswith(start)


def test_text_without_json_is_none() -> None:
    assert read_conda_dry_run(words("mamba-0.24-not-found")) is None


@pytest.mark.parametrize("name", ["conda-24.9", "conda-4.2", "micromamba-2.3", "micromamba-1.3", "conda-nothing"])
def test_part_of_it_is_none(name: str) -> None:
    text = words(name).rstrip()
    assert all(read_conda_dry_run(text[: len(text) * part // 20]) is None for part in range(20))


@for_each("name", READABLE)
def test_remarks_around_it_change_nothing(name: str) -> None:
    text = words(name)
    around = f"warning  libmamba 'root_prefix' set with default value: {{/home/you}}\n{text}\nInstalling pip packages: pytool\n"
    assert read_conda_dry_run(around) == read_conda_dry_run(text)


@for_each("name", READABLE)
def test_line_ends_of_windows_change_nothing(name: str) -> None:
    assert read_conda_dry_run(words(name).replace("\n", "\r\n")) == read_conda_dry_run(words(name))


@pytest.mark.parametrize(
    "row",
    [
        7,
        None,
        "numpy",
        {},
        {"name": "numpy"},
        {"version": "1"},
        {"name": 1, "version": "1"},
        {"name": "numpy", "version": None},
        [],
    ],
)
def test_package_that_cannot_be_read_makes_all_of_it_none(row: object) -> None:
    document = {"actions": {"LINK": [{"name": "zlib", "version": "1", "build": "0"}, row]}, "success": True}
    assert read_conda_dry_run(json.dumps(document)) is None


def test_password_of_a_channel_is_left_out() -> None:
    row = {"name": "zlib", "version": "1", "build": "0", "url": "https://me:secret@mirror.example.org/t/zlib-1-0.conda"}
    found = read_conda_dry_run(json.dumps({"actions": {"LINK": [row]}, "success": True}))
    assert isinstance(found, tuple)
    assert found[0].source == "https://mirror.example.org/t/zlib-1-0.conda"


def test_failure_that_says_success_in_vain_is_a_refusal() -> None:
    assert refused(json.dumps({"success": False, "message": "no"})).words == "no"


@given(st.text())
def test_any_text_is_read_or_none(text: str) -> None:
    found = read_conda_dry_run(text)
    assert found is None or isinstance(found, (tuple, DryRunRefused))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_any_actions_are_read_or_none(actions: object) -> None:
    found = read_conda_dry_run(json.dumps({"actions": actions, "success": True}))
    assert found is None or isinstance(found, (tuple, DryRunRefused))


def test_deep_nesting_is_none() -> None:
    assert read_conda_dry_run('{"actions": ' + "[" * 100_000) is None
