"""The facts in a text that is nothing but answers of Python's usual one-line questions about a GPU, and in `cupy.show_config()`."""

from __future__ import annotations

from gpuassist.detect.readers.facts import named
from gpuassist.detect.readers.lines import Line, lines_with
from gpuassist.formats.bare_answers import BareAnswers, bare_answers
from gpuassist.model.driver import Driver
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import ComputeCapability, Target, Version

PROGRAM = "Python"


def read(paste: Paste) -> Machine:
    """The torch that answered, and the GPUs that it names."""
    found = bare_answers(paste.words)
    if found is None:
        return Machine()
    line = Line(found.line, "")
    torch = _torch(found, line)
    return Machine(
        gpus=named(_gpus(found, line)),
        environments=line.known((PythonEnvironment("", "", torch=line.known((torch,), PROGRAM)),), PROGRAM) if torch else NOT_ASKED,
    )


def _gpus(found: BareAnswers, line: Line) -> list[Gpu]:
    """Each name, with its capability where there are as many."""
    told = found.capabilities if len(found.capabilities) == len(found.names) else ()
    facts = [line.known(ComputeCapability.parse(one), PROGRAM) for one in told] or [NOT_ASKED] * len(found.names)
    return [Gpu(name=line.known(name, PROGRAM), compute_capability=one) for name, one in zip(found.names, facts, strict=True)]


def _torch(found: BareAnswers, line: Line) -> Torch | None:
    """A release with the tag of what it is built for, or beside a CUDA release or the word whether CUDA is available."""
    if not found.release or ("+" not in found.release and not found.cuda):
        return None
    cuda = line.known(Version.parse(found.cuda), PROGRAM) if found.cuda else NOT_ASKED
    targets = tuple(Target.parse(one) for one in found.targets)
    return Torch(
        "",
        version=line.known(found.release, PROGRAM),
        cuda=cuda,
        accelerator=line.known(Accelerator.CUDA, PROGRAM) if found.cuda else NOT_ASKED,
        targets=line.known(targets, PROGRAM) if targets else NOT_ASKED,
    )


# `cupy.show_config()`: a line for each value, its label padded with spaces.
_ROW = lazy_regex(r"^\s{0,8}(?P<label>[A-Z][\w. ]{2,40}?)\s{0,30}: (?P<value>\S[^\n]{0,200})$")
_DEVICE = lazy_regex(r"Device (?P<index>\d{1,2}) (?P<fact>Name|Compute Capability|PCI Bus ID)")
_NUMBER = lazy_regex(r"\d{4,6}")


def read_cupy(paste: Paste) -> Machine:
    """The GPUs, the CUDA that the driver serves, and the toolkit."""
    rows = [(line, found) for line in lines_with(paste, " : ") if (found := _ROW.match(line.words))]
    values = {found["label"].strip(): (line, found["value"].strip()) for line, found in rows}
    if "CuPy Version" not in values:
        return Machine()
    gpus: dict[str, dict[str, tuple[Line, str]]] = {}
    for label, told in values.items():
        device = _DEVICE.fullmatch(label)
        if device:
            gpus.setdefault(device["index"], {})[device["fact"]] = told
    driver_line, serves = values.get("CUDA Driver Version", (Line(0, ""), ""))
    root_line, root = values.get("CUDA Root", (Line(0, ""), ""))
    return Machine(
        gpus=named(_cupy_gpu(one) for one in gpus.values() if "Name" in one),
        driver=Driver(cuda_version=driver_line.known(_cuda(serves), "CuPy") if _NUMBER.fullmatch(serves) else NOT_ASKED),
        toolkits=Known((Toolkit(root),), f"pasted CuPy, line {root_line.number}") if root.startswith("/") else NOT_ASKED,
    )


def _cupy_gpu(told: dict[str, tuple[Line, str]]) -> Gpu:
    line, name = told["Name"]
    capability_line, capability = told.get("Compute Capability", (line, ""))
    address_line, address = told.get("PCI Bus ID", (line, ""))
    parsed = (
        ComputeCapability(int(capability[:-1]), int(capability[-1])) if capability.isdecimal() and len(capability) > 1 else None
    )
    return Gpu(
        name=line.known(name, "CuPy"),
        compute_capability=capability_line.known(parsed, "CuPy") if parsed is not None else NOT_ASKED,
        pci_address=address_line.known(address.lower(), "CuPy") if address else NOT_ASKED,
    )


def _cuda(number: str) -> Version:
    """12040 is 12.4."""
    return Version((int(number) // 1000, int(number) % 1000 // 10))
