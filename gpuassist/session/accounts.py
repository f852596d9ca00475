"""What a text is that shows no error: the output of which tool, and what it says, before anything is made of it."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.context import Session
from gpuassist.detect.readers.at_work import figures, signs_of_work
from gpuassist.detect.readers.card_tables import GpuLoad, loads, nvlinks, topology
from gpuassist.detect.readers.lines import lines_with
from gpuassist.formats.allocator import AllocatorFigures, read_allocator
from gpuassist.formats.bare_answers import BareAnswers, bare_answers
from gpuassist.formats.oom import principal
from gpuassist.formats.size import shown_size
from gpuassist.model.account import Account
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.text import Text, counted, joined, listed, text, verbatim
from gpuassist.model.version import ComputeCapability
from gpuassist.session.process_account import process_account

_MOST_LINES = 40
PAGES = 64 << 10  # characters


def accounts_of(session: Session, paste: Paste, machine: Machine | None, *, live: bool) -> tuple[Account, ...]:
    """All that the text tells; `machine` is the one that it may be of, `live` where that is as it is now."""
    told = (
        process_account(session, paste, machine, live=live),
        *_of_cards(paste),
        *_of_units(paste),
        *_of_libraries(paste),
        _of_answers(session, paste),
        _of_memory(paste),
    )
    return tuple(one for one in told if one is not None)


def accounts_of_work(paste: Paste) -> tuple[Account, ...]:
    """What was done on the GPU, and figures of it: of a text that shows no fault, and that is no log of many pages, of which
    nobody can say that it was understood.
    """
    if len(paste.words) > PAGES:
        return ()
    return tuple(one for one in (_of_figures(paste), of_work(paste)) if one is not None)


# The tables of links and loads.
_LINKS = {
    "SYS": text("over PCIe and the link between the processors (SYS)"),
    "NODE": text("over PCIe, across host bridges of one processor (NODE)"),
    "PHB": text("over PCIe and the processor's host bridge (PHB)"),
    "PXB": text("over several PCIe switches (PXB)"),
    "PIX": text("over one PCIe switch (PIX)"),
    "C2C": text("over NVLink-C2C"),
    "N/A": text("not told"),
}


def _of_cards(paste: Paste) -> Iterator[Account]:
    pairs = topology(paste)
    if pairs:
        gpus = len({index for pair in pairs for index in (pair.first, pair.second)})
        by_kind: dict[str, list[str]] = {}
        for pair in pairs:
            by_kind.setdefault(pair.kind.rstrip("*"), []).append(f"{pair.first}–{pair.second}")
        lines = tuple(text("GPU {pairs}: {link}", pairs=listed(names), link=_link(kind)) for kind, names in by_kind.items())
        yield Account(counted("1 GPU and how it is linked", "{count} GPUs and how they are linked", gpus), lines[:_MOST_LINES])
    linked = nvlinks(paste)
    if linked:
        yield Account(
            counted("The NVLinks of 1 GPU", "The NVLinks of {count} GPUs", len(linked)),
            tuple(
                text(
                    "GPU {index}: {active} of {all} links are up, {speed} GB/s each",
                    index=one.index,
                    active=one.active,
                    all=one.active + one.inactive,
                    speed=one.speed,
                )
                if one.active
                else text("GPU {index}: none of {all} links is up", index=one.index, all=one.inactive)
                for one in linked
            ),
        )
    loaded = loads(paste)
    if loaded:
        title = counted("What 1 GPU does", "What {count} GPUs do", len(loaded))
        yield Account(title, tuple(map(_load, loaded))[:_MOST_LINES])


def _link(kind: str) -> Text:
    if kind.startswith("NV"):
        return counted("1 NVLink", "{count} NVLinks", int(kind[2:]))
    return _LINKS.get(kind, verbatim(kind))


def _load(one: GpuLoad) -> Text:
    values = dict(one.values)
    told = (
        ("sm", text("{percent} % busy", percent=values.get("sm", ""))),
        ("mem", text("memory bus {percent} %", percent=values.get("mem", ""))),
        ("fb", text("{mebibytes} MiB of memory", mebibytes=values.get("fb", ""))),
        ("gtemp", text("{degrees} °C", degrees=values.get("gtemp", ""))),
        ("temp", text("{degrees} °C", degrees=values.get("temp", ""))),
        ("pwr", text("{watts} W", watts=values.get("pwr", ""))),
        ("pclk", text("{megahertz} MHz", megahertz=values.get("pclk", ""))),
    )
    figures = joined(tuple(words for name, words in told if name in values))
    return text("GPU {index}: {figures}", index=one.index, figures=figures)


# What `systemctl status` says of NVIDIA's units, and what the loader finds.
_UNIT = lazy_regex(
    r"^[●○×*↻]?\s{0,4}(?P<unit>(?:nvidia|nv-|dcgm|docker|containerd|ollama|k3s|gdm|sddm|lightdm)[\w@.-]{0,60}\.service)\b"
)
_STATE = lazy_regex(r"^\s{1,12}Active: (?P<state>[a-z]{4,16}(?: \([\w-]{2,20}\))?)")
_FOUND = lazy_regex(
    r"^\s{0,16}(?P<name>lib(?:cu|nv)\w{2,30}\.so(?:\.\d{1,4}){0,4})(?: \([^()\n]{2,60}\))? => (?P<path>/\S{1,300})"
    r"(?: \(0x[0-9a-f]{6,16}\))?$"
)


def _of_units(paste: Paste) -> Iterator[Account]:
    unit, well = "", True
    told: list[Text] = []
    for line in lines_with(paste, ".service", "Active: "):
        named, state = _UNIT.match(line.words.strip()), _STATE.match(line.words)
        if named:
            unit = named["unit"]
        elif state and unit:
            told.append(text("{unit}: {state}", unit=unit, state=state["state"]))
            unit, well = "", well and state["state"].startswith("active (")
    if told:
        title = counted("The state of 1 service", "The state of {count} services", len(told))
        yield Account(title, tuple(told[:_MOST_LINES]), well)


def _of_libraries(paste: Paste) -> Iterator[Account]:
    found = {row["name"]: row["path"] for line in lines_with(paste, " => /") if (row := _FOUND.match(line.words[:500]))}
    if found:
        lines = tuple(text("{library}: {path}", library=name, path=path) for name, path in found.items())
        title = counted(
            "Where 1 library of CUDA or the driver lies", "Where {count} libraries of CUDA and the driver lie", len(found)
        )
        yield Account(title, lines[:_MOST_LINES])


# What Python's one-line questions printed.


def _of_answers(session: Session, paste: Paste) -> Account | None:
    found = bare_answers(paste.words)
    parts = tuple(_answers(session, found)) if found is not None else ()
    return Account(text("Python's answers: {parts}", parts=joined(parts)), sound=_well(found)) if found and parts else None


def _well(found: BareAnswers) -> bool:
    """Whether no answer tells of a GPU that is not seen, or of a program that was built without it."""
    seen = (found.available is not False, found.count != 0, not found.device or found.device.startswith(("cuda", "gpu")))
    on_gpu = (
        not kinds or any("gpu" in kind.lower() or "cuda" in kind.lower() for kind in kinds)
        for kinds in (found.jax, found.tensorflow)
    )
    with_cuda = not found.providers or "CUDAExecutionProvider" in found.providers
    built = dict(found.build).get("is_cuda_build") in {None, "True"} and not found.release.endswith("+cpu")
    return all(seen) and all(on_gpu) and with_cuda and built


def _answers(session: Session, found: BareAnswers) -> Iterator[Text]:
    if found.release:
        yield text("torch {version}", version=found.release)
    if found.cuda and found.release:
        yield text("built for CUDA {cuda}", cuda=found.cuda)
    yield from map(verbatim, found.names)
    for words in found.capabilities:
        known = session.knowledge.architecture_of(ComputeCapability.parse(words))
        if known is not None:
            yield text("compute capability {capability} ({architecture})", capability=words, architecture=known.name)
    if found.targets:
        yield text("compiled for {targets}", targets=" ".join(found.targets))
    if found.available is not None:
        other = any(tag in found.release for tag in ("+rocm", "+xpu"))
        there, not_there = (
            (text("a GPU is available"), text("no GPU is available"))
            if other
            else (text("CUDA is available"), text("CUDA is not available"))
        )
        yield there if found.available else not_there
    if found.count is not None:
        yield counted("1 GPU is visible", "{count} GPUs are visible", found.count)
    if found.device:
        here = text("the program computes on {device}, a GPU", device=found.device)
        yield (
            here
            if found.device.startswith(("cuda", "gpu"))
            else text("the program computes on {device}, not on a GPU", device=found.device)
        )
    yield from _frameworks(found)


def _frameworks(found: BareAnswers) -> Iterator[Text]:
    if found.providers:
        with_cuda = "CUDAExecutionProvider" in found.providers
        yield text("onnxruntime built with CUDA") if with_cuda else text("onnxruntime built without CUDA")
    for name, kinds in (("JAX", found.jax), ("TensorFlow", found.tensorflow)):
        gpus = sum(kind in {"Cuda", "cuda", "Gpu", "gpu", "GPU", "XLA_GPU"} or kind.startswith("Stream") for kind in kinds)
        if kinds:
            yield (
                counted("{name} sees 1 GPU", "{name} sees {count} GPUs", gpus, name=name)
                if gpus
                else text("{name} sees no NVIDIA GPU", name=name)
            )
    build = dict(found.build)
    if build.get("is_cuda_build") == "True":
        cuda, cudnn = build.get("cuda_version", "?"), build.get("cudnn_version", "?")
        yield text("TensorFlow built for CUDA {cuda} and cuDNN {cudnn}", cuda=cuda, cudnn=cudnn)
    elif build:
        yield text("TensorFlow built without CUDA")
    if "cuda_compute_capabilities" in build:
        yield text("compiled for {targets}", targets=build["cuda_compute_capabilities"])


# What torch says of its own memory.


def _of_memory(paste: Paste) -> Account | None:
    told = read_allocator(paste.words) if principal(paste.words) is None else None
    if told is None:
        return None
    lines, well = tuple(_memory_lines(told)), not told.ooms
    if told.allocated is not None and told.reserved is not None:
        sizes = shown_size(told.reserved), shown_size(told.allocated)
        return Account(
            text("torch has {reserved} of the card, {allocated} of it in use", reserved=sizes[0], allocated=sizes[1]), lines, well
        )
    if told.allocated is not None:
        return Account(text("torch has {allocated} in use", allocated=shown_size(told.allocated)), lines, well)
    if told.reserved is not None:
        return Account(text("torch has {reserved} of the card", reserved=shown_size(told.reserved)), lines, well)
    if told.free is not None and told.total is not None:
        sizes = shown_size(told.free), shown_size(told.total)
        return Account(text("{free} of the card's {total} are free", free=sizes[0], total=sizes[1]), lines, well)
    return Account(text("What torch says of its memory"), lines, well) if lines else None


def _memory_lines(told: AllocatorFigures) -> Iterator[Text]:
    if told.allocated_peak is not None:
        yield text("at most {peak} in use at a time", peak=shown_size(told.allocated_peak))
    if told.reserved_peak is not None:
        yield text("at most {peak} reserved at a time", peak=shown_size(told.reserved_peak))
    if told.ooms:
        yield counted("1 request did not fit", "{count} requests did not fit", told.ooms)
    if told.blocks:
        yield counted("1 block in use", "{count} blocks in use", len(told.blocks))
    if told.free is not None and told.total is not None and told.allocated is not None:
        yield text("{free} of the card's {total} are free", free=shown_size(told.free), total=shown_size(told.total))


# What was done on the GPU, and figures of it.


def of_work(paste: Paste) -> Account | None:
    """The kinds of things that were done."""
    told = tuple(dict.fromkeys(sign.what for sign in signs_of_work(paste)))
    return Account(text("What was done, by the text"), told[:_MOST_LINES]) if told else None


def _of_figures(paste: Paste) -> Account | None:
    found = figures(paste)
    if found is None:
        return None
    shown = ", ".join(found.names[:_MOST_NAMES]) + (" …" if len(found.names) > _MOST_NAMES else "")
    return Account(text("Figures of the GPU: {names}", names=shown), sound=found.quiet)


_MOST_NAMES = 8
