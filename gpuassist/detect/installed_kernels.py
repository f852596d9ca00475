"""The kernels that can start on this machine: an image with a directory of modules. Either alone is what a removal left behind."""

from __future__ import annotations

import os

from msgspec import Struct

from gpuassist.detect.modules_on_disk import base_of
from gpuassist.formats.kernel_image import release_of_bzimage
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text
from gpuassist.system.files import Files

_BOOT = "/boot"
_MODULES = ("/usr/lib/modules", "/lib/modules")
# vmlinuz on x86, vmlinux on POWER, Image with SUSE on ARM, kernel with Gentoo; what stands behind is the release, or a package.
_IMAGE = lazy_regex(r"(?:vmlinuz|vmlinux|Image|kernel)-(?P<name>[\w.+~-]{1,200})")
_RELEASE = lazy_regex(r"[\w.+~-]{1,200}")  # goes into command lines
_NO_KERNEL = (".old", ".bak", ".hmac", ".signed", "-rescue")
_AT_MOST = 100


class InstalledKernel(Struct, frozen=True):
    """`image` is the path of its file as the boot loader may name it, `package` how a distribution calls it whose files have no
    version (`linux-lts` with Arch), empty elsewhere.
    """

    release: str
    image: str
    package: str = ""


def installed_kernels(files: Files) -> Fact[tuple[InstalledKernel, ...]]:
    """Every one once, in no order; unknown where there is none to be seen."""
    found: dict[str, InstalledKernel] = {}
    packages = _packages(files)
    for path, name in _images(files):
        kernel = _of_image(files, path, name, packages)
        if kernel is not None and len(found) < _AT_MOST:
            found.setdefault(kernel.release, kernel)
    for directory in _MODULES:
        for release in files.names(directory)[:_AT_MOST]:
            image = f"{directory}/{release}/vmlinuz"
            if release not in found and _RELEASE.fullmatch(release) and files.is_file(image):
                found[release] = InstalledKernel(release, image, packages.get(release, ""))
    if not found and files.is_directory(_BOOT) and not files.may(_BOOT, os.R_OK):
        found = {release: InstalledKernel(release, f"{_BOOT}/vmlinuz-{release}") for release in _with_own_modules(files)}
    if found:
        return Known(tuple(found.values()), _BOOT)
    return Unknown(text("no kernel was found in {boot} or {modules} that this user may see", boot=_BOOT, modules=_MODULES[0]))


def _with_own_modules(files: Files) -> tuple[str, ...]:
    """The kernels whose packages are installed, where /boot is closed to this user: `modules.builtin` is theirs (kernel's
    Documentation/kbuild), and not among what depmod and builds leave behind.
    """
    every = (release for directory in _MODULES for release in files.names(directory) if _RELEASE.fullmatch(release))
    own = (one for one in dict.fromkeys(every) if files.is_file(f"{base_of(files, one)}/modules.builtin"))
    return tuple(own)[:_AT_MOST]


def _images(files: Files) -> tuple[tuple[str, str], ...]:
    """Those of /boot with what stands behind the word, in the order of their names. What else lies there does not count, and of
    more than can be looked at it is those that have modules.
    """
    modules = {release for directory in _MODULES for release in files.names(directory)}
    every = ((f"{_BOOT}/{name}", fits["name"]) for name in files.names(_BOOT) if (fits := _IMAGE.fullmatch(name)) is not None)
    found = [one for one in every if not one[1].endswith(_NO_KERNEL) and not one[1].startswith("0-rescue")]
    if len(found) > _AT_MOST:
        found.sort(key=lambda one: one[1] not in modules)
    return tuple(found[:_AT_MOST])


def _packages(files: Files) -> dict[str, str]:
    """What Arch's packages of kernels leave beside their modules: each one's name, by its release."""
    paths = files.glob(f"{_MODULES[0]}/*/pkgbase")[:_AT_MOST]
    return {path.split("/")[-2]: files.text(path, 200).strip() for path in paths}


def _of_image(files: Files, path: str, name: str, packages: dict[str, str]) -> InstalledKernel | None:
    if base_of(files, name):
        return InstalledKernel(name, path)
    try:
        told = release_of_bzimage(lambda offset, size: files.read_part(path, offset, size))
    except OSError:
        told = ""
    release = told or next((one for one, package in packages.items() if package == name), "")
    return InstalledKernel(release, path, name) if _RELEASE.fullmatch(release) and base_of(files, release) else None
