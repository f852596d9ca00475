"""Values as nvidia-smi spells them."""

from __future__ import annotations

import re

ABSENT = frozenset(("N/A", "[N/A]", "ERR!", "[Not Supported]", "[Unknown Error]", "Unknown Error", "Not Supported", ""))
# GPUs of Jetson modules, which are called by the chip that they are part of.
ON_CHIP = re.compile(r"(?:NVIDIA )?(?:Orin|Xavier|Thor|Tegra)\b")
# How NVIDIA's products are called where nothing else says that a word is the name of a GPU.
PRODUCT = re.compile(
    r"(?:NVIDIA|GeForce|Tesla|Quadro|TITAN|GRID|RTX|GTX|Graphics Device|Orin|Xavier|Thor|GH\d|GB\d|[ABHLPTV]\d{1,3}[A-Z]?\b)"
)

_MODES = {"Default": "default", "Prohibited": "prohibited"}


def address(words: str) -> str:
    """As sysfs writes it: `00000000:01:00.0` is 0000:01:00.0."""
    domain, _, rest = words.lower().partition(":")
    return f"{int(domain, 16):04x}:{rest}"


def mebibytes(number: str) -> int:
    """In bytes; what old versions call MB are mebibytes too."""
    return int(number) << 20


def compute_mode(words: str) -> str:
    """`E. Process` and `Exclusive_Process` are one mode."""
    return _MODES.get(words) or ("exclusive thread" if "hread" in words else "exclusive process")
