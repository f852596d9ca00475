"""What judging a machine or a text yields: problems with their evidence, what is fine, and what could not be told."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.past import MachineChange
from gpuassist.model.plan import Step
from gpuassist.model.text import Parameter, Parameters, Text


class Severity(str, Enum):
    """How much it matters: something does not work, something will bite, something is good to know."""

    PROBLEM = "problem"
    WARNING = "warning"
    INFO = "info"


class Evidence(Struct, frozen=True):
    """A fact that a verdict rests on, in words, with where it was read."""

    fact: Text
    value: Text
    source: str


class Finding(Struct, frozen=True):
    """A problem by its catalogue id, with the parameters of its sentences and the facts that prove it."""

    problem: str
    parameters: Parameters
    evidence: tuple[Evidence, ...]

    def parameter(self, name: str) -> Parameter:
        """A parameter's value; empty where the finding has none of that name."""
        return dict(self.parameters).get(name, "")


class Undetermined(Struct, frozen=True):
    """A problem that could be there: the fact that would tell, and why it is unknown."""

    problem: str
    fact: Text
    reason: Text


class Passed(Struct, frozen=True):
    """A check that was made and found nothing wrong, by its short name."""

    check: Text


class Diagnosis(Struct, frozen=True):
    """Everything that the rules say of one machine, most likely cause first."""

    findings: tuple[Finding, ...] = ()
    undetermined: tuple[Undetermined, ...] = ()
    passed: tuple[Passed, ...] = ()


class Action(str, Enum):
    """What kind of act a remedy or a step asks for."""

    NONE = "none"
    EDIT = "edit"
    COMMAND = "command"
    NEW_SHELL = "new-shell"
    REBOOT = "reboot"
    HARDWARE = "hardware"


class CommandUse(Struct, frozen=True):
    """A command by its key in the one list of commands, with its parameters, and the lines it renders to here."""

    key: str
    parameters: Parameters
    lines: tuple[str, ...]


class Remedy(Struct, frozen=True):
    """One way to mend a problem: what to do, the commands, and how to see that it worked.

    One that installs or removes a driver, a toolkit or torch is a plan: `goal` is what `gpuassist plan` calls it, `steps` are the
    plan's own, whose lines `commands` repeats, and `notes` what the plan says beside them; all three are empty for any other.
    """

    text: str
    commands: tuple[CommandUse, ...]
    needs_root: bool
    action: Action
    check: str
    goal: str = ""
    steps: tuple[Step, ...] = ()
    notes: tuple[Text, ...] = ()


class GuideLink(Struct, frozen=True):
    """A guide to read on in: its topic, which commands and pages take, and its title."""

    topic: str
    title: str


class Answer(Struct, frozen=True):
    """A finding in the words of the catalogue, in one language: what terminal, window and JSON show alike. `since` are the changes
    of this machine that it may come from.
    """

    id: str
    severity: Severity
    title: str
    explanation: str
    evidence: tuple[Evidence, ...]
    remedies: tuple[Remedy, ...]
    links: tuple[str, ...]
    guides: tuple[GuideLink, ...] = ()
    since: tuple[MachineChange, ...] = ()


class QuestionCase(Struct, frozen=True):
    """What the output of a command may be, and the problem that it then is; neither id nor title where it is none of the
    catalogue's.
    """

    shows: str
    problem: str
    title: str


class OpenQuestion(Struct, frozen=True):
    """What a text leaves open, in words: the causes that fit it, and the command lines whose output decides."""

    words: str
    asks: str
    commands: tuple[str, ...]
    cases: tuple[QuestionCase, ...]
