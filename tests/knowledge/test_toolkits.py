"""The table of CUDA releases, held against itself row by row, and against the compiler of this machine where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.knowledge.compatibility import (
    cubin_runs,
    driver_floor,
    first_toolkit_for,
    first_toolkit_for_target,
    last_toolkit_for,
    last_toolkit_for_target,
    toolkit_builds_for,
    toolkit_name_of,
)
from gpuassist.knowledge.records import ToolkitRecord
from gpuassist.model.version import Code, Target, Version
from gpuassist.system.resources import Resources
from tests.knowledge.shipped import KNOWLEDGE, capability, target, version
from tests.rows import for_each

TOOLKITS = KNOWLEDGE.toolkits()
RELEASES = [str(one.release) for one in TOOLKITS]
ROWS: list[dict[str, Any]] = json.loads(Resources().read("knowledge/toolkits.json"))[1:]
EVERY_CODE = sorted({code for one in TOOLKITS for code in one.codes})
THOR = {capability("10.1"), capability("11.0")}
toolkits = st.sampled_from(TOOLKITS)
codes = st.sampled_from(EVERY_CODE)


def release(words: str) -> ToolkitRecord:
    found = KNOWLEDGE.toolkit(version(words))
    assert found is not None
    return found


def each(name: str) -> list[Any]:
    """A field of every release that knows it, oldest release first."""
    return [value for one in TOOLKITS if (value := getattr(one, name)) is not None]


def test_every_release_is_there_once_and_in_order() -> None:
    minors = {9: (0, 1, 2), 10: (0, 1, 2), 11: range(9), 12: (0, 1, 2, 3, 4, 5, 6, 8, 9), 13: range(6)}
    released = [f"{major}.{minor}" for major, every in minors.items() for minor in every]
    assert released == RELEASES


def test_release_that_never_was_is_not_known() -> None:
    assert KNOWLEDGE.toolkit(version("12.7")) is None


@for_each("row", ROWS)
def test_row_has_all_that_it_must_have(row: dict[str, Any]) -> None:
    needed = {"release", "targets", "codes", "gcc_limit", "clang_limit", "driver_floor", "source"}
    assert needed <= set(row) <= needed | {"deprecated", "glibc_clash", "native_driver", "measured", "checked"}


@for_each("toolkit", TOOLKITS)
def test_codes_are_machine_code_in_order(toolkit: ToolkitRecord) -> None:
    assert {one.code for one in toolkit.codes} == {Code.CUBIN}
    assert toolkit.codes == tuple(sorted(set(toolkit.codes)))


@for_each("toolkit", TOOLKITS)
def test_codes_without_a_variant_are_the_targets(toolkit: ToolkitRecord) -> None:
    assert [one.capability for one in toolkit.codes if not one.suffix] == [one.capability for one in toolkit.targets]


@for_each("toolkit", TOOLKITS)
def test_variant_has_its_plain_architecture_beside_it(toolkit: ToolkitRecord) -> None:
    plain = {one.capability for one in toolkit.codes if not one.suffix}
    specific = {one.capability for one in toolkit.codes if one.suffix == "a"}
    assert {one.capability for one in toolkit.codes if one.suffix == "f"} <= specific <= plain


@for_each("toolkit", TOOLKITS)
def test_what_is_warned_of_is_known_and_oldest(toolkit: ToolkitRecord) -> None:
    warned = toolkit.deprecated or ()
    assert set(warned) <= set(toolkit.targets)
    assert len(warned) < len(toolkit.targets)
    assert max(toolkit.targets) not in warned


def test_what_is_dropped_was_warned_of_before() -> None:
    unannounced = {capability("3.2"), capability("10.1")}  # Tegra K1 went unnamed with sm_30; Thor became 11.0
    for before, after in pairwise(TOOLKITS):
        gone = {one.capability for one in before.targets} - {one.capability for one in after.targets} - unannounced
        assert gone <= {one.capability for one in before.deprecated or ()}, str(after.release)


def test_within_a_major_nothing_is_dropped() -> None:
    for before, after in pairwise(TOOLKITS):
        if before.release.major == after.release.major:
            assert set(before.codes) <= set(after.codes)


@pytest.mark.parametrize("limit", ["gcc_limit", "clang_limit"])
def test_newer_releases_take_newer_host_compilers(limit: str) -> None:
    found = each(limit)
    assert found == sorted(found)
    assert len(found) == len(TOOLKITS)


@pytest.mark.parametrize("name", ["native_driver", "driver_floor"])
def test_newer_releases_need_newer_drivers(name: str) -> None:
    assert each(name) == sorted(each(name))


def test_native_driver_reaches_the_floor() -> None:
    older = [str(one.release) for one in TOOLKITS if one.native_driver and one.native_driver < one.driver_floor]
    assert older == []


def test_native_driver_is_of_the_branch_that_reports_the_release() -> None:
    reported = {(branch.cuda, branch.branch) for branch in KNOWLEDGE.branches()}
    own = {(one.release, one.native_driver.major) for one in TOOLKITS if one.native_driver}
    assert own - reported == {(version("9.0"), 384)}  # the branches known here begin with 390


def test_floor_is_that_of_the_arithmetic() -> None:
    assert all(one.driver_floor == driver_floor(one.release) for one in TOOLKITS)


def test_floor_is_one_within_a_major_from_eleven_on() -> None:
    # That of 11.0 came before minor-version compatibility, which begins with 450.80.02.
    floors = {(one.release.major, one.driver_floor) for one in TOOLKITS if one.release >= version("11.1")}
    assert len(floors) == 3


def test_clash_with_the_c_library_never_comes_back() -> None:
    never = Version((99,))
    clashes = [one.glibc_clash or never for one in TOOLKITS]
    assert clashes == sorted(clashes)


@for_each(
    ("name", "first", "last"),
    [
        ("sm_90a", "12.0", None),
        ("sm_100a", "12.8", None),
        ("sm_100f", "12.9", None),
        ("sm_120a", "12.8", None),
        ("sm_121f", "12.9", None),
        ("sm_103a", "12.9", None),
        ("sm_107f", "13.4", None),
        ("sm_88", "13.0", None),
        ("sm_110a", "12.8", None),
        ("sm_101f", "12.9", None),
        ("sm_72", "9.1", "12.9"),
        ("compute_90a", "12.0", None),
        ("sm_89a", None, None),
        ("sm_90f", None, None),
    ],
)
def test_first_and_last_release_for_a_name(name: str, first: str | None, last: str | None) -> None:
    found = first_toolkit_for_target(target(name), TOOLKITS), last_toolkit_for_target(target(name), TOOLKITS)
    assert tuple(one and str(one) for one in found) == (first, last)


@for_each("code", [one for one in EVERY_CODE if not one.suffix])
def test_plain_name_and_capability_agree_on_releases(code: Target) -> None:
    assert first_toolkit_for_target(code, TOOLKITS) == first_toolkit_for(code.capability, TOOLKITS)
    assert last_toolkit_for_target(code, TOOLKITS) == last_toolkit_for(code.capability, TOOLKITS)


def accepts(toolkit: ToolkitRecord, code: Target) -> bool:
    """By this very name; PTX is taken wherever its machine code is."""
    return Target(code.capability, Code.CUBIN, code.suffix) in toolkit.codes


@for_each(
    ("words", "name", "accepted"),
    [
        ("12.8", "sm_100a", True),
        ("12.8", "sm_100f", False),
        ("12.9", "sm_100f", True),
        ("12.4", "sm_90a", True),
        ("11.8", "sm_90", True),
        ("11.8", "sm_90a", False),
        ("11.8", "compute_90", True),
        ("12.9", "sm_101a", True),
        ("13.0", "sm_101a", False),
        ("13.0", "sm_110a", True),
        ("12.9", "sm_110", False),
        ("12.4", "sm_35", False),
        ("13.3", "sm_107", False),
        ("13.0", "sm_82", False),
    ],
)
def test_name_is_accepted_only_as_spelled(words: str, name: str, accepted: bool) -> None:
    assert accepts(release(words), target(name)) is accepted


@pytest.mark.parametrize(
    ("words", "name", "own"),
    [
        ("12.8", "sm_110a", "sm_101a"),
        ("13.0", "sm_101f", "sm_110f"),
        ("12.9", "compute_110", "compute_101"),
        ("13.0", "sm_120", "sm_120"),
        ("12.8", "sm_110f", None),
        ("12.4", "sm_120", None),
    ],
)
def test_thor_goes_by_the_name_of_the_release(words: str, name: str, own: str | None) -> None:
    found = toolkit_name_of(release(words), target(name))
    assert (found and str(found)) == own


@given(toolkits, codes)
def test_own_name_is_always_accepted(toolkit: ToolkitRecord, code: Target) -> None:
    own = toolkit_name_of(toolkit, code)
    assert own is None or accepts(toolkit, own)
    assert accepts(toolkit, code) <= (own == code)


@given(toolkits, codes)
def test_variant_is_known_only_where_its_architecture_is(toolkit: ToolkitRecord, code: Target) -> None:
    if toolkit_name_of(toolkit, code):
        assert toolkit_builds_for(toolkit.targets, code.capability)


@given(toolkits, codes)
def test_renamed_architecture_still_runs_on_the_gpu(toolkit: ToolkitRecord, code: Target) -> None:
    own = toolkit_name_of(toolkit, code)
    if own and code.capability not in THOR:
        assert cubin_runs(code.capability, own)


def _accepted_by(nvcc: str, code: Target) -> bool:
    command = [nvcc, f"-arch={code}", "--dryrun", "-c", "-x", "cu", "/dev/null", "-o", "/dev/null"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.needs("nvcc")
def test_real_nvcc_accepts_these_codes_and_no_other() -> None:
    nvcc = shutil.which("nvcc")
    assert nvcc is not None
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"release (\d+\.\d+)", said)
    assert found is not None
    ours = KNOWLEDGE.toolkit(version(found[1]))
    if ours is None:
        pytest.skip(f"NOT RUN: CUDA {found[1]} is newer than the table")
    names = {Target(code.capability, Code.CUBIN, suffix) for code in EVERY_CODE for suffix in ("", "a", "f")}
    assert {str(name) for name in names if _accepted_by(nvcc, name)} == set(map(str, ours.codes))
