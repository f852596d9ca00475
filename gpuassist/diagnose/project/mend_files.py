"""Changes of a project's files beside torch: architectures, base images, GPUs for a service, the place of CUDA_VISIBLE_DEVICES."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from gpuassist.diagnose.project.edits import Impossible, NewWords, written
from gpuassist.diagnose.project.extensions import Nvcc, covered, nvcc_of, unknown_to
from gpuassist.diagnose.project.ground import BROKEN, Mend, ProjectGround, ProjectLink
from gpuassist.diagnose.project.images import links_of_image
from gpuassist.diagnose.project.move import Move
from gpuassist.diagnose.project.sets import Project
from gpuassist.formats.project import containers
from gpuassist.formats.project.values import ArchitectureKind, ArchitectureWish, LateDevices, ProjectImage, Spot
from gpuassist.knowledge.choice import Images
from gpuassist.knowledge.images import ImageReading
from gpuassist.knowledge.records import ImageFamily
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text
from gpuassist.model.version import ComputeCapability, Target, Version

_MINORS = 14  # of torch 1, and more than CUDA has had of any major
FileMove = tuple[Mapping[str, bytes], Move]
"""The files as they then are, and what that does."""

# Architectures


def other_architectures(project: Project, link: ProjectLink, ground: ProjectGround) -> FileMove | None:
    """Those that the nvcc knows, the GPUs' own among them."""
    reading = project.readings.get(link.check.file)
    if reading is None:
        return None
    at = next((one for one in reading.architectures if one.spot.line == link.check.line), None)
    if at is None:
        return None
    wishes = tuple(one for one in reading.architectures if (one.kind, one.stage) == (at.kind, at.stage))
    nvcc = nvcc_of(reading, at.stage, ground)
    if nvcc.record is not None:
        known = {str(target.capability) for target in nvcc.record.codes}
        if any(str(capability) not in known for capability in ground.capabilities):
            return None  # the nvcc itself has to be another one
    missing = covered(
        ground, [replace(one, targets=tuple(t for t in one.targets if t not in unknown_to(nvcc, one))) for one in wishes]
    )
    whole = project.files[link.check.file].decode("utf-8", "surrogateescape")
    try:
        words = tuple(
            _of_lists(wishes, nvcc, missing) if at.kind is not ArchitectureKind.FLAG else _of_flags(wishes, nvcc, missing, whole)
        )
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
    return files, Move(words, does, breaks, (1,))


def _of_lists(wishes: tuple[ArchitectureWish, ...], nvcc: Nvcc, missing: tuple[Target, ...]) -> Iterator[NewWords]:
    todo = list(missing)
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
        yield NewWords(one.spot, sign.join((*kept, *added)))


def _entry(target: Target, *, torch: bool) -> str:
    capability = target.capability
    return f"{capability.major}.{capability.minor}" if torch else f"{capability.major}{capability.minor}"


def _is_bad(word: str, bad: set[tuple[ComputeCapability, str]], *, torch: bool) -> bool:
    plain = word.upper().removesuffix("+PTX").lower() if torch else word.removesuffix("-real").removesuffix("-virtual")
    for capability, suffix in bad:
        spelled = f"{capability.major}.{capability.minor}{suffix}" if torch else f"{capability.major}{capability.minor}{suffix}"
        if plain == spelled:
            return True
    return False


_PAIR = lazy_regex(r"""["']--?gencode["'][ \t]*,[ \t]*["']$""")
_NUMBER = lazy_regex(r"(sm|compute|lto)_\d{2,3}[af]?")


def _of_flags(wishes: tuple[ArchitectureWish, ...], nvcc: Nvcc, missing: tuple[Target, ...], whole: str) -> Iterator[NewWords]:
    """A flag for an architecture that is not known becomes that of the GPU, or goes; for a GPU that is left out one more is put
    behind the last, spelled as that is.
    """
    todo = list(missing)
    for one in wishes:
        if one.conditional or not unknown_to(nvcc, one):
            continue
        if not one.spot.editable:
            raise Impossible(one.spot.file)
        if todo:
            target = todo.pop(0)
            yield NewWords(one.spot, _renumbered(one.spelled, target))
        elif "arch=" not in one.spelled and "arch " not in one.spelled:
            raise Impossible(one.spot.file)
        else:
            yield NewWords(_whole_flag(one, whole), "")
    last = next((one for one in reversed(wishes) if one.spot.editable and not unknown_to(nvcc, one)), None)
    for target in todo:
        if last is None or "code" not in last.spelled:
            raise Impossible(wishes[0].spot.file)
        spot = _whole_flag(last, whole)
        before = whole[spot.first : spot.end]
        sign = "" if before[:1].isspace() or before.rstrip().endswith(",") else " "
        yield NewWords(Spot(spot.file, spot.line, spot.end, spot.end), f"{sign}{_renumbered(before, target)}")


def _renumbered(spelled: str, target: Target) -> str:
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


def other_image(project: Project, link: ProjectLink, ground: ProjectGround) -> FileMove | None:
    """Another image of the same kind that is known to be there."""
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
        words = (NewWords(image.spot, name),)
        breaks = (text("the image brings another CUDA, torch and Python: what is installed on top of it has to fit those"),)
        return written(project, words), Move(words, text("image {image}", image=name), breaks, (1,))
    return None


def _images_for(image: ProjectImage, ground: ProjectGround) -> Iterator[str]:
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
    prefix = (
        "nvcr.io/" if image.name.startswith("nvcr.io/nvidia/cuda") else "docker.io/" if image.name.startswith("docker.io/") else ""
    )
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


def devices_in_place(project: Project, link: ProjectLink) -> FileMove | None:
    """CUDA_VISIBLE_DEVICES above the import of torch, or GPUs for a service."""
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
    return written(project, words), Move(words, does, (), (1,))


def _moved_up(project: Project, late: LateDevices) -> Iterator[NewWords]:
    assert late.whole is not None
    whole = project.files[late.spot.file].decode("utf-8", "surrogateescape")
    line = whole[late.whole.first : min(late.whole.end, len(whole))]
    line = line if line.endswith("\n") else f"{line}\n"
    above = late.imports_os is not None and late.imports_os.line < late.imported.line
    begin = "" if above else "import os\n"
    yield NewWords(Spot(late.spot.file, late.imported.line, late.imported.first, late.imported.first), f"{begin}{line}")
    yield NewWords(Spot(late.spot.file, late.spot.line, late.whole.first, min(late.whole.end, len(whole))), "")


def _reserved(project: Project, link: ProjectLink) -> FileMove | None:
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
    rows = (
        "deploy:",
        "  resources:",
        "    reservations:",
        "      devices:",
        "        - driver: nvidia",
        "          count: all",
        "          capabilities: [gpu]",
    )
    begin = "" if whole[:end].endswith("\n") else "\n"
    words = (NewWords(Spot(link.check.file, link.check.line, end, end), begin + "".join(f"{indent}{row}\n" for row in rows)),)
    does = text("the service {service} is given every GPU", service=image.service)
    return written(project, words), Move(words, does, (), (1,))


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
