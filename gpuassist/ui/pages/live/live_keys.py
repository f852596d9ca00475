"""The live page's keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QElapsedTimer, Qt
from PySide6.QtGui import QKeyEvent

from gpuassist.ui.pages.live.controls import ALL
from gpuassist.ui.pages.live.lane import Lane
from gpuassist.ui.pages.live.live_time import LiveTime

_ZOOM_IN, _ZOOM_OUT = 0.5, 2.0
_PAN = 0.25  # of what is shown
_SECOND_DIGIT_MILLISECONDS = 900  # in which 1 and then 2 are the GPU 12


class HasKeys(Protocol):
    """The page, as far as keys reach."""

    time: LiveTime

    @property
    def lanes(self) -> tuple[Lane, ...]: ...

    @property
    def gpu(self) -> int: ...

    def show_gpu(self, index: int) -> None: ...

    def pause_or_resume(self) -> None: ...


class LiveKeys:
    """A digit is the index of a GPU, as it stands above its lane; two, typed one after the other, are one index."""

    def __init__(self, page: HasKeys) -> None:
        self._page = page
        self._typed = ""
        self._since = QElapsedTimer()

    def press(self, event: QKeyEvent) -> bool:
        """Whether the key is one of the page's."""
        if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier):
            return False
        page, key = self._page, event.key()
        if Qt.Key.Key_0 <= key <= Qt.Key.Key_9:
            self._show_gpu(event.text() or str(key - Qt.Key.Key_0))
            return True
        keys: dict[Qt.Key, Callable[[], None]] = {
            Qt.Key.Key_Space: page.pause_or_resume,
            Qt.Key.Key_End: page.time.follow,
            Qt.Key.Key_Plus: lambda: page.time.zoom(_ZOOM_IN),
            Qt.Key.Key_Equal: lambda: page.time.zoom(_ZOOM_IN),
            Qt.Key.Key_Minus: lambda: page.time.zoom(_ZOOM_OUT),
            Qt.Key.Key_Left: lambda: page.time.pan(-_PAN * page.time.view.span),
            Qt.Key.Key_Right: lambda: page.time.pan(_PAN * page.time.view.span),
            Qt.Key.Key_Home: page.time.go_back,
            Qt.Key.Key_A: lambda: page.show_gpu(ALL),
            Qt.Key.Key_PageDown: lambda: self._step(1),
            Qt.Key.Key_PageUp: lambda: self._step(-1),
        }
        does = keys.get(Qt.Key.Key_A if key == Qt.Key.Key_Escape and page.gpu != ALL else Qt.Key(key))
        if does is None:
            return False
        does()
        return True

    def _show_gpu(self, digit: str) -> None:
        fresh = not self._since.isValid() or self._since.elapsed() > _SECOND_DIGIT_MILLISECONDS
        there = {lane.index for lane in self._page.lanes}
        both = "" if fresh else self._typed + digit
        self._typed = both if both and int(both) in there else digit
        self._since.start()
        if int(self._typed) in there:
            self._page.show_gpu(int(self._typed))

    def _step(self, by: int) -> None:
        """From one GPU to the next, and from all to the first."""
        indices = [lane.index for lane in self._page.lanes]
        if not indices:
            return
        at = indices.index(self._page.gpu) + by if self._page.gpu in indices else (0 if by > 0 else len(indices) - 1)
        self._page.show_gpu(indices[at % len(indices)])
