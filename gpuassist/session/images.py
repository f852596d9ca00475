"""Verifying in an image or a container: which engine runs it, the GPUs passed in a way that it knows, and what stood in the way."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.diagnose.catalogue import Catalogue
from gpuassist.diagnose.catalogue_entry import entries_in
from gpuassist.knowledge.families import families_of
from gpuassist.model.finding import Answer, Finding
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.text import verbatim
from gpuassist.model.verdict import Explained, Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.system.own_child import clean
from gpuassist.system.ownership import on_path, why_not_run
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.verify.containers import CONTAINER, PROGRAMS, Engine, Inside, Passing, Place, passings
from gpuassist.verify.protocol import NO_INTERPRETER, NO_TORCH, Event, Started
from gpuassist.verify.runner import Cancelled, OnEvent, RunRequest, is_uuid, run

_ASK_SECONDS = 20.0  # a service that systemd starts when it is asked takes seconds
_WORDS_LINES = 3


class Failure(str, Enum):
    """What stands in the way: an entry of `resources/containers.toml`, whose id programs are told."""

    NO_ENGINE = "engine-missing"
    NOT_RUN = "engine-not-run"
    NOT_PERMITTED = "engine-not-permitted"
    NO_DAEMON = "engine-not-running"
    TOO_OLD = "engine-too-old"
    NO_IMAGE = "image-missing"
    WRONG_NAME = "image-name-invalid"
    NO_FILE = "image-file-missing"
    NOT_IMAGE = "image-file-invalid"
    OTHER_PROCESSOR = "image-other-architecture"
    NO_SHELL = "image-without-shell"
    NO_PYTHON = "image-without-python"
    NO_TORCH = "image-without-torch"
    NO_CONTAINER = "container-missing"
    STOPPED = "container-not-running"
    SELINUX = "container-selinux"
    APPARMOR = "container-apparmor"
    LIMITS = "container-limits"
    CGROUPS = "container-cgroups"
    NAMESPACES = "container-user-namespaces"
    NO_ROOM = "container-no-space"
    NOT_STARTED = "container-not-started"


# In the words of docker 20 to 29, podman 4 and 5 with crun and runc, apptainer 1.4 and Singularity 3; the first that fits is it.
_SAID = {
    Failure.NOT_PERMITTED: lazy_regex(r"(?i)permission denied while trying to connect to the docker (?:daemon|api)"),
    Failure.NO_DAEMON: lazy_regex(
        r"(?i)cannot connect to (?:the docker daemon|podman)|error during connect|failed to connect to the docker api"
        r"|is the docker daemon running"
    ),
    Failure.TOO_OLD: lazy_regex(r"unknown (?:shorthand )?(?:flag|option):? '?-{1,2}\w"),
    Failure.NO_IMAGE: lazy_regex(r"(?i)no such image|image not known|unable to find image"),
    Failure.WRONG_NAME: lazy_regex(r"invalid reference format"),
    Failure.OTHER_PROCESSOR: lazy_regex(r"(?i)exec format error"),
    Failure.NO_SHELL: lazy_regex(r"[\"`']sh[\"`']:? (?:executable file )?not found"),
    Failure.NO_CONTAINER: lazy_regex(r"(?i)no such container"),
    Failure.STOPPED: lazy_regex(r"(?i)container \S{1,200} is not running|container state improper"),
    Failure.NO_FILE: lazy_regex(r"could not open image [^\n]{1,900}no such file"),
    Failure.NOT_IMAGE: lazy_regex(r"image format not recognized|failed to find primary partition"),
    Failure.APPARMOR: lazy_regex(r"(?i)apparmor"),
    Failure.SELINUX: lazy_regex(
        r"(?i)selinux|cannot apply additional memory protection|lsetxattr[^\n]{1,300}(?:not permitted|denied)"
    ),
    Failure.LIMITS: lazy_regex(r"setting rlimit|setrlimit"),
    Failure.NAMESPACES: lazy_regex(r"(?i)user namespace|newuidmap|newgidmap|\bsub[ug]ids?\b|cannot clone: "),
    Failure.CGROUPS: lazy_regex(r"(?i)cgroup|sd-bus call"),
    Failure.NO_ROOM: lazy_regex(r"(?i)no space left on device"),
}
# An engine that cannot pass GPUs names what it lacks for that, whatever else it says.
_ABOUT_GPUS = lazy_regex(r"(?i)nvidia|\bcdi\b|\[\[gpu\]\]|--gpus")
_SAYS_NOTHING = lazy_regex(r"(?i)^(?:run|see) '|^(?:warning|info) *:|^time=\S+ level=warn|^$")
_COLOUR = lazy_regex(r"\x1b\[[\d;]{0,10}m")
_NOT_GIVEN = ("Found no NVIDIA driver", "No CUDA GPUs are available", "no CUDA-capable device is detected", "torch sees no GPU")


class Impediment(Struct, frozen=True):
    """Why nothing could be verified there; `words` are the engine's own. `failure` is none where GPUs could not be passed."""

    failure: Failure | None
    engine: Engine
    words: str = ""


