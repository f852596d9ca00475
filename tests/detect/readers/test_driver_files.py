"""/proc/driver/nvidia/version and modinfo in pasted texts."""

from __future__ import annotations

import pytest

from gpuassist.model.fact import NOT_ASKED
from tests.detect.readers.pasted import machine
from tests.facts import value

MODINFO = """
    $ modinfo nvidia
    filename:       /lib/modules/6.8.0-45-generic/updates/dkms/nvidia.ko.zst
    alias:          char-major-195-*
    version:        {version}
    supported:      external
    license:        {licence}
    firmware:       nvidia/550.107.02/gsp_tu10x.bin
    srcversion:     6B3CB7A9A4B4A2F3F2E0B8D
    vermagic:       6.8.0-45-generic SMP preempt mod_unload modversions
"""


@pytest.mark.parametrize(
    ("words", "version", "opened"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024", "550.90.07", False),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs@b)", "580.95.05", True),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  575.57.08  Release Build", "575.57.08", True),
        ("> NVRM version: NVIDIA UNIX x86_64 Kernel Module  340.108  Wed Dec 11 11:06:58 PST 2019", "340.108", False),
        ("[host][0]:NVRM version: NVIDIA UNIX x86_64 Kernel Module  460.80  Fri May  7 06:55:54 UTC 2021", "460.80", False),
    ],
)
def test_loaded_module_is_read(words: str, version: str, opened: bool) -> None:
    (module,) = value(machine(words).driver.loaded)
    assert (str(value(module.version)), value(module.open_flavour)) == (version, opened)


def test_the_last_of_two_modules_counts() -> None:
    words = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Fri May 31 09:35:42 UTC 2024\n"
    (module,) = value(machine(words.format("535.54.03") + words.format("550.90.07")).driver.loaded)
    assert str(value(module.version)) == "550.90.07"


@pytest.mark.parametrize(("licence", "opened"), [("NVIDIA", False), ("Dual MIT/GPL", True)])
def test_module_on_disk_is_read(licence: str, opened: bool) -> None:
    (module,) = value(machine(MODINFO.format(version="550.107.02", licence=licence)).driver.on_disk)
    assert module.path == "/lib/modules/6.8.0-45-generic/updates/dkms/nvidia.ko.zst"
    assert (str(value(module.version)), value(module.licence), value(module.open_flavour)) == ("550.107.02", licence, opened)


def test_module_on_disk_says_nothing_of_the_loaded_one() -> None:
    assert machine(MODINFO.format(version="550.107.02", licence="NVIDIA")).driver.loaded == NOT_ASKED


def test_module_whose_version_is_cut_off_is_left_out() -> None:
    assert machine(MODINFO.split("version:")[0]).driver.on_disk == NOT_ASKED


@pytest.mark.parametrize(
    "words",
    [
        "filename:       /lib/modules/6.8.0/kernel/nouveau.ko\nversion: 1.0",
        "filename: notes.txt\nversion: 550.54",
        "NVRM: API mismatch: the client has the version 550.107.02",
    ],
)
def test_other_texts_name_no_module(words: str) -> None:
    told = machine(words).driver
    assert (told.loaded, told.on_disk) == (NOT_ASKED, NOT_ASKED)


LOG = """\
[    5.1] nvidia: loading out-of-tree module taints kernel.
[    5.3] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs@)  Wed Sep 24
[    5.5] [drm] [nvidia-drm] [GPU ID 0x00000100] Loading driver
"""


def test_module_that_the_kernel_began_to_load_is_there_and_not_yet_at_work() -> None:
    found = machine(LOG).driver
    (module,) = value(found.on_disk)
    assert (str(value(module.version)), value(module.open_flavour)) == ("580.95.05", True)
    assert found.loaded == NOT_ASKED


def test_log_that_loads_no_module_tells_of_none() -> None:
    assert machine("NVRM: loading failed").driver.on_disk == NOT_ASKED
