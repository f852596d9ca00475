"""Made-up machines that are about to be restarted, each with what is to be said of it, written before the code was."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from tests.fakes import link, put
from tests.machines import UBUNTU, device_nodes, libcuda, linux, loaded_module, module_bytes, pci_gpu

DEBIAN = (
    'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nNAME="Debian GNU/Linux"\nVERSION_ID="13"\nVERSION_CODENAME=trixie\nID=debian\n'
)
FEDORA = (
    'NAME="Fedora Linux"\nVERSION_ID=42\nPRETTY_NAME="Fedora Linux 42 (Workstation Edition)"\nID=fedora\nVARIANT_ID=workstation\n'
)
SILVERBLUE = FEDORA.replace("workstation", "silverblue")
ROCKY = (
    'NAME="Rocky Linux"\nVERSION_ID="9.6"\nID="rocky"\nID_LIKE="rhel centos fedora"\nPRETTY_NAME="Rocky Linux 9.6 (Blue Onyx)"\n'
)
ARCH = 'NAME="Arch Linux"\nPRETTY_NAME="Arch Linux"\nID=arch\nBUILD_ID=rolling\n'
TUMBLEWEED = 'NAME="openSUSE Tumbleweed"\nID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\nVERSION_ID="20261101"\n'
GTX_1080_TI = "10de:1b06"
MISSING, MISMATCH, OLD_IMAGE, PENDING = (
    "next-start-without-driver",
    "next-start-driver-mismatch",
    "next-start-initramfs-old",
    "restart-pending",
)
OURS = frozenset({MISSING, MISMATCH, OLD_IMAGE, PENDING})
LOADER = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"
EFI = "/sys/firmware/efi/efivars"
MARK = b"~Module signature appended~\n"
NOON = int(time.time())  # what is written to the tree as a test goes is of about this moment


class Case(Struct, frozen=True):
    """`says` are the problems of the next start and `parameters` what the first of them has; `by` is how the kernel was chosen,
    `commands` words that must stand in the remedies' lines, `undetermined` what stays open, `others` what is told as well.
    """

    name: str
    make: Callable[[Path], None]
    kernel: str
    by: str
    says: frozenset[str] = frozenset()
    parameters: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    undetermined: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()


def efi(root: Path, name: str, words: str) -> None:
    put(root, f"{EFI}/{name}-{LOADER}", b"\x06\0\0\0" + words.encode("utf-16-le") + b"\0\0")


def signed(module: bytes, signer: str) -> bytes:
    """The module with a signature at its end, as much of PKCS #7 as names the signer."""
    name = signer.encode()
    data = b"\x30\x82\x01\x00\x06\x03\x55\x04\x03\x0c" + bytes([len(name)]) + name + b"\x02\x01\x07"
    return module + data + b"\0\0\x02\0\0\0\0\0" + len(data).to_bytes(4, "big") + MARK


def module(
    root: Path, kernel: str, version: str, folder: str, *, signer: str = "", name: str = "nvidia.ko", opened: bool = True
) -> str:
    content = module_bytes({"license": "Dual MIT/GPL" if opened else "NVIDIA", "version": version})
    path = f"/lib/modules/{kernel}/{folder}/{name}"
    put(root, path, signed(content, signer) if signer else content)
    return path


def running(
    root: Path, kernel: str, os_release: str, *, driver: str = "580.95.05", gpu: str = "10de:2684", **linux_words: Any
) -> None:
    """A machine whose driver works: loaded, with its libraries; the module on disk is the caller's."""
    linux(root, kernel=kernel, os_release=os_release, **linux_words)
    pci_gpu(root, pci_id=gpu)
    loaded_module(root, driver, open_flavour=gpu != GTX_1080_TI)
    folder = "/usr/lib64" if "ID=fedora" in os_release or "rocky" in os_release else "/usr/lib" if "arch" in os_release else ""
    libcuda(root, driver, folder or "/usr/lib/x86_64-linux-gnu")
    device_nodes(root)
    if "ubuntu" in os_release or "debian" in os_release:
        put(root, "/var/lib/dpkg/status", "")


def kernel(root: Path, release: str, *, headers: bool = True, image: str = "vmlinuz", initrd: str = "initrd.img") -> None:
    """An installed kernel of Debian's or Fedora's kind, with its early boot image."""
    put(root, f"/boot/{image}-{release}", b"MZ")
    put(root, f"/boot/{initrd}-{release}{'.img' if initrd == 'initramfs' else ''}", b"")
    (root / f"lib/modules/{release}").mkdir(parents=True, exist_ok=True)
    if headers:
        put(root, f"/usr/src/linux-headers-{release}/Makefile", "")
        link(root, f"/lib/modules/{release}/build", f"/usr/src/linux-headers-{release}")


