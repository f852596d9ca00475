"""A torch's version in all the forms that users bring."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.torch_version import BuildOrigin, read_torch_version
from gpuassist.model.version import Version
from tests.rows import for_each


@for_each(
    ("words", "release", "origin"),
    [
        ("2.6", "2.6", BuildOrigin.RELEASE),
        ("v2.6.0", "2.6.0", BuildOrigin.RELEASE),
        (" 2.6.0\n", "2.6.0", BuildOrigin.RELEASE),
        ("2.1.0+cu121", "2.1.0", BuildOrigin.RELEASE),
        ("2.1.0+cu121.with.pypi.cudnn", "2.1.0", BuildOrigin.RELEASE),
        ("1.13.1.post200", "1.13.1", BuildOrigin.RELEASE),
        ("2.6.0a0+git1eba9b3", "2.6.0", BuildOrigin.SOURCE),
        ("2.6.0a0+git123", "2.6.0", BuildOrigin.SOURCE),
        ("1.13.0a0", "1.13.0", BuildOrigin.SOURCE),
        ("2.7.0.dev20250226+cu128", "2.7.0", BuildOrigin.NIGHTLY),
        ("2.7.0-rc5", "2.7.0", BuildOrigin.CANDIDATE),
        ("2.7.0rc5+cu128", "2.7.0", BuildOrigin.CANDIDATE),
        ("1.13.0a0+936e930", "1.13.0", BuildOrigin.NVIDIA),
        ("2.5.0a0+b465a5843b.nv24.09", "2.5.0", BuildOrigin.NVIDIA),
        ("2.0.0+nv23.05", "2.0.0", BuildOrigin.NVIDIA),
        ("2.11.0A0+EB65B36914.NV26.02", "2.11.0", BuildOrigin.NVIDIA),
    ],
)
def test_version_tells_who_built_it(words: str, release: str, origin: BuildOrigin) -> None:
    read = read_torch_version(words)
    assert read is not None
    assert (read.release, read.origin) == (Version.parse(release), origin)


@for_each(
    ("words", "tag", "cuda"),
    [
        ("2.1.0+cu121", "cu121", "12.1"),
        ("2.15.0+cu134", "cu134", "13.4"),
        ("1.12.1+cu102", "cu102", "10.2"),
        ("0.4.1+cu92", "cu92", "9.2"),
        ("2.1.0.dev20230501+cu118-with-pypi-cudnn", "cu118", "11.8"),
        ("2.13.0+cpu", "cpu", None),
        ("2.9.0+rocm6.4", "rocm6.4", None),
        ("2.8.0+xpu", "xpu", None),
        ("2.8.0", "", None),
        ("2.6.0a0+git123", "", None),
        ("2.5.0a0+b465a5843b.nv24.09", "", None),
        ("1.13.0a0+c0ffee1", "", None),
    ],
)
def test_tag_names_the_cuda_release(words: str, tag: str, cuda: str | None) -> None:
    read = read_torch_version(words)
    assert read is not None
    assert (read.tag, read.cuda) == (tag, Version.parse(cuda) if cuda else None)


@pytest.mark.parametrize(
    ("words", "month", "day"),
    [
        ("2.5.0a0+b465a5843b.nv24.09", "24.09", ""),
        ("2.0.0+nv23.05", "23.05", ""),
        ("2.7.0.dev20250226+cu128", "", "2025-02-26"),
        ("2.7.0.dev3", "", ""),
        ("1.13.0a0+936e930", "", ""),
        ("2.6.0", "", ""),
    ],
)
def test_month_and_day_are_told_where_they_stand(words: str, month: str, day: str) -> None:
    read = read_torch_version(words)
    assert read is not None
    assert (read.month, read.day) == (month, day)


@pytest.mark.parametrize(
    "words", ["", "torch", "2", "2.x", "cu121", "2.6.0+", "+cu121", "2.6.0 +cu121", "2..6", "2.6.0+cu12/1", "NaN"]
)
def test_other_words_are_no_version(words: str) -> None:
    assert read_torch_version(words) is None


@given(st.text(max_size=40))
def test_any_words_are_read_or_refused(words: str) -> None:
    read = read_torch_version(words)
    assert read is None or read.release.parts


@given(st.tuples(st.integers(0, 9), st.integers(0, 99), st.integers(0, 9)), st.sampled_from(["cu118", "cu126", "cu132"]))
def test_release_of_an_index_is_read_back(parts: tuple[int, int, int], tag: str) -> None:
    read = read_torch_version(".".join(map(str, parts)) + "+" + tag)
    assert read is not None
    assert (read.release.parts, read.tag, read.origin) == (parts, tag, BuildOrigin.RELEASE)
