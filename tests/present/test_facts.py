"""Facts of a machine as people read them."""

from __future__ import annotations

from typing import Any

import pytest

from gpuassist.model.driver import DeviceNode, Driver, KernelModule, Library, NvmlStatus
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.gpu import Gpu, GpuProcess, PcieLink, PowerState, Recovery
from gpuassist.model.machine import Distribution, Host
from gpuassist.model.shell import Command
from gpuassist.model.system_wide import ContainerList, LoaderDirectory, ToolkitLink
from gpuassist.model.text import text
from gpuassist.model.version import ComputeCapability, Version
from gpuassist.model.words import ENGLISH
from gpuassist.present.facts import LABELS, words_of, words_of_field
from tests.rows import for_each

UNREAD = Unknown(text("it could not be read"))
VERSION = Known(Version.parse("580.95.05"), "modinfo")


def _said(value: Any) -> str:
    return ENGLISH(words_of(value))


@for_each(
    ("value", "words"),
    [
        (True, "yes"),
        (False, "no"),
        ("", "none"),
        ((), "none"),
        (0, "0"),
        (7, "7"),
        (3.5, "3.5"),
        ("6.8.0-60-generic", "6.8.0-60-generic"),
        ("a {b} c", "a {b} c"),
        (Version.parse("12.4.131"), "12.4.131"),
        (ComputeCapability(8, 9), "8.9"),
        (PowerState.ASLEEP, "asleep"),
        (Recovery.RESET, "reset"),
        (Recovery.NONE, "none"),
        (Recovery("7"), "action 7 of NVML, which is newer than what I know"),
    ],
)
def test_plain_value_is_said_as_it_is(value: object, words: str) -> None:
    assert _said(value) == words


@pytest.mark.parametrize(
    ("values", "words"),
    [(("a",), "a"), (("a", "b"), "a, b"), (("a", "b", "c"), "a, b, c"), ((True, ""), "yes, none"), ((("a", "b"), "c"), "a, b, c")],
)
def test_several_values_stand_in_a_row(values: tuple[object, ...], words: str) -> None:
    assert _said(values) == words


@pytest.mark.parametrize(
    ("distribution", "words"),
    [
        (Distribution("ubuntu", ("debian",), "24.04", "Ubuntu 24.04.2 LTS"), "Ubuntu 24.04.2 LTS"),
        (Distribution("arch", (), "", ""), "arch"),
    ],
)
def test_distribution_goes_by_its_own_name(distribution: Distribution, words: str) -> None:
    assert _said(distribution) == words


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (PcieLink(16, 16, 2.5, 16.0), "×16 at 2.5 GT/s (at most ×16 at 16 GT/s)"),
        (PcieLink(4, 16, 8.0, 32.0), "×4 at 8 GT/s (at most ×16 at 32 GT/s)"),
    ],
)
def test_link_is_said_with_what_it_could_be(link: PcieLink, words: str) -> None:
    assert _said(link) == words


def test_process_is_said_with_its_memory() -> None:
    assert _said(GpuProcess(4242, "compute", Known(3 << 30, "NVML"))).startswith("process 4242 with 3")


def test_process_whose_memory_is_hidden_is_said_alone() -> None:
    assert _said(GpuProcess(4242, "compute", UNREAD)) == "process 4242"


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (KernelModule("/lib/nvidia.ko", VERSION, open_flavour=Known(True, "modinfo")), "580.95.05, open (/lib/nvidia.ko)"),
        (KernelModule("/lib/nvidia.ko", VERSION, open_flavour=Known(False, "modinfo")), "580.95.05, proprietary (/lib/nvidia.ko)"),
        (KernelModule("/lib/nvidia.ko", VERSION), "580.95.05 (/lib/nvidia.ko)"),
        (KernelModule("/lib/nvidia.ko", UNREAD, open_flavour=Known(True, "modinfo")), "?, open (/lib/nvidia.ko)"),
        (KernelModule("/lib/nvidia.ko"), "? (/lib/nvidia.ko)"),
    ],
)
def test_module_is_said_as_far_as_it_is_known(module: KernelModule, words: str) -> None:
    assert _said(module) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Library("/usr/lib/libcuda.so.580.95.05", VERSION), "/usr/lib/libcuda.so.580.95.05"),
        (NvmlStatus(18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH"), "NVML_ERROR_LIB_RM_VERSION_MISMATCH (18)"),
        (Command("nvcc", "/usr/bin/nvcc", "/usr/bin/nvcc"), "/usr/bin/nvcc"),
        (Command("nvcc", "/usr/bin/nvcc", "/opt/cuda/bin/nvcc"), "/usr/bin/nvcc, which is /opt/cuda/bin/nvcc"),
    ],
)
def test_record_is_said_by_what_tells_it_apart(value: object, words: str) -> None:
    assert _said(value) == words


@pytest.mark.parametrize(
    ("readable", "writable", "mode", "words"),
    [
        (True, True, 0o666, "/dev/nvidia0: usable"),
        (True, False, 0o664, "/dev/nvidia0: not usable by this user (root:video, 0664)"),
        (False, True, 0o222, "/dev/nvidia0: not usable by this user (root:video, 0222)"),
        (False, False, 0o20660, "/dev/nvidia0: not usable by this user (root:video, 0660)"),
    ],
)
def test_node_must_be_readable_and_writable(readable: bool, writable: bool, mode: int, words: str) -> None:
    assert _said(DeviceNode("/dev/nvidia0", mode, "root:video", readable, writable)) == words


def test_several_records_stand_in_a_row() -> None:
    assert _said((Library("/a/libcuda.so.1"), Library("/b/libcuda.so.2"))) == "/a/libcuda.so.1, /b/libcuda.so.2"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("memory_total_bytes", 24 << 30, "24 GiB"),
        ("memory_used_bytes", 0, "0 MiB"),
        ("wsl", 0, "none"),
        ("wsl", 2, "2"),
        ("index", 0, "0"),
        ("minor", 0, "0"),
        ("container", "", "none"),
        ("nouveau_loaded", False, "no"),
    ],
)
def test_field_says_what_its_number_counts(name: str, value: object, words: str) -> None:
    assert ENGLISH(words_of_field(name, value)).replace(".0 ", " ") == words


@pytest.mark.parametrize("kind", [Gpu, Driver, Host])
def test_every_fact_of_hardware_has_a_label(kind: Any) -> None:
    missing = set(kind.__struct_fields__) - set(LABELS)
    assert missing <= {"name"}  # the heading of its section


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            ToolkitLink("/usr/local/cuda", "/usr/local/cuda-12.4", exists=True, alternatives=False),
            "/usr/local/cuda → /usr/local/cuda-12.4",
        ),
        (
            ToolkitLink("/usr/local/cuda", "/usr/local/cuda-11.8", exists=False, alternatives=False),
            "/usr/local/cuda → /usr/local/cuda-11.8, which is not there",
        ),
        (
            LoaderDirectory("/etc/ld.so.conf.d/a.conf", "/opt/lib", "/opt/lib", ("libcudart.so",)),
            "/opt/lib (/etc/ld.so.conf.d/a.conf)",
        ),
        (ContainerList("/etc/cdi/nvidia.yaml", VERSION), "580.95.05 (/etc/cdi/nvidia.yaml)"),
        (ContainerList("/etc/cdi/nvidia.yaml", UNREAD), "/etc/cdi/nvidia.yaml"),
    ],
)
def test_what_counts_for_every_program_is_said_with_its_place(value: object, words: str) -> None:
    assert _said(value) == words
