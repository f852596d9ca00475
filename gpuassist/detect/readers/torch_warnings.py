"""The GPU that torch warns of because its build has no code for it, and the architectures that the build has code for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.detect.readers.facts import named
from gpuassist.detect.readers.lines import whole
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import ComputeCapability, Target

PROGRAM = "warning of torch"

# torch 1.5 and later; `Found GPU0 ... which is of` since 0.3; a name begins with a capital, after what a log puts before it.
_NAME = r"(?P<name>[A-Z](?:[\w/+()-]|\.(?=\d)){0,30}(?:[ \t][\w/+().-]{1,30}){0,8})"
_MAKER = lazy_regex(r"\b(?:NVIDIA|GeForce|Tesla|Quadro|TITAN|GRID)\b")  # a sentence may go before it
_INCOMPATIBLE = lazy_regex(
    rf"\b{_NAME}\s{{1,40}}with\s+CUDA\s+capability\s+sm_(?P<capability>\d{{2,3}})\s+is\s+not\s+compatible\s+with\s+the\s+current\s+PyTorch"
)
_FOUND = lazy_regex(
    rf"\bFound\s+GPU\s?\d{{1,3}}\s+{_NAME}\s+which\s+is\s+of\s+(?:cuda\s+capability|compute\s+capability\s+\(CC\))"
    r"\s+(?P<capability>\d{1,2}\.\d)\b"
)
_SUPPORTED = lazy_regex(
    r"current\s+PyTorch\s+install\s+supports\s+CUDA\s+capabilities(?P<targets>(?:\s+(?:sm|compute)_\d{2,3}[af]?){1,40})\.?(?=\s|$)(?!\s+\.)"
)
_BEFORE = 120  # characters of a warning before the words that it is looked for by
_LENGTH = 400
_MOST = 16  # warnings that are read from either end of a text: a log repeats them


def read(paste: Paste) -> Machine:
    """Each GPU once, and the build; CUDA's numbers are not nvidia-smi's, so they are not kept."""
    if not any(literal in paste.words for literal in ("CUDA capability sm_", "which is of c", "PyTorch install")):
        return Machine()
    text = whole(paste)
    gpus: dict[str, Gpu] = {}
    for literal, pattern in (("capability sm_", _INCOMPATIBLE), ("which is of", _FOUND)):
        for found in _found(text.words, literal, pattern):
            own, maker = found["capability"], _MAKER.search(found["name"])
            name = found["name"][maker.start() if maker else 0 :]
            capability = ComputeCapability.parse(own) if "." in own else ComputeCapability(int(own[:-1]), int(own[-1]))
            gpus[name] = Gpu(
                name=text.known(name, PROGRAM, found.start("name")),
                compute_capability=text.known(capability, PROGRAM, found.start("capability")),
            )
    # The environment whose torch spoke last.
    last = next(iter(reversed(list(_found(text.words, "PyTorch install", _SUPPORTED)))), None)
    if last is None:
        environments: Fact[tuple[PythonEnvironment, ...]] = NOT_ASKED
    else:
        place = last.start("targets") + 1
        targets = text.known(tuple(Target.parse(word) for word in last["targets"].split()), PROGRAM, place)
        torch = Torch("", accelerator=text.known(Accelerator.CUDA, PROGRAM, place), targets=targets)
        environments = text.known((PythonEnvironment("", "", torch=text.known((torch,), PROGRAM, place)),), PROGRAM, place)
    return Machine(gpus=named(gpus.values()), environments=environments)


def _found(words: str, literal: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    places = list(re.finditer(re.escape(literal), words))
    ends = places if len(places) <= 2 * _MOST else [*places[:_MOST], *places[-_MOST:]]
    for place in ends:
        found = pattern.search(words, max(0, place.start() - _BEFORE), place.start() + _LENGTH)
        if found:
            yield found
