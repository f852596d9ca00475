"""What conda and mamba did in an environment, from its `conda-meta/history`.

conda/history.py: an entry a run, in local time without its zone, what it took away before what it put there:

    ==> 2026-11-14 06:12:03 <==
    # cmd: /home/you/miniforge3/bin/conda install pytorch=2.7
    # conda version: 26.1.0
    -conda-forge/linux-64::pytorch-2.6.0-cuda126_py312_1
    +conda-forge/linux-64::pytorch-2.7.0-cuda128_py312_0
    # update specs: ['pytorch=2.7']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from gpuassist.formats.package_logs.entries import LogPiece, Moments, doer, words_of
from gpuassist.formats.package_logs.kinds import subject_of
from gpuassist.formats.package_logs.order import exchange
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.past import PackageAction, PackageEvent

CONDA_ENTRY = b"\n==> "
_HEAD = lazy_regex(r"==>\s*(\S.{0,60}?)\s*<==")
_CHANGE = lazy_regex(r"([+-])(?:\S*::)?([A-Za-z0-9_][\w.-]{0,100})-(\d[\w.!+]{0,60})-([\w.+]{1,80}?)(?:\.tar\.bz2|\.conda)?")
_EARLY = lazy_regex(r"\.?(a|b|rc|dev)(?=\d)")
_LINE_AT_MOST = 2000
_Builds = dict[str, tuple[str, str, int]]


def read_conda_history(log: Iterable[LogPiece], moments: Moments, path: str, prefix: str) -> Iterator[PackageEvent]:
    """The packages that GPU work depends on, with their build where it alone changed (`2.6.0=cuda126_py312_1`)."""
    for piece in log:
        place = piece.data.find(CONDA_ENTRY)
        while place >= 0:
            end = piece.data.find(CONDA_ENTRY, place + 1)
            entry = piece.data[place + 1 : end if end >= 0 else None]
            yield from (replace(event, environment=prefix) for event in _of_entry(entry, piece.line_at(place), moments, path))
            place = end


def _of_entry(entry: bytes, first_line: int, moments: Moments, path: str) -> Iterator[PackageEvent]:
    lines = [words_of(line[:_LINE_AT_MOST]).strip() for line in entry.split(b"\n")]
    head = _HEAD.match(lines[0])
    at = moments.at(head[1]) if head else ""
    if not at:
        return
    command = next((line[6:].strip() for line in lines if line.startswith("# cmd:")), "")
    gone: _Builds = {}
    come: _Builds = {}
    for number, line in enumerate(lines, first_line):
        change = _CHANGE.fullmatch(line) if line[:1] in {"+", "-"} else None
        if change is not None and subject_of(change[2], in_environment=True) is not None:
            (come if change[1] == "+" else gone)[change[2]] = (change[3], change[4], number)
    for name in {**gone, **come}:
        old, new = gone.get(name), come.get(name)
        before, after = old[0] if old else "", new[0] if new else ""
        if old and new:
            action = exchange(_EARLY.sub(r"~\1", before), _EARLY.sub(r"~\1", after))
            if before == after:
                before, after = f"{before}={old[1]}", f"{after}={new[1]}"
        else:
            action = PackageAction.INSTALLED if new else PackageAction.REMOVED
        place = new or old
        source = f"{path}:{place[2]}" if place else path
        yield PackageEvent(at, action, name, before, after, source, doer(command))
