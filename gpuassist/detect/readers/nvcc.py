"""The toolkit that a pasted `nvcc --version`, `--list-gpu-arch` or `--list-gpu-code` speaks of."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gpuassist.detect.readers.lines import Line, lines, lines_with
from gpuassist.model.fact import NOT_ASKED, Fact, Known, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Code, Target, Version, VersionError

_PROGRAM = "nvcc"
_RELEASE = lazy_regex(r"Cuda compilation tools, release (\d+\.\d+)(?:, V(\d+(?:\.\d+)+))?")
_CALL = lazy_regex(r"(/[\w./+-]*)/bin/nvcc\b[^\n]*(?:-V\b|--version\b|--list-gpu-)")
_LISTED = lazy_regex(r"(?:compute|sm)_\d{2,3}[af]?")
_FEWEST = 3  # of the architectures that a list has: every nvcc that can list them has ten or more


def read(paste: Paste) -> Machine:
    """Each nvcc whose version is shown, the last of a release; the architectures belong to the one that is shown alone."""
    shown = tuple({value_or(one.version, Version(())): one for one in _toolkits(paste)}.values())
    listed = _targets(paste)
    if isinstance(listed, Known) and len(shown) <= 1:
        root = shown[0].root if shown else _root(listed.value.calls)
        version: Fact[Version] = shown[0].version if shown else NOT_ASKED
        targets = Known(listed.value.targets, listed.source)
        return Machine(toolkits=Known((Toolkit(root, version=version, nvcc_version=version, targets=targets),), listed.source))
    last = shown[-1].version if shown else NOT_ASKED
    return Machine(toolkits=Known(shown, last.source)) if isinstance(last, Known) else Machine()


def _toolkits(paste: Paste) -> Iterator[Toolkit]:
    for line in lines_with(paste, "Cuda compilation tools, release"):
        found = _RELEASE.search(line.words)
        if found:
            version = line.known(Version.parse(found[2] or found[1]), _PROGRAM)
            yield Toolkit(_root(lines(paste)[max(0, line.number - 7) : line.number - 1]), version=version, nvcc_version=version)


def _root(above: tuple[Line, ...]) -> str:
    """The directory of the nvcc that was called, where the command stands above its output with a whole path."""
    for line in reversed(above):
        found = _CALL.search(line.words)
        if found:
            return found[1]
    return ""


class _Listed(Struct, frozen=True):
    """What `--list-gpu-arch` printed, and the lines above it, where the command stands."""

    targets: tuple[Target, ...]
    calls: tuple[Line, ...]


def _targets(paste: Paste) -> Fact[_Listed]:
    """A list of names, each on a line of its own, that stands together."""
    block: list[Line] = []
    for line in lines_with(paste, "compute_", "sm_"):
        if not _LISTED.fullmatch(line.words.strip()):
            continue
        if block and line.number != block[-1].number + 1:
            block = block if len(block) >= _FEWEST else []
            if block:
                break
        block.append(line)
    if len(block) < _FEWEST:
        return NOT_ASKED
    start = block[0].number - 1
    # As nvcc lists its virtual architectures: every real one has its virtual one.
    found = {target for line in block for target in _target(line.words.strip())}
    targets = tuple(sorted(found, key=lambda one: (one.capability, one.suffix)))
    return block[0].known(_Listed(targets, lines(paste)[max(0, start - 2) : start]), _PROGRAM)


def _target(word: str) -> Iterator[Target]:
    try:
        target = Target.parse(word)
    except VersionError:
        return
    yield Target(target.capability, Code.PTX, target.suffix)
