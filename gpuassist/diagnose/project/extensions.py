"""What a project compiles itself: the nvcc, host compiler and CUDA that takes, and the architectures that its lines ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from gpuassist.diagnose.compiled_packages import package_of
from gpuassist.diagnose.project.ground import BROKEN, HOLDS, UNKNOWN, Mend, ProjectGround, ProjectLink, check_of
from gpuassist.diagnose.project.sets import InstallSet, Project
from gpuassist.diagnose.project.stock import Pick, TorchStock, applies
from gpuassist.formats.project.containers import KIND as DOCKER
from gpuassist.formats.project.values import ArchitectureKind, ArchitectureWish, AskedAs, ExtensionWish, FileReading, Spot
from gpuassist.knowledge.compatibility import (
    ToolkitMatch,
    cubin_runs,
    extension_buildable,
    first_toolkit_for_target,
    gcc_fits,
    glibc_clashes,
    last_toolkit_for_target,
    ptx_runs,
    toolkit_builds_for,
    toolkit_name_of,
)
from gpuassist.knowledge.images import ImageReading
from gpuassist.knowledge.records import ToolkitRecord
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.project import CheckId, LinkState
from gpuassist.model.text import Text, enumerated, text
from gpuassist.model.version import Code, Target, Version

_SOURCE_ALWAYS = frozenset({"flash-attn"})  # a wheel is looked for while it is built; where none fits, it is compiled


class Nvcc(Struct, frozen=True):
    """The nvcc that compiles a file's lines: the machine's, or that of an image; `version` is none where that is not known, `there`
    false where there is none.
    """

    there: bool | None
    version: Version | None = None
    record: ToolkitRecord | None = None
    where: str = ""
    own: bool = True


def compiling_links(
    project: Project, picks: Sequence[tuple[InstallSet, TorchStock, Pick | None]], ground: ProjectGround
) -> Iterator[ProjectLink]:
    for reading in project.readings.values():
        for nvcc, wishes in _by_nvcc(reading, ground):
            yield from architecture_links(wishes, nvcc, ground)
    wanted = [(one, _pick_beside(one.spot.file, picks)) for reading in project.readings.values() for one in reading.extensions]
    for one, found in wanted:
        yield from _extension(one, found, nvcc_of(project.readings[one.spot.file], one.stage, ground), ground)
    for each, stock, picked in picks:
        for wish in _to_compile(each, stock):
            yield from _extension(wish, picked, _nvcc_of_set(each, ground), ground)


# The nvcc


def nvcc_of(reading: FileReading, stage: int, ground: ProjectGround) -> Nvcc:
    """That of the stage's base image within a Dockerfile, else the one that a new terminal finds."""
    if reading.kind != DOCKER:
        return _own_nvcc(ground)
    by_stage = {one.stage: one for one in reading.images}
    image = by_stage.get(stage)
    seen: set[int] = set()
    while image is not None and image.parent and image.stage not in seen:
        seen.add(image.stage)
        image = by_stage.get(image.parent)
    return _nvcc_in(image.name if image is not None else "", ground)


def _nvcc_in(name: str, ground: ProjectGround) -> Nvcc:
    found = ground.case.knowledge.image(name) if name else None
    if not isinstance(found, ImageReading) or found.cuda is None:
        return Nvcc(None, where=name, own=False)
    return Nvcc(found.nvcc_inside, found.cuda, ground.case.knowledge.toolkit(found.cuda), name, own=False)


def _nvcc_of_set(one: InstallSet, ground: ProjectGround) -> Nvcc:
    return _own_nvcc(ground) if one.image is None else _nvcc_in(one.image.name, ground)


def _own_nvcc(ground: ProjectGround) -> Nvcc:
    case = ground.case
    if case.toolkit is not None and isinstance(case.toolkit.version, Known):
        version = case.toolkit.version.value
        return Nvcc(there=True, version=version, record=case.knowledge.toolkit(version), where=case.toolkit.root)
    if case.nvcc is not None:
        return Nvcc(there=True, where=case.nvcc.path)
    return Nvcc(None if isinstance(case.terminal, Unknown) else False)


# Extensions


def _to_compile(one: InstallSet, stock: TorchStock) -> Iterator[ExtensionWish]:
    """Requirements that come as source and hold CUDA code, by what is known of their names."""
    for each in one.requirements:
        if each.origin in {AskedAs.CONSTRAINT, AskedAs.BUILD} or not applies(each, stock):
            continue
        package = package_of(f"{each.name} {each.url}")
        if each.name in _SOURCE_ALWAYS and not each.url.endswith(".whl"):
            yield ExtensionWish(each.name, each.spot, "flash-attn")
        elif each.from_source and package:
            yield ExtensionWish(each.name or package, each.spot, "source")


