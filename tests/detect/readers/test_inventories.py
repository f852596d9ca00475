"""lshw, inxi and ubuntu-drivers name the GPU, its number, its slot and what drives it; other devices are left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.readers import inventories, read_all
from gpuassist.diagnose.judge import judge
from gpuassist.model.fact import NOT_ASKED, Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from tests.values import knowledge

LSHW = """\
  *-display
       description: VGA compatible controller
       product: GA102 [GeForce RTX 3090] [10DE:2204]
       vendor: NVIDIA Corporation [10DE]
       physical id: 0
       bus info: pci@0000:01:00.0
       configuration: driver=nouveau latency=0
  *-display
       product: AlderLake-S GT1
       vendor: Intel Corporation
       configuration: driver=i915 latency=0
"""
UBUNTU = """\
$ ubuntu-drivers devices
== /sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0 ==
modalias : pci:v000010DEd00002204sv00001458sd0000403Bbc03sc00i00
vendor   : NVIDIA Corporation
model    : GA102 [GeForce RTX 3090]
driver   : nvidia-driver-550 - distro non-free recommended
"""
INXI = """\
Graphics:
  Device-1: Intel Raptor Lake-P [Iris Xe Graphics] driver: i915 v: kernel
  Device-2: NVIDIA AD107M [GeForce RTX 4060 Max-Q / Mobile] vendor: Dell driver: nvidia v: 550.107.02
"""


def gpus(words: str) -> tuple[Gpu, ...]:
    return value_or(inventories.read(Paste(words)).gpus, ())


def test_lshw_tells_card_slot_and_driver() -> None:
    (gpu,) = gpus(LSHW)

    assert gpu.name == Known("GeForce RTX 3090", "pasted lshw, line 3")
    assert (value_or(gpu.pci_id, ""), value_or(gpu.pci_address, "")) == ("10de:2204", "0000:01:00.0")
    assert gpu.kernel_driver == Known("nouveau", "pasted lshw, line 7")


def test_unclaimed_display_has_no_driver() -> None:
    (gpu,) = gpus(
        LSHW.replace("*-display\n       description", "*-display UNCLAIMED\n       description").replace("driver=nouveau ", "")
    )

    assert value_or(gpu.kernel_driver, "?") == ""


def test_nouveau_in_lshw_is_judged() -> None:
    machine = read_all(Paste(LSHW), knowledge())

    assert "nouveau-active" in {one.problem for one in judge(machine, knowledge()).findings}


def test_ubuntu_drivers_tells_number_name_and_slot() -> None:
    (gpu,) = gpus(UBUNTU)

    assert gpu.pci_id == Known("10de:2204", "pasted ubuntu-drivers, line 3")
    assert (value_or(gpu.name, ""), value_or(gpu.pci_address, "")) == ("GeForce RTX 3090", "0000:01:00.0")


def test_inxi_tells_the_nvidia_card_alone() -> None:
    (gpu,) = gpus(INXI)

    assert value_or(gpu.name, "") == "GeForce RTX 4060 Max-Q / Mobile"
    assert gpu.kernel_driver == Known("nvidia", "pasted inxi, line 3")


def test_inxi_without_a_driver_says_so() -> None:
    (gpu,) = gpus(INXI.replace("driver: nvidia", "driver: N/A"))

    assert value_or(gpu.kernel_driver, "?") == ""


def test_cut_inventory_leaves_the_driver_open() -> None:
    (gpu,) = gpus("\n".join(LSHW.splitlines()[:5]))

    assert gpu.kernel_driver is NOT_ASKED


@pytest.mark.parametrize(
    "words",
    [
        "  *-display\n       vendor: Intel Corporation\n       product: NVIDIA [GeForce RTX 3090]\n",
        "modalias : pci:v00008086d00002204sv00001458sd0000403Bbc03sc00i00\n",
        "modalias : pci:v000010DEd00001AEFsv00001458sd0000403Bbc04sc03i00\n",
        "Device-1: AMD Navi 21 [Radeon RX 6800] driver: amdgpu v: kernel\n",
        "my display is an NVIDIA [GeForce RTX 3090]\n",
    ],
)
def test_other_device_is_no_gpu(words: str) -> None:
    assert gpus(words) == ()


@given(st.integers(0, 12))
def test_cut_inventory_names_no_other_gpu(end: int) -> None:
    cut = "".join(LSHW.splitlines(keepends=True)[:end])

    assert {value_or(gpu.name, "") for gpu in gpus(cut)} <= {"GeForce RTX 3090"}


@given(st.text(max_size=200))
def test_any_text_is_survived(words: str) -> None:
    assert isinstance(
        inventories.read(Paste(f"*-display\n       vendor: NVIDIA\n{words}\nmodalias : {words}\nDevice-1: {words}")), Machine
    )
