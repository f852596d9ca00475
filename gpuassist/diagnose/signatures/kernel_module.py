"""Why NVIDIA's kernel module is not built, not there, refused or still in use, as modprobe, DKMS, lsmod and the installers say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import in_wsl
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, sign
from gpuassist.model.fact import Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight

_AROUND = 6000  # characters around a message in which its driver and kernel are named
_KERNEL = r"\d+\.\d+[\w.+~-]{0,60}"
_DRIVER_NAMED = lazy_regex(
    r"(?:-nvidia-(?:x11|open)-|nvidia-drivers-|nvidia[^\n/ ]{0,12}/|-m nvidia\S{0,10} -v |nvidia-(?:srv-|open-)?\w{0,8}/)"
    r"(\d{3}\.\d[\d.]{0,8}\d)"
)
_KERNEL_NAMED = lazy_regex(rf"(?:KERNEL_UNAME=|on kernel:? |autoinstall on |for kernel:? |-k )({_KERNEL})")
_SPECIAL = lazy_regex(
    r"(?:-zen\d|-(?:xanmod|liquorix|cachyos|lqx|rt|surface|tkg|hardened|clear|rc\d+)|\.amdgpu|-amdgpu|PREEMPT_RT)", re.I
)


def _ours(setting: SignatureInput) -> bool:
    return setting.says("nvidia")


def _refused(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Secure Boot refuses any module without a trusted key; what is not NVIDIA's is none of our business."""
    module = match.groupdict().get("module") or ""
    if module.startswith("nv") or (not module and _ours(setting)):
        yield sign("secure-boot-unsigned-module")


