"""What a child that works well says, piece by piece."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

IMPORTED: dict[str, Any] = {"type": "imported", "seconds": 1.4}
START: dict[str, Any] = {
    "type": "start",
    "python": "3.11.7",
    "torch": "2.5.1+cu124",
    "cuda": "12.4",
    "hip": "",
    "cudnn": "9.1.0",
    "accelerators": 1,
    "no_accelerator": "",
    "devices": [{"device": "cuda:0", "name": "NVIDIA GeForce RTX 4090", "checks": [{"name": "matmul", "dtype": "fp32"}]}],
}
BEGIN: dict[str, Any] = {"type": "check-begin", "device": "cuda:0", "name": "matmul", "dtype": "fp32"}
PASS: dict[str, Any] = {
    "type": "check",
    "device": "cuda:0",
    "name": "matmul",
    "dtype": "fp32",
    "seconds": 0.5,
    "verdict": "pass",
    "error": "",
    "max_abs_error": 1e-6,
    "tolerance": 1e-5,
    "rate": 58.2,
    "rate_unit": "TFLOP/s",
}
FAIL: dict[str, Any] = {**PASS, "verdict": "fail", "error": "RuntimeError: no kernel image is available"}
SKIP: dict[str, Any] = {
    **{name: PASS[name] for name in ("type", "device", "name", "dtype", "seconds")},
    "verdict": "skipped",
    "error": "no bf16",
    "cause": "format",
}
DONE: dict[str, Any] = {"type": "device-end", "device": "cuda:0"}
END: dict[str, Any] = {"type": "end"}
REFUSAL: dict[str, Any] = {
    "type": "error",
    "stage": "import",
    "python": "3.11.7",
    "error": "ModuleNotFoundError: No module named 'torch'",
}


def on(*devices: str, checks: Sequence[str] = ("fp32",)) -> dict[str, Any]:
    """A start with these devices, each of which goes through matrix products in these formats."""
    planned = [{"name": "matmul", "dtype": kind} for kind in checks]
    gpus = sum(device != "cpu" for device in devices)
    return {**START, "accelerators": gpus, "devices": [{"device": one, "name": one, "checks": planned} for one in devices]}


def line(document: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps({**document, **changes}).encode()


def without(document: dict[str, Any], name: str) -> bytes:
    return json.dumps({key: value for key, value in document.items() if key != name}).encode()
