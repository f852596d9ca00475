"""What the driver writes into the kernel's log: Xid events, a GPU that does not start or is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import card_name, driver_version, with_blackwell
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, sign
from gpuassist.diagnose.signatures.unserved_gpu import ADDRESS, THIS_GPU, named
from gpuassist.knowledge.records import XidCause
from gpuassist.model.paste import Weight
from gpuassist.model.text import sentence

# NVIDIA's Xid catalogue: https://docs.nvidia.com/deploy/xid-errors/
_FIRMWARE = frozenset({119, 120})
_MEMORY = frozenset({48, 64, 92, 94, 95, 140, 171, 172})
_PROGRAM = frozenset({13, 31})
_FOLLOWING = frozenset({43, 45, 109, 154})  # a channel that was stopped, and what is left to do, after the event that says why
_OWN = {79: "xid-79-gpu-fell-off-bus", 63: "xid-63-row-remap"}


def _xid(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    number = int(match["number"])
    gpu = card_name(setting) or (match["address"] or "").strip("<>").removeprefix("bus")
    process = match["process"] or ""
    if number in _PROGRAM:
        yield sign("xid-13-31-application-fault", Weight.CAUSE, xid=str(number), process=process)
    elif number in _FIRMWARE:
        yield sign("xid-119-gsp-timeout", Weight.CAUSE, gpu=gpu, xid=str(number), **_gsp_flags(setting))
    elif number in _MEMORY:
        yield sign("ecc-errors", Weight.CAUSE, gpu=gpu, xid=str(number))
    elif number in _OWN:
        yield sign(_OWN[number], Weight.CAUSE, gpu=gpu)
    else:
        # What has no entry of its own is told in NVIDIA's words.
        record = setting.case.knowledge.xid(number)
        if record is not None and XidCause.APPLICATION in record.causes:
            weight = Weight.ASIDE if number in _FOLLOWING else Weight.STATE
            yield sign("xid-13-31-application-fault", weight, xid=str(number), process=process)
        elif number not in _FOLLOWING:
            told = {"meaning": sentence(record.meaning), "action": sentence(record.action)} if record else {}
            yield sign("xid-other", Weight.CAUSE, gpu=gpu, xid=str(number), **told)


def _gsp_flags(setting: SignatureInput) -> dict[str, str]:
    """EnableGpuFirmware=0 helps the proprietary module alone, and never from Blackwell on."""
    opened = setting.says("open kernel module", "dual mit/gpl", "nvidia-open")
    return {"blackwell": "yes" if with_blackwell(setting) else "", "open": "yes" if opened else ""}


def _off_the_bus(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    found = match.groupdict()
    gpu = card_name(setting) or named(found.get("id"), setting) or found.get("address") or ""
    yield sign("xid-79-gpu-fell-off-bus", Weight.CAUSE, gpu=gpu)


def _rm_init(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    found = match.groupdict()
    yield sign(
        "rm-init-adapter-failed",
        Weight.CAUSE,
        gpu=card_name(setting) or found.get("address") or "",
        code=found.get("code") or "",
        firmware_boot="yes" if setting.says("gfw boot", "gfw_boot", "gfwboot") else "",
    )


def _no_firmware(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The kernel names the file by its place under the folder of firmware; -2 is that it is not there."""
    found = match.groupdict()
    driver = found.get("driver") or driver_version(setting)
    file = f"/lib/firmware/{found['file']}" if found.get("file") else ""
    branch = driver.partition(".")[0]
    firmware = file or "/lib/firmware/nvidia"
    yield sign(
        "rm-init-adapter-failed", Weight.CAUSE, gpu=card_name(setting), firmware_missing=firmware, driver=driver, branch=branch
    )


