"""What stands in the way of a plan, and what is not known that could change it, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gpuassist.diagnose.case import KnownGpu, RuleInput, wishes_of
from gpuassist.install.driver_shelf import not_on_shelf
from gpuassist.install.drivers.packages import flavour_of
from gpuassist.install.hypothetical import SOURCE
from gpuassist.knowledge.change import Blocker, Configuration, Constraints, Need, SmallestChange
from gpuassist.knowledge.choice import GpuWish, Obstacle, choose_driver
from gpuassist.knowledge.compatibility import (
    DriverFit,
    driver_serves_cuda,
    driver_serves_gpu,
    first_toolkit_for,
    glibc_clashes,
    kernels_run,
    last_toolkit_for,
    toolkit_builds_for,
)
from gpuassist.knowledge.records import ModuleFlavour, ToolkitRecord
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.text import Text, enumerated, text, verbatim
from gpuassist.model.version import ComputeCapability, Version

_NEVER_ENDED = 1 << 16
_MISSING_GPU = text('there is no NVIDIA GPU in this computer; `gpuassist plan gpu="RTX 5090"` tells what one would take')
# Alpine's C library; NVIDIA's driver and toolkit and PyTorch's wheels (manylinux) are built for glibc.
_MUSL = frozenset({"alpine", "postmarketos", "chimera"})
_ON_MUSL = text(
    "this system's C library is musl, and NVIDIA's driver and toolkit, conda's packages and PyTorch's wheels are built for glibc: "
    "another distribution can take this GPU"
)
_MISSING_IN_WSL = text(
    "no NVIDIA GPU is seen in WSL: the driver is Windows' own. Install or update it there, give `wsl --update`, and look again"
)


def out_of_the_question(case: RuleInput, constraints: Constraints) -> tuple[Text, ...]:
    """The reason why nothing can be planned: a machine that is known to have no GPU (a toolkit alone needs none), or no place for
    one more, or whose C library NVIDIA builds nothing for.
    """
    if _has_musl(case) and (constraints.torch_need is Need.MUST or constraints.toolkit_need is Need.MUST):
        return (_ON_MUSL,)
    gpus = case.machine.gpus
    none = isinstance(gpus, Known) and not case.cards and not case.jetson
    if none and constraints.driver_need is Need.MUST:
        return (_MISSING_IN_WSL if case.wsl else _MISSING_GPU,)
    added = [card for card in case.cards if value_or(card.gpu.pci_address, "").startswith(SOURCE)]
    whole = [card for card in case.cards if card.record is not None and card.record.integrated and card not in added]
    if added and whole:
        words = {"gpu": names_of(added), "there": names_of(whole)}
        return (text("{gpu} does not fit: {there} is part of a computer that takes no further card", **words),)
    return ()


def _has_musl(case: RuleInput) -> bool:
    distribution = case.machine.host.distribution
    if not isinstance(distribution, Known) or case.container:
        return False
    return bool({distribution.value.id, *distribution.value.id_like} & _MUSL)


def undetermined(case: RuleInput, constraints: Constraints) -> tuple[Text, ...]:
    """What is not known and could change the answer."""
    gpus, driver = case.machine.gpus, case.machine.driver
    if isinstance(gpus, Unknown):
        return (text("the GPUs of this machine: {reason}", reason=gpus.reason),)
    unknown = list[Text]()
    unread = isinstance(driver.loaded, Unknown) and not case.wsl
    libraries = driver.libcuda
    windows = isinstance(libraries, Unknown) or any(one.path.startswith("/usr/lib/wsl/") for one in libraries.value)
    asked = bool(case.cards) and constraints.driver is None and constraints.driver_need is Need.MUST
    if asked and isinstance(case.driver, Unknown) and (case.loaded or (case.wsl and windows) or unread):
        unknown.append(text("the driver's version: {reason}", reason=case.driver.reason))
    strangers = [card.name for card in case.cards if card.architecture is None]
    if strangers and asked and not case.running and not case.wsl:
        which = text("which GPU {gpus} is, and so which driver serves it: `lspci -nn -d 10de:` tells", gpus=enumerated(strangers))
        unknown.append(which)
    for card in case.cards if constraints.torch_need is Need.MUST or constraints.toolkit_need is Need.MUST else ():
        if isinstance(card.capability, Unknown):
            unknown.append(text("the compute capability of {gpu}: {reason}", gpu=card.name, reason=card.capability.reason))
    return tuple(unknown)


def blocked_by(case: RuleInput, configuration: Configuration, constraints: Constraints, found: SmallestChange) -> tuple[Text, ...]:
    """Why no change makes every link hold, which side must move, and between what there is a choice."""
    flavours = {card.flavour for card in case.cards}
    needs_both = not case.wsl and {ModuleFlavour.OPEN_REQUIRED, ModuleFlavour.OPEN_IMPOSSIBLE} <= flavours
    if Blocker.SPLIT in found.blockers or (Blocker.DRIVER in found.blockers and needs_both):
        return tuple(dict.fromkeys(_split(case)))
    reasons = list[Text]()
    if Blocker.NO_DRIVER in found.blockers or Blocker.DRIVER in found.blockers:
        reasons += no_driver(case, configuration, constraints)
    if Blocker.TORCH in found.blockers:
        reasons += _no_torch(case, configuration, constraints, found)
    if Blocker.TOOLKIT in found.blockers:
        reasons += _no_toolkit(case, configuration, constraints)
    return tuple(dict.fromkeys(reasons))


def best_driver_branch(case: RuleInput) -> int | None:
    """The branch that serves every GPU best."""
    today = case.machine.taken_at[:10]
    best = choose_driver(case.knowledge.branches(), case.wishes, today=today, one_module=not case.wsl).best
    return best.branch if best is not None else None


def _split(case: RuleInput) -> Iterator[Text]:
    old = [card for card in case.cards if card.flavour is ModuleFlavour.OPEN_IMPOSSIBLE]
    new = [card for card in case.cards if card.flavour is ModuleFlavour.OPEN_REQUIRED]
    yield text(
        "no Linux driver serves {old} and {new} at once: {old} needs the proprietary kernel module, {new} the open one, "
        "and only one of them can be loaded",
        old=names_of(old),
        new=names_of(new),
    )
    for keep, give in ((new, old), (old, new)):
        yield from _without(case, keep, give)
    both = choose_driver(case.knowledge.branches(), case.wishes, today=case.machine.taken_at[:10], one_module=False)
    if both.best is not None:
        yield text(
            "or use both under Windows with WSL2, whose driver knows no such split: branch {branch}", branch=both.best.branch
        )


def _without(case: RuleInput, keep: Sequence[KnownGpu], give: Sequence[KnownGpu]) -> Iterator[Text]:
    """What there is for those that stay when the others go."""
    gone = set(give)
    rest = [card for card in case.cards if card not in gone]
    choice = choose_driver(case.knowledge.branches(), wishes_of(rest), today=case.machine.taken_at[:10])
    if choice.best is not None:
        yield text(
            "either keep {keep}: take {give} out, or give it to a virtual machine (vfio-pci), and use driver branch {branch}, "
            "{flavour}",
            keep=names_of(keep),
            give=names_of(give),
            branch=choice.best.branch,
            flavour=flavour_of(open_module=choice.open_module),
        )


def _sides(case: RuleInput) -> Iterator[tuple[list[KnownGpu], list[KnownGpu]]]:
    """Those that one driver serves and those that have to go for it: as many as stand with the newest, then with the oldest."""
    by_age = sorted(case.cards, key=lambda card: (card.architecture and card.architecture.last_branch) or _NEVER_ENDED)
    told: list[list[KnownGpu]] = []
    for cards in (list(reversed(by_age)), by_age):
        served: dict[tuple[GpuWish, ...], bool] = {}  # a second card of a kind is served where the first one is
        for kind in map(wishes_of, zip(cards)):
            if kind not in served:
                wishes = (*(one for kept, stays in served.items() if stays for one in kept), *kind)
                choice = choose_driver(case.knowledge.branches(), wishes, today=case.machine.taken_at[:10])
                served[kind] = choice.best is not None
        keep = [card for card in case.cards if served[wishes_of((card,))]]
        if keep and keep not in told:
            told.append(keep)
            yield keep, [card for card in case.cards if not served[wishes_of((card,))]]


def _newer_without(case: RuleInput) -> Iterator[Text]:
    """What there is for the other GPUs where those go whose last branch is the oldest."""
    ends = [(card.architecture.last_branch if card.architecture else None) or _NEVER_ENDED for card in case.cards]
    oldest = min(ends, default=_NEVER_ENDED)
    keep = [card for card, end in zip(case.cards, ends, strict=True) if end > oldest]
    if keep:
        yield from _without(case, keep, [card for card, end in zip(case.cards, ends, strict=True) if end == oldest])


def no_driver(case: RuleInput, configuration: Configuration, constraints: Constraints) -> Iterator[Text]:
    if configuration.driver_fixed and not case.jetson:
        yield text(
            "the driver of a virtual GPU (vGPU) belongs to the release that its host runs: another branch comes from whoever runs "
            "the host, and no other driver runs here"
        )
        return
    if configuration.driver_fixed:
        yield text("the driver of a Jetson is part of its system: another one comes with another release of JetPack")
        return
    if configuration.shelf is not None and (told := tuple(not_on_shelf(case, configuration.shelf, constraints.driver))):
        yield from told
        if constraints.driver is None:
            yield from _newer_without(case)
        return
    if constraints.driver is None:
        yield text("no driver branch that gpuassist knows serves {gpus} at once", gpus=names_of(case.cards))
        for card in case.cards:
            if card.architecture is not None and card.architecture.last_branch is not None:
                yield text("{gpu} was served up to branch {branch}", gpu=card.name, branch=card.architecture.last_branch)
        for keep, give in _sides(case) if len(case.cards) > 1 else ():
            yield from _without(case, keep, give)
        return
    for card in case.cards:
        yield from _unserved(card, constraints.driver)
    best = best_driver_branch(case)
    if best is not None:
        yield text("driver branch {branch} serves {gpus}", branch=best, gpus=names_of(case.cards))


def _unserved(card: KnownGpu, driver: Version) -> Iterator[Text]:
    architecture = card.architecture
    if architecture is None:
        return
    fit = driver_serves_gpu(driver, architecture, card.chip)
    if fit is DriverFit.DROPPED:
        yield text(
            "driver {driver} no longer serves {gpu}, whose last branch is {branch}",
            driver=str(driver),
            gpu=card.name,
            branch=str(architecture.last_branch),
        )
    elif fit is DriverFit.TOO_OLD:
        first = next((chip.first_driver for chip in architecture.chips if chip.chip == card.chip), None)
        yield text(
            "driver {driver} is older than {gpu}, whose first is {first}", driver=str(driver), gpu=card.name, first=str(first)
        )


def _no_torch(case: RuleInput, configuration: Configuration, constraints: Constraints, found: SmallestChange) -> Iterator[Text]:
    build = f"{constraints.torch}+{constraints.torch_tag}" if constraints.torch_tag else str(constraints.torch)
    release = text("torch {version}", version=build) if constraints.torch else text("torch")
    builds = [one for one in case.knowledge.torch_builds() if one.cuda is not None and one.machine == configuration.machine]
    if found.obstacle is Obstacle.RELEASE_UNKNOWN:
        yield text("gpuassist knows no CUDA build of {torch} for {machine}", torch=release, machine=configuration.machine)
    elif found.obstacle is Obstacle.NO_BUILD_FOR_GPU:
        for card in case.cards:
            yield from _no_code(card, release, constraints, builds)
        known = [card.capability.value for card in case.cards if isinstance(card.capability, Known)]
        if not any(kernels_run(capability, one.targets, cuda=one.cuda) for capability in known for one in builds):
            yield text(
                "on the processor torch computes all the same, and needs no driver: {command}",
                command=verbatim("pip install torch --index-url https://download.pytorch.org/whl/cpu"),
            )
    elif found.obstacle is Obstacle.NO_BUILD_FOR_ALL_GPUS:
        yield text("no single build of {torch} has code for {gpus}", torch=release, gpus=names_of(case.cards))
        yield text("make an environment for each generation, or hide one GPU from torch with CUDA_VISIBLE_DEVICES")
    elif found.obstacle is Obstacle.JETSON_WHEELS:
        yield text("PyTorch's own builds need a newer JetPack here; NVIDIA's index has torch for the one that is installed")
    elif found.obstacle is Obstacle.C_LIBRARY and found.without is not None:
        yield text(
            "the wheels of {torch} for these GPUs need glibc {needed} or newer, and this system has {glibc}: a container with a "
            "newer system runs them under the same driver",
            torch=release,
            needed=str(found.without.glibc),
            glibc=str(configuration.glibc),
        )
    elif found.without is not None and found.without.cuda is not None:
        yield text("{torch} needs driver {floor} or newer", torch=release, floor=case.floor(found.without.cuda))


def _no_code(card: KnownGpu, release: Text, constraints: Constraints, builds: list) -> Iterator[Text]:  # type: ignore[type-arg]
    if not isinstance(card.capability, Known):
        return
    capability = card.capability.value
    running = [one for one in builds if kernels_run(capability, one.targets, cuda=one.cuda)]
    wanted = [one for one in running if constraints.torch is None or one.release == constraints.torch.release]
    if any(not constraints.torch_tag or one.tag == constraints.torch_tag for one in wanted):
        return
    yield text("no build of {torch} has code for {gpu} ({capability})", torch=release, gpu=card.name, capability=str(capability))
    if running:
        first, last = min(one.release for one in running), max(one.release for one in running)
        yield text("builds of torch {first} to {last} have", first=str(first), last=str(last))


def _no_toolkit(case: RuleInput, configuration: Configuration, constraints: Constraints) -> Iterator[Text]:
    every = case.knowledge.toolkits()
    wanted = [one for one in every if constraints.toolkit is None or one.release == constraints.toolkit.release]
    if not wanted:
        yield text("CUDA {version} is no release that gpuassist knows", version=str(constraints.toolkit))
        return
    if constraints.toolkit is None:
        wanted = [
            one for one in every if all(toolkit_builds_for(one.targets, capability) for capability in configuration.capabilities)
        ][-1:]
        yield text("no CUDA release builds for {gpus} on this system", gpus=names_of(case.cards))
    for record in wanted:
        yield from _unfit(record, case, configuration)


def _unfit(record: ToolkitRecord, case: RuleInput, configuration: Configuration) -> Iterator[Text]:
    release = str(record.release)
    for card in case.cards:
        if isinstance(card.capability, Known) and not toolkit_builds_for(record.targets, card.capability.value):
            yield from _unknown_to(release, card, card.capability.value, case.knowledge.toolkits())
    if configuration.glibc is not None and glibc_clashes(record.glibc_clash, configuration.glibc):
        yield text(
            "the headers of CUDA {release} clash with this system's glibc {glibc}", release=release, glibc=str(configuration.glibc)
        )
    if configuration.driver is not None and not driver_serves_cuda(configuration.driver, record.release):
        floor = case.floor(record.release)
        yield text("programs of CUDA {release} need driver {floor} or newer", release=release, floor=floor)


def _unknown_to(release: str, card: KnownGpu, capability: ComputeCapability, every: tuple[ToolkitRecord, ...]) -> Iterator[Text]:
    first, last = first_toolkit_for(capability, every), last_toolkit_for(capability, every)
    yield text("CUDA {release} does not build for {gpu} ({capability})", release=release, gpu=card.name, capability=str(capability))
    if first is not None:
        edge = text("{first} to {last}", first=str(first), last=str(last)) if last else text("{first} and newer", first=str(first))
        yield text("CUDA {releases} do", releases=edge)


def names_of(cards: Iterable[KnownGpu]) -> Text:
    return enumerated(card.name for card in cards)
