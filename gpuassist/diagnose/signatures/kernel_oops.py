"""What the kernel itself writes of NVIDIA's modules: crashes and hangs inside them, symbols and versions that do not fit, the bus,
power; and the parts of the driver that draw.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import card_name, in_wsl
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, sign
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight

_BEFORE, _AFTER = 2500, 4000  # characters of a report around the line that names the function
# A report's first line; a WARNING has the same lines below it, and the kernel goes on.
_CRASH = lazy_regex(
    r"\b(?:BUG:|Oops:|Oops\[|kernel BUG at|general protection fault|unable to handle|divide error|invalid opcode|Kernel panic"
    r"|Internal error:|stack segment:|double fault|soft lockup|hard LOCKUP)"
)
_WARNING = lazy_regex(r"\bWARNING: (?:CPU|possible)|\bUBSAN: |refcount_t: ")
_FRAME = lazy_regex(r"(?:\] |\s)(?P<function>[\w.]{3,60})\+0x[0-9a-f]{1,6}/0x[0-9a-f]{1,6} \[(?P<module>nvidia\w{0,10})\b")
_MODULE = r"\[(?P<module>nvidia(?:[-_]\w{2,12})?)\b"

# NVIDIA's status codes that name a fault of their own (nvstatuscodes.h of the open kernel modules).
_STATUS = {
    "GPU_IS_LOST": "xid-79-gpu-fell-off-bus",
    "RESET_REQUIRED": "gpu-reset-required",
    "ECC_ERROR": "ecc-errors",
    "FABRIC_MANAGER_NOT_PRESENT": "fabric-manager-not-running",
    "LIB_RM_VERSION_MISMATCH": "driver-library-mismatch",
}


def _crashed(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The function in which the kernel stopped is NVIDIA's; the modules that are merely loaded are named in every report."""
    before = setting.paste.words[max(0, match.start() - _BEFORE) : match.start()]
    crash = max((found.start() for found in _CRASH.finditer(before)), default=-1)
    warning = max((found.start() for found in _WARNING.finditer(before)), default=-1)
    if crash < 0 and warning >= 0:
        return
    told = {"module": match["module"], "function": match["function"]}
    weight = Weight.CAUSE if crash >= 0 else Weight.STATE
    yield sign("cuda-init-failed-driver-state", weight, crashed="yes", **told)


