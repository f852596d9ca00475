"""The live table: a watch whose samples are drawn on the terminal as they come, until a key or a signal ends it."""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.cli import streams
from gpuassist.cli.context import UsageError
from gpuassist.cli.live_answer import LiveAnswer
from gpuassist.cli.live_curve import draws_unicode
from gpuassist.cli.live_insight import newest_moment
from gpuassist.cli.live_layout import LiveLayout
from gpuassist.cli.live_lettering import Line
from gpuassist.cli.live_stop import LiveStop
from gpuassist.cli.live_view import LiveView, LowerPart, TableScene
from gpuassist.cli.paragraphs import columns
from gpuassist.cli.streams import Painted
from gpuassist.model.text import Text, text
from gpuassist.monitor import remote
from gpuassist.monitor.sources import NO_GPU
from gpuassist.present.elsewhere import only_looked_at
from gpuassist.present.gpu_line import no_answer
from gpuassist.present.marks import Exit
from gpuassist.present.process_means import SpanFigures
from gpuassist.session.alert_notices import AlertNotices
from gpuassist.session.watch import Watch
from gpuassist.system.full_screen import FullScreen, NoScreenError, ScreenClosedError, end_by

if TYPE_CHECKING:
    from gpuassist.cli.context import Context
    from gpuassist.context import Session
    from gpuassist.model.sample import Sample
    from gpuassist.monitor.alerts import Threshold
    from gpuassist.monitor.prometheus_source import PrometheusServer

DRAWS_A_SECOND = 4.0
WORTH_A_MEAN_SECONDS = 5.0
_LAST_NOTICE_SECONDS = 2.0
_AT_FIRST_SECONDS = 30.0  # in which is told what lasts
_PERIODS_UNTIL_OLD = 3
_OLD_AT_LEAST_SECONDS = 3.0  # ten samples a second that are late by a third of one say nothing
_BEFORE_THE_SCREEN_SECONDS = 0.5  # in which most drivers answer, and all that are not there
_PIPE_COLUMNS = 100


class TableWish(Struct, frozen=True):
    """What is watched, how often, to which file it is recorded, and what is to be told of; without a server this machine's GPUs."""

    hz: float = 1.0
    record: str = ""
    alerts: tuple[Threshold, ...] = ()
    server: PrometheusServer | None = None


