"""What `python -m torch.utils.bottleneck` says of the environment before its tables."""

from __future__ import annotations

from gpuassist.detect.readers.lines import lines_with
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import Version

_PROGRAM = "torch.utils.bottleneck"
_TORCH = lazy_regex(
    r"^PyTorch (?P<torch>\d+\.\d+[\w.+]{0,40})(?: DEBUG)?"
    r" (?:compiled w/ CUDA (?P<cuda>\d{1,2}\.\d{1,2})[\d.]*|not compiled w/ CUDA)$"
)
_PYTHON = lazy_regex(r"^Running with Python (?P<python>\d\.\d{1,2}) and\b")


def read(paste: Paste) -> Machine:
    """The torch and its Python."""
    told = next(((line, found) for line in lines_with(paste, "compiled w/ CUDA") if (found := _TORCH.match(line.words))), None)
    if told is None:
        return Machine()
    line, found = told
    python = next(
        (
            below.known(Version.parse(match["python"]), _PROGRAM)
            for below in lines_with(paste, "Running with Python")
            if (match := _PYTHON.match(below.words))
        ),
        NOT_ASKED,
    )
    torch = Torch(
        "",
        version=line.known(found["torch"], _PROGRAM),
        accelerator=line.known(Accelerator.CUDA if found["cuda"] else Accelerator.CPU, _PROGRAM),
        cuda=line.known(Version.parse(found["cuda"]), _PROGRAM) if found["cuda"] else NOT_ASKED,
    )
    return Machine(
        environments=line.known((PythonEnvironment("", "", python_version=python, torch=line.known((torch,), _PROGRAM)),), _PROGRAM)
    )
