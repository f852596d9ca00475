"""How the driver was set up, as its tools and the kernel tell: forbidden, a key that waits, two installers, a GPU left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import card_name, driver_version, in_container, in_wsl
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, sign
from gpuassist.diagnose.wording import wrapped
from gpuassist.model.paste import Weight

_MODULE = r"nvidia(?:[-_](?:drm|modeset|uvm|current))?"
_PLACE = r"(?P<place>/\S{0,60}modprobe\.d/[\w.@+-]{1,60}\.conf)"


def _forbidden(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Such a line is also what guides for virtual machines tell to write: without a file's name it proves little."""
    found = match.groupdict()
    if in_wsl(setting) or in_container(setting):
        return
    place, line = found.get("place") or "", " ".join((found.get("line") or "").split())
    told = Weight.CAUSE if place else Weight.SYMPTOM
    yield sign("driver-module-blacklisted", told, gpu=card_name(setting), place=place, line=line)


def _refused_by_name(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    yield sign("driver-module-blacklisted", Weight.CAUSE, gpu=card_name(setting), line=match.groupdict().get("line") or "")


def _refused_by_kernel(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    yield sign("driver-module-blacklisted", Weight.CAUSE, gpu=card_name(setting), command_line="yes")


def _excluded(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    yield sign("gpu-excluded-by-option", Weight.CAUSE, gpu=card_name(setting), option=match.groupdict().get("option") or "")


def _no_tool(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Where the driver runs all the same, only the tool is missing."""
    if setting.case.running and not in_container(setting) and not in_wsl(setting):
        driver = driver_version(setting)
        yield sign("nvidia-smi-missing", Weight.CAUSE, driver=driver, branch=driver.partition(".")[0])


SIGNATURES = (
    Signature(
        ("blacklist", "install nvidia", "alias nvidia"),
        rf"(?m:^)(?:{_PLACE}:)?[ \t]*(?:\d{{1,4}}[:-])?[ \t]*"
        rf"(?P<line>blacklist[ \t]{{1,4}}{_MODULE}|install[ \t]{{1,4}}{_MODULE}[ \t]{{1,4}}/(?:usr/)?bin/(?:false|true)"
        rf"|alias[ \t]{{1,4}}{_MODULE}[ \t]{{1,4}}off)[ \t]*(?m:$)",
        _forbidden,
        200,
    ),
    Signature(
        ("running install command",),
        rf"Error running install command (?:'(?P<line>[^'\n]{{1,60}})' )?for (?:module )?{_MODULE}\b",
        _refused_by_name,
    ),
    Signature(("is blacklisted",), rf"Module {_MODULE} is blacklisted", _refused_by_kernel),
    Signature(
        ("enrollment request",),
        r"is already in the enrollment request",
        means("secure-boot-mok-pending"),
    ),
    Signature(
        ("--list-new",),
        r"mokutil --list-new[^\n]{0,40}\n\s{0,4}\[key 1\]",
        means("secure-boot-mok-pending"),
    ),
    Signature(
        ("nvidia-installer",),
        rf"(?:Run [\"'“]?nvidia-installer --uninstall|{wrapped('nvidia-installer program was found on this system')})",
        means("driver-installed-twice"),
    ),
    Signature(("gpu excluded",), r"GPU Excluded:\s{1,6}Yes", _excluded),
    Signature(("excludedgpus", "gpublacklist"), r"(?m:^)ExcludedGpus: \"(?P<option>[^\"\n]{4,300})\"", _excluded),
    Signature(
        ("system power management attempted", "preservevideomemoryallocations module"),
        rf"(?:{wrapped('PreserveVideoMemoryAllocations module parameter is set')}"
        rf"|{wrapped('System Power Management attempted without driver procfs suspend interface')})",
        means("video-memory-lost-over-sleep", refused="yes"),
    ),
    Signature(
        ("nvidia-smi",),
        r"(?:nvidia-smi: (?:command )?not found|command not found: nvidia-smi|Command ['‘]nvidia-smi['’] not found"
        r"|Unknown command:? ?nvidia-smi|nvidia-smi: (?:未找到命令|找不到命令|Befehl nicht gefunden|commande introuvable"
        r"|orden no encontrada|No such file or directory))",
        _no_tool,
    ),
)
