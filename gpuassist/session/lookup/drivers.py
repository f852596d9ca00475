"""What is known of a driver branch: by its number or by any version of a driver of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gpuassist.knowledge.compatibility import serves
from gpuassist.model.nearest import nearest_numbers
from gpuassist.model.text import Text, text
from gpuassist.session.lookup.answer import LookupAnswer, LookupKind, LookupStatus, by_rule, known, unknown
from gpuassist.session.lookup.versions import read_version

if TYPE_CHECKING:
    from gpuassist.knowledge.compatibility import KernelFlavour
    from gpuassist.knowledge.records import ArchitectureRecord, BranchRecord
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.session.lookup.answer import Document


_FIRST_MAJOR_WITH_MINORS = 11


def answer(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By the first number of the version in the words."""
    asked = read_version(words)
    numbers = tuple(branch.branch for branch in knowledge.branches())
    if asked is None:
        return unknown(text("{words} is not the version of a driver", words=words), map(str, reversed(numbers[-3:])))
    number = asked.version.major
    branch = knowledge.branch(number)
    if branch is not None:
        if branch.cuda is None:
            title = text("driver branch {branch}", branch=str(branch.branch))
        else:
            title = text("driver branch {branch}: made for CUDA {cuda}", branch=str(branch.branch), cuda=str(branch.cuda))
        return known(title, _document(knowledge, branch), *_notes(branch))
    if numbers and number > max(numbers):
        return _newer(knowledge, number)
    if numbers and number < min(numbers):
        record: Document = {
            **by_rule("older than what I know", knowledge.branches()),
            "branch": number,
            "branch_kind": None,
            "cuda_max": None,
            "cuda_max_with_compat": None,
            "architectures": None,
            "kernel_module": None,
            "end_of_life": None,
            "ended": True,
        }
        oldest = str(min(branch.branch for branch in knowledge.branches()))
        note = text("Older than {oldest}, the oldest branch that I know; such drivers are no longer maintained.", oldest=oldest)
        return LookupAnswer(
            LookupStatus.OLDER, text("driver {number}: older than what I know", number=str(number)), record, (note,)
        )
    near = nearest_numbers(number, numbers)
    return unknown(text("no driver branch {number} is known", number=str(number)), map(str, near))


def names(knowledge: Knowledge) -> tuple[str, ...]:
    """The branches, oldest first."""
    return tuple(str(branch.branch) for branch in knowledge.branches())


def records(knowledge: Knowledge) -> Iterator[Document]:
    """One a branch."""
    return (_document(knowledge, branch) for branch in knowledge.branches())


SHELF = LookupKind("driver", answer, names, records)


def _notes(branch: BranchRecord) -> tuple[Text, ...]:
    """What nvidia-smi's figure does not forbid (CUDA Compatibility: minor-version compatibility, from CUDA 11 on)."""
    if branch.cuda is None or branch.cuda.major < _FIRST_MAJOR_WITH_MINORS:
        return ()
    cuda, major = str(branch.cuda), str(branch.cuda.major)
    return (
        text("It runs programs of any CUDA {major}; only PTX of releases after {cuda} it cannot compile.", cuda=cuda, major=major),
    )


def _newer(knowledge: Knowledge, number: int) -> LookupAnswer:
    serving = serves(number, knowledge.architectures())
    record: Document = {
        **by_rule("newer than what I know", knowledge.branches()),
        "branch": number,
        "branch_kind": None,
        "cuda_max": None,
        "cuda_max_with_compat": None,
        **_serving(serving),
        "end_of_life": None,
        "ended": None,
    }
    note = text(
        "By rule, it runs the programs of every CUDA release that I know, on every architecture that no branch has dropped."
    )
    return LookupAnswer(LookupStatus.NEWER, text("driver {number}: newer than what I know", number=str(number)), record, (note,))


def _document(knowledge: Knowledge, branch: BranchRecord) -> Document:
    packages = [one.cuda for one in knowledge.compat_packages() if branch.branch in one.branches]
    return {
        "source": branch.source,
        "checked": branch.checked,
        "branch": branch.branch,
        "branch_kind": branch.kind.value,
        "cuda_max": None if branch.cuda is None else str(branch.cuda),
        "cuda_max_with_compat": str(max(packages)) if packages else None,
        **_serving(knowledge.branch_serves(branch)),
        "end_of_life": branch.end_of_life or None,
        "ended": branch.has_ended(branch.checked),
    }


def _serving(served: Iterable[tuple[ArchitectureRecord, KernelFlavour]]) -> Document:
    modules = {architecture.name: module.value for architecture, module in served}
    return {"architectures": [*modules], "kernel_module": {**modules}}
