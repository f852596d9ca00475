"""Whether a step did what it should: asked of the machine anew, whatever the step's programs said of themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from msgspec import Struct

from gpuassist.changes.proof import prove_toolkit
from gpuassist.context import Session
from gpuassist.detect import driver, modules_on_disk, nvml
from gpuassist.detect.compiler_driver import ask_version
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.json_reader import read_json
from gpuassist.model.plan import OPEN_MODULES, Proves, StepProof
from gpuassist.model.text import Text, listed, text
from gpuassist.model.version import Version, VersionError
from gpuassist.system.own_child import clean
from gpuassist.system.ownership import why_not_run
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.verify.kernel import KernelWish, check_kernel, inside_conda

_TORCH_SECONDS = 120.0  # the first import of a CUDA build from a slow disk
_PYTHON_SECONDS = 20.0
_ASK_PYTHON = "import sys; print('%d.%d.%d' % sys.version_info[:3])"
# Asked of torch.version, which a build fills in when it is made.
_ASK_TORCH = "import json, torch, torch.version as v; print(json.dumps([v.__version__, getattr(v, 'cuda', None)]))"


class Holds(str, Enum):
    """Whether what a step should have done is so."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Proved(Struct, frozen=True):
    """Whether it holds, and what was seen."""

    holds: Holds
    words: Text


def prove_step(session: Session, proof: StepProof) -> Proved:
    return _ASK[proof.proves](session, proof)


def _torch(session: Session, proof: StepProof) -> Proved:
    python = proof.place
    outcome = _python(session, python, ("-c", _ASK_TORCH), _TORCH_SECONDS)
    if outcome.ending is Ending.TIMED_OUT:
        return Proved(
            Holds.UNKNOWN, text("{python} did not import torch within {seconds:.0f} s", python=python, seconds=outcome.seconds)
        )
    if outcome.ending is not Ending.EXITED:
        return Proved(Holds.NO, text("{python} could not be started: {words}", python=python, words=_last(outcome)))
    said = _said(outcome)
    if said is None:
        return Proved(Holds.NO, text("{python} cannot import torch: {words}", python=python, words=_last(outcome)))
    version, cuda = said
    named = version if "+" in proof.wanted else version.partition("+")[0]  # a wish without a build means any
    if proof.wanted and proof.wanted not in {version, named}:
        words = text("{python} imports torch {version}, not {wanted}", python=python, version=version, wanted=proof.wanted)
        return Proved(Holds.NO, words)
    if cuda:
        return Proved(
            Holds.YES,
            text("{python} imports torch {version}, built for CUDA {cuda}", python=python, version=version, cuda=cuda),
        )
    return Proved(Holds.YES, text("{python} imports torch {version}", python=python, version=version))


def _said(outcome: ProcessResult) -> tuple[str, str] | None:
    try:
        version, cuda = read_json(outcome.text.strip().rpartition("\n")[2])  # packages print while they are imported
    except (ValueError, TypeError):  # or after it, whatever they like
        return None
    return str(version), str(cuda or "")


def _nvcc(session: Session, proof: StepProof) -> Proved:
    version = ask_version(session.world, proof.place)
    if isinstance(version, Unknown):
        return Proved(Holds.NO, version.reason)
    found = str(version.value)
    if not _is_version(found, proof.wanted):
        return Proved(
            Holds.NO, text("{path} is nvcc {version}, not {wanted}", path=proof.place, version=found, wanted=proof.wanted)
        )
    return _links(session, proof.place, found)


# What nvcc and shells say of a host compiler that is not there, or that nvcc refuses: another step, or the user, brings one.
_HOST_COMPILER = (
    "host compiler",
    "unsupported gnu version",
    "unsupported clang version",
    "could not find compiler",
    "g++: not found",
)


def _links(session: Session, nvcc: str, version: str) -> Proved:
    """Whether the toolkit makes a program: that its nvcc is there says nothing of its headers and libraries. A host compiler is no
    part of it.
    """
    environment = clean(session.world.surroundings.variables)
    environment |= inside_conda(session.world, nvcc, environment.get("PATH", ""))
    check = check_kernel(session.world, KernelWish(nvcc, "", environment))
    words = {"path": nvcc, "version": version}
    if check.passed:
        return Proved(Holds.YES, text("{path} is nvcc {version}, and compiles and links a kernel", **words))
    if any(sign in check.said.lower() for sign in _HOST_COMPILER):
        words["reason"] = check.said.splitlines()[0][:300]
        told = text("{path} is nvcc {version}; it has no host compiler that it accepts yet ({reason})", **words)
        return Proved(Holds.UNKNOWN, told)
    return Proved(Holds.NO, text("{path} is nvcc {version}, but no kernel: {reason}", reason=check.words, **words))


