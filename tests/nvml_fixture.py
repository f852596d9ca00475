"""A scripted NVML for tests: builds `fake_nvml/fake_nvml.c` once a session and hands out the environment that loads it.

A scenario is lines of `key = value`; what stands before the first `[gpu]` is the system's, each `[gpu]` adds a device.

    driver = 580.95.05          # system: driver, nvml (13.<driver>), cuda (13.0), wide_processes (1: driver 535's odd layout)
    fault = nvmlInit* 18        # any call that matches answers code 18; 0 is no error, for a delay alone
    fault = nvmlDeviceGetMemoryInfo* 15 after=3 every=2 from=1.5 until=9 delay=400   # calls, calls, seconds, seconds, milliseconds
    fault = nvmlDeviceGetName 0 hangs=1     # never returns
    fault = nvmlDeviceGetName 0 crash=11    # takes the process down with that signal (11 by a wild pointer, 6 by abort)
    fault = nvmlDeviceGet*Processes* 7 count=0   # a list's answer, with a count that is not the list's
    count = 4294967295          # system: how many devices there are said to be

    [gpu]                       # every key has a default: an idle RTX 4090 at 00000000:01:00.0
    name = NVIDIA GeForce RTX 5090
    uuid = GPU-5090aaaa-0000-4000-8000-000000000000
    pci = 00000000:01:00.0
    pci_id = 10de:2b85
    capability = 12.0
    memory = 32607              # MiB; also: used, reserved (349)
    memory_bytes = 18446744073709551615   # in place of memory, to the byte; also: used_bytes
    used = 900..30000/20        # a number may swing between two values within so many seconds
    utilization = 35            # also: temperature, power, power_limit, throttle, display, compute_mode, minor
    power = -                   # - is NOT_SUPPORTED; !15 is that code
    link_generation = 1         # of 4; also: link_width, of 16
    mig = 1
    mig_device = MIG-11111111-0000-4000-8000-000000000000 memory=10240 used=512 instance=1   # what follows the uuid has a default
    xid = 79 from=2             # told once, then
    memory_temperature = 88     # not told unless given, as also: margin, sm_activity, tensor_activity (%)
    received = 1000000          # bytes a second of a counter of 64 bits; also: sent. Not told unless given: the call of 20 ms is
    process = 4242 c 512        # pid (or self), list (c compute, g graphics, m MPS), MiB or -
    process = 4243 c 64 from=2 until=9 instance=1 share=35   # there only then (seconds), in that MIG instance, with that load
    fault = nvmlDeviceGet* 15 from=4   # a fault below a [gpu] is that device's alone
"""

from __future__ import annotations

import _ctypes
import ctypes
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pynvml
import pytest

from gpuassist.system import process_names

SOURCE = Path(__file__).parent / "fake_nvml" / "fake_nvml.c"
IDLE_4090 = "[gpu]\n"


@dataclass(frozen=True, slots=True)
class Call:
    """One call that a program made: when, on which thread, for which device (-1: none), with which result."""

    seconds: float
    thread: int
    function: str
    gpu: int
    code: int


class FakeNvml:
    """Call it with a scenario to get the variables that make a child process load the fake; `calls()` tells what it asked."""

    def __init__(self, folder: Path, libraries: Callable[[bool], Path]) -> None:
        self._libraries = libraries
        self._scenario = folder / "scenario"
        self._calls = folder / "calls"
        self._library = folder / "library" / "libnvidia-ml.so.1"
        self.variables = {
            "LD_LIBRARY_PATH": str(self._library.parent),
            "FAKE_NVML": str(self._scenario),
            "FAKE_NVML_CALLS": str(self._calls),
        }

    def __call__(self, scenario: str, *, old: bool = False) -> dict[str, str]:
        self._scenario.write_text(scenario, "utf-8")
        self._library.parent.mkdir(exist_ok=True)
        self._library.unlink(missing_ok=True)
        self._library.symlink_to(self._libraries(old) / self._library.name)
        return self.variables

    def calls(self) -> list[Call]:
        """Every call since the test began, in order."""
        if not self._calls.exists():
            return []
        lines = [line.split() for line in self._calls.read_text("utf-8").splitlines()]
        return [Call(float(at), int(thread), function, int(gpu), int(code)) for at, thread, function, gpu, code in lines]


@pytest.fixture(scope="session")
def fake_nvml_libraries(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bool], Path]:
    """The folder that holds the built library; with True, of a driver of 2020."""
    built: dict[bool, Path] = {}

    def library(old: bool) -> Path:
        if old not in built:
            built[old] = build(tmp_path_factory.mktemp("fake_nvml"), old=old)
        return built[old]

    return library


@pytest.fixture
def fake_nvml(tmp_path: Path, fake_nvml_libraries: Callable[[bool], Path]) -> FakeNvml:
    """`fake_nvml(scenario_text)` gives environment variables for a child process."""
    folder = tmp_path / "fake_nvml"
    folder.mkdir()
    return FakeNvml(folder, fake_nvml_libraries)


@pytest.fixture
def load_nvml(fake_nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., FakeNvml]]:
    """`load_nvml(scenario_text)` loads the fake into this very process, where `pynvml` finds it; it is unloaded afterwards.

    Processes that are started from then on load it, too.
    """
    loaded: list[ctypes.CDLL] = []
    for name, value in fake_nvml.variables.items():
        monkeypatch.setenv(name, value)

    def load(scenario: str, *, old: bool = False) -> FakeNvml:
        variables = fake_nvml(scenario, old=old)
        if not loaded:
            loaded.append(ctypes.CDLL(os.path.join(variables["LD_LIBRARY_PATH"], "libnvidia-ml.so.1")))
            _rebind(loaded[0])
        return fake_nvml

    yield load
    ended = _samplers_have_ended()
    _rebind(None)
    for library in loaded if ended else ():
        _ctypes.dlclose(library._handle)


@pytest.fixture
def on_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The number of this very process, which has what stands for a GPU's device node open."""
    node = tmp_path / "nvidia0"
    node.touch()
    monkeypatch.setattr(process_names, "_GPUS", (str(node),))
    with node.open():
        yield os.getpid()


def _samplers_have_ended() -> bool:
    # One that still samples would return into a library that is gone, and take the whole run down.
    samplers = [thread for thread in threading.enumerate() if thread.name.startswith("gpuassist")]
    for thread in samplers:
        thread.join(2)
    return not any(thread.is_alive() for thread in samplers)


def _rebind(library: ctypes.CDLL | None) -> None:
    pynvml.nvmlLib = library
    pynvml._nvmlGetFunctionPointer_cache.clear()


def build(folder: Path, *, old: bool) -> Path:
    """Compiles the library into `folder`, which it returns; `old` leaves out what drivers of 2020 lacked."""
    if shutil.which("gcc") is None:
        pytest.skip("NOT RUN: needs gcc, install the package gcc")
    flags = ["-DOLD"] if old else []
    soname = "-Wl,-soname,libnvidia-ml.so.1"
    output = folder / "libnvidia-ml.so.1"
    command = [
        "gcc",
        "-std=gnu11",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fPIC",
        "-shared",
        *flags,
        soname,
        "-o",
        str(output),
        str(SOURCE),
    ]
    subprocess.run([*command, "-lpthread"], check=True)
    return folder