def _no_address(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    gpu = card_name(setting) or match.groupdict().get("address") or ""
    yield sign("rm-init-adapter-failed", Weight.CAUSE, gpu=gpu, no_address="yes")


def _no_space(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The kernel says it of any device, and often finds a place in a second attempt."""
    if setting.says("nvrm", "nvidia-smi"):
        yield sign("rm-init-adapter-failed", Weight.STATE, gpu=card_name(setting), no_address="yes")


SIGNATURES = (
    Signature(
        ("probe routine failed", "none of the nvidia devices were initialized", "nvidia: probe of"),
        r"NVRM: The NVIDIA probe routine failed for \d{1,2} device|NVRM: None of the NVIDIA devices were initialized"
        r"|nvidia: probe of [\da-f:.]{7,14} failed with error -\d{1,3}",
        means("rm-init-adapter-failed", Weight.STATE),
    ),
    Signature(
        ("xid (", "xid("),
        rf"NVRM:? Xid ?\((?:PCI:)?(?P<address>{ADDRESS}|<[\w -]{{1,20}}>)?[^)\n]{{0,20}}\): (?P<number>\d{{1,3}})\b"
        r"(?:, pid=[^,\n]{1,20})?(?:, name=(?P<process>[\w./:+-]{1,60}))?[^\n]{0,160}",
        _xid,
    ),
    Signature(("xid",), r"(?<!NVRM: )\bXid(?: errors?)?(?: code)?[ :#=]{1,3}(?P<number>\d{1,3})\b(?P<address>)(?P<process>)", _xid),
    Signature(
        ("fallen off",),
        rf"(?:{THIS_GPU}has fallen off the bus"
        rf"|GPU(?: at)? (?P<address2>{ADDRESS})[^\n]{{0,40}}has fallen off the bus"
        r"|GPU has fallen off the bus)",
        _off_the_bus,
    ),
    Signature(
        ("rminitadapter failed", "rm_init_adapter failed", "cannot initialize gsp firmware"),
        rf"(?:GPU (?P<address>{ADDRESS}): )?(?:RmInitAdapter failed!? ?(?:\((?P<code>0x[0-9a-f]+:[^)\n]{{1,30}})\))?"
        r"|rm_init_adapter failed|RmInitAdapter: Cannot initialize GSP firmware RM)",
        _rm_init,
    ),
    Signature(
        ("gfw_boot", "gfw boot", "/gsp_", "gsp firmware"),
        r"(?:failed to wait for GFW_?BOOT|failed to wait for GFW boot complete"
        r"|(?:Direct firmware load for|loading) \S{0,40}nvidia/[\d.]{3,12}/gsp_\w+\.bin(?:\.\w+)? failed with error -(?!2\b)\d+"
        r"|failed to load (?:the )?GSP firmware)",
        _rm_init,
    ),
    Signature(
        ("/gsp", "no firmware image found"),
        r"(?:(?:Direct firmware load for|loading) \S{0,40}?(?P<file>nvidia/(?P<driver>[\d.]{3,12})/gsp(?:_\w+)?\.bin(?:\.\w+)?)"
        r" failed with error -2\b|RmFetchGspRmImages: No firmware image found)",
        _no_firmware,
    ),
    Signature(
        ("o region assigned to your nvidia", "bar0 is 0m", "bar1 is 0m", "bar2 is 0m", "bar3 is 0m"),
        rf"(?:PCI I/O region assigned to your NVIDIA device is invalid"
        rf"|BAR[0-3] is 0M @ 0x0+\b(?:[^\n]{{0,4}}\(PCI:(?P<address>{ADDRESS}))?)",
        _no_address,
    ),
    Signature(
        ("can't assign", "no space for [mem", "failed to assign [mem"),
        r"BAR [0-5](?: \[mem size [^\]\n]{4,40}\]: can't assign; no space|: (?:no space for|failed to assign) \[mem"
        r"|: can't assign (?:mem|io))",
        _no_space,
    ),
    Signature(
        ("obtained ownership", "already bound to nouveau", "was not called for"),
        r"(?:probe routine was not called for \d+ device|already bound to nouveau|another driver was loaded and"
        r" obtained ownership)",
        means("nouveau-active", Weight.STATE),
    ),
    Signature(
        ("nouveau",),
        r"(?:nouveau [0-9a-f:.]{7,12}: (?:unknown chipset|DRM: |gr: |fifo: )"
        r"|(?:nouveau|nvidiafb|rivafb) kernel (?:driver|module) (?:is|appears to be) (?:currently )?(?:in use|loaded))",
        means("nouveau-active"),
    ),
    Signature(
        ("remapping failure",),
        r"Remapping Failure Occurred {1,20}: Yes",
        means("ecc-errors"),
    ),
    Signature(
        ("pending",),
        r"(?:Pending {3,40}: Yes\s{1,20}Remapping Failure Occurred {1,40}: No|Pending Page Blacklist {1,40}: Yes)",
        means("xid-63-row-remap"),
    ),
    Signature(
        ("overheat", "thermal", "over temperature", "critical temperature", "too hot", "过热"),
        r"(?:NVRM:[^\n]{0,80}(?:overheat|thermal shutdown|exceeded (?:its )?(?:maximum|slowdown) (?:operating )?temperature)"
        r"|GPU[^\n]{0,60}(?:shut ?down|powered off)[^\n]{0,40}(?:thermal|overheat|temperature)"
        r"|(?:HW|SW) Thermal Slowdown {1,30}: Active|thermal shut ?down"
        r"|(?:GPU|card|RTX|GTX|显卡)[^\n]{0,60}(?:overheat|too hot|过热))",
        means("gpu-overheating"),
    ),
)
