"""What the driver says of a GPU that it leaves alone: too new for it, too old, of the other flavour, a virtual one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import Hint, card_name, driver_version, shows
from gpuassist.diagnose.signature import GAP, Sign, Signature, SignatureInput, means, sign
from gpuassist.knowledge.compatibility import DriverFit, driver_serves_gpu
from gpuassist.knowledge.records import ArchitectureRecord, GpuRecord, ModuleFlavour
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.paste import Weight

ADDRESS = r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-9a-f])?"
THIS_GPU = (
    rf"The NVIDIA (?:GPU )?(?P<address>{ADDRESS})?(?: \(PCI ID: (?P<id>10de:[0-9a-f]{{4}})\))?"
    rf" (?:NVRM: )?installed in this system "
)
_VIRTUAL: Hint = (
    ("vgpu", "grid", "mdev"),
    r"\bvgpu\b|\bgridd?\b(?=[^\n]{0,40}(?:driver|licen|gpu|\.run|\d))|nvidia-grid|\bmdev\b"
    r"|nvidia (?:a|l|h|rtx|t)\d{1,4}\w{0,3}-\d{1,3}[qcab]\b",
)
_OPENED = ("open kernel module", "dual mit/gpl", "nvidia-open", "-open ", "open nvidia.ko")


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
    """The driver names no reason: it may be older than the GPU, or have left it behind, or be of the wrong flavour; and one that
    serves such a GPU refuses what it cannot identify, which is mostly a part of a card, given to a virtual machine.
    """
    driver, (record, architecture) = version_in(match["driver"]), _kind(match["id"], setting)
    gpu, told = record.name if record else card_name(setting), {"driver": match["driver"]}
    chip = record.chip if record else ""
    fit = driver_serves_gpu(driver, architecture, chip) if driver and architecture else DriverFit.UNKNOWN
    if driver and record and record.first_driver and driver < record.first_driver:
        fit = DriverFit.TOO_OLD
    module = record.module if record else architecture.module if architecture else None
    opened = setting.case.open_module.is_true or setting.says(*_OPENED)
    of_chip = next((one.first_driver for one in architecture.chips if one.chip == chip), None) if architecture else None
    first = (record.first_driver if record else None) or of_chip
    if fit is DriverFit.DROPPED and architecture is not None:
        branch = str(architecture.last_branch or "")
        yield sign("legacy-driver-branch-needed", Weight.CAUSE, gpu=gpu, branch=branch, **told)
    elif fit is DriverFit.TOO_OLD:
        yield sign("driver-too-old-for-gpu", Weight.CAUSE, gpu=gpu, first=str(first or ""), **told)
    elif fit is DriverFit.UNKNOWN:
        yield sign("driver-too-old-for-gpu", Weight.STATE, gpu=gpu, unsure="yes", **told)
        yield sign("vgpu-guest-driver", Weight.STATE, gpu=gpu, **told)
    elif opened and module is ModuleFlavour.OPEN_IMPOSSIBLE:
        yield sign("open-module-unsupported-gpu", Weight.CAUSE, gpu=gpu, **told)
    elif module is ModuleFlavour.OPEN_REQUIRED and not opened:
        yield sign("open-module-required", Weight.CAUSE, gpu=gpu, branch=match["driver"].split(".")[0], **told)
    else:
        virtual = shows(setting, _VIRTUAL)
        known = {"first": str(first or ""), "virtual": "yes" if virtual else ""}
        yield sign("vgpu-guest-driver", Weight.CAUSE if virtual else Weight.STATE, gpu=gpu, **known, **told)


def _kind(pci_id: str | None, setting: SignatureInput) -> tuple[GpuRecord | None, ArchitectureRecord | None]:
    """What is known of the GPU that the message names by its number, or of the only kind that the text names."""
    known = setting.case.knowledge
    record = known.gpu(pci_id.lower()) if pci_id else None
    if record is not None:
        return record, known.architecture(record.architecture)
    kinds = {(card.record, card.architecture) for card in setting.case.cards} if not pci_id else set()
    return kinds.pop() if len(kinds) == 1 else (None, None)


def _virtual_refused(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    gpu, driver = named(match["id"], setting), driver_version(setting)
    if match["virtual"]:
        yield sign("vgpu-guest-driver", Weight.CAUSE, gpu=gpu, driver=driver, virtual="yes", opened="yes")
    else:
        yield sign("open-module-unsupported-gpu", Weight.CAUSE, gpu=gpu, driver=driver)


def _of_two_releases(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    yield sign("vgpu-guest-driver", Weight.CAUSE, host="yes", guest=match["guest"] or "")


def _open_needed(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    found = match.groupdict()
    driver = driver_version(setting)
    branch = driver.split(".")[0] if driver else ""
    gpu = named(found.get("id"), setting) or card_name(setting)
    yield sign("open-module-required", Weight.CAUSE, gpu=gpu, driver=driver, branch=branch)


def _open_impossible(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if "vgpu" in setting.lowered[max(0, match.start() - 120) : match.start()]:  # which has its own reading
        return
    gpu = named(match.groupdict().get("id"), setting) or card_name(setting)
    yield sign("open-module-unsupported-gpu", Weight.CAUSE, gpu=gpu, driver=driver_version(setting))


def named(pci_id: str | None, setting: SignatureInput) -> str:
    """What people call the GPU of a number; empty where that is not known."""
    record = setting.case.knowledge.gpu(pci_id.lower()) if pci_id else None
    return record.name if record else ""


SIGNATURES = (
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
        rf"{THIS_GPU}is not supported by (?:the )?(?:NVRM: )?(?:NVIDIA )?(?P<driver>\d{{2,3}}\.[\dx.]{{1,9}}\d)"
        r" (?:NVIDIA )?(?:Linux )?driver",
        _not_supported,
    ),
    Signature(
        ("the nvidia vgpu", "in this vgpu host system"),
        rf"The NVIDIA (?P<virtual>v)?GPU (?:{ADDRESS} )?\(PCI ID: (?P<id>10de:[0-9a-f]{{4}})\)"
        r" (?:NVRM: )?installed in this (?:vGPU host )?system is not supported by (?:NVRM: )?open (?:NVRM: )?nvidia\.ko",
        _virtual_refused,
    ),
    Signature(
        ("incompatible guest/host drivers",),
        r"(?:Driver Version: (?P<guest>\d{3}\.\d{2,3}(?:\.\d{2})?)\b[^#]{0,400}?)?Incompatible Guest/Host drivers:"
        r" [^.\n]{10,120}\.",
        _of_two_releases,
        500,
    ),
    Signature(
        ("no supported devices in vgpu mode", "not supported devices in vgpu mode"),
        r"Not? supported devices in vGPU mode",
        means("vgpu-guest-driver", Weight.ASIDE),
    ),
    Signature(
        ("open kernel module",),
        rf"(?:{THIS_GPU})?(?:requires use of the NVIDIA open kernel module"
        rf"|requires the use of the NVIDIA open kernel module)s?(?!s?; these will be selected)",
        _open_needed,
    ),
    Signature(
        ("open kernel modules are required", "open kernel module is required"),
        r"open kernel modules? (?:are|is) required",
        _open_needed,
    ),
    Signature(
        ("nvidia.ko", "system processor"),
        rf"(?:{THIS_GPU})?(?:is )?not supported by open (?:NVRM: )?nvidia.ko",
        _open_impossible,
    ),
    Signature(
        ("openrmenableunsupportedgpus", "only ready for use on data center"),
        r"(?:Open nvidia\.ko is only ready for use on Data Center GPUs|To force use of Open nvidia\.ko on other GPUs)",
        means("geforce-open-module-unsupported"),
    ),
)
