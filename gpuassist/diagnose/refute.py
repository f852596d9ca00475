"""What the facts of a text speak against: a message that fits several causes cannot mean one that they rule out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Setting
from gpuassist.model.environment import Accelerator
from gpuassist.model.fact import Known, value_or
from gpuassist.model.text import Text, text

_AVAILABLE = re.compile(
    r"is cuda available: *(?:true|yes)\b|cuda\.is_available\(\)[^\n]{0,20}?[\s:=>]+true\b|cuda available:? *(?:true|yes)\b"
)
_NO_GPU_SEEN = frozenset(
    {
        "no-driver",
        "no-nvidia-gpu",
        "driver-not-loaded",
        "driver-too-old-for-gpu",
        "driver-too-old-for-cuda",
        "driver-library-mismatch",
        "libcuda-missing",
        "nouveau-active",
        "torch-cpu-only",
        "container-no-gpu-flag",
        "cuda-init-failed-driver-state",
    }
)
_NO_DRIVER_RUNS = frozenset(
    {"no-driver", "driver-not-loaded", "nouveau-active", "driver-module-blacklisted", "secure-boot-mok-pending"}
)


def refutations(setting: Setting) -> dict[str, Text]:
    """The problems that the facts rule out, each with the fact in words."""
    found: dict[str, Text] = {}
    for problems, reason in _rulings(setting):
        for problem in problems:
            found.setdefault(problem, reason)
    return found


def _rulings(setting: Setting) -> Iterator[tuple[frozenset[str], Text]]:
    case = setting.case
    if _AVAILABLE.search(setting.lowered):
        yield _NO_GPU_SEEN, text("CUDA was available there, by what the text says")
    if case.running and isinstance(case.driver, Known):
        yield _NO_DRIVER_RUNS, text("driver {driver} runs there", driver=str(case.driver.value))
    if case.cards and any(isinstance(card.gpu.name, Known) for card in case.cards):
        yield frozenset({"no-nvidia-gpu"}), text("there is an NVIDIA GPU: {gpu}", gpu=case.cards[0].name)
    if case.torches and all(value_or(one.torch.accelerator, Accelerator.CPU) is Accelerator.CUDA for one in case.torches):
        yield frozenset({"torch-cpu-only"}), text("the torch there is built for CUDA: {torch}", torch=case.torches[0].version)
