"""`gpuassist verify`: tensor operations in an environment's own torch, line by line as they are done, or as one JSON document."""

from __future__ import annotations

import argparse

from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.streams import DIM, GREEN, RED, Painted
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.text import text, verbatim
from gpuassist.model.verdict import Check, Verdict, Verification
from gpuassist.model.words import ENGLISH, Words
from gpuassist.present.marks import Exit, exit_of, glyph_of, worst
from gpuassist.present.verification import VERDICT_WORDS, device_sentence, measured, rate_words, verification_document
from gpuassist.session.verify import (
    VerifyRequest,
    check_label,
    choose,
    find_environments,
    interpreter_at,
    verdict_on_accelerators,
    verify,
)
from gpuassist.verify.protocol import CheckBegun, CheckDone, Event, Started
from gpuassist.verify.runner import Level

NAME = "verify"
HELP = text("run tensor operations in an environment's own torch and check their results")

_COLOURS = {Verdict.PASS: GREEN, Verdict.SKIPPED: DIM}
_LABEL_WIDTH, _DTYPE_WIDTH, _MARK_WIDTH, _ERROR_WIDTH = 30, 10, 9, 24


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument(
        "--python",
        metavar="PATH",
        action="append",
        default=[],
        help=words(text("an interpreter, or the directory of an environment; may be given several times")),
    )
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


def run(options: argparse.Namespace, context: Context) -> Exit:
    if context.machine_file:
        raise UsageError(text("a recorded machine cannot compute anything: leave --machine out"))
    for wish in options.device:
        if not (wish == "cpu" or wish.isdecimal() or wish.startswith(("GPU-", "MIG-"))):
            raise UsageError(text("{wish} is no device: give its number, its UUID (GPU-...), or cpu", wish=wish))
    devices = tuple(options.device) or ("all",)
    interpreters = [_given(context, path) for path in options.python] or _found(context)
    results = [_verify(context, VerifyRequest(one, devices, Level(options.level)), quiet=options.json) for one in interpreters]
    if options.json:
        context.document(verification_document(results, context.session.words if options.lang else ENGLISH))
    return worst(exit_of(result.verdict) for result in results) if results else Exit.UNDETERMINED


def _given(context: Context, path: str) -> str:
    interpreter = interpreter_at(context.session.world, path)
    if isinstance(interpreter, Unknown):
        raise UsageError(interpreter.reason)
    return interpreter.value


def _found(context: Context) -> list[str]:
    chosen = choose(find_environments(context.session))
    if isinstance(chosen, Unknown):
        context.note(chosen.reason)
        return []
    interpreter = chosen.value.interpreter
    return [interpreter.value] if isinstance(interpreter, Known) else []


def _verify(context: Context, request: VerifyRequest, *, quiet: bool) -> Verification:
    show = _Silent(context) if quiet else _Live(context)
    if not quiet:
        context.say(text("Verifying in {interpreter}", interpreter=request.interpreter))
    result = verify(context.session, request, on_event=show.take, cancelled=lambda: False)
    if not quiet:
        context.say()
        if result.error is not None:
            context.say(text("The run did not end well: {reason}", reason=result.error))
        for device in result.devices:
            context.say(device_sentence(device))
        if result.devices:
            context.say(verdict_on_accelerators(result))
    elif result.error is not None:
        context.note(result.error)
    return result


class _Silent:
    """Says on a terminal which check runs, and nothing else."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def take(self, event: Event) -> None:
        self._context.passing(f"{self._context.session.words(check_label(event))}…" if isinstance(event, CheckBegun) else "")


class _Live(_Silent):
    """Prints each check as it is done, under the name of its device."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._names: dict[str, str] = {}
        self._shown = ""

    def take(self, event: Event) -> None:
        super().take(event)
        if isinstance(event, Started):
            self._names = {device.device: device.name for device in event.devices}
            parts = [f"{name} {version}" for name, version in event.environment if version]
            self._context.say(verbatim(" · ".join(parts)))
        elif isinstance(event, CheckDone):
            if event.device != self._shown:
                self._shown = event.device
                self._context.say()
                self._context.say(f"{event.device} · {self._names[event.device]}")
            words = self._context.session.words
            verdict = event.check.verdict
            mark = "–" if verdict is Verdict.SKIPPED else glyph_of(verdict)
            label = f"  {words(check_label(event.check)).ljust(_LABEL_WIDTH)} {event.check.dtype.ljust(_DTYPE_WIDTH)} "
            figures = _measured(words, event.check)
            said = f"{mark} {words(VERDICT_WORDS[verdict])}".ljust(_MARK_WIDTH + 2 if figures else 0)
            self._context.say(label, Painted(said, _COLOURS.get(verdict, RED)), f" {figures}" if figures else "")
        self._context.terminal.out.flush()


def _measured(words: Words, check: Check) -> str:
    parts = [words(check.error)] if check.error is not None else []
    figures = measured(check)
    if figures is not None:
        parts.insert(0, words(figures).ljust(_ERROR_WIDTH))
    return " ".join((*parts, rate_words(check))).rstrip()
