"""Reports on an environment, torch.utils.collect_env's before all: host, driver, GPUs, the nvcc that it found, Python, torch."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.detect.readers.collect_env_torch import environment
from gpuassist.detect.readers.facts import latest_first, named
from gpuassist.detect.readers.labels import Field, Told, is_report, labelled, values
from gpuassist.detect.readers.lines import Line, first, lines
from gpuassist.detect.readers.nvidia_smi import PRODUCT
from gpuassist.formats.distribution import read_distribution, read_processor
from gpuassist.model.driver import Driver
from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Distribution, Host, Machine
from gpuassist.model.paste import Paste
from gpuassist.model.toolkit import Compiler, Toolkit
from gpuassist.model.version import ComputeCapability, Version

PROGRAM = "collect_env"

_DRIVER = lazy_regex(r"^\d{2,4}\.\d{1,3}(?:\.\d{1,3})?(?!\S)")
_NVCC = lazy_regex(r"(?:.*\bV)?(\d{1,2}\.\d{1,2}(?:\.\d{1,4})?)$|Build cuda_(\d{1,2}\.\d{1,2})|CUDA (\d{1,2}\.\d{1,2})$")
_GCC = lazy_regex(r"^(?!gcc version)(?:[^()]{0,20}\((?:[^()]|\([^()]*\)){0,120}\)\s*)?(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)\b")
_KERNEL = lazy_regex(r"^Linux-(\d[^\s]*?)(?:-(x86_64|aarch64|ppc64le))?(?:-(?:x86_64|aarch64|ppc64le))?-with-(\S+)$")
_GLIBC = lazy_regex(r"^glibc-(\d+\.\d+)$")
_GPU = lazy_regex(
    r"^(?P<name>(?!GPU\b|AMD|Radeon|Intel|Apple|Ascend)[A-Z](?:[^:()]|\([^:()]{1,40}\)){1,70}?)"
    r"(?:\s+\((?:arch=(?P<arch>\d{1,2}\.\d)|UUID: (?P<uuid>GPU-[0-9a-f-]{36}))\))?$"
)
_CONFSTR = Version((3, 8))  # before it, platform.libc_ver told what the interpreter was linked with: glibc 2.9 on every machine


def read(paste: Paste) -> tuple[Machine, ...]:
    """What each report tells, the last before the others: it is how things stand now."""
    if not is_report(paste.words):
        return ()
    return tuple(
        _machine(block)
        for block in latest_first(_blocks(labelled(lines(paste))), lambda block: tuple((one.field, one.value) for one in block))
    )


def _blocks(every: Iterator[Told]) -> Iterator[list[Told]]:
    """A report ends where the next names its torch."""
    block: list[Told] = []
    for told in every:
        if told.field is Field.TORCH and any(one.field is Field.TORCH for one in block):
            yield block
            block = []
        block.append(told)
    if block:
        yield block


def _machine(block: list[Told]) -> Machine:
    distribution: Fact[Distribution] = NOT_ASKED
    architecture: Fact[str] = NOT_ASKED
    for line in values(block, Field.SYSTEM):
        system, processor = read_distribution(line.words), read_processor(line.words)
        distribution = line.known(system, PROGRAM) if system else distribution
        architecture = line.known(processor, PROGRAM) if processor else architecture
    python = next((Version.parse(one.words) for one in values(block, Field.PYTHON) if one.words[:1].isdigit()), Version(()))
    libraries = values(block, Field.C_LIBRARY) if python >= _CONFSTR else ()
    host = Host(
        distribution=distribution,
        architecture=architecture,
        glibc=first(libraries, _GLIBC, PROGRAM, lambda found: Version.parse(found[1])),
    )
    for line in values(block, Field.PLATFORM):
        host = _with_platform(host, line)
    # A Mac's driver is of a system of its own, with numbers of its own (1.1.0).
    mac = isinstance(host.distribution, Known) and host.distribution.value.id == "macos"
    drivers = values(block, Field.DRIVER) if not mac else ()
    one = environment(block)
    gcc = first(values(block, Field.COMPILER), _GCC, PROGRAM, lambda found: Version.parse(found[1]))
    machine = Machine(
        host=host,
        driver=Driver(version=first(drivers, _DRIVER, PROGRAM, lambda found: Version.parse(found[0]))),
        gpus=_gpus(block),
        toolkits=_toolkits(block),
        compilers=Known((Compiler("gcc", "", gcc),), gcc.source) if isinstance(gcc, Known) else NOT_ASKED,
    )
    if one is None:
        return machine
    source = next((fact.source for fact in (one.torch, one.python_version) if isinstance(fact, Known)), PROGRAM)
    return replace(machine, environments=Known((one,), source))


def _with_platform(host: Host, line: Line) -> Host:
    """`Linux-5.15.0-75-generic-x86_64-with-glibc2.35` of Python's platform.platform()."""
    found = _KERNEL.match(line.words)
    if found is None:
        system = read_distribution(line.words.replace("-", " "))
        return replace(host, distribution=line.known(system, PROGRAM)) if system and host.distribution == NOT_ASKED else host
    kernel = found[1]
    wsl = (2 if "wsl2" in kernel.lower() else 1) if "microsoft" in kernel.lower() else 0
    known: Fact[str] = line.known(found[2], PROGRAM) if found[2] else NOT_ASKED
    return replace(
        host,
        kernel=line.known(kernel, PROGRAM),
        wsl=line.known(wsl, PROGRAM),
        architecture=host.architecture if isinstance(host.architecture, Known) else known,
    )


def _gpus(block: list[Told]) -> Fact[tuple[Gpu, ...]]:
    found: dict[int | str, Gpu] = {}
    for told in block:
        if told.field is Field.GPU:
            for number in told.numbers:
                gpu = _gpu(told.line, told.value, number)
                found.update({number: gpu} if gpu else {})
        elif told.field is Field.GPUS:
            inner = next(labelled((Line(told.line.number, told.value),)), None)
            gpu = _gpu(told.line, inner.value if inner else told.value, inner.numbers[0] if inner and inner.numbers else None)
            found.update({(inner.numbers[0] if inner and inner.numbers else told.value): gpu} if gpu else {})
    return named(found.values())


_NO_GPU = frozenset(("No CUDA", "Could not collect", "Could not collect.", "N/A", "None", "No", "NA", "No GPU", "Not available"))


def _gpu(line: Line, words: str, number: int | None) -> Gpu | None:
    found = _GPU.match(words.removesuffix(" (nvgpu)"))  # a GPU in a Jetson
    if found is None or found["name"] in _NO_GPU or (number is None and not PRODUCT.match(found["name"])):
        return None
    return Gpu(
        name=line.known(found["name"], PROGRAM),
        index=line.known(number, PROGRAM) if number is not None else NOT_ASKED,
        uuid=line.known(found["uuid"], PROGRAM) if found["uuid"] else NOT_ASKED,
        compute_capability=line.known(ComputeCapability.parse(found["arch"]), PROGRAM) if found["arch"] else NOT_ASKED,
    )


def _toolkits(block: list[Told]) -> Fact[tuple[Toolkit, ...]]:
    """Whichever nvcc the report found; under CUDA_HOME where it says that it looked there."""
    home = next((line.words.split()[0] for line in values(block, Field.CUDA_HOME) if line.words.startswith("/")), "")
    version = first(values(block, Field.NVCC), _NVCC, PROGRAM, lambda found: Version.parse(found[1] or found[2] or found[3]))
    if isinstance(version, Known):
        return Known((Toolkit(home, version=version, nvcc_version=version),), version.source)
    return NOT_ASKED
