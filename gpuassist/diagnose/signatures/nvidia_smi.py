"""What nvidia-smi and NVML say when they cannot reach the driver or a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import (
    driver_version,
    given_to_container,
    in_container,
    in_wsl,
    unless_wsl,
    with_blackwell,
    without_driver,
)
from gpuassist.diagnose.signature import GAP, Meaning, Sign, Signature, SignatureInput, general, means, sign
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight

_VERSION = r"\d{2,3}\.\d{1,3}(?:\.\d{1,3})?"  # of two digits up to 2008, 71 and 96 for longer


def _mismatch(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    loaded = match.groupdict().get("loaded") or driver_version(setting)
    libraries = match.groupdict().get("libraries") or ""
    if in_wsl(setting):
        yield sign("wsl-linux-driver-installed", Weight.CAUSE)
        return
    yield sign(
        "driver-library-mismatch",
        Weight.CAUSE,
        loaded=loaded,
        libraries="" if libraries == loaded else libraries,
        unattended="yes" if setting.says("unattended-upgr") else "",
    )


@general
def _no_contact(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.CAUSE)
    elif setting.case.container:
        yield sign("container-no-gpu-flag", Weight.STATE)
    else:
        yield sign("driver-not-loaded", Weight.STATE)


@general
def _no_tool(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    elif setting.case.container or (in_container(setting) and not given_to_container(setting)):
        yield sign("container-no-gpu-flag", Weight.STATE)
    elif without_driver(setting):
        yield sign("no-driver", Weight.STATE)


@general
def _no_library(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    elif setting.case.container or in_container(setting):
        yield sign("container-no-gpu-flag", Weight.STATE)
    elif not setting.case.running:
        yield sign("no-driver", Weight.STATE)


def _unknown_error(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """In a container it is the device that was taken away; on a host the driver is in a bad state."""
    if setting.says("daemon-reload", "cgroup"):
        yield sign("container-lost-gpu-after-daemon-reload", Weight.CAUSE)
        return
    yield sign("container-lost-gpu-after-daemon-reload", Weight.STATE)
    if in_container(setting):
        return
    yield sign("cuda-init-failed-driver-state", Weight.STATE)


# Windows' drivers have numbers of two parts; those of Linux, and its tools in WSL, have three.
_WINDOWS_DRIVER = lazy_regex(r"NVIDIA-SMI \d{3}\.\d{2,3}\.\d{2}\b[^\n]{0,40}Driver Version: \d{3}\.\d{2} ")


def _crashed(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Windows' own libraries do not fit this WSL, or not this nvidia-smi; surely so where a line names both."""
    named = bool(match["named"] or match["behind"])
    if in_wsl(setting) or (named and setting.finds(_WINDOWS_DRIVER)):
        yield sign("wsl-driver-or-windows", Weight.CAUSE if named else Weight.STATE)


