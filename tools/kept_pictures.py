"""Keeps what a window shows, light and dark, in few bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tools.screenshots import SETTLED_MILLISECONDS

if TYPE_CHECKING:
    from PySide6.QtGui import QImage, QPixmap

    from gpuassist.ui.application import WindowRun

COLOURS, FLAT_COLOURS = 255, 16

Shots = Iterator[int]
"""Does one thing each time it is asked, and says how many milliseconds that takes to settle."""


def keep(run: WindowRun, folder: Path, name: str, grab: Callable[[], QPixmap] | None = None) -> Shots:
    """Saves what is shown as NAME-light.png and NAME-dark.png."""
    from gpuassist.ui.theme import Appearance

    assert run.theme is not None
    for appearance in (Appearance.DARK, Appearance.LIGHT):
        run.theme.choose(appearance)
        yield SETTLED_MILLISECONDS // 2
        picture = (grab or run.window.grab)()
        path = folder / f"{name}-{appearance.value}.png"
        save_small(picture.toImage(), path)
        print(path, path.stat().st_size, flush=True)


def save_small(image: QImage, path: Path) -> None:
    """With a palette of the colours that are met most often, which serves a window of flat colours: a third of the bytes."""
    import numpy
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QImage

    plain = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = numpy.frombuffer(plain.constBits(), numpy.uint32) | numpy.uint32(0xFF000000)
    exact, met = numpy.unique(pixels, return_counts=True)
    # Colours that nobody tells apart count as one, so that rare ones, such as a plot's line, get a place as well.
    _, places, counts = numpy.unique(pixels & numpy.uint32(0xFFF8F8F8), return_index=True, return_counts=True)
    flat = exact[numpy.argsort(met)[::-1][:FLAT_COLOURS]]
    common = pixels[places[numpy.argsort(counts)[::-1][:COLOURS]]]
    table = list(dict.fromkeys(map(int, (*flat, *common))))[:COLOURS]
    small = plain.convertToFormat(QImage.Format.Format_Indexed8, table, Qt.ImageConversionFlag.ThresholdDither)
    small.save(str(path), "PNG", 0)  # type: ignore[call-overload]  # 0 is the strongest compression of PNG
