"""What a list of loaded kernel modules shows: nouveau where NVIDIA's own should be."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import in_wsl
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, sign
from gpuassist.model.fact import Known
from gpuassist.model.paste import Weight

_FAILS = ("communicate with the nvidia driver", "no cuda-capable device", "found no nvidia driver", "driver not loaded")


def _nouveau(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """NVIDIA's module beside it is at work, whatever nouveau drives; without it, nouveau has the card."""
    if setting.case.loaded or in_wsl(setting):
        return
    missing = isinstance(setting.case.machine.driver.loaded, Known) or setting.says(*_FAILS)
    yield sign("nouveau-active", Weight.CAUSE if missing else Weight.SYMPTOM)


SIGNATURES = (
    Signature(
        ("nouveau",),
        r"(?m:^)[ \t>]{0,8}nouveau[ \t]{1,40}\d{5,9}[ \t]{1,20}\d{1,4}\b[^\n]{0,80}",
        _nouveau,
        window=120,
    ),
)
