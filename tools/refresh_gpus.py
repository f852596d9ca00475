"""Makes resources/knowledge/gpus.json from a pci.ids file: every NVIDIA GPU since Fermi, with the chip that decides what it can.

Run from the project's root: `python tools/refresh_gpus.py pci.ids --package 'Debian pci.ids VERSION' --checked DAY`, with
`--released g_nv_name_released.h` (of NVIDIA/open-gpu-kernel-modules) and `--legacy nvGpus.h` (of NVIDIA/nvidia-installer) for the
names that NVML prints and the memory of GPUs that are shared as vGPUs, `--tag` for the release that both are from, and `--listed`
a clone of NVIDIA/open-gpu-kernel-modules for the first driver that lists a GPU.
Prints what the new table adds, changes and drops. A product's name stands in the ids file in brackets, the chip's code name in
front of it (two cards of one name can hold different chips). Systems on a chip have no PCI id there: see `ON_CHIP`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from tools.first_drivers import first_listed, note_later_products
from tools.printed_names import card_size, memory_sizes, printed, unknown_names
from tools.tables import Row, read_table, write_table

KNOWLEDGE = Path("resources/knowledge")
DEVICE = re.compile(r"\t([0-9a-f]{4})  (.*)")
SUBSYSTEM = re.compile(r"\t\t10de [0-9a-f]{4}  (.*)")
NOT_A_GPU = re.compile(r"\b(Audio|USB|UCSI|[Hh]ost|[Bb]ridge|Controller|RP|NVSwitch)\b")
NO_NAME = re.compile(r"Reserved Dev ID|Engineering Sample|Generic-GPU|PCIe Faber|^TS4|^G[A-Z]\d+-|Skinny Joe")
PRODUCT = re.compile(r"^(GeForce|Quadro|RTX|Tesla|TITAN|NVS|GRID|NVIDIA|[ABHLPTV]\d+|Jetson|GH200|CMP)\b")
# Engineering samples under names of their own; NVIDIA/gpu-admin-tools, devid_chips.py: chips by range of device ids.
SAMPLES = {"2c2c": "GB203", "2d2c": "GB206"}
GRACE_HOPPER = re.compile(r"\bGH200\b|Grace Hopper")

# What these print as their name through CUDA and nvidia-smi; NVIDIA Jetson Linux documentation, product pages of the modules.
ORIN = ("Orin", "Orin (nvgpu)", "Jetson Orin NX", "Jetson Orin Nano", "Jetson Orin Nano Super", "Jetson AGX Orin Industrial")
ON_CHIP = (
    ("Jetson TK1", ("GK20A",), "GK20A"),
    ("Jetson Nano", ("NVIDIA Tegra X1", "Jetson TX1"), "GM20B"),
    ("Jetson TX2", ("NVIDIA Tegra X2", "Jetson TX2i", "Jetson TX2 NX"), "GP10B"),
    ("Jetson AGX Xavier", ("Xavier", "Jetson Xavier NX", "Jetson AGX Xavier Industrial"), "GV11B"),
    ("Jetson AGX Orin", ORIN, "GA10B"),
    ("Jetson AGX Thor", ("Thor", "NVIDIA Thor", "Jetson T5000", "Jetson T4000", "Jetson Thor"), "GB10B"),
)

# What a computer is called beside its GPU; NVIDIA DGX Spark documentation: built on the GB10.
COMPUTERS = {"10de:2e12": ("NVIDIA DGX Spark",), **dict.fromkeys(("10de:2e03", "10de:2e06", "10de:2e13"), ("RTX Spark N1X",))}

CARDS_SOURCE = "NVIDIA NIM (docs.nvidia.com/nim), supported models, and memory.total of nvidia-smi in public reports"


def main() -> None:
    """Writes the table and prints the difference to the one before."""
    options = _options()
    rows = [*_rows(Path(options.ids).read_text("utf-8", "replace"), _chips()), *_on_chip()]
    names = printed(*(Path(given).read_text("utf-8") for given in (options.released, options.legacy) if given))
    for row in rows:
        _complete(row, names.get(row["pci_id"], ()))
        if names and row["pci_id"] and row["pci_id"] not in names:
            row["unlisted"] = True
    note_later_products(rows, first_listed(Path(options.listed)) if options.listed else {}, _generations())
    place = KNOWLEDGE / "gpus.json"
    before = {row["pci_id"]: row for row in read_table(place)[1]} if place.is_file() else {}
    header = {
        "kind": "gpus",
        "schema": 1,
        "sources": {
            "pci.ids": {"text": _source(options), "checked": options.checked},
            "cards": {"text": f"{_source(options)}; memory: {CARDS_SOURCE}", "checked": options.checked},
            "jetson": {"text": "NVIDIA Jetson Linux documentation, names of the modules", "checked": options.checked},
        },
    }
    write_table(place, header, rows, ascii_only=False)
    _report(before, {row["pci_id"]: row for row in rows})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", help="a pci.ids file")
    parser.add_argument("--package", required=True, help="where it is from, with its version")
    parser.add_argument("--released", help="g_nv_name_released.h")
    parser.add_argument("--legacy", help="nvGpus.h")
    parser.add_argument("--listed", help="a clone of NVIDIA/open-gpu-kernel-modules with its tags")
    parser.add_argument("--tag", default="", help="the driver release of both headers")
    parser.add_argument("--checked", required=True, help="today, as YYYY-MM-DD")
    return parser.parse_args()


def _source(options: argparse.Namespace) -> str:
    ids = f"{options.package} (The PCI ID Repository, pci-ids.ucw.cz)"
    if options.released or options.legacy:
        ids += f"; other names, memory: NVIDIA's lists in driver {options.tag}, g_nv_name_released.h (vGPU profiles), nvGpus.h"
    return f"{ids}; first driver: NVIDIA/open-gpu-kernel-modules, README of each tag" if options.listed else ids


def _complete(row: Row, names: tuple[str, ...]) -> None:
    """What NVIDIA's own lists add: other names, and the memory where names or vGPU profiles fix it."""
    for name in unknown_names((row["name"], *row.get("aliases", ())), (*names, *COMPUTERS.get(row["pci_id"], ()))):
        _add_alias(row, name)
    if sizes := memory_sizes(row["name"], names):
        row["memory_bytes"] = sizes
    elif names and (sizes := card_size(row["pci_id"])):
        row.update(memory_bytes=sizes, source="cards")


