"""A pasted text explained: what it shows, joined with the facts in it and those of the machine, the most likely cause first."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.detect.readers import Contradiction, contradictions, joined, read_all, same_machine
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.catalogue import FRAMEWORK, WITH_TORCH
from gpuassist.diagnose.cut_lines import completed
from gpuassist.diagnose.framework import terms
from gpuassist.diagnose.in_english import in_english
from gpuassist.diagnose.judge import judge, recognise
from gpuassist.diagnose.memory import memory_doubts, memory_picture
from gpuassist.diagnose.ranking import UNDECIDED, Rank, rank_causes, refutations
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.diagnose.sound import sound, speaks_of_failure
from gpuassist.formats.paste import Gathering, read_paste
from gpuassist.model.account import Account
from gpuassist.model.finding import Answer, Finding, OpenQuestion, Severity, Undetermined
from gpuassist.model.machine import Machine
from gpuassist.model.memory_picture import MemoryPicture
from gpuassist.model.paste import Paste
from gpuassist.model.text import Text, counted, text
from gpuassist.session.accounts import accounts_of, accounts_of_work
from gpuassist.session.facts_told import accounts_with_facts, looked_at
from gpuassist.session.inspect import Inspection, in_words
from gpuassist.session.process_account import holders_here, without_lists
from gpuassist.session.remedies import PlannedRemedies
from gpuassist.system.files import Files

_CONVICTING = frozenset({Severity.PROBLEM, Severity.WARNING})


class Ground(str, Enum):
    """Which facts the answer rests on beside the words of the text."""

    TEXT_ALONE = "text"
    JOINED = "text and machine"
    OTHER_MACHINE = "text of another machine"


_MOST_LINKS = 3
# What only torch can have: never a doubt where another framework is at hand.
_OF_TORCH = frozenset({"torch-lacks-sm", "torch-cpu-only", "gpu-too-old-for-torch", "torch-install-damaged", "wrong-python-env"})
_MEMORY = ("oom-", "gpu-memory-held-by-dead-process", "cublas-init-failed-oom")


class Basis(Struct, frozen=True):
    """The ground of an answer, and why it is that one."""

    ground: Ground
    reason: Text


class UnlikelyAnswer(Struct, frozen=True):
    """An answer that the text could mean as well, and why it is less likely."""

    answer: Answer
    reason: Text


class Explanation(Struct, frozen=True):
    """What is to be said of a text. `answers`: most likely cause first; `known` is false for a text that shows nothing that
    gpuassist knows; `machine` holds the facts that were read in the text alone; `rank` says how well the first answer is founded,
    and `question` what it leaves open: then its remedies begin with the command that decides; `accounts` say what the text is,
    where it is the output of a tool.
    """

    paste: Paste
    machine: Machine
    answers: tuple[Answer, ...]
    less_likely: tuple[UnlikelyAnswer, ...]
    undetermined: tuple[Undetermined, ...]
    contradictions: tuple[Contradiction, ...]
    basis: Basis
    known: bool
    rank: Rank | None = None
    memory: MemoryPicture | None = None
    question: OpenQuestion | None = None
    accounts: tuple[Account, ...] = ()

    @property
    def convicts(self) -> bool:
        """Whether the text shows a problem of the GPU set-up, or a warning of one."""
        return bool(_convicting(self.answers))

    @property
    def title(self) -> Text:
        """The answer in one line."""
        if not self.paste.words.strip():
            return text("This is not text") if self.paste.left_out else text("There is no text to explain")
        if not self.known:
            return text("I don't know this text")
        if not self.convicts and self.accounts:
            return self.accounts[0].title
        if not self.convicts:
            return text("No GPU problem found in the text")
        return counted(
            "1 problem found",
            "{count} problems found, most likely cause first",
            len(_convicting(self.answers)),
        )


def explain(
    session: Session, data: bytes | str | Paste, machine: Machine | None = None, *, recorded: bool = False, host: str = ""
) -> Explanation:
    """Explains a text; `machine` is the one that it may come from, None for the text alone; `recorded` where it was looked at
    at another time, maybe by somebody else, or is the other machine that `host` names.
    """
    pasted = data if isinstance(data, Paste) else read_paste(data)
    paste = in_english(completed(pasted), session.knowledge)
    told = read_all(paste, session.knowledge)
    basis = _basis(told, machine, recorded=recorded, host=host)
    whole = joined(told, machine) if machine is not None and basis.ground is Ground.JOINED else told
    setting = SignatureInput(paste, RuleInput(whole, session.knowledge))
    by_text = judge(told, session.knowledge)
    by_all = by_text if whole is told else judge(whole, session.knowledge)
    recognised = recognise(setting)
    # The problems of facts that break nothing by themselves.
    of_facts = in_words(session, Machine(), by_text.findings)
    minor = frozenset(answer.id for answer in of_facts if answer.severity is not Severity.PROBLEM)
    refuted = refutations(setting)
    explained = rank_causes(recognised.clues, by_text, by_all, minor=minor, refuted=refuted)
    planner = PlannedRemedies(session, whole)
    live = machine if basis.ground is Ground.JOINED else None
    findings = tuple(_with_holders(session, one, live, recorded=recorded) for one in explained.findings)
    named = {one.problem for one in findings[:1]}
    about = terms(setting, tuple(one for one in recognised.clues if one.problem in named) or recognised.clues)
    answers = in_words(session, whole, findings, planner, setting=about)
    against = contradictions(paste)
    silent = not (recognised.clues or explained.less_likely or _convicting(answers) or against)
    accounts = accounts_of(session, paste, live, live=not recorded)
    if silent:
        accounts = (*accounts, *accounts_of_work(paste))
    healthy = _healthy(session, paste, told, accounts) if silent else None
    if healthy is not None:
        answers = (*in_words(session, told, (healthy,), setting=about), *answers)
    open_ = None
    if explained.rank in UNDECIDED:
        from gpuassist.session.questions import asked

        open_ = asked(session, explained, setting, about=about, refuted=frozenset(refuted), planner=planner)
    if open_ is not None:
        answers = (open_.answer, *answers[1:])
    asking = {case.problem for case in open_.question.cases} if open_ is not None else set()
    elsewhere = _OF_TORCH if about.get(FRAMEWORK) and not about.get(WITH_TORCH) else frozenset[str]()
    doubted = tuple(one for one in explained.less_likely if one.finding.problem not in asking | elsewhere)
    tells = bool(accounts) or told != Machine()
    peaceful = tells and not _convicting(answers) and not speaks_of_failure(without_lists(paste))
    if peaceful:
        accounts = accounts_with_facts(told, accounts)
    doubts = in_words(session, whole, tuple(one.finding for one in doubted), planner, setting=about)
    return Explanation(
        paste=pasted,
        machine=told,
        answers=tuple(_with_few_links(answers)),
        less_likely=tuple(UnlikelyAnswer(answer, one.reason) for answer, one in zip(doubts, doubted, strict=True)),
        undetermined=(*memory_doubts(setting), *explained.undetermined, *recognised.failed),
        contradictions=against,
        basis=basis,
        known=bool(recognised.clues or healthy or _convicting(answers) or (accounts and peaceful)),
        rank=explained.rank,
        memory=memory_picture(setting),
        accounts=accounts,
        question=open_.question if open_ is not None else None,
    )


def with_past(session: Session, explanation: Explanation, machine: Machine | None) -> Explanation:
    """With the changes of this machine that what the text shows may come from, where the two were judged together."""
    if machine is None or explanation.basis.ground is not Ground.JOINED or not explanation.convicts:
        return explanation
    from gpuassist.session.past import with_causes

    return replace(explanation, answers=with_causes(session, machine, explanation.answers))


def explain_with(session: Session, paste: Paste, inspection: Inspection | None) -> Explanation:
    """The same with a machine that was judged already, and with the changes that its own answers may come from: a text is explained
    as it is typed, and for each of its letters no log is read.
    """
    if inspection is None:
        return explain(session, paste)
    found = explain(session, paste, inspection.machine, recorded=inspection.recorded, host=inspection.host)
    if found.basis.ground is not Ground.JOINED:
        return found
    since = {answer.id: answer.since for answer in inspection.answers}
    return replace(found, answers=tuple(replace(answer, since=since.get(answer.id, ())) for answer in found.answers))


def _healthy(session: Session, paste: Paste, told: Machine, accounts: tuple[Account, ...]) -> Finding | None:
    setting = SignatureInput(Paste(without_lists(paste)), RuleInput(told, session.knowledge))
    return sound(setting, looked_at(paste, told, accounts))


def _with_few_links(answers: tuple[Answer, ...]) -> Iterator[Answer]:
    """Each page once, and no more of them than somebody opens: those of the most likely cause first."""
    told = list[str]()
    for answer in answers:
        links = [link for link in answer.links if link not in told][: _MOST_LINKS - len(told)]
        told += links
        yield replace(answer, links=tuple(links))


def _with_holders(session: Session, found: Finding, machine: Machine | None, *, recorded: bool) -> Finding:
    """That a module cannot be exchanged, with the programs that hold it on this machine."""
    if machine is None or found.problem != "module-already-loaded":
        return found
    return replace(found, evidence=(*found.evidence, *holders_here(session, machine, live=not recorded)))


def about_memory(answer: Answer) -> bool:
    """Whether too little memory on the GPU is what it is about."""
    return answer.id.startswith(_MEMORY)


def _convicting(answers: tuple[Answer, ...]) -> tuple[Answer, ...]:
    return tuple(answer for answer in answers if answer.severity in _CONVICTING)


def _basis_of_other(host: str, reason: Text | None) -> Basis:
    if reason is None:
        return Basis(Ground.JOINED, text("Missing details were read from {host}.", host=host))
    return Basis(Ground.OTHER_MACHINE, text("The text is explained without facts of {host}: {reason}.", host=host, reason=reason))


def _basis(told: Machine, machine: Machine | None, *, recorded: bool, host: str) -> Basis:
    if machine is None:
        return Basis(Ground.TEXT_ALONE, text("The answer is based on the text alone."))
    reason = same_machine(told, machine)
    if host:
        return _basis_of_other(host, reason)
    if reason is None and recorded:
        return Basis(Ground.JOINED, text("Missing details were taken from the recorded machine."))
    if reason is None:
        return Basis(Ground.JOINED, text("Missing details were read from this computer."))
    if recorded:
        return Basis(
            Ground.OTHER_MACHINE, text("The text is explained without facts of the recorded machine: {reason}.", reason=reason)
        )
    return Basis(Ground.OTHER_MACHINE, text("The text is explained without facts of this computer: {reason}.", reason=reason))


# A text to explain, from a file or a stream of any length, of which no more is held than is read.
_PIECE = 1 << 20
_HELD = 4 << 20  # of a file that is longer, its first and last pieces are read and the rest is stepped over
_MOST = 1 << 30  # of what has no length (a pipe, /dev/zero) no more is awaited


class PasteError(Exception):
    """The text cannot be read; `reason` says why."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


def read_file(files: Files, path: str) -> Paste:
    """The text in a file or a pipe; raises `PasteError` where it cannot be read."""
    try:
        status = files.status(path)
        if stat.S_ISREG(status.st_mode) and status.st_size > _HELD:
            gathering = Gathering()
            gathering.add(files.read_part(path, 0, _PIECE))
            rest = _HELD - _PIECE
            gathering.skip(status.st_size - _HELD)
            gathering.add(files.read_part(path, status.st_size - rest, rest))
            return gathering.paste()
        return gathered(files.pieces(path, _PIECE))
    except OSError as error:
        raise PasteError(text("{path} could not be read: {words}", path=path, words=error.strerror or str(error))) from error


def gathered(pieces: Iterable[bytes]) -> Paste:
    """The text that comes in pieces."""
    gathering, taken = Gathering(), 0
    for piece in pieces:
        gathering.add(piece)
        taken += len(piece)
        if taken >= _MOST:
            break
    return gathering.paste()