class InsideRun(Struct, frozen=True):
    """What came of it: the result, what stood in the way, and the variables that torch had there as far as they matter."""

    result: Verification
    engine: Engine
    impediment: Impediment | None = None
    variables: Mapping[str, str] = {}


def run_inside(
    session: Session, place: Place, wish: RunRequest, *, with_gpus: bool, on_event: OnEvent, cancelled: Cancelled
) -> InsideRun:
    """One run there. With GPUs each way of passing them is tried that the engine may know, until one is not refused."""
    place = replace(place, name=os.path.abspath(place.name)) if place.kind == Engine.APPTAINER.value else place
    blank = Verification(wish.interpreter, (), (), image=wish.interpreter)
    found = _engine(session, place, wish.variables)
    if isinstance(found, Impediment):
        return InsideRun(blank, found.engine, found)
    engine, program = found
    chosen = wish.devices if all(is_uuid(device) for device in wish.devices) else ()
    refused: InsideRun | None = None
    for passing in passings(engine, place, wanted=with_gpus):
        inside = Inside(engine, program, place, passing, chosen)
        ran = _run(session, replace(wish, inside=inside), on_event=on_event, cancelled=cancelled)
        if ran.impediment is None or ran.impediment.failure is not None:
            return ran
        refused = refused or ran  # what the first way lacks is what is usual
    assert refused is not None
    return refused


def _run(session: Session, wish: RunRequest, *, on_event: OnEvent, cancelled: Cancelled) -> InsideRun:
    assert wish.inside is not None
    heard: list[Event] = []

    def hear(event: Event) -> None:
        if len(heard) < 2:
            heard.append(event)
        on_event(event)

    result = run(session.world, wish, on_event=hear, cancelled=cancelled)
    engine = wish.inside.engine
    started = next((event for event in heard if isinstance(event, Started)), None)
    told = started.visible_devices if started is not None else None
    variables = {} if told is None else {"CUDA_VISIBLE_DEVICES": told}
    refused = ENGLISH(result.error) if result.error is not None and heard and not result.devices else ""
    if refused.startswith((NO_TORCH, NO_INTERPRETER)):
        failure = Failure.NO_TORCH if refused.startswith(NO_TORCH) else Failure.NO_PYTHON
        return InsideRun(result, engine, Impediment(failure, engine, refused), variables)
    if heard or result.cancelled or result.verdict is Verdict.HUNG:
        return InsideRun(result, engine, None, variables)
    words = _own_words(result.output) or refused or (ENGLISH(result.error) if result.error is not None else "")
    return InsideRun(result, engine, Impediment(_failure_in(words, wish.inside), engine, words))


def _failure_in(words: str, inside: Inside) -> Failure | None:
    """What the engine says of itself; none where it is the GPUs that it cannot pass."""
    if inside.passing not in (Passing.NONE, Passing.THERE) and _ABOUT_GPUS.search(words) and not _names(words, inside.place):
        return None
    return next((failure for failure, said in _SAID.items() if said.search(words)), Failure.NOT_STARTED)


def _names(words: str, place: Place) -> bool:
    """Whether only the name of the image speaks of a GPU: nvcr.io/nvidia/pytorch."""
    return not _ABOUT_GPUS.search(words.replace(place.name, ""))


