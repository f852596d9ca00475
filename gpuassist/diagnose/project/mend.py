"""The smallest change of a project's own files after which every link holds that a file can mend; tried by judging the result.

A lock file and a compiled file of requirements are never changed: their source is, and the tool that makes them has to be run anew.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.diagnose.project.edits import Impossible, written
from gpuassist.diagnose.project.ground import BROKEN, Mend, ProjectGround, ProjectLink
from gpuassist.diagnose.project.links import links_of
from gpuassist.diagnose.project.mend_files import devices_in_place, other_architectures, other_image
from gpuassist.diagnose.project.move import Move, jump
from gpuassist.diagnose.project.moves import torch_moves
from gpuassist.diagnose.project.pick import pick
from gpuassist.diagnose.project.set_links import set_links, stock_of
from gpuassist.diagnose.project.sets import InstallSet, Project, sets_of
from gpuassist.diagnose.project.stock import Pick
from gpuassist.model.project import LinkState
from gpuassist.model.text import Text, text

_ROUNDS = 12
_TRIES = 16
_BY_FILES = frozenset({Mend.TORCH, Mend.ARCHITECTURE, Mend.IMAGE, Mend.DEVICES})


class Relock(Struct, frozen=True):
    """A file that another tool has to make anew: `tool` names it, `lock` is the file, `source` what it is made from; `upgrade`
    where the source says enough already, `hashed` where it is to hold hashes.
    """

    tool: str
    lock: str
    source: str
    upgrade: bool = False
    hashed: bool = False


class Mended(Struct, frozen=True):
    """The project with the changes, which those are by file, and what has to be made anew."""

    project: Project
    changed: Mapping[str, tuple[Text, tuple[Text, ...]]]
    relocks: tuple[Relock, ...]


def mend(project: Project, ground: ProjectGround) -> Mended:
    """Mends one link after the other, as long as a file can."""
    changed: dict[str, tuple[list[Text], list[Text]]] = {}
    relocks: dict[str, Relock] = {}
    given_up: set[tuple[object, ...]] = set()
    now = project
    for _ in range(_ROUNDS):
        links = links_of(now, ground)
        link = next((each for each in links if _can_be_mended(each) and _key(each) not in given_up), None)
        if link is None:
            break
        done = _one(now, link, ground)
        if done is None:
            given_up.add(_key(link))
            continue
        files, move, relock = done
        if relock is not None:
            relocks[relock.lock] = relock
            now = _without(now, relock.lock)
        for name in files:
            words, breaks = changed.setdefault(name, ([], []))
            words.append(move.text)
            breaks += move.may_break
        now = now.with_files(files)
    told = {name: (_together(words), tuple(dict.fromkeys(breaks))) for name, (words, breaks) in changed.items()}
    return Mended(now, told, tuple(relocks.values()))


def _together(words: list[Text]) -> Text:
    made = words[0]
    for one in dict.fromkeys(words[1:]):
        made = text("{first}; {more}", first=made, more=one)
    return made


def _can_be_mended(link: ProjectLink) -> bool:
    late = link.mend is Mend.DEVICES
    return (link.check.state is BROKEN or (late and link.check.state is LinkState.UNKNOWN)) and link.mend in _BY_FILES


def _key(link: ProjectLink) -> tuple[object, ...]:
    # One set has one torch: what could not be moved for one of its links cannot be for another.
    of_set = link.of.name + link.of.group if link.mend is Mend.TORCH and link.of is not None else ""
    return (link.mend, of_set or (link.check.file, link.check.line, link.check.text))


_Done = tuple[Mapping[str, bytes], Move, "Relock | None"]


def _one(project: Project, link: ProjectLink, ground: ProjectGround) -> _Done | None:
    if link.mend is Mend.TORCH:
        return _torch(project, link, ground)
    if link.mend is Mend.DEVICES:
        moved = devices_in_place(project, link)
    else:
        moved = (other_architectures if link.mend is Mend.ARCHITECTURE else other_image)(project, link, ground)
    return None if moved is None else (*moved, None)


def _without(project: Project, lock: str) -> Project:
    """The project as it is once the lock has been made anew: as if there were none."""
    readings = {name: one for name, one in project.readings.items() if name != lock}
    return replace(project, readings=readings)


# torch


def _torch(project: Project, link: ProjectLink, ground: ProjectGround) -> _Done | None:
    one = link.of
    if one is None:
        return None
    relock: Relock | None = None
    base = project
    if one.lock and not one.requirements:
        return None  # a lock file whose source is not here
    if one.lock:
        relock = Relock(one.lock_tool, one.lock, one.name)
        base = _without(project, one.lock)
    elif one.made_from:
        relock = Relock(one.compiled_by or "pip-compile", one.name, one.made_from, hashed=one.hashed)
        base = _without(project, one.name)
    elif one.hashed or one.compiled_by:
        return None  # hashes, and no source to make them from
    source = _again(base, relock.source if relock is not None else one.name, one.group)
    if source is None:
        return None
    if relock is not None and _holds(base, source, ground):
        return {}, Move((), text("made anew"), (), (0,)), replace(relock, upgrade=True)
    stock = stock_of(source, ground, base)
    again = replace(link, of=source, pick=pick(source, stock))
    for move in torch_moves(base, again, ground, stock)[:_TRIES]:
        try:
            files = written(base, move.words)
        except Impossible:
            continue
        tried = base.with_files(files)
        after = _again(tried, source.name, source.group)
        if after is not None and _holds(tried, after, ground):
            picked = pick(after, stock_of(after, ground, tried))
            return files, _told(move, again.pick, picked), relock
    return None


def _told(move: Move, before: Pick | None, after: Pick | None) -> Move:
    """What really comes of it, and what that may break."""
    if before is None or after is None or after.version is None or after.build is None:
        return move
    if (after.version, after.tag) == (before.version, before.tag):
        return replace(move, text=text("what stands beside torch {version}", version=after.spelled))
    does = text("torch {version} of {tag}", version=str(after.version), tag=after.build.tag)
    return replace(move, text=does, may_break=(*jump(before, after.version), *move.may_break))


def _again(project: Project, name: str, group: str) -> InstallSet | None:
    return next((each for each in sets_of(project) if each.name == name and each.group == group), None)


def _holds(project: Project, one: InstallSet, ground: ProjectGround) -> bool:
    stock = stock_of(one, ground, project)
    found = pick(one, stock)
    if found is None or found.build is None:
        return False
    return not any(each.check.state is BROKEN and each.mend is Mend.TORCH for each in set_links(one, stock, found, ground))
