"""`gpuassist monitor`: a live table, the window's live page, or one JSON object a line for each sample.

Which of them it is decides the command line, and where that does not, where standard output goes: a terminal gets the table, all
else lines, whatever the source is.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gpuassist.cli import monitor_export, monitor_file, monitor_server
from gpuassist.cli.context import Context, UsageError
from gpuassist.model.sample import Sample
from gpuassist.model.text import Text, counted, text
from gpuassist.model.words import ENGLISH, Words
from gpuassist.monitor.ring_source import live_source
from gpuassist.monitor.sampler import Sampler
from gpuassist.monitor.sources import NO_GPU, SampleSource
from gpuassist.present.marks import Exit
from gpuassist.present.sample_document import sample_document
from gpuassist.system.interrupts import ending_at_once

if TYPE_CHECKING:
    from gpuassist.monitor.alerts import Threshold
    from gpuassist.session.navigation import Destination
    from gpuassist.session.other_machine import OtherMachine

NAME = "monitor"
HELP = text("watch the memory of the GPUs: a live table, the window, or JSON lines")
HZ_AT_MOST = 100.0
SERVER_HZ = 0.2  # what it knows is some fifteen seconds old
WAITING_AT_MOST = 1000
"""Samples for a reader that does not read; of more the oldest are left out, so that memory stays bounded."""


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument(
        "--headless",
        action="store_true",
        help=words(text("one JSON object a line, as in a pipe or a file without being asked for")),
    )
    parser.add_argument("--window", action="store_true", help=words(text("the window's page in place of the table on a terminal")))
    count = words(text("end after N samples; without --headless each is printed as one screen (`watch --color` shows its colours)"))
    parser.add_argument("--count", type=int, metavar="N", help=count)
    colour = words(text("colours: on a terminal and under `watch --color` (auto), always or never"))
    parser.add_argument("--color", nargs="?", const="always", default="auto", choices=("auto", "always", "never"), help=colour)
    hz = words(text("samples a second (1 unless given; of a server one in five seconds)"))
    parser.add_argument("--hz", type=float, metavar="N", help=hz)
    alert = text(
        "tell when this is reached, as a line and on the desktop: memory 90%%, memory 20GiB, temperature 85, idle 10 (minutes),"
        " with gpu0: before it for one GPU; more than once for several"
    )
    parser.add_argument("--alert", action="append", default=[], metavar="THRESHOLD", help=words(alert))
    monitor_file.arguments(parser, words)
    monitor_server.arguments(parser, words)
    monitor_export.arguments(parser, words)


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Samples until it is told to end; 3 where the GPUs cannot be read at all."""
    served = _require_sense(options, context)
    options.headless = options.headless or _is_read_in_lines(options, context)
    alerts = _alerts(options)
    said = context.session.words if options.lang else ENGLISH
    if context.other is not None:
        _reach(context, context.other, is_other=served or monitor_file.is_file(options))
    if monitor_file.is_file(options):
        if options.window:
            return _window(monitor_file.in_window(options), context)
        return monitor_file.run(options, _coloured(context, options.color), _replay(context, said))
    if options.headless:
        return _headless(options, context, said, alerts)
    if options.window and options.count is not None:
        raise UsageError(text("--count and --window exclude each other"))
    if not options.window:
        with ending_at_once():
            # curses and all that is laid out, which JSON lines need nothing of
            from gpuassist.cli.live_table import LiveTable, TableWish
        wish = TableWish(options.hz, options.record or "", alerts, monitor_server.server(options, context) if served else None)
        with monitor_export.exported(options, context) as export:
            table = LiveTable(_coloured(context, options.color), wish, on_sample=export)
            status = table.run() if options.count is None else table.screens(options.count)
        _note_seen(context, seen=status is Exit.HEALTHY and context.other is None)
        return status
    if options.alert:
        raise UsageError(text("the window has alerts of its own: leave --alert or --window out"))
    if options.export is not None:
        raise UsageError(text("the window answers nobody: leave --export or --window out"))
    if options.record:
        raise UsageError(text("the window records by a button of its own: leave --record or --window out"))
    if served:
        return _window(monitor_server.in_window(options, context), context)
    from gpuassist.session.navigation import GoTo, WizardStep

    return _window(GoTo(WizardStep.LIVE), context)


def _is_read_in_lines(options: argparse.Namespace, context: Context) -> bool:
    """Whether nothing asks for another form, and a program or a file takes what is printed."""
    screens = options.count is not None and not monitor_file.is_file(options)
    return not (options.window or screens or context.terminal.out.isatty())


def _reach(context: Context, other: OtherMachine, *, is_other: bool) -> None:
    if is_other:
        raise UsageError(text("--source names another source than the GPUs of that machine: leave --ssh out"))
    context.reach(other)


def _require_sense(options: argparse.Namespace, context: Context) -> bool:
    """Whether a server is asked; raises `UsageError` for options that do not go together."""
    if context.machine_file:
        raise UsageError(text("a recorded machine has no live memory: leave --machine out"))
    served = monitor_server.is_server(options)
    if options.hz is None:
        options.hz = SERVER_HZ if served else 1.0
    if not 0.0 < options.hz <= HZ_AT_MOST:
        raise UsageError(text("--hz must be above 0 and at most {most}", most=f"{HZ_AT_MOST:g}"))
    if options.count is not None and options.count < 1:
        raise UsageError(text("--count must be at least 1"))
    if options.alert and monitor_file.is_file(options):
        raise UsageError(text("--alert needs GPUs that are watched now: a recording holds the alerts of its time"))
    if options.export is not None and (served or monitor_file.is_file(options)):
        raise UsageError(text("--export tells of this machine's GPUs: leave --source out"))
    if options.headless and options.window:
        raise UsageError(text("--headless and --window exclude each other"))
    return served


