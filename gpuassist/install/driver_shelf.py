"""What is said where the packages of a system hold no driver that serves its GPUs, or another than was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import RuleInput
from gpuassist.knowledge.choice import DriverChoice, choose_driver
from gpuassist.knowledge.driver_packages import Reach, Shelf, Shelved, installer_of
from gpuassist.knowledge.records import BranchRecord
from gpuassist.knowledge.smallest import best_flavour, on_shelf
from gpuassist.model.fact import value_or
from gpuassist.model.machine import Distribution
from gpuassist.model.text import Text, enumerated, text, verbatim
from gpuassist.model.version import Version

_NOWHERE = Distribution("", (), "", "")


def not_on_shelf(case: RuleInput, shelf: Shelf, wanted: Version | None) -> Iterator[Text]:
    """Why the packages bring no driver for these GPUs though there is one, and what is left; nothing where they are not why."""
    choice = _serving(case)
    branch = wanted.major if wanted is not None else choice.best.branch if choice.best is not None else None
    if branch is None or (wanted is not None and all(one.branch != branch for one in choice.branches)):
        return
    _, found = best_flavour(shelf, branch, case.wishes, first=choice.open_module, pinned=wanted is not None)
    if found.reach in {Reach.HELD, Reach.UNKNOWN}:
        return
    yield from _why(case, shelf, found, branch)
    record = case.knowledge.branch(branch)
    held = on_shelf(choice, case.wishes, shelf, today=case.machine.taken_at[:10]).best
    if wanted is not None and held is not None and held.branch != branch:
        yield text("they hold branch {branch}, which serves {gpus}", branch=held.branch, gpus=_names(case))
        return
    if found.reach is Reach.KERNEL and found.record is not None:
        yield text(
            "either start this system with a kernel up to {newest}, where it has one, and plan again: then those packages serve",
            newest=str(found.record.newest_kernel),
        )
    if record is not None:
        yield from _what_is_left(case, record)


def comes_instead(asked: Version, comes: Version, case: RuleInput) -> Text:
    """That the packages of a branch lead to another one."""
    return text(
        "{distribution}'s packages of branch {asked} now bring branch {comes}: another of branch {asked} is not among them",
        distribution=_distribution(case),
        asked=str(asked.major),
        comes=str(comes.major),
    )


def ended_branch(case: RuleInput, branch: int) -> Text | None:
    """That a branch gets no updates any more; None where it does."""
    record = case.knowledge.branch(branch)
    if record is None or not record.has_ended(case.machine.taken_at[:10]):
        return None
    last = [card.name for card in case.cards if card.architecture is not None and card.architecture.last_branch == branch]
    if last and record.end_of_life:
        return text(
            "branch {branch} is the last that serves {gpus}; it ended in {month} and gets no updates any more",
            branch=branch,
            gpus=enumerated(dict.fromkeys(last)),
            month=record.end_of_life,
        )
    return text("driver branch {branch} gets no updates any more", branch=branch)


def _serving(case: RuleInput) -> DriverChoice:
    return choose_driver(case.knowledge.branches(), case.wishes, today=case.machine.taken_at[:10], one_module=not case.wsl)


def _why(case: RuleInput, shelf: Shelf, found: Shelved, branch: int) -> Iterator[Text]:
    system = _distribution(case)
    if found.reach is Reach.OTHER:
        yield text(
            "{distribution}'s packages of branch {branch} now bring branch {comes}",
            distribution=system,
            branch=str(branch),
            comes=str(found.branch),
        )
    elif found.reach is Reach.KERNEL and found.record is not None:
        yield text(
            "{distribution} has a driver of branch {branch} ({package}), whose module is known to be built for kernels up to "
            "{newest}; {kernel} runs here",
            distribution=system,
            branch=str(branch),
            package=found.record.package or str(branch),
            newest=str(found.record.newest_kernel),
            kernel=value_or(case.machine.host.kernel, ""),
        )
        return
    else:
        yield text(
            "no package of {distribution} holds a driver of branch {branch}, which {gpus} would need",
            distribution=system,
            branch=str(branch),
            gpus=_names(case),
        )
    if shelf.holds():
        exact = enumerated(str(one) for one, later in shelf.holds() if not later)
        onward = [one for one, later in shelf.holds() if later]
        if not onward:
            yield text("its packages hold the branches {branches}", branches=exact)
        elif exact == verbatim(""):
            yield text("its packages hold branch {first} and later ones", first=min(onward))
        else:
            yield text("its packages hold the branches {branches}, and {first} and later ones", branches=exact, first=min(onward))


def _what_is_left(case: RuleInput, record: BranchRecord) -> Iterator[Text]:
    ended = ended_branch(case, record.branch)
    if ended is not None:
        yield ended
    if any(case.held_by(card) in {"nouveau", "nova_core"} for card in case.cards):
        yield text("leave nouveau as it is: it draws the desktop, and no driver here can take its place")
    installer = installer_of(case.knowledge.driver_packages(), record.branch)
    if installer is not None:
        yield text(
            "or an older system: NVIDIA's installer {file} is known to build on kernels up to {kernel}",
            file=installer.package,
            kernel=str(installer.newest_kernel),
        )
    yield text(
        "or a GPU that a newer driver serves, or computing on the processor, which needs no driver: {command}",
        command=verbatim("pip install torch --index-url https://download.pytorch.org/whl/cpu"),
    )


def _distribution(case: RuleInput) -> Text:
    return verbatim(value_or(case.machine.host.distribution, _NOWHERE).name)


def _names(case: RuleInput) -> Text:
    return enumerated(dict.fromkeys(card.name for card in case.cards))
