"""Which GPUs earlier verifications have proved, with the driver and the torch that are there now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpuassist.model.verdict import Cause, Verdict
from gpuassist.session.setup_values import SetupProof
from gpuassist.session.verifications import KeptVerification, listed_in, text_in

_CUT_SHORT = frozenset({Cause.TIME.value, Cause.MEMORY.value, Cause.BUSY.value, Cause.CANCELLED.value, Cause.LOST.value})


def proof_of(kept: Iterable[KeptVerification], driver: str, torch: str, prefix: str = "") -> SetupProof:
    """Of each GPU the newest word counts, and what was cut short says none. A run in an image says nothing of this machine's torch,
    and one elsewhere nothing of the environment that somebody set up, at `prefix`.
    """
    verdicts: dict[str, bool] = {}
    cut: set[str] = set()
    made_at, earlier = "", None
    for one in kept:
        interpreters = _interpreters(one.document, torch)
        if one.driver != driver or not driver or not interpreters:
            earlier = earlier or (one if _gpus(one.document) else None)
            continue
        for device in _gpus(one.document):
            interpreter = text_in(device, "interpreter")
            if interpreter not in interpreters or not interpreter.startswith(f"{prefix}/" if prefix else ""):
                continue
            made_at = made_at or one.made_at
            name, well = text_in(device, "uuid") or text_in(device, "device"), _passed(device)
            if well is not None:
                verdicts.setdefault(name, well)
            elif name not in verdicts:
                cut.add(name)
    passed = frozenset(name for name, well in verdicts.items() if well)
    return SetupProof(
        passed,
        frozenset(verdicts) - passed,
        frozenset(cut) - frozenset(verdicts),
        len(passed),
        made_at,
        earlier.made_at if earlier else "",
        earlier.driver if earlier else "",
        _torch(earlier.document) if earlier else "",
    )


def _interpreters(document: Mapping[str, Any], torch: str) -> set[str]:
    """Those of the environments that had this torch."""
    every = listed_in(document, "environments")
    return {text_in(one, "interpreter") for one in every if torch and text_in(one, "torch") == torch and not text_in(one, "image")}


def _torch(document: Mapping[str, Any]) -> str:
    return next((text_in(one, "torch") for one in listed_in(document, "environments")), "")


def _gpus(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for one in listed_in(document, "devices") if text_in(one, "device") != "cpu"]


def _passed(device: Mapping[str, Any]) -> bool | None:
    """Whether it did all that it was asked to, and that was something; None where nothing came out wrong and it did not."""
    checks = listed_in(device, "checks")
    whole = not any(text_in(one, "cause") in _CUT_SHORT for one in checks)
    done = any(text_in(one, "verdict") == Verdict.PASS.value for one in checks)
    if text_in(device, "verdict") not in {Verdict.PASS.value, Verdict.SKIPPED.value}:
        return False
    return True if text_in(device, "verdict") == Verdict.PASS.value and whole and done else None
