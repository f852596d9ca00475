"""Rows of images, systems and conda builds: what is missing or wrong in one is named, and what may be left out is unknown."""

from __future__ import annotations

from typing import Any

import pytest

from gpuassist.knowledge import build
from gpuassist.knowledge.records import Channel, ImageFamily
from gpuassist.knowledge.rows import Row, RowError, Source
from gpuassist.model.version import VersionError
from tests.knowledge.shipped import version

SOURCES = {"here": Source("a page", "2026-11-21")}
IMAGE: dict[str, Any] = {"family": "nvcr.io/nvidia/pytorch", "month": "23.10", "cuda": "12.2.2", "source": "here"}
CONDA: dict[str, Any] = {"channel": "pytorch", "version": "2.5.1", "platform": "linux-64", "source": "here"}


def row(fields: dict[str, Any], **more: object) -> Row:
    return Row(3, {**fields, **more})


def test_month_with_the_least_leaves_the_rest_unknown() -> None:
    record = build.image(row(IMAGE), SOURCES)
    assert (record.family, record.name) == (ImageFamily.NGC_PYTORCH, "nvcr.io/nvidia/pytorch:23.10-py3")
    assert (record.torch, record.tensorrt, record.python, record.system, record.driver, record.jetpack) == (None,) * 6
    assert record.compat_drivers == ()


def test_month_with_everything_is_read_whole() -> None:
    record = build.image(row(IMAGE, torch="2.1.0a0+32f93b1", driver="535", compat_drivers=["470.57"], jetpack="6.0"), SOURCES)
    assert (record.torch, record.driver, record.compat_drivers) == ("2.1.0a0+32f93b1", version("535"), (version("470.57"),))
    assert (record.source, record.checked) == ("a page", "2026-11-21")


def test_row_may_have_been_looked_at_on_its_own_day() -> None:
    assert build.image(row(IMAGE, checked="2026-11-30"), SOURCES).checked == "2026-11-30"


def test_null_is_not_known() -> None:
    image = build.image(row(IMAGE, torch=None, tensorrt=None, cuda=None), SOURCES)
    assert (image.tensorrt, image.cuda) == (None, None)


@pytest.mark.parametrize("missing", ["family", "month", "source"])
def test_month_without_a_field_is_refused(missing: str) -> None:
    fields = {name: value for name, value in IMAGE.items() if name != missing}
    with pytest.raises(RowError):
        build.image(row(fields), SOURCES)


@pytest.mark.parametrize("wrong", [{"family": "docker.io/x"}, {"month": "soon"}, {"cuda": "x"}, {"driver": "new"}, {"torch": 2}])
def test_month_with_a_wrong_field_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises((RowError, VersionError, ValueError)):
        build.image(row(IMAGE, **wrong), SOURCES)


def test_system_says_what_is_known_of_it() -> None:
    ubi9 = build.system(Row(2, {"system": "ubi9", "glibc": "2.34", "python": "3.9", "source": "here"}), SOURCES)
    assert (ubi9.glibc, ubi9.python) == (version("2.34"), version("3.9"))
    sles = build.system(Row(2, {"system": "sles15", "source": "here"}), SOURCES)
    assert (sles.glibc, sles.python) == (None, None)
    with pytest.raises(RowError):
        build.system(Row(2, {"glibc": "2.34", "source": "here"}), SOURCES)


def test_conda_build_without_a_cuda_is_for_the_cpu() -> None:
    record = build.conda(row(CONDA), SOURCES)
    assert (record.channel, record.cuda, record.selector, record.tegra) == (Channel.PYTORCH, None, "", False)
    assert (record.pythons, record.targets, record.cudnn) == (None, None, None)


def test_an_empty_list_is_not_an_unknown_one() -> None:
    record = build.conda(row(CONDA, pythons=[], targets=[]), SOURCES)
    assert (record.pythons, record.targets) == ((), ())


@pytest.mark.parametrize(
    "wrong", [{"channel": "mine"}, {"version": ""}, {"platform": 64}, {"targets": ["sm_x"]}, {"pythons": "3.12"}, {"tegra": "yes"}]
)
def test_conda_build_with_a_wrong_field_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises((RowError, VersionError, ValueError)):
        build.conda(row(CONDA, **wrong), SOURCES)
