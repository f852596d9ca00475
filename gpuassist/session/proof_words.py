"""What a verification proves of the GPUs, in a sentence: of which it says nothing as well."""

from __future__ import annotations

from gpuassist.model.fact import Known
from gpuassist.model.text import Text, counted, enumerated, text
from gpuassist.model.verdict import BAD, Cause, DeviceVerdict, Verdict, Verification
from gpuassist.session.checks import check_label
from gpuassist.verify.protocol import RANKS

_NAMED = 6


def verdict_on_accelerators(verification: Verification) -> Text:
    """What the run proves of the GPUs, and what it leaves unproved."""
    ranks = next((device for device in verification.devices if device.name == RANKS), None)
    if ranks is not None and verification.visible:
        if ranks.verdict is Verdict.PASS:
            return text("The ranks exchange data without an error. Each machine by itself verifies what its GPUs compute.")
        return text("The GPUs of these ranks are not verified together.")
    gpus = tuple(device for device in verification.alone if device.device != "cpu")
    if verification.accelerator_verified and any(one.verdict in BAD for one in verification.together):
        return text("Each GPU computed the right results alone; what they did together did not pass.")
    if verification.accelerator_verified:
        return _with_unproved(_with_instances(_verified(verification, gpus), verification), gpus)
    if verification.visible:
        undecided = tuple(device for device in gpus if device.verdict is Verdict.SKIPPED)
        return _with_unproved(_not_verified(verification, gpus), undecided)
    if verification.unverified is not None:
        return text("No GPU was tested: {reason}.", reason=verification.unverified)
    if verification.no_accelerator:
        reason = verification.no_accelerator.partition("\n")[0].partition(": ")[2] or verification.no_accelerator
        return text("No GPU was tested: torch says “{reason}”", reason=reason)
    return text("No GPU was tested.")


def _verified(verification: Verification, gpus: tuple[DeviceVerdict, ...]) -> Text:
    if _late(gpus):
        proved = counted(
            "{gpus} computed the right results in the check that ran.",
            "{gpus} computed the right results in the {count} checks that ran.",
            sum(check.verdict is Verdict.PASS for device in gpus for check in device.checks),
            gpus=_named(gpus),
        )
    elif verification.not_asked:
        proved = text("{gpus} computed the right results.", gpus=_named(gpus))
    else:
        return text("Every GPU that this torch sees computed the right results.")
    return text("{sentence} {rest}", sentence=proved, rest=_left_out(verification)) if verification.not_asked else proved


def _with_instances(sentence: Text, verification: Verification) -> Text:
    """Of a divided GPU what was verified of it: the rest is not proved."""
    for one in verification.instances:
        sentence = text(
            "{sentence} Of GPU {index} that is {verified} of {count} instances (MIG): the others were not tested.",
            sentence=sentence,
            index=one.index,
            verified=one.verified,
            count=one.count,
        )
    return sentence


def _left_out(verification: Verification) -> Text:
    return counted(
        "{gpus} was not asked for.",
        "{gpus} were not asked for.",
        len(verification.not_asked),
        gpus=enumerated(f"GPU {number}" for number in verification.not_asked),
    )


def _not_verified(verification: Verification, gpus: tuple[DeviceVerdict, ...]) -> Text:
    passed, seen = sum(device.verdict is Verdict.PASS for device in gpus), verification.visible
    if seen == 1:
        return text("The GPU that this torch sees is not verified.")
    return counted(
        "{count} of the {seen} GPUs that this torch sees is verified.",
        "{count} of the {seen} GPUs that this torch sees are verified.",
        passed,
        seen=seen,
    )


def _named(gpus: tuple[DeviceVerdict, ...]) -> Text:
    return enumerated(f"GPU {one.index.value}" if isinstance(one.index, Known) else one.device for one in gpus)


def _late(gpus: tuple[DeviceVerdict, ...]) -> tuple[Text, ...]:
    """The checks for which there was no time on one of them."""
    late = (check for device in gpus for check in device.checks if check.cause is Cause.TIME)
    return tuple(dict.fromkeys(text("{check} {format}", check=check_label(one), format=one.dtype) for one in late))


def _with_unproved(sentence: Text, gpus: tuple[DeviceVerdict, ...]) -> Text:
    """What time was lacking for is named: nothing is known of it."""
    late = _late(gpus)
    if not late:
        return sentence
    names = late[0]
    for name in late[1:_NAMED]:
        names = text("{names}, {name}", names=names, name=name)
    if len(late) > _NAMED:
        names = counted("{names} and {count} more", "{names} and {count} more", len(late) - _NAMED, names=names)
    return text(
        "{sentence} Not run for lack of time, and so not proved: {names}; `gpuassist verify --level full` takes the time.",
        sentence=sentence,
        names=names,
    )
