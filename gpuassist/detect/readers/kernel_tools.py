"""The driver's module as pasted /proc, `lsmod`, `modinfo`, `dkms status` and modprobe's files show it, and Secure Boot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from gpuassist.detect.readers.commands import PastedCommand, runs
from gpuassist.detect.readers.host import kernel
from gpuassist.detect.readers.lines import Line, first, lines, lines_with, source
from gpuassist.formats.kernel_module import forbidden_by_file, is_open, parse_version
from gpuassist.model.driver import Driver, KernelModule, ModuleBlock
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
    rows = [(found["name"], line) for line in lines_with(paste, "nvidia", "nouveau") if (found := _MODULE.match(line.words))]
    loaded: Fact[tuple[KernelModule, ...]] = NOT_ASKED
    ours = next((line for name, line in rows if name in _OF_NVIDIA), None)
    if ours is not None:
        loaded = ours.known((KernelModule(""),), _LSMOD)
    elif number := _absent(paste, "nvidia"):
        loaded = Known((), source(_LSMOD, number))
    nouveau: Fact[bool] = NOT_ASKED
    others = next((line for name, line in rows if name == "nouveau"), None)
    if others is not None:
        nouveau = others.known(value=True, program=_LSMOD)
    elif number := _absent(paste, "nouveau"):
        nouveau = Known(value=False, source=source(_LSMOD, number))
    driver = Driver(loaded=loaded, nouveau_loaded=nouveau, on_disk=_on_disk(paste))
    return Machine(host=Host(secure_boot=_secure_boot(paste)), driver=driver)


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
    # Where one of the lines that are not empty is no module, something else was printed.
    said = sum(1 for line in run.output if line.words.strip())
    return "grep" in filters and name in filters.lower() and "-v" not in filters and len(rows) == said


def _on_disk(paste: Paste) -> Fact[tuple[KernelModule, ...]]:
    # The modules that dkms installed for the running kernel, or for any where the text does not name it.
    rows = [(row, line) for line in lines_with(paste, "nvidia") if (row := _DKMS_ROW.match(line.words))]
    running = kernel(paste)
    named = isinstance(running, Known) and any(row["kernel"] == running.value for row, _ in rows)
    built: list[KernelModule] = []
    for row, line in rows:
        if row["state"] == "installed" and (not named or row["kernel"] == value_or(running, "")):
            opened = line.known(value=True, program=_DKMS) if "open" in row["name"] else NOT_ASKED
            built.append(KernelModule("", line.known(Version.parse(row["version"]), _DKMS), open_flavour=opened))
    modules = tuple(dict.fromkeys(built))
    if modules and isinstance(modules[0].version, Known):
        return Known(modules, modules[0].version.source)
    for line in lines_with(paste, "Module nvidia not found"):
        if "modinfo" in line.words:
            return line.known((), "modinfo")
    return NOT_ASKED


def _secure_boot(paste: Paste) -> Fact[bool]:
    for line in lines_with(paste, *_SECURE_WORDS):
        found = _SECURE.search(line.words)
        if found:
            enabled = bool(found["locked"]) or "enabled" in (found["mokutil"], found["bootctl"], found["kernel"])
            return line.known(enabled, "mokutil" if "SecureBoot" in line.words else "Secure Boot state")
    return NOT_ASKED


# What /proc/driver/nvidia/version and modinfo say of the module itself.


_PROC = "/proc/driver/nvidia/version"
_MODINFO = "modinfo"
_LOG, _LOADING = "kernel log", "NVRM: loading "
_FILE = lazy_regex(r"^filename:\s+(/\S*/nvidia(?:-current)?\.ko(?:\.\w+)?)$")
_VERSION = lazy_regex(r"^version:\s+(\d{2,4}\.\d+(?:\.\d+)?)$")
_LICENCE = lazy_regex(r"^license:\s+(\S.*)$")


def read_files(paste: Paste) -> Machine:
    found: Fact[tuple[KernelModule, ...]] = NOT_ASKED
    for line in lines_with(paste, "NVRM version:"):
        words = line.words[line.words.index("NVRM version:") :]
        version = parse_version(words)
        if version is not None:
            module = KernelModule("", line.known(version, _PROC), open_flavour=line.known(is_open(words), _PROC))
            found = line.known((module,), _PROC)
    modules = (*_modules(list(lines_with(paste, "filename:", "version:", "license:"))), *_started(paste))
    place = next((one.version.source for one in modules if isinstance(one.version, Known)), "")
    return Machine(driver=Driver(loaded=found, on_disk=Known(modules, place) if modules else NOT_ASKED))


def _started(paste: Paste) -> Iterator[KernelModule]:
    """The kernel's log tells which module it began to load last; whether that one then ran is told by other lines."""
    line = next(iter(reversed(list(lines_with(paste, _LOADING)))), None)
    if line is None:
        return
    words = "NVRM version: " + line.words.partition(_LOADING)[2]
    version = parse_version(words)
    if version is not None:
        yield KernelModule("", line.known(version, _LOG), open_flavour=line.known(is_open(words), _LOG))


