"""The system image that waits for the restart on a system of images (ostree), and its kernel."""

from __future__ import annotations

import re

from msgspec import Struct

from gpuassist.detect.small_files import read
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.text import text
from gpuassist.system.files import Files

BOOTED = "/run/ostree-booted"
# libostree, ostree-sysroot-deploy.c: what `ostree admin deploy --stage` leaves until the shutdown, a variant whose `target` comes
# first and has the name CHECKSUM.SERIAL of the deployment's directory.
_STAGED = "/run/ostree/staged-deployment"
_STAGED_AT_MOST_BYTES = 1 << 16
_NAME = re.compile(rb"[0-9a-f]{64}\.\d{1,6}(?!\d)")
_RELEASE = re.compile(r"[\w.+~-]{1,200}")  # goes into command lines
_DEPLOYED = ("/ostree/deploy", "/sysroot/ostree/deploy")
# The entry of the newest deployment has the greatest number: ostree-2-fedora.conf, ostree-2.conf before 2022.
_ENTRIES = "/boot/loader/entries"
_COMMAND_LINE = "/proc/cmdline"


class WaitingDeployment(Struct, frozen=True):
    """`root` is the directory with its files, `kernel` the release of its kernel."""

    name: str
    root: str
    kernel: str


def waiting(files: Files) -> Fact[tuple[WaitingDeployment, ...]]:
    """The deployment that the next start brings in place of the one that runs; empty where that one goes on."""
    try:
        staged = files.read_bytes(_STAGED, _STAGED_AT_MOST_BYTES) if files.exists(_STAGED) else b""
    except OSError as error:
        return Unknown(text("{path} could not be read: {error}", path=_STAGED, error=error.strerror or str(error)))
    if staged:
        found = _NAME.search(staged)
        if found is None:
            return Unknown(text("{path} names no deployment", path=_STAGED))
        return _deployment(files, found[0].decode(), _STAGED)
    booted = _of_arguments(files, value_or(read(files, _COMMAND_LINE), ""))
    names = sorted((one for one in files.names(_ENTRIES) if one.startswith("ostree-")), key=_number, reverse=True)
    first = _of_arguments(files, files.text(f"{_ENTRIES}/{names[0]}", 1 << 16)) if names else ""
    if first and booted and first != booted:
        return _deployment(files, first, f"{_ENTRIES}/{names[0]}")
    return Known((), _STAGED)


def _number(name: str) -> int:
    digits = name.split("-")[1].partition(".")[0]
    return int(digits) if digits.isdecimal() and len(digits) < 6 else 0


def _of_arguments(files: Files, words: str) -> str:
    """The deployment of `ostree=/ostree/boot.1/OS/CHECKSUM/0` on a kernel's command line, which is a link to its directory."""
    path = next((one.removeprefix("ostree=") for one in words.split() if one.startswith("ostree=/")), "")
    return files.real(path).rstrip("/").rpartition("/")[2] if path else ""


def _deployment(files: Files, name: str, source: str) -> Fact[tuple[WaitingDeployment, ...]]:
    for directory in _DEPLOYED:
        for root in files.glob(f"{directory}/*/deploy/{name}"):
            modules = f"{root}/usr/lib/modules"
            kernels = [one for one in files.names(modules) if _RELEASE.fullmatch(one) and files.exists(f"{modules}/{one}/vmlinuz")]
            if len(kernels) == 1:  # libostree takes one kernel of a deployment and refuses several
                return Known((WaitingDeployment(name, root, kernels[0]),), source)
    return Unknown(text("the kernel of the system image {name}, which waits for the restart, is not to be seen", name=name[:12]))
