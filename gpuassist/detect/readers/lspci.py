"""The GPUs that a pasted `lspci` lists, with the driver that each is bound to where `-k` was asked."""

from __future__ import annotations

import re

from msgspec.structs import replace

from gpuassist.detect.readers.commands import runs
from gpuassist.detect.readers.lines import Line, lines, source
from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste

PROGRAM = "lspci"
_SLOT = r"^[ \t]{0,8}(?:(?P<domain>[0-9a-f]{4}):)?(?P<slot>[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) "
# A name and its numbers (-nn), numbers alone (-n), `Device 2684` where the list of names is older than the card.
_NAMED = lazy_regex(
    _SLOT + r"(?:VGA compatible|3D|Display) controller(?: \[03[0-9a-f]{2}\])?: NVIDIA Corporation (?P<device>[^\n]{1,160})",
    re.IGNORECASE,
)
_NUMBERED = lazy_regex(_SLOT + r"(?:Class )?03[0-9a-f]{2}: (?P<id>10de:[0-9a-f]{4})\b", re.IGNORECASE)
_ID = lazy_regex(r"\[(10de:[0-9a-f]{4})\]")
_UNNAMED = lazy_regex(r"^Device ([0-9a-f]{4})\b")
_NAME = lazy_regex(r"^\w{2,10}(?: Rev\. ?\d)? \[(?!10de:)(?P<name>[^\[\]]{2,80})\]")
_ANY_DEVICE = lazy_regex(_SLOT + r"[^\n:]{3,60}: ")
_BOUND = lazy_regex(r"^\s*Kernel driver in use: (\S+)")
_MODULES = lazy_regex(r"^\s*Kernel modules: \S")
_LABEL = lazy_regex(r"^(?:Subsystem|DeviceName|Kernel driver in use|Kernel modules): ")  # whose indentation a forum took away
_FEWEST = 8  # devices that a whole listing has
_LONGEST_BLOCK = 60  # lines of one device in `lspci -vvv`


def read(paste: Paste) -> Machine:
    """The NVIDIA GPUs in the order of their slots; an empty tuple where the listing is whole and has none."""
    if "10de:" not in paste.words and "vidia" not in paste.words.lower() and PROGRAM not in paste.words:
        return Machine()
    found: dict[str, Gpu] = {}
    number = 0
    for place, line in enumerate(lines(paste)):
        gpu = _gpu(line)
        if gpu is not None and isinstance(gpu.pci_address, Known):
            found.setdefault(gpu.pci_address.value, replace(gpu, kernel_driver=_driver(lines(paste)[place + 1 :][:_LONGEST_BLOCK])))
            number = number or line.number
    if found:
        return Machine(gpus=Known(tuple(found[address] for address in sorted(found)), source(PROGRAM, number)))
    return Machine(gpus=_none(paste))


def _gpu(line: Line) -> Gpu | None:
    if "10de:" not in line.words and "vidia" not in line.words.lower():
        return None
    named = _NAMED.match(line.words)
    numbered = None if named else _NUMBERED.match(line.words)
    found = named or numbered
    if found is None:
        return None
    address = f"{found['domain'] or '0000'}:{found['slot']}".lower()
    if named is None:
        return Gpu(pci_address=line.known(address, PROGRAM), pci_id=line.known(found["id"].lower(), PROGRAM))
    device = named["device"]
    number, unnamed, name = _ID.search(device), _UNNAMED.match(device), _NAME.match(device)
    pci_id = number[1] if number else f"10de:{unnamed[1]}" if unnamed else ""
    return Gpu(
        pci_address=line.known(address, PROGRAM),
        pci_id=line.known(pci_id.lower(), PROGRAM) if pci_id else NOT_ASKED,
        name=line.known(name["name"], PROGRAM) if name else NOT_ASKED,
    )


def _driver(below: tuple[Line, ...]) -> Fact[str]:
    """What -k says below a device, up to the next one; modules without a driver mean that none is bound."""
    for line in below:
        if not line.words[:1].isspace() and not _LABEL.match(line.words):
            return NOT_ASKED
        bound = _BOUND.match(line.words)
        if bound:
            return line.known(bound[1], PROGRAM)
        if _MODULES.match(line.words):
            return line.known("", PROGRAM)
    return NOT_ASKED


def _none(paste: Paste) -> Fact[tuple[Gpu, ...]]:
    """No GPU: lspci was asked for NVIDIA's devices, or for all of them, and what it printed is there to its end."""
    for run in runs(paste, PROGRAM):
        asked, _, filters = run.command.partition("|")
        devices = sum(1 for line in run.output if _ANY_DEVICE.match(line.words))
        if not re.search(r"\blspci(?: -[a-z]{1,5}){0,3}\s*$", asked) or not run.ended:
            continue
        # `grep nvidia` without -i finds nothing in any listing: lspci writes NVIDIA.
        if (
            (run.silent and (bool(re.search(r"grep\b.*(?:NVIDIA|-\w*i\w*\b.*\bnvidia)", filters)) and "-v" not in filters))
            or (not filters and devices >= _FEWEST)
            # Laptops and servers have 3D controllers, which a search for VGA alone leaves out.
            or (devices and all(word in filters.lower() for word in ("grep", "vga", "3d")) and "-v" not in filters)
        ):
            return Known((), source(PROGRAM, run.number))
    return NOT_ASKED
