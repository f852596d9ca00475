"""A verification told: one sentence a device, the answer of the run in a line, and what it leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from gpuassist.model.fact import NOT_ASKED, Known
from gpuassist.model.text import Text, counted, enumerated, text, verbatim
from gpuassist.model.verdict import BAD, HELD, Cause, Check, DeviceVerdict, Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.present.overview import short_name
from gpuassist.session.checks import check_label
from gpuassist.session.failed_checks import words_of
from gpuassist.session.verify import built_for_gpus
from gpuassist.session.verify_report import VerifyReport
from gpuassist.verify.protocol import NO_TORCH, RANKS, Device

VERDICT_WORDS = {
    Verdict.PASS: text("passed"),
    Verdict.FAIL: text("failed"),
    Verdict.ERROR: text("error"),
    Verdict.SKIPPED: text("skipped"),
    Verdict.HUNG: text("hung"),
}


def device_label(device: DeviceVerdict | Device, among: Iterable[DeviceVerdict] = ()) -> Text:
    """What a device is called: NVML's number and the name, so that two cards of a mixed machine are told apart. Of what several did
    together their numbers, where they are `among` these.
    """
    if device.device == "cpu":
        return text("CPU")
    if device.members:
        return _together(device, among)
    index = device.index if isinstance(device, DeviceVerdict) else NOT_ASKED
    if isinstance(index, Known):
        return text("GPU {index} ({name})", index=index.value, name=device.name)
    return text("{device} ({name})", device=device.device, name=device.name)


def _together(device: DeviceVerdict | Device, among: Iterable[DeviceVerdict]) -> Text:
    count = len(device.members)
    if device.name == RANKS:
        ranks = counted("{count} rank", "{count} ranks", count)
        hosts = len({member.partition(" ")[0] for member in device.members})
        return text("{ranks} on {machines}", ranks=ranks, machines=counted("{count} machine", "{count} machines", hosts))
    if set(device.members) == {"cpu"} and device.name == "group":
        return counted("{count} process on the CPU", "{count} processes on the CPU together", count)
    numbers = {one.device: f"GPU {one.index.value}" for one in among if isinstance(one.index, Known)}
    members = enumerated(numbers.get(member, member) for member in device.members)
    if device.name == "pair":
        return text("copies between {members}", members=members)
    if device.name == "twice":
        return text("two processes at once on {members}", members=members)
    return text("{members} together", members=members)


def device_sentence(device: DeviceVerdict, among: Iterable[DeviceVerdict] = ()) -> Text:
    """What came of a device, in figures; `among` as in `device_label`."""
    label = device_label(device, among)
    counts = {verdict: sum(check.verdict is verdict for check in device.checks) for verdict in Verdict}
    done = len(device.checks) - counts[Verdict.SKIPPED]
    bad = sum(counts[verdict] for verdict in BAD)
    late = sum(check.cause is Cause.TIME for check in device.checks)
    if device.verdict is Verdict.PASS:
        passed = counted("{device}: {count} check passed.", "{device}: all {count} checks passed.", done, device=label)
        if not late:
            return passed
        return text("{sentence} Not run for lack of time: {late}.", sentence=passed, late=late)
    if device.verdict is Verdict.SKIPPED:
        return _undecided(device, label)
    if not bad:  # the whole run broke down between two checks
        return counted("{device}: ended after {count} check.", "{device}: ended after {count} checks.", done, device=label)
    if done == 1:
        return _only_one(next(verdict for verdict in (Verdict.FAIL, Verdict.ERROR, Verdict.HUNG) if counts[verdict]), label)
    told = (
        (Verdict.FAIL, counted("{count} gave a wrong result", "{count} gave wrong results", counts[Verdict.FAIL])),
        (Verdict.ERROR, counted("{count} ended in an error", "{count} ended in errors", counts[Verdict.ERROR])),
        (Verdict.HUNG, counted("{count} hung", "{count} hung", counts[Verdict.HUNG])),
    )
    parts = [words for verdict, words in told if counts[verdict]]
    return text("{device}: of {done} checks {parts}.", device=label, done=done, parts=_after_another(parts))


def _only_one(verdict: Verdict, label: Text) -> Text:
    if verdict is Verdict.FAIL:
        return text("{device}: the one check that ran gave a wrong result.", device=label)
    if verdict is Verdict.ERROR:
        return text("{device}: the one check that was begun ended in an error.", device=label)
    return text("{device}: the one check that was begun hung.", device=label)


def _after_another(parts: Sequence[Text]) -> Text:
    told = parts[0]
    for part in parts[1:]:
        told = text("{first}, {rest}", first=told, rest=part)
    return told


def verification_error(result: Verification) -> Text:
    """Why a run ended before its end, without the kind of exception that torch raised it as."""
    if result.error is not None and ENGLISH(result.error).startswith(NO_TORCH) and not result.image:
        return text(
            "{interpreter} has no torch: choose an environment that has one, or let `gpuassist plan torch` say how to install it",
            interpreter=result.interpreter,
        )
    answer = result.answer_to(ENGLISH(result.error)) if result.error is not None else None
    return verbatim(answer.title) if answer is not None else result.error or verbatim("")


def _undecided(device: DeviceVerdict, label: Text) -> Text:
    held = next((check for check in device.checks if check.cause in HELD and check.error is not None), None)
    if held is not None and held.error is not None:
        return text("{device}: not verified, {reason}.", device=label, reason=held.error)
    passed = sum(check.verdict is Verdict.PASS for check in device.checks)
    late = sum(check.cause is Cause.TIME for check in device.checks)
    if passed and late:
        return counted(
            "{device}: not verified; {count} check passed. Not run for lack of time: {late}.",
            "{device}: not verified; {count} checks passed. Not run for lack of time: {late}.",
            passed,
            device=label,
            late=late,
        )
    if passed:
        return counted(
            "{device}: cancelled; {count} check had passed.",
            "{device}: cancelled; {count} checks had passed.",
            passed,
            device=label,
        )
    return text("{device}: not verified.", device=label)


# The answer of a run in a line, and what it leaves open.


def headline(result: Verification, planned: int) -> tuple[Mark, Text]:
    """What a run of so many planned checks came to."""
    bad = result.verdict in BAD or any(device.verdict in BAD for device in result.devices)
    mark = Mark.PROBLEM if bad else Mark.RIGHT if result.accelerator_verified else Mark.UNKNOWN
    if result.cancelled:
        done = sum(check.cause not in _NOT_DONE for device in result.devices for check in device.checks)
        if not planned:
            return mark, text("Cancelled before the first check")
        stopped = counted(
            "Cancelled: {done} of {count} check was done", "Cancelled: {done} of {count} checks were done", planned, done=done
        )
        return mark, stopped
    if bad:
        return mark, _failure(result)
    if result.verdict is Verdict.PASS:
        gpus = sum(device.device != "cpu" for device in result.alone)
        checks = [check for device in result.devices for check in device.checks]
        if result.accelerator_verified and any(check.cause is Cause.TIME for check in checks):
            passed = sum(check.verdict is Verdict.PASS for check in checks)
            return mark, text("All checks that ran passed: {passed} of {count}", passed=passed, count=planned)
        if result.accelerator_verified:
            return mark, counted("All checks passed on the GPU", "All checks passed on {count} GPUs", gpus)
        if not gpus:
            return mark, text("The CPU passed; no GPU was tested")
        passed = sum(device.device != "cpu" and device.verdict is Verdict.PASS for device in result.alone)
        return mark, text("{passed} of {count} GPUs verified", passed=passed, count=max(passed, result.visible))
    if result.unverified is not None:
        return mark, text("No GPU was tested")
    if not result.devices:
        return mark, text("Nothing was verified")
    held = next((check.error for device in result.devices for check in device.checks if check.cause in HELD), None)
    if held is not None:
        return mark, text("Not verified: {reason}", reason=held)
    checks = [check for device in result.devices for check in device.checks]
    if any(check.cause is Cause.TIME for check in checks):
        done = sum(check.cause not in _NOT_DONE for check in checks)
        return mark, text("Not verified: the time ran out after {done} of {count} checks", done=done, count=planned)
    return mark, text("Not verified")


def report_headline(report: VerifyReport, planned: int) -> tuple[Mark, Text]:
    """The same of everything: a toolkit that computes wrong is no pass, whatever torch came to."""
    mark, title = headline(report.verification, planned)
    if mark is Mark.PROBLEM or report.verdict not in BAD:
        return mark, title
    bad = sum(one.verdict in BAD for one in report.toolkits)
    return Mark.PROBLEM, counted("{count} check of the toolkits failed", "{count} checks of the toolkits failed", bad)


_NOT_DONE = frozenset({Cause.CANCELLED, Cause.TIME, Cause.LOST})


def _failure(result: Verification) -> Text:
    """What went wrong, worst first: the cause where there is one that is known."""
    found = [(device, check) for device in result.devices for check in device.checks]
    hung = next((one for one in found if one[1].verdict is Verdict.HUNG), None)
    wrong = sum(check.verdict is Verdict.FAIL for _, check in found)
    if wrong:
        return counted("{count} check gave a wrong result", "{count} checks gave wrong results", wrong)
    if hung is not None:
        device, check = hung
        label = device_label(replace(device, name=short_name(device.name)), result.devices)
        name = text("{check} ({format})", check=check_label(check), format=check.dtype)
        return text("{name} hung on {device}: {reason}", name=name, device=label, reason=check.error or verbatim(""))
    if len({one.answer.id for one in result.explained}) == 1:
        return verbatim(result.explained[0].answer.title)
    errors = sum(check.verdict is Verdict.ERROR for _, check in found)
    if errors:
        return counted("{count} check ended in an error", "{count} checks ended in errors", errors)
    return text("torch gave no answer") if result.verdict is Verdict.HUNG else text("The run failed")


def left_open(result: Verification) -> tuple[Text, ...]:
    """What a run did not look at, and why."""
    checks = [check for device in result.devices for check in device.checks if check.verdict is Verdict.SKIPPED]
    told = []
    for cause, words in _LEFT_OPEN.items():
        names = dict.fromkeys(_named(check, cause) for check in checks if check.cause is cause)
        if names:
            some, more = [*names][:_NAMED], len(names) - _NAMED
            if more > 0:
                some.append(counted("and {count} more", "and {count} more", more))
            told.append(text("{why}: {names}.", why=words, names=_after_another(some)))
    return tuple(told)


_LEFT_OPEN = {
    Cause.TIME: text("Not run for lack of time"),
    Cause.FORMAT: text("Not tested, since this GPU or this torch lacks the format"),
    Cause.ABSENT: text("Not tested, since it is not installed"),
    Cause.MEMORY: text("Not tested, since too little memory was free"),
    Cause.BUSY: text("Not tested, since another program is using the GPU"),
    Cause.LOST: text("Not run after an earlier failure"),
}
_NAMED = 6  # the table has them all


def _named(check: Check, cause: Cause) -> Text:
    if cause is Cause.ABSENT:
        return check_label(check)
    return text("{check} {format}", check=check_label(check), format=check.dtype)


# What went wrong in a verification as a text to explain: what torch and CUDA said, in their own words.


def errors_to_explain(result: Verification) -> str:
    """A line an error, each once, then what torch printed; empty where nothing failed."""
    if result.verdict not in BAD and not (result.no_accelerator and built_for_gpus(result)):
        return ""
    lines = dict.fromkeys(line for line in _errors(result) if line)
    return "\n".join([*lines, result.output.strip()]).strip()


def _errors(result: Verification) -> Iterator[str]:
    yield ENGLISH(result.error) if result.error is not None else ""
    yield result.no_accelerator
    for device in result.devices:
        yield ENGLISH(device.error) if device.error is not None and device.verdict in BAD else ""
        for check in device.checks:
            if check.verdict in BAD:
                yield words_of(check)


# The figures of a check in words: how far off it was beside how far off it may be, and how fast it ran.
_SMALLER = {"T": "G", "G": "M", "M": "k"}
_LARGER = {"T": "P", "G": "T", "M": "G"}


def measured(check: Check) -> Text | None:
    """`3.1e-07 / 4.2e-06`; `exact` where nothing else is allowed and nothing else came; None where either is not known."""
    error, bound = check.max_abs_error, check.tolerance
    if isinstance(error, Known) and isinstance(bound, Known):
        if not error.value and not bound.value:
            return text("exact")
        return text("{error} / {bound}", error=f"{error.value:.2g}", bound=f"{bound.value:.2g}")
    return None


def rate_words(check: Check) -> str:
    """`58.2 TFLOP/s`, in a prefix that needs no leading zeros; empty where it was not measured."""
    if not isinstance(check.rate, Known) or check.verdict is not Verdict.PASS:
        return ""
    rate, unit = check.rate.value, check.rate_unit
    while 0 < rate < 0.1 and unit[:1] in _SMALLER:
        rate, unit = rate * 1000, _SMALLER[unit[0]] + unit[1:]
    if rate >= 1000 and unit[:1] in _LARGER:
        rate, unit = rate / 1000, _LARGER[unit[0]] + unit[1:]
    return f"{rate:.3g} {unit}" if rate < 1000 else f"{rate:.0f} {unit}"
