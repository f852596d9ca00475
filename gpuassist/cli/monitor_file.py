"""`gpuassist monitor` with files: `--record` beside whatever shows the samples, `--source file:PATH` in the place of the GPUs."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.monitor_server import SERVER
from gpuassist.model.sample import Sample
from gpuassist.model.text import counted, text
from gpuassist.model.words import Words
from gpuassist.present.marks import Exit
from gpuassist.system.interrupts import ending_at_once, ending_in_order

if TYPE_CHECKING:  # SQLite costs a sample 5 ms, and most are not recorded
    from gpuassist.monitor.sample_file import RecordedRun, SampleReader
    from gpuassist.session.navigation import Destination

NVML = "nvml"
_FILE = "file:"

Print = Callable[[Sample], None]


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    record = words(text("also write every sample to FILE (SQLite); a file that is a recording already gets one more run"))
    parser.add_argument("--record", metavar="FILE", help=record)
    source = words(
        text("nvml, prometheus:URL for a server that watches GPUs, or file:PATH for a recording; file:PATH#2 is its second run")
    )
    parser.add_argument("--source", metavar="SOURCE", default=NVML, help=source)
    save = words(text("save a recording as FILE: its samples as .csv or .parquet, its plot as .svg or .png"))
    parser.add_argument("--save", metavar="FILE", help=save)
    over = words(text("draw another recording over the first, both from their start (with --save FILE.svg or .png)"))
    parser.add_argument("--over", metavar="SOURCE", help=over)


def is_file(options: argparse.Namespace) -> bool:
    """Whether a recording is read; raises `UsageError` for options that do not go together."""
    for option, name in (("--record", options.record), ("--save", options.save), ("--source", options.source)):
        if name is not None and not name.removeprefix(_FILE):  # mostly a variable of a script that is not set
            raise UsageError(text("{option} needs the name of a file", option=option))
    for source in (options.source, options.over):
        if source is not None and source != NVML and not source.startswith((_FILE, SERVER)):
            raise UsageError(text("there is no source {source}: it is nvml, prometheus:URL, or file:PATH", source=source))
    recorded = bool(options.source.startswith(_FILE))
    if recorded and options.record:
        raise UsageError(text("a recording is not recorded again: --record needs the GPUs themselves"))
    if not recorded and (options.save or options.over):
        raise UsageError(text("--save and --over need a recording: --source file:PATH"))
    if options.over is not None and (not options.save or not options.over.startswith(_FILE)):
        raise UsageError(text("--over needs a recording (file:PATH), and --save FILE.svg or .png to draw both in"))
    return recorded


def run(options: argparse.Namespace, context: Context, show: Print) -> Exit:
    """Shows every sample of a recording, or saves it; 1 where a part of it cannot be read."""
    from gpuassist.monitor.sample_file import SampleFileError

    try:
        reader, chosen = _opened(options.source)
        if not _holds_any(reader, chosen):
            pass  # all of it is damaged
        elif options.save:
            _save(options, context, reader, chosen)
        elif options.headless:
            samples = reader.samples(chosen)
            for sample in samples if options.count is None else islice(samples, options.count):
                show(sample)
        elif options.count is None:
            return _on_the_terminal(context, reader, chosen)
        else:
            raise UsageError(text("a recording is looked at as a whole on a terminal: --count needs --headless"))
    except SampleFileError as error:
        raise UsageError(error.reason) from error
    for words in reader.damage:
        context.note(words)
    return Exit.WARNINGS if reader.damage else Exit.HEALTHY


def _on_the_terminal(context: Context, reader: SampleReader, chosen: RecordedRun | None) -> Exit:
    """The newest run, unless another is named."""
    runs = reader.runs()
    if not runs:
        raise UsageError(text("{path} is empty: nothing was recorded to it", path=reader.path))
    with ending_at_once():
        from gpuassist.cli.live_replay import ReplayTable  # curses and all that is laid out
    status = ReplayTable(context, reader, chosen or runs[-1], reader.path.rpartition("/")[2]).run()
    for words in reader.damage:
        context.note(words)
    return Exit.WARNINGS if reader.damage and status is Exit.HEALTHY else status


class Recording:
    """What takes in each sample; once it is closed, `exit` is 1 where some of them are not in the file."""

    def __init__(self, add: Print = lambda _: None) -> None:
        self.add, self.exit = add, Exit.HEALTHY


def in_window(options: argparse.Namespace) -> Destination:
    """Where the window shows the recording; raises `UsageError` where it cannot be read."""
    from gpuassist.monitor.sample_file import SampleFileError
    from gpuassist.session.navigation import ToRecording

    if options.save:
        raise UsageError(text("--save and --window exclude each other: the window saves what it shows by a menu of its own"))
    try:
        reader, chosen = _opened(options.source)
        _holds_any(reader, chosen)
    except SampleFileError as error:
        raise UsageError(error.reason) from error
    return ToRecording(reader.path, None if chosen is None else chosen.number)


@contextmanager
def recorded(options: argparse.Namespace, context: Context) -> Iterator[Recording]:
    """What goes wrong is said on standard error as it happens, and the rest at the end."""
    if not options.record:
        yield Recording()
        return
    from gpuassist.monitor.history import gap_at
    from gpuassist.monitor.recorder import Recorder
    from gpuassist.monitor.sample_file import SampleFileError

    clock = context.session.world.clock
    try:
        recorder = Recorder(options.record, clock, gap_seconds=gap_at(options.hz), on_trouble=context.note)
    except SampleFileError as error:
        raise UsageError(error.reason) from error
    recording = Recording(recorder.add)
    try:
        with ending_in_order():
            yield recording
    finally:
        state = recorder.stop()
        if state.lost or state.waiting:
            recording.exit = Exit.WARNINGS
        if state.loss is not None:
            context.note(state.loss)


def _opened(source: str) -> tuple[SampleReader, RecordedRun | None]:
    """The recording and the run of it that is named, none where all are meant."""
    from gpuassist.monitor.sample_file import SampleReader

    path = source.removeprefix(_FILE)
    head, _, number = path.rpartition("#")
    if not head or not number.isascii() or not number.isdigit() or os.path.exists(path):
        return SampleReader(path), None
    reader = SampleReader(head)
    chosen = next((one for one in reader.runs() if one.number == int(number)), None)
    if chosen is None:
        count = len(reader.runs())
        raise UsageError(counted("{path} holds {count} run", "{path} holds {count} runs", count, path=head))
    return reader, chosen


def _holds_any(reader: SampleReader, chosen: RecordedRun | None) -> bool:
    """Whether there is a sample; refuses what nothing was recorded to, as a file that was copied without the -wal beside it."""
    if next(reader.samples(chosen), None) is not None:
        return True
    if not reader.damage:
        raise UsageError(text("{path} holds no sample", path=reader.path))
    return False


def _save(options: argparse.Namespace, context: Context, reader: SampleReader, chosen: RecordedRun | None) -> None:
    from gpuassist.present.sample_export import TABLES, ExportError, export_table, kind_of

    words, runs = context.session.words, reader.runs()
    try:
        if kind_of(options.save) in TABLES:
            if options.over:
                raise UsageError(text("--over is drawn: save it as .svg or .png"))
            wanted = runs if chosen is None else (chosen,)
            export_table(options.save, ((one.number, reader.samples(one)) for one in wanted), words)
        else:
            _save_picture(options, context, [(options.source, reader, chosen)])
    except ExportError as error:
        raise UsageError(error.reason) from error


def _save_picture(
    options: argparse.Namespace, context: Context, sources: Sequence[tuple[str, SampleReader, RecordedRun | None]]
) -> None:
    """The plot of the newest run, unless another is named."""
    from gpuassist.monitor.playback import aligned, history_of, whole
    from gpuassist.monitor.pyramid import Window
    from gpuassist.present.plot_picture import PLOT_COLUMNS, DrawnRun
    from gpuassist.present.sample_export import export_picture

    if options.over:
        reader, chosen = _opened(options.over)
        if not _holds_any(reader, chosen):
            raise UsageError(reader.damage[0])
        sources = [*sources, (options.over, reader, chosen)]
    runs = [(reader, chosen or reader.runs()[-1]) for _, reader, chosen in sources]
    if options.over:
        histories = aligned(runs)
        window = whole(*histories, columns=PLOT_COLUMNS)
    else:
        ((reader, one),) = runs
        histories = (history_of(reader.samples(one), gap_seconds=one.gap_seconds),)
        first = next(iter(reader.samples(one)), None)
        since = histories[0].until if first is None else first.monotonic
        window = Window(max(1.0, histories[0].until - since), PLOT_COLUMNS, histories[0].until)
    names = [source.removeprefix(_FILE).rpartition("/")[2] for source, _, _ in sources]
    drawn = [DrawnRun(name, history) for name, history in zip(names, histories, strict=True)]
    export_picture(options.save, drawn, window, context.session.words, draw_png=context.draw_png)