class LiveTable:
    """A watch, what is looked at of it, and what is drawn."""

    def __init__(self, context: Context, wish: TableWish, *, on_sample: Callable[[Sample], None] = lambda _: None) -> None:
        alerts = wish.alerts
        context = replace(context, session=_session(context, wish))
        self._clock = context.session.world.clock
        self._variables = context.session.world.surroundings.variables
        self._context, self._period = context, 1.0 / wish.hz
        self._watch = _watch_of(context, wish)
        self._record, self._on_sample = wish.record, on_sample
        self._samples: SimpleQueue[Sample] = SimpleQueue()
        self._screen: FullScreen | None = None
        self._view = LiveView()
        self._answered = False
        self._began = self._heard = self._clock.since_boot()
        self._began_epoch = self._clock.epoch()
        unicode = draws_unicode(self._variables) and streams.takes_unicode(context.terminal.out)
        self._layout = LiveLayout(context.session.words, context.session.knowledge.commands, unicode=unicode)
        self._stop_process = LiveStop(context.session, self._wake)
        self._answer = LiveAnswer(context, self._wake)
        self._watch.insight.thresholds = alerts
        self._notices = AlertNotices(context.session) if alerts else None
        trouble = self._notices.trouble if self._notices is not None else None
        self._no_notices = text("alerts are shown here only: {reason}", reason=trouble) if trouble is not None else None

    def run(self) -> Exit:
        """Draws until it is told to end; 3 where the GPUs cannot be read at all. A terminal without a cursor gets a screen below
        the other.
        """
        self._start()
        ended_by = 0
        try:
            if self._first() is False:
                return self._refused()
            try:
                with FullScreen(colour=self._context.terminal.colour) as screen:
                    self._screen = screen
                    told = self._draw_on(screen)
            except NoScreenError:
                return self._print(None)
            except ScreenClosedError as error:
                ended_by, told = error.number, True
            return Exit.HEALTHY if told else self._refused()
        finally:
            self._screen = None
            self._stop()
            if ended_by:
                end_by(ended_by)

    def screens(self, count: int) -> Exit:
        """Prints so many screens below each other."""
        self._start()
        try:
            return self._print(count)
        finally:
            self._stop()

    def _start(self) -> None:
        if self._record:
            from gpuassist.monitor.sample_file import SampleFileError  # SQLite costs a start 5 ms

            try:
                self._watch.record(self._record)
            except SampleFileError as error:
                raise UsageError(error.reason) from error
        self._watch.start(self._hear)

    def _stop(self) -> None:
        self._watch.stop()
        last = self._stop_process.close()
        if last is not None:
            self._context.note(last)
        if self._notices is not None:
            self._notices.wait(_LAST_NOTICE_SECONDS)
        recorded = self._watch.end_recording()
        if recorded is not None and recorded.trouble is not None:
            self._context.note(recorded.trouble)
        if recorded is not None and recorded.loss is not None:
            self._context.note(recorded.loss)

    def _hear(self, sample: Sample) -> None:
        if self._notices is not None:
            self._notices.take(sample)
        self._on_sample(sample)
        self._samples.put(sample)  # on the sampler's thread
        self._wake()

    def _wake(self) -> None:
        screen = self._screen
        if screen is not None:
            screen.wake()

    def _first(self) -> bool | None:
        """Whether the first sample told of a GPU; none where it has not come yet."""
        try:
            sample = self._samples.get(timeout=_BEFORE_THE_SCREEN_SECONDS)
        except Empty:
            return None
        self._take(sample)
        return bool(sample.gpus)

    def _take(self, sample: Sample) -> None:
        self._view.take(sample)
        self._answered = True
        if self._screen is not None:  # there the head says for how long
            self._view.trouble = tuple(reason for reason in sample.trouble if reason.message != _SILENCE)
        if sample.gpus:
            self._heard = sample.monotonic

    def _draw_on(self, screen: FullScreen) -> bool:
        """Until a key ends it; false where the driver said at once that there is nothing to watch."""
        due = 0.0
        while True:
            now = self._clock.since_boot()
            if now >= due:
                self._show(screen, now)
                due = now + 1.0 / DRAWS_A_SECOND
                patience = 1.0
            else:
                patience = due - now
            keys = screen.wait(patience)
            for key in keys:
                if not self._press(key):
                    return self._view.newest is not None
            if keys:
                due = 0.0  # whoever presses a key sees at once what it did
            if not self._drain():
                return False

    def _show(self, screen: FullScreen, now: float) -> None:
        scene = self._scene(now)
        if self._view.shown is LowerPart.INSIGHT:
            scene = replace(scene, answer=self._answer.of(newest_moment(scene), screen.size[0]))
        screen.show(self._layout.screen(scene, *screen.size))
        self._stop_process.shown()

    def _press(self, key: str) -> bool:
        """False where the key ends the table."""
        if self._stop_process.asks:
            self._stop_process.answer(key)
            return True
        if key == "redraw" and self._screen is not None:
            self._screen.redraw()
        self._stop_process.drop()
        goes_on = self._view.press(key, self._clock.since_boot())
        if self._view.ends:
            self._view.ends = False
            if self._context.other is None:
                self._stop_process.ask(self._view.picked())
            else:
                self._stop_process.note = only_looked_at(self._context.other.host)
        return goes_on

    def _drain(self) -> bool:
        """Takes what came; false where the first answer is that there is nothing."""
        while True:
            try:
                sample = self._samples.get_nowait()
            except Empty:
                return True
            self._take(sample)
            # A driver that is only silent is waited for: that is said no earlier than this.
            silent = self._clock.since_boot() - self._began >= remote.FIRST_ANSWER_SECONDS
            if self._view.newest is None and not silent:
                return False

    def _scene(self, now: float) -> TableScene:
        view, peaks, recording = self._view, self._watch.peaks, self._watch.recording
        since = min(self._began, self._watch.history.since or self._began)  # a server knows what was before
        view.span = span_of(view, self._watch, since, now)
        notes = (
            recording.trouble if recording is not None else None,
            self._stop_process.note,
            self._no_notices if now - self._began < _AT_FIRST_SECONDS else None,
        )
        return TableScene(
            view,
            self._watch.history,
            peaks.gpus,
            since,
            self._began_epoch - (self._began - since),
            self._clock.epoch(),
            now,
            self._stale(now),
            insight=self._watch.insight,
            recording=recording.path if recording is not None else "",
            server=self._watch.server,
            question=self._stop_process.question,
            notes=tuple(one for one in notes if one is not None),
        )

    def _stale(self, now: float) -> Text | None:
        waited = now - self._heard
        if waited < max(_OLD_AT_LEAST_SECONDS, _PERIODS_UNTIL_OLD * self._period):
            return None
        return no_answer(waited, self._view.newest, self._watch.server)

    def _print(self, count: int | None) -> Exit:
        """Screens as they come: the first one that tells nothing ends it."""
        printed = 0
        while count is None or printed < count:
            if self._view.newest is None or printed:
                self._take(self._samples.get())
            if self._view.newest is None:
                return self._refused()
            if printed:
                self._context.say("")
            scene = self._scene(self._clock.since_boot())
            lines = self._layout.whole(scene if printed else replace(scene, since_epoch=None), width_on(self._context))
            for line in lines:
                self._context.say(*printed_line(line))
            streams.flush(self._context.terminal.out)
            printed += 1
        return Exit.HEALTHY

    def _refused(self) -> Exit:
        now = self._clock.since_boot()
        # What comes after the first is when it would be tried again, which it is not here.
        silent = no_answer(now - self._heard, None, self._watch.server)
        self._context.note(next(iter(self._view.trouble), NO_GPU if self._answered and not self._stale(now) else silent))
        return Exit.UNDETERMINED