def _new_terminal(session: Session, proof: StepProof) -> Proved:
    found = prove_toolkit(session.world, proof.place)
    if isinstance(found.holds, Unknown):
        return Proved(Holds.UNKNOWN, found.words)
    return Proved(Holds.YES if found.holds.value else Holds.NO, found.words)


def _driver(session: Session, proof: StepProof) -> Proved:
    loaded = driver.probe(session.world).loaded
    if isinstance(loaded, Unknown):
        return Proved(Holds.UNKNOWN, loaded.reason)
    if not loaded.value:
        return Proved(Holds.NO, text("no NVIDIA kernel module is loaded"))
    version = loaded.value[0].version
    if isinstance(version, Unknown):
        return Proved(Holds.UNKNOWN, version.reason)
    found = str(version.value)
    if not _is_version(found, proof.wanted):
        return Proved(Holds.NO, text("driver {version} is loaded, not {wanted}", version=found, wanted=proof.wanted))
    flavour = loaded.value[0].open_flavour
    if proof.place == OPEN_MODULES and isinstance(flavour, Known) and not flavour.value:
        return Proved(Holds.NO, text("driver {version} is loaded with its proprietary kernel module", version=found))
    return Proved(Holds.YES, text("driver {version} is loaded", version=found))


def _environment(session: Session, proof: StepProof) -> Proved:
    path = proof.place
    outcome = _python(session, f"{path}/bin/python", ("-c", _ASK_PYTHON), _PYTHON_SECONDS)
    if not outcome.succeeded:
        return Proved(Holds.NO, text("there is no environment that works at {path}: {words}", path=path, words=_last(outcome)))
    found = outcome.text.strip().rpartition("\n")[2]
    if not _is_version(found, proof.wanted):
        words = text("the environment at {path} has Python {version}, not {wanted}", path=path, version=found, wanted=proof.wanted)
        return Proved(Holds.NO, words)
    return Proved(Holds.YES, text("the environment at {path} has Python {version}", path=path, version=found))


def _absent(session: Session, proof: StepProof) -> Proved:
    if session.world.disk.exists(proof.place):
        return Proved(Holds.NO, text("{path} is still there", path=proof.place))
    return Proved(Holds.YES, text("{path} is gone", path=proof.place))


def _fabric(session: Session, proof: StepProof) -> Proved:
    gpus = nvml.probe(session.world, Known((), "NVML")).gpus
    if isinstance(gpus, Unknown):
        return Proved(Holds.UNKNOWN, gpus.reason)
    states = {value_or(one.fabric, "") for one in gpus.value}
    if not states or "" in states:
        return Proved(Holds.UNKNOWN, text("the driver does not tell how far the GPUs are registered with the NVSwitches"))
    if states != {"completed"}:
        words = listed(sorted(states - {"completed"}))
        return Proved(Holds.NO, text("the GPUs are not registered with the NVSwitches: {states}", states=words))
    return Proved(Holds.YES, text("every GPU is registered with the NVSwitches"))


def _next_start(session: Session, proof: StepProof) -> Proved:
    modules = modules_on_disk.modules_of(session.world, proof.wanted)
    if isinstance(modules, Unknown):
        return Proved(Holds.UNKNOWN, modules.reason)
    if not modules.value:
        return Proved(Holds.NO, text("kernel {kernel} has no NVIDIA module", kernel=proof.wanted))
    return Proved(Holds.YES, text("kernel {kernel} has NVIDIA's module", kernel=proof.wanted))


def _python(session: Session, interpreter: str, arguments: tuple[str, ...], seconds: float) -> ProcessResult:
    refused = why_not_run(session.world, (interpreter,))
    if refused is not None:
        return ProcessResult(Ending.NOT_STARTED, 0, b"", b"", 0.0, session.words(refused))
    environment = clean(session.world.surroundings.variables)
    return session.world.processes.run((interpreter, *arguments), seconds=seconds, environment=environment)


def _last(outcome: ProcessResult) -> str:
    lines = [line for line in outcome.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else outcome.words


def _is_version(found: str, wanted: str) -> bool:
    if not wanted:
        return True
    if wanted.endswith("+"):
        return Version.parse(found) >= Version.parse(wanted[:-1])
    try:
        one, other = Version.parse(found).parts, Version.parse(wanted).parts
    except VersionError:
        return found == wanted
    return one[: len(other)] == other


_ASK: Mapping[Proves, Callable[[Session, StepProof], Proved]] = {
    Proves.TORCH: _torch,
    Proves.NVCC: _nvcc,
    Proves.NEW_TERMINAL: _new_terminal,
    Proves.DRIVER: _driver,
    Proves.ENVIRONMENT: _environment,
    Proves.ABSENT: _absent,
    Proves.FABRIC: _fabric,
    Proves.NEXT_START: _next_start,
}
