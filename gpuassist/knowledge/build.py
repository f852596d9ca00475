"""Rows of the knowledge files to records; what a row lacks or has wrong is a `RowError` or a `VersionError`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from gpuassist.knowledge.codes import NvmlCodeRecord, XidCause, XidRecord
from gpuassist.knowledge.commands import parameters_of
from gpuassist.knowledge.compatibility import CompatPackage
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.records import (
    ArchitectureRecord,
    BranchKind,
    BranchRecord,
    ChipRecord,
    CommandRecord,
    GpuRecord,
    ModuleFlavour,
    RunfileRecord,
    ToolkitRecord,
    TorchBuild,
    WheelRecord,
)
from gpuassist.knowledge.rows import Row, RowError, Source, flag_of, number_of, numbers_of, pairs_of, rows_of, text_of, texts_of
from gpuassist.model.finding import Action
from gpuassist.model.version import Code, ComputeCapability, Target, Version

Sources = dict[str, Source]
ChipNamed = Callable[[str], tuple[ArchitectureRecord, ChipRecord] | None]


def gpu(row: Row, sources: Sources, chip_named: ChipNamed) -> GpuRecord:
    """A GPU: its chip says what it can."""
    source, checked = _provenance(row, sources)
    found = chip_named(text_of(row, "chip"))
    if found is None:
        raise RowError("chip")
    architecture_record, chip = found
    own_module = text_of(row, "open_module", "")
    return GpuRecord(
        pci_id=text_of(row, "pci_id"),
        name=text_of(row, "name"),
        aliases=texts_of(row, "aliases"),
        chip=chip.chip,
        architecture=architecture_record.name,
        compute_capability=chip.compute_capability,
        integrated=chip.integrated,
        module=ModuleFlavour(own_module) if own_module else architecture_record.module,
        source=source,
        checked=checked,
        memory_bytes=numbers_of(row, "memory_bytes"),
        unlisted=flag_of(row, "unlisted"),
    )


def architecture(row: Row, sources: Sources) -> ArchitectureRecord:
    """A generation with its chips."""
    source, checked = _provenance(row, sources)
    return ArchitectureRecord(
        name=text_of(row, "architecture"),
        chips=tuple(_chip(inner) for inner in rows_of(row, "chips")),
        last_branch=number_of(row, "last_branch"),
        module=ModuleFlavour(text_of(row, "open_module")),
        source=source,
        checked=checked,
    )


def branch(row: Row, sources: Sources) -> BranchRecord:
    """A driver branch."""
    source, checked = _provenance(row, sources)
    number, cuda = number_of(row, "branch"), text_of(row, "cuda", "")
    if number is None:
        raise RowError("branch")
    return BranchRecord(
        branch=number,
        kind=BranchKind(text_of(row, "branch_kind")),
        end_of_life=text_of(row, "end_of_life", ""),
        ended=flag_of(row, "ended"),
        cuda=Version.parse(cuda) if cuda else None,
        source=source,
        checked=checked,
    )


def compat_package(row: Row, sources: Sources) -> CompatPackage:
    """A forward-compatibility package."""
    source, checked = _provenance(row, sources)
    built_from = number_of(row, "built_from")
    if built_from is None:
        raise RowError("built_from")
    return CompatPackage(
        cuda=Version.parse(text_of(row, "cuda")),
        built_from=built_from,
        branches=numbers_of(row, "branches"),
        source=source,
        checked=checked,
    )


def toolkit(row: Row, sources: Sources) -> ToolkitRecord:
    """A CUDA release."""
    source, checked = _provenance(row, sources)
    clash, native = text_of(row, "glibc_clash", ""), text_of(row, "native_driver", "")
    return ToolkitRecord(
        release=Version.parse(text_of(row, "release")),
        targets=_ptx_names(texts_of(row, "targets")),
        deprecated=_ptx_names(texts_of(row, "deprecated")) if "deprecated" in row.fields else None,
        gcc_limit=number_of(row, "gcc_limit"),
        clang_limit=number_of(row, "clang_limit"),
        glibc_clash=Version.parse(clash) if clash else None,
        native_driver=Version.parse(native) if native else None,
        driver_floor=Version.parse(text_of(row, "driver_floor")),
        source="; ".join(filter(None, (text_of(row, "measured", ""), source))),
        checked=checked,
        codes=tuple(_named(word) for word in texts_of(row, "codes")),
    )


def runfile(row: Row, sources: Sources) -> RunfileRecord:
    """An installer of a CUDA release."""
    source, checked = _provenance(row, sources)
    return RunfileRecord(
        release=Version.parse(text_of(row, "release")),
        version=Version.parse(text_of(row, "version")),
        driver=Version.parse(text_of(row, "driver")),
        machines=texts_of(row, "machines"),
        source=source,
        checked=checked,
    )


def wheel(row: Row, sources: Sources) -> WheelRecord:
    """A package with a part of CUDA."""
    source, checked = _provenance(row, sources)
    return WheelRecord(
        distribution=text_of(row, "distribution"),
        role=text_of(row, "role"),
        libraries=texts_of(row, "libraries"),
        compilers=texts_of(row, "compilers"),
        directory=text_of(row, "directory"),
        instead=text_of(row, "instead", ""),
        cuda_majors=numbers_of(row, "cuda_majors"),
        source="; ".join(filter(None, (text_of(row, "measured", ""), source))),
        checked=checked,
    )


def torch(row: Row, sources: Sources) -> TorchBuild:
    """A torch build of one index."""
    source, checked = _provenance(row, sources)
    cuda = text_of(row, "cuda", "")
    return TorchBuild(
        release=_version(text_of(row, "release")),
        newest=_version(text_of(row, "newest")),
        tag=text_of(row, "tag"),
        cuda=_version(cuda) if cuda else None,
        machine=text_of(row, "machine"),
        default=flag_of(row, "default"),
        targets=tuple(map(_named, texts_of(row, "targets"))),
        pythons=tuple(map(_version, texts_of(row, "pythons"))),
        pins=pairs_of(row, "pins"),
        source=source,
        checked=checked,
    )


def command(row: Row, sources: Sources) -> CommandRecord:
    """A command's lines for one family."""
    source, checked = _provenance(row, sources)
    lines = texts_of(row, "lines")
    return CommandRecord(
        key=text_of(row, "key"),
        family=Family(text_of(row, "family")),
        lines=lines,
        parameters=parameters_of(lines),
        needs_root=flag_of(row, "needs_root"),
        action=Action(text_of(row, "action")),
        source=source,
        checked=checked,
    )


