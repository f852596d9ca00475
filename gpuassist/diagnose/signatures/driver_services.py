"""What the services that come with the driver say in the journal (units of systemd), and nvidia-smi of MIG and of a reset."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from gpuassist.diagnose.hints import card_name, in_wsl
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, sign
from gpuassist.model.paste import Weight


class ServiceUnit(Struct, frozen=True):
    """What it means that a unit failed, where nothing in the text says why."""

    problem: str
    weight: Weight = Weight.STATE
    parameters: tuple[tuple[str, str], ...] = ()


_NOT_LOADED = ServiceUnit("driver-not-loaded", Weight.CONSEQUENCE)  # it asks the driver, as everything does
_ASLEEP = ServiceUnit("video-memory-lost-over-sleep", Weight.STATE, (("refused", "yes"),))
UNITS = {
    "nvidia-persistenced": _NOT_LOADED,
    "nvidia-fallback": ServiceUnit("driver-not-loaded"),
    "nvidia-modprobe": _NOT_LOADED,
    "nvidia-dcgm": _NOT_LOADED,
    "nvidia-dcgm-exporter": _NOT_LOADED,
    "dcgm": _NOT_LOADED,
    "dcgm-exporter": _NOT_LOADED,
    "nvidia-vgpu-mgr": _NOT_LOADED,
    "nvidia-vgpud": _NOT_LOADED,
    "nvidia-suspend": _ASLEEP,
    "nvidia-resume": _ASLEEP,
    "nvidia-hibernate": _ASLEEP,
    "nvidia-suspend-then-hibernate": _ASLEEP,
    "nvidia-gridd": ServiceUnit("vgpu-unlicensed"),
    "nvidia-cdi-refresh": ServiceUnit("container-cdi-stale"),
    "nvidia-mig-manager": ServiceUnit("mig-mode", Weight.STATE, (("busy", "yes"),)),
    "nvidia-powerd": ServiceUnit("nvidia-service-not-needed", Weight.STATE, (("unit", "nvidia-powerd"), ("boost", "yes"))),
    "nvidia-imex": ServiceUnit("nvidia-service-not-needed", Weight.STATE, (("unit", "nvidia-imex"), ("nodes", "yes"))),
    "nvidia-topologyd": ServiceUnit("nvidia-service-not-needed", Weight.STATE, (("unit", "nvidia-topologyd"), ("virtual", "yes"))),
}
# nvidia-fabricmanager has signatures of its own beside the kernel modules'.
_NAME = rf"(?<![\w-])({'|'.join(sorted(UNITS, key=len, reverse=True))})\.service"


def _failed(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    unit = UNITS[next(found for found in match.groups() if found).lower()]
    if not in_wsl(setting):
        yield sign(unit.problem, unit.weight, **dict(unit.parameters))


def _without(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """A card that cannot be divided, or one that is not."""
    yield sign("mig-mode", Weight.STATE, **{"unsupported" if match["kind"].lower() == "supported" else "off": "yes"})


def _fabric(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Without an NVSwitch the service has nothing to do, and its failure breaks nothing; with those of the fifth NVLink it says
    the same where their own manager is missing. `Pre-NVL5` is every machine before them, with switches and without.
    """
    board = setting.case.baseboard
    if (board is not None and board.subnet_manager) or setting.says("b200", "b300", "gb200", "gb300", "nvlsm", "detected nvl5"):
        yield sign("fabric-manager-not-running", Weight.CAUSE, subnet="yes")
    elif setting.says("nothing_to_do", "nothing to do", "no nvswitch"):
        server = board is not None or setting.says("hgx", "dgx", "sxm")
        yield sign("fabric-manager-not-running", Weight.STATE) if server else sign("fabric-manager-not-needed")
    elif setting.says("rtx ", "geforce", "pcie", "quadro") and not setting.says("hgx", "nvswitch", "sxm", "dgx"):
        yield sign("fabric-manager-not-needed", Weight.STATE)
    else:
        yield sign("fabric-manager-not-running", Weight.STATE)


