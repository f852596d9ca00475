"""Architectures, images, packages and the numbers in messages: found in any spelling, and told with the nearest where not known."""

from __future__ import annotations

from typing import Any

import pytest

from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.words import ENGLISH
from gpuassist.session.lookup import architectures, codes, pairs
from gpuassist.session.lookup import images as know_images
from gpuassist.session.lookup import packages as know_packages
from gpuassist.session.lookup.answer import LookupAnswer, LookupStatus
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each

SHELVES = (
    architectures.SHELF,
    know_images.SHELF,
    know_packages.WHEEL,
    know_packages.CONDA,
    pairs.SHELF,
    codes.XID,
    codes.NVML,
)


def arch(words: str) -> LookupAnswer:
    return architectures.answer(KNOWLEDGE, words)


def image(words: str) -> LookupAnswer:
    return know_images.answer(KNOWLEDGE, words)


@pytest.mark.parametrize("words", ["sm_89", "SM_89", "compute_89", "8.9", "89", "Ada Lovelace", "ada", "lovelace"])
def test_architecture_is_found_in_any_spelling(words: str) -> None:
    answered = arch(words)
    assert answered.standing is LookupStatus.KNOWN
    assert (answered.record["compute_capability"], answered.record["architecture"]) == ("8.9", "Ada Lovelace")


@pytest.mark.parametrize(
    ("words", "first", "last", "driver"),
    [
        ("2.0", "3.0", "8.0", "390"),
        ("3.5", "5.0", "11.8", "470"),
        ("5.2", "6.5", "12.9", "580"),
        ("6.1", "8.0", "12.9", "580"),
        ("7.0", "9.0", "12.9", "580"),
        ("7.5", "10.0", None, None),
        ("8.9", "11.8", None, None),
        ("12.0", "12.8", None, None),
    ],
)
def test_architecture_knows_its_span(words: str, first: str, last: str | None, driver: str | None) -> None:
    record = arch(words).record
    assert (record["first_cuda"], record["last_cuda"], record["last_driver"]) == (first, last, driver)


@pytest.mark.parametrize(
    ("words", "runs_on"),
    [
        ("sm_89", ["8.9"]),
        ("sm_90a", ["9.0"]),
        ("sm_120", ["12.0", "12.1"]),
        ("sm_87", ["8.7"]),
        ("compute_100", ["10.0", "10.3", "10.7", "11.0", "12.0", "12.1"]),
        ("compute_90a", ["9.0"]),
    ],
)
def test_architecture_says_where_its_code_runs(words: str, runs_on: list[str]) -> None:
    assert arch(words).record["runs_on"] == runs_on


def test_architecture_says_whose_code_it_runs() -> None:
    assert arch("8.6").record["runs_code_of"] == ["sm_80", "sm_86"]


def test_generation_of_several_tells_each() -> None:
    record = arch("Ampere").record
    others = record["others"]
    assert isinstance(others, list)
    assert record["compute_capability"] is None
    assert {"8.0", "8.6", "8.7"} <= {str(one["compute_capability"]) for one in others if isinstance(one, dict)}


def test_renamed_architecture_is_told() -> None:
    answered = arch("sm_101")
    assert answered.record["compute_capability"] == "11.0"
    assert "12.8 and 12.9" in ENGLISH(answered.notes[0])


@pytest.mark.parametrize(
    ("words", "first"), [("sm_90", "11.8"), ("sm_90a", "12.0"), ("sm_100f", "12.9"), ("sm_101a", "12.8"), ("sm_110f", "12.9")]
)
def test_variant_has_a_span_of_its_own(words: str, first: str) -> None:
    assert arch(words).record["first_cuda"] == first


@pytest.mark.parametrize(("words", "near"), [("sm_89a", ("sm_89",)), ("compute_90f", ("sm_90", "sm_90a"))])
def test_variant_that_no_nvcc_knows_is_unknown(words: str, near: tuple[str, ...]) -> None:
    answered = arch(words)
    assert (answered.standing, answered.nearest) == (LookupStatus.UNKNOWN, near)


def test_architecture_of_nvcc_alone_is_known() -> None:
    answered = arch("sm_88")
    assert (answered.standing, answered.record["architecture"]) == (LookupStatus.KNOWN, None)
    assert answered.record["first_cuda"] == "13.0"


@pytest.mark.parametrize("words", ["sm_130", "13.0", "compute_200", "sm_999"])
def test_newer_architecture_is_answered_by_rule(words: str) -> None:
    answered = arch(words)
    assert answered.standing is LookupStatus.NEWER
    assert answered.record["first_cuda"] is None


@pytest.mark.parametrize(
    ("words", "near"), [("sm_82", "sm_80"), ("8.8.8", ""), ("amper", "Ampere"), ("blackwel", "Blackwell"), ("adda", "Ada")]
)
def test_unknown_architecture_gets_the_nearest(words: str, near: str) -> None:
    answered = arch(words)
    assert answered.standing is LookupStatus.UNKNOWN
    assert near in (*answered.nearest, "")