def dkms(root: Path, version: str, *, name: str = "nvidia", built: tuple[str, ...] = (), failed: str = "") -> None:
    """Sources that dkms knows, what it built of them, and the kernel for which that broke off."""
    place = f"/var/lib/dkms/{name}/{version}"
    link(root, f"{place}/source", f"/usr/src/nvidia-{version}")
    (root / f"{place[1:]}/build").mkdir(parents=True, exist_ok=True)
    for release in built:
        put(root, f"{place}/{release}/x86_64/module/nvidia.ko", b"")
        link(root, f"/var/lib/dkms/{name}/kernel-{release}-x86_64", f"{version}/{release}/x86_64")
    if failed:
        log = (
            f"DKMS (dkms-3.2.2) make.log for {name}/{version} for kernel {failed} (x86_64)\nMon Nov 23 10:00:00 CET 2026\n"
            "/var/lib/dkms/nvidia/580.95.05/build/nvidia/nv.c:12:3: error: implicit declaration of function 'x'\n# exit code: 2\n"
        )
        put(root, f"{place}/build/make.log", log)


def grub(
    root: Path, words: str = 'GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT="quiet splash"\n', folder: str = "/boot/grub"
) -> None:
    put(root, "/etc/default/grub", words)
    put(root, f"{folder}/grubenv", "# GRUB Environment Block\n" + "#" * 900)


def menu(root: Path, *releases: str, default: str = "0") -> None:
    """A grub.cfg as grub-mkconfig writes it: the newest at the top, and all of them in a submenu."""
    uuid = "6e2e5a2c-0000-4000-8000-000000000001"

    def entry(release: str, title: str, kind: str) -> str:
        return (
            f"menuentry '{title}' --class ubuntu --class gnu-linux $menuentry_id_option 'gnulinux-{kind}-{uuid}' {{\n"
            "\trecordfail\n\tload_video\n\tif [ x$grub_platform = xxen ]; then insmod xzio; fi\n"
            f"\tlinux\t/boot/vmlinuz-{release} root=UUID={uuid} ro quiet splash\n\tinitrd\t/boot/initrd.img-{release}\n}}\n"
        )

    inner = "".join(entry(one, f"Ubuntu, with Linux {one}", f"{one}-advanced") for one in releases)
    words = (
        f'if [ "${{next_entry}}" ] ; then\n   set default="${{next_entry}}"\n   set next_entry=\n   save_env next_entry\nelse\n'
        f'   set default="{default}"\nfi\nfunction savedefault {{\n  save_env saved_entry\n}}\n'
        + entry(releases[0], "Ubuntu", "simple")
        + f"submenu 'Advanced options for Ubuntu' $menuentry_id_option 'gnulinux-advanced-{uuid}' {{\n{inner}}}\n"
    )
    put(root, "/boot/grub/grub.cfg", words)


def secret(root: Path, path: str) -> None:
    """A file that is there and that nobody reads: a directory in its place, which stops root as well."""
    (root / path.lstrip("/")).mkdir(parents=True)


def at(root: Path, path: str, seconds: int) -> None:
    os.utime(root / path.lstrip("/"), (NOON + seconds, NOON + seconds))


# Ubuntu

OLD, NEW = "6.8.0-60-generic", "6.11.0-29-generic"


def ubuntu(root: Path, *, kernels: tuple[str, ...] = (OLD, NEW), **words: Any) -> None:
    running(root, OLD, UBUNTU, **words)
    for one in kernels:
        kernel(root, one)
    grub(root)


def prebuilt(root: Path, *, with_new: bool, version: str = "580.95.05") -> None:
    """Canonical's own modules, for the kernel that runs, and perhaps for the one that came since."""
    ubuntu(root)
    for release in (OLD, NEW) if with_new else (OLD,):
        module(root, release, version if release == NEW else "580.95.05", "kernel/nvidia-580-open", signer="Canonical Ltd. Kernel")
        put(root, f"/var/lib/dpkg/info/linux-modules-nvidia-580-open-{release}.md5sums", "")
    put(root, "/var/lib/dpkg/info/libnvidia-compute-580.md5sums", "")