def _not_there(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """No file of that module for the kernel: there is nothing that could be loaded before it is built."""
    yield sign("driver-not-loaded", Weight.CAUSE, kernel=match.groupdict().get("kernel") or "")


def _not_inserted(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """`No such device` is said where no card is left for the module: the lines of the kernel's log tell why."""
    reason = match["reason"].lower()
    if "exec format" in reason or "invalid module format" in reason or "unknown symbol" in reason:
        yield sign("driver-not-loaded", Weight.CAUSE, module=match["module"])
        return
    yield sign("driver-not-loaded", Weight.STATE, module=match["module"])
    if setting.says("nouveau"):
        yield sign("nouveau-active", Weight.STATE)


def build_failed(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The driver, the kernel and its flavour are named around the message."""
    if not _ours(setting):
        return
    words = setting.paste.words[max(0, match.start() - _AROUND) : match.end() + _AROUND]
    driver, kernel = _DRIVER_NAMED.search(words), _KERNEL_NAMED.search(words)
    name = kernel[1] if kernel else ""
    flavour = _SPECIAL.search(name) or _SPECIAL.search(words)
    yield sign(
        "dkms-build-failed",
        Weight.CAUSE,
        driver=driver[1] if driver else "",
        kernel=name,
        flavour=flavour[0].strip("-.0123456789") if flavour else "",
    )


def _realtime(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The message is the driver's own, so that it need not name NVIDIA."""
    words = setting.paste.words[max(0, match.start() - _AROUND) : match.end() + _AROUND]
    driver, kernel = _DRIVER_NAMED.search(words), _KERNEL_NAMED.search(words)
    yield sign(
        "dkms-build-failed",
        Weight.CAUSE,
        driver=driver[1] if driver else "",
        kernel=kernel[1] if kernel else "",
        flavour="PREEMPT_RT",
        realtime="yes",
    )


def _no_headers(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    kernel = match.groupdict().get("kernel") or ""
    apport = "dkms apport" in setting.lowered[max(0, match.start() - 60) : match.end()]
    if not apport:
        yield sign("kernel-headers-missing", Weight.CAUSE, kernel=kernel.rstrip("."))


def _prime(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    yield sign("hybrid-graphics-prime", Weight.CAUSE, mode=next((found for found in match.groups() if found), ""))


_BACK = lazy_regex(
    r"(?:envycontrol (?:-s|--switch)|supergfxctl (?:-m|--mode)|system76-power graphics|optimus-manager --switch|prime-select) ?=?"
    r"(?:nvidia|hybrid|on-demand|compute)",
    re.IGNORECASE,
)


def _switched_off(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The order to do without the card, where a program then misses it and nothing below takes the order back."""
    if setting.says(*_FAILS, "no devices were found", "is_available()", "nvidia-smi: command not found"):
        later = setting.paste.words[match.end() : match.end() + _AROUND]
        if not _BACK.search(later):
            yield sign("hybrid-graphics-prime", Weight.CAUSE, mode=match["mode"] or match["mode2"])


_SECURE_BOOT_OFF = lazy_regex(
    r"secure ?boot(?:[ :=]{1,3}(?:is |was |state )?(?:already |also )?)(?:disabled|off\b|not enabled|deactivated)"
    r"|(?:disabled|disabling|turned off|turning off|without|no|switched off) (?:the )?secure ?boot|secureboot disabled",
    re.IGNORECASE,
)


_BLAMED = lazy_regex(r"\b(?:because|due to|caused by|enabl|after|with|secure ?boot (?:is |was |state )?on\b)", re.IGNORECASE)


def _said_of_secure_boot(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """What somebody writes; where it is off, it is not the reason."""
    if _ours(setting) and not setting.finds(_SECURE_BOOT_OFF):
        yield sign("secure-boot-unsigned-module", Weight.CAUSE if _BLAMED.search(match[0]) else Weight.STATE)


def _in_use(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The CUDA installer too stops for an X server, and only where it is to install the driver."""
    if _ours(setting) or setting.says("cuda"):
        module = match["module"] or ""
        yield sign("module-already-loaded", Weight.CAUSE, module=module, display="" if module else "yes")


_FAILS = ("communicate with the nvidia driver", "no cuda-capable device", "found no nvidia driver", "driver not loaded")


def _nouveau(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """NVIDIA's module beside it is at work, whatever nouveau drives; without it, nouveau has the card."""
    if setting.case.loaded or in_wsl(setting):
        return
    missing = isinstance(setting.case.machine.driver.loaded, Known) or setting.says(*_FAILS)
    yield sign("nouveau-active", Weight.CAUSE if missing else Weight.STATE)


_NOT = r"(?:can['’]?t|cannot|won['’]?t|will not|not|no longer|n['’]t|fail\w{0,4}|refus\w{1,3}|unable to|reject\w{0,3}|block\w{0,3})"

SIGNATURES = (
    Signature(
        ("secure boot", "secureboot"),
        rf"\b{_NOT}(?: be)? ?(?:load|work|start|boot|recogni[sz]e|detect)?\w{{0,4}}[^\n]{{0,60}}secure ?boot"
        rf"|secure ?boot[^\n]{{0,100}}\b{_NOT}[^\n.]{{0,30}}\b(?:load|work|start|recogni[sz]e|detect)\w{{0,4}}",
        _said_of_secure_boot,
        200,
    ),
    Signature(
        ("envycontrol", "prime-select intel", "supergfxctl", "system76-power", "optimus-manager", "integrated mode"),
        r"(?:envycontrol (?:-s|--switch)|supergfxctl (?:-m|--mode)|system76-power graphics|optimus-manager --switch) ?=?"
        r"(?P<mode>integrated|intel)\b|sudo prime-select (?P<mode2>intel)\b",
        _switched_off,
        120,
    ),
    Signature(
        (
            "key not available",
            "key was rejected",
            "module is rejected",
            "unavailable key",
            "unsigned module",
            "loading is restricted",
        ),
        r"(?:could not insert '?(?P<module>[\w-]{2,30})'?: (?:Required key not available|Key was rejected by service)"
        r"|insmod: ERROR: could not insert module \S{1,80}: (?:Required key not available|Key was rejected by service)"
        r"|Loading of (?:unsigned module|module with unavailable key) is rejected|unsigned module loading is restricted"
        r"|Key was rejected by service"
        r"|Required key not available)",
        _refused,
    ),
    Signature(
        ("signed by a key", "failed to load because it was not signed", "signature verification failed"),
        r"(?:kernel module (?:failed to load|was not loaded|could not be loaded) because it was not signed by a key"
        r"|was not signed by a"
        r"\s{1,4}key that is trusted)",
        means("secure-boot-unsigned-module"),  # of NVIDIA's installer alone
    ),
    Signature(
        ("not found in directory",),
        rf"Module (?P<module>nvidia[\w-]{{0,20}}) not found in directory /lib/modules/(?P<kernel>{_KERNEL})?",
        _not_there,
    ),
    Signature(
        ("modinfo: error",),
        r"modinfo: ERROR: (?:Module alias |Module )?(?P<module>nvidia[\w-]{0,20}) not found",
        _not_there,
        window=120,
    ),
    Signature(
        ("could not insert",),
        r"could not insert (?:module )?'?(?P<module>nvidia[\w-]{0,20})(?:\.ko)?'?: (?P<reason>No such device|Exec format error"
        r"|Invalid module format|Unknown symbol[^\n]{0,60}|Operation not permitted|Invalid argument|No such file or directory"
        r"|Cannot allocate memory|Device or resource busy)",
        _not_inserted,
    ),
    Signature(
        ("disagrees about version of symbol", "version magic"),
        rf"(?P<module>nvidia[\w-]{{0,20}}): (?:disagrees about version of symbol|version magic '[^'\n]{{1,80}}' should be"
        rf" '(?P<kernel>{_KERNEL}))",
        _not_there,
    ),
    Signature(
        ("nvidia-persistenced failed", "failed to query nvidia devices", "/dev/nvidiactl"),
        r"(?:nvidia-persistenced failed to initialize|Failed to query NVIDIA devices|/dev/nvidiactl['\"]?:? \(?No such file)",
        means("driver-not-loaded", Weight.STATE),
    ),
    Signature(
        (
            "bad return status for module build",
            "bad exit status",
            "autoinstall on",
            "dkms build -m nvidia",
            "dkms.conf",
            "dkms module 'nvidia",
            "dkms install --no-depmod",
            "-nvidia-x11-",
            "-nvidia-open-",
            "x11-drivers/nvidia-drivers-",
        ),
        rf"(?:Bad return status for module build on kernel:? ?{_KERNEL}|\(bad exit status: ?\d+\)"
        rf"|dkms autoinstall on \S{{3,80}} failed for [^\n]{{0,40}}nvidia|Failed to run `?\S{{0,20}}dkms (?:build"
        rf"|install) -m nvidia|DKMS module 'nvidia\S{{0,30}}'[^\n]{{0,60}}fail"
        r"|`dkms install --no-depmod nvidia\S{0,30} -k [^'\n]{3,80}' exited [1-9]"
        r"|builder for ['‘]/nix/store/\w{3,40}-nvidia-(?:x11|open)-[\w.-]{3,60}\.drv['’] failed"
        r"|Cannot build '/nix/store/\w{3,40}-nvidia-(?:x11|open)-[\w.-]{3,60}\.drv'\.?\s{1,12}Reason: builder failed"
        r"|ERROR: x11-drivers/nvidia-drivers-[\w.-]{3,40}::\w{2,30} failed \((?:compile|prepare|install) phase\))",
        build_failed,
    ),
    Signature(
        (
            *("gpl-incompatible module", "dkms/nvidia", ".ko] undefined!", "/kernel/nvidia", "/kernel-open/nvidia"),
            *("/kernel/common/", "/usr/src/nvidia-", "/nvidia-linux-", "kernel-open", "makefile.build", "nvidia-drm/nvidia-drm-"),
        ),
        r"(?:/kernel(?:-open)?/(?:nvidia[\w-]{0,8}|common)/[\w./-]{3,80}\.[ch]:\d{1,6}:(?:\d{1,4}:)? (?:fatal )?error: "
        r"|modpost: [^\n]{3,80} \[\S{0,120}/nvidia[\w-]{0,8}\.ko\] undefined!"
        r"|/dkms/nvidia\S{3,160}:\d{1,6}:(?:\d{1,4}:)? (?:fatal )?error: |/dkms/nvidia\S{3,160}\] [^\W\d_]{3,20} \d{1,3}\b"
        r"|(?m:^)[ \t>]{0,12}nvidia(?:-drm|-uvm|-modeset|-peermem)?/[\w-]{2,60}\.[ch]:\d{1,6}:(?:\d{1,4}:)? (?:fatal )?error: "
        r"|\*\*\* \[[^\]\n]{0,160}(?: |/)nvidia(?:-drm|-uvm|-modeset|-peermem)?/[\w-]{2,60}\.o\] [^\W\d_]{3,20} \d{1,3}\b"
        r"|\*\*\* \[[^\]\n]{0,200}/kernel-open\] [^\W\d_]{3,20} \d{1,3}\b"
        r"|\*\*\* \[[^\]\n]{0,200}/(?:usr/src/nvidia|NVIDIA-Linux)-[^\]\n]{3,160}\] [^\W\d_]{3,20} \d{1,3}\b"
        r"|GPL-incompatible module nvidia\S{0,12} uses GPL-only symbol)",
        build_failed,
    ),
    Signature(
        ("preempt_rt kernel", "preempt_rt sanity", "preempt_rt_sanity", "not support real-time kernels"),
        r"(?:you are installing for is a PREEMPT_RT kernel|Failed PREEMPT_RT sanity check"
        r"|preempt_rt_sanity_check\] Error|NVIDIA driver does not support real-time kernels)",
        _realtime,
    ),
    Signature(
        ("/build", "/source"),
        rf"/lib/modules/(?P<kernel>{_KERNEL})/(?:build|source)['’/\w.]{{0,40}}:? ?(?:No such file or directory|does not exist)",
        _no_headers,
    ),
    Signature(
        ("kernel headers",),
        rf"(?:[Kk]ernel headers for (?:target )?kernel (?P<kernel>{_KERNEL})[^\n]{{0,40}}(?:cannot be found|could not be found"
        rf"|missing)"
        r"|kernel headers for this kernel (?:do not|does not) seem to be|kernel headers? (?:package )?(?:is|are) not installed)",
        _no_headers,
    ),
    Signature(  # dkms' hook of pacman
        ("kernel headers for module",),
        rf"Missing (?P<kernel>{_KERNEL}) kernel headers for module",
        _no_headers,
    ),
    Signature(
        (
            "package linux-headers",
            "package kernel-devel",
            "match for argument: kernel-devel",
            "match: kernel-devel",
            "auto.conf are missing",
            "module.symvers file is missing",
        ),
        rf"(?:Unable to locate package linux-headers-(?P<kernel>{_KERNEL})|Unable to find a match: kernel-devel"
        r"|No match for argument: kernel-devel|include/config/auto\.conf are missing|Module\.symvers file is missing)",
        _no_headers,
    ),
    Signature(
        ("is in use", "x server is running"),
        r"(?:Module (?P<module>nvidia\w{0,10}) is in use|(?<!that an )X server is running)",
        _in_use,
    ),
    Signature(
        (
            "prime-select",
            "prime profile",
            "envycontrol",
            "supergfxctl",
            "system76-power",
            "gpu mode",
            "bbswitch",
            "insert 'off'",
            "module off",
            "nvidia off",
        ),
        r"(?:prime-select (?:query|get)\s{1,4}(?P<mode>intel)\b|Selected prime profile: (?P<mode2>intel)"
        r"|(?:envycontrol (?:-q|--query)|supergfxctl -g)\s{1,4}(?P<mode3>integrated)"
        r"|Current GPU mode ?: (?P<mode4>integrated|intel)|system76-power graphics\s{1,4}(?P<mode5>integrated)"
        r"|could not insert 'off'|Module off not found|alias nvidia off|prime-select: (?:the )?intel"
        r"|bbswitch: device [0-9a-f:.]{7,12} is (?:disabled|off))",
        _prime,
    ),
    Signature(("nouveau",), r"(?m:^)[ \t>]{0,8}nouveau[ \t]{1,40}\d{5,9}[ \t]{1,20}\d{1,4}\b[^\n]{0,80}", _nouveau, window=120),
)