@pytest.mark.parametrize(
    ("words", "cuda", "nvcc"),
    [
        ("nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04", "12.4.1", True),
        ("cuda:12.4.1-base-ubi9", "12.4.1", False),
        ("docker pull nvcr.io/nvidia/pytorch:25.01-py3", "12.8.0", True),
    ],
)
def test_image_is_read_from_its_name(words: str, cuda: str, nvcc: bool) -> None:
    answered = image(words)
    assert answered.standing is LookupStatus.KNOWN
    assert (answered.record["cuda"], answered.record["nvcc_inside"]) == (cuda, nvcc)
    assert answered.record["source"]


def test_image_of_the_brief_is_answered() -> None:
    assert image("pytorch:23.10-py3").record["image"] == "nvcr.io/nvidia/pytorch:23.10-py3"


@pytest.mark.parametrize("words", ["nvcr.io/nvidia/pytorch:39.01-py3", "cuda:99.1.0-base-ubuntu22.04"])
def test_newer_image_is_answered_by_rule(words: str) -> None:
    answered = image(words)
    assert answered.standing is LookupStatus.NEWER
    assert "newer than what I know" in str(answered.record["source"])


@pytest.mark.parametrize("words", ["pytoch:25.01-py3", "cuda:latest", "ubuntu:22.04", ":", "cuda:12.4.1-cudnn-base-ubuntu22.04"])
def test_what_is_no_image_gets_names_that_are(words: str) -> None:
    answered = image(words)
    assert answered.standing is LookupStatus.UNKNOWN
    assert answered.nearest


@pytest.mark.parametrize("words", ["nvidia-cudnn-cu12", "NVIDIA_CUDNN.cu12", "nvidia-cudnn-cu12==9.1.0.70", "nvidia-cudnn-cu12>=9"])
def test_wheel_is_found_in_any_spelling(words: str) -> None:
    record = know_packages.wheel(KNOWLEDGE, words).record
    assert (record["name"], record["cuda_majors"]) == ("nvidia-cudnn-cu12", [12])


def test_wheel_file_is_a_wheel() -> None:
    answered = know_packages.wheel(KNOWLEDGE, "nvidia_cudnn_cu12-9.1.0.70-py3-none-manylinux2014_x86_64.whl")
    assert answered.record["name"] == "nvidia-cudnn-cu12"


def test_misspelt_wheel_gets_the_nearest() -> None:
    answered = know_packages.wheel(KNOWLEDGE, "nvidia-cudn-cu12")
    assert answered.nearest[0] == "nvidia-cudnn-cu12"


def test_conda_release_tells_its_builds() -> None:
    answered = know_packages.conda(KNOWLEDGE, "2.5.1")
    builds = answered.record["builds"]
    assert isinstance(builds, list)
    assert ["pytorch=2.5.1", "pytorch-cuda=12.4"] in [one["specs"] for one in builds if isinstance(one, dict)]


def test_conda_build_string_is_taken_apart() -> None:
    record = know_packages.conda(KNOWLEDGE, "py3.12_cuda12.4_cudnn9.1.0_0").record
    assert (record["python"], record["cuda"], record["cudnn"], record["cpu_only"]) == ("3.12", "12.4", "9.1.0", False)
    versions = record["versions"]
    assert isinstance(versions, list)
    assert "2.5.1" in versions


@pytest.mark.parametrize("words", ["pytorch=2.5.1", "pytorch::pytorch==2.5.1", "torch==2.5.1"])
def test_conda_spec_of_torch_is_its_version(words: str) -> None:
    assert know_packages.conda(KNOWLEDGE, words).record["version"] == "2.5.1"


def test_conda_spec_with_a_build_is_that_build() -> None:
    assert know_packages.conda(KNOWLEDGE, "pytorch=2.5.1=py3.12_cuda12.4_cudnn9.1.0_0").record["cuda"] == "12.4"


@pytest.mark.parametrize("words", ["pytorch-cuda=12.1", "cudatoolkit=11.3", "cuda-version 12.9"])
def test_version_of_another_conda_package_is_none_of_torch(words: str) -> None:
    answered = know_packages.conda(KNOWLEDGE, words)
    assert (answered.standing, answered.record["version"]) == (LookupStatus.KNOWN, None)
    assert not any("no " in ENGLISH(note) for note in answered.notes)


def test_conda_package_that_is_not_known_is_not_taken_for_torch() -> None:
    assert know_packages.conda(KNOWLEDGE, "cudnn==9.1").standing is LookupStatus.UNKNOWN


def test_release_that_a_conda_package_never_had_is_told() -> None:
    for words in ("pytorch-cuda=12.6", "cudatoolkit=12.1", "pytorch-cuda 13.0"):
        assert words.replace("=", " ").split()[1] in ENGLISH(know_packages.conda(KNOWLEDGE, words).notes[0])


