"""The order of kernels, by the three rules that boot loaders go by."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.formats.kernel_order import Key, by_dpkg, by_rpm, by_uapi

DPKG = (  # the oldest first
    "6.1.0-37-amd64",
    "6.8.0-9-generic",
    "6.8.0-60-generic",
    "6.8.0-60-lowlatency",
    "6.8.0-100-generic",
    "6.11.0-29-generic",
    "6.12.43+deb13-amd64",
    "6.12.57+deb13-amd64",
    "6.18~rc7-amd64",
    "6.18-amd64",
    "linux",
    "linux-lts",
    "linux-zen",
)
RPM = (
    "5.14.0-503.el9.x86_64",
    "5.14.0-503.11.1.el9_5.x86_64",
    "5.14.0-503.40.1.el9_5.x86_64",
    "5.14.0-570.12.1.el9_6.x86_64",
    "6.16.9-200.fc42.x86_64",
    "6.16.10-200.fc42.x86_64",
    "6.17.0-0.rc3.fc43.x86_64",
)
# The examples of the Version Format Specification, and names of entries as Arch has them.
UAPI = (
    "122.1~rc1",
    "122.1",
    "123~rc1-1",
    "123",
    "123-a",
    "123-a.1",
    "123-1",
    "123-1.1",
    "123^post1",
    "123.a-1",
    "123.1-1",
    "123a-1",
)
ENTRIES = ("arch-linux-lts.conf", "arch-linux.conf")


@pytest.mark.parametrize(("key", "names"), [(by_dpkg, DPKG), (by_rpm, RPM), (by_uapi, UAPI), (by_uapi, ENTRIES)])
def test_names_stand_from_old_to_new(key: Key, names: tuple[str, ...]) -> None:
    backwards = names[::-1]
    assert tuple(sorted(backwards, key=key)) == names  # type: ignore[arg-type]


@pytest.mark.parametrize("key", [by_dpkg, by_rpm, by_uapi])
@given(names=st.lists(st.text(max_size=30), min_size=2, max_size=6))
@settings(max_examples=40)
def test_every_name_has_a_place(key: Key, names: list[str]) -> None:
    newest = sorted(names, key=key)[-1]  # type: ignore[arg-type]
    assert not any(key(newest) < key(one) for one in names)  # type: ignore[operator]
