"""What environments held, and the way back to it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.packages import FreezeDifference, back_to, explicit_packages, frozen_packages

FREEZE = """\
# a comment
flash_attn @ file:///home/you/flash_attn-2.8.3-cp312-cp312-linux_x86_64.whl
-e git+https://example.org/mine.git@0123#egg=My_Project
torch==2.9.1+cu128
Jinja2==3.1.6
zope.interface==7.0
"""
EXPLICIT = """\
# This file may be used to create an environment using:
@EXPLICIT
https://conda.anaconda.org/conda-forge/linux-64/python-3.12.8-h9e4cc4f_1_cpython.conda#7fd2fd79436d9b473812f14e86746844
https://conda.anaconda.org/conda-forge/noarch/ca-certificates-2025.1.31-hbd8a1cb_0.conda
https://repo.anaconda.com/pkgs/main/linux-64/libgcc-ng-11.2.0-h1234567_1.tar.bz2
"""


def test_freeze_is_read_by_normalised_names() -> None:
    found = frozen_packages(FREEZE.splitlines())
    assert list(found) == ["flash-attn", "my-project", "torch", "jinja2", "zope-interface"]
    assert found["torch"] == "torch==2.9.1+cu128"
    assert found["my-project"].startswith("-e git+https")


def test_explicit_lists_are_read() -> None:
    found = explicit_packages(EXPLICIT.splitlines())
    assert list(found) == ["python", "ca-certificates", "libgcc-ng"]
    assert found["python"].endswith("#7fd2fd79436d9b473812f14e86746844")


def test_the_way_back_undoes_what_was_added_changed_and_removed() -> None:
    before = {"torch": "torch==2.8.0", "old": "old==1", "same": "same==1"}
    after = {"torch": "torch==2.9.1", "new": "new==1", "same": "same==1"}
    assert back_to(before, after, after) == FreezeDifference(("new",), ("old==1", "torch==2.8.0"))


def test_what_somebody_else_changed_since_stays() -> None:
    before, after = {"torch": "torch==2.8.0"}, {"torch": "torch==2.9.1", "new": "new==1"}
    now = {"torch": "torch==2.7.0", "new": "new==1", "mine": "mine==1"}
    assert back_to(before, after, now) == FreezeDifference(("new",), (), ("torch",))


def test_what_is_back_already_is_not_done_again() -> None:
    before, after = {"torch": "torch==2.8.0"}, {"torch": "torch==2.9.1"}
    assert back_to(before, after, before) == FreezeDifference((), ())


PACKAGES = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(("1", "2", "3")))


@given(PACKAGES, PACKAGES)
def test_right_after_the_step_the_way_back_is_whole(before: dict[str, str], after: dict[str, str]) -> None:
    back = back_to(before, after, after)
    restored = {name: line for name, line in after.items() if name not in back.remove}
    restored.update({name: line for name, line in before.items() if after.get(name) != line})
    assert restored == before
    assert back.nothing == (before == after)
    assert back.left == ()


@given(PACKAGES, PACKAGES, PACKAGES)
def test_nothing_that_the_step_did_not_touch_is_touched(before: dict[str, str], after: dict[str, str], now: dict[str, str]) -> None:
    back = back_to(before, after, now)
    for name in back.remove:
        assert name not in before
        assert now[name] == after[name]


@given(st.lists(st.text()))
def test_any_lines_are_survived(lines: list[str]) -> None:
    assert set(frozen_packages(lines).values()) <= {line.strip() for line in lines}
    assert set(explicit_packages(lines).values()) <= {line.strip() for line in lines}
