"""The GPUs in pasted inventories of the hardware: `lshw -C display`, `inxi -G`, `ubuntu-drivers devices`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.detect.readers.lines import Line, lines, lines_with, source
from gpuassist.model.fact import NOT_ASKED, Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste

# `modalias : pci:v000010DEd00002204sv00001458sd0000403Bbc03sc00i00`, in a block that begins with the device's path.
_MODALIAS = lazy_regex(r"^modalias\s*: pci:v000010DEd0000(?P<id>[0-9A-F]{4})sv[0-9A-F]{8}sd[0-9A-F]{8}bc03")
_MODEL = lazy_regex(r"^model\s*: \w{2,10} \[(?P<name>[^\[\]\n]{2,80})\]")
_PATH = lazy_regex(r"^== /sys/devices/\S{3,200}/(?P<address>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ==$")
# `  *-display` or `*-display UNCLAIMED`, then indented lines up to the next `*-`.
_DISPLAY = lazy_regex(r"^\s*\*-display(?::\d)?(?P<unclaimed> UNCLAIMED)?\s*$")
_LABELLED = lazy_regex(r"^\s+(?P<label>product|vendor|bus info|configuration): (?P<words>\S[^\n]{1,200})$")
_IN_BRACKETS = lazy_regex(r"\[(?!10[Dd][Ee]:)(?P<name>[^\[\]\n]{2,80})\]")
_NUMBERS = lazy_regex(r"\[10[Dd][Ee]:(?P<id>[0-9A-Fa-f]{4})\]")
_BUS = lazy_regex(r"pci@(?P<address>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])")
_DRIVER = lazy_regex(r"\bdriver=(?P<driver>[\w-]{2,30})")
# `  Device-1: NVIDIA GA102 [GeForce RTX 3090] driver: nvidia v: 535.54.03`; `N/A` where none is bound.
_INXI = lazy_regex(
    r"\bDevice-\d: NVIDIA (?:\w{2,10} )?\[(?P<name>[^\[\]\n]{2,80})\][^\n]{0,200}?\bdriver: (?P<driver>N/A|[\w-]{2,30})",
    re.IGNORECASE,
)
_LONGEST_BLOCK = 20  # lines of one device


def read(paste: Paste) -> Machine:
    """The NVIDIA GPUs of the first inventory that has any."""
    for read_one in (_of_lshw, _of_ubuntu_drivers, _of_inxi):
        found = tuple(read_one(paste))
        if found:
            return Machine(gpus=Known(tuple(gpu for gpu, _ in found), source(*found[0][1])))
    return Machine()


def _of_lshw(paste: Paste) -> Iterator[tuple[Gpu, tuple[str, int]]]:
    every = lines(paste) if "*-display" in paste.words else ()
    for place, line in enumerate(every):
        start = _DISPLAY.match(line.words)
        told = _block(every[place + 1 : place + 1 + _LONGEST_BLOCK]) if start else {}
        if start and "vendor" in told and told["vendor"][0].startswith("NVIDIA"):
            gpu = _listed(told)
            yield replace(gpu, kernel_driver=line.known("", "lshw")) if start["unclaimed"] else gpu, ("lshw", line.number)


def _block(below: tuple[Line, ...]) -> dict[str, tuple[str, Line]]:
    found: dict[str, tuple[str, Line]] = {}
    for line in below:
        if line.words.lstrip().startswith("*-"):
            break
        labelled = _LABELLED.match(line.words)
        if labelled:
            found.setdefault(labelled["label"], (labelled["words"], line))
    return found


def _listed(told: dict[str, tuple[str, Line]]) -> Gpu:
    """What lshw calls product, bus info and configuration."""
    gpu = Gpu()
    for label, field, pattern, group in (
        ("product", "name", _IN_BRACKETS, "name"),
        ("bus info", "pci_address", _BUS, "address"),
        ("configuration", "kernel_driver", _DRIVER, "driver"),
    ):
        words, line = told.get(label, ("", Line(0, "")))
        found = pattern.search(words)
        if found:
            gpu = replace(gpu, **{field: line.known(found[group], "lshw")})
    words, line = told.get("product", ("", Line(0, "")))
    number = _NUMBERS.search(words)
    return replace(gpu, pci_id=line.known(f"10de:{number['id'].lower()}", "lshw")) if number else gpu


def _of_ubuntu_drivers(paste: Paste) -> Iterator[tuple[Gpu, tuple[str, int]]]:
    program = "ubuntu-drivers"
    every = lines(paste) if "modalias" in paste.words else ()
    for place, line in enumerate(every):
        number = _MODALIAS.match(line.words)
        if number is None:
            continue
        gpu = Gpu(pci_id=line.known(f"10de:{number['id'].lower()}", program))
        model = next(((one, found) for one in every[place : place + 4] if (found := _MODEL.match(one.words))), None)
        path = _PATH.match(every[place - 1].words) if place else None
        yield (
            replace(
                gpu,
                name=model[0].known(model[1]["name"], program) if model else NOT_ASKED,
                pci_address=every[place - 1].known(path["address"], program) if path else NOT_ASKED,
            ),
            (program, line.number),
        )


def _of_inxi(paste: Paste) -> Iterator[tuple[Gpu, tuple[str, int]]]:
    for line in lines_with(paste, "Device-1: ", "Device-2: "):
        for found in _INXI.finditer(line.words):
            driver = "" if found["driver"] == "N/A" else found["driver"]
            yield Gpu(name=line.known(found["name"], "inxi"), kernel_driver=line.known(driver, "inxi")), ("inxi", line.number)
