"""At most so many repaints a second: the first request is met at once, those that follow too soon are met together."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, QTimer, Signal, Slot

REPAINTS_A_SECOND = 4


class Pace(QObject):
    """Emits `due` for requests, but never more often than its interval."""

    due = Signal()

    def __init__(self, parent: QObject, *, milliseconds: int = 1000 // REPAINTS_A_SECOND) -> None:
        super().__init__(parent)
        self._wanted = False
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(milliseconds)
        self._rest.timeout.connect(self._wake)

    @Slot()
    def request(self) -> None:
        self._wanted = True
        if not self._rest.isActive():
            self._wake()

    def stop(self) -> None:
        self._wanted = False
        self._rest.stop()

    @Slot()
    def _wake(self) -> None:
        if self._wanted:
            self._wanted = False
            self._rest.start()
            self.due.emit()


# Many small steps of building, one on each turn of the event loop: between them the window paints and answers.


Step = Callable[[], None]

_AFTER_THE_PAINT_MILLISECONDS = 1  # a delay of 0 comes before it


class InTurns(QObject):
    """Does the first step at once and the others when the event loop comes by; goes with its parent, done or not."""

    done = Signal()

    def __init__(self, steps: Iterable[Step], parent: QObject) -> None:
        super().__init__(parent)
        self._steps = iter(steps)
        self.is_done = False
        # A timer of our own goes with us; QTimer.singleShot would still call a method whose object is gone (PySide6 6.11.3).
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.setInterval(_AFTER_THE_PAINT_MILLISECONDS)
        self._turn.timeout.connect(self._rest)
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.timeout.connect(self._take)

    def start(self) -> None:
        self._take()

    def start_later(self) -> None:
        """The first step has its own turn as well."""
        self._turn.start()

    @Slot()
    def _rest(self) -> None:
        """What was made last is laid out and painted: what the user did meanwhile is answered before the next step."""
        self._next.start()

    @Slot()
    def _take(self) -> None:
        step = next(self._steps, None)
        if step is None:
            self.is_done = True
            self.done.emit()
            return
        step()
        self._turn.start()
