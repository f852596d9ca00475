"""Kernel modules on disk, packed in every way."""

from __future__ import annotations

import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuassist.detect.modules_on_disk import on_disk
from gpuassist.model.driver import KernelModule
from gpuassist.model.version import Version
from gpuassist.system.processes import Ending, ProcessResult
from tests.facts import reason, value
from tests.fakes import ScriptedProcesses, link, put, world_under
from tests.machines import KERNEL, linux, module_bytes, module_on_disk
from tests.next_machines import signed

BASE = f"/lib/modules/{KERNEL}"
MODULE = module_bytes({"license": "NVIDIA", "version": "535.183.01"})


def probe(root: Path, processes: ScriptedProcesses | None = None) -> tuple[KernelModule, ...]:
    return value(on_disk(world_under(root, processes=processes)))


@pytest.mark.parametrize(
    "folder",
    ["updates/dkms", "updates", "extra", "extra/nvidia", "kernel/drivers/video", "kernel/nvidia-580-open", "weak-updates/nvidia"],
)
def test_module_is_found_where_distributions_put_it(tmp_path: Path, folder: str) -> None:
    linux(tmp_path)
    module_on_disk(tmp_path, "580.95.05", open_flavour=True, folder=folder)
    (module,) = probe(tmp_path)
    assert module.path == f"{BASE}/{folder}/nvidia.ko"
    assert value(module.version) == Version((580, 95, 5))
    assert (value(module.licence), value(module.open_flavour)) == ("Dual MIT/GPL", True)


def test_module_elsewhere_is_found_through_the_index(tmp_path: Path) -> None:
    linux(tmp_path)
    put(tmp_path, f"{BASE}/odd/place/nvidia.ko", MODULE)
    put(
        tmp_path,
        f"{BASE}/modules.dep",
        "kernel/a.ko:\nodd/place/nvidia.ko: kernel/b.ko\nodd/place/nvidia-uvm.ko: odd/place/nvidia.ko\n",
    )
    (module,) = probe(tmp_path)
    assert module.path == f"{BASE}/odd/place/nvidia.ko"


def test_module_in_index_and_place_is_one(tmp_path: Path) -> None:
    linux(tmp_path)
    module_on_disk(tmp_path, "535.183.01")
    put(tmp_path, f"{BASE}/modules.dep", "updates/dkms/nvidia.ko:\n")
    assert len(probe(tmp_path)) == 1


def test_index_that_is_older_than_files_is_no_proof(tmp_path: Path) -> None:
    linux(tmp_path)
    put(tmp_path, f"{BASE}/modules.dep", "updates/dkms/nvidia.ko:\n")
    assert probe(tmp_path) == ()


def test_link_to_another_kernels_module_is_followed(tmp_path: Path) -> None:
    linux(tmp_path)
    put(tmp_path, "/lib/modules/5.14.0-1/extra/nvidia.ko", MODULE)
    link(tmp_path, f"{BASE}/weak-updates/nvidia/nvidia.ko", "../../../5.14.0-1/extra/nvidia.ko")
    assert [module.path for module in probe(tmp_path)] == ["/lib/modules/5.14.0-1/extra/nvidia.ko"]


def test_module_of_another_kernel_does_not_count(tmp_path: Path) -> None:
    linux(tmp_path)
    module_on_disk(tmp_path, "535.183.01", kernel="6.8.0-59-generic")
    assert probe(tmp_path) == ()


def test_lib_that_is_a_link_is_followed(tmp_path: Path) -> None:
    put(tmp_path, "/proc/sys/kernel/osrelease", f"{KERNEL}\n")
    put(tmp_path, f"/usr{BASE}/updates/nvidia.ko", MODULE)
    link(tmp_path, "/lib", "usr/lib")
    assert [module.path for module in probe(tmp_path)] == [f"/usr{BASE}/updates/nvidia.ko"]


@pytest.mark.parametrize(("pack", "ending"), [(gzip.compress, ".gz"), (lzma.compress, ".xz")])
def test_packed_module_is_read(tmp_path: Path, pack: Callable[[bytes], bytes], ending: str) -> None:
    linux(tmp_path)
    put(tmp_path, f"{BASE}/extra/nvidia.ko{ending}", pack(MODULE))
    (module,) = probe(tmp_path)
    assert (value(module.version), value(module.open_flavour)) == (Version((535, 183, 1)), False)


