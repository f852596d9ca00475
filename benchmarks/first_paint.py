"""Child of `startup`: opens a window, says when its first paint was done, and leaves without closing anything.

`first_paint.py floor` shows an empty PySide6 window, `first_paint.py gpuassist ARGUMENT…` the real one.
"""

from __future__ import annotations

import os
import sys
import time


def main(arguments: list[str]) -> None:
    """Replaces the event loop's start by one that reports the first paint."""
    if arguments[0] == "floor":
        from PySide6.QtGui import QColor, QPainter, QPaintEvent
        from PySide6.QtWidgets import QApplication, QWidget

        class Empty(QWidget):
            """The least that paints."""

            def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 -- Qt's name
                painter = QPainter(self)
                painter.fillRect(self.rect(), QColor("white"))
                painter.end()

        application = QApplication([])
        window = Empty()
        window.resize(1280, 800)
        window.show()
        _exec_until_painted(application)
        return
    sys.argv = ["gpuassist", *arguments[1:]]
    from gpuassist import app

    _report_from_next_loop()
    app.main(sys.argv[1:])


def _report_from_next_loop() -> None:
    from PySide6.QtWidgets import QApplication

    QApplication.exec = lambda *_: _exec_until_painted(QApplication.instance())  # type: ignore[method-assign]


def _exec_until_painted(application: object) -> int:
    from PySide6.QtCore import QCoreApplication, QEvent, QObject
    from PySide6.QtWidgets import QWidget

    class Watch(QObject):
        """Sees every event before its receiver."""

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 -- Qt's name
            if event.type() == QEvent.Type.UpdateRequest and isinstance(watched, QWidget) and watched.isWindow():
                watched.event(event)  # paints now
                os.write(1, f"{time.monotonic()}\n".encode())
                os._exit(0)
            return False

    assert isinstance(application, QCoreApplication)
    watch = Watch()
    application.installEventFilter(watch)
    return QCoreApplication.exec()


if __name__ == "__main__":
    main(sys.argv[1:])