def by_dkms(root: Path, *, built: tuple[str, ...], headers: bool = True, failed: str = "", **words: Any) -> None:
    running(root, OLD, UBUNTU, **words)
    kernel(root, OLD)
    kernel(root, NEW, headers=headers)
    grub(root)
    dkms(root, "580.95.05", built=built, failed=failed)
    for release in built:
        module(root, release, "580.95.05", "updates/dkms", signer="ubuntu Secure Boot Module Signature key")
    put(root, "/var/lib/dpkg/info/nvidia-dkms-580-open.md5sums", "")


def leftover_modules(root: Path) -> None:
    """A kernel that was removed left its directory, because something else lies in it."""
    ubuntu(root, kernels=(OLD,))
    module(root, OLD, "580.95.05", "updates/dkms")
    put(root, f"/lib/modules/{NEW}/updates/dkms/other.ko", "")


def pinned_to_the_old(root: Path) -> None:
    by_dkms(root, built=(OLD,))
    menu(root, NEW, OLD, default="Advanced options for Ubuntu>Ubuntu, with Linux 6.8.0-60-generic")
    grub(root, 'GRUB_DEFAULT="Advanced options for Ubuntu>Ubuntu, with Linux 6.8.0-60-generic"\n')


def pinned_by_number(root: Path, *, readable: bool) -> None:
    """`1>2`: only the menu tells which that is."""
    by_dkms(root, built=(OLD,))
    grub(root, 'GRUB_DEFAULT="1>1"\n')
    if readable:
        menu(root, NEW, OLD, default="1>1")
    else:
        secret(root, "/boot/grub/grub.cfg")


def once_by_grub_reboot(root: Path) -> None:
    by_dkms(root, built=(OLD,))
    put(root, "/boot/grub/grubenv", f"# GRUB Environment Block\nnext_entry=gnulinux-{OLD}-advanced-6e2e5a2c\n####")


def menu_without_the_newest(root: Path) -> None:
    """grub.cfg was not written since the new kernel came."""
    by_dkms(root, built=(OLD,))
    menu(root, OLD)


def newer_module_waits(root: Path) -> None:
    """An upgrade of kernel and driver together: all of it fits, after the restart."""
    ubuntu(root)
    for release in (OLD, NEW):
        module(root, release, "580.105.08", "updates/dkms")
    dkms(root, "580.105.08", built=(OLD, NEW))
    (root / "usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05").unlink()
    (root / "usr/lib/x86_64-linux-gnu/libcuda.so.1").unlink()
    (root / "usr/lib/x86_64-linux-gnu/libcuda.so").unlink()
    libcuda(root, "580.105.08")
    put(root, "/run/reboot-required", "*** System restart required ***\n")
    put(root, "/run/reboot-required.pkgs", f"linux-image-{NEW}\nlinux-base\n")


def two_versions_in_dkms(root: Path) -> None:
    by_dkms(root, built=(OLD,))
    dkms(root, "550.163.01")


def libraries_of_another_version(root: Path) -> None:
    prebuilt(root, with_new=True, version="580.82.07")


def unsigned(root: Path) -> None:
    """Secure Boot is on, and dkms found no key when it built for the new kernel."""
    by_dkms(root, built=(OLD, NEW), secure_boot=True)
    module(root, NEW, "580.95.05", "updates/dkms")


def key_not_enrolled(root: Path) -> None:
    by_dkms(root, built=(OLD, NEW), secure_boot=True)
    module(root, NEW, "580.95.05", "updates/dkms", signer="DKMS module signing key")
    put(root, f"{EFI}/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23", b"\x06\0\0\0 ubuntu Secure Boot Module Signature key ")


def key_list_is_hidden(root: Path) -> None:
    key_not_enrolled(root)
    (root / f"{EFI[1:]}/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23").unlink()


def unsigned_and_not_asked_for(root: Path) -> None:
    """A kernel that takes unsigned modules under Secure Boot: the one that is loaded has no signature either."""
    by_dkms(root, built=(OLD, NEW), secure_boot=True)
    for release in (OLD, NEW):
        module(root, release, "580.95.05", "updates/dkms")


def block_after_the_image(root: Path) -> None:
    ubuntu(root, kernels=(OLD,))
    module(root, OLD, "580.95.05", "kernel/drivers/video")
    put(root, f"/lib/modules/{OLD}/kernel/drivers/gpu/drm/nouveau/nouveau.ko.zst", "")
    put(root, "/etc/modprobe.d/blacklist-nouveau.conf", "blacklist nouveau\noptions nouveau modeset=0\n")
    at(root, f"/boot/initrd.img-{OLD}", -50)
    at(root, "/etc/modprobe.d/blacklist-nouveau.conf", -10)


