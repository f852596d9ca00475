"""What dnf, zypper, rpm, pacman, dpkg and akmods say of NVIDIA's packages; what apt says in any language, by how it says it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import in_wsl
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, one_of, sign
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight
from gpuassist.model.text import text

# A package of the driver, of CUDA or of the container toolkit, as the distributions name them.
PACKAGE = (
    r"(?:lib32-|opencl-|linux\d{0,4}-(?:\w{1,12}-){0,2}|akmod-|kmod-|dkms-(?:open-)?|xorg-x11-drv-|x11-video-|xserver-xorg-video-|open-|lib)?"
    r"(?:nvidia|cuda|libcuda1|xnvctrl)(?![.]com)[\w.+:~-]{0,80}"
)
_KERNEL = r"\d+\.\d+[\w.+~-]{0,60}"
_OURS = lazy_regex(rf"(?<![\w.-]){PACKAGE}|libcuda\.so|libnvidia", re.IGNORECASE)
_HEADERS = lazy_regex(r"kernel-(?:\w{2,12}-)?(?:devel|headers)|linux-headers|development files for kernel", re.IGNORECASE)
_TOOLS = lazy_regex(
    r"(?<![\w-])(?:gcc(?:-c\+\+)?|make|elfutils-libelf-devel|kernel-rpm-macros|perl\S{0,40}|binutils|redhat-rpm-config)\b"
)
_PACMAN = lazy_regex(
    r"unable to satisfy dependency|(?:installing|removing) |\S+ and \S+ are in conflict|cannot resolve ", re.IGNORECASE
)
# Whose solver speaks as dnf's does.
_CONDA = ("conda", "mamba", "pixi", "problems while solving", "environment specs")


def _unsolved(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A part that no source has, or that another part excludes. Where it is the kernel's headers, they are what is missing."""
    if setting.says(*_CONDA) or _OURS.search(match[0]) is None:
        return
    found = match.groupdict()
    wanted = found.get("wanted") or found.get("wanted2") or ""
    if _HEADERS.search(wanted):
        kernel = re.search(_KERNEL, wanted)
        yield sign("kernel-headers-missing", Weight.CAUSE, kernel=kernel[0] if kernel else "")
        return
    package = next((found[name] for name in ("package", "package2", "package3", "package4") if found.get(name)), "")
    if in_wsl(setting) and "driver" in package:
        yield sign("wsl-linux-driver-installed", Weight.STATE)
    manager = "pacman" if _PACMAN.match(match[0]) else ""
    yield sign("apt-nvidia-package-conflict", Weight.CAUSE, package=package.rstrip(":"), manager=manager)


