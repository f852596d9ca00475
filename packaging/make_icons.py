"""Draws the application's icon in the sizes of the desktop's icon theme: `python packaging/make_icons.py`. Each picture names the
drawing that it was made of, so that a test can tell when one is out of date.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

HERE = Path(__file__).resolve().parent
DRAWING = HERE.parent / "resources" / "icons" / "gpuassist.svg"
SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
MADE_OF = "Source"


def drawn_from() -> str:
    """What a picture says that it was made of."""
    return sha256(DRAWING.read_bytes()).hexdigest()[:32]  # a longer text would be written packed


def main() -> None:
    """Writes `icons/SIZE.png`."""
    application = QGuiApplication([])
    renderer = QSvgRenderer(str(DRAWING))
    (HERE / "icons").mkdir(exist_ok=True)
    for size in SIZES:
        picture = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        renderer.render(painter)
        painter.end()
        picture.setText(MADE_OF, drawn_from())
        picture.save(str(HERE / "icons" / f"{size}.png"))
    application.quit()


if __name__ == "__main__":
    main()
