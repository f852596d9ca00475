"""A whole machine: every probe side by side, each bounded in time, put together into one snapshot."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.detect import (
    compilers,
    driver,
    environments,
    holders,
    host,
    nvml,
    package_settings,
    path_libraries,
    pci,
    prefixes,
    shell,
    system_wide,
    toolkits,
)
from gpuassist.detect.prefixes import Prefix
from gpuassist.detect.runner import Running, SectionProgress, ignore
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.driver import Driver, Library
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import Fact, Unknown
from gpuassist.model.gpu import Gpu, Holder
from gpuassist.model.machine import Host, Machine
from gpuassist.model.package_settings import PackageSettings
from gpuassist.model.shell import Shell, Terminal
from gpuassist.model.system_wide import SystemWide
from gpuassist.model.text import Text, text
from gpuassist.model.toolkit import Compiler, Toolkit
from gpuassist.system.clock import iso
from gpuassist.system.terminal import ask_terminal
from gpuassist.system.world import World

T = TypeVar("T")

_FILES_SECONDS = 10.0
_NVML_SECONDS = 20.0  # its child process has a shorter limit of its own
_TERMINAL_SECONDS = shell.SECONDS
_SOFTWARE_SECONDS = shell.SECONDS + 20.0  # waits for the new terminal first


def detect(world: World, knowledge: Knowledge, on_progress: Callable[[SectionProgress], None] = ignore) -> Machine:
    """Looks at everything once; `on_progress` is called on this thread, after each section."""
    software = _start_software(world)
    hardware = _start_hardware(world, knowledge)
    sections: tuple[tuple[Text, Callable[[], object]], ...] = (
        (text("host"), hardware.host.result),
        (text("GPUs"), hardware.asked.result),
        (text("driver"), hardware.driver.result),
        (text("processes"), hardware.holders.result),
        (text("shell"), software.shell.result),
        (text("compilers"), software.compilers.result),
        (text("CUDA toolkits"), software.toolkits.result),
        (text("Python environments"), software.environments.result),
    )
    for done, (section, wait) in enumerate(sections, 1):
        wait()
        on_progress(SectionProgress(section, done, len(sections)))
    asked = hardware.asked.result()
    return Machine(
        taken_at=iso(world.clock.now()),
        host=hardware.host.result(),
        gpus=asked.gpus,
        driver=replace(
            hardware.driver.result(),
            nvml_status=asked.driver.nvml_status,
            nvml_version=asked.driver.nvml_version,
            nvml_fault=asked.driver.nvml_fault,
            version=asked.driver.version,
            cuda_version=asked.driver.cuda_version,
        ),
        toolkits=software.toolkits.result(),
        compilers=software.compilers.result(),
        environments=software.environments.result(),
        shell=software.shell.result(),
        holders=hardware.holders.result(),
        system=software.system.result(),
        path_libraries=software.libraries.result(),
        package_settings=software.packages.result(),
    )


class _Asked(Struct, frozen=True):
    """The GPUs as PCI and NVML describe them together, and the driver's facts that NVML alone knows."""

    gpus: Fact[tuple[Gpu, ...]]
    driver: Driver


class _Hardware(Struct, frozen=True):
    host: Running[Host]
    asked: Running[_Asked]
    driver: Running[Driver]
    holders: Running[Fact[tuple[Holder, ...]]]


class _Software(Struct, frozen=True):
    shell: Running[Shell]
    compilers: Running[Fact[tuple[Compiler, ...]]]
    toolkits: Running[Fact[tuple[Toolkit, ...]]]
    environments: Running[Fact[tuple[PythonEnvironment, ...]]]
    system: Running[SystemWide]
    libraries: Running[Fact[tuple[Library, ...]]]
    packages: Running[Fact[PackageSettings]]


def _start_hardware(world: World, knowledge: Knowledge) -> _Hardware:
    on_pci = _start("pci", lambda: pci.probe(world, knowledge), _FILES_SECONDS)
    return _Hardware(
        host=Running("host", lambda: host.probe(world), seconds=_FILES_SECONDS, otherwise=_unknown_host),
        asked=Running(
            "nvml",
            lambda: _ask_nvml(world, knowledge, on_pci.result()),
            seconds=_NVML_SECONDS,
            otherwise=lambda unknown: _Asked(on_pci.result(), _unknown_driver(unknown)),
        ),
        driver=Running("driver", lambda: driver.probe(world), seconds=_FILES_SECONDS, otherwise=_unknown_driver),
        holders=_start("holders", lambda: holders.probe(world), _FILES_SECONDS),
    )


def _start_software(world: World) -> _Software:
    asked: Running[Fact[Terminal]] = _start("new terminal", lambda: ask_terminal(world), _TERMINAL_SECONDS)
    # HOME is searched while the shell starts, which takes longer.
    scan: Running[Fact[tuple[Prefix, ...]]] = _start("prefixes", lambda: prefixes.scan(world), _FILES_SECONDS)
    return _Software(
        shell=Running(
            "shell",
            lambda: shell.around(world, asked.result()),
            seconds=_SOFTWARE_SECONDS,
            otherwise=lambda unknown: Shell(unknown, unknown, unknown, unknown, unknown),
        ),
        compilers=_start("compilers", lambda: compilers.probe(world, asked.result()), _SOFTWARE_SECONDS),
        toolkits=_start("toolkits", lambda: toolkits.probe(world, asked.result(), scan.result()), _SOFTWARE_SECONDS),
        environments=_start("environments", lambda: environments.probe(world, asked.result(), scan.result()), _SOFTWARE_SECONDS),
        libraries=_start("libraries", lambda: path_libraries.probe(world, asked.result()), _SOFTWARE_SECONDS),
        packages=_start("package settings", lambda: package_settings.probe(world, asked.result()), _SOFTWARE_SECONDS),
        system=Running(
            "system",
            lambda: system_wide.probe(world),
            seconds=_FILES_SECONDS,
            otherwise=lambda unknown: SystemWide(unknown, unknown, unknown),
        ),
    )


def _start(name: str, work: Callable[[], Fact[T]], seconds: float) -> Running[Fact[T]]:
    return Running(name, work, seconds=seconds, otherwise=lambda unknown: unknown)


def _ask_nvml(world: World, knowledge: Knowledge, gpus: Fact[tuple[Gpu, ...]]) -> _Asked:
    reading = nvml.probe(world, gpus)
    told = Driver(
        nvml_status=reading.status,
        nvml_version=reading.nvml_version,
        nvml_fault=reading.fault,
        version=reading.version,
        cuda_version=reading.cuda_version,
    )
    return _Asked(nvml.merge(gpus, reading, knowledge), told)


def _unknown_host(unknown: Unknown) -> Host:
    return Host(**dict.fromkeys(Host.__struct_fields__, unknown))


def _unknown_driver(unknown: Unknown) -> Driver:
    return Driver(**dict.fromkeys(Driver.__struct_fields__, unknown))