def block_before_the_start(root: Path) -> None:
    """Younger than the image as well, and the start that went well had both."""
    block_after_the_image(root)
    at(root, f"/boot/initrd.img-{OLD}", -2000)
    at(root, "/etc/modprobe.d/blacklist-nouveau.conf", -1000)


def block_of_long_ago_beside(root: Path) -> None:
    """A second file forbids nouveau as well, and the image has that one."""
    block_after_the_image(root)
    put(root, "/usr/lib/modprobe.d/nvidia-graphics-drivers.conf", "blacklist nouveau\n")
    at(root, "/usr/lib/modprobe.d/nvidia-graphics-drivers.conf", -6000)


def options_after_the_image(root: Path) -> None:
    """A file with options alone concerns an image that has NVIDIA's modules, which this one has not."""
    ubuntu(root, kernels=(OLD,))
    module(root, OLD, "580.95.05", "updates/dkms")
    put(root, "/etc/modprobe.d/nvidia.conf", "options nvidia NVreg_PreserveVideoMemoryAllocations=1\n")
    at(root, f"/boot/initrd.img-{OLD}", -50)


def by_the_installer(root: Path) -> None:
    ubuntu(root)
    module(root, OLD, "580.95.05", "kernel/drivers/video")
    put(root, "/usr/bin/nvidia-uninstall", "", mode=0o755)


def many_kernels(root: Path) -> None:
    by_dkms(root, built=(OLD, NEW))
    for number in range(10, 40):
        kernel(root, f"6.8.0-{number}-generic", headers=False)


def another_flavour_first(root: Path) -> None:
    """`lowlatency` sorts before `generic`, and the owner wants the latter."""
    low = OLD.replace("generic", "lowlatency")
    ubuntu(root, kernels=(OLD, low))
    module(root, OLD, "580.95.05", "updates/dkms")
    dkms(root, "580.95.05", built=(OLD,))
    put(root, "/etc/default/grub.d/order.cfg", "GRUB_FLAVOUR_ORDER=generic\n")


def proxmox(root: Path) -> None:
    """Its own tool pins a kernel, and keeps the boot loader's files where nothing is mounted."""
    pve, other = "6.14.11-5-pve", "6.17.4-2-pve"
    running(root, pve, DEBIAN)
    kernel(root, pve)
    kernel(root, other)
    module(root, pve, "580.95.05", "updates/dkms")
    dkms(root, "580.95.05", built=(pve,))
    efi(root, "LoaderInfo", "systemd-boot 257")
    put(root, "/etc/kernel/proxmox-boot-pin", f"{pve}\n")


# Debian

DEB_OLD, DEB_NEW = "6.12.43+deb13-amd64", "6.12.57+deb13-amd64"


def debian(root: Path, *, built: tuple[str, ...], headers: bool) -> None:
    """Debian's own packages, whose module has a name of its own."""
    running(root, DEB_OLD, DEBIAN, driver="550.163.01")
    kernel(root, DEB_OLD)
    kernel(root, DEB_NEW, headers=headers)
    grub(root)
    dkms(root, "550.163.01", name="nvidia-current", built=built)
    for release in built:
        module(root, release, "550.163.01", "updates/dkms", name="nvidia-current.ko", opened=False)


# Fedora and RHEL

FED_OLD, FED_NEW = "6.16.9-200.fc42.x86_64", "6.16.10-200.fc42.x86_64"


def fedora(
    root: Path, *, built: tuple[str, ...] = (FED_OLD,), headers: bool = True, service: bool = True, release: str = FEDORA
) -> None:
    """akmods builds for each kernel; the entries are closed to users."""
    running(root, FED_OLD, release)
    for one in (FED_OLD, FED_NEW):
        kernel(root, one, headers=headers or one == FED_OLD, initrd="initramfs")
    put(root, "/usr/lib/sysimage/rpm/rpmdb.sqlite", "")
    grub(root, "GRUB_DEFAULT=saved\nGRUB_ENABLE_BLSCFG=true\n", "/boot/grub2")
    put(root, "/usr/src/akmods/nvidia-kmod-580.95.05-1.fc42.src.rpm", "")
    for one in built:
        module(root, one, "580.95.05", "extra/nvidia", signer="fedora_1234")
    if service:
        link(root, "/etc/systemd/system/multi-user.target.wants/akmods.service", "/usr/lib/systemd/system/akmods.service")


def akmods_failed(root: Path) -> None:
    fedora(root)
    put(root, f"/var/cache/akmods/nvidia/580.95.05-1-for-{FED_NEW}.failed.log", "nv.c:1: error: no member named 'y'\n")


