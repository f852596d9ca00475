"""What is known of a GPU architecture: by compute capability, by nvcc's name of it, or by its generation's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuassist.knowledge.compatibility import (
    UNIFIED_FROM,
    cubin_runs,
    first_toolkit_for_target,
    is_jetson,
    last_toolkit_for_target,
    ptx_runs,
    toolkit_builds_for,
)
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.nearest import nearest_names, nearest_versions
from gpuassist.model.text import Text, listed, text
from gpuassist.model.version import Code, ComputeCapability, Target, Version, VersionError
from gpuassist.session.lookup.answer import LookupAnswer, LookupKind, fields, known, newer, not_known, provenance, several, unknown

if TYPE_CHECKING:
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.session.lookup.answer import Document

_BARE = lazy_regex(r"(\d{1,2})(\d)([af]?)")
_DOTTED = lazy_regex(r"(\d{1,2}\.\d)([af]?)")
_OF_SERVERS = (Target.parse("sm_80"), Target.parse("sm_86"))
_RENAMED = {ComputeCapability(10, 1): ComputeCapability(11, 0)}  # CUDA 12.8 and 12.9 call Thor sm_101, 13.0 and later sm_110


def answer(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By target where the words are one (`sm_90a`, `compute_89`, `8.9`, `89`), else by a generation's name, whole or begun."""
    target = _target(words)
    if target is None:
        return _by_name(knowledge, words)
    renamed = _RENAMED.get(target.capability)
    if renamed is None:
        return _by_target(knowledge, target)
    found = _by_target(knowledge, Target(renamed, target.code, target.suffix))
    note = text("CUDA 12.8 and 12.9 call it {old}; since 13.0 it is {new}", old=str(target.capability), new=str(renamed))
    return LookupAnswer(found.standing, found.title, found.record, (note, *found.notes), found.nearest)


def _target(words: str) -> Target | None:
    plain = words.strip().lower()
    found = _DOTTED.fullmatch(plain)
    if found:
        return Target(ComputeCapability.parse(found[1]), Code.CUBIN, found[2])
    try:
        return Target.parse(f"sm_{plain}" if _BARE.fullmatch(plain) else plain)
    except VersionError:
        return None


def _capabilities(knowledge: Knowledge) -> tuple[ComputeCapability, ...]:
    """Those of GPUs, and those that nvcc accepts without a GPU of them being known (8.8)."""
    of_gpus = {one for architecture in knowledge.architectures() for one in architecture.capabilities}
    of_nvcc = {target.capability for toolkit in knowledge.toolkits() for target in toolkit.targets}
    return tuple(sorted((of_gpus | of_nvcc) - set(_RENAMED)))


def _by_target(knowledge: Knowledge, target: Target) -> LookupAnswer:
    capability, name = target.capability, str(target)
    every = _capabilities(knowledge)
    if target.suffix and capability in every and first_toolkit_for_target(target, knowledge.toolkits()) is None:
        of_it = {one for toolkit in knowledge.toolkits() for one in toolkit.codes if one.capability == capability}
        title = text("no nvcc knows {target}: there is no such variant", target=name)
        return unknown(title, sorted(of_it) or [Target(capability, Code.CUBIN)])
    architecture = knowledge.architecture_of(capability)
    if architecture is not None:
        title = text(
            "{target}: {architecture}, compute capability {number}",
            target=name,
            architecture=architecture.name,
            number=str(capability),
        )
        return known(title, _document(knowledge, target), *_notes(knowledge, target))
    if capability in every:
        return known(text("{target}: accepted by nvcc; no GPU of it is known", target=name), _document(knowledge, target))
    if every and capability > every[-1]:
        unanswered = not_known("architecture jetson first_cuda last_cuda first_driver last_driver")
        note = text(
            "By rule, its driver compiles the PTX of any older architecture for it, and the machine code of its own major runs."
        )
        title = text("{target}: newer than what I know", target=name)
        return newer(title, knowledge.architectures(), {**_code(knowledge, target), **unanswered}, note)
    near = nearest_versions(Version.parse(str(capability)), (Version.parse(str(one)) for one in every))
    title = text("no GPU of compute capability {capability} is known", capability=str(capability))
    return unknown(title, (Target(ComputeCapability.parse(str(one)), Code.CUBIN) for one in near))


