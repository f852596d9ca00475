"""The window's look and place, kept as they change: a window that is killed comes back as it was half a second before."""

from __future__ import annotations

import threading
from collections.abc import Callable

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

from gpuassist.session.settings import Settings, save_changes
from gpuassist.system.world import World

WRITE_AFTER_MILLISECONDS = 400
_MOVES = (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.WindowStateChange)


class WindowMemory(QObject):
    """`apart` does work on another thread; what is kept before there is one waits for it, or for `write`."""

    def __init__(self, world: World, settings: Settings, parent: QObject) -> None:
        super().__init__(parent)
        self.settings = settings
        self.apart: Callable[[Callable[[], None]], None] | None = None
        self._world = world
        self._changes: dict[str, str] = {}
        self._gone = False
        self._writing = threading.Lock()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(WRITE_AFTER_MILLISECONDS)
        self._pause.timeout.connect(self._write_apart)
        self._geometry: Callable[[], str] = str
        self._moved = QTimer(self)
        self._moved.setSingleShot(True)
        self._moved.setInterval(WRITE_AFTER_MILLISECONDS)
        self._moved.timeout.connect(self._keep_geometry)

    def keep(self, **changes: str) -> None:
        """These fields are so from now on."""
        if self._gone:
            return
        new = {name: value for name, value in changes.items() if getattr(self.settings, name) != value}
        if new:
            self.settings = replace(self.settings, **new)
            self._changes.update(new)
            if not self._pause.isActive():  # not begun anew: a window that is dragged about for a minute is kept meanwhile
                self._pause.start()

    def watch(self, window: QWidget, geometry: Callable[[], str]) -> None:
        """Keeps from now on where the window is."""
        self._geometry = geometry
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _MOVES and not self._moved.isActive():
            self._moved.start()
        return False

    def _keep_geometry(self) -> None:
        self.keep(geometry=self._geometry())

    def write(self) -> None:
        """What has changed, now."""
        self._pause.stop()
        self._write()

    def forget(self) -> None:
        """Nothing is kept any more."""
        self._pause.stop()
        self._moved.stop()
        self._gone = True
        self._changes = {}

    def _write_apart(self) -> None:
        if self.apart is not None:
            self.apart(self._write)

    def _write(self) -> None:
        with self._writing:
            changes, self._changes = self._changes, {}
            if changes:
                save_changes(self._world, changes)
