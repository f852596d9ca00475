"""GPUs of made-up PCI trees."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.detect import pci
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.gpu import Gpu, PcieLink, PowerState
from gpuassist.model.version import ComputeCapability
from gpuassist.system.resources import Resources
from tests.facts import reason, value
from tests.fakes import put, world_under
from tests.machines import pci_bridge, pci_gpu

KNOWLEDGE = Knowledge(Resources().read)


def probe(root: Path) -> tuple[Gpu, ...]:
    found = pci.probe(world_under(root), KNOWLEDGE)
    assert isinstance(found, Known)
    return found.value


def test_gpu_is_named_without_any_driver(tmp_path: Path) -> None:
    pci_gpu(tmp_path, "0000:01:00.0", "10de:2684", driver="")
    (gpu,) = probe(tmp_path)
    assert gpu.pci_address == Known("0000:01:00.0", "/sys/bus/pci/devices/0000:01:00.0")
    assert gpu.pci_id == Known("10de:2684", "/sys/bus/pci/devices/0000:01:00.0/device")
    assert "4090" in str(value(gpu.name))
    assert value(gpu.compute_capability) == ComputeCapability(8, 9)
    assert "Ada" in str(value(gpu.architecture))


def test_no_driver_bound_is_a_known_absence(tmp_path: Path) -> None:
    pci_gpu(tmp_path, driver="")
    assert value(probe(tmp_path)[0].kernel_driver) == ""


@pytest.mark.parametrize("driver", ["nvidia", "nouveau", "vfio-pci"])
def test_bound_driver_is_read_from_its_link(tmp_path: Path, driver: str) -> None:
    pci_gpu(tmp_path, driver=driver)
    assert value(probe(tmp_path)[0].kernel_driver) == driver


def test_gpus_come_in_order_of_their_addresses(tmp_path: Path) -> None:
    for address in ("0000:c1:00.0", "0000:01:00.0", "0000:41:00.0"):
        pci_gpu(tmp_path, address)
    assert [value(gpu.pci_address) for gpu in probe(tmp_path)] == ["0000:01:00.0", "0000:41:00.0", "0000:c1:00.0"]


@pytest.mark.parametrize("pci_class", ["0x030000", "0x030200"])
def test_display_and_compute_class_are_gpus(tmp_path: Path, pci_class: str) -> None:
    pci_gpu(tmp_path, pci_class=pci_class)
    assert len(probe(tmp_path)) == 1


@pytest.mark.parametrize("pci_class", ["0x040300", "0x068000", "0x0c0330", "0x0c8000"])
def test_sound_switch_and_usb_are_no_gpus(tmp_path: Path, pci_class: str) -> None:
    pci_gpu(tmp_path, pci_class=pci_class)
    assert probe(tmp_path) == ()


def test_other_makers_gpu_is_left_out(tmp_path: Path) -> None:
    pci_gpu(tmp_path, pci_id="1002:744c", driver="amdgpu")
    assert probe(tmp_path) == ()


def test_gpu_newer_than_list_keeps_its_id(tmp_path: Path) -> None:
    pci_gpu(tmp_path, pci_id="10de:fffe")
    (gpu,) = probe(tmp_path)
    assert value(gpu.pci_id) == "10de:fffe"
    assert reason(gpu.name) == "gpuassist's list of GPUs does not have the PCI id 10de:fffe"


def test_missing_pci_tree_is_unknown(tmp_path: Path) -> None:
    assert "/sys/bus/pci/devices is not there" in reason(pci.probe(world_under(tmp_path), KNOWLEDGE))


def test_empty_pci_tree_is_no_gpu(tmp_path: Path) -> None:
    (tmp_path / "sys/bus/pci/devices").mkdir(parents=True)
    assert probe(tmp_path) == ()


def test_device_that_tells_nothing_makes_absence_unknown(tmp_path: Path) -> None:
    (tmp_path / "sys/bus/pci/devices/0000:01:00.0").mkdir(parents=True)
    assert "0000:01:00.0/vendor could not be read" in reason(pci.probe(world_under(tmp_path), KNOWLEDGE))


def test_device_that_tells_nothing_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / "sys/bus/pci/devices/0000:02:00.0").mkdir(parents=True)
    pci_gpu(tmp_path)
    assert len(probe(tmp_path)) == 1


@pytest.mark.parametrize(
    ("status", "power_state", "expected"),
    [
        ("active", "D0", PowerState.ACTIVE),
        ("suspended", "D3cold", PowerState.ASLEEP),
        ("suspended", "D0", PowerState.ASLEEP),
        ("unsupported", "D3hot", PowerState.ASLEEP),
        ("unsupported", "D0", PowerState.ACTIVE),
        ("suspending", "D0", PowerState.ACTIVE),
    ],
)
def test_power_state_is_read(tmp_path: Path, status: str, power_state: str, expected: PowerState) -> None:
    pci_gpu(tmp_path, status=status, power_state=power_state)
    assert value(probe(tmp_path)[0].power_state) is expected


def test_unheard_of_power_state_is_unknown(tmp_path: Path) -> None:
    pci_gpu(tmp_path, status="error", power_state="unknown")
    assert "says error" in reason(probe(tmp_path)[0].power_state)


def test_link_of_sleeping_gpu_is_not_read(tmp_path: Path) -> None:
    pci_gpu(tmp_path, status="suspended", power_state="D3cold", width="63", speed="Unknown")
    assert "asleep" in reason(probe(tmp_path)[0].pcie_link)


def test_link_is_read_now_and_at_most(tmp_path: Path) -> None:
    pci_gpu(tmp_path, width="8", max_width="16", speed="2.5 GT/s PCIe", max_speed="32.0 GT/s PCIe")
    assert value(probe(tmp_path)[0].pcie_link) == PcieLink(8, 16, 2.5, 32.0)


def test_speed_in_words_of_old_kernels_is_read(tmp_path: Path) -> None:
    pci_gpu(tmp_path, speed="8 GT/s", max_speed="8 GT/s")
    assert value(probe(tmp_path)[0].pcie_link) == PcieLink(16, 16, 8.0, 8.0)


def test_slower_bridge_above_limits_the_link(tmp_path: Path) -> None:
    bridges = ("0000:00:01.0", "0000:02:00.0")
    pci_bridge(tmp_path, bridges[:1], max_width="4", max_speed="8.0 GT/s PCIe")
    pci_bridge(tmp_path, bridges)
    pci_gpu(tmp_path, "0000:03:00.0", bridges=bridges)
    assert value(probe(tmp_path)[0].pcie_link) == PcieLink(16, 4, 16.0, 8.0)


def test_bridge_that_tells_nothing_is_passed_over(tmp_path: Path) -> None:
    put(tmp_path, "/sys/devices/pci0000:00/0000:00:01.0/class", "0x060400\n")
    pci_gpu(tmp_path, bridges=("0000:00:01.0",))
    assert value(probe(tmp_path)[0].pcie_link) == PcieLink(16, 16, 16.0, 16.0)


@pytest.mark.parametrize(
    "change", [{"width": "0"}, {"width": "63"}, {"speed": "Unknown"}, {"max_speed": "Unknown"}, {"max_width": ""}]
)
def test_link_that_tells_not_all_is_unknown(tmp_path: Path, change: dict[str, str]) -> None:
    pci_gpu(tmp_path, **change)  # type: ignore[arg-type]
    assert "holds something else than expected" in reason(probe(tmp_path)[0].pcie_link)


def test_unreadable_id_leaves_name_unknown_too(tmp_path: Path) -> None:
    path = pci_gpu(tmp_path)
    (tmp_path / path.lstrip("/") / "device").unlink()
    (gpu,) = probe(tmp_path)
    assert "device could not be read" in reason(gpu.name)
    assert value(gpu.kernel_driver) == "nvidia"


PLACED = (
    "0xa3000000 0xa3ffffff 0x40200\n0x6000000000 0x600fffffff 0x14220c\n0x0 0x0 0x0\n"
    "0x6010000000 0x6011ffffff 0x14220c\n0x0 0x0 0x0\n"
)
WIDE = "0x6000000000 0x6003ffffff 0x14220c\n0x0 0x0 0x0\n0x7000000000 0x7fffffffff 0x14220c\n0x0 0x0 0x0\n0x0 0x0 0x0\n"


@pytest.mark.parametrize(
    ("resource", "addressed"),
    [
        (PLACED, True),
        (WIDE, True),
        (PLACED.replace("0x6000000000 0x600fffffff 0x14220c", "0x0 0xfffffff 0x2014220c"), False),
        (PLACED.replace("0x6000000000 0x600fffffff 0x14220c", "0x0 0x0 0x0"), False),
    ],
)
def test_gpu_without_its_place_in_memory_is_told(tmp_path: Path, resource: str, addressed: bool) -> None:
    put(tmp_path, f"{pci_gpu(tmp_path)}/resource", resource)
    (gpu,) = probe(tmp_path)
    assert value(gpu.addressed) is addressed


def test_resource_of_another_form_tells_nothing(tmp_path: Path) -> None:
    put(tmp_path, f"{pci_gpu(tmp_path)}/resource", "none\n")
    assert isinstance(probe(tmp_path)[0].addressed, Unknown)


def test_driver_tells_what_it_leaves_out_and_may_switch_off(tmp_path: Path) -> None:
    pci_gpu(tmp_path)
    put(tmp_path, "/proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t NVIDIA RTX\nGPU Excluded:\t Yes\n")
    put(tmp_path, "/proc/driver/nvidia/gpus/0000:01:00.0/power", "Runtime D3 status:          Enabled (fine-grained)\n")
    (gpu,) = probe(tmp_path)
    assert (value(gpu.excluded), value(gpu.sleeps)) == (True, True)