def _pick_beside(file: str, picks: Sequence[tuple[InstallSet, TorchStock, Pick | None]]) -> Pick | None:
    """The torch that a file's extension is built against: that of the set which lies nearest."""
    folder = file.rpartition("/")[0]
    found = [(one, picked) for one, _, picked in picks if picked is not None and one.image is None]
    near = [picked for one, picked in found if one.name.rpartition("/")[0] == folder]
    return next(iter(near), next((picked for _, picked in found), None))


def _extension(one: ExtensionWish, found: Pick | None, nvcc: Nvcc, ground: ProjectGround) -> Iterator[ProjectLink]:
    name = one.name or one.spot.file
    wheel_may_do = one.shown_by == "flash-attn"
    if nvcc.there is None:
        words = text("{name} has CUDA code that is compiled; which nvcc there is is not known", name=name)
        yield _link(CheckId.TOOLKIT, UNKNOWN, words, one.spot)
        return
    if not nvcc.there:
        if nvcc.own:
            words = text("{name} has CUDA code that is compiled, and a new terminal finds no nvcc", name=name)
        else:
            words = text(
                "{name} has CUDA code that is compiled, and {image} holds no nvcc: its devel variant does",
                name=name,
                image=nvcc.where,
            )
        if wheel_may_do:
            words = text(
                "{name} takes a ready wheel where there is one for this torch, and else is compiled: nvcc is missing then",
                name=name,
            )
        state = UNKNOWN if wheel_may_do or one.conditional else BROKEN
        yield _link(CheckId.TOOLKIT, state, words, one.spot, mend=Mend.TOOLKIT if nvcc.own else Mend.IMAGE, found=found)
        return
    if nvcc.version is None:
        yield _link(CheckId.TOOLKIT, UNKNOWN, text("the version of {nvcc} is not known", nvcc=nvcc.where), one.spot)
        return
    yield from _fits(one, name, found, nvcc=nvcc, version=nvcc.version, ground=ground)


def _fits(
    one: ExtensionWish, name: str, found: Pick | None, *, nvcc: Nvcc, version: Version, ground: ProjectGround
) -> Iterator[ProjectLink]:
    facts: dict[str, str | Text] = {"name": name, "nvcc": str(version.release)}
    mend = Mend.TOOLKIT if nvcc.own else Mend.IMAGE
    cuda = found.build.cuda if found is not None and found.build is not None else None
    for_torch = one.shown_by not in {"CMake", "nvcc"}
    good, state = True, UNKNOWN if one.conditional else BROKEN
    for capability in ground.capabilities:
        if nvcc.record is not None and not toolkit_builds_for(nvcc.record.targets, capability):
            good = False
            newer = capability > max(target.capability for target in nvcc.record.targets)
            code = f"{capability.major}{capability.minor}"
            words = text("nvcc {nvcc} knows sm_{code} of {gpu} no more", code=code, gpu=ground.cards_of(capability), **facts)
            if newer:
                words = text(
                    "nvcc {nvcc} does not know sm_{code} of {gpu} yet", code=code, gpu=ground.cards_of(capability), **facts
                )
            yield _link(CheckId.TOOLKIT, state, words, one.spot, mend=mend, found=found)
    if for_torch and cuda is not None and found is not None and extension_buildable(cuda, version) is ToolkitMatch.MAJOR_DIFFERS:
        good = False
        words = text(
            "{name} is built against torch {torch} of CUDA {cuda}, and nvcc is {nvcc}: the major must be the same",
            torch=found.spelled,
            cuda=str(cuda),
            **facts,
        )
        yield _link(CheckId.TOOLKIT, state, words, one.spot, mend=mend, found=found)
    if good:
        yield _link(CheckId.TOOLKIT, HOLDS, text("nvcc {nvcc} compiles {name}", **facts), one.spot)
    if nvcc.own:
        yield from _compiler(one, nvcc, ground)


def _compiler(one: ExtensionWish, nvcc: Nvcc, ground: ProjectGround) -> Iterator[ProjectLink]:
    """The host compiler and the C library that nvcc has to get along with."""
    case, record = ground.case, nvcc.record
    state = UNKNOWN if one.conditional else BROKEN
    glibc = value_or(case.machine.host.glibc, None)
    if record is not None and glibc is not None and glibc_clashes(record.glibc_clash, glibc):
        words = text("the headers of CUDA {nvcc} clash with glibc {glibc}", nvcc=str(record.release), glibc=str(glibc))
        yield _link(CheckId.COMPILER, state, words, one.spot, mend=Mend.TOOLKIT)
        return
    if case.gcc is None or isinstance(case.gcc.version, Unknown) or record is None or record.gcc_limit is None:
        if case.gcc is None and isinstance(case.machine.compilers, Known) and isinstance(case.terminal, Known):
            words = text("a new terminal finds no g++, which nvcc needs")
            yield _link(CheckId.COMPILER, state, words, one.spot, mend=Mend.TOOLKIT)
        else:
            yield _link(CheckId.COMPILER, UNKNOWN, text("whether the host compiler fits nvcc is not known"), one.spot)
        return
    gcc = case.gcc.version.value
    facts = {"gcc": str(gcc), "nvcc": str(record.release), "limit": str(record.gcc_limit)}
    if gcc_fits(record.gcc_limit, gcc):
        yield _link(CheckId.COMPILER, HOLDS, text("nvcc {nvcc} takes gcc {gcc}", **facts), one.spot)
    else:
        words = text("nvcc {nvcc} takes gcc up to {limit}, and gcc is {gcc}", **facts)
        yield _link(CheckId.COMPILER, state, words, one.spot, mend=Mend.TOOLKIT)