def _window(wanted: Destination, context: Context) -> Exit:
    try:
        return context.open_window(wanted)
    except UsageError as error:
        raise UsageError(text("{reason} Without a window: gpuassist monitor --headless", reason=error.reason)) from error


def _alerts(options: argparse.Namespace) -> tuple[Threshold, ...]:
    if not options.alert:
        return ()
    from gpuassist.cli.monitor_insight import thresholds  # and all that judges samples, which a recording needs nothing of

    return thresholds(options.alert)


def _replay(context: Context, said: Words) -> Callable[[Sample], None]:
    """What prints one recorded sample after the other as it was printed when it was taken."""
    from gpuassist.cli.monitor_insight import InsightLines

    insight, last = InsightLines(context, said, ()), -math.inf

    def tell(sample: Sample) -> None:
        nonlocal insight, last
        if sample.monotonic < last:  # another run, since another start of the machine
            insight = InsightLines(context, said, ())
        last = sample.monotonic
        for line in insight.replayed(sample):
            context.document(line, indent=None)
        context.document(sample_document(sample, said), indent=None)

    return tell


class _Taken:
    """What the sampler's thread does with each sample, up to `count`: judges it, records it, puts it where lines are made of it.

    So a reader who has stopped, as `less` does at the end of a page, holds up neither the recording nor the alerts.
    """

    def __init__(self, judge: Callable[[Sample], Sample], record: Callable[[Sample], None], count: int | None) -> None:
        self.samples: SimpleQueue[Sample] = SimpleQueue()
        self.dropped = 0
        self._judge, self._record, self._left = judge, record, count

    def add(self, sample: Sample) -> None:
        if self._left is not None:
            if not self._left:
                return
            self._left -= 1
        judged = self._judge(sample)
        self._record(judged)
        if self.samples.qsize() >= WAITING_AT_MOST:
            with suppress(Empty):
                self.samples.get_nowait()
                self.dropped += 1
        self.samples.put(judged)


def _headless(options: argparse.Namespace, context: Context, said: Words, alerts: tuple[Threshold, ...]) -> Exit:
    """JSON lines until it is told to end."""
    from gpuassist.cli.monitor_insight import InsightLines  # which the table needs nothing of

    world = context.session.world
    source = _source(options, context)
    insight = InsightLines(context, said, alerts)
    with monitor_file.recorded(options, context) as recording, monitor_export.exported(options, context) as export:

        def keep(sample: Sample) -> None:
            recording.add(sample)
            export(sample)

        taken = _Taken(insight.take, keep, options.count)
        # On a thread of its own, so that Ctrl-C is heard while a call of the driver does not return.
        sampler = Sampler(source, world.clock, taken.add, hz=options.hz)
        sampler.start()
        printed = 0
        try:
            while options.count is None or printed + taken.dropped < options.count:
                sample = taken.samples.get()
                for line in insight.lines(sample):
                    context.document(line, indent=None)
                context.document(sample_document(sample, said), indent=None)
                printed += 1
                if printed == 1 and not sample.gpus:
                    # What comes after the first is when it would be tried again, which it is not here.
                    context.note(next(iter(sample.trouble), NO_GPU))
                    if options.export is None:  # who scrapes is told that the driver is silent, and when it is not any more
                        printed = 0
                        return Exit.UNDETERMINED
        finally:
            sampler.stop()
            insight.close()
            _note_seen(context, seen=printed > 0 and context.other is None)
            if taken.dropped:
                context.note(_unread(taken.dropped))
    return recording.exit


def _source(options: argparse.Namespace, context: Context) -> SampleSource:
    if monitor_server.is_server(options):
        from gpuassist.monitor.prometheus_source import PrometheusSource

        return PrometheusSource(monitor_server.server(options, context), context.session.world.clock, past_seconds=0.0)
    if context.other is not None:
        from gpuassist.session.other_machine import source_of

        return source_of(context.other, context.session, hz=options.hz)
    return live_source(context.session.world)


def _note_seen(context: Context, *, seen: bool) -> None:
    """The last stage of a set-up is done where somebody is at one."""
    if seen:
        from gpuassist.session.setup_record import live_was_seen  # at the end, which nobody waits for

        live_was_seen(context.session.world)


def _unread(count: int) -> Text:
    return counted("{count} sample was not printed: nobody read it", "{count} samples were not printed: nobody read them", count)


def _coloured(context: Context, wish: str) -> Context:
    """The context with colours as `--color` wants them: by itself a pipe gets none, unless `watch` reads it and shows them."""
    colour = wish == "always" or (wish == "auto" and (context.terminal.colour or _is_read_by_watch(context)))
    return replace(context, terminal=replace(context.terminal, colour=colour))


def _is_read_by_watch(context: Context) -> bool:
    if context.session.world.surroundings.variables.get("NO_COLOR") or context.terminal.out.isatty():
        return False
    from gpuassist.system.process_tree import under_watch  # which JSON lines need nothing of

    return under_watch()
