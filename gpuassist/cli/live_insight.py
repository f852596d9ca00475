"""What the samples mean, on the live table: in its head what is news, beside a GPU what it waits for, and all of it on a screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuassist.cli.live_lettering import Lettering, Line
from gpuassist.cli.live_view import TableScene
from gpuassist.cli.paragraphs import wrapped
from gpuassist.cli.streams import BOLD, DIM, RED, YELLOW
from gpuassist.knowledge.commands import Commands
from gpuassist.model.text import Text, text
from gpuassist.monitor.bottleneck import Bottleneck, Bound, Lack
from gpuassist.present.insight import (
    bound_grounds,
    bound_next,
    bound_words,
    desktop_ways,
    desktop_words,
    growth_next,
    growth_words,
    moment_before,
    moment_title,
    until_full,
)
from gpuassist.present.memory import picture_title, text_bar, text_legend, wanted
from gpuassist.session.failure_moment import FailureMoment
from gpuassist.session.insight import ProgramGrowth

_TOLD_SECONDS = 60.0  # of a failure in a recording, behind the moment that is looked at
_GROWTHS_AT_MOST = 3
_EARLIER_AT_MOST = 8
_BAR_AT_LEAST, _BAR_AT_MOST = 16, 76


def news(scene: TableScene) -> Iterator[Text]:
    """A failure that nobody has looked at yet, and what grows."""
    insight = scene.insight
    if insight is None:
        return
    moment = newest_moment(scene)
    if moment is not None and _is_news(moment, scene):
        title = moment_title(moment)
        yield text("{failure} · w: what helps", failure=title) if scene.has_keys else title
    for growth in _growths(scene)[:_GROWTHS_AT_MOST]:
        full = until_full(growth)
        words = growth_words(growth, _since(growth, scene))
        yield words if full is None else text("{growth}; {until}", growth=words, until=full)


def newest_moment(scene: TableScene) -> FailureMoment | None:
    """The last failure before what is looked at, of the GPU that is shown alone."""
    return next(iter(_moments(scene)), None)


def verdict_of(scene: TableScene, gpu: int) -> Bottleneck | None:
    """What a GPU waits for, once that can be said."""
    found = scene.insight.bottlenecks.get(gpu) if scene.insight is not None else None
    return None if found is None or Lack.TIME in found.lacks else found


class InsightScreen:
    """For one terminal."""

    def __init__(self, letters: Lettering, commands: Commands) -> None:
        self._letters, self._commands = letters, commands

    def beside(self, scene: TableScene, gpu: int, first: int, width: int) -> list[Line]:
        """In a line, as far as it goes: the verdict on a GPU that is shown alone, and what it rests on."""
        found = verdict_of(scene, gpu)
        if found is None or found.bound in {Bound.IDLE, Bound.UNDECIDED}:
            return []
        words = self._letters.say(bound_words(found, scene.view.label_of(gpu)))
        grounds = "; ".join(map(self._letters.say, bound_grounds(found)))
        line: Line = [(first, self._letters.clip(words, width - first), BOLD if found.bound is Bound.GPU else BOLD + YELLOW)]
        room = width - first - len(words) - 2
        return [[*line, (first + len(words), self._letters.clip(f": {grounds}", room + 2), DIM)] if room > 0 and grounds else line]

    def lines(self, scene: TableScene, width: int) -> list[Line]:
        """All that is known: the last failure, what grows, and the verdict on each GPU."""
        found = [*self._failures(scene, width), *self._growing(scene, width), *self._verdicts(scene, width)]
        return found or [
            [],
            *self._paragraph(text("Nothing grows, nothing failed, and no verdict on a GPU can be given yet."), width),
        ]

    def _failures(self, scene: TableScene, width: int) -> Iterator[Line]:
        newest, *earlier = _moments(scene) or (None,)
        if newest is None:
            return
        scene.view.read = newest.monotonic
        yield []
        yield from self._paragraph(moment_title(newest), width, style=BOLD + RED)
        if newest.certain:
            for line in newest.message.splitlines():
                yield from self._said(self._letters.plain(line), width, style=DIM)
        for words in (moment_before(newest), desktop_words(newest)):
            if words is not None:
                yield from self._paragraph(words, width)
        if desktop_words(newest) is not None:
            for words in desktop_ways(self._commands):
                yield from self._paragraph(words, width, mark="- ")
        yield from self._picture(newest, width)
        for line in scene.answer:
            yield [(0, self._letters.plain(line), "")]
        if len(earlier) > 0:
            yield []
            yield from self._paragraph(text("Before that:"), width, style=DIM)
            for moment in earlier[:_EARLIER_AT_MOST]:
                yield from self._paragraph(moment_title(moment), width, mark="- ", style=DIM)

    def _picture(self, moment: FailureMoment, width: int) -> Iterator[Line]:
        picture = moment.picture
        if picture is None:
            return
        yield []
        yield from self._paragraph(picture_title(picture), width)
        unicode = self._letters.unicode
        bar = text_bar(picture, max(_BAR_AT_LEAST, min(_BAR_AT_MOST, width - 4)), unicode=unicode)
        yield [(2, self._letters.clip(f"[{bar}]", width - 2), "")]
        for line in text_legend(picture, self._letters.words, unicode=unicode):
            yield [(2, self._letters.clip(self._letters.plain(line), width - 2), "")]
        for note in (wanted(picture), *picture.notes):
            yield from self._paragraph(note, width, indent="  ", style=DIM)

    def _growing(self, scene: TableScene, width: int) -> Iterator[Line]:
        for growth in _growths(scene):
            yield []
            yield from self._paragraph(growth_words(growth, _since(growth, scene)), width, style=BOLD + YELLOW)
            full = until_full(growth)
            for words in (*((full,) if full is not None else ()), growth_next(growth)):
                yield from self._paragraph(words, width, indent="  ")

    def _verdicts(self, scene: TableScene, width: int) -> Iterator[Line]:
        told = {gpu.index: verdict_of(scene, gpu.index) for gpu in scene.view.gpus()}
        for gpu, found in told.items():
            if found is None:
                continue
            yield []
            style = BOLD + YELLOW if found.bound in {Bound.DATA, Bound.PYTHON, Bound.COPIES} else BOLD
            yield from self._paragraph(bound_words(found, scene.view.label_of(gpu)), width, style=style)
            for words in bound_grounds(found):
                yield from self._paragraph(words, width, mark="- ", style=DIM)
            for words in bound_next(found):
                yield from self._paragraph(words, width, indent="  ")

    def _paragraph(self, words: Text, width: int, *, indent: str = "", mark: str = "", style: str = "") -> Iterator[Line]:
        begin = f"{'  ' if mark else indent}{mark}"
        yield from self._said(self._letters.say(words), width, first=begin, style=style)

    def _said(self, words: str, width: int, *, first: str = "", style: str = "") -> Iterator[Line]:
        for row in wrapped(words, width, first=first, hanging=" " * len(first)):
            yield [(0, self._letters.clip(row, width), style)]


def _moments(scene: TableScene) -> Sequence[FailureMoment]:
    """The newest first."""
    moments = scene.insight.moments if scene.insight is not None else ()
    return [one for one in reversed(moments) if scene.view.gpu in {None, one.gpu} and one.monotonic <= scene.now]


def _is_news(moment: FailureMoment, scene: TableScene) -> bool:
    if scene.replayed:
        return scene.now - moment.monotonic < _TOLD_SECONDS
    return scene.view.read is None or moment.monotonic > scene.view.read


def _growths(scene: TableScene) -> Sequence[ProgramGrowth]:
    growths = scene.insight.growths if scene.insight is not None else ()
    return [one for one in growths if scene.view.gpu in {None, one.gpu}]


def _since(growth: ProgramGrowth, scene: TableScene) -> float:
    return scene.history.epoch_of_zero + growth.growth.since
