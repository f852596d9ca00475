"""Which kernels can start, also where /boot holds more than kernels or is closed to this user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.detect.boot_choice import chosen
from gpuassist.detect.holds import probe as probe_holds
from gpuassist.detect.installed_kernels import installed_kernels
from gpuassist.detect.modules_on_disk import module_paths
from gpuassist.detect.next_start import probe
from gpuassist.model.fact import value_or
from gpuassist.system.files import Files
from tests.facts import value
from tests.fakes import put, world_under
from tests.machines import linux

OLD, NEW, GONE = "6.14.0-36-generic", "6.14.0-37-generic", "6.17.0-6-generic"


class ClosedBoot(Files):
    """Files of a user to whom /boot is closed, whoever runs the tests."""

    def names(self, path: str) -> tuple[str, ...]:
        return () if path == "/boot" else super().names(path)

    def may(self, path: str, mode: int) -> bool:
        return path != "/boot" and super().may(path, mode)


def kernels(root: Path) -> None:
    linux(root, kernel=OLD)
    put(root, "/var/lib/dpkg/status", "")
    for release in (OLD, NEW):
        put(root, f"/boot/vmlinuz-{release}", b"MZ")
        put(root, f"/lib/modules/{release}/modules.builtin")
    put(root, f"/lib/modules/{GONE}/updates/dkms/v4l2loopback.ko")


@pytest.mark.parametrize("name", ["a-{:04}", "vmlinuz-5.0.{}"])
def test_other_files_of_boot_hide_no_kernel(name: str, tmp_path: Path) -> None:
    kernels(tmp_path)
    for number in range(1100):
        os.link(tmp_path / f"boot/vmlinuz-{OLD}", tmp_path / "boot" / name.format(number))
    assert {one.release for one in value(installed_kernels(Files(str(tmp_path))))} == {OLD, NEW}


def test_a_closed_boot_leaves_the_kernels_whose_packages_are_installed(tmp_path: Path) -> None:
    kernels(tmp_path)
    found = value(installed_kernels(ClosedBoot(str(tmp_path))))
    assert {one.release for one in found} == {OLD, NEW}
    assert chosen(ClosedBoot(str(tmp_path)), found, OLD).kernel.release == NEW


def test_settings_of_systemd_boot_count_where_its_variables_are_not_to_be_seen(tmp_path: Path) -> None:
    kernels(tmp_path)
    put(tmp_path, "/boot/loader/loader.conf", "default old.conf\n")
    put(tmp_path, "/boot/loader/entries/old.conf", f"title Old\nlinux /vmlinuz-{OLD}\n")
    put(tmp_path, "/boot/loader/entries/new.conf", f"title New\nlinux /vmlinuz-{NEW}\n")
    files = Files(str(tmp_path))
    assert chosen(files, value(installed_kernels(files)), NEW).kernel.release == OLD
    put(tmp_path, "/boot/grub/grub.cfg", f"menuentry 'x' {{\n linux /vmlinuz-{NEW}\n}}\n")
    assert chosen(files, value(installed_kernels(files)), OLD).kernel.release == NEW


def test_an_index_without_an_end_of_line_is_gone_over_once(tmp_path: Path) -> None:
    put(tmp_path, f"/lib/modules/{NEW}/modules.dep", "nvidia" * 300_000)  # took minutes
    assert module_paths(Files(str(tmp_path)), f"/lib/modules/{NEW}") == ()


@pytest.mark.parametrize(
    "path",
    ["/boot/grub/grub.cfg", "/boot/grub/grubenv", "/etc/default/grub", "/etc/modprobe.d/x.conf", f"/lib/modules/{NEW}/modules.dep"],
)
def test_a_pipe_in_place_of_a_file_is_not_waited_for(path: str, tmp_path: Path) -> None:
    kernels(tmp_path)
    (tmp_path / path[1:]).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(tmp_path / path[1:])
    assert value_or(probe(world_under(tmp_path)).kernel, "") == NEW


def test_a_pipe_in_place_of_a_build_log_is_not_waited_for(tmp_path: Path) -> None:
    kernels(tmp_path)
    (tmp_path / "var/lib/dkms/nvidia/580.95.05/build").mkdir(parents=True)
    os.mkfifo(tmp_path / "var/lib/dkms/nvidia/580.95.05/build/make.log")
    assert [one.error for one in value_or(probe(world_under(tmp_path)).builds, ())] == [""]


def test_a_file_that_includes_itself_is_read_once(tmp_path: Path) -> None:
    reads: list[str] = []

    class Counted(Files):
        def read_text(self, path: str, limit: int = -1) -> str:
            reads.append(path)
            return super().read_text(path, limit)

    (tmp_path / "var/lib/pacman/local").mkdir(parents=True)
    put(tmp_path, "/etc/pacman.conf", "[options]\nIgnorePkg = nvidia-open\n" + "Include = /etc/pacman.conf\n" * 500)
    found = probe_holds(replace(world_under(tmp_path), files=Counted(str(tmp_path))))
    assert 1 <= len(value(found.holds)) <= 2
    assert len(reads) < 20
