"""How the driver was set up, as its tools and the kernel tell: forbidden, a key that waits, two installers, a GPU left out; which
parts of one that runs are kept from programs: by a container, by WSL, by a licence, by a permission.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import card_name, driver_version, in_container, in_system_container, in_wsl
from gpuassist.diagnose.signature import Meaning, Sign, Signature, SignatureInput, means, sign
from gpuassist.model.fact import Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight

_OFFERED = lazy_regex(r"libcuda\.so\.1 \(libc6,(?:x86-64|AArch64)[^)\n]{0,40}\) => (/\S{4,120})/libcuda\.so\.1")


def _stale(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A file of a driver that the host no longer has; it is there where the running driver is that very one."""
    listed, driver = match["listed"], driver_version(setting)
    if listed != driver:
        yield sign("container-cdi-stale", Weight.CAUSE, listed=listed, driver=driver)
    else:
        yield sign("container-toolkit-missing", Weight.STATE)


def _video(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    driver = setting.case.driver
    branch = str(driver.value.major) if isinstance(driver, Known) else ""
    yield sign("video-library-missing", Weight.CAUSE, library=match.groupdict().get("library") or "", branch=branch)


def _refused(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """NVML's `Unknown Error` is a node that may not be opened; that no driver answers may be a node that is not there."""
    if in_system_container(setting):
        opened = match.groupdict().get("opened") is not None
        yield sign("container-lxc-devices", Weight.CAUSE if opened else Weight.STATE)


def _unlicensed(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    product = (match.groupdict().get("product") or "").strip()
    yield sign("vgpu-unlicensed", Weight.CAUSE, product=product)


def _listed_twice(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """`ldconfig -p` lists what it finds first; /lib and /usr/lib are one directory."""
    every = {found.removeprefix("/usr") for found in _OFFERED.findall(match[0])}
    compat = next((found for found in _OFFERED.findall(match[0]) if "/compat" in found), "")
    if len(every) > 1 and any("/wsl/" in one for one in every):
        yield sign("wsl-linux-driver-installed", Weight.STATE)
    elif compat:
        yield sign("cuda-compat-conflict", Weight.STATE, directory=compat)
    elif len(every) > 1:
        yield sign("libcuda-twice", Weight.STATE)


def _normal_in_wsl(feature: str) -> Meaning:
    def meaning(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
        if in_wsl(setting):
            yield sign("wsl-limits", feature=feature)

    return meaning


_MODULE = r"nvidia(?:[-_](?:drm|modeset|uvm|current))?"
_PLACE = r"(?P<place>/\S{0,60}modprobe\.d/[\w.@+-]{1,60}\.conf)"


def _forbidden(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Such a line is also what guides for virtual machines tell to write: without a file's name it proves little."""
    found = match.groupdict()
    if in_wsl(setting) or in_container(setting):
        return
    place, line = found.get("place") or "", " ".join((found.get("line") or "").split())
    told = Weight.CAUSE if place else Weight.STATE
    yield sign("driver-module-blacklisted", told, gpu=card_name(setting), place=place, line=line)


def _no_tool(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Where the driver runs all the same, only the tool is missing."""
    if setting.case.running and not in_container(setting) and not in_wsl(setting):
        driver = driver_version(setting)
        if setting.case.jetson:
            yield sign("nvidia-smi-missing", Weight.CAUSE, driver=driver, jetson="yes")
        else:
            yield sign("nvidia-smi-missing", Weight.CAUSE, driver=driver, branch=driver.partition(".")[0])


def _no_counters(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    yield sign("profiler-counter-permission", container="yes" if in_container(setting) else "")


BY_STATE: dict[str, Meaning] = {"counters-closed": _no_counters}


SIGNATURES = (
    Signature(
        ("failed to fulfil mount request", "stat'ing file", "cannot stat", "error mounting", "mount src=", "statfs"),
        r"(?:failed to fulfil mount request: open |error stat'?ing file |cannot stat [`'\"]?|error mounting \\?\"|mount src="
        r"|statfs )/\S{1,120}?/(?:lib(?:cuda|cudadebugger|nv\w{2,12}|nvidia|\w{2,12}_nvidia|vdpau_nvidia)[\w-]{0,40}\.so"
        r"|nvidia_drv\.so|firmware/nvidia/)\.?(?P<listed>\d{3}\.\d{1,3}(?:\.\d{1,3})?)[^\n]{0,400}?no such file",
        _stale,
    ),
    Signature(
        ("libnvidia-encode.so", "libnvcuvid.so", "nvenc library file", "failed loading nvcuvid", "libnvidia-opticalflow"),
        r"(?:cannot load (?P<library>lib(?:nvidia-encode|nvcuvid|nvidia-opticalflow)\.so\.1)"
        r"|lib(?:nvidia-encode|nvcuvid|nvidia-opticalflow)\.so(?:\.1)?: cannot open shared object"
        r"|(?:could not|failed to|unable to|can't) (?:load|open|find) (?:library |lib: )?['\"]?lib(?:nvidia-encode|nvcuvid)\.so"
        r"|NVENC library file is not found|Failed loading nvcuvid)",
        _video,
    ),
    Signature(
        ("failed to initialize nvml", "communicate with the nvidia driver", "/dev/nvidia", "no cuda-capable device"),
        r"(?:Failed to initialize NVML: (?P<opened>Unknown Error|Insufficient Permissions|No permission\w*|Operation not permitted)"
        r"|couldn't communicate with the NVIDIA driver|no CUDA-capable device is detected"
        r"|/dev/nvidia\w{1,12}[^\n]{0,40}(?:Operation not permitted|EPERM))",
        _refused,
    ),
    Signature(
        ("license status", "grid license not found", "nvidia-gridd", "unlicensed", "gridd["),
        r"(?:Product Name {1,40}: (?P<product>(?:NVIDIA|GRID|Quadro)[^\n]{2,60})\n[ \t]{0,30})?"
        r"License Status[ \t]{1,40}: (?:Unlicensed|Expired|Not Licensed)"
        r"|Valid GRID license not found|gridd[^\n]{0,20}: Failed to acquire (?:NVIDIA |GRID )?[^\n]{0,60}licen[sc]e"
        r"|gridd[^\n]{0,20}: (?:Unlicensed|License (?:has )?expired|Invalid feature type requested"
        r"|Configuration parameter \([^)\n]{3,60}\) not set|Unable to open directory /etc/nvidia/license)",
        _unlicensed,
    ),
    Signature(
        ("libcuda.so.1 (libc6",),
        r"(?:^|\n)[ \t]{0,12}libcuda\.so\.1 \(libc6,(?:x86-64|AArch64)[^\n]{4,200}(?:\n[ \t]{0,12}libcuda\.so[^\n]{4,200}){1,6}",
        _listed_twice,
    ),
    Signature(
        ("part of link group cuda",),
        r"alternative (?P<target>/\S{3,80}cuda\S{0,30}) \(part of link group cuda\) doesn't exist",
        means("cuda-link-dangling"),
    ),
    Signature(
        ("module nvidia not found", "/proc/driver/nvidia", "nvidia-dkms"),
        r"(?:modprobe: FATAL: Module nvidia\w{0,8} not found in directory /lib/modules/\S{1,40}microsoft"
        r"|/proc/driver/nvidia/version'?: No such file)",
        _normal_in_wsl("module"),
    ),
    Signature(("sudo: nvidia-smi",), r"sudo: nvidia-smi: command not found", _normal_in_wsl("root")),
    Signature(
        ("not supported",),
        r"(?:persistence mode|power management limit|(?:applications|gpu|memory) clocks|compute mode|ecc|gpu reset)[^\n]{0,80}"
        r"not supported",
        _normal_in_wsl("setting"),
    ),
    Signature(
        ("blacklist", "install nvidia", "alias nvidia"),
        rf"(?m:^)(?:{_PLACE}:)?[ \t]*(?:\d{{1,4}}[:-])?[ \t]*"
        rf"(?P<line>blacklist[ \t]{{1,4}}{_MODULE}|install[ \t]{{1,4}}{_MODULE}[ \t]{{1,4}}/(?:usr/)?bin/(?:false|true)"
        rf"|alias[ \t]{{1,4}}{_MODULE}[ \t]{{1,4}}off)[ \t]*(?m:$)",
        _forbidden,
        200,
    ),
    Signature(
        ("running install command",),
        rf"Error running install command (?:'(?!(?:/sbin/)?modprobe )(?P<line>[^'\n]{{1,60}})' )?for (?:module )?{_MODULE}\b",
        means("driver-module-blacklisted", gpu=card_name),
    ),
    Signature(
        ("is blacklisted",),
        rf"Module {_MODULE} is blacklisted",
        means("driver-module-blacklisted", gpu=card_name, command_line="yes"),
    ),
    Signature(("enrollment request",), r"is already in the enrollment request", means("secure-boot-mok-pending")),
    Signature(("--list-new",), r"mokutil --list-new[^\n]{0,40}\n\s{0,4}\[key 1\]", means("secure-boot-mok-pending")),
    Signature(
        ("nvidia-installer",),
        r"(?:Run [\"'“]?nvidia-installer --uninstall|nvidia-installer program was found on this system)",
        means("driver-installed-twice"),
    ),
    Signature(("gpu excluded",), r"GPU Excluded:\s{1,6}Yes", means("gpu-excluded-by-option", gpu=card_name)),
    Signature(
        ("excludedgpus", "gpublacklist"),
        r"(?m:^)ExcludedGpus: \"(?P<option>[^\"\n]{4,300})\"",
        means("gpu-excluded-by-option", gpu=card_name),
    ),
    Signature(
        ("system power management attempted", "preservevideomemoryallocations module"),
        r"(?:PreserveVideoMemoryAllocations module parameter is set"
        r"|System Power Management attempted without driver procfs suspend interface)",
        means("video-memory-lost-over-sleep", refused="yes"),
    ),
    Signature(
        ("nvidia-smi",),
        r"(?:nvidia-smi: (?:command )?not found|command not found: nvidia-smi|Command ['‘]nvidia-smi['’] not found"
        r"|Unknown command:? ?nvidia-smi|nvidia-smi: No such file or directory)",
        _no_tool,
    ),
    Signature(
        ("err_nvgpuctrperm", "gpu performance counters", "permission to profile on the target"),
        r"(?:ERR_NVGPUCTRPERM|does not have permission to (?:access NVIDIA GPU Performance Counters|profile on the target device))",
        _no_counters,
    ),
)
