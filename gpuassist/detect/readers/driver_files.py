"""The driver's kernel module as /proc/driver/nvidia/version and modinfo show it in a pasted text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.detect.readers.lines import Line, lines_with
from gpuassist.formats.kernel_module import is_open, parse_version
from gpuassist.model.driver import Driver, KernelModule
from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import Version

_PROC = "/proc/driver/nvidia/version"
_MODINFO = "modinfo"
_FILE = lazy_regex(r"^filename:\s+(/\S*/nvidia(?:-current)?\.ko(?:\.\w+)?)$")
_VERSION = lazy_regex(r"^version:\s+(\d{2,4}\.\d+(?:\.\d+)?)$")
_LICENCE = lazy_regex(r"^license:\s+(\S.*)$")


def read(paste: Paste) -> Machine:
    """The loaded module, and the one on disk."""
    found: Fact[tuple[KernelModule, ...]] = NOT_ASKED
    for line in lines_with(paste, "NVRM version:"):
        words = line.words[line.words.index("NVRM version:") :]
        version = parse_version(words)
        if version is not None:
            module = KernelModule("", line.known(version, _PROC), open_flavour=line.known(is_open(words), _PROC))
            found = line.known((module,), _PROC)
    return Machine(driver=Driver(loaded=found, on_disk=_on_disk(paste)))


def _on_disk(paste: Paste) -> Fact[tuple[KernelModule, ...]]:
    modules = tuple(_modules(list(lines_with(paste, "filename:", "version:", "license:"))))
    return Known(modules, modules[0].version.source) if modules and isinstance(modules[0].version, Known) else NOT_ASKED


def _modules(told: list[Line]) -> Iterator[KernelModule]:
    """modinfo prints the file first; other modules' lines end what it says of this one."""
    for place, line in enumerate(told):
        file = _FILE.match(line.words)
        if file is None:
            continue
        block = _until_next_file(told[place + 1 :])
        version, licence = _first(block, _VERSION), _first(block, _LICENCE)
        if isinstance(version, Known):
            number = Known(Version.parse(version.value), version.source)
            yield KernelModule(file[1], number, licence, _opened(licence))


def _until_next_file(told: list[Line]) -> list[Line]:
    end = next((place for place, line in enumerate(told) if line.words.startswith("filename:")), len(told))
    return told[:end]


def _first(block: list[Line], pattern: re.Pattern[str]) -> Fact[str]:
    for line in block:
        found = pattern.match(line.words)
        if found:
            return line.known(found[1], _MODINFO)
    return NOT_ASKED


def _opened(licence: Fact[str]) -> Fact[bool]:
    # NVIDIA's open module says `Dual MIT/GPL`, the other one `NVIDIA`.
    return Known("MIT" in licence.value, licence.source) if isinstance(licence, Known) else licence
