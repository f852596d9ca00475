"""An answer of the knowledge base in lines to read: each field with its label, the record's parts below it, the source last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, counted, listed, sentence, text, verbatim
from gpuassist.present.overview import CardRow, gibibytes
from gpuassist.session.lookup.answer import LookupAnswer, LookupStatus

if TYPE_CHECKING:
    from gpuassist.session.lookup.answer import Document

_GIBIBYTE = 1 << 30

# By the field of the record, in the order in which they are read; a field without a label is not for reading.
_LABELS: dict[str, Text] = {
    "architecture": text("architecture"),
    "compute_capability": text("compute capability"),
    "pci_ids": text("PCI ids"),
    "memory_bytes": text("memory"),
    "memory_sizes_bytes": text("sold with memory of"),
    "integrated": text("part of the processor"),
    "cuda": text("CUDA"),
    "version": text("its own version"),
    "package": text("package"),
    "asks_for_torch": text("asks for torch"),
    "torch": text("torch"),
    "tensorrt": text("TensorRT"),
    "architectures": text("architectures"),
    "deprecated": text("deprecated among them"),
    "driver_min_linux": text("driver made for it"),
    "driver_floor_linux": text("oldest driver that runs it"),
    "driver_floors_linux": text("oldest driver, by CUDA"),
    "driver_floor_windows": text("on Windows, and so in WSL2"),
    "driver_floors_windows": text("on Windows, and so in WSL2"),
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
    "pins": text("pip installs with it"),
    "conda": text("by conda"),
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
    "open_module": text("open kernel modules"),
    "torch_builds": text("torch builds for it"),
    "plan": text("what a plan takes"),
    "runs_on": text("its code runs on"),
    "runs_on_from": text("and built with newer CUDA on"),
    "runs_code_of": text("runs the code of"),
    "runs_code_of_from": text("and built with newer CUDA of"),
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
    "manager": text("installed by"),
    "channel": text("channel"),
    "last": text("last release"),
    "builds": text("builds"),
    "releases": text("releases"),
    "platforms": text("processors"),
    "page": text("its own page"),
    "directory": text("lies in"),
    "action": text("what helps"),
    "causes": text("may come from"),
    "problem": text("leads to"),
    "why_none": text("no problem of the setup"),
    "until": text("last release with this number"),
}
_MOST_RELEASES = 12  # rows of them; `--json` has all
# Where nothing more than null is known of these, it means that there is none yet.
_NOT_KNOWN = text("not known")
_NONE_YET = {"last_cuda": text("none: the newest still does"), "last_driver": text("none: new drivers still do")}
_OF_JETPACK = text("that of JetPack")
_OLDER = text("older than every branch that I know")
# What a GPU is told of its modules: `open_module` as the record has it.
_MODULES = {
    "required": text("required: no proprietary module serves it"),
    "possible": text("either open or proprietary"),
    "impossible": text("not possible: it takes the proprietary ones"),
}
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
        "memory_sizes_bytes",
        "driver_floor_windows",
        "driver_floors_linux",
        "driver_floors_windows",
        "conda",
        "pins",
        "plan",
        "channel",
        "last",
        "version",
        "problem",
        "why_none",
        "until",
        "runs_on_from",
        "runs_code_of_from",
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
        if name not in record or _is_told_elsewhere(name, record, others=bool(others)):
            continue
        if name == "open_module" and record.get("jetson"):
            continue
        if name == "first_driver" and record.get("first_driver_of") == "generation":
            yield CardRow(_LABELS[name], text("{version}, with which its generation came", version=str(value)))
            continue
        if name == "last" and record.get("last_seen"):
            day = text("{version}, seen {day}", version=str(value), day=str(record["last_seen"]))
            yield CardRow(_LABELS[name], day)
            continue
        if name in _TABLES and isinstance(value, list):
            yield from _TABLES[name](value)
        else:
            known = answered.standing is LookupStatus.KNOWN
            yield CardRow(
                _LABELS[name],
                _words(name, value) if value is not None else _none(name, record, known=known),
                known=value is not None,
            )
    for other in others:
        if "architecture" in other:
            yield CardRow(text("either"), _other(other))
            for name in ("first_cuda", "last_cuda", "last_driver"):
                if other.get(name) is not None:
                    yield CardRow(text("  {label}", label=_LABELS[name]), _words(name, other[name]))


def _is_told_elsewhere(name: str, record: Document, *, others: bool) -> bool:
    value = record.get(name)
    if name == "memory_sizes_bytes":  # one size is the memory, of several a card has one
        return others or not isinstance(value, list) or len(value) < 2
    if name == "version":
        return not value or "image" not in record
    if value is None and "manager" in record and "builds" in record:  # of conda: either a package or a version of torch
        return True
    return not value and value != 0 and (others or name in _LEFT_OUT_UNLESS_KNOWN)


def _none(name: str, record: Document, *, known: bool) -> Text:
    """What null means: nothing yet, or that it is not known."""
    if name in {"first_driver", "last_driver"} and record.get("jetson"):
        return _OF_JETPACK
    if not known or ("compute_capability" in record and record["compute_capability"] is None):
        return _NOT_KNOWN
    return _OLDER if name == "first_driver" and "name" in record else _NONE_YET.get(name, _NOT_KNOWN)


def source_line(record: Document) -> CardRow:
    """Where the record is from, in short, and when somebody looked: what each source was read for, the document has."""
    short = _short(str(record["source"]))
    words = text("{source} ({checked})", source=short, checked=str(record["checked"]))
    return CardRow(text("source"), words if record["checked"] else verbatim(short))


_NAMED_SOURCES = 4
_SHORT = 60
_NAME_OF_SOURCE = lazy_regex(r"[A-Z]|\S*[/.]\S")
_WITHIN = lazy_regex(r" \([^()]*\)")
_WHERE = lazy_regex(r", (?=[a-z.])")


def _short(source: str) -> str:
    """The name of each source, without what was read in it; what begins in small letters goes on with the one before."""
    names = dict[str, None]()
    for piece in _WITHIN.sub("", source).split("; "):
        named = piece if not names or _NAME_OF_SOURCE.match(piece) else piece.partition(": ")[2]
        if not names or _NAME_OF_SOURCE.match(named):
            name = named.partition(": ")[0]
            names.setdefault(_WHERE.split(name)[0] if len(name) > _SHORT else name)
    shown = list(names)[:_NAMED_SOURCES]
    return "; ".join(shown) + (" …" if len(names) > len(shown) else "")


def _words(name: str, value: Any) -> Text:
    if value == "":
        return text("none")
    if isinstance(value, bool):
        return text("yes") if value else text("no")
    if isinstance(value, list) and name == "memory_sizes_bytes":
        return verbatim(" / ".join(f"{one / _GIBIBYTE:g}" for one in value) + " GiB")
    if isinstance(value, list):
        return listed(map(str, value)) if value else text("none")
    if name == "plan":
        return _plan(value)
    if name in {"runs_on_from", "runs_code_of_from"}:
        return verbatim("; ".join(f"{cuda}+: {', '.join(inner)}" for cuda, inner in value.items()))
    if name.startswith("driver_floors"):
        return listed(f"CUDA {cuda}: {floor}" for cuda, floor in value.items())
    if isinstance(value, dict):
        none = {key: inner for key, inner in value.items() if inner is None}
        told = listed(f"{key} {inner}" for key, inner in value.items() if inner is not None)
        return text("{companions}; no {none} belongs to it", companions=told, none=listed(none)) if none else told
    if name in {"action", "why_none"}:
        return sentence(value)
    if name == "open_module":
        return _MODULES.get(value, verbatim(str(value)))
    return gibibytes(value) if name == "memory_bytes" else verbatim(str(value))


def _plan(taken: Any) -> Text:
    """The parts that there are, as the record has them; each may be missing."""
    if taken["driver"] is None:
        return text("nothing: no driver serves it")
    module = text("open modules") if taken["open_module"] else text("proprietary module")
    driver = text("driver {branch} ({module})", branch=taken["driver"], module=module)
    torch = text("torch {torch}", torch=taken["torch"]) if taken["torch"] else text("no torch that I know")
    cuda = text("CUDA toolkit {cuda}", cuda=taken["cuda"]) if taken["cuda"] else text("no CUDA toolkit that I know")
    return text("{driver}, {torch}, {cuda}", driver=driver, torch=torch, cuda=cuda)


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


def _conda(ways: list[Any]) -> Iterator[CardRow]:
    yield CardRow(_LABELS["conda"], counted("{count} build", "{count} builds", len(ways)))
    for one in ways:
        label = text("  {channel}, {platform}", channel=one["channel"], platform=one["platform"])
        yield CardRow(label, verbatim(" ".join(one["specs"])))


def _torch_builds(tags: list[Any]) -> Iterator[CardRow]:
    """Those for usual machines; others only where there are no such."""
    shown = [one for one in tags if one["platform"] == tags[0]["platform"]]
    if not shown:
        yield CardRow(_LABELS["torch_builds"], text("none that I know"), known=False)
        return
    yield CardRow(_LABELS["torch_builds"], text("for {platform}, by CUDA", platform=shown[0]["platform"]))
    for one in shown:
        words = verbatim(one["first"] if one["first"] == one["newest"] else f"{one['first']} … {one['newest']}")
        compiled = one["code"] == "compiled-by-driver"
        words = text("{releases}; the driver compiles it first", releases=words) if compiled else words
        yield CardRow(text("  {tag}", tag=one["tag"]), words)


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


_TABLES: dict[str, Callable[[list[Any]], Iterator[CardRow]]] = {
    "variants": _variants,
    "builds": _builds,
    "conda": _conda,
    "torch_builds": _torch_builds,
    "releases": _releases,
}


def _other(other: Any) -> Text:
    capability, architecture = other["compute_capability"] or "?", other["architecture"] or "?"
    ids = ", ".join(other.get("pci_ids") or ())
    if ids:
        return text("{architecture}, {capability}: {ids}", architecture=architecture, capability=capability, ids=ids)
    return text("{architecture}, {capability}", architecture=architecture, capability=capability)
