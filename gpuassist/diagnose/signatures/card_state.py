"""What tools print of the state that a card is in: slowed, waiting for a reset, on fewer lanes, set up anew for every program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Meaning, Sign, Signature, SignatureInput, means, sign
from gpuassist.model.paste import Weight

_GPU_WORDS = ("nvidia", "geforce", "10de:", "vga compatible", "3d controller", "gpu")


def _reset(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """An Xid that is in the text as well says what happened; this says what is to be done."""
    reboot = "reboot" in match[0].lower()
    weight = Weight.STATE if "changed" in match[0] else Weight.CAUSE
    weight = Weight.CONSEQUENCE if setting.says("fallen off the bus", "gpu is lost") else weight
    yield sign("gpu-reset-required", weight, reboot="yes" if reboot else "")


def _lanes(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The kernel tells it of every device, and a link that is only slower is at rest."""
    width, most = int(match["width"]), int(match["most"])
    if width < most and setting.says(*_GPU_WORDS):
        yield sign("pcie-link-degraded", Weight.STATE, width=str(width), most=str(most))


def _slow_start(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if setting.says("persistence-m", "persistence mode", "headless", "no display", "server", "persistenced"):
        yield sign("persistence-mode-off", Weight.STATE)


def _strays(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    yield sign("stray-contexts", Weight.STATE if setting.says("out of memory. tried") else Weight.CAUSE)


BY_STATE: dict[str, Meaning] = {"reset-required": _reset}


SIGNATURES: tuple[Signature, ...] = (
    Signature(
        ("requires reset", "reset required", "reset is required", "recovery action"),
        r"GPU requires (?:a )?reset|(?<!\w )Reset Required {3,40}: Yes"
        r"|GPU Recovery Action {3,40}: (?:Reset|Reboot|Drain (?:and Reset|P2P))"
        r"|GPU recovery action changed from 0x0 \(None\)\s{1,12}to 0x[1-4] \([^)\n]{4,40}\)",
        _reset,
        240,
    ),
    Signature(
        ("power brake slowdown", "hw_power_brake", "power_brake"),
        r"HW Power Brake Slowdown {1,30}: Active"
        r"|clocks_(?:throttle|event)_reasons\.hw_power_brake_slowdown[^\n]{0,60}\n[^\n]{0,120}\bActive",
        means("gpu-power-brake"),
        260,
    ),
    Signature(
        ("available pcie bandwidth",),
        r"available PCIe bandwidth, limited by [\d.]{3,5} GT/s PCIe x(?P<width>\d{1,2}) link at [^\n(]{3,40}\(capable of"
        r" [\d.]{3,9} Gb/s with [\d.]{3,5} GT/s PCIe x(?P<most>\d{1,2}) link",
        _lanes,
        300,
    ),
    Signature(
        ("link width",), r"Link Width\s{1,20}Max {3,40}: (?P<most>\d{1,2})x\s{1,40}Current {3,40}: (?P<width>\d{1,2})x", _lanes, 240
    ),
    Signature(
        ("lnkcap:",),
        r"LnkCap:[^\n]{0,120}Width x(?P<most>\d{1,2})[^\n]{0,200}\n(?:(?!LnkSta:)[^\n]{0,160}\n){0,4}?[^\n]{0,20}LnkSta:[^\n]{0,80}"
        r"Width x(?P<width>\d{1,2}) \(downgraded\)",
        _lanes,
        500,
    ),
    Signature(
        ("nvidia-smi",),
        r"nvidia-smi[^\n]{0,60}(?:takes?|took|needs?|hangs for|waits)[^\n]{0,30}\d{1,3}(?:\.\d)? ?(?:s\b|sec)"
        r"|nvidia-smi (?:is |runs )?(?:very |so |extremely )?slow\b|nvidia-smi[^\n]{0,12}(?:很慢|非常慢|要等)",
        _slow_start,
        200,
    ),
    Signature(
        ("gpu 0", "gpu0", "first gpu", "cuda:0", "stray", "0号卡", "0 号卡", "0卡"),
        r"(?:every|each|all|other)(?: of the)?(?: \d{1,3})? (?:rank|worker|process|proc)(?:s|es)?[^\n]{0,60}"
        r"(?:also|extra|additional(?:ly)?|besides)[^\n]{0,60}(?:GPU ?0|first GPU|cuda:0)"
        r"|(?:GPU ?0|cuda:0|first GPU)[^\n]{0,60}(?:extra|additional|several|multiple|many)[^\n]{0,30}process(?:es)?\b"
        r"|stray CUDA context|进程[^\n]{0,20}(?:都|也)[^\n]{0,12}0 ?号?卡",
        _strays,
        240,
    ),
)
