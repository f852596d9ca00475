"""Which GPU an index of torch's is: by the driver, by torch where the driver does not tell, and less where neither does."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import pytest

from gpuassist.verify.child import devices

UUID = bytes.fromhex("4090aaaa0000400080000000000000ff")


class Driver:
    """libcuda.so.1 as ctypes hands it out; the calls of `missing` do not exist, those of `refused` fail."""

    def __init__(
        self, *, missing: tuple[str, ...] = (), refused: tuple[str, ...] = (), name: bytes = b"NVIDIA GeForce RTX 4090"
    ) -> None:
        self.missing, self.refused, self.name = missing, refused, name
        self.asked: list[int] = []

    def __getattr__(self, function: str) -> Any:
        if function in self.missing:
            raise AttributeError(function)
        return lambda *arguments: 999 if function in self.refused else self._call(function, *arguments)

    def _call(self, function: str, *given: Any) -> int:
        if function == "cuDeviceGet":
            given[0]._obj.value = given[1]
            self.asked.append(given[1])
        elif function == "cuDeviceGetName":
            given[0].value = self.name
        elif function == "cuDeviceTotalMem_v2":
            given[0]._obj.value = 24 << 30
        elif function.startswith("cuDeviceGetUuid"):
            given[0]._obj[:] = UUID
        elif function == "cuDeviceGetPCIBusId":
            given[0].value = b"0000:0A:00.0"
        elif function == "cuDeviceGetAttribute":
            given[0]._obj.value = {16: 128, 75: 8, 76: 9}[given[1]]
        return 0


def torch_with(**about: Any) -> Any:
    """torch with one device of these properties, beside what every torch tells."""
    told = {
        "name": "NVIDIA GeForce RTX 4090",
        "major": 8,
        "minor": 9,
        "total_memory": 23 << 30,
        "multi_processor_count": 128,
        **about,
    }
    return SimpleNamespace(cuda=SimpleNamespace(get_device_properties=lambda index: SimpleNamespace(**told)))


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Any:
    def load(found: Driver | None) -> Driver | None:
        def library(name: str) -> Driver:
            if found is None:
                raise OSError(name)
            return found

        monkeypatch.setattr(ctypes, "CDLL", library)
        return found

    return load


KNOWN = {
    "name": "NVIDIA GeForce RTX 4090",
    "uuid": "GPU-4090aaaa-0000-4000-8000-0000000000ff",
    "pci": "0000:0a:00.0",
    "capability": "8.9",
    "memory_total_bytes": 24 << 30,
    "multiprocessors": 128,
    "mig": False,
}


def test_the_driver_tells_all_of_it_and_torch_is_not_asked(driver: Any) -> None:
    asked = driver(Driver())
    assert devices.identify(None, 3) == KNOWN
    assert asked.asked == [3]


def test_an_older_driver_tells_the_uuid_by_the_older_call(driver: Any) -> None:
    driver(Driver(missing=("cuDeviceGetUuid_v2",)))
    assert devices.identify(None, 0) == KNOWN


@pytest.mark.parametrize(
    ("call", "field"), [("cuDeviceGetPCIBusId", "pci"), ("cuDeviceTotalMem_v2", "memory_total_bytes"), ("cuDeviceGetName", "name")]
)
def test_a_call_that_is_missing_or_fails_costs_its_own_answer(driver: Any, call: str, field: str) -> None:
    for broken in (Driver(missing=(call,)), Driver(refused=(call,))):
        driver(broken)
        found = devices.identify(torch_with(name="of torch"), 0)
        assert {key: value for key, value in found.items() if key != field and key != "memory_total_bytes"} == {
            key: value for key, value in KNOWN.items() if key != field and key != "memory_total_bytes"
        }


@pytest.mark.parametrize(
    ("about", "uuid", "pci"),
    [
        ({}, "", ""),  # before torch 2.4
        ({"uuid": "4090aaaa-0000-4000-8000-0000000000ff"}, KNOWN["uuid"], ""),
        (
            {"uuid": KNOWN["uuid"], "pci_domain_id": 0, "pci_bus_id": 10, "pci_device_id": 0},
            KNOWN["uuid"],
            "0000:0a:00.0",
        ),
    ],
)
def test_torch_tells_what_it_knows_where_there_is_no_driver_to_ask(driver: Any, about: dict[str, Any], uuid: str, pci: str) -> None:
    driver(None)
    assert devices.identify(torch_with(**about), 0) == {**KNOWN, "uuid": uuid, "pci": pci, "memory_total_bytes": 23 << 30}


def test_a_part_of_a_gpu_is_known_by_its_name(driver: Any) -> None:
    driver(Driver(name=b"NVIDIA A100-SXM4-80GB MIG 3g.40gb"))
    found = devices.identify(None, 0)
    assert found["mig"]
    assert found["uuid"] == "MIG-4090aaaa-0000-4000-8000-0000000000ff"
