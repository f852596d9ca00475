"""What to know beside the steps of a plan, and every link of every GPU, in words."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import KnownGpu, RuleInput
from gpuassist.diagnose.rules.presence import best_driver
from gpuassist.install.blockers import best_driver_branch, names_of, no_driver
from gpuassist.knowledge.change import Blocker, Configuration, Constraints, Need, SmallestChange, TorchThere
from gpuassist.knowledge.compatibility import (
    cubin_runs,
    is_jetson,
    kernels_run,
    toolkit_builds_for,
)
from gpuassist.knowledge.records import TorchBuild
from gpuassist.knowledge.smallest import on_shelf, torch_fits
from gpuassist.model.chain import Chain, Node, Part, Status
from gpuassist.model.fact import Known, value_or
from gpuassist.model.outlook import Link
from gpuassist.model.text import Text, text, verbatim

DRIVER_STAYS = text("the driver stays as it is; to run what is compiled, see `gpuassist plan driver`")


def notes_on(case: RuleInput, configuration: Configuration, constraints: Constraints, found: SmallestChange) -> tuple[Text, ...]:
    """What to know beside the steps: what is left as it is, and what will have to be done some day."""
    change = found.change
    if change is None:
        return ()
    notes = [  # GPUs that are no cards
        text("{gpu} is part of a computer of its own and fits into no other: the steps are those of that computer", gpu=card.name)
        for card in case.cards
        if card.record is not None and card.record.integrated and configuration.machine == "x86_64"
    ]
    if Blocker.TORCH in change.left:
        notes.append(text("torch stays as it is, and does not compute on every GPU: `gpuassist plan torch` tells more"))
    if Blocker.TOOLKIT in change.left:
        notes.append(text("the toolkit stays as it is, which matters to those who compile: `gpuassist plan cuda` tells more"))
    if Blocker.DRIVER in change.left:
        notes.append(DRIVER_STAYS)
    if change.torch is not None:
        notes += _code_of_servers(case, change.torch.build)
    if change.torch is not None and configuration.torch is not None and not configuration.torch.cpu and constraints.torch is None:
        notes += _other_torch(configuration, configuration.torch, change.torch.build, constraints)
    if constraints.newest_driver and configuration.driver_fixed:
        notes += no_driver(case, configuration, constraints)
    elif constraints.newest_driver and change.driver is None and configuration.driver is not None and case.cards:
        newest = configuration.driver.major
        notes.append(text("branch {branch} is the newest driver that serves {gpus}", branch=newest, gpus=names_of(case.cards)))
    elif (
        change.driver is None
        and not configuration.driver_fixed
        and constraints.driver is None
        and configuration.driver is not None
        and constraints.driver_need is Need.MUST
    ):
        branch, best = case.knowledge.branch(configuration.driver.major), best_driver_branch(case)
        ended = branch is not None and branch.has_ended(case.machine.taken_at[:10])
        if ended and branch is not None and best is not None and best != branch.branch:
            told = text("driver branch {branch} gets no updates any more", branch=branch.branch)
            if not _holds_no_other(case, configuration, branch.branch):
                told = text(
                    "driver branch {branch} gets no updates any more; `gpuassist plan driver==newest` tells how to get {best}, "
                    "which does",
                    branch=branch.branch,
                    best=best,
                )
            notes.append(told)
    return tuple(notes)


def _holds_no_other(case: RuleInput, configuration: Configuration, branch: int) -> bool:
    """Whether nothing that gets updates is among this system's packages, as far as these are known."""
    if configuration.shelf is None:
        return False
    today = case.machine.taken_at[:10]
    found = on_shelf(best_driver(case), case.wishes, configuration.shelf, today=today).best
    return found is None or found.has_ended(today) or found.branch == branch


def _code_of_servers(case: RuleInput, build: TorchBuild) -> Iterator[Text]:
    """A board that runs the code of servers' chips, which CUDA 13.2 allows, where the build has none of its own."""
    for card in case.cards:
        if not isinstance(card.capability, Known) or not is_jetson(card.capability.value):
            continue
        capability = card.capability.value
        running = [one for one in build.targets if cubin_runs(capability, one, cuda=build.cuda)]
        if running and all(one.capability != capability for one in running):
            best = max(running, key=lambda one: one.capability)
            yield text(
                "this build has no code of its own for {gpu} ({own}): that for {other} runs there, from CUDA 13.2 on, and is tuned "
                "for another chip",
                gpu=card.name,
                own=f"sm_{capability.major}{capability.minor}",
                other=str(best),
            )


