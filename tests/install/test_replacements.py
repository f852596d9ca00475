"""Parts of a machine replaced by products that the knowledge names, and names that it does not know."""

from __future__ import annotations

import pytest

from gpuassist.install.replacements import (
    UnknownPartError,
    gpu_record,
    torch_build,
    version_of,
    with_added_gpu,
    with_driver,
    with_toolkit,
    with_torch,
)
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.facts import value
from tests.values import GTX_1080_TI, RTX_4090, RTX_5090, Recipe, knowledge, machine


def refused(name: str) -> str:
    with pytest.raises(UnknownPartError) as caught:
        gpu_record(knowledge(), name)
    return ENGLISH(caught.value.reason)


@pytest.mark.parametrize("name", [RTX_4090, "RTX 4090", "rtx 4090", "GeForce RTX 4090", "NVIDIA GeForce RTX 4090", "4090", "2684"])
def test_gpu_is_found_by_id_and_name(name: str) -> None:
    assert gpu_record(knowledge(), name).pci_id == RTX_4090


def test_card_itself_comes_before_its_variants() -> None:
    assert str(gpu_record(knowledge(), "RTX 5090").compute_capability) == "12.0"


def test_unknown_gpu_gets_what_is_near() -> None:
    assert "near it are" in refused("RTX 4099")


@pytest.mark.parametrize("name", ["", "Voodoo Banshee 3000 XL", "10de:ffff"])
def test_gpu_that_nobody_knows_is_refused(name: str) -> None:
    assert "is no GPU that gpuassist knows" in refused(name)


@pytest.mark.parametrize("words", ["", "latest", "twelve", "cuda"])
def test_what_is_no_version_is_refused(words: str) -> None:
    with pytest.raises(UnknownPartError) as caught:
        version_of(words)
    assert ENGLISH(caught.value.reason) == f"{words} is not a version number"


@pytest.mark.parametrize(("words", "version"), [("12.4", "12.4"), ("v570.86.16", "570.86.16"), ("2.7.1+cu128", "2.7.1")])
def test_version_is_read_as_typed(words: str, version: str) -> None:
    assert str(version_of(words)) == version


def test_added_gpu_stands_beside_those_that_are_there() -> None:
    seen = with_added_gpu(knowledge(), machine(Recipe(gpus=(RTX_4090,))), "RTX 5090")
    assert [value(gpu.pci_id) for gpu in value(seen.gpus)] == [RTX_4090, RTX_5090]


@pytest.mark.parametrize(("gpu", "opened"), [(RTX_5090, True), (GTX_1080_TI, False)])
def test_driver_has_the_module_that_the_gpu_needs(gpu: str, opened: bool) -> None:
    seen = with_driver(knowledge(), machine(Recipe(gpus=(gpu,))), Version.parse("570.86.16"))
    assert value(seen.driver.version) == Version.parse("570.86.16")
    assert [value(module.open_flavour) for module in value(seen.driver.loaded)] == [opened]


def test_driver_brings_the_cuda_of_its_branch() -> None:
    seen = with_driver(knowledge(), machine(Recipe()), Version.parse("570.86.16"))
    assert value(seen.driver.cuda_version) == Version.parse("12.8")


def test_toolkit_is_the_one_of_a_new_terminal() -> None:
    seen = with_toolkit(knowledge(), machine(Recipe()), Version.parse("12.8"))
    assert Version.parse("12.8") in {value(one.version).release for one in value(seen.toolkits)}


@pytest.mark.parametrize(
    ("words", "tag"), [("2.7.1+cu128", "cu128"), ("2.7.1+cu118", "cu118"), ("2.7.1+cpu", "cpu"), ("2.7.1", "cu126")]
)
def test_build_is_the_one_that_is_named_or_pips_own(words: str, tag: str) -> None:
    build = torch_build(knowledge(), words, "x86_64")
    assert build is not None
    assert build.tag == tag


@pytest.mark.parametrize("words", ["2.7.1+cu999", "99.0", "2.7.1+rocm9.9"])
def test_build_that_never_was_is_none(words: str) -> None:
    assert torch_build(knowledge(), words, "x86_64") is None


def test_torch_that_is_not_known_is_still_imagined() -> None:
    seen = with_torch(knowledge(), machine(Recipe()), "99.0")
    versions = {value(torch.version) for one in value(seen.environments) for torch in value(one.torch)}
    assert any(version.startswith("99.0") for version in versions)