def _busy(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    yield sign("mig-mode", Weight.CAUSE, gpu=card_name(setting), busy="yes")


def _not_reset(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if setting.says("mig-parted", "mig mode", "-mig ", "mig-manager", "mig config"):
        yield sign("mig-mode", Weight.CAUSE, gpu=card_name(setting), busy="yes")
    else:
        yield sign("gpu-reset-required", Weight.STATE, gpu=card_name(setting), busy="yes")


def _no_room(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Why no instance was made: the profiles that are there take up the card, or the profile is not one of this card."""
    reason = match["reason"].lower()
    if reason.startswith("insufficient perm"):
        yield sign("device-permissions", Weight.CAUSE)
    elif reason.startswith("insufficient res"):
        yield sign("mig-mode", Weight.CAUSE, gpu=card_name(setting), full="yes")
    else:
        yield sign("mig-mode", Weight.CAUSE, gpu=card_name(setting), unsupported="yes")


_MISSED = (
    *(
        "is_available()",
        "no cuda",
        "no gpu",
        "cuda_error_no_device",
        "busy or unavailable",
        "cuda available: false",
        "device_count",
    ),
)


def _divided(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The table says that MIG is on; only where a program then misses the GPU is that worth a word."""
    if setting.says(*_MISSED):
        yield sign("mig-mode", Weight.STATE, gpu=card_name(setting))


SIGNATURES = (
    Signature(("enabled |",), r"\|[ \t]{10,30}Enabled\*?[ \t]{0,3}\|", _divided, 60),
    Signature(
        tuple(f"{unit}.service" for unit in UNITS),
        rf"(?:{_NAME}: (?:Failed with result|(?:Main|Control) process exited, code=(?:exited|killed|dumped), status=(?!0\b)"
        r"|Start request repeated too quickly|Scheduled restart job, restart counter is at [2-9])"
        rf"|{_NAME} {{1,20}}loaded {{1,8}}failed|Job for {_NAME} failed"
        rf"|{_NAME}\b[^\n]{{0,120}}\n(?:[^\n]{{0,200}}\n){{1,4}}?[ \t]{{1,12}}Active: failed)",
        _failed,
        500,
    ),
    Signature(
        ("fabricmanager", "fabric manager", "nvswitch driver failed"),
        r"(?:NVSwitch driver failed with error: ?[^\n]{0,60}|nvidia-fabricmanager\.service: (?:Control process exited"
        r"|Failed with result"
        r"|Main process exited)[^\n]{0,60}|Failed to start (?:NVIDIA )?[Ff]abric ?[Mm]anager[^\n]{0,30}"
        r"|nvidia-fabricmanager\.service: (?:inactive|failed)|Job for nvidia-fabricmanager\.service failed)",
        _fabric,
    ),
    Signature(
        ("fabric manager", "fabricmanager"),
        r"fabric ?manager[^\n]{0,60}(?:version )[^\n]{0,40}(?:don't|doesn't|does not|do not|did not) match",
        means("fabric-manager-not-running"),
    ),
    Signature(
        ("fabric manager", "fabricmanager"),
        r"aborting fabric manager\b|fabric manager config file item: \w{3,40} has an invalid value"
        r"|number of NVSwitch(?:es)? don't match with any supported system topology",
        means("fabric-manager-not-running", Weight.STATE),
    ),
    Signature(
        ("nvidia-powerd", "dynamic boost", "nvpcf"),
        r"requested to disable Dynamic Boost DC controller|Error in getting the NvPCF static configuration"
        r"|SBIOS support not found for NVPCF GET_SUPPORTED"
        r"|Failed to initialize Dynamic Boost|Failed to start nvidia-powerd",
        means("nvidia-service-not-needed", Weight.STATE, unit="nvidia-powerd", boost="yes"),
        200,
    ),
    Signature(
        ("nvidia-sleep.sh",),
        r"nvidia-sleep\.sh[^\n]{0,80}(?:write error|cannot create|No such file|Input/output error|fgconsole: Couldn't|chvt)",
        means("video-memory-lost-over-sleep", Weight.STATE, refused="yes"),
        200,
    ),
    Signature(
        ("in use by another client",),
        r"(?:(?:Unable|Failed) to \w{4,12} )?(?:MIG mode|(?:compute|GPU) instances?)[^\n]{0,120}: ?In use by another client",
        _busy,
        300,
    ),
    Signature(
        ("could not be reset",),
        r"GPUs? (?:[0-9a-f:.]{8,18} )?could not be reset\b[^\n]{0,40}(?:\n[^\n]{0,60}In use by another client)?",
        _not_reset,
        300,
    ),
    Signature(
        ("currently being used by one or more other processes",),
        r"(?:devices?|[0-9a-f]{4,8}:[0-9a-f:.]{7}) (?:is|are) currently being used by one or more other processes",
        _not_reset,
        300,
    ),
    Signature(
        ("gpu instance", "compute instance", "gpu instances", "compute instances", "mig mode for gpu"),
        r"(?:Unable|Failed) to (?:create|destroy|display|list|query|enable|disable) (?:a |the )?(?:(?:GPU|compute) instances?"
        r"|MIG mode(?: for)?)\b[^\n:]{0,100}(?:[0-9a-f]{8}:[0-9a-f]{2}:[0-9a-f]{2}\.\d)?[^\n:]{0,60}: ?"
        r"(?P<reason>Insufficient (?:Resources|Permissions)|Not Supported|Invalid Argument|Not Found)",
        _no_room,
        300,
    ),
    Signature(
        ("no mig-supported devices", "no mig-enabled devices"),
        r"No MIG-(?P<kind>supported|enabled) devices found",
        _without,
        100,
    ),
)
