"""Verifying a torch: which environment, on which devices, in which surroundings, and what stands behind its failures."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import nullcontext

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.detect import environments
from gpuassist.diagnose.ranking import Rank
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, listed, text
from gpuassist.model.verdict import BAD, DeviceVerdict, Explained, Verdict, Verification, VerifiedInstances
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.session.broken_start import broken_by_path, is_python
from gpuassist.session.failed_checks import CheckFailure, answer_to, failed_on, failure_of, own_failures, start_failure, words_of
from gpuassist.session.holders import look
from gpuassist.session.images import answered, not_given, run_inside
from gpuassist.session.launchers import LauncherError
from gpuassist.system.disk import scratch
from gpuassist.system.ownership import own_cache
from gpuassist.system.terminal import own_terminal, that_matter
from gpuassist.system.world import World
from gpuassist.verify.containers import Place, place_of
from gpuassist.verify.protocol import OPTIONS, Device, Event, Refused
from gpuassist.verify.runner import Cancelled, Level, OnEvent, RunRequest, is_uuid, run

_PYTHONS = ("python", "python3")


class VerifyRequest(Struct, frozen=True):
    """Which interpreter, on which devices (`all`, or NVML's numbers, UUIDs and `cpu`), how thoroughly. Where a `terminal` is given,
    its variables count and not those that gpuassist itself was started with. `machine` is what is known of this one already.
    `inside` is an image or a container in place of an interpreter of this machine, `launcher` what starts ranks, or has started
    this process as one of them.
    """

    interpreter: str
    devices: tuple[str, ...] = ("all",)
    level: Level = Level.QUICK
    terminal: Terminal | None = None
    machine: Machine | None = None
    inside: Place | None = None
    launcher: tuple[str, ...] = ()


def image_request(words: str) -> VerifyRequest:
    """The request that `docker:IMAGE`, `podman:IMAGE`, `apptainer:FILE` or `container:NAME` is; raises `NoPlaceError`."""
    place = place_of(words)
    return VerifyRequest(place.label, inside=place)


class NoSuchDeviceError(LookupError):
    """A GPU that was asked for is not in this machine; `reason` says which are."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


def rests_on(machine: Machine, interpreter: str) -> tuple[object, ...]:
    """The facts that a verification rests on: when they change, what it came to may not hold any more."""
    environment = [one for one in value_or(machine.environments, ()) if value_or(one.interpreter, "") == interpreter]
    gpus = [(gpu.pci_address, gpu.uuid, gpu.mig_enabled) for gpu in value_or(machine.gpus, ())]
    terminal = machine.shell.new_terminal
    return environment, gpus, machine.driver, value_or(terminal, None)


def verify(session: Session, request: VerifyRequest, *, on_event: OnEvent, cancelled: Cancelled) -> Verification:
    """Runs the checks; whatever goes wrong is in the result. `on_event` is called on this thread for every event.

    Raises `NoSuchDeviceError` for a GPU that is not in this machine, and `LauncherError` for options that a launcher does not take.
    """
    variables = variables_of(session, request)
    gpus = value_or((request.machine or look(session)).gpus, ())
    devices = meant(request.devices, gpus)
    wish = RunRequest(request.interpreter, variables, devices, request.level, launcher=request.launcher)
    if request.inside is not None:
        return _verify_inside(session, request, wish, gpus, on_event=on_event, cancelled=cancelled)
    if request.launcher:
        on_event = _unless_refused(on_event)
    with scratch(own_cache(session.world)) if request.level is Level.FULL or request.launcher else nullcontext("") as directory:
        result = run(session.world, replace(wish, scratch=directory), on_event=on_event, cancelled=cancelled)
    result = judged(result, gpus, variables, wish.devices)
    if result.unverified is not None:
        return with_next_step(session, result, request.machine or look(session))
    if result.verdict is Verdict.ERROR and not (result.devices or result.cancelled or request.launcher):
        result = _not_started(session, result, variables, request.machine)
    if result.verdict not in BAD or result.explained:
        return result
    return explained(session, result, request.machine, chosen="CUDA_VISIBLE_DEVICES" in variables)


def with_next_step(session: Session, result: Verification, machine: Machine) -> Verification:
    """With what makes the GPUs testable that were left out."""
    failure = CheckFailure.HIDDEN if built_for_gpus(result) else CheckFailure.FOR_CPU
    words = ENGLISH(result.unverified) if result.unverified is not None else ""
    return replace(result, explained=(Explained(words, answer_to(session, machine, failure, result, words=words)),))


def _not_started(session: Session, result: Verification, variables: Mapping[str, str], machine: Machine | None) -> Verification:
    """With why torch was not even imported, where something else than torch is at fault."""
    world, words = session.world, ENGLISH(result.error) if result.error is not None else ""
    if result.environment and dict(result.environment).get("torch"):
        return result  # it was imported
    if not result.environment and not is_python(world, result.interpreter, variables):
        why = text("{path} is no Python interpreter; give the one of an environment, or its directory", path=result.interpreter)
        return replace(result, error=why, verdict=Verdict.SKIPPED)
    broken = broken_by_path(world, result.interpreter, variables)
    if broken is None:
        return result
    failure, about = CheckFailure.BROKEN_PATH, {"file": broken.file, "entry": broken.entry}
    answer = answer_to(session, machine or look(session), failure, result, words=words, **about)
    return replace(result, explained=(Explained(words, answer),))


def _unless_refused(on_event: OnEvent) -> OnEvent:
    """What a launcher does not take is a mistake of the command line, and no verdict."""

    def hear(event: Event) -> None:
        if isinstance(event, Refused) and event.stage == OPTIONS:
            raise LauncherError(text("torchrun does not take these options: {words}", words=event.error))
        on_event(event)

    return hear


def _verify_inside(
    session: Session, request: VerifyRequest, wish: RunRequest, gpus: tuple[Gpu, ...], *, on_event: OnEvent, cancelled: Cancelled
) -> Verification:
    assert request.inside is not None
    with_gpus = bool(gpus) and wish.devices != ("cpu",)
    ran = run_inside(session, request.inside, wish, with_gpus=with_gpus, on_event=on_event, cancelled=cancelled)
    if ran.impediment is not None:
        return answered(session, request.machine or detected(session), request.inside, ran)
    result = judged(ran.result, gpus, ran.variables, wish.devices)
    if result.verdict not in BAD:
        return result
    machine = request.machine or detected(session)
    lacking = not_given(session, machine, ran) if gpus else None
    if lacking is not None:
        return replace(result, explained=(lacking,))
    # Commands that name the interpreter are for a shell within the image.
    within = explained(session, replace(result, interpreter="python"), machine, chosen="CUDA_VISIBLE_DEVICES" in ran.variables)
    return replace(within, interpreter=result.interpreter)


def variables_of(session: Session, request: VerifyRequest) -> dict[str, str]:
    """The environment of the checks: the user's as it is."""
    variables = dict(session.world.surroundings.variables)
    if request.terminal is not None:
        for variable in that_matter(variables):
            del variables[variable.name]
        variables.update({variable.name: variable.value for variable in request.terminal.variables})
    return variables


def meant(devices: tuple[str, ...], gpus: tuple[Gpu, ...]) -> tuple[str, ...]:
    """The devices as the child is told of them: GPUs by UUID, which means the same everywhere and to everybody. Raises
    `NoSuchDeviceError`.
    """
    by_number = {str(gpu.index.value): gpu for gpu in gpus if isinstance(gpu.index, Known)}
    if not by_number:
        return devices  # NVML says nothing: torch's own numbers are all there is
    uuids = {uuid for gpu in gpus for uuid in _uuids(gpu)}
    meant = []
    for wish in devices:
        if wish.isdecimal():
            gpu = by_number.get(wish)
            meant.append(value_or(gpu.uuid, wish) if gpu is not None else "")
        else:
            named = [uuid for uuid in uuids if uuid.lower().startswith(wish.lower())] if is_uuid(wish) else [wish]
            meant.append(named[0] if len(named) == 1 else "")
        if not meant[-1]:
            there = listed(
                f"{gpu.index.value} ({value_or(gpu.name, '')}, {value_or(gpu.uuid, '')})"
                for gpu in gpus
                if isinstance(gpu.index, Known)
            )
            raise NoSuchDeviceError(text("{wish} is no GPU of this machine; it has {there}", wish=wish, there=there))
    return tuple(meant)


def judged(result: Verification, gpus: tuple[Gpu, ...], variables: Mapping[str, str], asked: tuple[str, ...]) -> Verification:
    """The result beside what the machine holds: which card each device is, and that a GPU which torch cannot start is no pass."""
    result = replace(result, devices=tuple(_identified(device, gpus, asked) for device in result.devices))
    result = replace(result, instances=tuple(_partly_verified(result, gpus)))
    if result.visible and not set(asked) <= {"all", "cuda"}:
        seen = {device.uuid for device in result.alone} - {""}
        rest = (gpu.index for gpu in gpus if seen and not _uuids(gpu) & seen)
        result = replace(result, not_asked=tuple(index.value for index in rest if isinstance(index, Known)))
    if result.verdict is not Verdict.PASS or "cpu" in asked or result.visible:
        return result
    hidden = variables.get("CUDA_VISIBLE_DEVICES")
    if not built_for_gpus(result):
        if not gpus:
            return result
        why = text("this torch is built for the CPU alone, and this machine has a GPU")
        return replace(result, verdict=Verdict.SKIPPED, unverified=why)
    if hidden is not None and _NONE_VISIBLE in result.no_accelerator:
        why = text("CUDA_VISIBLE_DEVICES={value} hides every GPU", value=hidden or "''")
        return replace(result, verdict=Verdict.SKIPPED, unverified=why)
    nothing_there = not gpus and any(words in result.no_accelerator for words in _NO_GPU_HERE)
    return result if nothing_there else replace(result, verdict=Verdict.ERROR)


def _partly_verified(result: Verification, gpus: tuple[Gpu, ...]) -> Iterator[VerifiedInstances]:
    """The divided GPUs of which a device was verified, and some instance was not."""
    passed = {device.uuid for device in result.alone if device.verdict is Verdict.PASS} - {""}
    for gpu in gpus:
        instances = value_or(gpu.mig_uuids, ()) if gpu.mig_enabled.is_true else ()
        # A torch that does not tell the instance's name has it by its GPU's.
        verified = len(passed & set(instances)) or int(value_or(gpu.uuid, "") in passed)
        if 0 < verified < len(instances) and isinstance(gpu.index, Known):
            yield VerifiedInstances(gpu.index.value, verified, len(instances))


def _uuids(gpu: Gpu) -> set[str]:
    """Its own, and those of its parts."""
    return {value_or(gpu.uuid, ""), *value_or(gpu.mig_uuids, ())} - {""}


def built_for_gpus(result: Verification) -> bool:
    """Whether the torch that was verified can use a GPU at all."""
    return any(name in {"cuda", "hip"} and version for name, version in result.environment)


_NONE_VISIBLE = "No CUDA GPUs are available"
# What torch says on a machine without a GPU, or without its driver; whatever else it says, a driver is there and broken.
_NO_GPU_HERE = (_NONE_VISIBLE, "Found no NVIDIA driver", "no CUDA-capable device is detected", "torch sees no GPU")


def _identified(device: DeviceVerdict, gpus: tuple[Gpu, ...], asked: tuple[str, ...]) -> DeviceVerdict:
    """With NVML's number and the PCI address of the card; several devices together are no card."""
    if device.members:
        return device
    uuid, gpu = card_of(device, gpus, asked)
    if gpu is None:
        return replace(device, uuid=uuid)
    return replace(device, uuid=uuid, pci=device.pci or value_or(gpu.pci_address, ""), index=gpu.index)


def card_of(device: Device | DeviceVerdict, gpus: tuple[Gpu, ...], asked: tuple[str, ...]) -> tuple[str, Gpu | None]:
    """The UUID of a device and the card that it is or is a part of, where they are known; `asked` is what was to be verified."""
    uuid = device.uuid
    number = device.device.partition(":")[2]
    place = int(number) if number.isdecimal() else 0
    if not uuid and place < len(asked) and device.device != "cpu" and all(is_uuid(one) or one.isdecimal() for one in asked):
        wish = asked[place]  # CUDA shows them in the order of the list
        by_number = (value_or(gpu.uuid, "") for gpu in gpus if isinstance(gpu.index, Known) and str(gpu.index.value) == wish)
        uuid = wish if is_uuid(wish) else next(by_number, "")
    cards = (gpu for gpu in gpus if uuid in _uuids(gpu))
    return uuid, next(cards, None)


def explained(session: Session, result: Verification, machine: Machine | None, *, chosen: bool = False) -> Verification:
    """With an answer to each failure that gpuassist knows, judged beside this machine and the torch that was tried; `chosen`
    where a variable chooses among its GPUs.
    """
    from gpuassist.session.explain import explain

    here = _with_this_torch(machine or detected(session), result)
    of_checks = dict(own_failures(result))
    found: dict[str, Explained] = {}
    for words in (*failures(result), *of_checks):
        if words in found:
            continue
        verdict = of_checks.get(words)
        explanation = explain(session, words, _with_its_cards(here, result, words)) if verdict in (None, Verdict.ERROR) else None
        known = explanation.answers[0] if explanation is not None and explanation.convicts else None
        proved = explanation is not None and explanation.rank in {Rank.PROVED, Rank.SAID_AND_PROVED}
        failure = failure_of(result, words, verdict, known, proved=proved) if verdict is not None else None
        if failure is None:
            asking = explanation is not None and explanation.question is not None
            program = known is not None and known.id == "cuda-visible-devices-bad" and not chosen
            failure = start_failure(result, words, undecided=asking or program)
        answer = answer_to(session, here, failure, result, words=words) if failure is not None else known
        if answer is not None:
            found[words] = Explained(words, answer)
    return replace(result, explained=tuple(found.values()))


def detected(session: Session) -> Machine:
    """This machine, looked at whole."""
    from gpuassist.detect.machine import detect

    return detect(session.world, session.knowledge)


def failures(result: Verification) -> tuple[str, ...]:
    """The words of all that went wrong, each once: torch's own where it said any."""
    told = [result.no_accelerator] if result.verdict in BAD else []
    told += [ENGLISH(result.error)] if result.error is not None and not result.devices else []
    told += [words_of(check) for device in result.devices for check in device.checks if check.verdict is Verdict.ERROR]
    return tuple(dict.fromkeys(words for words in told if words))


def _with_this_torch(machine: Machine, result: Verification) -> Machine:
    """The machine with no environment but the one that was tried: its torch is the one that failed."""
    there = tuple(one for one in value_or(machine.environments, ()) if value_or(one.interpreter, "") == result.interpreter)
    told = dict(result.environment)
    if not there and told.get("torch"):
        cuda = Known(Version.parse(told["cuda"]), "torch") if told.get("cuda") else NOT_ASKED
        torch = Torch("", version=Known(told["torch"], "torch"), cuda=cuda)
        there = (PythonEnvironment("", "", interpreter=Known(result.interpreter, "verify"), torch=Known((torch,), "torch")),)
    return replace(machine, environments=Known(there, "verify")) if there else machine


def _with_its_cards(machine: Machine, result: Verification, words: str) -> Machine:
    """The machine with no other GPUs than those on which a check failed with these words."""
    failed = failed_on(result, words)
    its = {one.uuid for one in failed}
    gpus = tuple(gpu for gpu in value_or(machine.gpus, ()) if _uuids(gpu) & its)
    return replace(machine, gpus=Known(gpus, "verify")) if gpus and all(one.uuid for one in failed) else machine


def interpreter_at(world: World, path: str) -> Fact[str]:
    """The interpreter that a user means by a path: the file itself, or that of the environment in a directory."""
    place = os.path.abspath(path)
    if not world.files.is_directory(place):
        found = [place] if world.files.is_file(place) else []
    else:
        found = [one for name in _PYTHONS if world.files.is_file(one := f"{place}/bin/{name}")]
        found += [one for name in _PYTHONS if world.files.is_file(one := f"{place}/{name}")]
    return Known(found[0], path) if found else Unknown(text("there is no Python interpreter at {path}", path=path))


def find_environments(session: Session) -> Fact[tuple[PythonEnvironment, ...]]:
    """The environments of this machine as its files describe them, without asking a shell."""
    return environments.probe(session.world, own_terminal(session.world))


def choose(found: Fact[tuple[PythonEnvironment, ...]]) -> Fact[PythonEnvironment]:
    """The environment to verify unless the user says which: the active one that has a torch, else the first with a GPU's torch."""
    if isinstance(found, Unknown):
        return found
    usable = [one for one in found.value if value_or(one.torch, ()) and isinstance(one.interpreter, Known)]
    if not usable:
        return Unknown(text("no Python environment with torch was found; name one with --python"))
    return Known(min(usable, key=_rank), found.source)


def _rank(environment: PythonEnvironment) -> tuple[bool, bool]:
    accelerators = [torch.accelerator for torch in value_or(environment.torch, ())]
    for_cpu = all(isinstance(one, Known) and one.value is Accelerator.CPU for one in accelerators)
    return not environment.active.is_true, for_cpu
