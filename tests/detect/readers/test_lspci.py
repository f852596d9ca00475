"""lspci in every form: with names, numbers or both, with drivers or not, whole or searched; none only where that is sure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.readers import lspci, read_all
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from tests.values import knowledge

NNK = """\
$ lspci -nnk | grep -A3 -i nvidia
01:00.0 VGA compatible controller [0300]: NVIDIA Corporation GA102 [GeForce RTX 3090] [10de:2204] (rev a1)
	Subsystem: Gigabyte Technology Co., Ltd Device [1458:403b]
	Kernel driver in use: nouveau
	Kernel modules: nvidiafb, nouveau, nvidia_drm, nvidia
01:00.1 Audio device [0403]: NVIDIA Corporation GA102 High Definition Audio Controller [10de:1aef] (rev a1)
	Kernel driver in use: snd_hda_intel
"""
OTHERS = """\
00:00.0 Host bridge: Intel Corporation Device 4660
00:01.0 PCI bridge: Intel Corporation Device 460d
00:02.0 VGA compatible controller: Intel Corporation AlderLake-S GT1
00:14.0 USB controller: Intel Corporation Alder Lake-S PCH USB 3.2
00:16.0 Communication controller: Intel Corporation Alder Lake-S PCH HECI
00:17.0 SATA controller: Intel Corporation Alder Lake-S PCH SATA
00:1f.0 ISA bridge: Intel Corporation Device 7a84
00:1f.3 Audio device: Intel Corporation Alder Lake-S HD Audio
"""


def fact(words: str) -> Fact[tuple[Gpu, ...]]:
    return lspci.read(Paste(words)).gpus


def gpus(words: str) -> tuple[Gpu, ...]:
    return value_or(fact(words), ())


def test_names_numbers_and_driver_are_read() -> None:
    (gpu,) = gpus(NNK)

    assert gpu.name == Known("GeForce RTX 3090", "pasted lspci, line 2")
    assert gpu.pci_id == Known("10de:2204", "pasted lspci, line 2")
    assert gpu.pci_address == Known("0000:01:00.0", "pasted lspci, line 2")
    assert gpu.kernel_driver == Known("nouveau", "pasted lspci, line 4")


@pytest.mark.parametrize(
    ("line", "name", "pci_id"),
    [
        ("01:00.0 VGA compatible controller: NVIDIA Corporation AD102 [GeForce RTX 4090] (rev a1)", "GeForce RTX 4090", ""),
        ("0000:01:00.0 3D controller: NVIDIA Corporation GV100GL [Tesla V100 PCIe 16GB] (rev a1)", "Tesla V100 PCIe 16GB", ""),
        ("01:00.0 3D controller: nVidia Corporation GF108M [GeForce GT 540M] (rev a1)", "GeForce GT 540M", ""),
        ("01:00.0 VGA compatible controller: NVIDIA Corporation Device 2b85 (rev a1)", "", "10de:2b85"),
        ("01:00.0 VGA compatible controller [0300]: NVIDIA Corporation Device [10de:2b85] (rev a1)", "", "10de:2b85"),
        ("01:00.0 0300: 10de:2684 (rev a1)", "", "10de:2684"),
        ("01:00.0 Display controller: NVIDIA Corporation TU104GL [Tesla T4] (rev a1)", "Tesla T4", ""),
        (
            "> 01:00.0 VGA compatible controller: NVIDIA Corporation GP102 [TITAN Xp] (rev a1) (prog-if 00 [VGA controller])",
            "TITAN Xp",
            "",
        ),
    ],
)
def test_each_form_is_read(line: str, name: str, pci_id: str) -> None:
    (gpu,) = gpus(line)

    assert (value_or(gpu.name, ""), value_or(gpu.pci_id, "")) == (name, pci_id)


def test_number_leads_to_the_architecture() -> None:
    machine = read_all(Paste("01:00.0 0300: 10de:2684 (rev a1)"), knowledge())

    assert str(value_or(value_or(machine.gpus, ())[0].compute_capability, "")) == "8.9"


def test_gpus_stand_in_the_order_of_their_slots() -> None:
    found = gpus("81:00.0 0302: 10de:20b0\n01:00.0 0302: 10de:20b0\n")

    assert [value_or(gpu.pci_address, "") for gpu in found] == ["0000:01:00.0", "0000:81:00.0"]


def test_modules_without_a_driver_mean_none_is_bound() -> None:
    (gpu,) = gpus("01:00.0 0300: 10de:2684\n\tSubsystem: x\n\tKernel modules: nvidiafb, nouveau\n")

    assert value_or(gpu.kernel_driver, "?") == ""


def test_cut_block_leaves_the_driver_open() -> None:
    (gpu,) = gpus("01:00.0 0300: 10de:2684\n\tSubsystem: x\n")

    assert gpu.kernel_driver is NOT_ASKED


def test_block_without_its_indentation_is_read() -> None:
    (gpu,) = gpus("\n".join(line.strip() for line in NNK.splitlines()))

    assert value_or(gpu.kernel_driver, "?") == "nouveau"


def test_driver_of_the_next_device_is_not_taken() -> None:
    (gpu,) = gpus("01:00.0 0300: 10de:2684\n01:00.1 0403: 10de:1aef\n\tKernel driver in use: snd_hda_intel\n")

    assert gpu.kernel_driver is NOT_ASKED


@pytest.mark.parametrize(
    "words",
    [
        "$ lspci | grep -i nvidia\n$ uname -r\n",
        "me@host:~$ lspci | grep NVIDIA\nme@host:~$\n",
        f"$ lspci\n{OTHERS}$ uname -r\n",
        "$ lspci -k | grep -EiA3 'vga|3d|display'\n00:02.0 VGA compatible controller: Intel Corporation GT1\n$ ls\n",
    ],
)
def test_no_gpu_where_that_is_sure(words: str) -> None:
    assert value_or(fact(words), (Gpu(),)) == ()


@pytest.mark.parametrize(
    "words",
    [
        "$ lspci | grep -i nvidia\n",
        "$ lspci | grep nvidia\n$ uname -r\n",
        "$ lspci | grep -i vga\n00:02.0 VGA compatible controller: Intel Corporation GT1\n$ ls\n",
        f"$ lspci\n{OTHERS}",
        "$ lspci | grep -i nvidia\nbash: lspci: command not found\n$ ls\n",
        "$ lspci -s 00:02.0\n00:02.0 VGA compatible controller: Intel Corporation GT1\n$ ls\n",
        "01:00.1 Audio device: NVIDIA Corporation GA102 High Definition Audio Controller (rev a1)\n",
        "I have an NVIDIA Corporation GA102 [GeForce RTX 3090]\n",
    ],
)
def test_nothing_is_said_where_it_is_not_sure(words: str) -> None:
    assert isinstance(fact(words), Unknown)


@given(st.integers(0, 8))
def test_cut_text_gives_no_other_gpu(end: int) -> None:
    cut = "".join(NNK.splitlines(keepends=True)[:end])

    assert {value_or(gpu.name, "") for gpu in gpus(cut)} <= {"GeForce RTX 3090"}


@given(st.text(max_size=200))
def test_any_text_is_survived(words: str) -> None:
    assert isinstance(lspci.read(Paste(f"lspci nvidia {words}\n01:00.0 0300: 10de:{words}")), Machine)