@pytest.mark.parametrize(
    ("words", "standing"),
    [("99.0", LookupStatus.NEWER), ("0.1", LookupStatus.UNKNOWN), ("x", LookupStatus.UNKNOWN), ("2.4.77", LookupStatus.UNKNOWN)],
)
def test_other_conda_versions_are_told(words: str, standing: LookupStatus) -> None:
    assert know_packages.conda(KNOWLEDGE, words).standing is standing


@pytest.mark.parametrize(
    "words",
    [
        "79",
        "Xid 79",
        "xid: 79",
        "NVRM: Xid (PCI:0000:65:00): 79, pid=1234, GPU has fallen off the bus.",
        "ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS",
    ],
)
def test_xid_is_found_in_a_line_of_the_log(words: str) -> None:
    answered = codes.xid(KNOWLEDGE, words)
    assert (answered.standing, answered.record["number"]) == (LookupStatus.KNOWN, 79)


@pytest.mark.parametrize(
    ("words", "standing"),
    [("99999", LookupStatus.NEWER), ("x", LookupStatus.UNKNOWN), ("-1", LookupStatus.UNKNOWN), ("7 9", LookupStatus.UNKNOWN)],
)
def test_other_xids_are_told(words: str, standing: LookupStatus) -> None:
    assert codes.xid(KNOWLEDGE, words).standing is standing


@pytest.mark.parametrize(
    "words", ["18", "NVML_ERROR_LIB_RM_VERSION_MISMATCH", "lib_rm_version_mismatch", "LIB RM VERSION MISMATCH"]
)
def test_nvml_code_is_found_by_number_and_name(words: str) -> None:
    answered = codes.nvml(KNOWLEDGE, words)
    assert (answered.standing, answered.record["code"]) == (LookupStatus.KNOWN, 18)


@pytest.mark.parametrize(
    ("words", "near"),
    [("NVML_ERROR_LIB_RM_VERSION_MISSMATCH", "NVML_ERROR_LIB_RM_VERSION_MISMATCH"), ("sucess", "NVML_SUCCESS"), ("700", "999")],
)
def test_misspelt_nvml_code_gets_the_nearest(words: str, near: str) -> None:
    answered = codes.nvml(KNOWLEDGE, words)
    assert answered.standing is LookupStatus.UNKNOWN
    assert near in answered.nearest


def test_bad_pair_is_found_by_its_key_and_by_its_libraries() -> None:
    pair = KNOWLEDGE.bad_pairs()[0]
    assert pairs.answer(KNOWLEDGE, pair.key).record["symptom"] == pair.symptom
    answered = pairs.answer(KNOWLEDGE, pair.one.name)
    assert answered.standing is LookupStatus.KNOWN
    assert pair.key in str(answered.record)


def test_library_of_no_bad_pair_is_told() -> None:
    assert pairs.answer(KNOWLEDGE, "left-pad").standing is LookupStatus.UNKNOWN


@pytest.mark.parametrize("shelf", SHELVES, ids=lambda shelf: shelf.kind)
def test_every_name_finds_a_record_with_source(shelf: Any) -> None:
    for name in shelf.names(KNOWLEDGE):
        record = shelf.answer(KNOWLEDGE, name).record
        assert record["source"], name
        assert record["checked"], name


@for_each("shelf", SHELVES)
@for_each("words", ["79", "sm_89", "Ada", "pytorch:25.01-py3", "2.5.1", "%s{x}", "\x00", "ü" * 99])
def test_empty_base_is_survived(shelf: Any, words: str) -> None:
    answered = shelf.answer(Knowledge(lambda name: b"[]"), words)
    assert isinstance(answered, LookupAnswer)
    assert tuple(shelf.records(Knowledge(lambda name: b"[]"))) == ()


@pytest.mark.parametrize(
    ("words", "name", "number"),
    [
        ("cudaErrorNoDevice", "cudaErrorNoDevice", 100),
        ("cuda_error_no_device", "cudaErrorNoDevice", 100),
        ("100", "cudaErrorNoDevice", 100),
        ("CUDA error 38", "cudaErrorNoDevice", 38),
        ("cupti 35", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", 35),
        ("NVML_ERROR_GPU_IS_LOST", "NVML_ERROR_GPU_IS_LOST", 15),
        ("NPP status -1027", "NPP_NOT_SUFFICIENT_COMPUTE_CAPABILITY", -1027),
    ],
)
def test_code_of_any_library_is_found_by_name_and_number(words: str, name: str, number: int) -> None:
    answered = codes.error(KNOWLEDGE, words)
    assert (answered.standing, answered.record["name"], answered.record["number"]) == (LookupStatus.KNOWN, name, number)


def test_code_that_leads_nowhere_says_why() -> None:
    record = codes.error(KNOWLEDGE, "cudaErrorInvalidValue").record
    assert record["problem"] is None
    assert record["why_none"]


def test_misspelt_code_gets_the_nearest() -> None:
    answered = codes.error(KNOWLEDGE, "cudaErrorNoDevise")
    assert answered.standing is LookupStatus.UNKNOWN
    assert "cudaErrorNoDevice" in answered.nearest
    assert codes.error(KNOWLEDGE, "77777").standing is LookupStatus.UNKNOWN
