"""What the driver writes into the kernel's log: Xid events, a GPU that does not start or is gone, one that it does not serve."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import card_name, driver_version, with_blackwell
from gpuassist.diagnose.signature import GAP, Sign, Signature, SignatureInput, means, sign
from gpuassist.knowledge.compatibility import DriverFit, driver_serves_gpu
from gpuassist.knowledge.records import ModuleFlavour, XidCause
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.paste import Weight
from gpuassist.model.text import sentence

_ADDRESS = r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-9a-f])?"
_THIS_GPU = (
    rf"The NVIDIA (?:GPU )?(?P<address>{_ADDRESS})?(?: \(PCI ID: (?P<id>10de:[0-9a-f]{{4}})\))?"
    rf" installed in this system "
)

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
    gpu = card_name(setting) or _named(found.get("id"), setting) or found.get("address") or ""
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


def _legacy(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    found = match.groupdict()
    gpu = re.sub(r"\s+", " ", found.get("gpu") or "").removeprefix("NVIDIA ").removeprefix("GeForce ")
    yield sign(
        "legacy-driver-branch-needed",
        Weight.CAUSE,
        gpu=gpu or card_name(setting),
        branch=found.get("branch") or "",
        driver=found.get("driver") or driver_version(setting),
    )


def _not_supported(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The driver names no reason: it may be older than the GPU, or have left it behind, or be of the wrong flavour."""
    known, driver = setting.case.knowledge, version_in(match["driver"])
    record = known.gpu(match["id"]) if match["id"] else None
    architecture = known.architecture(record.architecture) if record else None
    gpu = record.name if record else card_name(setting)
    fit = driver_serves_gpu(driver, architecture, record.chip) if driver and architecture and record else DriverFit.UNKNOWN
    if fit is DriverFit.DROPPED and architecture is not None:
        branch = str(architecture.last_branch or "")
        yield sign("legacy-driver-branch-needed", Weight.CAUSE, gpu=gpu, driver=match["driver"], branch=branch)
    elif fit is DriverFit.FINE and record is not None and record.module is ModuleFlavour.OPEN_REQUIRED:
        yield sign("open-module-required", Weight.CAUSE, gpu=gpu, driver=match["driver"], branch=match["driver"].split(".")[0])
    else:
        yield sign("driver-too-old-for-gpu", Weight.CAUSE, gpu=gpu, driver=match["driver"])


