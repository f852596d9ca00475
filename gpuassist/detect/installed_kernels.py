"""The kernels that can start on this machine: an image with a directory of modules. Either alone is what a removal left behind."""

from __future__ import annotations

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
    for name in files.names(_BOOT)[: 10 * _AT_MOST]:
        fits = _IMAGE.fullmatch(name)
        if fits is None or fits["name"].endswith(_NO_KERNEL) or fits["name"].startswith("0-rescue"):
            continue
        kernel = _of_image(files, f"{_BOOT}/{name}", fits["name"], packages)
        if kernel is not None and len(found) < _AT_MOST:
            found.setdefault(kernel.release, kernel)
    for directory in _MODULES:
        for release in files.names(directory)[:_AT_MOST]:
            image = f"{directory}/{release}/vmlinuz"
            if release not in found and _RELEASE.fullmatch(release) and files.is_file(image):
                found[release] = InstalledKernel(release, image, packages.get(release, ""))
    if found:
        return Known(tuple(found.values()), _BOOT)
    return Unknown(text("no kernel was found in {boot} or {modules} that this user may see", boot=_BOOT, modules=_MODULES[0]))


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