def _hung(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A task that waits inside the driver; what other tasks wait for is none of its business."""
    report = setting.paste.words[match.start() : match.end() + _AFTER]
    frame = _FRAME.search(report)
    named = "nvidia" in match["task"].lower()
    if frame or named:
        told = {"module": frame["module"], "function": frame["function"]} if frame else {}
        yield sign("cuda-init-failed-driver-state", Weight.STATE, hung="yes", **told)


def _status(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    problem = _STATUS[match["status"].upper()]
    gpu = {"gpu": card_name(setting)} if problem not in {"driver-library-mismatch", "fabric-manager-not-running"} else {}
    yield sign(problem, Weight.STATE, **gpu)


def _not_reached(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    yield sign("xid-79-gpu-fell-off-bus", Weight.STATE, gpu=card_name(setting), handle="yes")


def _no_gpu(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if not in_wsl(setting) and not setting.case.cards:
        yield sign("no-nvidia-gpu", Weight.STATE)


def _not_started(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    yield sign("rm-init-adapter-failed", Weight.STATE, gpu=card_name(setting))


SIGNATURES = (
    Signature(
        ("[nvidia",),
        r"(?:RIP: (?:\d{4}:)?|(?<![A-Z])E?IP: (?:\d{4}:)?(?:\[<[0-9a-f]{8,16}>\] )?|\bpc : |PC is at |NIP \[[0-9a-f]{8,16}\] )"
        rf"(?P<function>[\w.]{{3,60}})\+0x[0-9a-f]{{1,6}}(?:/0x[0-9a-f]{{1,6}})? {_MODULE}",
        _crashed,
        200,
    ),
    Signature(
        ("blocked for more than",),
        r"INFO: task (?P<task>[^\n:]{2,40}):\d{1,8} blocked for more than \d{2,5} seconds",
        _hung,
        200,
    ),
    Signature(
        ("missing endbr",),
        r"Missing ENDBR: [^\n]{0,80}\[nvidia",
        means("driver-not-loaded", ibt="yes"),
        200,
    ),
    Signature(
        ("unknown symbol", "undefined!"),
        r"(?m:^|\] |: )nvidia(?:[-_]\w{2,12})?: Unknown symbol \w{2,80}",
        means("driver-not-loaded", Weight.STATE),
        200,
    ),
    Signature(
        ("nvidia: probe with driver", "nvidia 0000:"),
        r"nvidia: probe with driver nvidia failed with error -\d{1,3}|nvidia [0-9a-f:.]{7,14}: probe with driver nvidia failed",
        _not_started,
        200,
    ),
    Signature(
        (
            *("pci_enable_device failed, aborting", "bar firewall to lower", "to resize pcie bars", "device start failed for"),
            *("nvkmskapidevice", "find an irq for your nvidia", "failed to register device"),
        ),
        r"NVRM: pci_enable_device failed, aborting|NVRM: failed to wait for bar firewall to lower"
        r"|NVRM: Fatal Error while attempting to resize PCIe BARs|NVRM: Device start failed for"
        r"|NVRM: Can't find an IRQ for your NVIDIA card|\*ERROR\* \[nvidia-drm\][^\n]{0,40}Failed to (?:allocate NvKmsKapiDevice"
        r"|register device)",
        _not_started,
        200,
    ),
    Signature(
        ("power cables connected",),
        r"GPU does not have the necessary power cables connected",
        means("rm-init-adapter-failed", power="yes", gpu=card_name),
        200,
    ),
    Signature(
        ("no nvidia gpu found", "no nvidia pci devices", "no nvidia devices probed", "no nvidia graphics adapter found"),
        r"NVRM: No NVIDIA (?:GPU found|PCI devices found|devices probed|graphics adapter found)",
        _no_gpu,
        100,
    ),
    Signature(
        ("request_mem_region failed",),
        r"NVRM: request_mem_region failed for [^\n]{4,40}",
        means("nouveau-active"),
        100,
    ),
    Signature(
        ("already bound to vfio-pci",),
        r"already bound to vfio-pci",
        means("gpu-reserved-for-vm", Weight.STATE),
        100,
    ),
    Signature(
        tuple(f"nv_err_{name.lower()}" for name in _STATUS),
        rf"\[NV_ERR_(?P<status>{'|'.join(_STATUS)})\]",
        _status,
        100,
    ),
    Signature(
        ("from d3cold to d0", "severity=uncorrected", "device inaccessible", "config space inaccessible"),
        r"nvidia [0-9a-f:.]{7,14}: (?:(?:Unable to|can't) change power state from D3cold to D0"
        r"|(?:AER: )?PCIe Bus Error: severity=Uncorrected(?:ed)? ?\((?:Non-)?Fatal\))",
        _not_reached,
        200,
    ),
    Signature(
        ("waiting for gpu progress", "flip event timeout on head", "lut notifier timeout on head"),
        r"nvidia-modeset: ERROR: GPU:\d{1,2}: Error while waiting for GPU progress|(?:Flip event|LUT notifier) timeout on head \d",
        means("cuda-init-failed-driver-state", Weight.STATE, hung="yes"),
        200,
    ),
    Signature(
        ("pci_pm_suspend", "failed to suspend", "nv_pmops_suspend"),
        r"nvidia [0-9a-f:.]{7,14}: PM: (?:failed to suspend|pci_pm_suspend\(\): nv_pmops_suspend[^\n]{0,40} returns -\d)",
        means("video-memory-lost-over-sleep", Weight.STATE, refused="yes"),
        200,
    ),
    Signature(
        ("failed to resume", "pci_pm_resume"),
        r"nvidia [0-9a-f:.]{7,14}: PM: (?:failed to resume|dpm_run_callback\(\): pci_pm_resume[^\n]{0,40} returns -\d)",
        means("cuda-init-failed-driver-state", Weight.STATE, woke="yes"),
        200,
    ),
)
