"""What is known of a driver branch: by its number or by any version of a driver of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuassist.knowledge.compatibility import serves
from gpuassist.knowledge.driver_numbers import branch_of_cuda, windows_branch
from gpuassist.model.nearest import nearest_numbers
from gpuassist.model.text import Text, text
from gpuassist.session.lookup.answer import (
    OLDER_THAN_KNOWN,
    LookupAnswer,
    LookupKind,
    LookupStatus,
    by_rule,
    fields,
    known,
    newer,
    not_known,
    unknown,
)
from gpuassist.session.lookup.versions import read_version

if TYPE_CHECKING:
    from gpuassist.knowledge.records import BranchRecord
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.model.version import Version
    from gpuassist.session.lookup.answer import Document

_FIRST_MAJOR_WITH_MINORS = 11
_NOT_KNOWN = not_known("branch branch_kind cuda_max cuda_max_with_compat architectures kernel_module end_of_life ended")


def answer(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By the first number of the version in the words."""
    asked, branches = read_version(words), knowledge.branches()
    numbers = tuple(branch.branch for branch in branches)
    if asked is None:
        return unknown(text("{words} is not the version of a driver", words=words), reversed(numbers[-3:]))
    number = asked.version.major
    branch, elsewhere = knowledge.branch(number), tuple[Text, ...]()
    if branch is None:  # not by the numbers of Linux
        branch, elsewhere = _of_another_system(knowledge, asked.version)
    if branch is not None:
        title = text("driver branch {branch}", branch=str(branch.branch))
        if branch.cuda is not None:
            title = text("driver branch {branch}: made for CUDA {cuda}", branch=str(branch.branch), cuda=str(branch.cuda))
        return known(title, _document(knowledge, branch), *elsewhere, *_notes(knowledge, branch))
    if numbers and number > max(numbers):
        title = text("driver {number}: newer than what I know", number=str(number))
        note = text(
            "By rule, it runs the programs of every CUDA release that I know, on every architecture that no branch has dropped."
        )
        return newer(title, branches, {**_NOT_KNOWN, "branch": number, **_serving(knowledge, number)}, note)
    if numbers and number < min(numbers):
        title = text("driver {number}: older than what I know", number=str(number))
        oldest = str(min(numbers))
        note = text("Older than {oldest}, the oldest branch that I know; such drivers are no longer maintained.", oldest=oldest)
        record = {**by_rule(OLDER_THAN_KNOWN, branches), **_NOT_KNOWN, "branch": number, "ended": True}
        return LookupAnswer(LookupStatus.OLDER, title, record, (note,))
    return unknown(text("no driver branch {number} is known", number=str(number)), nearest_numbers(number, numbers))


def _of_another_system(knowledge: Knowledge, version: Version) -> tuple[BranchRecord | None, tuple[Text, ...]]:
    """The branch behind a number of Windows' or of a Jetson's, and whose number it is."""
    windows = windows_branch(version, knowledge.windows_drivers(), knowledge.branches())
    if windows is not None:
        note = text(
            "{number} is how Windows, and so WSL2, numbers a driver of branch {branch}.", number=str(version), branch=windows
        )
        return knowledge.branch(windows), (note,)
    jetpack = next((one for one in knowledge.jetpacks() if version.major in one.drivers), None)
    branch = branch_of_cuda(jetpack.cuda, knowledge.branches()) if jetpack is not None else None
    if jetpack is None or branch is None:
        return None, ()
    note = text(
        "{number} is the driver of a Jetson, part of JetPack {jetpack}; it runs what branch {branch} runs, that of CUDA {cuda}.",
        number=str(version),
        jetpack=str(jetpack.release),
        cuda=str(jetpack.cuda),
        branch=branch,
    )
    return knowledge.branch(branch), (note,)


def _notes(knowledge: Knowledge, branch: BranchRecord) -> tuple[Text, ...]:
    """What nvidia-smi's figure does not forbid (CUDA Compatibility: minor-version compatibility, from CUDA 11 on), and for whom the
    packages of forward compatibility are.
    """
    if branch.cuda is None or branch.cuda.major < _FIRST_MAJOR_WITH_MINORS:
        return ()
    cuda, major = str(branch.cuda), str(branch.cuda.major)
    told = text(
        "It runs programs of any CUDA {major}; only PTX of releases after {cuda} it cannot compile.", cuda=cuda, major=major
    )
    newest = max((one.cuda for one in knowledge.compat_packages() if branch.branch in one.branches), default=None)
    if newest is None:
        return (told,)
    name = next(one.name for one in knowledge.compat_packages() if one.cuda == newest)
    compat = text(
        "For data-centre GPUs only (and some RTX boards in certified servers): a package such as {name} lets it run programs of "
        "newer CUDA, up to {newest}, without another driver and without a restart; a GeForce card gets nothing from it.",
        name=name,
        newest=str(newest),
    )
    return (told, compat)


def _document(knowledge: Knowledge, branch: BranchRecord) -> Document:
    packages = [one.cuda for one in knowledge.compat_packages() if branch.branch in one.branches]
    return fields(
        source=branch.source,
        checked=branch.checked,
        branch=branch.branch,
        branch_kind=branch.kind,
        cuda_max=branch.cuda,
        cuda_max_with_compat=max(packages, default=None),
        **_serving(knowledge, branch.branch),
        end_of_life=branch.end_of_life or None,
        ended=branch.has_ended(branch.checked),
    )


def _serving(knowledge: Knowledge, branch: int) -> Document:
    modules = {architecture.name: module for architecture, module in serves(branch, knowledge.architectures())}
    return fields(architectures=list(modules), kernel_module=modules)


SHELF = LookupKind(
    "driver",
    answer,
    lambda base: (str(branch.branch) for branch in base.branches()),
    lambda base: (_document(base, branch) for branch in base.branches()),
)
