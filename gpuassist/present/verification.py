"""A verification told: one sentence a device, and the one JSON document that the command line prints and the window saves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuassist.model.codec import Json
from gpuassist.model.fact import Fact, Known
from gpuassist.model.text import Text, counted, text
from gpuassist.model.verdict import Check, DeviceVerdict, Verdict, Verification
from gpuassist.model.words import ENGLISH, Words
from gpuassist.session.verify import verdict_on_accelerators

VERDICT_WORDS = {
    Verdict.PASS: text("right"),
    Verdict.FAIL: text("wrong"),
    Verdict.SKIPPED: text("skipped"),
    Verdict.HUNG: text("hung"),
}

SCHEMA = 1


def device_sentence(device: DeviceVerdict) -> Text:
    """What came of a device, in figures."""
    wrong = sum(check.verdict in (Verdict.FAIL, Verdict.HUNG) for check in device.checks)
    done = sum(check.verdict is not Verdict.SKIPPED for check in device.checks)
    if device.verdict is Verdict.FAIL and not wrong:  # torch broke down between two checks
        return counted("{device}: ended after {count} check.", "{device}: ended after {count} checks.", done, device=device.device)
    sentences = {
        Verdict.PASS: counted(
            "{device}: {count} check, and it is right.", "{device}: {count} checks, all right.", done, device=device.device
        ),
        Verdict.FAIL: text("{device}: {wrong} of {done} checks failed.", device=device.device, wrong=wrong, done=done),
        Verdict.HUNG: text("{device}: a check hung.", device=device.device),
        Verdict.SKIPPED: text("{device}: not verified.", device=device.device),
    }
    return sentences[device.verdict]


def verification_document(results: Sequence[Verification], words: Words) -> dict[str, Json]:
    """The document that `verify --json` prints."""
    # With several environments `environment` is the first, `environments` are all, and each device says whose it is.
    environments: list[Json] = [_environment(result, words) for result in results]
    devices: list[Json] = [
        {
            "device": device.device,
            "name": device.name,
            "interpreter": result.interpreter,
            "verdict": device.verdict.value,
            "error": words(device.error) if device.error is not None else None,
            "checks": [
                {
                    "name": check.name,
                    "dtype": check.dtype,
                    "verdict": check.verdict.value,
                    "error": words(check.error) if check.error is not None else None,
                    **_number("max_abs_error", check.max_abs_error, words),
                    **_number("tolerance", check.tolerance, words),
                    **_number("seconds", check.seconds, words),
                    **_number("rate", check.rate, words),
                    "rate_unit": check.rate_unit or None,
                }
                for check in device.checks
            ],
        }
        for result in results
        for device in result.devices
    ]
    return {
        "schema": SCHEMA,
        "accelerator_verified": bool(results) and all(result.accelerator_verified for result in results),
        "environment": environments[0] if environments else {"reason": words(_NO_ENVIRONMENT)},
        "environments": environments,
        "devices": devices,
    }


_NO_ENVIRONMENT = text("no Python environment with torch was found")


def _environment(result: Verification, words: Words) -> Json:
    about: dict[str, Json] = {"interpreter": result.interpreter, **dict(result.environment)}
    about["accelerators"] = result.visible
    about["no_accelerator"] = result.no_accelerator or None
    about["error"] = words(result.error) if result.error is not None else None
    about["summary"] = words(verdict_on_accelerators(result))
    return about


def _number(name: str, fact: Fact[float], words: Words) -> dict[str, Json]:
    if isinstance(fact, Known):
        return {name: fact.value}
    return {name: None, f"{name}_reason": words(fact.reason)}


# What went wrong in a verification as a text to explain: what torch and CUDA said, in their own words.
_WRONG = frozenset({Verdict.FAIL, Verdict.HUNG})


def errors_to_explain(result: Verification) -> str:
    """A line an error, each once, then what torch printed; empty where nothing failed."""
    if result.verdict not in _WRONG and not result.no_accelerator:
        return ""
    lines = dict.fromkeys(line for line in _errors(result) if line)
    return "\n".join([*lines, result.output.strip()]).strip()


def _errors(result: Verification) -> Iterator[str]:
    yield ENGLISH(result.error) if result.error is not None else ""
    yield result.no_accelerator
    for device in result.devices:
        yield ENGLISH(device.error) if device.error is not None and device.verdict in _WRONG else ""
        for check in device.checks:
            if check.verdict in _WRONG and check.error is not None:
                yield ENGLISH(check.error)


# The figures of a check in words: how far off it was beside how far off it may be, and how fast it ran.
_SMALLER = {"T": "G", "G": "M", "M": "k"}


def measured(check: Check) -> Text | None:
    """`3.1e-07 of 4.2e-06`; None where either is not known."""
    error, bound = check.max_abs_error, check.tolerance
    if isinstance(error, Known) and isinstance(bound, Known):
        return text("{error} of {bound}", error=f"{error.value:.2g}", bound=f"{bound.value:.2g}")
    return None


def rate_words(check: Check) -> str:
    """`58.2 TFLOP/s`, in a prefix that needs no leading zeros; empty where it was not measured."""
    if not isinstance(check.rate, Known):
        return ""
    rate, unit = check.rate.value, check.rate_unit
    while 0 < rate < 0.1 and unit[:1] in _SMALLER:
        rate, unit = rate * 1000, _SMALLER[unit[0]] + unit[1:]
    return f"{rate:.3g} {unit}"