def _own_words(output: str) -> str:
    """The lines in which an engine says why, without hints, colours and warnings."""
    lines = [_COLOUR.sub("", line).strip() for line in output.splitlines()]
    return "\n".join([line for line in lines if not _SAYS_NOTHING.search(line)][-_WORDS_LINES:])


def _engine(session: Session, place: Place, variables: Mapping[str, str]) -> tuple[Engine, str] | Impediment:
    """The engine that has it, and its program."""
    world = session.world
    missing = Impediment(Failure.NO_ENGINE, place.engines[0])
    for engine in place.engines:
        program = next((path for name in PROGRAMS[engine] if (path := on_path(world, name)) and path.startswith("/")), None)
        if program is None:
            continue
        why_not = why_not_run(world, (program,))
        if why_not is not None:
            missing = Impediment(Failure.NOT_RUN, engine, session.words(why_not))
        elif engine is Engine.APPTAINER and not world.files.exists(place.name):
            return Impediment(Failure.NO_FILE, engine, place.name)
        elif place.kind != CONTAINER:
            return engine, program
        else:
            asked = (program, "container", "inspect", "--format", "{{.State.Running}}", place.name)
            answer = world.processes.run(asked, seconds=_ASK_SECONDS, environment=clean(variables))
            if answer.text.strip() == "true":
                return engine, program
            missing = _worse(missing, _of_container(answer, engine))
    return missing


def _of_container(answer: ProcessResult, engine: Engine) -> Impediment:
    if answer.text.strip() == "false":
        return Impediment(Failure.STOPPED, engine)
    words = _own_words(answer.stderr.decode("utf-8", "replace"))
    if answer.ending is not Ending.EXITED:
        return Impediment(Failure.NO_DAEMON, engine, words)
    return Impediment(next((failure for failure, said in _SAID.items() if said.search(words)), Failure.NOT_STARTED), engine, words)


def _worse(one: Impediment, other: Impediment) -> Impediment:
    """What to say where two engines have no such container: that it is stopped before that it cannot be asked for."""
    order = (Failure.STOPPED, Failure.NOT_PERMITTED, Failure.NO_CONTAINER)
    if one.failure is Failure.NO_ENGINE:
        return other
    return min(one, other, key=lambda impediment: order.index(impediment.failure) if impediment.failure in order else len(order))


# In words.


def answered(session: Session, machine: Machine, place: Place, ran: InsideRun) -> Verification:
    """The result of a run that did not come to torch, with the cause and what to do. Only GPUs that cannot be passed are a fault of
    the GPU set-up; of anything else nothing was proved either way.
    """
    from gpuassist.session.explain import explain

    impediment = ran.impediment
    assert impediment is not None
    words, failure = impediment.words, impediment.failure
    verdict = Verdict.SKIPPED
    if failure is None:
        verdict, explanation = Verdict.ERROR, explain(session, words, machine)
        answer = explanation.answers[0] if explanation.convicts else None
    else:
        answer = None
    answer = answer or _written(session, machine, place, impediment)
    error = verbatim(words or answer.title)
    return replace(ran.result, error=error, verdict=verdict, explained=(Explained(ENGLISH(error), answer),))


def _written(session: Session, machine: Machine, place: Place, impediment: Impediment) -> Answer:
    failure = impediment.failure or Failure.NOT_STARTED
    entry = entries_in(session.world.resources.read("containers.toml"))[failure.value]
    parameters = (("engine", impediment.engine.value), ("image", place.name), ("kind", place.kind), ("words", impediment.words))
    catalogue = Catalogue(session.world.resources.read, session.knowledge.commands)
    return catalogue.written(Finding(failure.value, parameters, ()), entry, families=families_of(machine), words=session.words)


def not_given(session: Session, machine: Machine, ran: InsideRun) -> Explained | None:
    """That a container was started without the GPUs of this machine, where that is why torch finds none in it."""
    words = ran.result.no_accelerator
    if not any(said in words for said in _NOT_GIVEN):
        return None
    from gpuassist.session.inspect import in_words

    (answer,) = in_words(session, machine, (Finding("container-no-gpu-flag", (("container", ran.engine.value),), ()),))
    return Explained(words, answer)
