"""GPUs for a command: chosen now, or as soon as they are free."""

from __future__ import annotations

from collections.abc import Callable
from time import sleep

from gpuassist.model.sample import Sample
from gpuassist.model.text import Text
from gpuassist.monitor.sources import NO_GPU, NvmlSource, SampleSource
from gpuassist.session.device_choice import ChosenDevices, DeviceWish, choose
from gpuassist.system.claims import Claims
from gpuassist.system.world import World

LOOK_AGAIN_SECONDS = 2.0


class NoDevicesError(Exception):
    """There is none to be had; `undetermined` where nobody knows, because the driver does not answer."""

    def __init__(self, reason: Text, *, undetermined: bool) -> None:
        super().__init__(reason)
        self.reason, self.undetermined = reason, undetermined


def await_devices(
    world: World,
    wish: DeviceWish,
    claims: Claims,
    *,
    free_bytes: int,
    waits: bool,
    on_wait: Callable[[Text], None],
    source: SampleSource | None = None,
    pause: Callable[[float], object] = sleep,
) -> ChosenDevices:
    """The GPUs that `claims` then holds; tells `on_wait` at every look why there are none yet. Raises `NoDevicesError`, and
    `DeviceWishError` where there never will be.
    """
    asked = source or NvmlSource(world)
    answered = False
    try:
        while True:
            sample = asked.read()
            if answered and waits and not sample.gpus:  # the driver was there, and is being reloaded or too busy to answer
                on_wait(next(iter(sample.trouble), NO_GPU))
                pause(LOOK_AGAIN_SECONDS)
                continue
            answered = True
            found = _chosen(sample, wish, claims, world, free_bytes=free_bytes, waits=waits)
            if isinstance(found, ChosenDevices):
                return found
            on_wait(found)
            pause(LOOK_AGAIN_SECONDS)
    finally:
        asked.close()


def _chosen(
    sample: Sample, wish: DeviceWish, claims: Claims, world: World, *, free_bytes: int, waits: bool
) -> ChosenDevices | Text:
    """What can be had now, or why nothing can be yet."""
    if not sample.gpus:
        reason = next(iter(sample.trouble), NO_GPU)
        raise NoDevicesError(reason, undetermined=True)
    found = choose(wish, sample.gpus, claims, world.surroundings.variables, free_bytes=free_bytes, waits=waits)
    if isinstance(found, Text) and not waits:
        raise NoDevicesError(found, undetermined=False)
    return found
