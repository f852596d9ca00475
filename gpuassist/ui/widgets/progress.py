"""Work under way, calmly: nothing for the first 0.3 s, and once shown it stays for at least a second."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpuassist.present.marks import Mark
from gpuassist.ui.widgets.labels import label
from gpuassist.ui.widgets.layouts import bare
from gpuassist.ui.widgets.marks import MarkIcon

SHOW_AFTER_MILLISECONDS = 300
STAY_MILLISECONDS = 1000


class ProgressStrip(QWidget):
    """A turning mark with what is being done. Keeps its room while hidden, so that nothing jumps."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = bare(QHBoxLayout(self), 8)
        self._icon = MarkIcon(Mark.BUSY, self)
        self._words = label("", "muted", self)
        layout.addWidget(self._icon)
        layout.addWidget(self._words, 1)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)
        self._wait = self._timer(SHOW_AFTER_MILLISECONDS)
        self._stay = self._timer(STAY_MILLISECONDS)
        self._wait.timeout.connect(self._appear)
        self._stay.timeout.connect(self._settle)
        self.busy = False
        self.hide()

    def begin(self, words: str) -> None:
        self.busy = True
        self.say(words)
        if self.isHidden() and not self._wait.isActive():
            self._wait.start()

    def say(self, words: str) -> None:
        self._words.setText(words)
        self.setAccessibleName(words)

    def end(self) -> None:
        self.busy = False
        self._wait.stop()
        self._settle()

    @Slot()
    def _appear(self) -> None:
        self.show()
        self._stay.start()

    @Slot()
    def _settle(self) -> None:
        if not self.busy and not self._stay.isActive():
            self.hide()

    def _timer(self, milliseconds: int) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        return timer
