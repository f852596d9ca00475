"""Messages of a Python that lacks what another Python of the same text has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, passages, sign
from gpuassist.model.paste import Weight

# A torch that is installed somewhere, as pip, conda and collect_env show it.
_INSTALLED = (
    r"Requirement already satisfied: torch\b|(?m:^Name: torch\s{0,3}$)|(?m:^)\s{0,4}(?:\[\w+\] )?(?:py)?torch(?:==| {2,30})\d+\.\d+"
    r"|PyTorch version: ?\d|Successfully installed [^\n]{0,400}\btorch-\d"
)
_COMPUTES = r"is cuda available: *(?:true|yes)\b|cuda\.is_available\(\)[^\n]{0,20}?[\s:=>]{1,6}true\b"
_BUILDING = (
    "building wheel",
    "requirements to build wheel",
    "get_requires_for_build",
    "build dependencies",
    "setup.py",
    "no-build-isolation",
)


def _no_torch(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A build in isolation never sees the torch of its environment, which is no fault of the interpreter."""
    if setting.says(*_BUILDING):
        return
    if any(True for _ in passages(setting, ("torch",), _INSTALLED)):
        yield sign("wrong-python-env", Weight.CAUSE)
    else:
        yield sign("wrong-python-env", Weight.SYMPTOM, alone="yes")


def _other_torch(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A torch that computes on the GPU does not say that it was built without CUDA: two of them speak here."""
    if any(True for _ in passages(setting, ("available",), _COMPUTES)):
        yield sign("wrong-python-env")


SIGNATURES = (
    Signature(("no module named",), r"No module named '?torch'?(?![\w.])", _no_torch),
    Signature(("not compiled with cuda",), r"Torch not compiled with CUDA enabled", _other_torch),
)
