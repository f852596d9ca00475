"""Of NVIDIA's PyTorch images the newest that serves every GPU is chosen, under the driver that the host has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gpuassist.knowledge.choice import ImageChoice, Images
from gpuassist.knowledge.compatibility import toolkit_builds_for
from gpuassist.knowledge.records import ImageFamily, ImageRecord
from gpuassist.model.version import ComputeCapability, Version
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each

version = Version.parse
IMAGES = Images(KNOWLEDGE.images(), KNOWLEDGE.toolkits())
CAPABILITIES = sorted({one for architecture in KNOWLEDGE.architectures() for one in architecture.capabilities})


def choose(capability: str, driver: str, torch: str = "") -> ImageChoice:
    wanted = version(torch) if torch else None
    return IMAGES.choose((ComputeCapability.parse(capability),), version(driver) if driver else None, torch=wanted)


def month(choice: ImageChoice) -> str:
    return str(choice.image.month) if choice.image else ""


@pytest.mark.parametrize(
    ("capability", "driver", "expected"),
    [
        ("8.9", "580.95.05", "25.11"),  # CUDA 13.0
        ("8.9", "575.57.08", "25.06"),  # CUDA 12.9
        ("8.9", "550.54.15", "24.05"),  # CUDA 12.4
        ("12.0", "570.133.07", "25.03"),  # CUDA 12.8, the first that knows 12.0
        ("12.0", "560.35.03", ""),
        ("3.5", "470.239.06", ""),
        ("9.0", "", ""),
    ],
)
def test_the_newest_that_the_driver_runs(capability: str, driver: str, expected: str) -> None:
    assert month(choose(capability, driver)) == expected


def test_what_a_newer_driver_would_run_is_told() -> None:
    found = choose("8.9", "450.80.02")
    assert (found.image, found.newer is not None) == (None, True)
    assert found.driver is not None
    assert found.driver > version("450.80.02")


def test_nothing_is_told_where_no_month_serves_the_gpu() -> None:
    assert choose("3.5", "470.239.06") == ImageChoice(None)


@pytest.mark.parametrize(("torch", "expected"), [("2.6", "25.01"), ("2.7", "25.04"), ("2.10", "25.11"), ("9.9", "")])
def test_a_torch_that_is_wanted(torch: str, expected: str) -> None:
    assert month(choose("8.9", "580.95.05", torch)) == expected


def test_jetson_has_an_image_of_its_own() -> None:
    found = IMAGES.choose((ComputeCapability.parse("8.7"),), version("540.4.0"), jetpack=version("6"))
    assert found.image is not None
    assert found.image.jetpack is not None


@pytest.mark.parametrize(
    ("capability", "driver", "expected"),
    [("8.7", "595.10", ""), ("8.7", "610.99", "26.07"), ("11.0", "580.95.05", "25.11"), ("12.1", "580.95.05", "25.11")],
)
def test_images_for_servers_serve_a_jetson_whose_code_they_have(capability: str, driver: str, expected: str) -> None:
    assert month(choose(capability, driver)) == expected


def test_jetson_of_an_unknown_system_has_none() -> None:
    assert IMAGES.choose((ComputeCapability.parse("8.7"),), version("540.4.0"), jetpack=version("9")).image is None


@given(st.sets(st.sampled_from(CAPABILITIES), min_size=1, max_size=3), st.integers(450, 620))
def test_a_chosen_image_serves_every_gpu_under_its_driver(capabilities: set[ComputeCapability], branch: int) -> None:
    driver = Version((branch, 999))
    image = IMAGES.choose(capabilities, driver).image
    if image is None:
        return
    record = KNOWLEDGE.toolkit(image.cuda) if image.cuda else None
    assert record is not None
    assert image.family is ImageFamily.NGC_PYTORCH
    assert all(toolkit_builds_for(record.targets, one) for one in capabilities)
    assert image.capability_min is None or min(capabilities) >= image.capability_min
    needed = IMAGES.driver_for(image)
    assert needed is not None
    assert driver >= needed


@given(st.sampled_from(CAPABILITIES), st.integers(450, 619))
def test_a_newer_driver_never_chooses_an_older_image(capability: ComputeCapability, branch: int) -> None:
    older = IMAGES.choose((capability,), Version((branch, 999))).image
    newer = IMAGES.choose((capability,), Version((branch + 1, 999))).image
    assert older is None or (newer is not None and newer.month >= older.month)


IMAGES_OF_TORCH = [one for one in KNOWLEDGE.images() if one.family is ImageFamily.NGC_PYTORCH]


@for_each("image", IMAGES_OF_TORCH)
def test_every_month_has_a_driver_that_runs_it(image: ImageRecord) -> None:
    assert IMAGES.driver_for(image) is not None


def test_what_the_notes_ask_for_goes_before_the_toolkits_driver() -> None:
    told = next(one for one in IMAGES_OF_TORCH if one.driver is not None)
    assert IMAGES.driver_for(told) == told.driver


def test_an_image_of_a_cuda_that_nobody_knows_has_no_driver() -> None:
    strange = replace(IMAGES_OF_TORCH[0], driver=None, cuda=version("99.9"))
    assert IMAGES.driver_for(strange) is None


def test_no_image_is_chosen_from_none() -> None:
    nothing = Images((), KNOWLEDGE.toolkits())
    assert nothing.choose((ComputeCapability.parse("8.9"),), version("580.95.05")) == ImageChoice(None)


def test_without_a_gpu_the_newest_that_the_driver_runs_serves() -> None:
    assert IMAGES.choose((), version("580.95.05")).image is not None


def test_a_patch_of_torch_is_asked_for_by_its_numbers() -> None:
    whole, release = choose("8.9", "580.95.05", "2.7.0"), choose("8.9", "580.95.05", "2.7")
    assert month(whole) == month(release) != ""


@pytest.mark.parametrize("driver", ["", "470.239.06"])
def test_what_a_newer_driver_would_run_comes_with_that_driver(driver: str) -> None:
    found = choose("9.0", driver)
    assert (found.image, found.newer is None, found.driver is None) == (None, False, False)
