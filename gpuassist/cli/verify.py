"""`gpuassist verify`: tensor operations in an environment's own torch, line by line as they are done, or as one JSON document."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.streams import RED, YELLOW, Painted, flush, give_up
from gpuassist.cli.verify_lines import Live, Names, Silent
from gpuassist.knowledge.families import Family
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.finding import Answer
from gpuassist.model.text import Text, counted, text
from gpuassist.model.verdict import BAD, Verification
from gpuassist.model.words import ENGLISH, Words
from gpuassist.present.commands import command_lines
from gpuassist.present.device_names import DeviceNames
from gpuassist.present.marks import GLYPHS, Exit, Mark, exit_of, worst
from gpuassist.present.toolkit_checks import toolkit_line
from gpuassist.present.verification import (
    device_label,
    device_sentence,
    rate_words,
    verification_error,
)
from gpuassist.present.verification_document import verification_document
from gpuassist.session.checks import check_label
from gpuassist.session.holders import look
from gpuassist.session.launchers import ENV, LAUNCHERS, TORCHRUN, LauncherError, place_here
from gpuassist.session.proof_words import verdict_on_accelerators
from gpuassist.session.verification_differences import Difference
from gpuassist.session.verify import (
    NoSuchDeviceError,
    VerifyRequest,
    choose,
    find_environments,
    image_request,
    interpreter_at,
    meant,
    variables_of,
)
from gpuassist.session.verify_report import RateSeen, VerifyReport, keep_machine, remember, verify_whole
from gpuassist.system.interrupts import counted_interrupts
from gpuassist.verify.containers import NoPlaceError
from gpuassist.verify.runner import Cancelled, Level

NAME = "verify"
HELP = text("run tensor operations in an environment's own torch and check their results")

_DIFFERENCES_SHOWN = 12


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument(
        "--python",
        metavar="PATH",
        action="append",
        default=[],
        help=words(text("an interpreter, or the directory of an environment; may be given several times")),
    )
    parser.add_argument(
        "--in",
        dest="places",
        metavar="docker:IMAGE|podman:IMAGE|apptainer:FILE|container:NAME",
        action="append",
        default=[],
        help=words(text("an image that is on this computer, or a container that runs; may be given several times")),
    )
    parser.add_argument(
        "--launcher",
        action=_LauncherAction,
        choices=LAUNCHERS,
        nargs=argparse.PARSER,
        metavar="torchrun|env",
        help=words(
            text(
                "what the GPUs of one or more machines do together: torchrun starts the ranks, and takes its own options behind it "
                "(--nnodes 2 --rdzv-endpoint HOST:PORT); env: torchrun, srun or Kubernetes has started this process as one of them"
            )
        ),
    )
    parser.set_defaults(torchrun_options=[])
    parser.add_argument(
        "--device",
        metavar="N|UUID|cpu",
        action="append",
        default=[],
        help=words(text("a GPU by its number or UUID, or the cpu; may be given several times (every GPU unless given)")),
    )
    parser.add_argument(
        "--level",
        choices=[level.value for level in Level],
        default="quick",
        help=words(text("seconds, or minutes and more checks")),
    )
    parser.add_argument("--json", action="store_true", help=words(text("as one JSON document")))


class _LauncherAction(argparse.Action):
    """The launcher, and behind it its own options: those that are none of this command's."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, _: str | None = None) -> None:
        launcher, *words = values
        _, further = parser.parse_known_args(words, namespace)
        if further and launcher != TORCHRUN:
            parser.error(f"unrecognized arguments: {' '.join(further)}")
        namespace.launcher, namespace.torchrun_options = launcher, further


def run(options: argparse.Namespace, context: Context) -> Exit:
    """A run whose reader goes away is cut off, and proves nothing."""
    try:
        status = _run(options, context)
        flush(context.terminal.out)
    except BrokenPipeError:
        give_up()
        return Exit.UNREAD
    return status


