"""Child of `snapshot_plot`: a plot of so many allocations and frees is drawn, zoomed, moved and asked; prints what a frame cost.

`snapshot_plot_child.py EVENTS`: a JSON object with the milliseconds of processor time of the longest frame and of the median.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gpuassist.session.memory_timeline import BlockLives, MemoryTimeline, SparseCurve
from gpuassist.ui.plots.allocation_plot import AllocationPlot
from gpuassist.ui.plots.allocation_scene import AllocationScene
from gpuassist.ui.plots.allocation_view import AllocationView, EventAxis

WIDTH, HEIGHT, FRAMES = 1250, 420, 200
STACKS, WEIGHTS = 2000, 300


def made_lives(events: int, *, steps: int = 40, seed: int = 1) -> BlockLives:
    """As training makes them: weights before the recording, in each step activations that are freed in the order of the backward
    pass with short-lived blocks in between, and a little that is never freed.
    """
    random = np.random.default_rng(seed)
    blocks = events // 2
    each = blocks // steps
    since = np.empty(blocks, np.int64)
    until = np.empty(blocks, np.int64)
    for step in range(steps):
        first = step * each
        count = each if step < steps - 1 else blocks - first
        forward = 2 * first + np.arange(count)
        since[first : first + count] = forward
        until[first : first + count] = 2 * first + 2 * count - 1 - np.arange(count)
    leaks = random.random(blocks) < 0.0005
    until[leaks] = events
    sizes = (random.pareto(1.2, blocks) * 4096).astype(np.int64) // 512 * 512 + 512
    owned = (random.pareto(0.8, blocks) * 8).astype(np.int64) % STACKS
    weights = np.full(WEIGHTS, 64 << 20, np.int64)
    return BlockLives(
        np.concatenate((weights, np.minimum(sizes, 256 << 20))),
        np.concatenate((np.arange(WEIGHTS) % 7, owned)),
        np.concatenate((np.zeros(WEIGHTS, np.int64), since + 1)),
        np.concatenate((np.full(WEIGHTS, events + 1), until + 1)),
        events,
        STACKS,
        np.cumsum(random.exponential(1e-5, events)),
    )


def main(events: int) -> None:
    """Prints the figures."""
    application = QApplication([])
    lives = made_lives(events)
    began = time.process_time()
    timeline = MemoryTimeline(lives)
    found: dict[str, object] = {"made": (time.process_time() - began) * 1000}
    highest = np.maximum.accumulate(timeline.total.values)
    changes = np.concatenate(([0], np.flatnonzero(np.diff(highest)) + 1))
    scene = AllocationScene(timeline, SparseCurve(changes, highest[changes]))
    scene.choose(scene.largest(timeline.total.peak))
    plot = AllocationPlot("made up")
    plot.resize(WIDTH, HEIGHT)
    plot.show_scene(scene, AllocationView(EventAxis(timeline)))
    plot.show()
    application.processEvents()
    for name, does in ways(plot, scene).items():
        found[name] = _frames(plot, does)
    print(json.dumps(found))


def ways(plot: AllocationPlot, scene: AllocationScene) -> dict[str, Callable[[int], None]]:
    """What a user does, by frames."""

    def choose(frame: int) -> None:
        scene.choose(scene.largest((frame + 1) * scene.timeline.last // (FRAMES + 1)))
        plot.redraw()

    def whole(frame: int) -> None:
        plot.go_whole()

    return {
        "whole": whole,
        "zoom": lambda frame: _turn(plot, 120 if frame % 60 < 30 else -120),
        "pan": lambda frame: plot.pan(0.003 if frame % 2 else 0.05),
        "hover": lambda frame: _move(plot, QPoint(120 + frame * 5 % 1000, 60 + frame * 13 % 320)),
        "keys": lambda frame: QTest.keyClick(plot, (Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down)[frame % 3]),
        "choose": choose,
    }


def _frames(plot: AllocationPlot, does: Callable[[int], None]) -> dict[str, float]:
    plot.go_whole()
    plot.repaint()
    times = []
    for frame in range(FRAMES):
        began = time.thread_time()
        does(frame)
        plot.repaint()
        times.append((time.thread_time() - began) * 1000)
    return {"longest": max(times), "median": statistics.median(times)}


def _turn(plot: AllocationPlot, angle: int) -> None:
    at = QPointF(plot.width() * 0.61, plot.height() / 2)
    none = Qt.MouseButton.NoButton
    event = QWheelEvent(
        at, at, QPoint(), QPoint(0, angle), none, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, *(False,)
    )
    QApplication.sendEvent(plot, event)


def _move(plot: AllocationPlot, at: QPoint) -> None:
    none = Qt.MouseButton.NoButton
    event = QMouseEvent(QEvent.Type.MouseMove, QPointF(at), QPointF(at), none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(plot, event)


if __name__ == "__main__":
    main(int(sys.argv[1]))
