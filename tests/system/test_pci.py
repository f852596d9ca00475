"""Which GPUs sleep, from a made-up sysfs."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.system.files import Files
from gpuassist.system.pci import SleepWatch
from tests.fakes import put
from tests.machines import pci_gpu

FIRST, SECOND = "0000:01:00.0", "0000:41:00.0"


def test_gpus_of_the_driver_are_listed_in_order(tmp_path: Path) -> None:
    for address in (SECOND, FIRST):
        pci_gpu(tmp_path, address)
    assert SleepWatch(Files(str(tmp_path))).addresses() == (FIRST, SECOND)


@pytest.mark.parametrize("driver", ["nouveau", "vfio-pci", ""])
def test_gpus_of_other_drivers_are_not(tmp_path: Path, driver: str) -> None:
    pci_gpu(tmp_path, FIRST, driver=driver)
    assert SleepWatch(Files(str(tmp_path))).addresses() == ()


def test_its_sound_function_is_no_gpu(tmp_path: Path) -> None:
    pci_gpu(tmp_path, "0000:01:00.1", pci_class="0x040300")
    assert SleepWatch(Files(str(tmp_path))).addresses() == ()


@pytest.mark.parametrize(
    ("status", "asleep"), [("suspended", True), ("active", False), ("suspending", False), ("unsupported", False)]
)
def test_only_suspended_is_asleep(tmp_path: Path, status: str, asleep: bool) -> None:
    pci_gpu(tmp_path, FIRST, status=status)
    assert SleepWatch(Files(str(tmp_path))).asleep(FIRST) is asleep


def test_a_state_that_changes_is_seen(tmp_path: Path) -> None:
    pci_gpu(tmp_path, FIRST, status="suspended")
    watch = SleepWatch(Files(str(tmp_path)))
    assert watch.asleep(FIRST)
    put(tmp_path, f"/sys/devices/pci0000:00/{FIRST}/power/runtime_status", "active\n")
    assert not watch.asleep(FIRST)


def test_without_sysfs_there_is_none(tmp_path: Path) -> None:
    watch = SleepWatch(Files(str(tmp_path)))
    assert watch.addresses() == ()
    assert not watch.asleep(FIRST)
