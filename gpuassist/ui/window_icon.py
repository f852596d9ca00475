"""The program's icon, for its window and dialogs."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from gpuassist.system.resources import Resources

_NAME = "icons/gpuassist.svg"
_SIDES = (16, 24, 32, 48, 64, 128, 256)


def window_icon(resources: Resources) -> QIcon:
    """Drawn in the sizes that title bars and lists of windows show; an empty one in a damaged copy."""
    icon = QIcon()
    try:
        drawn = QSvgRenderer(QByteArray(resources.read(_NAME)))
    except OSError:
        return icon
    for side in _SIDES if drawn.isValid() else ():
        picture = QPixmap(side, side)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        drawn.render(painter)
        painter.end()
        icon.addPixmap(picture)
    return icon
