"""NVML asked while checks run, over a library that answers, hangs, crashes and is missing: nobody waits for it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping

import pytest

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.verify.load import DeviceLoad
from gpuassist.verify.load_watch import LoadWatch, nvml_devices
from tests.nvml_fixture import FakeNvml
from tests.waiting import until

Watch = Callable[[Mapping[str, str]], LoadWatch]
SLOW = "[gpu]\npower = 150\npower_limit = 150\nlink_width = 1\nthrottle = 4\nprocess = 4242 c 5000\n"


def world_with(variables: Mapping[str, str]) -> World:
    return World(Surroundings("/home/you", "you", os.geteuid(), dict(variables)))


@pytest.fixture
def watch() -> Iterator[Watch]:
    begun: list[LoadWatch] = []

    def start(variables: Mapping[str, str]) -> LoadWatch:
        begun.append(LoadWatch(world_with(variables), period=0.01))
        begun[-1].start()
        return begun[-1]

    yield start
    for one in begun:
        one.stop()


def looked(one: LoadWatch) -> DeviceLoad | None:
    found = one.load(0.0, time.monotonic())
    return found.value[0] if isinstance(found, Known) and found.value[0].looks > 1 else None


def test_a_load_is_told_of_the_time_between_two_moments(fake_nvml: FakeNvml, watch: Watch) -> None:
    began = time.monotonic()
    one = watch(fake_nvml(SLOW))
    until(lambda: looked(one) is not None)
    seen = looked(one)
    assert seen is not None
    assert (seen.power_limit, seen.device.power_default) == (Known(150.0, "NVML"), Known(450.0, "NVML"))
    assert (seen.width, seen.device.width_most) == (Known(1, "NVML"), Known(16, "NVML"))
    assert isinstance(seen.slowdowns, Known)
    assert [slowdown.reason for slowdown in seen.slowdowns.value] == ["power limit"]
    before = one.load(0.0, began)
    assert isinstance(before, Known)
    assert before.value[0].looks == 0


def test_what_was_seen_stays_after_the_end(fake_nvml: FakeNvml, watch: Watch) -> None:
    one = watch(fake_nvml(SLOW))
    until(lambda: looked(one) is not None)
    one.stop()
    assert looked(one) is not None


@pytest.mark.parametrize("function", ["nvmlInit*", "nvmlDeviceGetName", "nvmlDeviceGetTemperature*"])
def test_a_library_that_hangs_holds_nobody(fake_nvml: FakeNvml, watch: Watch, function: str) -> None:
    one = watch(fake_nvml(f"fault = {function} 0 hangs=1\n[gpu]\n"))
    until(lambda: bool(fake_nvml.calls()))
    began = time.monotonic()
    one.load(0.0, began)
    one.stop()
    assert time.monotonic() - began < 2.0
    found = one.load(0.0, time.monotonic())
    assert isinstance(found, Unknown) or found.value[0].looks == 0


def test_a_library_that_crashes_leaves_what_was_seen_until_then(fake_nvml: FakeNvml, watch: Watch) -> None:
    one = watch(fake_nvml("fault = nvmlDeviceGetTemperature* 0 crash=11 after=4\n[gpu]\n"))
    until(lambda: looked(one) is not None)
    until(lambda: not one._thread.is_alive())
    assert looked(one) is not None


@pytest.mark.parametrize(
    "scenario", ["fault = nvmlInit* 9\n[gpu]\n", "fault = nvmlInit* 18\n[gpu]\n", "fault = nvmlInit* 0 crash=11\n[gpu]\n"]
)
def test_why_nothing_is_known_is_told(fake_nvml: FakeNvml, watch: Watch, scenario: str) -> None:
    one = watch(fake_nvml(scenario))
    until(lambda: not one._thread.is_alive())
    assert isinstance(one.devices, Unknown)
    assert one.load(0.0, time.monotonic()) == one.devices


def test_without_the_library_nothing_is_known(watch: Watch) -> None:
    one = watch({"PATH": "/usr/bin:/bin"})
    until(lambda: not one._thread.is_alive())
    assert isinstance(one.devices, Unknown)


def test_devices_are_listed_with_their_parts(fake_nvml: FakeNvml) -> None:
    variables = fake_nvml("[gpu]\n[gpu]\nname = NVIDIA A100-SXM4-80GB\nmig = 1\nmig_device = MIG-1\nmig_device = MIG-2\n")
    found = nvml_devices(world_with(variables), seconds=60.0)
    assert isinstance(found, Known)
    assert [(one.index, one.address, one.pci_id) for one in found.value] == [
        (0, "0000:01:00.0", "10de:2684"),
        (1, "0000:02:00.0", "10de:2684"),
    ]
    assert [part.uuid for part in found.value[1].mig_devices] == ["MIG-1", "MIG-2"]
    assert found.value[1].mig.is_true


def test_a_list_that_does_not_come_in_time_is_unknown(fake_nvml: FakeNvml) -> None:
    found: Fact[object] = nvml_devices(world_with(fake_nvml("fault = nvmlInit* 0 hangs=1\n[gpu]\n")), seconds=0.2)
    assert isinstance(found, Unknown)