def _open_needed(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    found = match.groupdict()
    driver = driver_version(setting)
    branch = driver.split(".")[0] if driver else ""
    gpu = _named(found.get("id"), setting) or card_name(setting)
    yield sign("open-module-required", Weight.CAUSE, gpu=gpu, driver=driver, branch=branch)


def _open_impossible(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    gpu = _named(match.groupdict().get("id"), setting) or card_name(setting)
    yield sign("open-module-unsupported-gpu", Weight.CAUSE, gpu=gpu, driver=driver_version(setting))


def _named(pci_id: str | None, setting: SignatureInput) -> str:
    record = setting.case.knowledge.gpu(pci_id.lower()) if pci_id else None
    return record.name if record else ""


SIGNATURES = (
    Signature(
        ("probe routine failed", "none of the nvidia devices were initialized", "nvidia: probe of"),
        r"NVRM: The NVIDIA probe routine failed for \d{1,2} device|NVRM: None of the NVIDIA devices were initialized"
        r"|nvidia: probe of [\da-f:.]{7,14} failed with error -\d{1,3}",
        means("rm-init-adapter-failed", Weight.STATE),
    ),
    Signature(
        ("xid (", "xid("),
        rf"NVRM:? Xid ?\((?:PCI:)?(?P<address>{_ADDRESS}|<[\w -]{{1,20}}>)?[^)\n]{{0,20}}\): (?P<number>\d{{1,3}})\b"
        r"(?:, pid=[^,\n]{1,20})?(?:, name=(?P<process>[\w./:+-]{1,60}))?[^\n]{0,160}",
        _xid,
    ),
    Signature(("xid",), r"(?<!NVRM: )\bXid(?: errors?)?(?: code)?[ :#=]{1,3}(?P<number>\d{1,3})\b(?P<address>)(?P<process>)", _xid),
    Signature(
        ("fallen off",),
        rf"(?:{_THIS_GPU}has fallen off the bus"
        rf"|GPU(?: at)? (?P<address2>{_ADDRESS})[^\n]{{0,40}}has fallen off the bus"
        r"|GPU has fallen off the bus)",
        _off_the_bus,
    ),
    Signature(
        ("rminitadapter failed", "rm_init_adapter failed", "cannot initialize gsp firmware"),
        rf"(?:GPU (?P<address>{_ADDRESS}): )?(?:RmInitAdapter failed!? ?(?:\((?P<code>0x[0-9a-f]+:[^)\n]{{1,30}})\))?"
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
        rf"|BAR[0-3] is 0M @ 0x0+\b(?:[^\n]{{0,4}}\(PCI:(?P<address>{_ADDRESS}))?)",
        _no_address,
    ),
    Signature(
        ("can't assign; no space", "no space for [mem", "failed to assign [mem"),
        r"BAR [0-5](?: \[mem size [^\]\n]{4,40}\]: can't assign; no space|: (?:no space for|failed to assign) \[mem)",
        _no_space,
    ),
    Signature(
        ("legacy",),
        rf"The (?:NVIDIA )?(?P<gpu>[\w \t/+()-]{{3,70}}?) GPU{GAP}?\s?(?:at [^\n]{{5,30}}\))?\s?installed in this system"
        rf" is supported through{GAP}?\s?the{GAP}?\s?NVIDIA (?P<branch>\d{{2,3}})\.(?:xx|\d[\d.]*)\.? [Ll]egacy"
        rf"(?:[^.]{{0,40}}\. Please visit \S{{10,60}} for more information\. The"
        rf" (?P<driver>\d[\d.]{{3,12}})\s)?",
        _legacy,
        900,
    ),
    Signature(
        ("legacy",), r"(?:only )?supported (?:up to|by) the (?:NVIDIA )?(?P<branch>\d{3})(?:\.xx)? legacy drivers? series", _legacy
    ),
    Signature(
        ("ignoring the legacy gpu",),
        r"ignoring the legacy GPU",
        means("legacy-driver-branch-needed", gpu=card_name, driver=driver_version),
    ),
    Signature(
        ("is not supported by",),
        rf"{_THIS_GPU}is not supported by (?:the )?(?:NVIDIA )?(?P<driver>\d{{3}}\.[\dx.]{{1,9}}\d)"
        rf" (?:NVIDIA )?(?:Linux )?driver",
        _not_supported,
    ),
    Signature(
        ("open kernel module",),
        rf"(?:{_THIS_GPU})?(?:requires use of the NVIDIA open kernel module"
        rf"|requires the use of the NVIDIA open kernel module)s?",
        _open_needed,
    ),
    Signature(
        ("open kernel modules are required", "open kernel module is required"),
        r"open kernel modules? (?:are|is) required",
        _open_needed,
    ),
    Signature(
        ("nvidia.ko", "system processor"),
        rf"(?:{_THIS_GPU})?(?:is )?not supported by open nvidia.ko",
        _open_impossible,
    ),
    Signature(
        ("openrmenableunsupportedgpus", "only ready for use on data center"),
        r"(?:Open nvidia\.ko is only ready for use on Data Center GPUs|To force use of Open nvidia\.ko on other GPUs)",
        means("geforce-open-module-unsupported"),
    ),
    Signature(
        ("obtained ownership", "already bound to nouveau", "was not called for"),
        r"(?:probe routine was not called for \d+ device|already bound to nouveau|another driver was loaded and"
        r" obtained ownership)",
        means("nouveau-active", Weight.STATE),
    ),
    Signature(
        ("nouveau",),
        r"(?:Nouveau kernel driver is currently in use by your system"
        r"|nouveau [0-9a-f:.]{7,12}: (?:unknown chipset|DRM: |gr: |fifo: )"
        r"|(?:nouveau|nvidiafb|rivafb) kernel (?:driver|module) (?:is|appears to be) (?:currently )?(?:in use|loaded))",
        means("nouveau-active"),
    ),
    Signature(
        ("ecc error", "remapping failure", "page blacklist", "ecc_uncorrectable", "eccuncorrectable"),
        r"(?:uncorrectable ECC error encountered|Remapping Failure Occurred {1,20}: Yes|CUDA_ERROR_ECC_UNCORRECTABLE"
        r"|cudaErrorECCUncorrectable)",
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
