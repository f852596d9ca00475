"""Waiting for GPUs, while the driver answers and while it does not."""

from __future__ import annotations

import os

import pytest

from gpuassist.model.fact import Known
from gpuassist.model.sample import GpuSample, ProcessKind, ProcessSample, Sample
from gpuassist.model.text import Text, verbatim
from gpuassist.session.device_choice import ChosenDevices, FreeDevices
from gpuassist.session.device_wait import NoDevicesError, await_devices
from gpuassist.system.claims import Claims
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World

BUSY = Known((ProcessSample(9, kind=Known(ProcessKind.COMPUTE, "test")),), "test")
TAKEN, FREE = (
    GpuSample(0, uuid=Known(f"GPU-wait-{os.getpid()}", "test"), memory_used_bytes=Known(0, "test"), processes=processes)
    for processes in (BUSY, Known((), "test"))
)
SILENT = verbatim("the driver does not answer")


class Script:
    """A source that says one thing after the other."""

    def __init__(self, *gpus: GpuSample | None) -> None:
        self.left = list(gpus)

    def read(self) -> Sample:
        one = self.left.pop(0)
        return Sample(0.0, 0.0, (one,), ()) if one is not None else Sample(0.0, 0.0, (), (SILENT,))

    def close(self) -> None:
        self.left.clear()

    def interrupt(self) -> None:
        pass


def waited(*gpus: GpuSample | None, waits: bool = True) -> tuple[ChosenDevices, list[Text]]:
    claims, told = Claims(), list[Text]()
    try:
        found = await_devices(
            World(surroundings=Surroundings("/home/you", "you", os.getuid(), {})),
            FreeDevices(1),
            claims,
            free_bytes=0,
            waits=waits,
            on_wait=told.append,
            source=Script(*gpus),
            pause=lambda _: None,
        )
        return found, told
    finally:
        claims.close()


def test_a_driver_that_is_silent_for_a_while_ends_no_wait() -> None:
    found, told = waited(TAKEN, None, None, FREE)
    assert found.indices == (0,)
    assert told[1:] == [SILENT, SILENT]


def test_one_that_never_answered_does() -> None:
    for gpus in ((None,), (None, FREE)):
        with pytest.raises(NoDevicesError) as caught:
            waited(*gpus)
        assert caught.value.undetermined