def _session(context: Context, wish: TableWish) -> Session:
    if wish.server is None:
        return context.session
    from gpuassist.session.prometheus import in_time

    return in_time(context.session)


def _watch_of(context: Context, wish: TableWish) -> Watch:
    if wish.server is not None:
        from gpuassist.session.prometheus import server_watch

        return server_watch(context.session, wish.server, hz=wish.hz)
    if context.other is not None:
        from gpuassist.session.other_machine import watch_of

        return watch_of(context.other, context.session, hz=wish.hz)
    return Watch(context.session, hz=wish.hz)


def width_on(context: Context) -> int:
    """How wide a screen is printed."""
    return streams.columns_of(context.terminal.out, context.session.world.surroundings.variables) or _PIPE_COLUMNS


def span_of(view: LiveView, watch: Watch, since: float, now: float) -> SpanFigures | None:
    """Peaks, and means over what the curves show; none before that is a while."""
    window = view.window(1, since, now)
    until = now if window.until is None else window.until
    begin = max(since, until - window.seconds)
    if until - begin < WORTH_A_MEAN_SECONDS:
        return None
    peaks = watch.peaks.processes if view.whole_seconds is None else {}  # those of a recording may be still to come
    return SpanFigures(peaks, lambda key: watch.means.mean(key, begin, until))


_SILENCE = remote.silence(0.0).message


def printed_line(line: Line) -> list[Painted]:
    """Spans side by side, with blanks between them; blanks that others stand on are those blanks' style."""
    parts: list[Painted] = []
    at, behind = 0, ""
    for place, (start, words, style) in enumerate(line):
        if words.isspace() and place + 1 < len(line) and line[place + 1][0] < start + columns(words):
            behind = style
            continue
        if start > at:
            parts.append(Painted(" " * (start - at), behind))
        parts.append(Painted(words, style))
        at = start + columns(words)
    return parts