def _chips() -> tuple[str, ...]:
    """The chips' code names of architectures.json, longest first, so that GK208 is not taken for GK20."""
    _, rows = read_table(KNOWLEDGE / "architectures.json")
    return tuple(sorted((chip["chip"] for row in rows for chip in row["chips"]), key=len, reverse=True))


def _generations() -> dict[str, str]:
    """Of each chip its generation, by architectures.json."""
    _, rows = read_table(KNOWLEDGE / "architectures.json")
    return {chip["chip"]: row["architecture"] for row in rows for chip in row["chips"]}


def _rows(ids: str, chips: tuple[str, ...]) -> Iterator[Row]:
    row: Row | None = None
    for line in _of_nvidia(ids):
        device = DEVICE.fullmatch(line)
        if device:
            if row:
                yield row
            row = _row(device[1], device[2], chips)
        elif row and (subsystem := SUBSYSTEM.fullmatch(line)) and PRODUCT.match(subsystem[1]):
            _add_alias(row, subsystem[1])
    if row:
        yield row


def _of_nvidia(ids: str) -> Iterator[str]:
    inside = False
    for line in ids.splitlines():
        if line[:1] not in {"\t", "#", ""}:
            inside = line.startswith("10de ")
        elif inside:
            yield line


def _row(device: str, words: str, chips: tuple[str, ...]) -> Row | None:
    code, _, bracket = words.partition("[")
    chip = SAMPLES.get(device) or next((chip for chip in chips if code.startswith(chip)), "")
    if not chip or NOT_A_GPU.search(code) or (bracket and NOT_A_GPU.search(bracket)):
        return None
    name = bracket.rstrip("] ")
    row: Row = {"pci_id": f"10de:{device}", "name": chip if NO_NAME.search(name) or not name else name, "chip": chip}
    if GRACE_HOPPER.search(name):
        row["open_module"] = "required"  # NVIDIA driver installation guide, kernel modules: as on Blackwell
    return {**row, "source": "pci.ids"}


def _add_alias(row: Row, name: str) -> None:
    if name != row["name"] and name not in row.get("aliases", []):
        row.setdefault("aliases", []).append(name)


def _on_chip() -> Iterator[Row]:
    for name, aliases, chip in ON_CHIP:
        yield {"pci_id": "", "name": name, "aliases": list(aliases), "chip": chip, "source": "jetson"}


def _report(before: dict[str, Row], after: dict[str, Row]) -> None:
    added, dropped = sorted(after.keys() - before.keys()), sorted(before.keys() - after.keys())
    changed = [key for key in sorted(after.keys() & before.keys()) if after[key] != before[key]]
    print(f"{len(after)} GPUs: {len(added)} added, {len(changed)} changed, {len(dropped)} dropped")
    for key in changed:
        print(f"changed {key}: {before[key]['name']} -> {after[key]['name']}")
    for key in dropped:
        print(f"dropped {key}: {before[key]['name']}")


if __name__ == "__main__":
    main()
