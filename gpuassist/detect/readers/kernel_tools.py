"""The driver's module as pasted `lsmod`, `modinfo` and `dkms status` show it, and Secure Boot as mokutil or the kernel does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.detect.readers.commands import PastedCommand, runs
from gpuassist.detect.readers.host import kernel
from gpuassist.detect.readers.lines import Line, lines_with, source
from gpuassist.model.driver import Driver, KernelModule
from gpuassist.model.fact import NOT_ASKED, Fact, Known, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Host, Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import Version

_LSMOD = "lsmod"
_DKMS = "dkms status"
_MODULE = lazy_regex(r"^[ \t]{0,8}(?P<name>\w{2,40})[ \t]+\d{3,10}[ \t]+-?\d{1,6}(?:[ \t]+[\w,\[\]-]+)?$")
_OF_NVIDIA = frozenset({"nvidia", "nvidia_drm", "nvidia_modeset", "nvidia_uvm"})
_FEWEST = 10  # modules that a whole listing has
# `nvidia, 470.86, 5.13.0-21-generic, x86_64: installed` before dkms 3, since then `nvidia/535.54.03, 6.2.0-39-generic, x86_64: …`.
_DKMS_ROW = lazy_regex(
    r"^[ \t]{0,8}(?P<name>nvidia(?:-[a-z]{2,12}|-\d{3}){0,3})(?:, |/)(?P<version>\d{2,4}\.\d{1,4}(?:\.\d{1,3})?)"
    r"(?:, (?P<kernel>[\w.+~-]{3,80}), [\w-]{2,12})?: (?P<state>added|built|installed|broken)\b"
)
_SECURE = lazy_regex(
    r"^[ \t]{0,8}(?:SecureBoot (?P<mokutil>enabled|disabled)$|Secure Boot: (?P<bootctl>enabled|disabled)\b)"
    r"|secureboot: Secure boot (?P<kernel>enabled|disabled)|(?P<locked>from EFI Secure Boot mode)"
    r"|EFI variables are not supported on this system|This system doesn't support Secure Boot"
)
_SECURE_WORDS = ("SecureBoot", "Secure Boot", "Secure boot", "EFI variables are not supported")


def read(paste: Paste) -> Machine:
    """What these tools tell; what they were asked for and did not list is absent."""
    return Machine(
        host=Host(secure_boot=_secure_boot(paste)),
        driver=Driver(loaded=_loaded(paste), nouveau_loaded=_nouveau(paste), on_disk=_on_disk(paste)),
    )


def _rows(paste: Paste) -> Iterator[tuple[str, Line]]:
    for line in lines_with(paste, "nvidia", "nouveau"):
        found = _MODULE.match(line.words)
        if found:
            yield found["name"], line


def _loaded(paste: Paste) -> Fact[tuple[KernelModule, ...]]:
    for name, line in _rows(paste):
        if name in _OF_NVIDIA:
            return line.known((KernelModule(""),), _LSMOD)
    number = _absent(paste, "nvidia")
    return Known((), source(_LSMOD, number)) if number else NOT_ASKED


def _nouveau(paste: Paste) -> Fact[bool]:
    for name, line in _rows(paste):
        if name == "nouveau":
            return line.known(value=True, program=_LSMOD)
    number = _absent(paste, "nouveau")
    return Known(value=False, source=source(_LSMOD, number)) if number else NOT_ASKED


def _absent(paste: Paste, name: str) -> int:
    """The line of an lsmod that would have listed the module, and whose output is there to its end; 0 where there is none."""
    return next((run.number for run in runs(paste, _LSMOD) if run.ended and _would_list(run, name)), 0)


def _would_list(run: PastedCommand, name: str) -> bool:
    listing, bar, filters = run.command.partition("|")
    if not re.search(r"\blsmod\s*$", listing):
        return False
    rows = [line for line in run.output if _MODULE.match(line.words)]
    if not bar:
        return len(rows) >= _FEWEST
    return "grep" in filters and name in filters.lower() and "-v" not in filters and len(rows) == _said(run)


def _said(run: PastedCommand) -> int:
    """The lines that are not empty: where one of them is no module, something else was printed."""
    return sum(1 for line in run.output if line.words.strip())


def _on_disk(paste: Paste) -> Fact[tuple[KernelModule, ...]]:
    modules = tuple(dict.fromkeys(_built(paste)))
    if modules and isinstance(modules[0].version, Known):
        return Known(modules, modules[0].version.source)
    for line in lines_with(paste, "Module nvidia not found"):
        if "modinfo" in line.words:
            return line.known((), "modinfo")
    return NOT_ASKED


def _built(paste: Paste) -> Iterator[KernelModule]:
    """The modules that dkms installed for the running kernel, or for any where the text does not name it."""
    rows = [(row, line) for line in lines_with(paste, "nvidia") if (row := _DKMS_ROW.match(line.words))]
    running = kernel(paste)
    named = isinstance(running, Known) and any(row["kernel"] == running.value for row, _ in rows)
    for row, line in rows:
        if row["state"] == "installed" and (not named or row["kernel"] == value_or(running, "")):
            opened = line.known(value=True, program=_DKMS) if "open" in row["name"] else NOT_ASKED
            yield KernelModule("", line.known(Version.parse(row["version"]), _DKMS), open_flavour=opened)


def _secure_boot(paste: Paste) -> Fact[bool]:
    for line in lines_with(paste, *_SECURE_WORDS):
        found = _SECURE.search(line.words)
        if found:
            enabled = bool(found["locked"]) or "enabled" in (found["mokutil"], found["bootctl"], found["kernel"])
            return line.known(enabled, "mokutil" if "SecureBoot" in line.words else "Secure Boot state")
    return NOT_ASKED
