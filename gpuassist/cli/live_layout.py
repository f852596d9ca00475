"""The live table as lines of styled words: a head, the GPUs (`live_gpus`), the processes (`live_processes`), and what keys do."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.cli.live_gpus import GpuLines
from gpuassist.cli.live_insight import InsightScreen, news
from gpuassist.cli.live_lettering import Lettering, Line
from gpuassist.cli.live_processes import ProcessLines
from gpuassist.cli.live_view import KEY_WORDS, REPLAY_KEY_WORDS, LiveView, LowerPart, TableScene
from gpuassist.cli.paragraphs import columns, wrapped
from gpuassist.cli.streams import BOLD, DIM, RED, YELLOW
from gpuassist.detect.gpu_holders import GpuHolder
from gpuassist.formats.visible import on_one_line
from gpuassist.knowledge.commands import Commands
from gpuassist.model.fact import value_or
from gpuassist.model.sample import Event, EventKind
from gpuassist.model.text import Text, joined, text, verbatim
from gpuassist.model.words import Words
from gpuassist.present.holders import stop_question, stop_warning
from gpuassist.present.process_table import GROUPING_WORDS, LiveRow, duration, process_details
from gpuassist.present.samples import clock, gpu_label, subtitle

_WARNING_AT_MOST = 2  # rows of one: some are as long as a page
_HEAD_SHARE = 3  # of the screen: figures are more than news
_NAME_THEIR_GPU = frozenset({EventKind.ALERT, EventKind.DRIVER_RELOADED, EventKind.SUSPENDED, EventKind.CLOCK_SET})


class LiveLayout:
    """Lays out for one terminal: what it can show, and in which language."""

    def __init__(self, words: Words, commands: Commands, *, unicode: bool) -> None:
        self._letters = Lettering(words, unicode=unicode)
        self._insight = InsightScreen(self._letters, commands)
        self._gpus = GpuLines(self._letters, self._insight)
        self._processes = ProcessLines(self._letters)

    def screen(self, scene: TableScene, width: int, height: int) -> list[Line]:
        """As many lines as the terminal has rows."""
        view = scene.view
        head = self._head(scene, width)[: max(1, height // _HEAD_SHARE)]
        room = max(0, height - 1 - len(head))
        row = view.chosen_row()
        if scene.question is not None:
            body = self._question(scene.question, width)
        elif view.shown is LowerPart.KEYS:
            body = self._scrolled(self._keys(scene, width), view, room)
        elif view.sample is None:
            body = []
        elif view.shown is LowerPart.INSIGHT:
            body = self._scrolled(self._insight.lines(scene, width), view, room)
        elif view.shown is LowerPart.DETAILS and row is not None:
            body = self._scrolled(self._details(row, scene, width), view, room)
        else:
            body = self._gpus.fitted(scene, width, room)
            body += self._processes.lines(scene, width, room - len(body))
        lines = [*head, *body[:room]]
        lines += [[] for _ in range(height - 1 - len(lines))]
        return [*lines, self._foot(scene, width)][-height:]

    def whole(self, scene: TableScene, width: int) -> list[Line]:
        """Everything, below each other: for a terminal that is printed on and not drawn on."""
        scene = replace(scene, has_keys=False)
        lines = [*self._head(scene, width), *self._gpus.lines(scene, width, None, len(scene.view.gpus()))]
        return [*lines, *self._processes.lines(scene, width, len(scene.view.rows()) + 1)]

    def _head(self, scene: TableScene, width: int) -> list[Line]:
        view, sample, replay = scene.view, scene.view.sample, scene.replay
        parts = [subtitle(sample, scene.since_epoch)] if sample is not None else [_asked(scene.server)]
        if scene.server:
            parts = [verbatim(scene.server), *parts]
        if view.gpu is not None:
            parts = [text("GPU {index} alone", index=view.label_of(view.gpu)), *parts]
        if replay is not None:
            parts = [replay, *parts]
        elif view.paused and sample is not None:
            parts = [text("paused at {time}", time=clock(sample.time, seconds=True)), *parts]
        if scene.recording:
            parts.append(text("recording to {name}", name=scene.recording.rpartition("/")[2]))
        time = clock(scene.epoch, seconds=True)
        style = DIM if scene.stale is not None else BOLD
        line = [
            (0, self._letters.fitted(joined(tuple(parts)), width - len(time) - 1), style),
            (max(0, width - len(time)), time, DIM),
        ]
        lines = [line]
        if scene.stale is not None:
            lines += self._warned(scene.stale, width)
        lines += [[(0, self._letters.clip(row, width), "")] for row in self._noted(scene, width)]
        for warning in self._warnings(scene):
            lines += self._warned(warning, width)
        return lines

    def _warned(self, warning: Text, width: int) -> list[Line]:
        rows = wrapped(self._letters.say(text("! {words}", words=warning)), width, hanging="  ")
        if len(rows) > _WARNING_AT_MOST:
            kept = rows[: _WARNING_AT_MOST - 1]
            rows = [*kept, "  " + " ".join(map(str.strip, rows[len(kept) :]))]
        return [[(0, self._letters.clip(row, width), YELLOW)] for row in rows]

    def _noted(self, scene: TableScene, width: int) -> Iterator[str]:
        for words in scene.notes:
            yield from wrapped(self._letters.say(text("> {words}", words=words)), width, hanging="  ")

    def _warnings(self, scene: TableScene) -> Iterator[Text]:
        """Why there are no figures, what the figures mean, and what happened in the last minute."""
        yield from scene.view.trouble
        yield from news(scene)
        known = {one.monotonic for one in scene.insight.moments} if scene.insight is not None else set()
        for at, event in scene.view.events(scene.epoch):
            if event.kind is not EventKind.OUT_OF_MEMORY or event.monotonic not in known:
                yield text("{time} {words}", time=clock(at, seconds=True), words=_happened(event, scene.view))

    def _scrolled(self, lines: list[Line], view: LiveView, room: int) -> list[Line]:
        view.page = max(1, room)
        view.scrolled = max(0, min(view.scrolled, len(lines) - room))
        view.goes_on = len(lines) > room
        return lines[view.scrolled :]

    def _question(self, held: GpuHolder, width: int) -> list[Line]:
        lines: list[Line] = [[], [(0, self._letters.fitted(stop_question(held), width), BOLD + RED)], []]
        for paragraph in self._letters.words(stop_warning(held)).split("\n"):
            lines += [[(0, self._letters.clip(row, width), "")] for row in wrapped(self._letters.plain(paragraph), width) or [""]]
        return lines

    def _details(self, row: LiveRow, scene: TableScene, width: int) -> list[Line]:
        lines: list[Line] = [[], [(0, self._letters.fitted(row.title, width), BOLD)]]
        if row.single is None:
            for part in row.parts:
                command = value_or(part.process.command, "")
                words = f"GPU {gpu_label(part.gpu)}  {part.process.pid}  {command}"
                lines += [[(2, one, "")] for one in self._letters.cut(on_one_line(words), width - 2)]
            return lines
        told = [(self._letters.say(label), self._letters.say(words)) for label, words in process_details(row.single, scene.epoch)]
        indent = min(max(columns(label) for label, _ in told) + 2, width // 2)
        for label, words in told:
            for number, piece in enumerate(self._letters.cut(words, max(8, width - indent))):
                lines.append([*([(0, label, DIM)] if not number else []), (indent, piece, "")])
        return lines

    def _keys(self, scene: TableScene, width: int) -> list[Line]:
        words = KEY_WORDS if scene.replay is None else REPLAY_KEY_WORDS
        told = [(self._letters.plain(keys), self._letters.say(meaning)) for keys, meaning in words]
        indent = min(max(columns(keys) for keys, _ in told) + 2, width // 2)
        lines: list[Line] = [[]]
        for keys, meaning in told:
            for number, row in enumerate(wrapped(meaning, max(8, width - indent))):
                lines.append([*([(0, keys, BOLD)] if not number else []), (indent, row, "")])
        return lines

    def _foot(self, scene: TableScene, width: int) -> Line:
        view = scene.view
        if scene.question is not None:
            return [(0, self._letters.fitted(text("y end it · any other key leaves it alone"), width), BOLD)]
        if view.typing:
            return [(0, self._letters.clip(f"/{self._letters.plain(on_one_line(view.filter))}_", width), BOLD)]
        if view.shown is not LowerPart.TABLE:
            words = text("↑ ↓ PgUp PgDn more · Esc back · q quit") if view.goes_on else text("Esc back · q quit")
            return [(0, self._letters.fitted(words, width), DIM)]
        rows = view.rows() if view.sample is not None else ()
        parts = [text("? keys"), text("q quit"), *((text("space plays"), text(", . time")) if scene.replay is not None else ())]
        parts += [text("s sort"), GROUPING_WORDS[view.grouping], text("/ filter"), text("w meaning"), text("0–9 GPU")]
        if view.filter:
            parts = [text("filter: {words} (Esc clears)", words=view.filter), *parts]
        if len(rows) > view.listed > 0:
            last = view.offset + view.listed
            parts = [text("{first}–{last} of {all}", first=view.offset + 1, last=last, all=len(rows)), *parts]
        if view.seconds is not None:
            parts.append(text("last {time}", time=duration(view.seconds)))
        return [(0, self._letters.fitted(joined(tuple(parts)), width), DIM)]


def _asked(server: str) -> Text:
    return text("asking the server") if server else text("asking the driver")


def _happened(event: Event, view: LiveView) -> Text:
    """What happened, and to which GPU, where its words do not say that."""
    if event.gpu is None or event.kind in _NAME_THEIR_GPU:
        return event.text
    return text("GPU {index}: {words}", index=view.label_of(event.gpu), words=event.text)
