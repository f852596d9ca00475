"""An answer of the knowledge base in lines to read: each field with its label, the record's parts below it, the source last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from gpuassist.model.text import Text, counted, sentence, text, verbatim
from gpuassist.present.overview import CardRow, gibibytes
from gpuassist.session.lookup.answer import LookupAnswer, LookupStatus

if TYPE_CHECKING:
    from gpuassist.session.lookup.answer import Document

# By the field of the record, in the order in which they are read; a field without a label is not for reading.
_LABELS: dict[str, Text] = {
    "architecture": text("architecture"),
    "compute_capability": text("compute capability"),
    "pci_ids": text("PCI ids"),
    "memory_bytes": text("memory"),
    "integrated": text("part of the processor"),
    "cuda": text("CUDA"),
    "package": text("package"),
    "asks_for_torch": text("asks for torch"),
    "torch": text("torch"),
    "tensorrt": text("TensorRT"),
    "architectures": text("architectures"),
    "deprecated": text("deprecated among them"),
    "driver_min_linux": text("driver made for it"),
    "driver_floor_linux": text("oldest driver that runs it"),
    "compute_capability_min": text("GPUs from compute capability"),
    "compute_capability_max": text("GPUs up to compute capability"),
    "jetpack": text("JetPack"),
    "gcc_max": text("newest gcc it accepts"),
    "clang_max": text("newest clang it accepts"),
    "glibc_clash": text("headers clash with glibc from"),
    "patches": text("versions"),
    "published": text("published"),
    "python": text("Python"),
    "companions": text("goes with"),
    "variants": text("builds"),
    "branch_kind": text("kind of branch"),
    "cuda_max": text("nvidia-smi shows CUDA"),
    "cuda_max_with_compat": text("with a cuda-compat package"),
    "kernel_module": text("kernel modules"),
    "end_of_life": text("supported until"),
    "ended": text("has ended"),
    "target": text("name for nvcc"),
    "first_cuda": text("first CUDA"),
    "last_cuda": text("last CUDA"),
    "first_driver": text("first driver"),
    "last_driver": text("last driver branch"),
    "runs_on": text("its code runs on"),
    "runs_code_of": text("runs the code of"),
    "nvcc_inside": text("nvcc inside"),
    "cudnn_inside": text("cuDNN inside"),
    "cudnn": text("cuDNN"),
    "os": text("stands on"),
    "glibc": text("C library (glibc)"),
    "libraries": text("libraries inside"),
    "compilers": text("compilers inside"),
    "cuda_majors": text("belongs to CUDA"),
    "cpu_only": text("for the CPU alone"),
    "versions": text("torch versions built so"),
    "builds": text("builds"),
    "releases": text("releases"),
    "platforms": text("processors"),
    "page": text("its own page"),
    "directory": text("lies in"),
    "action": text("what helps"),
    "causes": text("may come from"),
}
_MOST_RELEASES = 12  # rows of them; `--json` has all
# Where nothing more than null is known of these, it means that there is none yet.
_NOT_KNOWN = text("not known")
_NONE_YET = {"last_cuda": text("none: the newest still does"), "last_driver": text("none: new drivers still do")}
# What is only worth a line where it says something.
_OF_TOOLKITS = ("deprecated", "glibc_clash", "clang_max")
_OF_ENGINES = ("compute_capability_max", "releases")
_OF_IMAGES = ("tensorrt", "cudnn", "glibc", "os", "python", "compute_capability_min", "jetpack")
_LEFT_OUT_UNLESS_KNOWN = frozenset(
    (
        "memory_bytes",
        "published",
        "end_of_life",
        "patches",
        "compilers",
        "directory",
        "cuda_max_with_compat",
        *_OF_TOOLKITS,
        *_OF_ENGINES,
        *_OF_IMAGES,
    )
)


def lines(answered: LookupAnswer) -> Iterator[CardRow]:
    """The fields; what is null says so, where that is of interest and no record below says more."""
    record = answered.record
    found = record.get("others")
    others: list[Any] = found if isinstance(found, list) else []
    for name in _LABELS:
        value = record.get(name)
        if name not in record or (not value and value != 0 and (others or name in _LEFT_OUT_UNLESS_KNOWN)):
            continue
        if name in _TABLES and isinstance(value, list):
            yield from _TABLES[name](value)
        else:
            none = _NONE_YET.get(name, _NOT_KNOWN) if answered.standing is LookupStatus.KNOWN else _NOT_KNOWN
            yield CardRow(_LABELS[name], none if value is None else _words(name, value), known=value is not None)
    for other in others:
        if "architecture" in other:
            yield CardRow(text("either"), _other(other))


def source_line(record: Document) -> CardRow:
    """Where the record is from, and when somebody looked."""
    words = text("{source} ({checked})", source=str(record["source"]), checked=str(record["checked"]))
    return CardRow(text("source"), words if record["checked"] else verbatim(str(record["source"])))


def _words(name: str, value: Any) -> Text:
    if value == "":
        return text("none")
    if isinstance(value, bool):
        return text("yes") if value else text("no")
    if isinstance(value, list):
        return verbatim(", ".join(map(str, value))) if value else text("none")
    if isinstance(value, dict):
        return verbatim(", ".join(f"{key} {inner}" for key, inner in value.items()))
    if name == "action":
        return sentence(value)
    return gibibytes(value) if name == "memory_bytes" else verbatim(str(value))


def _variants(variants: list[Any]) -> Iterator[CardRow]:
    yield CardRow(_LABELS["variants"], counted("{count} build", "{count} builds", len(variants)))
    for one in variants:
        label = text("  {tag}, {platform}", tag=one["tag"], platform=one["platform"])
        code = [*(one["architectures"] or ()), *(one["ptx"] or ())]
        words = (
            verbatim(" ".join(code)) if code else text("for the CPU") if one["cuda"] is None else text("architectures not known")
        )
        yield CardRow(label, text("{code}; pip's own", code=words) if one["default_index"] else words, strong=one["default_index"])


def _builds(builds: list[Any]) -> Iterator[CardRow]:
    yield CardRow(_LABELS["builds"], counted("{count} build", "{count} builds", len(builds)))
    for one in builds:
        label = text("  {channel}, {platform}", channel=one["channel"], platform=one["platform"])
        yield CardRow(label, verbatim(" ".join(one["specs"])))


def _releases(releases: list[Any]) -> Iterator[CardRow]:
    """Which torch each asks for, the newest first."""
    yield CardRow(_LABELS["releases"], verbatim(""))
    for one in releases[:_MOST_RELEASES]:
        versions = one["versions"]
        label = verbatim(f"  {versions[0]}" if len(versions) == 1 else f"  {versions[-1]} – {versions[0]}")
        yield CardRow(label, verbatim("; ".join(_asked(one))))


def _asked(one: Any) -> Iterator[str]:
    yield one["package"]
    if one["asks_for_torch"]:
        yield f"torch {' or '.join(one['asks_for_torch'])}"
    if one["cuda_majors"]:
        yield f"CUDA {', '.join(map(str, one['cuda_majors']))}"
    if one["python"]:
        yield f"Python {one['python']}"


_TABLES: dict[str, Callable[[list[Any]], Iterator[CardRow]]] = {"variants": _variants, "builds": _builds, "releases": _releases}


def _other(other: Any) -> Text:
    capability, architecture = other["compute_capability"] or "?", other["architecture"] or "?"
    ids = ", ".join(other.get("pci_ids") or ())
    if ids:
        return text("{architecture}, {capability}: {ids}", architecture=architecture, capability=capability, ids=ids)
    return text("{architecture}, {capability}", architecture=architecture, capability=capability)
