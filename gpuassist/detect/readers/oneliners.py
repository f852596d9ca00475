"""What torch says of itself in a pasted `python -c`, `>>>` session, IPython session or notebook cell: its build, its GPUs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.detect.readers.lines import Line, lines_with
from gpuassist.detect.readers.python_sessions import Exchange, exchanges
from gpuassist.formats.torch_prints import TorchQuestion, expected
from gpuassist.formats.torch_version import read_torch_version
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known, T
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import ComputeCapability, Target, Version

PROGRAM = "Python"
_MOST = 300  # pieces of code in a text: a log repeats itself
_LONGEST = 300  # characters of a line that can be an answer; a list of architectures is the longest


class OnelinerAnswer(Struct, frozen=True):
    """One answer of torch: what was asked, of which device, and the line that answers."""

    asked: TorchQuestion
    device: int
    value: str
    line: Line


def read(paste: Paste) -> Machine:
    """The torch of the interpreter that answered, and the GPUs that it names."""
    if not any(literal in paste.words for literal in ("torch", "PyTorch", "_CudaDeviceProperties")):
        return Machine()
    said = tuple(one for exchange in islice(exchanges(paste), _MOST) for one in _answers(exchange))
    # A GPU for each device that was asked for; CUDA's numbers are not nvidia-smi's, so they are not kept.
    found: dict[int, Gpu] = {}
    for one in said:
        gpu = found.get(one.device, Gpu())
        if one.asked is TorchQuestion.NAME:
            found[one.device] = replace(gpu, name=one.line.known(one.value.strip(), PROGRAM))
        elif one.asked is TorchQuestion.CAPABILITY:
            capability = ComputeCapability(*ast.literal_eval(one.value))
            found[one.device] = replace(gpu, compute_capability=one.line.known(capability, PROGRAM))
    gpus = tuple(found[device] for device in sorted(found)) or properties(paste)
    torch = _torch(said) or built_with(paste)
    python = _last(said, TorchQuestion.PYTHON, Version.parse)
    environment = PythonEnvironment("", "", python_version=python, torch=Known((torch,), _source(torch)) if torch else NOT_ASKED)
    facts = (gpus[0].name, gpus[0].compute_capability) if gpus else ()
    place = next((fact.source for fact in facts if isinstance(fact, Known)), PROGRAM)
    return Machine(
        gpus=Known(gpus, place) if gpus else NOT_ASKED,
        environments=Known((environment,), _source(torch)) if torch else NOT_ASKED,
    )


def _answers(exchange: Exchange) -> Iterable[OnelinerAnswer]:
    """What the code prints stands in the output in its order, maybe between warnings."""
    place = 0
    for line in expected(exchange.code, echoed=exchange.echoed):
        for at in range(place, len(exchange.output)):
            words = exchange.output[at].words.strip()
            found = line.pattern.fullmatch(words) if len(words) <= _LONGEST else None
            if found:
                place = at + 1
                groups = zip(line.groups, found.groups(), strict=True)
                yield from (OnelinerAnswer(one.asked, one.device, value, exchange.output[at]) for one, value in groups if value)
                break


def _torch(said: tuple[OnelinerAnswer, ...]) -> Torch | None:
    """The build that answered last; `None` for its CUDA is a build without."""
    version = _last(said, TorchQuestion.VERSION, str)
    cuda = _last(said, TorchQuestion.CUDA, str)
    targets = _last(said, TorchQuestion.TARGETS, lambda words: tuple(map(Target.parse, ast.literal_eval(words))))
    if not any(isinstance(one, Known) for one in (version, cuda, targets)):
        return None
    known = Known(Version.parse(cuda.value), cuda.source) if isinstance(cuda, Known) and cuda.value != "None" else NOT_ASKED
    return Torch("", version=version, accelerator=_accelerator(version, cuda, said), cuda=known, targets=targets)


def _accelerator(version: Fact[str], cuda: Fact[str], said: tuple[OnelinerAnswer, ...]) -> Fact[Accelerator]:
    if not isinstance(cuda, Known):
        return NOT_ASKED
    if cuda.value != "None":
        return Known(Accelerator.CUDA, cuda.source)
    told = read_torch_version(version.value) if isinstance(version, Known) else None
    hip = any(one.asked is TorchQuestion.HIP and one.value != "None" for one in said)
    if hip or (told is not None and told.tag.startswith("rocm")):
        return Known(Accelerator.ROCM, cuda.source)
    return Known(Accelerator.XPU if told is not None and told.tag == "xpu" else Accelerator.CPU, cuda.source)


def _last(said: tuple[OnelinerAnswer, ...], asked: TorchQuestion, made: Callable[[str], T]) -> Fact[T]:
    found = [one for one in said if one.asked is asked]
    return found[-1].line.known(made(found[-1].value), PROGRAM) if found else NOT_ASKED


def _source(torch: Torch | None) -> str:
    facts = (torch.version, torch.cuda, torch.targets, torch.accelerator) if torch else ()
    return next((fact.source for fact in facts if isinstance(fact, Known)), PROGRAM)


# What torch prints of its objects whatever the code was: the properties of a device, and what it was built with.


_PROPERTIES = lazy_regex(
    r"_CudaDeviceProperties\(name='(?P<name>[^'\n]{2,80})', major=(?P<major>\d{1,2}), minor=(?P<minor>\d)"
    r"(?:, total_memory=(?P<memory>\d{2,7})MB)?"
)
_RUNTIME = lazy_regex(r"^\s*- CUDA Runtime (?P<cuda>\d{1,2}\.\d{1,2})\s*$")
_FLAGS = lazy_regex(r"^\s*- NVCC architecture flags: (?P<flags>\S{10,4000})\s*$")
_CODE = lazy_regex(r"code=((?:sm|compute)_\d{2,3}[af]?)\b")


def properties(paste: Paste) -> tuple[Gpu, ...]:
    """The GPUs of which `torch.cuda.get_device_properties` shows name, capability and memory, each once."""
    found = (
        Gpu(
            name=line.known(match["name"], PROGRAM),
            compute_capability=line.known(ComputeCapability(int(match["major"]), int(match["minor"])), PROGRAM),
            memory_total_bytes=line.known(int(match["memory"]) << 20, PROGRAM) if match["memory"] else NOT_ASKED,
        )
        for line in lines_with(paste, "_CudaDeviceProperties")
        for match in _PROPERTIES.finditer(line.words)
    )
    return tuple(dict.fromkeys(found))


def built_with(paste: Paste) -> Torch | None:
    """The torch of `torch.__config__.show()`; its version is not among what that says."""
    torch: Torch | None = None
    for line in lines_with(paste, "- CUDA Runtime ", "- NVCC architecture flags: "):
        runtime, flags = _RUNTIME.match(line.words), _FLAGS.match(line.words)
        if runtime:
            cuda = line.known(Version.parse(runtime["cuda"]), PROGRAM)
            torch = Torch("", accelerator=line.known(Accelerator.CUDA, PROGRAM), cuda=cuda)
        elif flags and torch is not None:
            targets = tuple(Target.parse(word) for word in dict.fromkeys(_CODE.findall(flags["flags"])))
            return Torch("", accelerator=torch.accelerator, cuda=torch.cuda, targets=line.known(targets, PROGRAM))
    return torch