def _run(options: argparse.Namespace, context: Context) -> Exit:
    if context.machine_file:
        raise UsageError(text("a recorded machine cannot compute anything: leave --machine out"))
    for wish in options.device:
        if not (wish == "cpu" or wish.isdecimal() or wish.startswith(("GPU-", "MIG-"))):
            raise UsageError(text("{wish} is no device: give its number, its UUID (GPU-...), or cpu", wish=wish))
    devices = tuple(options.device) or ("all",)
    level = Level(options.level)
    if options.launcher:
        return _run_ranks(options, context, devices, level)
    places = [_place(words) for words in options.places]
    interpreters = [_given(context, path) for path in options.python] or ([] if places else _found(context))
    wishes = [*map(VerifyRequest, interpreters), *places]
    machine = look(context.session)
    gpus = value_or(machine.gpus, ())
    try:
        asked = meant(devices, gpus)
    except NoSuchDeviceError as error:
        raise UsageError(error.reason) from None
    variables = variables_of(context.session, VerifyRequest(""))
    names = partial(DeviceNames, gpus=gpus, asked=asked, variables=variables)
    reports = [_verify(context, replace(wish, devices=devices, level=level), names, quiet=options.json) for wish in wishes]
    document = verification_document(reports, context.session.words if options.lang else ENGLISH)
    told = remember(context.session, document, machine, level) if reports and not _cancelled(reports) else ()
    if options.json:
        context.document({**document, "differences": [context.session.words(one.words) for one in told]})
    else:
        _say_differences(context, told)
    if _cancelled(reports):
        return Exit.INTERRUPTED
    flush(context.terminal.out)
    try:
        keep_machine(context.session, reports)
    except KeyboardInterrupt:  # the answer is out already, and stands
        pass
    return worst(exit_of(report.verdict) for report in reports) if reports else Exit.UNDETERMINED


def _run_ranks(options: argparse.Namespace, context: Context, devices: tuple[str, ...], level: Level) -> Exit:
    """What ranks do together. Where this process is one of them, the first one tells it, and all exit with its status."""
    interpreters = [_given(context, path) for path in options.python] or _found(context)
    if options.places or len(interpreters) > 1:
        raise UsageError(text("--launcher verifies in one environment of this machine: give --python once, and no --in"))
    if devices not in (("all",), ("cpu",)):
        raise UsageError(text("--launcher gives each rank its own GPU: --device can only be cpu"))
    if not interpreters:
        return Exit.UNDETERMINED
    request = VerifyRequest(interpreters[0], devices, level, launcher=(options.launcher, *options.torchrun_options))
    names = partial(DeviceNames, gpus=(), asked=devices, variables={})  # the ranks' GPUs may be other machines'
    try:
        rank = place_here(variables_of(context.session, request)).rank if options.launcher == ENV else 0
        # A launcher that ends its ranks has lost one of them: the others say so within that time.
        with counted_interrupts(_SAY_SECONDS if options.launcher == ENV else 0.0) as cancelled:
            report = _verify_until(cancelled, context, request, names, quiet=options.json or rank > 0)
    except LauncherError as error:
        raise UsageError(error.reason) from None
    if options.json and not rank:
        document = verification_document([report], context.session.words if options.lang else ENGLISH)
        context.document({**document, "differences": []})
    for words in _of_rank(report.verification, rank) if rank or options.json else ():
        context.note(words)
    if report.verification.cancelled and options.launcher == ENV and cancelled.terminated:
        context.note(text("the launcher has ended this rank, as it does when another one ends: its own output says which"))
        return Exit.PROBLEMS
    return Exit.INTERRUPTED if report.verification.cancelled else exit_of(report.verdict)


_SAY_SECONDS = 8.0


def _of_rank(result: Verification, rank: int) -> Iterator[Text]:
    """What this rank alone can say: how it ended itself, or that the first one is lost, which else tells everything."""
    if result.error is not None:
        told, about = ENGLISH(result.error), f"rank {rank} of "
        if not rank or told.startswith((about, "rank 0 of ")):
            yield result.error
        elif not told.startswith("rank"):
            yield text("rank {rank}: {reason}", rank=rank, reason=result.error)
    for device in result.together:
        for check in device.checks:
            if check.verdict in BAD and check.error is not None and ENGLISH(check.error).startswith("rank 0 of "):
                yield check.error


def _cancelled(reports: Sequence[VerifyReport]) -> bool:
    return any(report.verification.cancelled for report in reports)


