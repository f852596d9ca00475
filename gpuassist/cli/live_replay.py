"""A recording in the live table: its samples as they were drawn, with keys to move in time."""

from __future__ import annotations

from datetime import datetime
from threading import Thread

from msgspec.structs import replace

from gpuassist.cli import streams
from gpuassist.cli.context import Context
from gpuassist.cli.live_answer import LiveAnswer
from gpuassist.cli.live_curve import draws_unicode
from gpuassist.cli.live_insight import newest_moment
from gpuassist.cli.live_layout import LiveLayout
from gpuassist.cli.live_table import DRAWS_A_SECOND, printed_line, span_of, width_on
from gpuassist.cli.live_view import LiveView, LowerPart, TableScene
from gpuassist.model.text import Text, joined, text, verbatim
from gpuassist.monitor.pyramid import Window
from gpuassist.monitor.sample_file import RecordedRun, SampleReader
from gpuassist.present.marks import Exit
from gpuassist.present.samples import WINDOWS_SECONDS, clock
from gpuassist.session.replay import Replay
from gpuassist.system.full_screen import FullScreen, NoScreenError, ScreenClosedError, end_by

_SPEEDS = (1, 10, 60)
_HAPPENED_SECONDS = 60.0
_PAGE_SHARE = 0.1  # of the time that is shown
_LEAST_SECONDS, _MOST_SECONDS = 10.0, float(WINDOWS_SECONDS[-1])  # of the time that the curves show at first
_PEAK_COLUMNS = 256
_STILL_SECONDS = 3600.0
_FIRST_LOOK_SECONDS = 0.3  # in which most recordings are read
_NOT_OF_NOW = text("These processes are of a recording: none of them is ended from here.")
_NOTHING = text("nothing was recorded in this run")