# Architectures


def _by_nvcc(reading: FileReading, ground: ProjectGround) -> Iterator[tuple[Nvcc, tuple[ArchitectureWish, ...]]]:
    """The lines of a file that one nvcc compiles together, those of a kind."""
    groups: dict[tuple[ArchitectureKind, int], list[ArchitectureWish]] = {}
    for wish in reading.architectures:
        groups.setdefault((wish.kind, wish.stage), []).append(wish)
    for (_, stage), wishes in groups.items():
        yield nvcc_of(reading, stage, ground), tuple(wishes)


def unknown_to(nvcc: Nvcc, wish: ArchitectureWish) -> tuple[Target, ...]:
    """The targets that an nvcc does not know."""
    record = nvcc.record
    return tuple(
        one
        for one in wish.targets
        if record is not None and toolkit_name_of(record, Target(one.capability, Code.CUBIN, one.suffix)) is None
    )


def covered(ground: ProjectGround, wishes: Sequence[ArchitectureWish]) -> tuple[Target, ...]:
    """The GPUs' own targets that none of the lines makes code for."""
    targets = tuple(target for wish in wishes for target in wish.targets)
    return tuple(
        Target(capability, Code.CUBIN)
        for capability in ground.capabilities
        if not any(cubin_runs(capability, one) if one.code is Code.CUBIN else ptx_runs(capability, one) for one in targets)
    )


def architecture_links(wishes: tuple[ArchitectureWish, ...], nvcc: Nvcc, ground: ProjectGround) -> Iterator[ProjectLink]:
    every = ground.case.knowledge.toolkits()
    wrong = False
    for wish in wishes:
        for target in dict.fromkeys(Target(one.capability, Code.CUBIN, one.suffix) for one in unknown_to(nvcc, wish)):
            wrong = True
            first, last = first_toolkit_for_target(target, every), last_toolkit_for_target(target, every)
            version = nvcc.record.release if nvcc.record is not None else None
            facts = {"target": str(target), "nvcc": str(version)}
            if first is not None and version is not None and version < first:
                words = text(
                    "nvcc {nvcc} does not know {target} yet: CUDA {first} is the first that does", first=str(first), **facts
                )
            elif last is not None and version is not None and version > last:
                words = text("nvcc {nvcc} knows {target} no more: CUDA {last} is the last that does", last=str(last), **facts)
            else:
                words = text("nvcc {nvcc} does not know {target}", **facts)
            yield _link(CheckId.ARCHITECTURE, UNKNOWN if wish.conditional else BROKEN, words, wish.spot, mend=Mend.ARCHITECTURE)
    if any(wish.named for wish in wishes):
        return
    missing = covered(ground, wishes)
    state = UNKNOWN if any(wish.conditional for wish in wishes) else BROKEN
    for target in missing:
        names = ground.cards_of(target.capability)
        words = text(
            "{kind} asks for no code that runs on {gpu} ({target})", kind=wishes[0].kind.value, gpu=names, target=str(target)
        )
        yield _link(CheckId.ARCHITECTURE, state, words, wishes[0].spot, mend=Mend.ARCHITECTURE)
    if not missing and not wrong and ground.capabilities:
        names = enumerated(str(Target(one, Code.CUBIN)) for one in ground.capabilities)
        if nvcc.record is not None:
            words = text(
                "{kind} makes code that runs on {targets}, with nvcc {nvcc}",
                kind=wishes[0].kind.value,
                targets=names,
                nvcc=str(nvcc.record.release),
            )
            yield _link(CheckId.ARCHITECTURE, HOLDS, words, wishes[0].spot)
        elif nvcc.there is False:
            yield _link(
                CheckId.ARCHITECTURE,
                HOLDS,
                text("{kind} makes code that runs on {targets}", kind=wishes[0].kind.value, targets=names),
                wishes[0].spot,
            )
        else:
            yield _link(
                CheckId.ARCHITECTURE,
                UNKNOWN,
                text("whether the nvcc that compiles this knows its architectures is not known"),
                wishes[0].spot,
            )


def _link(
    id_: CheckId, state: LinkState, words: Text, spot: Spot, *, mend: Mend = Mend.NONE, found: Pick | None = None
) -> ProjectLink:
    return ProjectLink(check_of(id_, state, words, spot), mend, pick=found)