def xid(row: Row, sources: Sources) -> XidRecord:
    """An Xid event."""
    source, checked = _provenance(row, sources)
    number = number_of(row, "number")
    if number is None:
        raise RowError("number")
    return XidRecord(
        number=number,
        name=text_of(row, "name"),
        meaning=text_of(row, "meaning"),
        action=text_of(row, "action"),
        causes=tuple(XidCause(word) for word in texts_of(row, "causes")),
        ended=flag_of(row, "ended"),
        source=source,
        checked=checked,
    )


def nvml_code(row: Row, sources: Sources) -> NvmlCodeRecord:
    """A return code of NVML."""
    source, checked = _provenance(row, sources)
    code = number_of(row, "code")
    if code is None:
        raise RowError("code")
    return NvmlCodeRecord(
        code=code,
        name=text_of(row, "name"),
        meaning=text_of(row, "meaning"),
        action=text_of(row, "action"),
        source=source,
        checked=checked,
    )


def _provenance(row: Row, sources: Sources) -> tuple[str, str]:
    source = sources.get(text_of(row, "source"))
    if source is None:
        raise RowError("source")
    return source.text, text_of(row, "checked", source.checked)


def _chip(row: Row) -> ChipRecord:
    capability, first = text_of(row, "compute_capability", ""), text_of(row, "first_driver", "")
    return ChipRecord(
        chip=text_of(row, "chip"),
        compute_capability=ComputeCapability.parse(capability) if capability else None,
        integrated=flag_of(row, "integrated"),
        first_driver=Version.parse(first) if first else None,
    )


def _ptx_names(words: tuple[str, ...]) -> tuple[Target, ...]:
    """From the short form of the file, `8.9`."""
    return tuple(_ptx(word) for word in words)


@cache
def _ptx(word: str) -> Target:
    return Target(ComputeCapability.parse(word), Code.PTX)


@cache
def _named(word: str) -> Target:
    """The few architectures that there are stand in every row of a CUDA release or torch build."""
    return Target.parse(word)


@cache
def _version(words: str) -> Version:
    """A hundred torch builds name the same few versions."""
    return Version.parse(words)
