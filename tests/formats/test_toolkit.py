"""version.json, version.txt and the host compiler checks of host_config.h."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.toolkit import parse_clang_limit, parse_gcc_limit, parse_version_json, parse_version_txt


def host_config(gcc: int, clang_before: int) -> str:
    """The checks as every header since 11.0 has them, other compilers' before the two that count."""
    return f"""
#if (__GRCO_CLANG_COMPILER__ == 1) && ((__clang_major__ < 16) || (__clang_major__ > 99))
#endif
#if defined(__GNUC__)

#if __GNUC__ > {gcc}

#error -- unsupported GNU version!

#endif /* __GNUC__ > {gcc} */

#if defined(__HORIZON__)
#if (__clang_major__ >= 77) || (__clang_major__ < 3) || ((__clang_major__ == 3) &&  (__clang_minor__ < 3))
#endif
#endif
#if defined(__clang__) && !defined(__ibmxl_vrm__) && !defined(__ICC) && !defined(__HORIZON__) && !defined(__APPLE__)

#if (__clang_major__ >= {clang_before}) || (__clang_major__ < 3) || ((__clang_major__ == 3) &&  (__clang_minor__ < 3))
#error -- unsupported clang version!
#endif
#endif
#endif
"""


@pytest.mark.parametrize(("gcc", "clang_before"), [(11, 14), (12, 17), (13, 18), (14, 20), (15, 21), (16, 23)])
def test_limits_are_the_newest_that_the_header_accepts(gcc: int, clang_before: int) -> None:
    header = host_config(gcc, clang_before)
    assert (parse_gcc_limit(header), parse_clang_limit(header)) == (gcc, clang_before - 1)


def test_old_header_compares_minor_versions_too() -> None:
    assert parse_gcc_limit("#if __GNUC__ > 5 || (__GNUC__ == 5 && __GNUC_MINOR__ > 4)\n") == 5


def test_old_header_compares_clang_with_greater() -> None:
    assert parse_clang_limit("#if defined(__clang__)\n#if (__clang_major__ > 8)\n") == 8


NO_RELEASES = (f"#if __GNUC__ > {'9' * 5000}\n", f"#if defined(__clang__)\n#if __clang_major__ > {'9' * 5000}\n")


@pytest.mark.parametrize("words", ["", "#error\n", "#if __GNUC__ < 3\n", "#if defined(__clang__)\n", *NO_RELEASES])
def test_header_without_checks_names_no_limit(words: str) -> None:
    assert (parse_gcc_limit(words), parse_clang_limit(words)) == (None, None)


def test_version_json_names_the_release() -> None:
    data = b'{"cuda": {"name": "CUDA SDK", "version": "13.0.2"}, "cuda_nvcc": {"name": "CUDA NVCC", "version": "13.0.88"}}'
    assert str(parse_version_json(data)) == "13.0.2"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'{"cuda": 12}',
        b'{"cuda": {}}',
        b'{"cuda": {"version": 12}}',
        b'{"cuda": {"version": "x"}}',
        b"\xff",
        b"[" * 200_000,
    ],
)
def test_damaged_version_json_names_none(data: bytes) -> None:
    assert parse_version_json(data) is None


def test_version_txt_names_the_release() -> None:
    assert str(parse_version_txt("CUDA Version 10.2.89\nCUDA Patch Version 10.2.1\n")) == "10.2.89"


def test_other_version_txt_names_none() -> None:
    assert parse_version_txt("10.2\n") is None


@given(st.binary(max_size=200))
def test_any_bytes_are_survived(data: bytes) -> None:
    parse_version_json(data)
    parse_version_txt(data.decode("latin-1"))
    parse_gcc_limit(data.decode("latin-1"))
    parse_clang_limit(data.decode("latin-1"))
