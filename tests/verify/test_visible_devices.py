"""Which GPUs CUDA should show under CUDA_VISIBLE_DEVICES, by the rules of the CUDA programming guide."""

from __future__ import annotations

import pytest

from gpuassist.formats.devices import DeviceListFault
from gpuassist.model.fact import Known, Unknown
from gpuassist.verify.load import NvmlDevice
from gpuassist.verify.visible_devices import PCI_ORDER, SeenDevice, disagreements, nvml_index, visible
from tests.rows import for_each
from tests.verify.loads import nvml_device

FIRST = nvml_device(index=0, uuid="GPU-aa11", address="00000000:01:00.0")
SECOND = nvml_device(index=1, uuid="GPU-aa22", address="00000000:02:00.0")
THIRD = nvml_device(index=2, uuid="GPU-bb33", address="00000000:81:00.0")
THREE = (FIRST, SECOND, THIRD)
OTHER = nvml_device(index=1, uuid="GPU-cc44", name="NVIDIA GeForce GTX 1080 Ti", address="00000000:02:00.0")
SPLIT = nvml_device(
    index=1,
    uuid="GPU-dd55",
    name="NVIDIA A100-SXM4-80GB",
    mig=True,
    mig_devices=[{"uuid": "MIG-e1", "name": "MIG 3g.40gb"}, {"uuid": "MIG-e2", "name": "MIG 3g.40gb"}],
)


def indices(devices: tuple[NvmlDevice, ...], value: str | None, order: str = PCI_ORDER) -> list[int] | None:
    found = visible(devices, value, order).devices
    return [one.device.index for one in found.value] if isinstance(found, Known) else None


@for_each(
    "value, expected",
    [
        (None, [0, 1, 2]),
        ("", []),
        ("-1", []),
        ("2,1", [2, 1]),
        ("0,2,-1,1", [0, 2]),  # the guide's own example
        ("0,7,1", [0]),
        ("0,0", []),
        ("GPU-bb33,GPU-aa11", [2, 0]),
        ("GPU-b", [2]),
        ("GPU-aa", []),  # begins two
        ("GPU-aa11,GPU-zz,GPU-bb33", [0]),
        ("GPU-aa11,1", [0]),
        ("1,GPU-aa11", [1]),
        (" 1 , 0 ", [1, 0]),
        ("none", []),
    ],
)
def test_the_list_says_which_and_in_which_order(value: str | None, expected: list[int]) -> None:
    assert indices(THREE, value) == expected
    assert visible(THREE, value, PCI_ORDER).count == Known(len(expected), "NVML, CUDA_VISIBLE_DEVICES")


def test_of_gpus_of_several_kinds_an_index_says_nothing_without_the_pci_order() -> None:
    assert indices((FIRST, OTHER), "1", order="") is None
    assert indices((FIRST, OTHER), None, order="FASTEST_FIRST") is None
    assert visible((FIRST, OTHER), "1", "").count == Known(1, "NVML, CUDA_VISIBLE_DEVICES")
    assert indices((FIRST, OTHER), "GPU-cc44", order="") == [1]
    assert indices((FIRST, SECOND), "1", order="") == [1]  # of equal ones the order is that of their addresses


def test_a_part_of_a_gpu_is_shown_where_it_is_named() -> None:
    found = visible((FIRST, SPLIT), "MIG-e2", PCI_ORDER).devices
    assert isinstance(found, Known)
    assert [one.uuid for one in found.value] == ["MIG-e2"]


@pytest.mark.parametrize("value", [None, "1", "GPU-dd55", "MIG-e1,MIG-e2"])
def test_which_part_of_a_gpu_is_shown_is_not_said_otherwise(value: str | None) -> None:
    found = visible((FIRST, SPLIT), value, PCI_ORDER)
    assert isinstance(found.count, Unknown)
    assert disagreements(found, value, 1) == ()


def test_what_torch_sees_and_should_is_no_disagreement() -> None:
    seen = (SeenDevice("bb33"), SeenDevice("aa11", "0000:01:00.0"))
    assert disagreements(visible(THREE, "2,0", PCI_ORDER), "2,0", 2, seen) == ()


@for_each(
    "value, count, seen, said",
    [
        ("0,7,1", 1, (), 1),  # the list ends early
        ("", 0, (), 1),
        ("0,0", 0, (), 1),
        (None, 2, (), 1),  # torch sees one less
        (None, 3, (SeenDevice("aa22"), SeenDevice("aa11"), SeenDevice("bb33")), 2),  # two are exchanged
        (None, 3, (SeenDevice(pci="0000:01:00.0"), SeenDevice(), SeenDevice(pci="0000:81:00.0")), 0),
    ],
)
def test_each_disagreement_has_its_sentence(value: str | None, count: int, seen: tuple[SeenDevice, ...], said: int) -> None:
    assert len(disagreements(visible(THREE, value, PCI_ORDER), value, count, seen)) == said


def test_the_fault_of_a_list_is_told_with_its_element() -> None:
    found = visible(THREE, "0,7,1", PCI_ORDER)
    assert (found.fault, found.element) == (DeviceListFault.OUT_OF_RANGE, "7")


def test_the_index_of_nvml_is_found_by_uuid_and_address() -> None:
    assert nvml_index(SeenDevice("GPU-bb33"), THREE) == Known(2, "NVML, CUDA_VISIBLE_DEVICES")
    assert nvml_index(SeenDevice("", "0000:02:00.0"), THREE) == Known(1, "NVML, CUDA_VISIBLE_DEVICES")
    assert nvml_index(SeenDevice("MIG-e2"), (FIRST, SPLIT)) == Known(1, "NVML, CUDA_VISIBLE_DEVICES")
    assert isinstance(nvml_index(SeenDevice("GPU-ff"), THREE), Unknown)
    assert isinstance(nvml_index(SeenDevice(), THREE), Unknown)
