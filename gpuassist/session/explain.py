"""A pasted text explained: what it shows, joined with the facts in it and those of the machine, the most likely cause first."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gpuassist.diagnose.case import Case
from gpuassist.diagnose.judge import judge
from gpuassist.diagnose.recognise import recognise
from gpuassist.diagnose.signature import Setting
from gpuassist.diagnose.weigh import weigh
from gpuassist.formats.paste import read_paste
from gpuassist.model.finding import Answer, Undetermined
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.text import Text, text
from gpuassist.session.context import Session
from gpuassist.session.inspect import in_words
from gpuassist.session.listing import Section, sections


class Ground(str, Enum):
    """Which facts the answer rests on beside the words of the text."""

    TEXT_ALONE = "text"
    JOINED = "text and machine"
    OTHER_MACHINE = "text of another machine"


@dataclass(frozen=True, slots=True)
class Basis:
    """The ground of an answer, and why it is that one."""

    ground: Ground
    reason: Text


@dataclass(frozen=True, slots=True)
class Doubt:
    """An answer that the text could mean as well, and why it is less likely."""

    answer: Answer
    reason: Text


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is to be said of a text. `answers`: most likely cause first; `known` is false for a text that shows nothing that
    gpuassist knows; `machine` holds the facts that were read in the text alone.
    """

    paste: Paste
    machine: Machine
    answers: tuple[Answer, ...]
    less_likely: tuple[Doubt, ...]
    undetermined: tuple[Undetermined, ...]
    facts_read: tuple[Section, ...]
    basis: Basis
    known: bool


def explain(session: Session, data: bytes | str, machine: Machine | None = None) -> Explanation:
    """Explains a text; `machine` is the one that it may come from, None for the text alone."""
    paste = read_paste(data)
    told = Machine()
    case = Case(told, session.knowledge)
    setting = Setting(paste, case)
    diagnosis = judge(told, session.knowledge)
    explained = weigh(recognise(setting), diagnosis, diagnosis)
    return Explanation(
        paste=paste,
        machine=told,
        answers=in_words(session, told, explained.findings),
        less_likely=tuple(
            Doubt(answer, one.reason) for one in explained.less_likely for answer in in_words(session, told, (one.finding,))
        ),
        undetermined=explained.undetermined,
        facts_read=_facts(told),
        basis=Basis(Ground.TEXT_ALONE, text("The answer rests on the text alone.")),
        known=bool(explained.findings),
    )


def _facts(machine: Machine) -> tuple[Section, ...]:
    """What was read, and nothing of what was not."""
    read = (Section(one.title, tuple(line for line in one.lines if line.known)) for one in sections(machine))
    return tuple(one for one in read if one.lines)
