"""A whole machine: every probe side by side, each bounded in time, put together into one snapshot."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from gpuassist.detect import (
    compilers,
    driver,
    environments,
    gpu_holders,
    holds,
    host,
    libcuda,
    libraries,
    nvml,
    package_settings,
    pci,
    prefixes,
    shell,
    system_wide,
    toolkits,
)
from gpuassist.detect.libcuda import LibcudaFacts
from gpuassist.detect.prefixes import Prefix
from gpuassist.detect.runner import Running, SectionProgress, ignore
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.driver import Driver
from gpuassist.model.fact import Fact, Unknown
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Host, Machine
from gpuassist.model.next_start import NextStart
from gpuassist.model.shell import Shell, Terminal
from gpuassist.model.system_wide import SystemWide
from gpuassist.model.text import Text, text
from gpuassist.system.clock import iso
from gpuassist.system.terminal import ask_terminal
from gpuassist.system.world import World

T = TypeVar("T")
Section = TypeVar("Section", Host, Driver)

_NVML_ALONE = ("nvml_status", "nvml_version", "nvml_fault", "version", "cuda_version")
_FILES_SECONDS = 10.0
_NVML_SECONDS = 20.0  # its child process has a shorter limit of its own
_TERMINAL_SECONDS = shell.SECONDS
_SOFTWARE_SECONDS = shell.SECONDS + 20.0  # waits for the new terminal first


def detect(world: World, knowledge: Knowledge, on_progress: Callable[[SectionProgress], None] = ignore) -> Machine:
    """Looks at everything once; `on_progress` is called on this thread, after each section."""
    terminal: Running[Fact[Terminal]] = _start("new terminal", lambda: ask_terminal(world), _TERMINAL_SECONDS)
    # HOME is searched while the shell starts, which takes longer.
    scan: Running[Fact[tuple[Prefix, ...]]] = _start("prefixes", lambda: prefixes.scan(world), _FILES_SECONDS)
    in_shell = Running(
        "shell",
        lambda: shell.around(world, terminal.result()),
        seconds=_SOFTWARE_SECONDS,
        otherwise=lambda unknown: Shell(unknown, unknown, unknown, unknown, unknown),
    )
    found_compilers = _start("compilers", lambda: compilers.probe(world, terminal.result()), _SOFTWARE_SECONDS)
    found_toolkits = _start("toolkits", lambda: toolkits.probe(world, terminal.result(), scan.result()), _SOFTWARE_SECONDS)
    pythons = _start("environments", lambda: environments.probe(world, terminal.result(), scan.result()), _SOFTWARE_SECONDS)
    on_path = _start("libraries", lambda: libraries.cudnn_on_path(world, terminal.result()), _SOFTWARE_SECONDS)
    settings = _start("package settings", lambda: package_settings.probe(world, terminal.result()), _SOFTWARE_SECONDS)
    system = Running(
        "system",
        lambda: system_wide.probe(world),
        seconds=_FILES_SECONDS,
        otherwise=lambda unknown: SystemWide(unknown, unknown, unknown),
    )
    on_pci = _start("pci", lambda: pci.probe(world, knowledge), _FILES_SECONDS)
    around = Running("host", lambda: host.probe(world), seconds=_FILES_SECONDS, otherwise=partial(_all, Host))
    asked = Running(
        "nvml",
        lambda: _ask_nvml(world, knowledge, on_pci.result()),
        seconds=_NVML_SECONDS,
        otherwise=lambda unknown: (on_pci.result(), _all(Driver, unknown)),
    )
    in_files = Running(
        "driver", lambda: driver.probe(world), seconds=_FILES_SECONDS, otherwise=lambda unknown: _all(Driver, unknown)
    )
    driver_library = Running(
        "libcuda",
        lambda: libcuda.probe(world, terminal.result()),
        seconds=_SOFTWARE_SECONDS,
        otherwise=lambda unknown: LibcudaFacts(unknown, unknown),
    )
    next_one = Running(
        "next start", lambda: _next_start(world), seconds=_FILES_SECONDS, otherwise=lambda unknown: NextStart(kernel=unknown)
    )
    holding = _start("holders", lambda: gpu_holders.probe(world), _FILES_SECONDS)
    kept = Running("holds", lambda: holds.probe(world), seconds=_FILES_SECONDS, otherwise=holds.unknown)
    sections: tuple[tuple[Text, Callable[[], object]], ...] = (
        (text("host"), around.result),
        (text("GPUs"), asked.result),
        (text("driver"), in_files.result),
        (text("processes"), holding.result),
        (text("shell"), in_shell.result),
        (text("compilers"), found_compilers.result),
        (text("CUDA toolkits"), found_toolkits.result),
        (text("Python environments"), pythons.result),
    )
    for done, (section, wait) in enumerate(sections, 1):
        wait()
        on_progress(SectionProgress(section, done, len(sections)))
    gpus, told = asked.result()
    return Machine(
        taken_at=iso(world.clock.now()),
        host=around.result(),
        gpus=gpus,
        driver=replace(
            in_files.result(),
            libcuda=driver_library.result().libraries,
            libcuda_taken=driver_library.result().taken,
            **{name: getattr(told, name) for name in _NVML_ALONE},
        ),
        toolkits=found_toolkits.result(),
        compilers=found_compilers.result(),
        environments=pythons.result(),
        shell=in_shell.result(),
        holders=holding.result(),
        system=system.result(),
        path_libraries=on_path.result(),
        package_settings=settings.result(),
        next_start=_of_running(next_one.result(), around.result(), in_files.result()),
        holds=kept.result().holds,
        system_packages=kept.result().packages,
    )


def _start(name: str, work: Callable[[], Fact[T]], seconds: float) -> Running[Fact[T]]:
    return Running(name, work, seconds=seconds, otherwise=lambda unknown: unknown)


def _next_start(world: World) -> NextStart:
    from gpuassist.detect.next_start import probe  # 8 ms, which pass here while the terminal's shell starts

    return probe(world)


def _of_running(found: NextStart, around: Host, driver_found: Driver) -> NextStart:
    from gpuassist.detect.next_start import completed

    return completed(found, around, driver_found.on_disk)


def _ask_nvml(world: World, knowledge: Knowledge, gpus: Fact[tuple[Gpu, ...]]) -> tuple[Fact[tuple[Gpu, ...]], Driver]:
    """The GPUs as PCI and NVML describe them together, and the driver's facts that NVML alone knows."""
    reading = nvml.probe(world, gpus)
    told = Driver(
        nvml_status=reading.status,
        nvml_version=reading.nvml_version,
        nvml_fault=reading.fault,
        version=reading.version,
        cuda_version=reading.cuda_version,
    )
    return nvml.merge(gpus, reading, knowledge), told


def _all(kind: type[Section], unknown: Unknown) -> Section:
    return kind(**dict.fromkeys(kind.__struct_fields__, unknown))
