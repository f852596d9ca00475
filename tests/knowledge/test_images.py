"""A container image by its name: every spelling of it, what follows by rule, and every month that is known, against the rest."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.knowledge.compatibility import driver_floor
from gpuassist.knowledge.images import ImageKnowledge, ImageReading, NotAnImage, read_image
from gpuassist.knowledge.records import ImageFamily, ImageRecord
from gpuassist.model.words import ENGLISH
from tests.knowledge.shipped import KNOWLEDGE, version
from tests.rows import for_each

IMAGES = KNOWLEDGE.images()
NEWEST = max(one.month for one in IMAGES if one.family is ImageFamily.NGC_PYTORCH)


def read(name: str) -> ImageReading:
    reading = KNOWLEDGE.image(name)
    assert isinstance(reading, ImageReading), ENGLISH(reading.reason)
    return reading


def refused(name: str) -> NotAnImage:
    reading = KNOWLEDGE.image(name)
    assert isinstance(reading, NotAnImage)
    return reading


# spelling, the name it stands for, CUDA
SPELLINGS = [
    ("nvcr.io/nvidia/pytorch:23.10-py3", "nvcr.io/nvidia/pytorch:23.10-py3", "12.2.2"),
    ("nvidia/pytorch:23.10-py3", "nvcr.io/nvidia/pytorch:23.10-py3", "12.2.2"),
    ("pytorch:23.10-py3", "nvcr.io/nvidia/pytorch:23.10-py3", "12.2.2"),
    ("pytorch:23.10", "nvcr.io/nvidia/pytorch:23.10", "12.2.2"),
    ("docker pull nvcr.io/nvidia/pytorch:23.10-py3", "nvcr.io/nvidia/pytorch:23.10-py3", "12.2.2"),
    ("podman pull nvcr.io/nvidia/pytorch:23.10-py3", "nvcr.io/nvidia/pytorch:23.10-py3", "12.2.2"),
    ("docker image pull pytorch:23.10-py3", "nvcr.io/nvidia/pytorch:23.10-py3", "12.2.2"),
    ("docker run --rm --gpus all nvcr.io/nvidia/pytorch:23.10-py3 bash", "nvcr.io/nvidia/pytorch:23.10-py3", "12.2.2"),
    ("FROM nvcr.io/nvidia/pytorch:23.10-py3 AS base", "nvcr.io/nvidia/pytorch:23.10-py3", "12.2.2"),
    ("FROM --platform=linux/amd64 'nvidia/cuda:12.4.1-base-ubi9'", "nvidia/cuda:12.4.1-base-ubi9", "12.4.1"),
    ("docker://nvcr.io/nvidia/pytorch:23.10-py3", "nvcr.io/nvidia/pytorch:23.10-py3", "12.2.2"),
    ("nvcr.io#nvidia/pytorch:23.10-py3", "nvcr.io/nvidia/pytorch:23.10-py3", "12.2.2"),
    ("docker://nvcr.io#nvidia/pytorch:23.10-py3", "nvcr.io/nvidia/pytorch:23.10-py3", "12.2.2"),
    ("https://nvcr.io/nvidia/pytorch:23.10-py3", "nvcr.io/nvidia/pytorch:23.10-py3", "12.2.2"),
    ("  NVCR.IO/nvidia/PyTorch:23.10-py3 ", "nvcr.io/nvidia/pytorch:23.10-py3", "12.2.2"),
    ("nvcr.io/nvidia/pytorch:23.10-py3@sha256:00ff", "nvcr.io/nvidia/pytorch:23.10-py3", "12.2.2"),
    ("nvcr.io/nvidia/pytorch:21.02-py3", "nvcr.io/nvidia/pytorch:21.02-py3", "11.2.0"),
    ("nvcr.io/nvidia/pytorch:22.04-py3", "nvcr.io/nvidia/pytorch:22.04-py3", "11.6.2"),
    ("nvcr.io/nvidia/pytorch:24.05-py3-igpu", "nvcr.io/nvidia/pytorch:24.05-py3-igpu", "12.4.1"),
    ("nvcr.io/nvidia/pytorch:25.02-py3-igpu", "nvcr.io/nvidia/pytorch:25.02-py3-igpu", "12.8.0"),
    ("nvcr.io/nvidia/pytorch:25.12-py3", "nvcr.io/nvidia/pytorch:25.12-py3", "13.1.0"),
    ("pytorch:26.03-py3", "nvcr.io/nvidia/pytorch:26.03-py3", "13.2.0"),
    ("nvcr.io/nvidia/tensorrt:24.05-py3", "nvcr.io/nvidia/tensorrt:24.05-py3", "12.4.1"),
    ("nvcr.io/nvidia/tritonserver:25.06-py3", "nvcr.io/nvidia/tritonserver:25.06-py3", "12.9.1"),
    ("tritonserver:24.08-py3-min", "nvcr.io/nvidia/tritonserver:24.08-py3-min", "12.6.0"),
    ("FROM nvcr.io/nvidia/tritonserver:25.10-vllm-python-py3", "nvcr.io/nvidia/tritonserver:25.10-vllm-python-py3", "13.0.2"),
    ("nvcr.io/nvidia/tritonserver:25.10-trtllm-python-py3", "nvcr.io/nvidia/tritonserver:25.10-trtllm-python-py3", "12.9.1"),
    ("tensorflow:24.08-tf2-py3", "nvcr.io/nvidia/tensorflow:24.08-tf2-py3", "12.6.0"),
    ("nvcr.io/nvidia/tensorflow:22.12-tf1-py3", "nvcr.io/nvidia/tensorflow:22.12-tf1-py3", "11.8.0"),
    ("docker pull nvcr.io/nvidia/jax:25.10-py3", "nvcr.io/nvidia/jax:25.10-py3", "13.0.2"),
    ("nvidia/tensorrt:24.05-py3", "nvcr.io/nvidia/tensorrt:24.05-py3", "12.4.1"),
    ("tensorrt:24.05-py3", "nvcr.io/nvidia/tensorrt:24.05-py3", "12.4.1"),
    ("nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04", "nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04", "12.4.1"),
    ("cuda:12.4.1-cudnn-devel-ubuntu22.04", "nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04", "12.4.1"),
    ("docker.io/nvidia/cuda:12.4.1-base-ubi9", "nvidia/cuda:12.4.1-base-ubi9", "12.4.1"),
    ("index.docker.io/nvidia/cuda:12.4.1-base-ubi9", "nvidia/cuda:12.4.1-base-ubi9", "12.4.1"),
    ("registry-1.docker.io/nvidia/cuda:12.4.1-base-ubi9", "nvidia/cuda:12.4.1-base-ubi9", "12.4.1"),
    ("nvcr.io/nvidia/cuda:12.4.1-base-ubi9", "nvidia/cuda:12.4.1-base-ubi9", "12.4.1"),
    ("cuda:12.4.1-base-ubi9", "nvidia/cuda:12.4.1-base-ubi9", "12.4.1"),
    ("cuda:12.4.1-runtime-rockylinux9", "nvidia/cuda:12.4.1-runtime-rockylinux9", "12.4.1"),
    ("cuda:12.4.1-devel-rockylinux8", "nvidia/cuda:12.4.1-devel-rockylinux8", "12.4.1"),
    ("cuda:12.8.1-cudnn-runtime-ubuntu24.04", "nvidia/cuda:12.8.1-cudnn-runtime-ubuntu24.04", "12.8.1"),
    ("cuda:11.8.0-cudnn8-devel-ubuntu22.04", "nvidia/cuda:11.8.0-cudnn8-devel-ubuntu22.04", "11.8.0"),
    ("cuda:12.3.2-cudnn9-runtime-ubuntu22.04", "nvidia/cuda:12.3.2-cudnn9-runtime-ubuntu22.04", "12.3.2"),
    ("cuda:11.1-cudnn8-runtime-ubuntu20.04", "nvidia/cuda:11.1-cudnn8-runtime-ubuntu20.04", "11.1"),
    ("cuda:10.2-base", "nvidia/cuda:10.2-base", "10.2"),
    ("cuda:10.1-cudnn7-devel-ubuntu18.04", "nvidia/cuda:10.1-cudnn7-devel-ubuntu18.04", "10.1"),
    ("cuda:9.0-devel-ubuntu16.04", "nvidia/cuda:9.0-devel-ubuntu16.04", "9.0"),
    ("cuda:11.4.3-base-centos7", "nvidia/cuda:11.4.3-base-centos7", "11.4.3"),
    ("cuda:11.7.1-base-ubi8", "nvidia/cuda:11.7.1-base-ubi8", "11.7.1"),
    ("cuda:13.0.2-devel-ubuntu24.04", "nvidia/cuda:13.0.2-devel-ubuntu24.04", "13.0.2"),
    ("cuda:13.0.1-tensorrt-devel-ubuntu24.04", "nvidia/cuda:13.0.1-tensorrt-devel-ubuntu24.04", "13.0.1"),
    ("nvidia/cuda:13.4.2-cudnn-runtime-ubuntu24.04", "nvidia/cuda:13.4.2-cudnn-runtime-ubuntu24.04", "13.4.2"),
    ("pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime", "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime", "12.4"),
    ("pytorch/pytorch:2.4.0-cuda12.4-cudnn9-devel", "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-devel", "12.4"),
    ("docker.io/pytorch/pytorch:2.7.0-cuda12.8-cudnn9-devel", "pytorch/pytorch:2.7.0-cuda12.8-cudnn9-devel", "12.8"),
    ("pytorch:2.9.0-cuda12.8-cudnn9-devel", "pytorch/pytorch:2.9.0-cuda12.8-cudnn9-devel", "12.8"),
    ("docker pull pytorch/pytorch:2.1.2-cuda11.8-cudnn8-devel", "pytorch/pytorch:2.1.2-cuda11.8-cudnn8-devel", "11.8"),
    ("pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime", "pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime", "11.6"),
    ("pytorch/pytorch:1.4-cuda10.1-cudnn7-devel", "pytorch/pytorch:1.4-cuda10.1-cudnn7-devel", "10.1"),
    ("pytorch/pytorch:0.4.1-cuda9-cudnn7-devel", "pytorch/pytorch:0.4.1-cuda9-cudnn7-devel", "9"),
    ("pytorch/pytorch:2.10.0-cuda13.0-cudnn9-runtime", "pytorch/pytorch:2.10.0-cuda13.0-cudnn9-runtime", "13.0"),
]

REFUSED = [
    "",
    ":",
    "@",
    "ubuntu:22.04",
    "23.10-py3",
    "nvcr.io/nvidia/pytorch",
    "nvcr.io/nvidia/pytorch:latest",
    "nvcr.io/nvidia/pytorch:23.13-py3",
    "nvcr.io/nvidia/pytorch:23.1-py3",
    "nvcr.io/nvidia/pytorch:2023.10-py3",
    "nvcr.io/nvidia/pytorch:23.10-py4",
    "nvcr.io/nvidia/tensorrt:10.0",
    "nvcr.io/nvidia/l4t-pytorch:r35.2.1-pth2.0-py3",
    "nvidia/cuda",
    "nvidia/cuda:latest",
    "nvidia/cuda:12.4.1",
    "nvidia/cuda:12-base-ubuntu22.04",
    "nvidia/cuda:12.4.1-cudnn-base-ubuntu22.04",
    "nvidia/cuda:12.4.1-develop-ubuntu22.04",
    "nvidia/cuda:12.4.1-devel-cudnn-ubuntu22.04",
    "pytorch/pytorch:2.4.0",
    "pytorch/pytorch:latest",
    "pytorch/pytorch:2.4.0-cuda12.4-runtime",
    "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-base",
    "rocm/pytorch:latest",
    "tensorflow/tensorflow:2.15.0-gpu",
    "tensorflow:latest-gpu",
    "nvcr.io/nvidia/tensorflow:2.15.0",
    "nvcr.io/nvidia/pytorch:24.08-tf2-py3",
    "nvcr.io/nvidia/jax:25.04-vllm-python-py3",
    "nvcr.io/nvidia/tritonserver:latest",
    "my.registry:5000/nvidia/pytorch:23.10-py3",
    "docker run ubuntu:24.04 nvidia-smi",
]


@for_each(("words", "name", "cuda"), SPELLINGS)
def test_image_is_read_in_every_spelling(words: str, name: str, cuda: str) -> None:
    reading = read(words)
    assert (reading.name, str(reading.cuda), reading.newer_than_known) == (name, cuda, False)


@for_each("words", REFUSED)
def test_what_is_no_image_is_told_with_what_is_expected(words: str) -> None:
    answer = refused(words)
    assert answer.name == words
    assert ENGLISH(answer.reason)
    assert answer.expected
    assert all(isinstance(KNOWLEDGE.image(example), ImageReading) for example in answer.expected)


def test_sixty_spellings_and_more_are_tried() -> None:
    assert len({words for words, *_ in SPELLINGS} | set(REFUSED)) >= 60


def test_malformed_tag_names_its_own_kind_alone() -> None:
    assert refused("nvidia/cuda:12").expected == ("nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04",)


def test_image_without_a_release_is_told_to_name_one() -> None:
    assert "names no release" in ENGLISH(refused("pytorch/pytorch:latest").reason)


def test_cudnn_on_base_is_told_apart() -> None:
    assert "not with base" in ENGLISH(refused("cuda:12.4.1-cudnn-base-ubuntu22.04").reason)


def test_a_month_is_answered_from_the_table() -> None:
    reading = read("pytorch:24.05-py3")
    assert (reading.torch, reading.tensorrt, str(reading.python)) == ("2.4.0a0+07cecf4168", "10.0.1.6", "3.10")
    assert (reading.os, str(reading.glibc), reading.nvcc_inside, reading.cudnn_inside) == ("ubuntu22.04", "2.35", True, True)


def test_driver_of_a_month_is_what_its_notes_ask_for() -> None:
    reading = read("pytorch:23.04-py3")
    assert (str(reading.driver_min), str(reading.driver_floor)) == ("530", "525.60.13")
    assert version("470.57") in reading.compat_drivers


def test_driver_of_a_month_without_notes_is_the_one_made_for_its_cuda() -> None:
    reading = read("pytorch:24.10-py3")
    assert (str(reading.driver_min), str(reading.driver_floor)) == ("560.28.03", "525.60.13")


@pytest.mark.parametrize(
    ("month", "oldest"), [("21.02", "6.0"), ("24.06", "6.0"), ("24.10", "None"), ("25.03", "7.5"), ("26.02", "7.5")]
)
def test_oldest_gpu_of_a_month_is_what_its_notes_name(month: str, oldest: str) -> None:
    assert str(read(f"pytorch:{month}-py3").capability_min) == oldest


@pytest.mark.parametrize(
    ("name", "requires"),
    [
        ("pytorch:25.12-py3", "9.0"),
        ("pytorch:31.01-py3", "9.0"),
        ("tensorrt:24.05-py3", "9.0"),
        ("pytorch:25.02-py3-igpu", "None"),
        ("cuda:12.4.1-base-ubuntu22.04", "12.4"),
        ("pytorch/pytorch:2.4.0-cuda12.4-cudnn9-devel", "12.4"),
        ("pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime", "None"),
    ],
)
def test_start_is_refused_below_what_the_image_requires(name: str, requires: str) -> None:
    assert str(read(name).requires_cuda) == requires


def test_month_newer_than_known_is_answered_by_rule() -> None:
    reading = read("nvcr.io/nvidia/pytorch:31.01-py3")
    assert reading.newer_than_known
    assert (reading.cuda, reading.torch, reading.driver_min, reading.nvcc_inside) == (None, None, None, True)
    assert reading.source


def test_month_older_than_known_is_not_called_newer() -> None:
    reading = read("nvcr.io/nvidia/pytorch:18.06-py3")
    assert (reading.cuda, reading.newer_than_known) == (None, False)


def test_without_any_table_a_month_is_still_read() -> None:
    reading = read_image("pytorch:23.10-py3", ImageKnowledge((), (), ()))
    assert isinstance(reading, ImageReading)
    assert (reading.cuda, reading.newer_than_known) == (None, False)


def test_jetson_variant_has_no_driver_of_its_own() -> None:
    reading = read("pytorch:25.02-py3-igpu")
    assert (reading.integrated, reading.driver_min, reading.driver_floor, reading.compat_drivers) == (True, None, None, ())
    assert str(reading.jetpack) == "6.2"


def test_jetpack_is_said_of_the_jetson_variant_alone() -> None:
    assert read("pytorch:25.02-py3").jetpack is None


def test_tensorrt_image_has_no_torch() -> None:
    reading = read("tensorrt:24.05-py3")
    assert (reading.torch, reading.tensorrt) == ("", "10.0.1.6")


@pytest.mark.parametrize(("flavour", "inside"), [("base", False), ("runtime", False), ("devel", True)])
def test_only_devel_has_the_compiler(flavour: str, inside: bool) -> None:
    assert read(f"cuda:12.4.1-{flavour}-ubuntu22.04").nvcc_inside is inside


@pytest.mark.parametrize(
    ("tag", "inside", "number"),
    [
        ("12.4.1-cudnn-devel-ubuntu22.04", True, None),
        ("11.8.0-cudnn8-devel-ubuntu22.04", True, "8"),
        ("12.4.1-devel-ubuntu22.04", False, ""),
        ("13.0.1-tensorrt-devel-ubuntu24.04", None, None),
    ],
)
def test_cudnn_is_inside_where_the_name_says_so(tag: str, inside: bool | None, number: str | None) -> None:
    reading = read(f"nvidia/cuda:{tag}")
    assert (reading.cudnn_inside, reading.cudnn) == (inside, number)


@pytest.mark.parametrize(
    ("system", "glibc"),
    [("ubuntu18.04", "2.27"), ("ubuntu24.04", "2.39"), ("ubi8", "2.28"), ("rockylinux9", "2.34"), ("centos7", "2.17")],
)
def test_c_library_is_that_of_the_system(system: str, glibc: str) -> None:
    assert str(read(f"cuda:11.4.3-runtime-{system}").glibc) == glibc


def test_system_that_is_not_known_has_no_c_library() -> None:
    reading = read("cuda:13.5.0-base-ubuntu30.04")
    assert (reading.os, reading.glibc) == ("ubuntu30.04", None)


def test_tag_without_a_system_does_not_say_it() -> None:
    assert read("cuda:10.2-base").os is None


def test_driver_of_a_cuda_image_is_its_releases() -> None:
    reading = read("cuda:12.4.1-base-ubuntu22.04")
    assert (str(reading.driver_min), str(reading.driver_floor)) == ("550.54.14", "525.60.13")


def test_cuda_newer_than_known_is_answered_by_rule() -> None:
    reading = read("cuda:19.1.0-devel-ubuntu24.04")
    assert (reading.newer_than_known, reading.driver_min, reading.nvcc_inside) == (True, None, True)
    assert reading.driver_floor == driver_floor(version("19.1"))


def test_official_torch_image_is_read_from_its_name() -> None:
    reading = read("pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime")
    assert (reading.torch, reading.cudnn, reading.nvcc_inside, reading.tensorrt) == ("2.4.0", "9", False, "")
    assert read("pytorch/pytorch:2.4.0-cuda12.4-cudnn9-devel").nvcc_inside


@given(st.text())
def test_no_name_is_too_strange(words: str) -> None:
    assert isinstance(KNOWLEDGE.image(words), ImageReading | NotAnImage)


@given(st.from_regex(r"(nvcr\.io/)?nvidia/(pytorch|tensorrt|cuda):[0-9.a-z-]{0,24}", fullmatch=True))
def test_every_tag_is_read_or_refused_with_examples(words: str) -> None:
    answer = KNOWLEDGE.image(words)
    assert answer.source if isinstance(answer, ImageReading) else answer.expected


@given(st.integers(10, 99), st.integers(1, 12))
def test_every_month_is_read(year: int, month: int) -> None:
    reading = read(f"pytorch:{year:02}.{month:02}-py3")
    assert reading.newer_than_known == ((year, month) > NEWEST.parts)


@pytest.mark.parametrize("family", sorted({one.family for one in IMAGES}))
def test_months_ascend_and_none_stands_twice(family: ImageFamily) -> None:
    months = [(one.month, one.variant) for one in IMAGES if one.family is family]
    assert months == sorted(set(months))
    assert all(month.major >= 21 and re.fullmatch(r"\d\d\.(0[1-9]|1[0-2])", str(month)) for month, _ in months)


def test_cuda_of_the_months_never_falls() -> None:
    cudas = [one.cuda for one in IMAGES if one.family is ImageFamily.NGC_PYTORCH and one.cuda]
    assert [one.release for one in cudas] == sorted(one.release for one in cudas)


def test_torch_of_the_months_never_falls() -> None:
    torches = [one for one in IMAGES if one.torch and one.family is ImageFamily.NGC_PYTORCH]
    releases = [version(one.torch).release for one in torches if one.torch]
    # 23.04 was built from torch's main branch, the one after it from the release branch.
    fallen = [torches[place].name for place in range(1, len(releases)) if releases[place] < releases[place - 1]]
    assert fallen == ["nvcr.io/nvidia/pytorch:23.05-py3"]


@for_each("image", IMAGES)
def test_month_agrees_with_the_toolkits(image: ImageRecord) -> None:
    if image.cuda is None:
        assert image.driver is None
        return
    toolkit = KNOWLEDGE.toolkit(image.cuda)
    assert toolkit is not None
    assert image.driver is None or image.driver.parts >= toolkit.driver_floor.parts[: len(image.driver.parts)]
    assert all(image.driver and older < image.driver for older in image.compat_drivers)
    assert image.capability_min is None or image.capability_min >= toolkit.targets[0].capability


@for_each("image", IMAGES)
def test_month_is_found_by_its_own_name(image: ImageRecord) -> None:
    reading = read(image.name)
    assert (reading.name, reading.torch, reading.version) == (image.name, image.torch, image.version)
    assert reading.source.startswith(image.source)
    if image.cuda is not None:  # of one image of a month the patch number may be known, of another not
        assert reading.cuda is not None
        assert (reading.cuda.release, reading.by_base) == (image.cuda.release, False)


@for_each("image", IMAGES)
def test_torch_of_a_month_is_spelled_as_it_prints_itself(image: ImageRecord) -> None:
    with_torch = image.family is ImageFamily.NGC_PYTORCH or image.variant.endswith("python")
    if not with_torch:
        assert image.torch == ""
    elif image.torch is not None:
        assert re.fullmatch(r"\d\.\d+\.0(a0\+[0-9a-f]{7,10})?", image.torch)


def test_images_of_a_month_share_their_base() -> None:
    """What the rule for months that no source tells of rests on: CUDA, Python and Ubuntu of each month agree wherever two tell."""
    months: dict[object, list[ImageRecord]] = {}
    for image in IMAGES:
        if not image.variant.endswith("python"):
            months.setdefault(image.month, []).append(image)
    shared = 0
    for of_month in months.values():
        for told in (
            {one.cuda.release for one in of_month if one.cuda},
            {one.python for one in of_month if one.python},
            {one.system for one in of_month if one.system},
        ):
            assert len(told) <= 1, of_month
        told_apart = {one.family for one in of_month if one.cuda} - {ImageFamily.NGC_TENSORRT}
        shared += len(told_apart) > 1
    assert shared >= 15


def test_a_month_that_nothing_tells_of_is_told_by_its_base() -> None:
    reading = read("tensorflow:24.08-tf2-py3")
    assert (reading.by_base, reading.version, str(reading.cuda), str(reading.python)) == (True, None, "12.6.0", "3.10")
    assert "common base" in reading.source


def test_jax_before_it_stood_on_the_base_is_not_known() -> None:
    for month in ("23.10", "24.04", "25.01"):
        reading = read(f"jax:{month}-py3")
        assert (reading.cuda, reading.driver_min, reading.by_base) == (None, None, False)


def test_base_is_not_told_of_months_after_an_image_ended() -> None:
    reading = read("tensorflow:25.10-tf2-py3")
    assert (reading.cuda, reading.newer_than_known) == (None, True)


def test_systems_of_the_months_are_known() -> None:
    names = {one.name for one in KNOWLEDGE.systems()}
    assert {one.system for one in IMAGES if one.system} <= names


def test_no_system_stands_twice() -> None:
    names = [one.name for one in KNOWLEDGE.systems()]
    assert len(names) == len(set(names)) >= 20
