"""The upper part of the live table: a line for each GPU, its columns as wide as their figures, and its curve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from gpuassist.cli.live_curve import bar, drawn_curve, shares_of
from gpuassist.cli.live_insight import InsightScreen, verdict_of
from gpuassist.cli.live_lettering import Lettering, Line, Span
from gpuassist.cli.live_view import LiveView, TableScene
from gpuassist.cli.paragraphs import columns
from gpuassist.cli.streams import BOLD, CYAN, DIM, GREEN, RED, YELLOW
from gpuassist.model.fact import value_or
from gpuassist.model.sample import GpuSample
from gpuassist.model.text import counted
from gpuassist.present.gpu_line import gpu_cells, share_used
from gpuassist.present.insight import bound_briefly
from gpuassist.present.samples import row_label

_CURVE_AT_MOST = {1: 8, 2: 5}
_OTHER_CURVE_AT_MOST = 4
_WORTH_A_CURVE_SECONDS = 5.0  # a curve and a peak of one screen say nothing
_CURVE_IN_LINE, _CURVE_IN_LINE_AT_MOST = 8, 40
_BAR_AT_LEAST, _BAR_AT_MOST = 10, 32
_NAME_AT_LEAST, _REASON_AT_LEAST = 8, 14
_PROCESSES_AT_LEAST = 4
_FULL, _NEARLY_FULL = 0.95, 0.8
# In which order what has room is chosen; then they stand in the order of a line.
_GPU_RANK = ("memory", "use", "temperature", "bar", "curve", "power", "name", "waits", "held", "peak")
_FIRST_EXTRA = "peak"  # a name that can be read is worth more
_GPU_ORDER = ("name", "bar", "memory", "use", "temperature", "power", "waits", "held", "curve", "peak")
_KIND_STYLES = {"waits": YELLOW, "held": YELLOW, "memory": BOLD, "curve": CYAN}
_BEHIND_MEMORY = ("use", "temperature", "power", "waits", "held", "peak")


class GpuPlace(Struct, frozen=True):
    """Where the figures of a GPU stand: from which column on, how wide each kind is, in their order, and where the line ends."""

    first: int
    widths: Mapping[str, int]
    end: int


class GpuLines:
    """Lays out for one terminal."""

    def __init__(self, letters: Lettering, insight: InsightScreen) -> None:
        self._letters, self._insight = letters, insight

    def fitted(self, scene: TableScene, width: int, height: int) -> list[Line]:
        gpus = scene.view.gpus()
        count = len(gpus)
        below = min(len(scene.view.rows()), max(_PROCESSES_AT_LEAST, height // 3)) + 1
        most = _CURVE_AT_MOST.get(count, _OTHER_CURVE_AT_MOST)
        curve = max(0, min(most, (height - below - count) // count)) if count else 0
        if count <= height:
            return self.lines(scene, width, curve, count)
        hidden = counted(
            "and {count} more GPU: ← → shows one alone", "and {count} more GPUs: ← → shows one alone", count - height + 1
        )
        return [*self.lines(scene, width, 0, max(0, height - 1)), [(0, self._letters.fitted(hidden, width), DIM)]]

    def lines(self, scene: TableScene, width: int, curve_rows: int | None, most: int) -> list[Line]:
        """`curve_rows` is how high the curves below the lines are; 0 and none: in the lines, none once there is one."""
        gpus = scene.view.gpus()[:most]
        begun = curve_rows is not None or scene.now - scene.since >= _WORTH_A_CURVE_SECONDS
        peaks = scene.peaks if begun else {}
        alone = sum(gpu.parent is None for gpu in gpus) == 1
        told = [self._cells(scene, gpu, peaks.get(gpu.index, 0), alone=alone) for gpu in gpus]
        part_of = "└ " if self._letters.unicode else ""
        labels = [f"{part_of if gpu.parent is not None else ''}{row_label(gpu)}" for gpu in gpus]
        first = max([2, *map(columns, labels)]) + 1
        widths = self._gpu_widths(told, width - first, scene.view, has_curve=begun and not curve_rows)
        place = GpuPlace(first, {kind: widths[kind] for kind in _GPU_ORDER if kind in widths}, width)
        lines: list[Line] = []
        for gpu, cells, label in zip(gpus, told, labels, strict=True):
            if "curve" in widths and "trouble" not in cells:
                cells["curve"] = self._curve(scene, gpu, widths["curve"], 1)[0]
            lines.append([(0, label, BOLD), *self._gpu_line(gpu, cells, place)])
            curve = self._curve(scene, gpu, width - first, curve_rows) if curve_rows else []
            if "trouble" not in cells or any(row.strip() for row in curve):  # one that sleeps needs no room
                lines += [[(first, row, CYAN)] for row in curve]
            if alone and gpu.parent is None:
                lines += self._insight.beside(scene, gpu.index, first, width)
        return lines if scene.stale is None else [[(at, words, DIM) for at, words, _ in line] for line in lines]

    def _cells(self, scene: TableScene, gpu: GpuSample, peak: int, *, alone: bool) -> dict[str, str]:
        """Its figures in words; what it waits for stands in a line of its own where it is alone."""
        cells = gpu_cells(gpu, peak)
        verdict = verdict_of(scene, gpu.index)
        brief = bound_briefly(verdict) if verdict is not None and not alone else None
        if brief is not None:
            cells["waits"] = brief
        return {kind: self._letters.say(words) for kind, words in cells.items()}

    def _gpu_widths(self, told: Sequence[Mapping[str, str]], room: int, view: LiveView, *, has_curve: bool) -> dict[str, int]:
        """How wide each kind of figure is, none for those without room; what is left goes to the name, then to bar and curve."""
        natural = {kind: max((columns(cells.get(kind, "")) for cells in told), default=0) for kind in _GPU_ORDER}
        if any("trouble" in cells for cells in told):
            natural["memory"] = max(natural["memory"], _REASON_AT_LEAST)
        for kind, wide in natural.items():
            natural[kind] = view.widths[kind] = max(wide, view.widths.get(kind, 0))
        natural |= {"bar": _BAR_AT_LEAST, "curve": _CURVE_IN_LINE if has_curve else 0}
        widths: dict[str, int] = {}

        def widen(kind: str, most: int, more: int) -> int:
            added = max(0, min(more, most - widths[kind]))
            widths[kind] += added
            return added

        for kind in _GPU_RANK:
            if kind == _FIRST_EXTRA and "name" in widths:
                room -= widen("name", natural["name"], room)
            least = min(natural[kind], _NAME_AT_LEAST) if kind == "name" else natural[kind]
            if least and least + 1 <= room:
                widths[kind] = least
                room -= least + 1
        if "bar" in widths:
            room -= widen("bar", _BAR_AT_MOST, room // 2 if "curve" in widths else room)
        if "curve" in widths:
            widen("curve", _CURVE_IN_LINE_AT_MOST, room)
        return widths

    def _gpu_line(self, gpu: GpuSample, cells: Mapping[str, str], place: GpuPlace) -> Iterator[Span]:
        """The figures in their columns; why there is none stands in place of the memory's, or of all."""
        at, trouble, share = place.first, cells.get("trouble"), share_used(gpu)
        for kind, wide in place.widths.items():
            if kind == "bar":
                if share is not None:
                    used, free = bar(share, wide, unicode=self._letters.unicode)
                    yield at, used, RED if share >= _FULL else YELLOW if share >= _NEARLY_FULL else GREEN
                    yield at + len(used), free, DIM
            elif kind == "memory" and trouble is not None:
                start = at - place.widths["bar"] - 1 if "bar" in place.widths else at
                end = at + wide if any(cells.get(other) for other in _BEHIND_MEMORY) else place.end
                yield start, self._letters.clip(trouble, end - start), DIM
            elif cells.get(kind):
                words = self._letters.clip(cells[kind], wide)
                start = at if kind in {"name", "waits", "held", "curve"} else at + wide - columns(words)
                yield start, words, _KIND_STYLES.get(kind, "")
            at += wide + 1

    def _curve(self, scene: TableScene, gpu: GpuSample, width: int, rows: int) -> list[str]:
        count = width * 2 if self._letters.unicode else width
        window = scene.view.window(count, scene.since, scene.now)
        curve = scene.history.curve(gpu.index, window)
        until = scene.now if window.until is None else window.until
        capacity = value_or(gpu.memory_total_bytes, 0) or max(curve.high, default=0.0)
        shares = shares_of(curve, until - window.seconds, until, count, capacity=float(capacity), gap=scene.history.gap_seconds)
        return drawn_curve(shares, rows, unicode=self._letters.unicode)