def _by_name(knowledge: Knowledge, words: str) -> LookupAnswer:
    wanted = words.strip().lower()
    architectures = knowledge.architectures()
    found = knowledge.architecture(wanted) or next((one for one in architectures if wanted in one.name.lower().split()), None)
    if found is None:
        title = text("no architecture named {name} is known", name=words)
        pieces = (piece for one in architectures for piece in one.name.split())
        return unknown(title, nearest_names(words, (*pieces, *_names(knowledge))))
    each = [_document(knowledge, Target(one, Code.CUBIN)) for one in found.capabilities]
    title = text("{name}: compute capability {capabilities}", name=found.name, capabilities=listed(map(str, found.capabilities)))
    return known(title, each[0] if len(each) == 1 else several(each))


def _document(knowledge: Knowledge, target: Target) -> Document:
    capability = target.capability
    architecture = knowledge.architecture_of(capability)
    toolkits = knowledge.toolkits()
    early = None if target.suffix else knowledge.early_toolkits(capability)
    named = next((one for one in reversed(toolkits) if toolkit_builds_for(one.targets, capability)), None)
    chips = architecture.chips if architecture else ()
    drivers = [one.first_driver for one in chips if one.compute_capability == capability and one.first_driver]
    return {
        **provenance(*(one for one in (architecture or named, early) if one is not None)),
        **_code(knowledge, target),
        **fields(
            architecture=architecture.name if architecture else None,
            jetson=is_jetson(capability),
            first_cuda=early.first if early else first_toolkit_for_target(target, toolkits),
            last_cuda=(early.last if early else None) or last_toolkit_for_target(target, toolkits),
            first_driver=min(drivers, default=None),
            last_driver=str(architecture.last_branch) if architecture and architecture.last_branch is not None else None,
        ),
    }


def _code(knowledge: Knowledge, target: Target) -> Document:
    """The GPUs that code of this architecture runs on, and the machine code that runs on GPUs of it."""
    capability = target.capability
    every = sorted({capability, *_capabilities(knowledge)})
    codes = [Target(one, Code.CUBIN) for one in every]
    runs_on = [one for one in every if cubin_runs(one, target) or ptx_runs(one, target)]
    runs_code_of = [one for one in codes if cubin_runs(capability, one)]
    # What is built with a newer CUDA runs further: one platform of servers and Jetson.
    later_on = [one for one in every if one not in runs_on and cubin_runs(one, target, cuda=UNIFIED_FROM)]
    later_code = [one for one in codes if one not in runs_code_of and cubin_runs(capability, one, cuda=UNIFIED_FROM)]
    return fields(
        target=target,
        compute_capability=capability,
        runs_on=runs_on,
        runs_on_from={str(UNIFIED_FROM): later_on} if later_on else {},
        runs_code_of=runs_code_of,
        runs_code_of_from={str(UNIFIED_FROM): later_code} if later_code else {},
    )


def _notes(knowledge: Knowledge, target: Target) -> tuple[Text, ...]:
    """What code of another minor of its major does: a GPU runs that of a lower one, a chip of Jetson only what was built for it."""
    capability = target.capability
    if is_jetson(capability) and any(cubin_runs(capability, one, cuda=UNIFIED_FROM) for one in _OF_SERVERS):
        return (
            text(
                "Code of another minor of its major runs on it only where it was built with CUDA {cuda} or newer: until then "
                "Jetson was a platform of its own. That is why torch's builds for servers serve it from that CUDA on.",
                cuda=str(UNIFIED_FROM),
            ),
        )
    if is_jetson(capability) and sum(one.major == capability.major for one in _capabilities(knowledge)) > 1:
        return (text("A chip of Jetson: code of another minor of its major does not run on it, nor its own elsewhere."),)
    return ()


def _names(knowledge: Knowledge) -> tuple[str, ...]:
    """Every architecture that nvcc can be asked for, then the generations."""
    targets = (str(Target(one, Code.CUBIN)) for one in _capabilities(knowledge))
    return (*targets, *(architecture.name for architecture in knowledge.architectures()))


SHELF = LookupKind(
    "arch",
    answer,
    _names,
    lambda base: (_document(base, Target(one, Code.CUBIN)) for one in _capabilities(base)),
)