@pytest.mark.parametrize("program", ["modinfo", "/usr/sbin/modinfo"])
def test_module_packed_with_zstd_is_asked_of_modinfo(tmp_path: Path, program: str) -> None:
    linux(tmp_path)
    put(tmp_path, f"{BASE}/updates/dkms/nvidia.ko.zst", b"\x28\xb5\x2f\xfd packed")
    place = os.path.realpath(tmp_path / f"{BASE[1:]}/updates/dkms/nvidia.ko.zst")
    processes = ScriptedProcesses({f"{program} {place}": "filename: x\nversion:        580.95.05\nlicense:        Dual MIT/GPL\n"})
    (module,) = probe(tmp_path, processes)
    assert (str(value(module.version)), value(module.open_flavour)) == ("580.95.05", True)


def test_module_packed_with_zstd_is_unknown_without_modinfo(tmp_path: Path) -> None:
    linux(tmp_path)
    put(tmp_path, f"{BASE}/updates/dkms/nvidia.ko.zst", b"packed")
    (module,) = probe(tmp_path)
    assert module.path == f"{BASE}/updates/dkms/nvidia.ko.zst"
    assert "only the program modinfo reads" in reason(module.version)


def test_modinfo_that_fails_is_no_answer(tmp_path: Path) -> None:
    linux(tmp_path)
    put(tmp_path, f"{BASE}/updates/dkms/nvidia.ko.zst", b"packed")
    place = os.path.realpath(tmp_path / f"{BASE[1:]}/updates/dkms/nvidia.ko.zst")
    failed = ProcessResult(Ending.EXITED, 1, b"", b"modinfo: ERROR: could not get modinfo", 0.1)
    (module,) = probe(tmp_path, ScriptedProcesses({f"modinfo {place}": failed}))
    assert "gave no answer" in reason(module.licence)


@pytest.mark.parametrize("name", ["nvidia.ko", "nvidia.ko.gz", "nvidia.ko.xz"])
def test_damaged_module_is_listed_and_unknown(tmp_path: Path, name: str) -> None:
    linux(tmp_path)
    put(tmp_path, f"{BASE}/extra/{name}", b"cut off")
    (module,) = probe(tmp_path)
    assert f"{BASE}/extra/{name} is no kernel module that can be read" in reason(module.version)


def test_module_that_names_no_licence_is_unknown(tmp_path: Path) -> None:
    linux(tmp_path)
    put(tmp_path, f"{BASE}/extra/nvidia.ko", module_bytes({"version": "580.95.05"}))
    (module,) = probe(tmp_path)
    assert "names no licence" in reason(module.licence)
    assert "names no licence" in reason(module.open_flavour)


def test_other_modules_are_left_out(tmp_path: Path) -> None:
    linux(tmp_path)
    put(tmp_path, f"{BASE}/extra/nvidia-uvm.ko", MODULE)
    assert probe(tmp_path) == ()


def test_kernel_without_modules_directory_is_unknown(tmp_path: Path) -> None:
    put(tmp_path, "/proc/sys/kernel/osrelease", "5.15.167.4-microsoft-standard-WSL2\n")
    assert "/lib/modules/5.15.167.4-microsoft-standard-WSL2 is not there" in reason(on_disk(world_under(tmp_path)))


def test_unknown_kernel_leaves_modules_unknown(tmp_path: Path) -> None:
    assert "/proc/sys/kernel/osrelease could not be read" in reason(on_disk(world_under(tmp_path)))


@pytest.mark.parametrize("name", ["nvidia-current.ko", "nvidia-current-open.ko", "nvidia-tesla-535.ko", "nvidia-legacy-390xx.ko"])
def test_module_by_debians_names_is_one(tmp_path: Path, name: str) -> None:
    linux(tmp_path)
    for one in (name, name.replace(".ko", "-modeset.ko"), "nvidia-peermem.ko", "nvidia_wmi.ko"):
        put(tmp_path, f"{BASE}/updates/dkms/{one}", MODULE)
    put(tmp_path, f"{BASE}/modules.dep", f"updates/dkms/{name}: updates/dkms/nvidia-peermem.ko\nupdates/dkms/nvidia-peermem.ko:\n")
    assert [module.path for module in probe(tmp_path)] == [f"{BASE}/updates/dkms/{name}"]


@pytest.mark.parametrize(("pack", "ending"), [(bytes, ""), (gzip.compress, ".gz"), (lzma.compress, ".xz")])
def test_signer_of_a_module_is_told(tmp_path: Path, pack: Callable[[bytes], bytes], ending: str) -> None:
    linux(tmp_path)
    put(tmp_path, f"{BASE}/extra/nvidia.ko{ending}", pack(signed(MODULE, "DKMS module signing key")))
    put(tmp_path, f"{BASE}/updates/nvidia.ko{ending}", pack(MODULE))
    assert sorted(value(module.signer) for module in probe(tmp_path)) == ["", "DKMS module signing key"]