def fedora_entries(root: Path) -> None:
    """The entries can be read, and the environment names the older one."""
    fedora(root)
    machine = "0123456789abcdef0123456789abcdef"
    for one in (FED_OLD, FED_NEW):
        words = f"title Fedora ({one})\nversion {one}\nlinux /vmlinuz-{one}\ninitrd /initramfs-{one}.img\noptions root=UUID=1\n"
        put(root, f"/boot/loader/entries/{machine}-{one}.conf", words)
    put(root, "/boot/grub2/grubenv", f"# GRUB Environment Block\nsaved_entry={machine}-{FED_OLD}\n####")


EL_OLD, EL_NEW = "5.14.0-503.40.1.el9_5.x86_64", "5.14.0-570.12.1.el9_6.x86_64"


def rocky(root: Path, *, weak: bool) -> None:
    """A module that was built once, and is led to from each kernel that takes it."""
    running(root, EL_OLD, ROCKY)
    for one in (EL_OLD, EL_NEW, "5.14.0-503.el9.x86_64"):
        kernel(root, one, headers=False, initrd="initramfs")
    put(root, "/var/lib/rpm/rpmdb.sqlite", "")
    grub(root, "GRUB_DEFAULT=saved\nGRUB_ENABLE_BLSCFG=true\n", "/boot/grub2")
    module(root, EL_OLD, "580.95.05", "extra/nvidia")
    if weak:
        link(root, f"/lib/modules/{EL_NEW}/weak-updates/nvidia/nvidia.ko", f"/lib/modules/{EL_OLD}/extra/nvidia/nvidia.ko")


def silverblue(root: Path, *, with_module: bool) -> None:
    """An update of the image is staged for the shutdown."""
    running(root, FED_OLD, SILVERBLUE)
    kernel(root, FED_OLD)
    module(root, FED_OLD, "580.95.05", "extra/nvidia")
    put(root, "/run/ostree-booted", "")
    one, other = "a" * 64, "b" * 64
    put(
        root,
        "/run/ostree/staged-deployment",
        b"target\0name\0" + f"{other}.0".encode() + b"\0osname\0merge-deployment\0" + one.encode(),
    )
    place = f"/ostree/deploy/fedora/deploy/{other}.0/usr/lib/modules/{FED_NEW}"
    put(root, f"{place}/vmlinuz", b"MZ")
    if with_module:
        put(root, f"{place}/extra/nvidia/nvidia.ko", module_bytes({"license": "Dual MIT/GPL", "version": "580.95.05"}))


# Arch and openSUSE

ARCH_OLD, ARCH_NEW = "6.16.10-arch1-1", "6.17.8-arch1-1"


def bzimage(release: str) -> bytes:
    """A kernel's first bytes: the boot protocol's header, which points to the version."""
    words = f"{release} (linux@archlinux) #1 SMP PREEMPT_DYNAMIC".encode() + b"\0"
    header = bytearray(0x400)
    header[0x202:0x206] = b"HdrS"
    header[0x20E:0x210] = (0x300 - 0x200).to_bytes(2, "little")
    header[0x300 : 0x300 + len(words)] = words
    return bytes(header)


def arch(root: Path, *, release: str = ARCH_NEW, package: str = "linux", driver: str = "580.95.05", gpu: str = "10de:2684") -> None:
    """After `pacman -Syu`: one image, whose name has no version, and the modules of the kernel that runs are gone."""
    running(root, ARCH_OLD, ARCH, driver=driver, gpu=gpu)
    if release != ARCH_OLD:
        (root / f"lib/modules/{ARCH_OLD}").rmdir()
    put(root, f"/boot/vmlinuz-{package}", bzimage(release))
    put(root, f"/boot/initramfs-{package}.img", "")
    put(root, f"/usr/lib/modules/{release}/pkgbase", f"{package}\n")
    put(root, f"/usr/lib/modules/{release}/vmlinuz", bzimage(release))
    (root / f"lib/modules/{release}").mkdir(parents=True, exist_ok=True)
    put(root, "/var/lib/pacman/local/nvidia-utils-580.95.05-1/desc", "")


def arch_prebuilt(root: Path, version: str = "580.95.05") -> None:
    arch(root)
    module(root, ARCH_NEW, version, "extramodules")


