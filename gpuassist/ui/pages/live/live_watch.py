"""A watch whose samples come to the GUI thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from gpuassist.model.sample import Sample
from gpuassist.session.watch import Watch

if TYPE_CHECKING:  # HTTP is what few windows need
    from gpuassist.monitor.prometheus_source import PrometheusServer


class LeftLive(Struct, frozen=True):
    """What the page leaves to the one that is made in its place: its watch, and the server whose GPUs it showed, if any."""

    watch: Watch
    server: PrometheusServer | None = None


class Watching(QObject):
    """Starts and stops a watch; what it sees is told here, on the GUI thread."""

    sampled = Signal(object)  # Sample

    def __init__(self, watch: Watch, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.watch = watch
        self.running = False

    def start(self) -> None:
        """Begins, once."""
        if not self.running:
            self.running = True
            self.watch.start(self._hear)

    def stop(self) -> None:
        """Ends; the watch waits for its thread for at most a quarter of a second."""
        if self.running:
            self.running = False
            self.watch.stop()

    def _hear(self, sample: Sample) -> None:
        # On the sampler's thread: this object lives on the GUI thread, so Qt brings the sample there.
        if self.running:
            self.sampled.emit(sample)
