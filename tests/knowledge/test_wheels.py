"""The packages with parts of CUDA: each is named, placed and sourced, and every one that a torch asks for is among them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.knowledge.companions import holding
from gpuassist.knowledge.records import WheelRecord
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each

WHEELS = KNOWLEDGE.wheels()
NAMES = [one.distribution for one in WHEELS]
SUFFIX = re.compile(r"-cu(\d\d)$")
SONAME = re.compile(r"lib\w+\.so\.\d+(\.\d+)?")
BETWEEN_MAJORS = {"nvidia-ml-py", "cuda-bindings", "cuda-pathfinder", "cuda-toolkit"}
wheels = st.sampled_from(WHEELS)


def wheel(name: str) -> WheelRecord:
    found = KNOWLEDGE.wheel(name)
    assert found is not None
    return found


def names(found: tuple[WheelRecord, ...]) -> list[str]:
    return [one.distribution for one in found]


def test_names_are_unique_in_order_and_as_pip_writes_them() -> None:
    assert sorted(set(NAMES)) == NAMES
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in NAMES)


@pytest.mark.parametrize("spelling", ["nvidia-cublas-cu12", "nvidia_cublas_cu12", "NVIDIA.cuBLAS-cu12", "nvidia__cublas.cu12"])
def test_any_spelling_that_pip_takes_is_found(spelling: str) -> None:
    assert wheel(spelling).distribution == "nvidia-cublas-cu12"


@pytest.mark.parametrize("name", ["", "nvidia", "torch", "nvidia-cublas-cu14"])
def test_other_packages_are_not_known(name: str) -> None:
    assert KNOWLEDGE.wheel(name) is None


def test_every_package_that_a_torch_asks_for_is_known() -> None:
    pinned = {name for build in KNOWLEDGE.torch_builds() for name, _ in build.pins or ()}
    assert {name for name in pinned if name.startswith(("nvidia-", "cuda-"))} <= set(NAMES)


def test_no_torch_asks_for_a_placeholder() -> None:
    pinned = {name for build in KNOWLEDGE.torch_builds() for name, _ in build.pins or ()}
    assert pinned.isdisjoint(one.distribution for one in WHEELS if one.instead)


def test_packages_of_a_build_are_of_its_cuda() -> None:
    for build in KNOWLEDGE.torch_builds():
        found = [KNOWLEDGE.wheel(name) for name, _ in build.pins or ()]
        majors = {major for one in found if one and len(one.cuda_majors) == 1 for major in one.cuda_majors}
        assert not majors or (build.cuda is not None and majors == {build.cuda.major}), (build.release, build.tag)


@for_each("one", [one for one in WHEELS if one.of_cuda])
def test_suffix_is_the_cuda_major(one: WheelRecord) -> None:
    found = SUFFIX.search(one.distribution)
    if found:
        assert one.cuda_majors == (int(found[1]),)
    elif one.distribution not in BETWEEN_MAJORS:
        assert one.cuda_majors == (13,)


@for_each("one", WHEELS)
def test_role_is_one_plain_sentence(one: WheelRecord) -> None:
    assert one.role[0].isupper()
    assert one.role.endswith(".")
    assert ". " not in one.role
    assert one.source
    assert one.checked


@for_each("one", WHEELS)
def test_libraries_are_sonames_in_a_directory(one: WheelRecord) -> None:
    assert all(SONAME.fullmatch(library) for library in one.libraries)
    assert len(set(one.libraries)) == len(one.libraries)
    assert not one.libraries or one.directory


@for_each("one", [one for one in WHEELS if one.instead])
def test_placeholder_is_empty_and_names_the_real_package(one: WheelRecord) -> None:
    assert (one.libraries, one.compilers, one.directory) == ((), (), "")
    assert one.distribution == f"{one.instead}-cu13"
    assert not wheel(one.instead).instead


@for_each("one", [one for one in WHEELS if one.directory])
def test_unsuffixed_packages_share_one_tree(one: WheelRecord) -> None:
    unsuffixed = one.distribution.startswith("nvidia-") and not SUFFIX.search(one.distribution)
    assert one.directory.startswith("nvidia/cu13/") == unsuffixed


def test_nvcc_is_in_no_package_before_cuda_13() -> None:
    assert names(tuple(one for one in WHEELS if "nvcc" in one.compilers)) == ["nvidia-cuda-nvcc"]
    assert wheel("nvidia-cuda-nvcc-cu12").compilers == wheel("nvidia-cuda-nvcc-cu11").compilers == ("ptxas",)


@pytest.mark.parametrize(
    ("library", "packages"),
    [
        ("libcublas.so.12", ["nvidia-cublas-cu12"]),
        ("libcublasLt.so.13", ["nvidia-cublas"]),
        ("libcudart.so.11.0", ["nvidia-cuda-runtime-cu11"]),
        ("libcudnn.so.8", ["nvidia-cudnn-cu11", "nvidia-cudnn-cu12"]),
        ("libcudnn.so.9.1.0", ["nvidia-cudnn-cu11", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"]),
        ("libnvJitLink.so.12", ["nvidia-nvjitlink-cu12"]),
        ("libcusparseLt.so.0", ["nvidia-cusparselt-cu12", "nvidia-cusparselt-cu13"]),
        ("libcupti.so.11.7", ["nvidia-cuda-cupti-cu11"]),
        ("libcufft.so.1", []),
        ("libcuda.so.1", []),
    ],
)
def test_missing_library_leads_to_its_package(library: str, packages: list[str]) -> None:
    assert names(holding(library, WHEELS)) == packages


@given(wheels, wheels)
def test_nothing_of_one_major_overwrites_anything_of_it(one: WheelRecord, other: WheelRecord) -> None:
    files = {(one.directory, name) for name in (*one.libraries, *one.compilers)}
    shared = files & {(other.directory, name) for name in (*other.libraries, *other.compilers)}
    assert one == other or not shared or set(one.cuda_majors).isdisjoint(other.cuda_majors)


def test_tensorrt_is_no_part_of_cuda_that_torch_brought() -> None:
    """What goes out of an environment with torch is CUDA's: TensorRT was installed by itself."""
    assert [one.distribution for one in WHEELS if not one.of_cuda] == [
        one.distribution for one in WHEELS if one.distribution.startswith("tensorrt")
    ]


@for_each("one", [one for one in WHEELS if one.last])
def test_last_release_has_its_day(one: WheelRecord) -> None:
    assert one.last_seen
