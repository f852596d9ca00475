"""Moving torch in an environment.yml: its version, the package that selects the CUDA, and the channel that has what fits."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.project.edits import Impossible, NewWords, respelled
from gpuassist.diagnose.project.ground import ProjectGround
from gpuassist.diagnose.project.move import ANEW, PLACE, Move, fits, pythons_for
from gpuassist.diagnose.project.pick_conda import SELECTORS, build_of, channel_of, records_of
from gpuassist.diagnose.project.sets import InstallSet, Project
from gpuassist.diagnose.project.stock import Pick, TorchStock, exact_of
from gpuassist.formats.project.values import ProjectRequirement, Spelling, Spot
from gpuassist.formats.project.yaml_document import read_yaml
from gpuassist.knowledge.conda import accepts
from gpuassist.knowledge.records import Channel, CondaRecord, TorchRelease
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version

_TORCH = ("pytorch", "pytorch-gpu", "pytorch-cpu")


def conda_moves(project: Project, one: InstallSet, found: Pick, *, ground: ProjectGround, stock: TorchStock) -> Iterator[Move]:
    releases = sorted({each.version for each in records_of(stock)})
    for record in records_of(stock):
        build = build_of(record, stock)
        if (
            record.cuda is None
            or build is None
            or not fits(build, ground)
            or not accepts(record, ground.driver_cuda or Version((99,)))
        ):
            continue
        python = pythons_for(one, stock, record.pythons or ())
        if python is None:
            continue
        try:
            words, notes = _words(project, one, record, stock.knowledge.torch_release(record.version))
        except Impossible:
            continue
        if not words:
            continue
        words += python
        notes += (ANEW,) if python else ()
        here = found.version if found.version in releases else None
        distance = releases.index(record.version) - releases.index(here) if here is not None else -releases.index(record.version)
        near = abs(distance) * 2 + (distance < 0) if here is not None else distance
        does = text(
            "torch {version} for CUDA {cuda} of {channel}",
            version=str(record.version),
            cuda=str(record.cuda),
            channel=record.channel.value,
        )
        cuda = record.cuda.parts
        yield Move(
            tuple(words),
            does,
            tuple(notes),
            (PLACE * (len(words) + 2 * len(python)) + near, -cuda[0], -cuda[-1]),
        )


def _words(project: Project, one: InstallSet, record: CondaRecord, known: TorchRelease | None) -> tuple[list[NewWords], list[Text]]:
    words: list[NewWords] = []
    notes: list[Text] = []
    torch = next((each for each in one.named(*_TORCH) if each.spelling is Spelling.CONDA), None)
    anchor = torch or next((each for each in one.named("torchvision", "torchaudio") if each.spelling is Spelling.CONDA), None)
    if anchor is None or anchor.whole is None or not anchor.whole.editable:
        raise Impossible(one.name)
    if torch is not None:
        words += _torch(project, torch, record)
    words += _selector(project, one, anchor, record)
    words += _channels(project, one, record, notes)
    release = {each.name: each.version for each in known.companions_of(record.version)} if known is not None else {}
    for each in one.requirements:
        if each.name in {"torchvision", "torchaudio"} and each.spelling is Spelling.CONDA and exact_of(each):
            wanted = release.get(each.name, "")
            if not wanted[:1].isdigit():
                notes.append(
                    text(
                        "gpuassist knows no {name} that belongs to torch {torch}: {pinned} stays",
                        name=each.name,
                        torch=str(record.version),
                        pinned=each.versions,
                    )
                )
            elif wanted != exact_of(each).removesuffix(".*"):
                words.append(NewWords(each.spot, respelled(each, wanted, "")))
    return words, notes


def _torch(project: Project, torch: ProjectRequirement, record: CondaRecord) -> list[NewWords]:
    if torch.name == "pytorch-cpu":
        raise Impossible(torch.spot.file)
    spot, build = torch.spot, ""
    if torch.build:
        whole = project.files[spot.file].decode("utf-8", "surrogateescape")
        rest = whole[spot.end : spot.end + len(torch.build) + 1]
        if rest[1:] != torch.build:
            raise Impossible(spot.file)
        spot = Spot(spot.file, spot.line, spot.first, spot.end + len(rest))
        build = "=cuda*" if record.channel is Channel.CONDA_FORGE else ""
    new = f"{respelled(torch, str(record.version), '')}{build}"
    if torch.channel and channel_of(torch.channel) is not record.channel:
        raise Impossible(spot.file)
    whole = project.files[spot.file].decode("utf-8", "surrogateescape")
    return [] if whole[spot.first : spot.end] == new else [NewWords(spot, new)]


def _selector(project: Project, one: InstallSet, anchor: ProjectRequirement, record: CondaRecord) -> Iterator[NewWords]:
    """The line that says which CUDA: the channel's own package, in the place of the one that is there."""
    wanted = f"{record.selector}={record.cuda}"
    there = [each for each in one.named(*SELECTORS) if each.spelling is Spelling.CONDA]
    whole = project.files[anchor.spot.file].decode("utf-8", "surrogateescape")
    assert anchor.whole is not None
    kept = False
    for each in there:
        if each.whole is None or not each.whole.editable:
            raise Impossible(each.spot.file)
        line = whole[each.whole.first : each.whole.end]
        new = "" if kept else f"{_indent(line)}{wanted}{_end(line)}"
        kept = True
        if new != line:
            yield NewWords(each.whole, new)
    if not kept:
        line = whole[anchor.whole.first : anchor.whole.end]
        begin = "" if line.endswith("\n") else "\n"
        place = Spot(anchor.spot.file, anchor.spot.line, anchor.whole.end, anchor.whole.end)
        yield NewWords(place, f"{begin}{_indent(line)}{wanted}{_end(line) or chr(10)}")


def _channels(project: Project, one: InstallSet, record: CondaRecord, notes: list[Text]) -> Iterator[NewWords]:
    """The channel of the build first; where it moves to conda-forge, those of PyTorch and NVIDIA go, which mix with it badly."""
    now = next((channel_of(each) for each in one.channels if channel_of(each) is not None), None)
    if now is record.channel:
        return
    if record.channel is not Channel.CONDA_FORGE:
        raise Impossible(one.name)
    whole = project.files[one.name].decode("utf-8", "surrogateescape")
    there = [each for each in read_yaml(whole) if each.path[:1] == ("channels",) and each.value]
    old = [
        each for each in there if channel_of(each.value) is Channel.PYTORCH or each.value.rstrip("/").rpartition("/")[2] == "nvidia"
    ]
    if not old or any(each.begin < 0 for each in old):
        raise Impossible(one.name)
    forge = any(channel_of(each.value) is Channel.CONDA_FORGE for each in there)
    for number, each in enumerate(old):
        if number == 0 and not forge:
            yield NewWords(Spot(one.name, each.line, each.first, each.end), Channel.CONDA_FORGE.value)
        else:
            yield NewWords(Spot(one.name, each.line, each.begin, each.stop), "")
    notes.append(text("every package now comes from conda-forge: PyTorch's own channel has no newer torch"))


def _indent(line: str) -> str:
    bare = line.lstrip(" ")
    dash = "- " if bare.startswith("-") else ""
    return f"{line[: len(line) - len(bare)]}{dash}"


def _end(line: str) -> str:
    return "\r\n" if line.endswith("\r\n") else "\n" if line.endswith("\n") else ""
