"""What CUDA programs say when the driver does not let them start: none, too old, of another version, in a bad state."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import (
    driver_version,
    given_to_container,
    in_container,
    in_wsl,
    shows,
    slept,
    torch_cuda,
    with_compat,
    with_mig,
    without_driver,
)
from gpuassist.diagnose.signature import Meaning, Sign, Signature, SignatureInput, general, means, passages, sign
from gpuassist.knowledge.compatibility import driver_serves_cuda
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.fact import Known, value_or
from gpuassist.model.paste import Weight
from gpuassist.model.version import Version

_CUDA_NAMED = (
    ("cuda:", "cuda-", "compilation tools, release"),
    r"(?:cuda[:-]|compilation tools, release |nvidia/cuda:)(\d{1,2}\.\d)",
)
_VISIBLE_SET = (("cuda_visible_devices",), r"cuda_visible_devices['\"\]]{0,3} ?= ?['\"]?(?:-1|\d|gpu-|none|['\"]|\s|(?m:$))")
_DATA_CENTRE = (
    ("tesla", "a100", "a800", "h100", "h200", "h800", "b200", "v100", "l40", "hgx", "dgx", "nvswitch", "sxm"),
    r"\b(?:tesla|a100|a800|h100|h200|h800|b200|v100|l40s?|hgx|dgx|nvswitch|sxm\d?)\b",
)


def no_driver(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """torch says it where libcuda is not there or not answered: no driver, none given to the container, none from Windows."""
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    elif setting.case.running:
        # The library of a driver that runs is missing, or there and not in the program's container.
        there = bool(value_or(setting.case.machine.driver.libcuda, ()))
        yield sign("container-no-gpu-flag" if there or in_container(setting) else "libcuda-missing", Weight.STATE)
    elif setting.case.container or (in_container(setting) and not given_to_container(setting)):
        yield sign("container-no-gpu-flag", Weight.STATE)
    yield sign("no-driver", Weight.STATE)


def _not_running(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """TensorFlow looks for the module, and nvidia-smi comes with the driver: where both speak, the driver is there."""
    if setting.says("communicate with the nvidia driver") and not in_wsl(setting) and not in_container(setting):
        yield sign("driver-not-loaded", Weight.STATE)
    yield from no_driver(match, setting)


def _too_old(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """`found version 11040` is the CUDA that the driver library serves; a newer one than the driver's own is cuda-compat's."""
    # 12080 is 12.8, 9010 is 9.1; 9000 and older ones are written alike.
    found = int(match["found"] or 0)
    served = Version((found // 1000, found % 1000 // 10)) if found else None
    own = setting.case.machine.driver.cuda_version
    if served is not None and isinstance(own, Known) and own.value.release < served:
        yield sign("cuda-compat-conflict", Weight.CAUSE)
    driver = driver_version(setting)
    yield sign(
        "driver-too-old-for-cuda",
        Weight.CAUSE,
        served=str(served or ""),
        cuda=torch_cuda(setting),
        driver=driver,
        **_torch(setting),
    )


def _torch(setting: SignatureInput) -> dict[str, str]:
    """The torch that the driver is too old for, where there is just one."""
    torches = setting.case.cuda_torches
    if len(torches) != 1 or not isinstance(torches[0].torch.version, Known):
        return {}
    return {"torch": torches[0].version, "python": value_or(torches[0].environment.interpreter, "")}


@general
def _insufficient(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Error 35 is also what programs say where there is no driver at all; the facts decide."""
    driver, cuda = driver_version(setting), torch_cuda(setting)
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    if without_driver(setting):
        yield sign("no-driver", Weight.CAUSE)
    elif driver and cuda and _serves(driver, cuda) and not (_named_cuda(setting) or setting.says("torch")):
        # The program is none of the machine's torch, and what CUDA it is built for is not said.
        yield sign("driver-too-old-for-cuda", Weight.STATE, driver=driver)
        yield sign("ld-library-path-stubs", Weight.ASIDE)
    elif driver and _serves(driver, cuda or _named_cuda(setting)):
        contained = in_container(setting)
        yield sign("container-no-gpu-flag" if contained else "ld-library-path-stubs", Weight.STATE)
        yield sign("cuda-compat-conflict", Weight.STATE)
    elif driver:
        yield sign("driver-too-old-for-cuda", Weight.CAUSE, driver=driver, cuda=cuda or _named_cuda(setting), **_torch(setting))
    elif setting.says("couldn't communicate with the nvidia driver", "driver not loaded"):
        yield sign("driver-not-loaded", Weight.STATE)
    else:
        yield sign("driver-too-old-for-cuda", Weight.STATE, unsure="yes", cuda=cuda)
        if in_container(setting) and not given_to_container(setting):
            yield sign("container-no-gpu-flag", Weight.STATE)
        yield sign("no-driver", Weight.STATE)


