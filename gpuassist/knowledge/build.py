"""Rows of the knowledge files to records: what each field is read by. What a row lacks or has wrong is a `ValueError` (`RowError`,
`VersionError`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from gpuassist.knowledge.codes import CodeRecord, CodeState, weight_named
from gpuassist.knowledge.commands import parameters_of
from gpuassist.knowledge.compatibility import CompatPackage, EarlyToolkits
from gpuassist.knowledge.driver_numbers import JetPackRecord, WindowsBranch
from gpuassist.knowledge.driver_packages import DriverPackage, Extent, Keeper, Seen
from gpuassist.knowledge.engine_records import EngineRecord, EngineRelease
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.package_records import GccPackages, PythonPackage
from gpuassist.knowledge.records import (
    ArchitectureRecord,
    BadPair,
    BranchKind,
    BranchRecord,
    Channel,
    ChipRecord,
    CommandRecord,
    Companion,
    CondaPackage,
    CondaRecord,
    GpuRecord,
    ImageFamily,
    ImageRecord,
    ImageTag,
    ModuleFlavour,
    Party,
    RunfileRecord,
    SystemRecord,
    ToolkitRecord,
    TorchBuild,
    TorchRelease,
    WheelRecord,
    XidCause,
    XidRecord,
)
from gpuassist.knowledge.repositories import RepositoryRecord, Sighting
from gpuassist.knowledge.rows import (
    Row,
    RowError,
    Source,
    flag_of,
    number_of,
    numbers_of,
    pairs_of,
    rows_of,
    source_of,
    text_of,
    texts_of,
    whole_of,
)
from gpuassist.knowledge.servers import Baseboard, ServerGpu
from gpuassist.knowledge.specifier import admits
from gpuassist.model.finding import Action
from gpuassist.model.version import Code, ComputeCapability, Target, Version

R = TypeVar("R")
T = TypeVar("T")
Build = Callable[[Row, dict[str, Source]], R]
ChipNamed = Callable[[str], tuple[ArchitectureRecord, ChipRecord] | None]

_ANY = Version((0,))


def _record(kind: Callable[..., R], /, **readers: Callable[[Row, str], Any]) -> Build[R]:
    """Each field by its reader from what the row calls so; what was `measured` is a source before that which the row names."""

    def build(row: Row, sources: dict[str, Source]) -> R:
        source = source_of(row, sources)
        origin = "; ".join(filter(None, (text_of(row, "measured", ""), source.text)))
        return kind(**{name: read(row, name) for name, read in readers.items()}, source=origin, checked=source.checked)

    return build


def _called(name: str, read: Callable[[Row, str], T]) -> Callable[[Row, str], T]:
    """A field that the rows call otherwise than the record."""
    return lambda row, _: read(row, name)


def _one(parse: Callable[[str], T]) -> Callable[[Row, str], T]:
    return lambda row, name: parse(text_of(row, name))


def _maybe(parse: Callable[[str], T]) -> Callable[[Row, str], T | None]:
    return lambda row, name: None if row.fields.get(name) in (None, "") else parse(text_of(row, name))


def _each(parse: Callable[[str], T]) -> Callable[[Row, str], tuple[T, ...]]:
    return lambda row, name: tuple(map(parse, texts_of(row, name)))


def _maybe_each(parse: Callable[[str], T]) -> Callable[[Row, str], tuple[T, ...] | None]:
    """None is not known; an empty list is known to be empty."""
    return lambda row, name: None if row.fields.get(name) is None else tuple(map(parse, texts_of(row, name)))


def _or_empty(row: Row, name: str) -> str:
    return text_of(row, name, "")


# The same few versions and architectures stand in every row of a CUDA release and of a torch build: each is parsed once.
_version = cache(Version.parse)
_target = cache(Target.parse)


@cache
def _ptx(word: str) -> Target:
    """From the short form of the file, `8.9`."""
    return Target(ComputeCapability.parse(word), Code.PTX)


def _range(row: Row, name: str) -> str:
    words = text_of(row, name)
    admits(words, _ANY)  # a range that cannot be read damages the row, not the program that asks later
    return words


def _chips(row: Row, name: str) -> tuple[ChipRecord, ...]:
    capability, driver = _maybe(ComputeCapability.parse), _maybe(Version.parse)
    return tuple(
        ChipRecord(
            text_of(one, "chip"), capability(one, "compute_capability"), flag_of(one, "integrated"), driver(one, "first_driver")
        )
        for one in rows_of(row, name)
    )


def _ranges(row: Row, name: str) -> tuple[str, ...]:
    for words in texts_of(row, name):
        admits(words, _ANY)
    return texts_of(row, name)


def _at_least_one(row: Row, name: str) -> tuple[str, ...]:
    words = texts_of(row, name)
    if not words:
        raise RowError(name)
    return words


def _companions(row: Row, name: str) -> tuple[Companion, ...]:
    version = _one(Version.parse)
    return tuple(Companion(text_of(one, "name"), _range(one, "version"), version(one, "torch")) for one in rows_of(row, name))


def gpu(row: Row, sources: dict[str, Source], chip_named: ChipNamed) -> GpuRecord:
    """A GPU: its chip says what it can."""
    source, found = source_of(row, sources), chip_named(text_of(row, "chip"))
    if found is None:
        raise RowError("chip")
    generation, chip = found
    own_module = text_of(row, "open_module", "")
    return GpuRecord(
        pci_id=text_of(row, "pci_id"),
        name=text_of(row, "name"),
        aliases=texts_of(row, "aliases"),
        chip=chip.chip,
        architecture=generation.name,
        compute_capability=chip.compute_capability,
        integrated=chip.integrated,
        module=ModuleFlavour(own_module) if own_module else generation.module,
        source=source.text,
        checked=source.checked,
        memory_bytes=numbers_of(row, "memory_bytes"),
        unlisted=flag_of(row, "unlisted"),
        first_driver=_maybe(_version)(row, "first_driver"),
    )


def bad_pair(row: Row, sources: dict[str, Source]) -> BadPair:
    """Two libraries that do not work together."""
    source, parties = source_of(row, sources), rows_of(row, "parties")
    if len(parties) != 2:
        raise RowError("parties")
    one, other = (Party(text_of(inner, "name"), _range(inner, "versions")) for inner in parties)
    key, symptom, why, remedy = (text_of(row, name) for name in ("key", "symptom", "why", "remedy"))
    return BadPair(key, one, other, symptom, why, remedy, source.text, source.checked)


def driver_package(row: Row, sources: dict[str, Source]) -> DriverPackage:
    source = source_of(row, sources)
    branch, kernel = whole_of(row, "branch"), text_of(row, "newest_kernel", "")
    brings, modules = number_of(row, "brings"), texts_of(row, "modules")
    if not {"open", "proprietary"}.issuperset(modules):
        raise RowError("modules")
    return DriverPackage(
        distribution=text_of(row, "distribution"),
        release=text_of(row, "release"),
        holder=Keeper(text_of(row, "holder")),
        branch=branch,
        brings=branch if brings is None else brings,
        extent=Extent(text_of(row, "extent", Extent.BRANCH.value)),
        open="open" in modules,
        proprietary="proprietary" in modules,
        package=text_of(row, "package", ""),
        version=text_of(row, "version", ""),
        newest_kernel=Version.parse(kernel) if kernel else None,
        seen=Seen(text_of(row, "seen")),
        source=source.text,
        checked=source.checked,
    )


architecture = _record(
    ArchitectureRecord,
    name=_called("architecture", text_of),
    chips=_chips,
    last_branch=number_of,
    module=_called("open_module", _one(ModuleFlavour)),
)
branch = _record(
    BranchRecord,
    branch=whole_of,
    kind=_called("branch_kind", _one(BranchKind)),
    end_of_life=_or_empty,
    ended=flag_of,
    cuda=_maybe(Version.parse),
)
windows_branch = _record(WindowsBranch, branch=whole_of, majors=numbers_of)
jetpack = _record(
    JetPackRecord,
    release=_one(Version.parse),
    l4t=numbers_of,
    drivers=numbers_of,
    cuda=_one(Version.parse),
    system=text_of,
    python=_one(_version),
    index=_or_empty,
    index_cuda=_maybe(Version.parse),
    wheel=_or_empty,
)
baseboard = _record(Baseboard, name=text_of, pci_ids=texts_of, gpus=whole_of, subnet_manager=flag_of)
server_gpu = _record(ServerGpu, name=text_of)
compat_package = _record(CompatPackage, cuda=_one(Version.parse), built_from=whole_of, branches=numbers_of)
toolkit = _record(
    ToolkitRecord,
    release=_one(Version.parse),
    targets=_each(_ptx),
    deprecated=_maybe_each(_ptx),
    gcc_limit=number_of,
    clang_limit=number_of,
    glibc_clash=_maybe(Version.parse),
    native_driver=_maybe(Version.parse),
    driver_floor=_one(Version.parse),
    codes=_each(_target),
)
early_toolkits = _record(
    EarlyToolkits, capability=_one(ComputeCapability.parse), first=_maybe(Version.parse), last=_maybe(Version.parse)
)
runfile = _record(
    RunfileRecord, release=_one(Version.parse), version=_one(Version.parse), driver=_one(Version.parse), machines=texts_of
)
repository = _record(
    RepositoryRecord,
    repository=text_of,
    architecture=text_of,
    first_toolkit=_maybe(Version.parse),
    last_toolkit=_maybe(Version.parse),
    first_driver=_maybe(Version.parse),
    last_driver=_maybe(Version.parse),
    begins=flag_of,
    ends=flag_of,
    lacks=_each(Version.parse),
    pins=numbers_of,
    seen=_one(Sighting),
)
wheel = _record(
    WheelRecord,
    distribution=text_of,
    role=text_of,
    libraries=texts_of,
    compilers=texts_of,
    directory=text_of,
    instead=_or_empty,
    cuda_majors=numbers_of,
    last=_maybe(str),
    last_seen=_maybe(str),
    of_cuda=lambda row, name: row.fields.get(name) is not False,
)
torch = _record(
    TorchBuild,
    release=_one(_version),
    newest=_one(_version),
    tag=text_of,
    cuda=_maybe(_version),
    machine=text_of,
    default=flag_of,
    targets=_each(_target),
    pythons=_each(_version),
    pins=pairs_of,
    glibc=_maybe(Version.parse),
)
torch_release = _record(
    TorchRelease,
    release=_one(Version.parse),
    patches=_each(Version.parse),
    published=text_of,
    pythons=_each(_version),
    companions=_companions,
    known_in_detail=flag_of,
    nccl=_maybe(Version.parse),
    cudas=_each(Version.parse),
)
image = _record(
    ImageRecord,
    family=_one(ImageFamily),
    month=_one(Version.parse),
    variant=_or_empty,
    version=_maybe(str),
    cuda=_maybe(Version.parse),
    torch=lambda row, name: None if row.fields.get(name) is None else text_of(row, name),  # "" is none inside
    tensorrt=_maybe(Version.parse),
    python=_maybe(_version),
    system=_maybe(str),
    driver=_maybe(Version.parse),
    compat_drivers=_each(Version.parse),
    capability_min=_maybe(ComputeCapability.parse),
    jetpack=_maybe(Version.parse),
)
image_tag = _record(ImageTag, tag=text_of)
system = _record(SystemRecord, name=_called("system", text_of), glibc=_maybe(Version.parse), python=_maybe(_version))
gcc_packages = _record(GccPackages, system=text_of, majors=numbers_of)
python_package = _record(PythonPackage, name=_called("distribution", text_of), modules=texts_of)
conda = _record(
    CondaRecord,
    channel=_one(Channel),
    version=_one(_version),
    platform=text_of,
    cuda=_maybe(_version),
    selector=_or_empty,
    channels=texts_of,
    cudnn=_maybe(_version),
    pythons=_maybe_each(_version),
    targets=_maybe_each(_target),
    tegra=flag_of,
)
conda_package = _record(
    CondaPackage,
    name=_called("package", text_of),
    channel=_one(Channel),
    role=text_of,
    libraries=texts_of,
    cudas=_each(_version),
    last=_maybe(str),
    instead=_or_empty,
    of_torch=flag_of,
)
engine = _record(
    EngineRecord,
    key=text_of,
    title=text_of,
    aliases=texts_of,
    asks_torch=flag_of,
    own=flag_of,
    of_pytorch=flag_of,
    index=_or_empty,
    instead=_or_empty,
    home=text_of,
)
engine_release = _record(
    EngineRelease,
    engine=text_of,
    package=text_of,
    releases=_at_least_one,
    torch=_ranges,
    cuda=lambda row, name: numbers_of(row, name) if name in row.fields else None,
    tags=texts_of,
    python=lambda row, name: _range(row, name) if name in row.fields else "",
    pythons=_each(_version),
    machines=texts_of,
    capability_min=_maybe(ComputeCapability.parse),
    capability_max=_maybe(ComputeCapability.parse),
    driver=_maybe(Version.parse),
    libraries=lambda row, name: pairs_of(row, name) or (),
    compiles=flag_of,
)
command = _record(
    CommandRecord,
    key=text_of,
    family=_one(Family),
    lines=texts_of,
    parameters=lambda row, _: parameters_of(texts_of(row, "lines")),
    needs_root=flag_of,
    action=_one(Action),
)
xid = _record(XidRecord, number=whole_of, name=text_of, meaning=text_of, action=text_of, causes=_each(XidCause), ended=flag_of)
_CODE_SAYS = {"words": _or_empty, "until": _or_empty, "meaning": _or_empty, "action": _or_empty}
code = _record(CodeRecord, enum=text_of, number=whole_of, name=text_of, state=text_of, **_CODE_SAYS)
code_state = _record(CodeState, state=text_of, problem=_or_empty, weight=_maybe(weight_named), reason=_or_empty, wordings=texts_of)
