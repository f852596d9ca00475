"""A kept verification in figures: what a report and a card tell of it. Its document may hold anything; verdicts, counts and known
names are taken from it, and no words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct

from gpuassist.model.verdict import BAD, Cause, Verdict
from gpuassist.session.harmless.stand_ins import LEFT_OUT
from gpuassist.session.harmless.strings import HarmlessStrings
from gpuassist.session.verifications import KeptVerification, listed_in, text_in

_MOST = 1000  # checks of a device, devices of a document
_Json = Mapping[str, Any]


class VerificationOutcome(str, Enum):
    """What a verification came to, as loudly as it is to be said."""

    PASSED = "passed"
    FAILED = "failed"
    INCOMPLETE = "incomplete"
    CPU_ONLY = "cpu-only"
    NOTHING = "nothing"


class DeviceFigures(Struct, frozen=True):
    """One device: `name` is empty where it is not known, `late` and `held` are checks that were skipped for lack of time, and
    because others had the GPU or the user ended it. `least` and `best` are what its slowest and its fastest rate reached of what
    the GPU can at most, of so many `rates`; 0.0 where none was judged.
    """

    name: str
    is_cpu: bool
    verdict: Verdict
    passed: int
    bad: int
    skipped: int
    late: int
    held: int
    least: float = 0.0
    best: float = 0.0
    rates: int = 0


class VerificationFigures(Struct, frozen=True):
    """A verification; what is not known is empty. `other_bad` counts what went wrong beside the devices' own checks: between
    devices, with toolkits.
    """

    made_at: str
    level: str
    outcome: VerificationOutcome
    devices: tuple[DeviceFigures, ...]
    driver: str = ""
    torch: str = ""
    cuda: str = ""
    python: str = ""
    other_bad: int = 0


def figures_of(kept: KeptVerification, strings: HarmlessStrings) -> VerificationFigures:
    """Its figures, every string harmless."""
    document = kept.document
    rates = listed_in(document, "rates")[:_MOST]
    devices = tuple(_device(one, rates, strings) for one in listed_in(document, "devices")[:_MOST])
    environment = document.get("environment")
    told: _Json = environment if isinstance(environment, dict) else {}
    version = {name: _version(text_in(told, name), strings) for name in ("torch", "cuda", "python")}
    others = [check for one in listed_in(document, "collectives") for check in listed_in(one, "checks")]
    bad = _bad([*others, *listed_in(document, "toolkits")])
    return VerificationFigures(
        made_at=_known(strings.words(kept.made_at)),
        level=_known(strings.words(kept.level)),
        outcome=_outcome(document, devices, bad),
        devices=devices,
        driver=_version(kept.driver, strings),
        **version,
        other_bad=bad,
    )


def _outcome(document: _Json, devices: tuple[DeviceFigures, ...], other_bad: int) -> VerificationOutcome:
    """A document that calls itself verified is believed only as far as its devices bear it out."""
    if other_bad or any(one.verdict in BAD or one.bad for one in devices):
        return VerificationOutcome.FAILED
    gpus = [one for one in devices if not one.is_cpu]
    if not gpus:
        return VerificationOutcome.CPU_ONLY if any(one.passed for one in devices) else VerificationOutcome.NOTHING
    whole = all(one.verdict is Verdict.PASS and one.passed and not one.late and not one.held for one in gpus)
    if whole and document.get("accelerator_verified") is True:
        return VerificationOutcome.PASSED
    return VerificationOutcome.INCOMPLETE if any(one.passed for one in gpus) else VerificationOutcome.NOTHING


def _device(one: _Json, rates: Iterable[_Json], strings: HarmlessStrings) -> DeviceFigures:
    name = text_in(one, "device")
    checks = listed_in(one, "checks")[:_MOST]
    causes = [text_in(check, "cause") for check in checks]
    shares = [share for rate in rates if text_in(rate, "device") == name and (share := _share(rate)) > 0]
    return DeviceFigures(
        name=_known(strings.product(text_in(one, "name"))),
        is_cpu=name == "cpu",
        verdict=_verdict(one),
        passed=sum(_verdict(check) is Verdict.PASS for check in checks),
        bad=_bad(checks),
        skipped=sum(_verdict(check) is Verdict.SKIPPED for check in checks),
        late=causes.count(Cause.TIME.value),
        held=sum(cause in {Cause.MEMORY.value, Cause.BUSY.value, Cause.CANCELLED.value, Cause.LOST.value} for cause in causes),
        least=min(shares, default=0.0),
        best=max(shares, default=0.0),
        rates=len(shares),
    )


def _bad(checks: Iterable[_Json]) -> int:
    return sum(_verdict(check) in BAD for check in checks)


def _verdict(one: _Json) -> Verdict:
    """What is no verdict is none that anybody could be pleased with."""
    try:
        return Verdict(text_in(one, "verdict"))
    except ValueError:
        return Verdict.ERROR


def _share(rate: _Json) -> float:
    share = rate.get("share")
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not math.isfinite(share):
        return 0.0
    return min(float(share), 10.0)


def _version(words: str, strings: HarmlessStrings) -> str:
    return _known(strings.version(words)) if words else ""


def _known(words: str) -> str:
    return "" if words == LEFT_OUT else words