def _nameless(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if in_wsl(setting):
        own = setting.says("apt install cuda", "apt-get install cuda", "install nvidia-", "with its driver", "linux driver")
        yield sign("wsl-linux-driver-installed" if own else "wsl-driver-or-windows", Weight.STATE)
    else:
        yield sign("driver-library-mismatch", Weight.STATE)


def _no_permission(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Whoever may not even start NVML may not open the devices; settings are for root alone."""
    yield sign("device-permissions", Weight.CAUSE if setting.says("initialize nvml", "nvmlinit", "nvml init") else Weight.STATE)


def _blocked(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if in_container(setting) and not in_wsl(setting) and setting.says("cgroup", "lxc"):
        yield sign("device-permissions", Weight.STATE)
    else:
        yield sign("wsl-driver-or-windows", Weight.CAUSE if in_wsl(setting) else Weight.STATE)


@general
def _no_devices(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The message names no reason; an RTX 50 card without the open modules is the usual one today."""
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    loaded = setting.case.open_module.is_true
    opened = loaded or setting.says("open kernel module", "nvidia-open", "-open ")
    blackwell = with_blackwell(setting) and not opened
    if blackwell:
        yield sign("open-module-required", Weight.STATE)
    yield sign("nvidia-smi-no-devices", Weight.ASIDE if blackwell else Weight.STATE)


def _no_devices_listed(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """`nvidia-smi -L` words it as other programs do."""
    if setting.says("nvidia-smi"):
        yield from _no_devices(match, setting)


def _lost(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    else:
        yield sign("xid-79-gpu-fell-off-bus", Weight.STATE, handle="yes")


def _sensors(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if not in_wsl(setting):
        yield sign("gpu-sensor-error", Weight.STATE)


def _no_libcuda(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if setting.case.container or in_container(setting):
        yield sign("container-no-gpu-flag", Weight.STATE)
    yield sign("libcuda-missing", Weight.STATE)


def _instances(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Instances are no fault by themselves: only who asks how many devices there are misses the others."""
    if setting.says("device_count", "only one device", "only see one", "only 1 gpu", "only one gpu"):
        yield sign("mig-mode", Weight.STATE)


BY_STATE: dict[str, Meaning] = {
    "nvml-mismatch": _mismatch,
    "module-not-loaded": unless_wsl("driver-not-loaded", Weight.STATE),
    "nvml-not-found": _no_library,
    "nvml-unknown": _unknown_error,
    "nvml-no-permission": _no_permission,
    "nvml-no-gpu": _no_devices,
    "blocked-by-system": _blocked,
    "gpu-lost": _lost,
}

SIGNATURES = (
    Signature(
        (
            "driver/library version mismatch",
            "nvml/rm version mismatch",
            "driver_library_version_mismatch",
        ),
        r"(?:driver/library version mismatch|nvml/rm version mismatch|DRIVER_LIBRARY_VERSION_MISMATCH)"
        rf"(?:\s{{1,3}}NVML library version: ?(?P<libraries>{_VERSION}))?",
        _mismatch,
    ),
    Signature(
        ("api mismatch",),
        rf"API mismatch: ?the client(?: '[^'\n]{{1,80}}')?(?: \(pid \d+\))? has the version"
        rf" (?P<libraries>{_VERSION})(?:,?\s?(?:\w{{0,3}}[>…])?{GAP}?"
        rf"(?:but )?this kernel module has the version (?P<loaded>{_VERSION}))?",
        _mismatch,
    ),
    Signature(
        ("api mismatch",),
        rf"API mismatch: the NVIDIA kernel module has(?: the)? version (?P<loaded>{_VERSION}), but this NVIDIA driver"
        rf" component has(?: the)? version\s{{1,3}}(?P<libraries>{_VERSION})",
        _mismatch,
    ),
    Signature(
        ("does not match dso version",),
        rf"kernel (?:driver )?version (?P<loaded>{_VERSION}) does not match DSO version (?P<libraries>{_VERSION})",
        _mismatch,
    ),
    Signature(
        ("communicate with the nvidia driver", "communicate with nvidia driver"),
        r"(?:NVIDIA-SMI has failed because it )?(?:couldn['’]t|could not) communicate with (?:the )?NVIDIA driver",
        _no_contact,
    ),
    Signature(
        ("nvidia-smi",),
        r"(?:nvidia-smi: (?:command )?not found|command not found: nvidia-smi|Command ['‘]nvidia-smi['’] not found"
        r"|Unknown command:? ?nvidia-smi|nvidia-smi['’]? is not recognized|nvidia-smi: (?:未找到命令|找不到命令|Kommando nicht"
        r" gefunden|Befehl nicht gefunden|commande introuvable|orden no encontrada|No such file or directory)"
        r"|['‘]nvidia-smi['’] (?:is not in your PATH|can be found in the following|is currently not installed|is not a typo)"
        r"|\bno nvidia-smi in \(|No such file or directory: '(?:/\S{1,40}/)?nvidia-smi'|spawn nvidia-smi ENOENT"
        r"|['‘]nvidia-smi['’]: No such file)",
        _no_tool,
    ),
    Signature(
        ('exec: "nvidia-smi"', 'exec: \\"nvidia-smi\\"'),
        r"exec: \\?\"nvidia-smi\\?\": (?:executable file not found|stat nvidia-smi)",
        means("container-no-gpu-flag"),
    ),
    Signature(
        ("libnvidia-ml.so",),
        r"couldn't find libnvidia-ml\.so library in your system",
        _no_library,
    ),
    Signature(
        ("initialize nvml: n/a",),  # not even the error has a name: nvidia-smi and the library are of two drivers
        r"Failed to initialize NVML: N/A",
        _nameless,
    ),
    Signature(("no devices were found",), r"No devices were found", _no_devices),
    Signature(("no devices found",), r"(?m:^)\s*No devices found\.?\s*(?m:$)", _no_devices_listed),
    Signature(
        ("unable to determine the device handle", "gpu is lost"),
        r"(?:Unable to determine the device handle for GPU ?[^\n]{0,60}|GPU is lost\.?  ?Reboot the system)",
        _lost,
    ),
    Signature(("err!", ", [unknown error]"), r"(?-i:(?<!\w)(?<!npm )(?<!Version: )ERR!)|, \[Unknown Error\]", _sensors),
    Signature(
        ("cuda version: n/a", "cuda version: err!", "cuda umd version: n/a", "cuda umd version: err!"),
        r"NVIDIA-SMI \S{3,14} {1,30}(?:Driver|KMD) Version: (?P<driver>\d[\d.]{2,12}) {1,30}CUDA (?:UMD )?Version: (?:N/A|ERR!)",
        _no_libcuda,
    ),
    Signature(("no mig devices found",), r"No MIG devices found", means("mig-mode")),
    Signature((" mig ",), r"(?m:^)\s{1,4}MIG \d{1,2}[cg.\w+]{2,16}\s{1,6}Device\s{1,3}\d{1,2}: \(UUID: MIG-", _instances),
    Signature(
        ("mig enabled", "mig is enabled", "mig mode enabled", "mig mode is enabled"),
        r"MIG (?:mode )?(?:is )?enabled[^\n]{0,80}\bonly (?:\w+ )?(?:one|1|a single)\b",
        means("mig-mode", Weight.STATE),
    ),
    Signature(
        ("segmentation fault", "segfault at"),
        r"(?P<named>segmentation fault[^\n]{0,20}nvidia-smi|nvidia-smi[^\n]{0,40}segmentation fault)"
        r"|nvidia-smi\n(?:[^\n]{0,120}\n){0,12}?[^\n]{0,20}segmentation fault(?P<behind>[^\n]{0,20}nvidia-smi)?"
        r"|nvidia-smi\[\d{1,8}\]: segfault at",
        _crashed,
    ),
    Signature(("mig-",), r"CUDA_VISIBLE_DEVICES['\"\]]{0,3} ?= ?['\"]?(?P<uuid>MIG-[\w/-]{6,80})", means("mig-mode", Weight.STATE)),
)