def _other_torch(configuration: Configuration, there: TorchThere, build: TorchBuild, constraints: Constraints) -> Iterator[Text]:
    """Where torch moves that nobody asked to move: what for, and how it can stay."""
    words = {"there": str(there.version), "cuda": str(there.cuda)}
    if constraints.toolkit is not None and torch_fits(configuration, there, configuration.driver):
        yield text(
            "torch {there} runs with any toolkit, because it brings its own CUDA {cuda}: the other build is only for those who "
            "compile extensions of torch; all others leave out that step",
            **words,
        )
    elif (
        build.release < there.version.release
        and torch_fits(configuration, there, None)
        and not torch_fits(configuration, there, configuration.driver)
    ):
        there_words = str(there.version)
        yield text("torch {there} could stay with a newer driver: `gpuassist plan driver==newest` tells how", there=there_words)


# Every link of every GPU, named: those that a chain draws, and those that it leaves out because they hold.


_HOLDS = {Status.RIGHT: True, Status.WARNING: False, Status.PROBLEM: False, Status.UNKNOWN: None}
_NOTHING = verbatim("")
_NOT_KNOWN = text("what is known of them does not tell")


def links_of(case: RuleInput, chains: tuple[Chain, ...]) -> tuple[Link, ...]:
    """The links of the chains of a machine, each that is the same for several GPUs named with each of them."""
    return tuple(link for card, chain in zip(case.cards, chains, strict=True) for link in _links(case, card, chain))


def _links(case: RuleInput, card: KnownGpu, chain: Chain) -> Iterator[Link]:
    nodes = {node.part: node for node in chain.nodes}
    for joint in chain.joints:
        if joint.status is not Status.ABSENT:
            holds = _HOLDS[joint.status]
            unexplained = joint.reason == _NOTHING and not holds
            reason = _NOT_KNOWN if unexplained else joint.reason
            yield Link(_named(card, nodes[joint.first]), _named(card, nodes[joint.second]), holds, reason)
    drawn = {(joint.first, joint.second) for joint in chain.joints}
    for part, judged in ((Part.TORCH, _code_runs(case, card, nodes)), (Part.TOOLKIT, _is_built_for(case, card))):
        if (Part.GPU, part) not in drawn and nodes[part].status is not Status.ABSENT:
            yield Link(_named(card, nodes[Part.GPU]), _named(card, nodes[part]), *judged)


def _named(card: KnownGpu, node: Node) -> Text:
    if node.part is Part.GPU:
        return text("GPU {place}: {name}", place=card.number, name=node.name)
    if node.part is Part.DRIVER:
        return text("driver {name} for GPU {place}", name=node.name, place=card.number)
    if node.part is Part.TORCH:
        return text("torch {name} for GPU {place}", name=node.name, place=card.number)
    return text("{name} for GPU {place}", name=node.name, place=card.number)


def _code_runs(case: RuleInput, card: KnownGpu, nodes: dict[Part, Node]) -> tuple[bool | None, Text]:
    """Whether the torch that is drawn has code for the GPU, whether or not the driver runs that GPU now."""
    drawn = (one for one in case.cuda_torches if verbatim(one.version) == nodes[Part.TORCH].name)
    one = next(drawn, None)
    if one is None or not isinstance(card.capability, Known) or not isinstance(one.torch.targets, Known):
        return None, _NOT_KNOWN
    capability, cuda = card.capability.value, one.torch.cuda
    if kernels_run(capability, one.torch.targets.value, cuda=value_or(cuda, None)):
        return True, _NOTHING
    return False, text("torch has no code for {capability}", capability=str(capability))


def _is_built_for(case: RuleInput, card: KnownGpu) -> tuple[bool | None, Text]:
    known = case.known(case.toolkit) if case.toolkit is not None else None
    if known is None or not known.targets or not isinstance(card.capability, Known):
        return None, _NOT_KNOWN
    if toolkit_builds_for(known.targets, card.capability.value):
        return True, _NOTHING
    words = {"version": str(known.version.release), "capability": str(card.capability.value)}
    return False, text("nvcc {version} cannot build for {capability}", **words)
