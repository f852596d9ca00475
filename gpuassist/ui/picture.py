"""Pictures drawn by Qt without a window, also where there is no display."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

_SCALE = 2  # for screens with fine pixels, and for print


def draw_png(svg: str) -> bytes:
    """A PNG of an SVG document, at twice its size."""
    # Fonts need an application, which must outlive the drawing; without a window it needs no display either.
    application = QGuiApplication.instance() or QGuiApplication(["gpuassist", "-platform", "offscreen"])
    renderer = QSvgRenderer(QByteArray(svg.encode()))
    image = QImage(renderer.defaultSize() * _SCALE, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    del application
    return bytes(buffer.data().data())
