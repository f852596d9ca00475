"""The smallest change of a project's own files after which every link holds that a file can mend; tried by judging the result.

A lock file and a compiled file of requirements are never changed: their source is, and the tool that makes them has to be run anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.diagnose.project.compiling import covered, nvcc_of, unknown_to
from gpuassist.diagnose.project.edits import Impossible, Words, written
from gpuassist.diagnose.project.images import links_of_image
from gpuassist.diagnose.project.links import BROKEN, Ground, Link, Mend, links_of, set_links, stock_of
from gpuassist.diagnose.project.moves import Move, torch_moves
from gpuassist.diagnose.project.pick import pick
from gpuassist.diagnose.project.sets import InstallSet, Project, sets_of
from gpuassist.formats.project import containers
from gpuassist.formats.project.values import ArchitectureKind, ArchitectureWish, LateDevices, ProjectImage, Spot
from gpuassist.knowledge.choice import Images
from gpuassist.knowledge.images import ImageReading
from gpuassist.knowledge.records import ImageFamily
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.project import CheckState
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version

_ROUNDS = 12
_TRIES = 16
_MINORS = 14  # of torch 1, and more than CUDA has had of any major


class Relock(Struct, frozen=True):
    """A file that another tool has to make anew: `tool` names it, `lock` is the file, `source` what it is made from; `upgrade` where
    the source says enough already, `hashed` where it is to hold hashes.
    """

    tool: str
    lock: str
    source: str
    upgrade: bool = False
    hashed: bool = False


class Mended(Struct, frozen=True):
    """The project with the changes, which those are, and what has to be made anew; `links` are those of the project as it then is."""

    project: Project
    changed: Mapping[str, tuple[Text, tuple[Text, ...]]]
    relocks: tuple[Relock, ...]


def mend(project: Project, ground: Ground) -> Mended:
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


def _can_be_mended(link: Link) -> bool:
    late = link.mend is Mend.DEVICES
    return (link.check.state is BROKEN or (late and link.check.state is CheckState.UNKNOWN)) and link.mend in _MENDERS


def _key(link: Link) -> tuple[object, ...]:
    # One set has one torch: what could not be moved for one of its links cannot be for another.
    of_set = link.of.name + link.of.group if link.mend is Mend.TORCH and link.of is not None else ""
    return (link.mend, of_set or (link.check.file, link.check.line, link.check.text))


_Done = tuple[Mapping[str, bytes], Move, "Relock | None"]


def _one(project: Project, link: Link, ground: Ground) -> _Done | None:
    return _MENDERS[link.mend](project, link, ground)


def _without(project: Project, lock: str) -> Project:
    """The project as it is once the lock has been made anew: as if there were none."""
    readings = {name: one for name, one in project.readings.items() if name != lock}
    return replace(project, readings=readings)


# torch


def _torch(project: Project, link: Link, ground: Ground) -> _Done | None:
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
            return files, move, relock
    return None


def _again(project: Project, name: str, group: str) -> InstallSet | None:
    return next((each for each in sets_of(project) if each.name == name and each.group == group), None)


def _holds(project: Project, one: InstallSet, ground: Ground) -> bool:
    stock = stock_of(one, ground, project)
    found = pick(one, stock)
    if found is None or found.build is None:
        return False
    return not any(each.check.state is BROKEN and each.mend is Mend.TORCH for each in set_links(one, stock, found, ground))


# Architectures


def _architecture(project: Project, link: Link, ground: Ground) -> _Done | None:
    reading = project.readings.get(link.check.file)
    if reading is None:
        return None
    at = next((one for one in reading.architectures if one.spot.line == link.check.line), None)
    if at is None:
        return None
    wishes = tuple(one for one in reading.architectures if (one.kind, one.stage) == (at.kind, at.stage))
    nvcc = nvcc_of(reading, at.stage, ground)
    own = [capability for capability in ground.capabilities]
    if nvcc.record is not None:
        known = {str(target.capability) for target in nvcc.record.codes}
        if any(str(capability) not in known for capability in own):
            return None  # the nvcc itself has to be another one
    missing = covered(ground, [replace(one, targets=tuple(t for t in one.targets if t not in unknown_to(nvcc, one))) for one in wishes])
    whole = project.files[link.check.file].decode("utf-8", "surrogateescape")
    try:
        words = tuple(_of_lists(wishes, nvcc, missing) if at.kind is not ArchitectureKind.FLAG else _of_flags(wishes, nvcc, missing, whole))
        if not words:
            return None
        files = written(project, words)
    except Impossible:
        return None
    gone = ", ".join(dict.fromkeys(str(target) for one in wishes for target in unknown_to(nvcc, one)))
    new = ", ".join(str(target) for target in missing)
    if gone and new:
        does = text("architectures: {new} in the place of {gone}", new=new, gone=gone)
    else:
        does = text("architectures: {new} added", new=new) if new else text("architectures: {gone} taken out", gone=gone)
    breaks = (text("GPUs that need {gone} are left out", gone=gone),) if gone else ()
    return files, Move(words, does, breaks, (1,)), None


def _of_lists(wishes: tuple[ArchitectureWish, ...], nvcc: object, missing: tuple[object, ...]) -> Iterator[Words]:
    from gpuassist.diagnose.project.compiling import Nvcc
    from gpuassist.model.version import Target

    assert isinstance(nvcc, Nvcc)
    todo = [one for one in missing if isinstance(one, Target)]
    for one in wishes:
        bad = {(target.capability, target.suffix) for target in unknown_to(nvcc, one)}
        if one.conditional or (not bad and not todo):
            continue
        sign = ";" if ";" in one.spelled else "," if "," in one.spelled else " " if one.spelled.strip().count(" ") else ";"
        torch = one.kind is ArchitectureKind.LIST
        kept = [word for word in one.spelled.replace(";", " ").replace(",", " ").split() if not _is_bad(word, bad, torch=torch)]
        added = [_entry(target, torch=torch) for target in todo]
        todo = []
        if not kept and not added:
            raise Impossible(one.spot.file)
        yield Words(one.spot, sign.join((*kept, *added)))


def _entry(target: object, *, torch: bool) -> str:
    capability = target.capability  # type: ignore[attr-defined]
    return f"{capability.major}.{capability.minor}" if torch else f"{capability.major}{capability.minor}"


def _is_bad(word: str, bad: set[object], *, torch: bool) -> bool:
    plain = word.upper().removesuffix("+PTX").lower() if torch else word.removesuffix("-real").removesuffix("-virtual")
    for capability, suffix in bad:  # type: ignore[misc]
        spelled = f"{capability.major}.{capability.minor}{suffix}" if torch else f"{capability.major}{capability.minor}{suffix}"
        if plain == spelled:
            return True
    return False


_PAIR = lazy_regex(r"""["']--?gencode["'][ \t]*,[ \t]*["']$""")
_NUMBER = lazy_regex(r"(sm|compute|lto)_\d{2,3}[af]?")


def _of_flags(wishes: tuple[ArchitectureWish, ...], nvcc: object, missing: tuple[object, ...], whole: str) -> Iterator[Words]:
    """A flag for an architecture that is not known becomes that of the GPU, or goes; for a GPU that is left out one more is put
    behind the last, spelled as that is.
    """
    from gpuassist.diagnose.project.compiling import Nvcc

    assert isinstance(nvcc, Nvcc)
    todo = [one for one in missing]
    for one in wishes:
        if one.conditional or not unknown_to(nvcc, one):
            continue
        if not one.spot.editable:
            raise Impossible(one.spot.file)
        if todo:
            target = todo.pop(0)
            yield Words(one.spot, _renumbered(one.spelled, target))
        elif "arch=" not in one.spelled and "arch " not in one.spelled:
            raise Impossible(one.spot.file)
        else:
            yield Words(_whole_flag(one, whole), "")
    last = next((one for one in reversed(wishes) if one.spot.editable and not unknown_to(nvcc, one)), None)
    for target in todo:
        if last is None or "code" not in last.spelled:
            raise Impossible(wishes[0].spot.file)
        spot = _whole_flag(last, whole)
        before = whole[spot.first : spot.end]
        sign = "" if before[:1].isspace() or before.rstrip().endswith(",") else " "
        yield Words(Spot(spot.file, spot.line, spot.end, spot.end), f"{sign}{_renumbered(before, target)}")


def _renumbered(spelled: str, target: object) -> str:
    code = _entry(target, torch=False)
    return _NUMBER.sub(lambda found: f"{found[1]}_{code}", spelled)


def _whole_flag(one: ArchitectureWish, whole: str) -> Spot:
    """The flag with what belongs to it alone: its quotes and comma in a list of texts, else the blank before it."""
    first, end = one.spot.first, one.spot.end
    quote = whole[first - 1 : first]
    if quote in {'"', "'"} and whole[end : end + 1] == quote:
        first, end = first - 1, end + 1
        pair = _PAIR.search(whole[max(0, first - 40) : first + 1])
        if pair is not None:
            first = max(0, first - 40) + pair.start()
        rest = whole[end : end + 3]
        if rest.startswith(","):
            end += 2 if rest[1:2] == " " else 1
        line_first, line_end = whole.rfind("\n", 0, first) + 1, whole.find("\n", end)
        if not whole[line_first:first].strip() and line_end >= 0 and not whole[end:line_end].strip():
            return Spot(one.spot.file, one.spot.line, line_first, line_end + 1)
        return Spot(one.spot.file, one.spot.line, first, end)
    while first > 0 and whole[first - 1] in " \t":
        first -= 1
    return Spot(one.spot.file, one.spot.line, first, end)


# Images


def _image(project: Project, link: Link, ground: Ground) -> _Done | None:
    reading = project.readings.get(link.check.file)
    if reading is None:
        return None
    image = next((one for one in reading.images if one.spot.line == link.check.line), None)
    if image is None:  # what is compiled in a stage: the image that it stands on
        return None
    if image.spelled != image.name or not image.spot.editable:
        return None
    for name in _images_for(image, ground):
        moved = replace(image, name=name, spelled=name)
        if any(each.check.state is BROKEN and each.mend is Mend.IMAGE for each in links_of_image(moved, ground)):
            continue
        words = (Words(image.spot, name),)
        breaks = (text("the image brings another CUDA, torch and Python: what is installed on top of it has to fit those"),)
        return written(project, words), Move(words, text("image {image}", image=name), breaks, (1,)), None
    return None


def _images_for(image: ProjectImage, ground: Ground) -> Iterator[str]:
    """Images of the same kind that are known to be there, those that are nearest first."""
    knowledge = ground.case.knowledge
    now = knowledge.image(image.name)
    if not isinstance(now, ImageReading):
        return
    if now.family is ImageFamily.NGC_PYTORCH:
        found = Images(knowledge.images(), knowledge.toolkits()).choose(ground.capabilities, ground.driver)
        if found.image is not None:
            yield found.image.name
        return
    prefix = "nvcr.io/" if image.name.startswith("nvcr.io/nvidia/cuda") else "docker.io/" if image.name.startswith("docker.io/") else ""
    same: list[tuple[tuple[object, ...], str]] = []
    for tag in knowledge.image_tags():
        other = knowledge.image(tag)
        if isinstance(other, ImageReading) and other.family is now.family and other.nvcc_inside == now.nvcc_inside:
            far = (other.os != now.os, other.cudnn_inside != now.cudnn_inside, _far(now, other))
            same.append((far, f"{prefix}{tag}"))
    yield from (name for _, name in sorted(same, key=lambda pair: pair[0]))


def _far(now: ImageReading, other: ImageReading) -> int:
    """How many releases lie between; torch 1.13 was followed by 2.0."""
    if now.family is ImageFamily.TORCH and now.torch and other.torch:
        one, two = Version.parse(now.torch).release, Version.parse(other.torch).release
        return abs((one.major * _MINORS + one.parts[1]) - (two.major * _MINORS + two.parts[1]))
    one, two = (now.cuda or Version((0,))).release, (other.cuda or Version((0,))).release
    return abs((one.major * _MINORS + one.parts[1]) - (two.major * _MINORS + two.parts[1]))


# CUDA_VISIBLE_DEVICES, and GPUs for a service


def _devices(project: Project, link: Link, ground: Ground) -> _Done | None:  # noqa: ARG001
    reading = project.readings.get(link.check.file)
    if reading is None:
        return None
    if reading.kind == containers.COMPOSE:
        return _reserved(project, link)
    late = next((one for one in reading.devices if one.spot.line == link.check.line), None)
    if late is None or not late.movable or late.whole is None:
        return None
    words = tuple(_moved_up(project, late))
    does = text("CUDA_VISIBLE_DEVICES is set above the import of torch")
    return written(project, words), Move(words, does, (), (1,)), None


def _moved_up(project: Project, late: LateDevices) -> Iterator[Words]:
    assert late.whole is not None
    whole = project.files[late.spot.file].decode("utf-8", "surrogateescape")
    line = whole[late.whole.first : min(late.whole.end, len(whole))]
    line = line if line.endswith("\n") else f"{line}\n"
    above = late.imports_os is not None and late.imports_os.line < late.imported.line
    begin = "" if above else "import os\n"
    yield Words(Spot(late.spot.file, late.imported.line, late.imported.first, late.imported.first), f"{begin}{line}")
    yield Words(Spot(late.spot.file, late.spot.line, late.whole.first, min(late.whole.end, len(whole))), "")


def _reserved(project: Project, link: Link) -> _Done | None:
    """The reservation of devices as Compose's own page on GPU support has it, below the service's image."""
    reading = project.readings[link.check.file]
    image = next((one for one in reading.images if one.spot.line == link.check.line), None)
    whole = project.files[link.check.file].decode("utf-8", "surrogateescape")
    if image is None or not image.spot.editable:
        return None
    first = whole.rfind("\n", 0, image.spot.first) + 1
    line = whole[first : image.spot.first]
    indent = line[: len(line) - len(line.lstrip())]
    end = whole.find("\n", image.spot.end)
    end = len(whole) if end < 0 else end + 1
    if not line.strip().startswith("image") or _has_deploy(whole, end, indent) or _has_deploy_above(whole, first, indent):
        return None
    rows = ("deploy:", "  resources:", "    reservations:", "      devices:", "        - driver: nvidia", "          count: all", "          capabilities: [gpu]")
    begin = "" if whole[:end].endswith("\n") else "\n"
    words = (Words(Spot(link.check.file, link.check.line, end, end), begin + "".join(f"{indent}{row}\n" for row in rows)),)
    does = text("the service {service} is given every GPU", service=image.service)
    return written(project, words), Move(words, does, (), (1,)), None


def _has_deploy(whole: str, place: int, indent: str) -> bool:
    for row in whole[place:].split("\n"):
        if row.strip() and len(row) - len(row.lstrip()) < len(indent):
            return False
        if row.startswith(f"{indent}deploy:"):
            return True
    return False


def _has_deploy_above(whole: str, place: int, indent: str) -> bool:
    for row in reversed(whole[:place].split("\n")):
        if row.strip() and len(row) - len(row.lstrip()) < len(indent):
            return False
        if row.startswith(f"{indent}deploy:"):
            return True
    return False


_MENDERS = {Mend.TORCH: _torch, Mend.ARCHITECTURE: _architecture, Mend.IMAGE: _image, Mend.DEVICES: _devices}
