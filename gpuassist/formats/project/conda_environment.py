"""environment.yml: conda's packages and channels, and the section that pip installs."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.formats.project.requirements import read_requirements
from gpuassist.formats.project.spellings import of_conda
from gpuassist.formats.project.values import (
    FileReading,
    Include,
    ProjectIndex,
    ProjectRequirement,
    PythonWish,
    Spelling,
    Spot,
    Trouble,
)
from gpuassist.formats.project.yaml_document import NotYamlError, YamlText, read_yaml
from gpuassist.model.text import text, verbatim

KIND = "conda"


def read_environment(file: str, words: str) -> FileReading:
    """What it says; of one that is no YAML the reason with its line."""
    try:
        texts = read_yaml(words)
    except NotYamlError as error:
        return FileReading(file, KIND, troubles=(Trouble(Spot(file, error.line), verbatim(str(error))),))
    found = _Found([], [], [], [], [])
    for one in texts:
        if one.path[:1] != ("dependencies",) or not one.value:
            continue
        if len(one.path) == 2:
            _package(file, one, found)
        elif len(one.path) == 4 and one.path[2] == "pip":
            _line_of_pip(file, one, found)
    channels = tuple(one.value for one in texts if one.path[:1] == ("channels",) and one.value)
    return FileReading(
        file,
        KIND,
        tuple(found.requirements),
        tuple(found.indexes),
        tuple(found.includes),
        tuple(found.pythons),
        troubles=tuple(found.troubles),
        channels=channels,
        made_by="conda",
    )


class _Found(Struct):
    requirements: list[ProjectRequirement]
    indexes: list[ProjectIndex]
    includes: list[Include]
    pythons: list[PythonWish]
    troubles: list[Trouble]


def _package(file: str, one: YamlText, found: _Found) -> None:
    read = of_conda(one.value, Spot(file, one.line), one.first)
    if read is None:
        found.troubles.append(
            Trouble(Spot(file, one.line), text("this is no package as conda names one: {words}", words=one.value[:120]))
        )
        return
    whole = Spot(file, one.line, one.begin, one.stop) if one.begin >= 0 else None
    made = replace(read, whole=whole)
    if made.name == "python":
        found.pythons.append(
            PythonWish(made.versions, made.spot, pinned=bool(made.versions), spelled=made.spelled, spelling=Spelling.CONDA)
        )
    else:
        found.requirements.append(made)


def _line_of_pip(file: str, one: YamlText, found: _Found) -> None:
    """A line of the section pip, which is one of a requirements file; its places are moved to where it stands here."""
    read = read_requirements(file, one.value)

    def moved(spot: Spot) -> Spot:
        return (
            Spot(file, one.line, spot.first + one.first, spot.end + one.first)
            if spot.editable and one.first >= 0
            else Spot(file, one.line)
        )

    for each in read.requirements:
        whole = Spot(file, one.line, one.begin, one.stop) if one.begin >= 0 else None
        found.requirements.append(replace(each, spot=moved(each.spot), whole=whole, group="pip"))
    found.indexes += [ProjectIndex(index.url, index.role, moved(index.spot)) for index in read.indexes]
    found.includes += [Include(include.path, moved(include.spot), constraint=include.constraint) for include in read.includes]
    found.troubles += [Trouble(Spot(file, one.line), trouble.reason) for trouble in read.troubles]
