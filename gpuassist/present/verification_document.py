"""The one JSON document of a verification, which the command line prints and the window saves."""

from __future__ import annotations

from collections.abc import Sequence

from gpuassist.model.codec import Json
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.model.verdict import Check, DeviceVerdict, Verdict, Verification
from gpuassist.model.words import Words
from gpuassist.present.answer_document import finding_document, remedies_document
from gpuassist.present.toolkit_checks import toolkits_document
from gpuassist.present.verification import verification_error
from gpuassist.session.failed_checks import words_of
from gpuassist.session.proof_words import verdict_on_accelerators
from gpuassist.session.verify_report import RateSeen, VerifyReport

SCHEMA = 1


def verification_document(reports: Sequence[VerifyReport], words: Words) -> dict[str, Json]:
    """The document that `verify --json` prints."""
    results = [report.verification for report in reports]
    # With several environments `environment` is the first, `environments` are all, and each device says whose it is.
    environments: list[Json] = [_environment(report, words) for report in reports]
    devices: list[Json] = [_device(result, device, words) for result in results for device in result.alone]
    return {
        "schema": SCHEMA,
        "accelerator_verified": bool(results) and all(result.accelerator_verified for result in results),
        "environment": environments[0] if environments else {"reason": words(_NO_ENVIRONMENT)},
        "environments": environments,
        "devices": devices,
        "libraries": [
            {"name": one.name, "path": one.path, "version": one.version or None, "why": words(one.why)}
            for result in results
            for one in result.libraries
        ],
        "toolkits": [one for report in reports for one in toolkits_document(report.toolkits, words)],
        "collectives": [
            {"ranks": list(one.members), "name": one.name, "checks": [_check(result, check, words) for check in one.checks]}
            for result in results
            for one in result.together
        ],
        "rates": [_rate(one, words) for report in reports for one in report.rates],
        "library_findings": [
            words(one)
            for report in reports
            for one in (*(fault.text for fault in report.verification.library_faults), *report.without_variables)
        ],
    }


def _rate(seen: RateSeen, words: Words) -> Json:
    found = seen.expectation
    return {
        "device": seen.device.device,
        "check": seen.check.name,
        "dtype": seen.check.dtype,
        "rate": found.measured.rate,
        **_number("share", found.share, words),
        "held_back": found.held_back,
        "words": words(found.words),
    }


def _device(result: Verification, device: DeviceVerdict, words: Words) -> Json:
    return {
        "device": device.device,
        "uuid": device.uuid or None,
        "pci": device.pci or None,
        **_number("index", device.index, words),
        "name": device.name,
        "capability": device.capability or None,
        "interpreter": result.interpreter,
        "verdict": device.verdict.value,
        "error": words(device.error) if device.error is not None else None,
        "checks": [_check(result, check, words) for check in device.checks],
    }


def _check(result: Verification, check: Check, words: Words) -> Json:
    answer = result.answer_to(words_of(check)) if check.verdict is not Verdict.PASS else None
    error = None if check.error is None else words(check.error)
    return {
        "name": check.name,
        "dtype": check.dtype,
        "verdict": check.verdict.value,
        "error": error,
        "reason": (answer.title if answer is not None else error) if check.verdict not in (Verdict.PASS, Verdict.FAIL) else None,
        "cause": check.cause.value if check.cause is not None else None,
        "said": check.said or None,
        "remedies": remedies_document(answer, words) if answer is not None else [],
        **_number("max_abs_error", check.max_abs_error, words),
        **_number("tolerance", check.tolerance, words),
        **_number("seconds", check.seconds, words),
        **_number("rate", check.rate, words),
        "rate_unit": check.rate_unit or None,
        **_number("compared", check.compared, words),
        "notes": dict(check.notes),
    }


_NO_ENVIRONMENT = text("no Python environment with torch was found")


def _environment(report: VerifyReport, words: Words) -> Json:
    result, count = report.verification, report.count
    known, why_not = dict(result.environment), text("this torch is built without it")
    about: dict[str, Json] = {"interpreter": result.interpreter, **known}
    for name in ("python", "torch", "cuda", "cudnn"):
        reason = verification_error(result) if result.error is not None else why_not
        about |= _number(name, Known(known[name], "verify") if known.get(name) else Unknown(reason), words)
    about |= {"image": result.image or None, "accelerators": result.visible}
    numbers = {"gpus_listed": count.listed, "gpus_expected": count.expected, "load_per_core": report.load_per_core}
    for name, fact in numbers.items():
        about |= _number(name, fact, words)
    about |= {"visible_devices": count.variable, "no_accelerator": result.no_accelerator or None}
    about["error"] = words(result.error) if result.error is not None else None
    about["summary"] = words(verdict_on_accelerators(result))
    about["findings"] = [finding_document(answer, words) for answer in dict.fromkeys(one.answer for one in result.explained)]
    about["notes"] = [words(note) for note in result.notes]
    return about


def _number(name: str, fact: Fact[float] | Fact[int] | Fact[str], words: Words) -> dict[str, Json]:
    if isinstance(fact, Known):
        return {name: fact.value}
    return {name: None, f"{name}_reason": words(fact.reason)}
