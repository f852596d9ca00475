"""Settings that forbid a kernel module, as a pasted `grep` names them by file, or a `cat` shows a file of modprobe.d."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from gpuassist.detect.readers.commands import runs
from gpuassist.detect.readers.lines import lines, lines_with, source
from gpuassist.formats.kernel_module import forbidden_by_file
from gpuassist.model.driver import Driver, ModuleBlock
from gpuassist.model.fact import NOT_ASKED, Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste

_FILE = r"/(?:etc|run|lib|usr/lib)/modprobe\.d/[\w.@+-]{1,60}"
_FOUND = lazy_regex(rf"^(?P<place>{_FILE}):(?:(?P<number>\d{{1,5}}):)?(?P<words>[^\n]{{1,200}})$")
_SHOWN = lazy_regex(rf"^(?:sudo )?(?:cat|less|more|tail|head) (?P<place>{_FILE})$")
_OWN = lazy_regex(r"\s*(?:$|#|(?:blacklist|install|remove|alias|options|softdep)\s)")
_MOST = 60  # lines of a file
_ASKED = frozenset({"nvidia", "nouveau"})


def read(paste: Paste) -> Machine:
    """The settings, where the text says which file they stand in: a bare line may be quoted from a guide."""
    found = dict.fromkeys((*_found(paste), *_shown(paste)))
    if not found:
        return Machine()
    bars = tuple(dict.fromkeys(bar for bar, _ in found))
    return Machine(driver=Driver(bars=Known(bars, source("modprobe.d", next(iter(found))[1])) if bars else NOT_ASKED))


def _found(paste: Paste) -> Iterator[tuple[ModuleBlock, int]]:
    for line in lines_with(paste, "/modprobe.d/"):
        named = _FOUND.match(line.words.strip())
        if named:
            place = f"{named['place']}:{named['number']}" if named["number"] else named["place"]
            yield from ((bar, line.number) for bar in _bars(named["words"], place))


def _shown(paste: Paste) -> Iterator[tuple[ModuleBlock, int]]:
    for run in runs(paste, "/modprobe.d/"):
        named = _SHOWN.match(run.command.strip())
        if named:
            # A comment looks like the prompt of root, so the next command is no end; a line of another kind is.
            output = takewhile(lambda line: _OWN.match(line.words), lines(paste)[run.number : run.number + _MOST])
            yield from ((bar, line.number) for line in output for bar in _bars(line.words, named["place"]))


def _bars(words: str, place: str) -> Iterator[ModuleBlock]:
    return (ModuleBlock(module, place, line) for module, _, line in forbidden_by_file(words) if module in _ASKED)
