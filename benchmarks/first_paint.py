"""Child of `startup` and `start`: opens a window, says when its first paint was done and after how many seconds of processor time,
and leaves without closing anything.

`first_paint.py floor` shows an empty PySide6 window, `first_paint.py gpuassist ARGUMENT…` the real one, and with `answer` in place
of `gpuassist` it is the paint after this machine was read and judged.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection


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
    from gpuassist import __main__ as program  # as a user starts it

    program._import_uuid()
    program._import_msgspec()
    if arguments[0] == "answer":
        _report_first_answer()
    else:
        _report_from_next_loop()
    program.main()


def _report_from_next_loop() -> None:
    from PySide6.QtWidgets import QApplication

    QApplication.exec = lambda *_: _exec_until_painted(QApplication.instance())  # type: ignore[method-assign]


def _report_first_answer() -> None:
    from gpuassist.ui import page_stack

    shown = page_stack.PageStack.show_inspection

    def observed(self: page_stack.PageStack, inspection: Inspection) -> None:
        shown(self, inspection)
        from PySide6.QtCore import QTimer

        def painted() -> None:
            self.window().repaint()
            _tell()

        QTimer.singleShot(0, painted)  # what is laid out in this turn of the loop

    page_stack.PageStack.show_inspection = observed  # type: ignore[method-assign]


def _tell() -> None:
    os.write(1, f"{time.monotonic()} {time.process_time()}\n".encode())
    os._exit(0)


def _exec_until_painted(application: object) -> int:
    from PySide6.QtCore import QCoreApplication, QEvent, QObject
    from PySide6.QtWidgets import QWidget

    class Watch(QObject):
        """Sees every event before its receiver."""

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 -- Qt's name
            if event.type() == QEvent.Type.UpdateRequest and isinstance(watched, QWidget) and watched.isWindow():
                watched.event(event)  # paints now
                _tell()
            return False

    assert isinstance(application, QCoreApplication)
    watch = Watch()
    application.installEventFilter(watch)
    return QCoreApplication.exec()


if __name__ == "__main__":
    main(sys.argv[1:])