def _modules(told: list[Line]) -> Iterator[KernelModule]:
    """modinfo prints the file first; other modules' lines end what it says of this one."""
    for place, line in enumerate(told):
        file = _FILE.match(line.words)
        if file is None:
            continue
        block = list(takewhile(lambda one: not one.words.startswith("filename:"), told[place + 1 :]))
        version = first(block, _VERSION, _MODINFO, lambda found: Version.parse(found[1]))
        licence = first(block, _LICENCE, _MODINFO, lambda found: found[1])
        if isinstance(version, Known):
            # NVIDIA's open module says `Dual MIT/GPL`, the other one `NVIDIA`.
            opened = Known("MIT" in licence.value, licence.source) if isinstance(licence, Known) else licence
            yield KernelModule(file[1], version, licence, opened)


# Settings that forbid a module, as a `grep` names them by file, or a `cat` shows a file of modprobe.d.


_MODPROBE_FILE = r"/(?:etc|run|lib|usr/lib)/modprobe\.d/[\w.@+-]{1,60}"
_FOUND = lazy_regex(rf"^(?P<place>{_MODPROBE_FILE}):(?:(?P<number>\d{{1,5}}):)?(?P<words>[^\n]{{1,200}})$")
_SHOWN = lazy_regex(rf"^(?:sudo )?(?:cat|less|more|tail|head) (?P<place>{_MODPROBE_FILE})$")
_OWN = lazy_regex(r"\s*(?:$|#|(?:blacklist|install|remove|alias|options|softdep)\s)")
_MOST = 60  # lines of a file
_ASKED = frozenset({"nvidia", "nouveau"})


def read_blocks(paste: Paste) -> Machine:
    """The settings, where the text says which file they stand in: a bare line may be quoted from a guide."""
    found = dict.fromkeys(_blocks(paste))
    if not found:
        return Machine()
    bars = tuple(dict.fromkeys(bar for bar, _ in found))
    return Machine(driver=Driver(bars=Known(bars, source("modprobe.d", next(iter(found))[1])) if bars else NOT_ASKED))


def _blocks(paste: Paste) -> Iterator[tuple[ModuleBlock, int]]:
    for line in lines_with(paste, "/modprobe.d/"):
        named = _FOUND.match(line.words.strip())
        if named:
            place = f"{named['place']}:{named['number']}" if named["number"] else named["place"]
            yield from ((bar, line.number) for bar in _bars(named["words"], place))
    for run in runs(paste, "/modprobe.d/"):
        shown = _SHOWN.match(run.command.strip())
        if shown:
            # A comment looks like the prompt of root, so the next command is no end; a line of another kind is.
            output = takewhile(lambda line: _OWN.match(line.words), lines(paste)[run.number : run.number + _MOST])
            yield from ((bar, line.number) for line in output for bar in _bars(line.words, shown["place"]))


def _bars(words: str, place: str) -> Iterator[ModuleBlock]:
    return (ModuleBlock(module, place, line) for module, _, line in forbidden_by_file(words) if module in _ASKED)