def arch_left_behind(root: Path) -> None:
    """590 came with the new kernel, and serves no Pascal."""
    arch(root, gpu=GTX_1080_TI)
    (root / "usr/lib/libcuda.so.580.95.05").unlink()
    libcuda_files = ("usr/lib/libcuda.so.1", "usr/lib/libcuda.so")
    for one in libcuda_files:
        (root / one).unlink()
    libcuda(root, "590.48.01", "/usr/lib")
    module(root, ARCH_NEW, "590.48.01", "extramodules")


def arch_dkms(root: Path) -> None:
    arch(root)
    dkms(root, "580.95.05")


def arch_image_with_older_modules(root: Path) -> None:
    """The driver came alone, and nothing wrote the early boot image anew that has its modules."""
    arch(root, release=ARCH_OLD)
    put(root, "/etc/mkinitcpio.conf", "MODULES=(btrfs nvidia nvidia_modeset nvidia_uvm nvidia_drm)\nHOOKS=(base udev)\n")
    written = time.time() - 20
    os.utime(root / "boot/initramfs-linux.img", (written, written))
    module(root, ARCH_OLD, "580.95.05", "extramodules")


def arch_systemd_boot(root: Path, *, default: str = "", variable: str = "") -> None:
    arch(root)
    module(root, ARCH_NEW, "580.95.05", "extramodules")
    lts = "6.12.58-1-lts"
    put(root, "/boot/vmlinuz-linux-lts", bzimage(lts))
    put(root, f"/usr/lib/modules/{lts}/pkgbase", "linux-lts\n")
    (root / f"lib/modules/{lts}").mkdir(parents=True, exist_ok=True)
    for name in ("linux", "linux-lts"):
        put(
            root,
            f"/boot/loader/entries/arch-{name}.conf",
            f"title Arch\nlinux /vmlinuz-{name}\ninitrd /initramfs-{name}.img\noptions rw\n",
        )
    put(root, "/boot/loader/loader.conf", f"timeout 3\n{f'default {default}' if default else ''}\n")
    efi(root, "LoaderInfo", "systemd-boot 258.1")
    if variable:
        efi(root, "LoaderEntryDefault", variable)


SUSE_OLD, SUSE_NEW = "6.16.8-1-default", "6.17.7-1-default"


def tumbleweed(root: Path, *, built: tuple[str, ...]) -> None:
    running(root, SUSE_OLD, TUMBLEWEED)
    for one in (SUSE_OLD, SUSE_NEW):
        kernel(root, one, initrd="initrd")
    put(root, "/usr/lib/sysimage/rpm/Packages.db", "")
    grub(root, "GRUB_DEFAULT=saved\n", "/boot/grub2")
    for one in built:
        module(root, one, "580.95.05", "updates")


def same(root: Path) -> None:
    """Nothing waits: the kernel that runs is the newest."""
    ubuntu(root, kernels=(OLD, "6.8.0-59-generic"))
    module(root, OLD, "580.95.05", "updates/dkms")
    dkms(root, "580.95.05", built=(OLD,))


def same_but_removed(root: Path) -> None:
    """The driver's module was removed while it runs: its libraries are still there."""
    ubuntu(root, kernels=(OLD,))
    dkms(root, "580.95.05")


def same_from_a_container(root: Path) -> None:
    """A cluster's node, into whose kernel a container loads the driver: nothing of it lies on the node's own disk."""
    ubuntu(root, kernels=(OLD,))
    for one in ("libcuda.so.580.95.05", "libcuda.so.1", "libcuda.so"):
        (root / "usr/lib/x86_64-linux-gnu" / one).unlink()


def no_image(root: Path) -> None:
    running(root, OLD, UBUNTU)
    module(root, OLD, "580.95.05", "updates/dkms")


