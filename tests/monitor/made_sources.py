"""Sources whose every sample a test decides."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, get_ident

from gpuassist.model.sample import GpuSample, Sample
from gpuassist.system.world import World
from tests.monitor.samples import sample


class MadeSource:
    """Gives sample after sample with the GPUs it is made with, one second apart; remembers the threads that used it."""

    def __init__(self, *gpus: tuple[GpuSample, ...]) -> None:
        self.gpus = gpus or ((),)
        self.reads = 0
        self.closed = Event()
        self.threads: set[int] = set()

    def read(self) -> Sample:
        self.threads.add(get_ident())
        gpus = self.gpus[min(self.reads, len(self.gpus) - 1)]
        self.reads += 1
        return sample(float(self.reads), *gpus)

    def close(self) -> None:
        self.threads.add(get_ident())
        self.closed.set()

    def interrupt(self) -> None:
        """None of its readings can be."""

    def __call__(self, _world: World) -> MadeSource:
        return self


class FailingSource(MadeSource):
    """Raises at every reading."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def read(self) -> Sample:
        super().read()
        raise self.error


class StuckSource(MadeSource):
    """Its first reading does not return before `released`, as a call of a driver that hangs."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = Event()
        self.released = Event()

    def read(self) -> Sample:
        self.reading.set()
        self.released.wait(100)
        return super().read()


class Collector:
    """Hears samples, and says when there are enough."""

    def __init__(self, enough: int = 1) -> None:
        self.samples: list[Sample] = []
        self._enough = enough
        self._done = Event()

    def __call__(self, heard: Sample) -> None:
        self.samples.append(heard)
        if len(self.samples) >= self._enough:
            self._done.set()

    def wait(self) -> list[Sample]:
        assert self._done.wait(100)
        return self.samples


MakeSource = Callable[[World], MadeSource]
