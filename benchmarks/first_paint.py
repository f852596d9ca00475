"""Child of `startup` and `start`: opens a window, says when its first paint was done and after how many seconds of processor time,
and leaves without closing anything.

`first_paint.py floor` shows an empty PySide6 window, `first_paint.py gpuassist ARGUMENT…` the real one, and with `answer` in place
of `gpuassist` it is the paint after this machine was read and judged. Nothing is imported that the program would not import itself,
or in another order, and no event is looked at: an event filter alone names a hundred classes, which takes 50 ms.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from gpuassist.session.inspect import Inspection
    from gpuassist.ui.application import WindowRun
    from gpuassist.ui.page_stack import PageStack


def main(arguments: list[str]) -> None:
    """Starts what is asked for."""
    if arguments[0] == "floor":
        _show_empty()
        return
    sys.argv = ["gpuassist", *arguments[1:]]
    from gpuassist import __main__ as program  # as a user starts it

    program._import_uuid()
    program._import_msgspec()
    from gpuassist import app

    _report(app, answer=arguments[0] == "answer")
    program.main()


def _show_empty() -> None:
    from PySide6.QtCore import QTimer
    from PySide6.QtGui import QColor, QPainter, QPaintEvent
    from PySide6.QtWidgets import QApplication, QWidget

    class Empty(QWidget):
        """The least that paints."""

        def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 -- Qt's name
            painter = QPainter(self)
            painter.fillRect(self.rect(), QColor("white"))
            painter.end()
            QTimer.singleShot(0, _tell)  # as ours does: in the next turn of the loop

    application = QApplication([])
    window = Empty()
    window.resize(1280, 800)
    window.show()
    application.exec()


def _report(app: ModuleType, *, answer: bool) -> None:
    """Once the program imports its window."""
    open_window = app.open_window

    def opened(*arguments: object) -> object:
        from gpuassist.ui.application import WindowRun

        if answer:
            _report_first_answer(WindowRun)
        else:
            WindowRun._begin = lambda _: _tell()  # type: ignore[assignment,method-assign]  # what follows the first paint
        return open_window(*arguments)

    app.open_window = opened  # type: ignore[attr-defined]


def _report_first_answer(run: type[WindowRun]) -> None:
    furnish = run._furnish

    def furnish_and_watch(self: WindowRun) -> None:
        from gpuassist.ui.page_stack import PageStack  # was imported on the thread that calls for this

        _report_shown(PageStack)
        furnish(self)

    run._furnish = furnish_and_watch  # type: ignore[method-assign]


def _report_shown(stack: type[PageStack]) -> None:
    show = stack.show_inspection

    def shown(self: PageStack, inspection: Inspection) -> None:
        show(self, inspection)
        from PySide6.QtCore import QTimer

        def painted() -> None:
            self.window().repaint()
            _tell()

        QTimer.singleShot(0, painted)  # what is laid out in this turn of the loop

    stack.show_inspection = shown  # type: ignore[method-assign]


def _tell() -> None:
    os.write(1, f"{time.monotonic()} {time.process_time()}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
