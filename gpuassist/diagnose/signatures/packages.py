"""What package managers and NVIDIA's installers say when drivers of several sources or versions meet."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import driver_version, in_wsl, shows
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, passages, sign
from gpuassist.knowledge.compatibility import driver_serves_cuda
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.paste import Weight

# A package of the driver or of CUDA, as apt, dnf, zypper and pacman name them.
_PACKAGE = (
    r"(?:lib)?(?:nvidia|cuda|xserver-xorg-video-nvidia|libcuda1|libcuda|nvidia-driver|libxnvctrl|akmod-nvidia|kmod-nvidia"
    r"|xorg-x11-drv-nvidia)"
    r"[\w.+:-]{0,60}"
)
_TRANSITIONAL = (("libcuda1-", "nvidia-", "transitional"), r"libcuda1-\d|\bnvidia-\d{3}\b(?! )|transitional|nvidia-compute-\d")


def _conflict(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    package = match.groupdict().get("package") or ""
    if in_wsl(setting) and "driver" in package:
        yield sign("wsl-linux-driver-installed", Weight.STATE)
    transitional = "yes" if shows(setting, _TRANSITIONAL) else ""
    yield sign("apt-nvidia-package-conflict", Weight.CAUSE, package=package, transitional=transitional)


def _any_package(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    package = next((name for name in match.groups() if name), "")
    manager = "files" if match["package4"] else ""
    yield sign("apt-nvidia-package-conflict", Weight.CAUSE, package=package, manager=manager)


def _held(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if passages(setting, (" depends:", " conflicts:", " breaks:", " predepends:"), rf"\b{_PACKAGE} :? ?\w{{5,12}}:", most=1):
        yield from _conflict(match, setting)


def _unconfigured(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    yield sign("apt-nvidia-package-conflict", Weight.STATE, package=match["package"].rstrip(":"))


def _signed_twice(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """The container toolkit's repository is one, that of the driver and CUDA another."""
    source = match["source"]
    origin = "container" if "nvidia.github.io" in source else "cuda" if "/compute/cuda/" in source else ""
    yield sign("apt-signed-by-conflict", Weight.CAUSE, source=source, origin=origin)


def _incomplete(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The toolkit is installed; whether a driver is missing is told by the one that runs."""
    cuda, driver = match["cuda"], driver_version(setting)
    running, release = version_in(driver) if driver else None, version_in(cuda)
    served = running is not None and release is not None and driver_serves_cuda(running, release)
    yield sign(
        "cuda-installer-without-driver",
        Weight.CAUSE,
        cuda=cuda,
        needed=match["needed"],
        driver=driver,
        served="yes" if served else "",
    )
    if running is not None and not served:
        yield sign("driver-too-old-for-cuda", Weight.STATE, driver=driver, cuda=cuda)


SIGNATURES = (
    Signature(
        (": depends:", ": conflicts:", ": breaks:", ": predepends:", " : depends", "conflicts with", "depends: nvidia"),
        rf"(?<![\w-])(?P<package>{_PACKAGE}) ?:? (?:Depends|Conflicts|Breaks|PreDepends): [^\n]{{3,160}}?"
        r"(?:but it is not (?:installable|going to be installed|installed)|but [^\n]{1,60} is to be installed"
        r"|but [^\n]{1,60} is installed)",
        _conflict,
    ),
    Signature(("held broken packages", "unmet dependencies"), r"(?:you have held broken packages|have unmet dependencies)", _held),
    Signature(("dependency problems",), rf"dependency problems prevent configuration of (?P<package>{_PACKAGE})", _unconfigured),
    Signature(
        ("trying to overwrite",),
        rf"trying to overwrite (?:shared )?'[^'\n]{{0,160}}(?:nvidia|libcuda|cuda|GL)[^'\n]{{0,120}}', which is also in package"
        rf" (?P<package>{_PACKAGE})",
        _conflict,
    ),
    Signature(
        ("signed-by",),  # apt says the rest in the language of the system
        r"(?:Conflicting values set for option|\bE:[^\n]{0,60}) Signed-By\b[^\n]{0,60}?"
        r"(?P<source>https?://[\w.-]{0,40}nvidia[\w./-]{1,100}|file:/var/[^\s:]{0,60}(?:nvidia|cuda)[^\s:]{0,60})",
        _signed_twice,
    ),
    Signature(
        ("conflicts with", "cannot install both", "exists in filesystem", "conflicting requests"),
        rf"(?:package (?P<package>{_PACKAGE}) [^\n]{{0,80}}conflicts with [^\n]{{0,40}}nvidia"
        rf"|cannot install both (?P<package2>{_PACKAGE})"
        rf"|(?P<package4>nvidia[\w.-]{{0,40}}): \S{{3,120}} exists in"
        rf" filesystem|file /\S{{3,120}} (?:from install of (?P<package5>{_PACKAGE}) )?conflicts (?:with"
        rf"|between)[^\n]{{0,80}}nvidia)",
        _any_package,
    ),
    Signature(
        ("incomplete installation", "a driver of version at least"),
        r"driver of version at least (?P<needed>[\d.]{3,12}\d) is required for CUDA (?P<cuda>\d{1,2}\.\d)",
        _incomplete,
    ),
)
