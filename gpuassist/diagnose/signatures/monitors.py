"""What gpustat and nvtop say when they reach no GPU: the reason that NVML gives, or none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import in_container, in_wsl
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, sign
from gpuassist.model.paste import Weight

# NVML's own words for its codes (nvml.h), and those of nvidia-ml-py.
_REASONS = {
    "driver not loaded": ("driver-not-loaded", Weight.CAUSE),
    "driver/library version mismatch": ("driver-library-mismatch", Weight.CAUSE),
    "gpu is lost": ("xid-79-gpu-fell-off-bus", Weight.CAUSE),
    "insufficient permissions": ("device-permissions", Weight.CAUSE),
    "insufficient user permission": ("device-permissions", Weight.CAUSE),
    "nvml shared library not found": ("no-driver", Weight.STATE),
    "could not load nvml library": ("no-driver", Weight.STATE),
    "unknown error": ("cuda-init-failed-driver-state", Weight.STATE),
}


def _refused(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The reason stands on the same line, or on the next one."""
    said = match[0].lower()
    problem, weight = next((told for words, told in _REASONS.items() if words in said), ("", Weight.STATE))
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    elif in_container(setting) and problem in {"", "no-driver", "driver-not-loaded"}:
        yield sign("container-no-gpu-flag", Weight.STATE)
    elif in_container(setting) and problem == "cuda-init-failed-driver-state":
        yield sign("container-lost-gpu-after-daemon-reload", Weight.STATE)
    elif problem:
        yield sign(problem, weight)
    elif not setting.case.running:
        yield sign("driver-not-loaded", Weight.STATE)
        yield sign("no-driver", Weight.STATE)


SIGNATURES = (
    Signature(
        ("on querying nvidia devices", "to initialize nvidia nvml"),
        r"(?:Error on querying NVIDIA devices\b[^\n]{0,80}\n?|Impossible to initialize nvidia nvml ?: ?)"
        r"(?:[ \t>]{0,8}(?:NVMLError\w{0,30}: )?"
        r"(?:Driver Not Loaded|Driver/library version mismatch|GPU is lost|Insufficient Permissions"
        r"|Insufficient User Permission|NVML Shared Library Not Found|could not load NVML library|Unknown Error)\b)?",
        _refused,
        window=300,
    ),
    Signature(
        ("no gpu to monitor.",),
        r"(?m:^)[ \t>]{0,8}No GPU to monitor\.[ \t]*(?m:$)",
        _refused,
        window=60,
    ),
)