class ReplayTable:
    """A recording, and where it is looked at."""

    def __init__(self, context: Context, reader: SampleReader, run: RecordedRun, name: str) -> None:
        self._context, self._reader = context, reader
        self._clock = context.session.world.clock
        self._variables = context.session.world.surroundings.variables
        self._replay = Replay(context.session, reader, run)
        self._name = joined((verbatim(name), text("run {number}", number=run.number))) if len(reader.runs()) > 1 else verbatim(name)
        self._screen: FullScreen | None = None
        self._view = LiveView()
        self._note: Text | None = None
        self._at: float | None = None  # none at the end of what is there
        self._playing_since: tuple[float, float] | None = None  # our clock, and the recording's
        self._speed = _SPEEDS[0]
        unicode = draws_unicode(self._variables) and streams.takes_unicode(context.terminal.out)
        self._layout = LiveLayout(context.session.words, context.session.knowledge.commands, unicode=unicode)
        self._answer = LiveAnswer(context, self._wake, live=False)

    def run(self) -> Exit:
        """Draws until a key ends it. A terminal without a cursor gets the end of it as a screen."""
        loading = Thread(target=self._replay.load, args=(self._wake,), name="gpuassist replay", daemon=True)
        loading.start()
        loading.join(_FIRST_LOOK_SECONDS)
        ended_by = 0
        try:
            with FullScreen(colour=self._context.terminal.colour) as screen:
                self._screen = screen
                self._draw_on(screen)
        except NoScreenError:
            loading.join()
            self._print()
        except ScreenClosedError as error:
            ended_by = error.number
        finally:
            self._screen = None
            self._replay.close()
            if ended_by:
                end_by(ended_by)
        if self._replay.trouble is not None:
            self._context.note(self._replay.trouble)
        if self._replay.loaded and self._replay.since is None:
            self._context.note(_NOTHING)
            return Exit.UNDETERMINED
        return Exit.HEALTHY

    def _wake(self) -> None:
        screen = self._screen
        if screen is not None:
            screen.wake()

    def _draw_on(self, screen: FullScreen) -> None:
        due = 0.0
        while not (self._replay.loaded and self._replay.since is None):
            now = self._clock.since_boot()
            patience = due - now
            if now >= due:
                self._show(screen)
                due = now + 1.0 / DRAWS_A_SECOND
                # One that stands still is drawn when something comes.
                patience = 1.0 / DRAWS_A_SECOND if self._playing_since is not None else _STILL_SECONDS
            for key in screen.wait(patience):
                if not self._press(key):
                    return
                due = 0.0

    def _show(self, screen: FullScreen) -> None:
        scene = self._scene()
        if self._view.shown is LowerPart.INSIGHT:
            scene = replace(scene, answer=self._answer.of(newest_moment(scene), screen.size[0]))
        screen.show(self._layout.screen(scene, *screen.size))

    def _press(self, key: str) -> bool:
        """False where the key ends the table."""
        if key == "redraw" and self._screen is not None:
            self._screen.redraw()
        self._note = None
        if not self._view.typing and self._move(key):
            return True
        goes_on = self._view.press(key, self._moment())
        if self._view.ends:
            self._view.ends, self._note = False, _NOT_OF_NOW
        return goes_on

    def _move(self, key: str) -> bool:
        """Whether it is a key of time; does it."""
        moment = self._moment()
        page = self._view.window(1, 0.0, moment).seconds * _PAGE_SHARE
        if key == " ":
            self._play_or_stand(moment)
        elif key == "f":
            self._speed = _SPEEDS[(_SPEEDS.index(self._speed) + 1) % len(_SPEEDS)]
            self._go(moment, playing=self._playing_since is not None)
        elif key in {",", "."}:
            self._go(self._replay.step(moment, 1 if key == "." else -1))
        elif key in {"<", ">"}:
            self._go(moment + (page if key == ">" else -page))
        elif key == "b":
            self._go(self._replay.since or 0.0)
        elif key == "e":
            self._at = self._playing_since = None
        elif key in {"n", "p"}:
            found = self._replay.next_mark(moment, 1 if key == "n" else -1)
            self._note = text("There is none further on.") if key == "n" else text("There is none before.")
            if found is not None:
                self._note = None
                self._go(found)
        else:
            return False
        return True

    def _play_or_stand(self, moment: float) -> None:
        if self._playing_since is not None:
            self._go(moment)
        else:
            self._go(self._replay.since or 0.0 if moment >= self._replay.until else moment, playing=True)

    def _go(self, moment: float, *, playing: bool = False) -> None:
        self._at = max(self._replay.since or 0.0, min(self._replay.until, moment))
        self._playing_since = (self._clock.since_boot(), self._at) if playing else None

    def _moment(self) -> float:
        """Where it is looked at now, on the history's axis."""
        if self._playing_since is not None:
            began, at = self._playing_since
            self._at = at + (self._clock.since_boot() - began) * self._speed
            if self._at >= self._replay.until and self._replay.loaded:
                self._playing_since = None
        return self._replay.until if self._at is None else min(self._at, self._replay.until)

    def _scene(self) -> TableScene:
        view, replay, watch = self._view, self._replay, self._replay.watch
        moment, since = self._moment(), replay.since or 0.0
        sample = replay.sample_at(moment)
        view.stand(sample, moment, replay.marks(moment - _HAPPENED_SECONDS, moment))
        view.whole_seconds = max(_LEAST_SECONDS, min(_MOST_SECONDS, replay.until - since))
        view.span = span_of(view, watch, since, moment)
        history = watch.history
        epoch = history.epoch_of_zero + moment if sample is None else sample.time + moment - sample.monotonic
        shown = Window(max(1.0, moment - since), _PEAK_COLUMNS, moment)
        stale = None
        if sample is not None and moment - sample.monotonic > history.gap_seconds:
            stale = text("nothing was recorded then; the figures are of {time}", time=clock(sample.time, seconds=True))
        notes = (self._note, replay.trouble, text("reading the recording") if not replay.loaded else None)
        return TableScene(
            view,
            history,
            {gpu: int(history.greatest(gpu, shown)) for gpu in history.gpus},
            since,
            None,
            epoch,
            moment,
            stale,
            insight=watch.insight,
            notes=tuple(one for one in notes if one is not None),
            replay=self._title(since),
        )

    def _title(self, since: float) -> Text:
        zero = self._replay.watch.history.epoch_of_zero
        begin, end = zero + since, zero + self._replay.until
        words = {
            "day": f"{datetime.fromtimestamp(begin):%Y-%m-%d}",
            "begin": clock(begin, seconds=True),
            "end": clock(end, seconds=True),
        }
        parts = [self._name, text("{day} {begin}–{end}", **words)]
        if self._playing_since is not None:
            parts.append(text("playing ×{speed}", speed=self._speed))
        elif self._replay.growing and self._at is None:
            parts.append(text("with what is still written to it"))
        return joined(tuple(parts))

    def _print(self) -> None:
        for line in self._layout.whole(self._scene(), width_on(self._context)):
            self._context.say(*printed_line(line))
