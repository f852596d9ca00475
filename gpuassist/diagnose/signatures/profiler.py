"""What profilers say that may not read the GPU's counters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import in_container
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, sign


def _refused(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    yield sign("profiler-counter-permission", container="yes" if in_container(setting) else "")


SIGNATURES = (
    Signature(
        ("err_nvgpuctrperm", "insufficient_privileges", "gpu performance counters", "permission to profile on the target"),
        r"(?:ERR_NVGPUCTRPERM|CUPTI_ERROR_(?:VIRTUALIZED_DEVICE_)?INSUFFICIENT_PRIVILEGES"
        r"|does not have permission to (?:access NVIDIA GPU Performance Counters|profile on the target device))",
        _refused,
    ),
)