def _serves(driver: str, cuda: str) -> bool:
    """Whether both are known and fit, so that the driver's age is not what is wrong."""
    running, release = version_in(driver), version_in(cuda)
    return running is not None and release is not None and driver_serves_cuda(running, release)


def _named_cuda(setting: SignatureInput) -> str:
    """The CUDA that the text names, in an image's name or by nvcc; empty where it names none or several."""
    named = {found[1] for found in passages(setting, *_CUDA_NAMED)}
    return named.pop() if len(named) == 1 else ""


def _forward(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """804: cuda-compat on a GPU that it is not for; on GeForce also a libcuda that is newer than the loaded module."""
    replaced = setting.says(
        "version mismatch", "apt upgrade", "apt-get upgrade", "unattended", "has been upgraded", "after upgrading"
    )
    if replaced and not with_compat(setting) and not in_container(setting):
        yield sign("driver-library-mismatch", Weight.STATE)
        yield sign("cuda-compat-conflict", Weight.STATE)
        return
    yield sign("cuda-compat-conflict", Weight.CAUSE if with_compat(setting) or in_container(setting) else Weight.STATE)
    yield sign("driver-library-mismatch", Weight.STATE)


def _combination(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if with_compat(setting):
        yield sign("cuda-compat-conflict", Weight.CAUSE)
    yield sign("driver-library-mismatch", Weight.STATE if with_compat(setting) else Weight.CAUSE)


@general
def _no_device(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """100: the driver library is there and sees no GPU."""
    if in_wsl(setting):
        wrong = setting.says("/usr/lib/x86_64-linux-gnu/libcuda", "libnvidia-compute", "numba", "nvidia-driver-")
        yield sign("wsl-linux-driver-installed" if wrong else "wsl-driver-or-windows", Weight.STATE)
        return
    if with_mig(setting):
        yield sign("mig-mode", Weight.STATE)
    if shows(setting, _VISIBLE_SET):
        yield sign("cuda-visible-devices-bad", Weight.STATE)
    if in_container(setting) and not given_to_container(setting):
        yield sign("container-no-gpu-flag", Weight.STATE)
    if without_driver(setting):
        yield sign("no-driver", Weight.STATE)
    if setting.case.cards and setting.case.running:
        yield sign("cuda-visible-devices-bad", Weight.STATE)
    yield sign("nvidia-smi-no-devices", Weight.STATE)


@general
def _no_gpus(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """torch: `No CUDA GPUs are available`. On Colab and the like the machine has none."""
    if setting.says("colab", "runtime type", "kaggle", "zerogpu", "spaces.gpu"):
        yield sign("no-nvidia-gpu", Weight.STATE)
    for one in _no_device(match, setting):
        yield one if one.problem != "nvidia-smi-no-devices" else sign("cuda-visible-devices-bad", Weight.STATE)


@general
def _unknown(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """999 and the old 30: a computer that slept; a missing /dev/nvidia-uvm; in a data centre mostly the state of the host."""
    if setting.says("nccl") and "failure '" in match[0].lower():
        return  # NCCL passes it on from work that had begun
    if setting.says("/dev/nvidia-uvm") and setting.says("no such file", "cannot access", "not found", "missing"):
        yield sign("uvm-device-missing", Weight.CAUSE)
    elif setting.says("/dev/nvidiactl") and not setting.says("nvidia-uvm", "nvidia_uvm"):
        yield sign("uvm-device-missing", Weight.STATE)
    if slept(setting):
        yield sign("uvm-broken-after-suspend", Weight.CAUSE)
        return
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    elif in_container(setting):
        yield sign("uvm-device-missing", Weight.STATE)
    elif shows(setting, _DATA_CENTRE):
        yield sign("cuda-init-failed-driver-state", Weight.STATE)
    yield sign("uvm-broken-after-suspend", Weight.STATE)
    yield sign("cuda-init-failed-driver-state", Weight.STATE)


@general
def _not_started(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if setting.says("forked subprocess", "multiprocess", "dataloader", "fork"):
        return
    if with_mig(setting):
        yield sign("mig-mode", Weight.STATE)
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    yield sign("cuda-init-failed-driver-state", Weight.STATE)


@general
def _busy(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A card that lets one program compute at a time refuses the second; else the driver is in a bad state."""
    if setting.says("exclusive_process", "exclusive_thread", "e. process", "prohibited", "compute mode", "compute_mode", "-c 3"):
        yield sign("compute-mode-exclusive", Weight.CAUSE, failed="yes")
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    yield sign("cuda-init-failed-driver-state", Weight.STATE)
    yield sign("compute-mode-exclusive", Weight.STATE, failed="yes")


def _stub(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """An image may bring a stub of libcuda, which is found where the host's was not put into the container."""
    if in_container(setting) and not in_wsl(setting) and not given_to_container(setting):
        yield sign("container-no-gpu-flag", Weight.CAUSE)
        return
    yield sign("wsl-stub-lib" if in_wsl(setting) else "ld-library-path-stubs", Weight.CAUSE)


def _no_libcuda(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if "failed to find cuda library" in setting.lowered[max(0, match.start() - 80) : match.start()]:
        yield sign("libcuda-missing", Weight.ASIDE)  # NCCL looks for it without a number, which CUDA itself does not need
    elif in_wsl(setting) and (setting.case.running or setting.says("/usr/lib/wsl/lib")):
        yield sign("wsl-stub-lib", Weight.STATE)
        yield sign("no-driver", Weight.STATE)
    else:
        yield from no_driver(match, setting)


def _system_call(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """304: a device that may not be opened or is not there, as in a container; else the state of the host."""
    if in_container(setting):
        yield sign("uvm-device-missing", Weight.STATE)
    yield sign("cuda-init-failed-driver-state", Weight.STATE)


BY_STATE: dict[str, Meaning] = {
    "stub-library": _stub,
    "insufficient-driver": _insufficient,
    "no-device": _no_device,
    "driver-library-not-loaded": general(_no_libcuda),
    "not-started": _not_started,
    "unknown": _unknown,
    "device-busy": _busy,
    "driver-mismatch": _combination,
    "forward-compatibility": _forward,
    "system-call-failed": general(_system_call),
}


def _none_supported(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The installer names no card: where the text does, that card and the driver say more."""
    if not setting.case.cards:
        yield sign("no-nvidia-gpu", Weight.STATE)


SIGNATURES = (
    Signature(
        ("do not appear to have an nvidia gpu",),
        r"You do not appear to have an NVIDIA GPU supported by the (?P<driver>\d[\d.]{2,12}\d)(?: NVIDIA Linux graphics driver)?",
        _none_supported,
    ),
    Signature(
        ("kernel driver does not appear to be running", "could not find cuda drivers", "proc/driver/nvidia/version does not exist"),
        r"(?:kernel driver does not appear to be running on this host|Could not find cuda drivers on your machine"
        r"|/proc/driver/nvidia/version does not exist)",
        _not_running,
    ),
    Signature(("found no nvidia driver",), r"Found no NVIDIA driver on your system", no_driver),
    Signature(
        ("driver on your system is too old",),
        r"driver on your system is too old(?: \(found version (?P<found>\d{4,6})\))?",
        _too_old,
    ),
    Signature(
        ("no cuda gpus are available", "no gpus found"),
        r"(?:No CUDA GPUs are available|only supported with GPUs, no GPUs found)",
        _no_gpus,
    ),
    Signature(
        ("libcuda.so",),
        r"(?:libcuda\.so(?:\.1)?: cannot open shared object file|Could not (?:load dynamic|find|open) (?:library )?'?libcuda\.so"
        r"|libcuda\.so(?:\.1)?(?: library| =>)? (?:not found|cannot be found|could not be found))",
        _no_libcuda,
    ),
    Signature(
        ("/dev/nvidia-uvm", "load uvm kernel module"),
        r"(?:cannot access '?/dev/nvidia-uvm'?|\(\"/dev/nvidia-uvm\"[^\n]{1,40}ENOENT|[Cc]ould not load UVM kernel module"
        r"|/dev/nvidia-uvm['\"]?:? ?(?:No such file|does not exist|not found))",
        means("uvm-device-missing"),
    ),
    Signature(
        ("/dev/nvidia",),
        r"(?:/dev/nvidia\w*['\"]?:? \(?Permission denied|(?:could not|unable to|failed to) open (?:the )?(?:device )?(?:file )?"
        r"['\"]?(?P<node>/dev/nvidia\w*)['\"]? ?(?:\(Permission denied\)|: Permission denied))",
        means("device-permissions"),
    ),
)
