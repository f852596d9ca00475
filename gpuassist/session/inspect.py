"""A machine read, judged and answered, live or recorded: what the window and `doctor` show."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.detect.recording import RecordingError, read_recording
from gpuassist.diagnose.catalogue import Catalogue, Planner
from gpuassist.diagnose.chain import chains
from gpuassist.diagnose.judge import judge
from gpuassist.install.drivers.packages import surroundings_of
from gpuassist.knowledge.families import families_of
from gpuassist.model.chain import Chain
from gpuassist.model.codec import DecodeError
from gpuassist.model.finding import Answer, Diagnosis, Finding, Severity
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.machine import Machine, decode_machine
from gpuassist.model.text import Text, sentence, text
from gpuassist.session.remedies import PlannedRemedies

_EXAMPLES = "machines"
_ENDING = ".json"
_WORST_FIRST = tuple(Severity)


class Inspection(Struct, frozen=True):
    """A machine, what the rules say of it, and that in the user's words; `title` is a recording's, empty for the live machine;
    `host` is the name by which ssh reaches the machine, empty for any other. One of a host is as a recorded one but for that.
    """

    machine: Machine
    diagnosis: Diagnosis
    answers: tuple[Answer, ...]
    chains: tuple[Chain, ...]
    seconds: float
    recorded: bool
    title: str
    host: str = ""

    @property
    def convicts(self) -> bool:
        """Whether something does not work, or will bite."""
        return any(answer.severity is not Severity.INFO for answer in self.answers)


class Example(Struct, frozen=True):
    """A machine that ships with gpuassist."""

    name: str
    title: Text


def ignore(section: Text) -> None:
    """For who does not want to know how far it is."""


def inspect(session: Session, *, on_progress: Callable[[Text], None] = ignore) -> Inspection:
    """The live machine; `on_progress` gets the name of each section once it was looked at."""
    from gpuassist.detect.machine import detect  # a recording needs no probe, and their code is a fifth of a start

    began = session.world.clock.monotonic()
    machine = detect(session.world, session.knowledge, lambda progress: on_progress(progress.section))
    return _judged(session, machine, began, recorded=False)


def open_recording(session: Session, path: str) -> Inspection:
    """The machine in a file; raises `RecordingError` where it holds none."""
    began = session.world.clock.monotonic()
    return _judged(session, read_recording(session.world.files, path), began, recorded=True)


def inspection_of(session: Session, machine: Machine, *, host: str = "") -> Inspection:
    """A machine that is at hand, as a recording is judged; `host` is where it was read over SSH."""
    found = _judged(session, machine, 0.0, recorded=True)
    return replace(found, host=host, title="") if host else found


def examples(session: Session) -> tuple[Example, ...]:
    """The machines that ship with gpuassist; one that has no title goes by its name."""
    names = [name.removesuffix(_ENDING) for name in session.world.resources.names(_EXAMPLES, _ENDING)]
    return tuple(Example(name, sentence(_note(session, name) or name)) for name in names)


def open_example(session: Session, name: str) -> Inspection:
    """A machine that ships with gpuassist; raises `RecordingError` where there is none of that name."""
    began = session.world.clock.monotonic()
    try:
        machine = decode_machine(read_json(session.world.resources.read(_example(name))))
    except OSError as error:
        raise RecordingError(text("gpuassist has no example named {name}", name=name)) from error
    except DecodeError as error:
        raise RecordingError(text("{path}: {reason}", path=name, reason=error.reason)) from error
    except NotJsonError as error:
        raise RecordingError(text("{path} is not a JSON document", path=name)) from error
    return _judged(session, machine, began, recorded=True)


def in_other_words(session: Session, read: Inspection) -> Inspection:
    """What was found before, in the words of this session."""
    title = _title(session, read.machine) if read.recorded and not read.host else ""
    return replace(read, answers=answers_of(session, read.machine, read.diagnosis), title=title)


def answers_of(session: Session, machine: Machine, diagnosis: Diagnosis) -> tuple[Answer, ...]:
    """Every finding in the user's words: the most severe first, among equals in the order of the rules, cause before effect."""
    answers = in_words(session, machine, diagnosis.findings)
    return tuple(sorted(answers, key=lambda answer: _WORST_FIRST.index(answer.severity)))


def in_words(
    session: Session,
    machine: Machine,
    findings: tuple[Finding, ...],
    planner: Planner | None = None,
    *,
    setting: Mapping[str, str] | None = None,
) -> tuple[Answer, ...]:
    """The findings in the user's words and in their own order; `planner` makes their plans, where some were made already, and
    `setting` is what a text is about, whose names go into commands only as far as they are known.
    """
    named = session.knowledge.python_package if setting is not None else None
    catalogue = Catalogue(session.world.resources.read, session.knowledge.commands, named)
    planner = planner or PlannedRemedies(session, machine)
    return tuple(
        catalogue.answer(
            one,
            families=families_of(machine),
            words=session.words,
            surroundings={**surroundings_of(machine), **(setting or {})},
            planner=planner,
        )
        for one in findings
    )


def _judged(session: Session, machine: Machine, began: float, *, recorded: bool) -> Inspection:
    diagnosis = judge(machine, session.knowledge)
    return Inspection(
        machine=machine,
        diagnosis=diagnosis,
        answers=answers_of(session, machine, diagnosis),
        chains=chains(machine, session.knowledge),
        # How fast a recording is judged says nothing of the machine that it shows.
        seconds=0.0 if recorded else session.world.clock.monotonic() - began,
        recorded=recorded,
        title=_title(session, machine) if recorded else "",
    )


def _title(session: Session, machine: Machine) -> str:
    """What a recording is called; the examples' are messages, what people call their own is a message in no language."""
    return session.words(sentence(machine.note)) if machine.note else ""


def _note(session: Session, name: str) -> str:
    try:
        document = read_json(session.world.resources.read(_example(name)))
    except NotJsonError:
        return ""
    note = document.get("note") if isinstance(document, dict) else None
    return note if isinstance(note, str) else ""


def _example(name: str) -> str:
    return f"{_EXAMPLES}/{name}{_ENDING}"
