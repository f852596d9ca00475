"""At most so many repaints a second: the first request is met at once, those that follow too soon are met together."""

from __future__ import annotations

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
        """Something changed."""
        self._wanted = True
        if not self._rest.isActive():
            self._wake()

    def stop(self) -> None:
        """Nothing is due any more."""
        self._wanted = False
        self._rest.stop()

    @Slot()
    def _wake(self) -> None:
        if self._wanted:
            self._wanted = False
            self._rest.start()
            self.due.emit()
