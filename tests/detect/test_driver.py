"""Drivers as their files show them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpuassist.detect import driver
from gpuassist.model.driver import Driver, KernelModule
from gpuassist.model.fact import Known
from gpuassist.model.version import Version
from tests.facts import reason, value
from tests.fakes import put, world_under
from tests.machines import device_nodes, linux, loaded_module, module_on_disk, nvidia_driver

V580 = Version((580, 95, 5))


def probe(root: Path) -> Driver:
    return driver.probe(world_under(root))


def test_loaded_module_is_read_with_its_flavour(tmp_path: Path) -> None:
    loaded_module(tmp_path, "580.95.05", open_flavour=True)
    (module,) = value(probe(tmp_path).loaded)
    assert module == KernelModule(
        "/sys/module/nvidia",
        Known(V580, "/sys/module/nvidia/version"),
        Known("Dual MIT/GPL", "/proc/driver/nvidia/version"),
        Known(value=True, source="/proc/driver/nvidia/version"),
    )


def test_proprietary_module_is_told_apart(tmp_path: Path) -> None:
    loaded_module(tmp_path, "535.183.01")
    (module,) = value(probe(tmp_path).loaded)
    assert (value(module.licence), value(module.open_flavour)) == ("NVIDIA", False)


def test_version_comes_from_proc_where_sys_is_masked(tmp_path: Path) -> None:
    loaded_module(tmp_path, "580.95.05")
    (tmp_path / "sys/module/nvidia/version").unlink()
    (module,) = value(probe(tmp_path).loaded)
    assert module.version == Known(V580, "/proc/driver/nvidia/version")


@pytest.mark.parametrize(("flags", "open_flavour"), [("POE\n", False), ("OE\n", True)])
def test_flavour_comes_from_taint_where_proc_is_masked(tmp_path: Path, flags: str, open_flavour: bool) -> None:
    loaded_module(tmp_path, "580.95.05")
    (tmp_path / "proc/driver/nvidia/version").unlink()
    put(tmp_path, "/sys/module/nvidia/taint", flags)
    (module,) = value(probe(tmp_path).loaded)
    assert module.open_flavour == Known(open_flavour, "/sys/module/nvidia/taint")


def test_flavour_nobody_tells_is_unknown(tmp_path: Path) -> None:
    put(tmp_path, "/sys/module/nvidia/version", "580.95.05\n")
    (module,) = value(probe(tmp_path).loaded)
    assert reason(module.open_flavour) == "/sys/module/nvidia/taint could not be read: No such file or directory"
    assert value(module.version) == V580


def test_module_that_is_not_loaded_is_a_known_absence(tmp_path: Path) -> None:
    linux(tmp_path)
    assert value(probe(tmp_path).loaded) == ()


def test_system_that_shows_no_modules_is_unknown(tmp_path: Path) -> None:
    found = probe(tmp_path)
    assert "/sys/module is not there" in reason(found.loaded)
    assert "/sys/module is not there" in reason(found.nouveau_loaded)


@pytest.mark.parametrize("loaded", [True, False])
def test_nouveau_is_seen_by_its_directory(tmp_path: Path, loaded: bool) -> None:
    linux(tmp_path)
    if loaded:
        put(tmp_path, "/sys/module/nouveau/initstate", "live\n")
    assert value(probe(tmp_path).nouveau_loaded) is loaded


def test_device_nodes_tell_mode_and_owner(tmp_path: Path) -> None:
    device_nodes(tmp_path, 1, mode=0o660)
    put(tmp_path, "/etc/passwd", f"someone:x:{os.getuid()}:100::/home/someone:/bin/sh\n")
    put(tmp_path, "/etc/group", f"video:x:{(tmp_path / 'dev/nvidia0').stat().st_gid}:\n")
    node = next(node for node in value(probe(tmp_path).device_nodes) if node.path == "/dev/nvidia0")
    assert (node.mode, node.owner, node.readable, node.writable) == (0o660, "someone:video", True, True)


def test_device_nodes_of_two_gpus_are_listed(tmp_path: Path) -> None:
    device_nodes(tmp_path, 2)
    (tmp_path / "dev/nvidia-caps").mkdir()
    paths = [node.path for node in value(probe(tmp_path).device_nodes)]
    assert paths == ["/dev/nvidia-modeset", "/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl"]


@pytest.mark.skipif(os.geteuid() == 0, reason="NOT RUN: root may open every file")
def test_node_that_user_may_not_open_is_told(tmp_path: Path) -> None:
    device_nodes(tmp_path, 1, mode=0o000)
    assert not any(node.readable or node.writable for node in value(probe(tmp_path).device_nodes))


def test_no_dev_at_all_is_unknown(tmp_path: Path) -> None:
    assert "/dev is not there" in reason(probe(tmp_path).device_nodes)


def test_whole_driver_is_consistent(tmp_path: Path) -> None:
    linux(tmp_path)
    nvidia_driver(tmp_path, "580.95.05", open_flavour=True)
    found = probe(tmp_path)
    versions = [module.version for module in (*value(found.loaded), *value(found.on_disk))]
    assert [value(version) for version in versions] == [V580, V580]


def test_files_without_permission_are_unknown_not_absent(tmp_path: Path) -> None:
    linux(tmp_path)
    put(tmp_path, "/sys/module/nvidia/version/not-a-file")
    put(tmp_path, "/proc/driver/nvidia/version/not-a-file")
    (module,) = value(probe(tmp_path).loaded)
    assert "/sys/module/nvidia/version could not be read: Is a directory" in reason(module.version)


def test_module_on_disk_is_found_beside_none_loaded(tmp_path: Path) -> None:
    linux(tmp_path)
    module_on_disk(tmp_path, "580.95.05")
    found = probe(tmp_path)
    assert value(found.loaded) == ()
    assert len(value(found.on_disk)) == 1