BOTH = frozenset({MISSING})
CASES = (
    Case("ubuntu: nothing waits", same, OLD, "first"),
    Case(
        "ubuntu: both kernels have Canonical's modules",
        lambda r: prebuilt(r, with_new=True),
        NEW,
        "first",
        frozenset({PENDING}),
        {"kernel": OLD, "kernel_after": NEW},
    ),
    Case(
        "ubuntu: the new kernel came without its modules",
        lambda r: prebuilt(r, with_new=False),
        NEW,
        "first",
        BOTH,
        {"kernel": NEW, "running": OLD, "cause": "missing"},
        (f"linux-modules-nvidia-580-open-{NEW}",),
    ),
    Case("ubuntu: dkms built for the new kernel", lambda r: by_dkms(r, built=(OLD, NEW)), NEW, "first", frozenset({PENDING})),
    Case(
        "ubuntu: built, and no headers any more",
        lambda r: by_dkms(r, built=(OLD, NEW), headers=False),
        NEW,
        "first",
        frozenset({PENDING}),
    ),
    Case(
        "ubuntu: dkms without headers",
        lambda r: by_dkms(r, built=(OLD,), headers=False),
        NEW,
        "first",
        BOTH,
        {"cause": "headers"},
        (f"linux-headers-{NEW}", f"dkms autoinstall -k {NEW}"),
    ),
    Case(
        "ubuntu: dkms with headers, and nothing built",
        lambda r: by_dkms(r, built=(OLD,)),
        NEW,
        "first",
        BOTH,
        {"cause": "missing"},
        (f"dkms autoinstall -k {NEW}",),
    ),
    Case(
        "ubuntu: the build broke off",
        lambda r: by_dkms(r, built=(OLD,), failed=NEW),
        NEW,
        "first",
        BOTH,
        {"cause": "failed"},
        ("make.log",),
    ),
    Case(
        "ubuntu: a build broke off for another kernel",
        lambda r: by_dkms(r, built=(OLD, NEW), failed="6.14.0-1-generic"),
        NEW,
        "first",
        frozenset({PENDING}),
    ),
    Case("ubuntu: two versions in dkms", two_versions_in_dkms, NEW, "first", BOTH, {"cause": "missing"}),
    Case("ubuntu: a directory of modules is left over", leftover_modules, OLD, "only"),
    Case("ubuntu: pinned to the old kernel", pinned_to_the_old, OLD, "setting"),
    Case("ubuntu: pinned by a number", lambda r: pinned_by_number(r, readable=True), OLD, "setting"),
    Case(
        "ubuntu: pinned by a number, grub.cfg closed",
        lambda r: pinned_by_number(r, readable=False),
        NEW,
        "newest",
        BOTH,
        {"guess": "yes"},
    ),
    Case("ubuntu: grub-reboot", once_by_grub_reboot, OLD, "setting"),
    Case("ubuntu: grub.cfg does not have the new kernel", menu_without_the_newest, OLD, "first"),
    Case(
        "ubuntu: kernel and driver wait",
        newer_module_waits,
        NEW,
        "first",
        frozenset({PENDING}),
        {"kernel": OLD, "kernel_after": NEW, "driver": "580.95.05", "driver_after": "580.105.08", "mends": "yes"},
    ),
    Case(
        "ubuntu: module of another version than the libraries",
        libraries_of_another_version,
        NEW,
        "first",
        frozenset({MISMATCH}),
        {"module": "580.82.07", "libraries": "580.95.05"},
        (f"linux-modules-nvidia-580-open-{NEW}",),
    ),
    Case("ubuntu: Secure Boot and no signature", unsigned, NEW, "first", BOTH, {"cause": "unsigned"}, (f"-k {NEW}", "mokutil")),
    Case(
        "ubuntu: Secure Boot and a key that is not enrolled",
        key_not_enrolled,
        NEW,
        "first",
        BOTH,
        {"cause": "key", "signer": "DKMS module signing key"},
        ("mokutil",),
    ),
    Case(
        "ubuntu: Secure Boot and keys that cannot be seen",
        key_list_is_hidden,
        NEW,
        "first",
        frozenset({PENDING}),
        undetermined=frozenset({MISSING}),
    ),
    Case("ubuntu: Secure Boot, and no signature is asked for", unsigned_and_not_asked_for, NEW, "first", frozenset({PENDING})),
    Case(
        "ubuntu: the image is older than the block",
        block_after_the_image,
        OLD,
        "only",
        frozenset({OLD_IMAGE}),
        {"reason": "nouveau"},
        ("update-initramfs",),
    ),
    Case("ubuntu: an older file blocks as well", block_of_long_ago_beside, OLD, "only"),
    Case("ubuntu: the block was there at the last start", block_before_the_start, OLD, "only"),
    Case("ubuntu: options after the image", options_after_the_image, OLD, "only"),
    Case("ubuntu: NVIDIA's installer", by_the_installer, NEW, "first", BOTH, {"cause": "installer"}, (f"--kernel-name={NEW}",)),
    Case("ubuntu: thirty kernels", many_kernels, NEW, "first", frozenset({PENDING})),
    Case("ubuntu: module removed under the driver that runs", same_but_removed, OLD, "only", BOTH, {"cause": "missing"}),
    Case("ubuntu: driver of a container", same_from_a_container, OLD, "only"),
    Case("ubuntu: another flavour first", another_flavour_first, OLD, "first"),
    Case("proxmox: pinned", proxmox, "6.14.11-5-pve", "setting"),
    Case("ubuntu: no kernel to be seen", no_image, "", ""),
    Case(
        "debian: built for the new kernel",
        lambda r: debian(r, built=(DEB_OLD, DEB_NEW), headers=True),
        DEB_NEW,
        "first",
        frozenset({PENDING}),
    ),
    Case(
        "debian: without headers",
        lambda r: debian(r, built=(DEB_OLD,), headers=False),
        DEB_NEW,
        "first",
        BOTH,
        {"cause": "headers"},
        (f"linux-headers-{DEB_NEW}", f"-k {DEB_NEW}"),
    ),
    Case(
        "fedora: akmods has not built yet",
        fedora,
        FED_NEW,
        "newest",
        BOTH,
        {"cause": "missing", "built_at_start": "akmods.service"},
        (f"akmods --force --kernels {FED_NEW}",),
    ),
    Case("fedora: akmods has built", lambda r: fedora(r, built=(FED_OLD, FED_NEW)), FED_NEW, "newest", frozenset({PENDING})),
    Case(
        "fedora: akmods and no headers",
        lambda r: fedora(r, headers=False),
        FED_NEW,
        "newest",
        BOTH,
        {"cause": "headers", "built_at_start": ""},
        (f"kernel-devel-{FED_NEW}",),
    ),
    Case("fedora: akmods broke off", akmods_failed, FED_NEW, "newest", BOTH, {"cause": "failed"}),
    Case("fedora: the environment names the old entry", fedora_entries, FED_OLD, "setting"),
    Case("rocky: led to the module", lambda r: rocky(r, weak=True), EL_NEW, "newest", frozenset({PENDING})),
    Case("rocky: not led to it", lambda r: rocky(r, weak=False), EL_NEW, "newest", BOTH, {"cause": "missing"}, ("dnf upgrade",)),
    Case(
        "silverblue: the image that waits has it", lambda r: silverblue(r, with_module=True), FED_NEW, "image", frozenset({PENDING})
    ),
    Case(
        "silverblue: the image that waits lacks it",
        lambda r: silverblue(r, with_module=False),
        FED_NEW,
        "image",
        BOTH,
        {"cause": "image"},
        ("rpm-ostree cleanup",),
    ),
    Case("arch: upgraded together", arch_prebuilt, ARCH_NEW, "only", frozenset({PENDING}), {"gone": "yes"}),
    Case(
        "arch: module of another version",
        lambda r: arch_prebuilt(r, "580.82.07"),
        ARCH_NEW,
        "only",
        frozenset({MISMATCH}),
        {},
        ("pacman -Syu",),
    ),
    Case("arch: no module for the new kernel", arch, ARCH_NEW, "only", BOTH, {"cause": "missing"}, ("pacman -Syu",)),
    Case(
        "arch: the new branch serves no Pascal",
        arch_left_behind,
        ARCH_NEW,
        "only",
        commands=("nvidia-580xx",),
        others=frozenset({"legacy-driver-branch-needed"}),
    ),
    Case(
        "arch: dkms without headers", arch_dkms, ARCH_NEW, "only", BOTH, {"cause": "headers"}, ("linux-headers", f"-k {ARCH_NEW}")
    ),
    Case(
        "arch: the image has older modules",
        arch_image_with_older_modules,
        ARCH_OLD,
        "only",
        frozenset({OLD_IMAGE}),
        {"reason": "modules"},
        ("mkinitcpio -P",),
    ),
    Case("arch: systemd-boot without a default", arch_systemd_boot, ARCH_NEW, "first", frozenset({PENDING})),
    Case(
        "arch: systemd-boot's file names one",
        lambda r: arch_systemd_boot(r, default="arch-linux.conf"),
        ARCH_NEW,
        "setting",
        frozenset({PENDING}),
    ),
    Case(
        "arch: its variable names another",
        lambda r: arch_systemd_boot(r, default="arch-linux.conf", variable="arch-linux-lts.conf"),
        "6.12.58-1-lts",
        "setting",
        BOTH,
    ),
    Case(
        "tumbleweed: built for both", lambda r: tumbleweed(r, built=(SUSE_OLD, SUSE_NEW)), SUSE_NEW, "first", frozenset({PENDING})
    ),
    Case(
        "tumbleweed: not built for the new kernel",
        lambda r: tumbleweed(r, built=(SUSE_OLD,)),
        SUSE_NEW,
        "first",
        BOTH,
        {"cause": "missing"},
        ("zypper install",),
    ),
)