def _say_differences(context: Context, told: Sequence[Difference]) -> None:
    if told:
        context.say()
        context.say(text("Since earlier verifications of this machine:"))
    for one in told[:_DIFFERENCES_SHOWN]:
        context.say(text("  {difference}", difference=one.words))
    left = len(told) - _DIFFERENCES_SHOWN
    if left > 0:
        context.say(counted("  and {count} more; --json lists them all", "  and {count} more; --json lists them all", left))


def _given(context: Context, path: str) -> str:
    interpreter = interpreter_at(context.session.world, path)
    if isinstance(interpreter, Unknown):
        raise UsageError(interpreter.reason)
    return interpreter.value


def _place(words: str) -> VerifyRequest:
    try:
        return image_request(words)
    except NoPlaceError as error:
        raise UsageError(error.reason) from None


def _found(context: Context) -> list[str]:
    chosen = choose(find_environments(context.session))
    if isinstance(chosen, Unknown):
        context.note(chosen.reason)
        return []
    interpreter = chosen.value.interpreter
    return [interpreter.value] if isinstance(interpreter, Known) else []


def _verify(context: Context, request: VerifyRequest, names: Names, *, quiet: bool) -> VerifyReport:
    with counted_interrupts() as cancelled:
        report = _verify_until(cancelled, context, request, names, quiet=quiet)
    if quiet and report.verification.error is not None:
        context.note(report.verification.error)
    return report


def _verify_until(cancelled: Cancelled, context: Context, request: VerifyRequest, names: Names, *, quiet: bool) -> VerifyReport:
    show = (Silent if quiet else Live)(context, names, request.level)
    if not quiet:
        context.say(text("Verifying in {interpreter}", interpreter=request.interpreter))
    context.passing(text("importing torch…"))
    report = verify_whole(context.session, request, on_event=show.take, cancelled=cancelled, on_toolkit=show.take_toolkit)
    context.passing()
    show.end()
    result = report.verification
    if quiet:
        return report
    context.say()
    _say_result(context, result)
    for words in report.without_variables:
        context.say(words)
    for rate in report.rates:
        _say_rate(context, rate, several=len(result.alone) > 1)
    for check in report.toolkits:
        context.say(toolkit_line(check))
    for answer in dict.fromkeys(one.answer for one in result.explained):
        _explain(context, answer)
    return report


def _say_result(context: Context, result: Verification) -> None:
    if result.cancelled:
        context.say(text("Stopped; what was found until then stands."))
    elif result.error is not None:
        context.say(text("The run did not finish: {reason}", reason=verification_error(result)))
    for device in result.devices:
        context.say(device_sentence(device, result.devices))
    if result.devices:
        context.say(verdict_on_accelerators(result))
    for note in result.notes:
        context.say(Painted(GLYPHS[Mark.WARNING], YELLOW), " ", note)
    if any(check.held_by_others for device in result.devices for check in device.checks):
        context.say(text("See who holds it:"))
        for line in context.session.knowledge.commands.render("holders", Family.ANY, {}):
            context.say(f"  {line}")
    for fault in result.library_faults:
        context.say(text("Libraries: {fault}", fault=fault.text))


def _say_rate(context: Context, rate: RateSeen, *, several: bool) -> None:
    """A rate beside what it should be; with a mark where something that can be changed holds it back."""
    check = text("{check} ({format})", check=check_label(rate.check), format=rate.check.dtype)
    name = text("{device}, {check}", device=device_label(rate.device), check=check) if several else check
    words = text("{name}: {rate}, {words}", name=name, rate=rate_words(rate.check), words=rate.expectation.words)
    if rate.expectation.held_back:
        context.say(Painted(GLYPHS[Mark.WARNING], YELLOW), " ", words)
    else:
        context.say(words)


def _explain(context: Context, answer: Answer) -> None:
    """The cause and what to do, as `explain` says it."""
    context.say()
    context.say(Painted(answer.title, RED))
    context.say(f"  {answer.explanation}")
    for number, remedy in enumerate(answer.remedies, 1):
        context.say(f"  {number}. {remedy.text}")
        for line in command_lines(remedy):
            context.say(f"       {line}")
    for link in answer.links:
        context.say(f"  {link}")