def _needed(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """rpm: what a package lacks, or what its build lacks."""
    wanted = match["wanted"]
    if match["package"].startswith("nvidia-kmod") and _TOOLS.search(wanted) and not _HEADERS.search(wanted):
        yield sign("dkms-build-failed", Weight.CAUSE)
        return
    yield from _unsolved(match, setting)


def _unconfigured(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """dpkg names the step in English in every language; a package that builds the module fails where that does not build."""
    package = match["package"].rpartition("/")[2].partition("_")[0]
    if "dkms" in package or "kernel-source" in package:
        yield sign("dkms-build-failed", Weight.STATE)
    yield sign("apt-nvidia-package-conflict", Weight.STATE, package=package)


def _no_source(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    package = next((name for name in match.groups() if name), "").rstrip(".:'")
    if not setting.says(*_CONDA):
        cause = text("none of this system's repositories has {package}", package=package)
        yield sign("not-a-gpu-problem", Weight.STATE, cause_id="source", package=package, cause=cause)


def _built(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    found = match.groupdict()
    yield sign("dkms-build-failed", Weight.CAUSE, driver=found.get("driver") or "", kernel=found.get("kernel") or "")


def _no_headers(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if setting.says("nvidia"):
        yield sign("kernel-headers-missing", Weight.CAUSE, kernel=match["kernel"])


def _not_built(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if "nvidia" in match[0].lower() or setting.says("dkms/nvidia", "module nvidia"):
        yield sign("dkms-build-failed", Weight.STATE if match.groupdict().get("layered") else Weight.CAUSE)


_FROM = r"(?:from \S{1,60} )?"

SIGNATURES = (
    Signature(
        (
            ": nvidia-",
            ": libnvidia-",
            ": cuda-",
            ": libcuda1",
            ": xserver-xorg-video-nvidia",
            "：nvidia-",
            "：libnvidia-",
            "：cuda-",
        ),
        # `package : relation: other (= version) …`, whatever the words between them mean.
        rf"(?m:^)[ \t>]{{0,12}}(?P<package>{PACKAGE}) : (?!Recommends|Suggests)[^\W\d_][^\n:：]{{1,30}}[:：] ?{PACKAGE}"
        r" (?:\([<>=]{1,2} [^)\n]{1,60}\)|[^\n]{8,80})",
        _unsolved,
        window=260,
    ),
    Signature(
        ("none of the providers can be installed", "nothing provides", "requirement cannot be provided", "by modular filtering"),
        one_of(
            rf"package (?P<package>{PACKAGE}) {_FROM}requires (?P<wanted>[^\n]{{1,160}}), but none of the providers can be"
            r" installed",
            r"nothing provides (?P<wanted2>[^\n]{1,160}?) needed by (?:the to be installed )?(?P<package2>\S{2,120})",
            rf"(?P<package3>{PACKAGE}) requires '?[^'\n]{{1,160}}'?, but this requirement cannot be provided",
            rf"package (?P<package4>{PACKAGE}) {_FROM}is filtered out by modular filtering",
        ),
        _unsolved,
    ),
    Signature(
        ("is filtered out by exclude filtering", " provided by ", "has inferior architecture", "cannot install the best update"),
        one_of(
            rf"package (?P<package>{PACKAGE}) {_FROM}is filtered out by exclude filtering",
            rf"(?P<package2>{PACKAGE}) {_FROM}(?:conflicts with|obsoletes) [^\n]{{1,160}} provided by",
            rf"cannot install the best update candidate for package (?P<package3>{PACKAGE})",
        ),
        _unsolved,
    ),
    Signature(
        ("is needed by",),
        rf"(?P<wanted>[\w(][^\n]{{0,120}}?) is needed by (?:\(installed\) )?(?P<package>{PACKAGE})",
        _needed,
        window=300,
    ),
    Signature(
        ("unable to satisfy dependency", "breaks dependency", "are in conflict", "a dependency of"),
        one_of(
            r"unable to satisfy dependency '(?P<wanted>[^'\n]{1,120})' required by (?P<package>\S{1,80})",
            r"(?:installing|removing) (?P<package2>\S{1,80}) (?:\(\S{1,60}\) )?breaks dependency '[^'\n]{1,120}'"
            r"(?: required by \S{1,80})?",
            r"(?P<package3>\S{1,80}) and \S{1,80} are in conflict",
            r"cannot resolve \"(?P<wanted2>[^\"\n]{1,120})\", a dependency of \"(?P<package4>[^\"\n]{1,80})\"",
        ),
        _unsolved,
        window=300,
    ),
    Signature(
        ("(--configure)", "(--unpack)", "(--install)", "(--remove)"),
        rf"(?P<package>(?:/[\w./+~-]{{1,120}}/)?{PACKAGE}) ?\(--(?:configure|unpack|install|remove)\)",
        _unconfigured,
        window=260,
    ),
    Signature(
        (
            *("unable to locate package", "has no installation candidate", "couldn't find any package by", "target not found"),
            *(
                "no match for argument",
                "unable to find a match",
                "no provider of",
                "packages not found",
                "not found in package names",
            ),
            *("' not found.", "not found in specified repositories"),
        ),
        one_of(
            rf"Unable to locate package ({PACKAGE})",
            rf"Package ['‘]?({PACKAGE})['’]? has no installation candidate",
            rf"Couldn't find any package by (?:regex|glob) ['‘]({PACKAGE})",
            rf"(?:No match for argument|Unable to find a match|target not found|Packages not found): ({PACKAGE})",
            rf"(?:No provider of|Package) '({PACKAGE})' (?:not )?found",
        ),
        _no_source,
        window=200,
    ),
    Signature(
        ("building rpms failed", "nvidia-kmod", "building and installing nvidia", "ignoring nvidia"),
        one_of(
            rf"Building rpms failed; see /var/cache/akmods/nvidia[\w-]{{0,20}}/(?P<driver>\d{{2,3}}\.[\d.]{{1,12}})-\S{{1,12}}-for-"
            rf"(?P<kernel>{_KERNEL}?)\.failed\.log",
            r"Building and installing nvidia[\w-]{0,20}kmod[ .]{0,60}\[ {0,3}FAILED {0,3}\]",
            r"Ignoring nvidia[\w-]{0,20}kmod as it failed earlier",
            r"akmods?: [^\n]{0,80}nvidia[\w-]{0,20}kmod[^\n]{0,60} failed\b",
        ),
        _built,
        window=300,
    ),
    Signature(
        ("files needed to compile modules for",),
        rf"Could not find files needed to compile modules for (?P<kernel>{_KERNEL})",
        _no_headers,
    ),
    Signature(
        ("could not locate dkms.conf", "build_exclusive directive", "make.log for more information", "akmod-nvidia"),
        one_of(
            r"Could not locate dkms\.conf file\.?\s{1,4}File: \S{0,80}nvidia\S{0,80}",
            r"dkms\.conf for (?:this module|module nvidia\S{0,50}) includes a BUILD_EXCLUSIVE directive",
            r"Consult /var/lib/dkms/nvidia\S{3,160}/make\.log for more information",
            r"(?P<layered>Running %(?:post|posttrans) for akmod-nvidia\S{0,40}: \S[^\n]{0,160})",
        ),
        _not_built,
    ),
    Signature(
        ("module not found: 'nvidia", "find module 'nvidia", "dracut-install"),
        r"(?:==> ERROR: module not found: '|(?:dracut-install|dracut)\S{0,20}: (?:Failed to find module '|ERROR: installing '))"
        r"(?P<module>nvidia\w{0,10})'",
        means("driver-not-loaded"),
    ),
    Signature(
        ("refusing to evaluate", "has an unfree license"),
        r"Package ['‘]nvidia-\S{1,60}['’] in \S{1,200} (?P<why>is marked as broken|has an unfree license)",
        lambda match, setting: _nix(match, setting),
    ),
)


def _nix(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    if "broken" in match["why"]:
        yield sign("dkms-build-failed", Weight.STATE)
    else:
        cause = text("Nix installs no package with an unfree licence until its configuration allows it")
        yield sign("not-a-gpu-problem", Weight.STATE, cause=cause)
