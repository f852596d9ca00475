"""At most so many repaints a second: the first request is met at once, those that follow too soon are met together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

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
    """Does the first step at once and the others when the event loop comes by. Steps that are begun meanwhile take the place of
    those that are left; all of it goes with its parent.
    """

    done = Signal()  # the last step is

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._steps: Iterator[Step] | None = None
        # A timer of our own goes with us; QTimer.singleShot would still call a method whose object is gone (PySide6 6.11.3).
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.setInterval(_AFTER_THE_PAINT_MILLISECONDS)
        self._turn.timeout.connect(self._rest)
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.timeout.connect(self._take)

    @property
    def busy(self) -> bool:
        """Whether a step is still to come."""
        return self._steps is not None

    def begin(self, steps: Iterable[Step]) -> None:
        self.begin_later(steps)
        self._take()

    def begin_later(self, steps: Iterable[Step]) -> None:
        """The first step has its own turn as well."""
        self.drop()
        self._steps = iter(steps)
        self._turn.start()

    def drop(self) -> None:
        """Does no more of them."""
        self._steps = None
        self._turn.stop()
        self._next.stop()

    @Slot()
    def _rest(self) -> None:
        """What was made last is laid out and painted: what the user did meanwhile is answered before the next step."""
        self._next.start()

    @Slot()
    def _take(self) -> None:
        steps = self._steps
        step = next(steps, None) if steps is not None else None
        if step is not None:
            step()
            if self._steps is steps:  # the step itself may have begun others
                self._turn.start()
        elif steps is not None and self._steps is steps:
            self.drop()
            self.done.emit()
