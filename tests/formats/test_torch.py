"""torch's version.py in its forms, and the architectures among a library's constants."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.torch import find_targets, parse_version_file

PLAIN = "__version__ = '1.13.1+cu117'\ndebug = False\ncuda = '11.7'\ngit_version = '49444c3e54'\nhip = None\n"
ANNOTATED = """from typing import Optional

__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'rocm', 'xpu']
__version__ = '2.13.0+cu130'
debug = False
cuda: Optional[str] = '13.0'
git_version = 'cf30153c4c131c8164ee7798e5022d810682e2cb'
hip: Optional[str] = None
rocm: Optional[str] = None
xpu: Optional[str] = None
"""
ROCM = "__version__ = '2.9.0+rocm6.4'\ncuda: Optional[str] = None\nhip: Optional[str] = '6.4.43484-123eb5128'\n"


def test_plain_form_is_read() -> None:
    said = parse_version_file(PLAIN)
    assert (said["__version__"], said["cuda"], "hip" in said) == ("1.13.1+cu117", "11.7", False)


def test_annotated_form_is_read() -> None:
    said = parse_version_file(ANNOTATED)
    assert (said["__version__"], said["cuda"], "xpu" in said) == ("2.13.0+cu130", "13.0", False)


def test_rocm_build_names_hip_alone() -> None:
    said = parse_version_file(ROCM)
    assert "cuda" not in said
    assert said["hip"].startswith("6.4")


@pytest.mark.parametrize("source", ["", "__version__ = ", "\0", "import os; os.abort()", "x = [1]\n", "def f(): return '1'\n"])
def test_other_source_names_nothing_and_does_not_run(source: str) -> None:
    assert parse_version_file(source) == {}


def _words(data: bytes) -> str:
    return " ".join(map(str, find_targets(data)))


def test_list_ends_at_its_zero_byte() -> None:
    assert _words(b"\0cudart\0sm_75 sm_80 sm_86 sm_90 sm_100 sm_120\0next\0") == "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"


def test_list_glued_to_the_string_before_is_found() -> None:
    assert _words(b"_cuda_getArchFlagssm_50 sm_60 compute_90\0") == "sm_50 sm_60 compute_90"


def test_longest_list_wins() -> None:
    assert _words(b"sm_80\0sm_50 sm_60 sm_70\0compute_90\0") == "sm_50 sm_60 sm_70"


def test_single_architecture_of_a_home_made_build_is_found() -> None:
    assert _words(b"\0sm_89\0") == "sm_89"


def test_feature_suffix_is_kept() -> None:
    assert _words(b"sm_90a sm_120f\0") == "sm_90a sm_120f"


@pytest.mark.parametrize("data", [b"", b"sm_", b"sm_7\0", b"asm_volatile\0", b"sm_75 sm_80", b"sm_%d\0", b"gfx90a gfx942\0"])
def test_library_without_a_list_names_none(data: bytes) -> None:
    assert find_targets(data) == ()


@given(st.binary(max_size=200), st.lists(st.sampled_from(["sm_75", "sm_90a", "compute_120"]), min_size=4, max_size=9))
def test_list_is_found_between_any_bytes(around: bytes, targets: list[str]) -> None:
    assert _words(around + b"\0" + " ".join(targets).encode() + b"\0" + around) == " ".join(targets)
