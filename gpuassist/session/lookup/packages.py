"""What is known of the packages that bring CUDA into an environment: NVIDIA's wheels, and torch in conda's channels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuassist.formats.conda_build import CondaBuild, read_build
from gpuassist.knowledge.conda import of_channel, specs
from gpuassist.knowledge.records import Channel
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.nearest import nearest_names, nearest_versions
from gpuassist.model.text import Text, sentence, text
from gpuassist.model.version import Version
from gpuassist.session.lookup.answer import (
    LookupAnswer,
    LookupKind,
    by_rule,
    driver_floors,
    fields,
    known,
    newer,
    not_known,
    own_fields,
    provenance,
    unknown,
)
from gpuassist.session.lookup.versions import read_version

if TYPE_CHECKING:
    from gpuassist.knowledge.records import CondaPackage, CondaRecord, WheelRecord
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.session.lookup.answer import Document

_CONDA_SPEC = lazy_regex(r"(?:[\w-]+::)?(?P<name>[A-Za-z][\w-]*)(?:(?:={1,2}| )(?P<version>[^=\s]+)(?:=(?P<build>\S+))?)?")
_TORCHS = frozenset({"torch", "pytorch", "pytorch-gpu", "pytorch-cpu", "libtorch"})
# A record of conda's is of a package or of a version of torch.
_NO_TORCH = not_known("version builds")
_NO_PACKAGE = not_known(
    "name role manager channel last libraries compilers cuda cuda_majors instead driver_floors_linux driver_floors_windows"
)
_FILE = lazy_regex(r"(?P<name>[A-Za-z0-9._-]+?)(?:[=<>~! ]=?.*|-\d[\w.]*-py\d.*\.whl)?")  # a requirement, or the wheel's own file


def wheel(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By the name of the package, also as a requirement writes it (`nvidia-cudnn-cu12==9.1.0.70`)."""
    found = _FILE.fullmatch(words)
    record = knowledge.wheel(found["name"]) if found else None
    if record is None:
        of_conda = _package(knowledge, found["name"]) if found else None
        if of_conda is not None:
            note = text("It is a package of conda's: pip does not get it by that name.")
            return known(_title(of_conda), _of_conda(knowledge, of_conda), note, *_instead(of_conda))
        notes = (_ASK_TORCH,) if found and found["name"].lower() in _TORCHS else ()
        names = (one.distribution for one in knowledge.wheels())
        return unknown(text("no package {name} of CUDA is known", name=words), nearest_names(words, names), *notes)
    title = text("{name}: {role}", name=record.distribution, role=sentence(record.role))
    notes = (text("It is an empty placeholder: take {name}.", name=record.instead),) if record.instead else ()
    return known(title, _wheel(record), *notes)


_ASK_TORCH = text("torch itself is asked for by its version: `gpuassist know torch 2.9`.")


def conda(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By a package's name, the version of torch, or a build string (`py3.12_cuda12.4_cudnn9.1.0_0`) for what it says itself."""
    build = read_build(words)
    if "_" in words and (build.cuda or build.cpu is not None) and not build.rest:
        return _of_build(knowledge, words, build)
    versions = _conda_versions(knowledge)
    named = _CONDA_SPEC.fullmatch(words)
    package = _package(knowledge, named["name"]) if named else None
    if named and package is not None and (named["version"] is None or named["name"].lower() not in _TORCHS):
        return _of_package(knowledge, package, named["version"] or "")
    if named and named["name"].lower() not in _TORCHS and named["version"] is not None:
        names = (one.name for one in knowledge.conda_packages())
        title = text("{words} is not torch; ask for a version of torch, or for a build string", words=words)
        return unknown(title, nearest_names(named["name"], names))
    if named and named["build"]:
        return conda(knowledge, named["build"])
    asked = read_version(named["version"] if named and named["version"] else words)
    if asked is None:
        title = text("{words} is neither a version of torch nor a build string", words=words)
        near = nearest_names(words, (one.name for one in knowledge.conda_packages()))
        return unknown(title, near or reversed(versions[-3:]))
    given = asked.version.parts
    found = [one for one in versions if one.parts[: len(given)] == given]
    if found:
        return known(text("torch {version} in conda's channels", version=str(max(found))), _conda(knowledge, max(found)))
    if versions and asked.version > max(versions):
        title = text("torch {version} in conda's channels: newer than what I know", version=str(asked.version))
        return newer(title, knowledge.conda(), {**_NO_PACKAGE, **fields(version=asked.version, builds=None)})
    title = text("conda's channels have no torch {version} that I know", version=str(asked.version))
    return unknown(title, nearest_versions(asked.version, versions))


def _package(knowledge: Knowledge, name: str) -> CondaPackage | None:
    return next((one for one in knowledge.conda_packages() if one.name == name.lower()), None)


def _of_package(knowledge: Knowledge, package: CondaPackage, version: str) -> LookupAnswer:
    """A package by its name; of a version it is told where none such is known."""
    document = _of_conda(knowledge, package)
    notes = list(_instead(package))
    asked, cudas = read_version(version) if version else None, _cudas(knowledge, package)
    if asked is not None and cudas and not any(one.parts == asked.version.parts[: len(one.parts)] for one in cudas):
        notes.insert(0, text("It has no {version} that I know.", version=version))
    return known(_title(package), document, *notes)


def _title(package: CondaPackage) -> Text:
    return text("{name}: {role}", name=package.name, role=sentence(package.role))


def _instead(package: CondaPackage) -> tuple[Text, ...]:
    return (text("What took its place is {name}.", name=package.instead),) if package.instead else ()


def _of_conda(knowledge: Knowledge, package: CondaPackage) -> Document:
    cudas = _cudas(knowledge, package)
    newest = (
        max((one.version for one in _of_forge(knowledge)), default=None) if package.of_torch and package.name in _TORCHS else None
    )
    return {
        **_NO_TORCH,
        **own_fields(package, "source checked name role"),
        **fields(
            manager="conda",
            channel=package.channel,
            last=package.last or newest,
            libraries=package.libraries,
            compilers=(),
            cuda=cudas or None,
            cuda_majors=tuple(dict.fromkeys(one.major for one in cudas)),
            instead=package.instead or None,
        ),
        **driver_floors(cudas),
    }


def _cudas(knowledge: Knowledge, package: CondaPackage) -> tuple[Version, ...]:
    if not package.of_torch or package.name == "pytorch-cpu":
        return package.cudas
    return tuple(sorted({one.cuda for one in _of_forge(knowledge) if one.cuda and _selects(package, one)}))


def _selects(package: CondaPackage, record: CondaRecord) -> bool:
    return package.name in _TORCHS or record.selector == package.name


def _of_forge(knowledge: Knowledge) -> tuple[CondaRecord, ...]:
    return of_channel(knowledge.conda(), Channel.CONDA_FORGE)


def _of_build(knowledge: Knowledge, words: str, build: CondaBuild) -> LookupAnswer:
    """What the string itself says, and the versions that were built so."""
    same = {
        one.version
        for one in knowledge.conda()
        if build.cuda and one.cuda == build.cuda and (build.cudnn is None or one.cudnn == build.cudnn)
    }
    own = fields(
        build=words, python=build.python, cuda=build.cuda, cudnn=build.cudnn, cpu_only=build.cpu, versions=sorted(same) or None
    )
    title = text("{build}: for the CPU", build=words)
    if build.cuda:
        title = text("{build}: for CUDA {cuda}", build=words, cuda=str(build.cuda))
    return known(title, {**by_rule("the build string itself", knowledge.conda()), **own})


def _wheel(record: WheelRecord) -> Document:
    return fields(
        source=record.source,
        checked=record.checked,
        name=record.distribution,
        role=record.role,
        manager="pip",
        last=record.last,
        last_seen=record.last_seen,
        libraries=record.libraries,
        compilers=record.compilers,
        cuda_majors=record.cuda_majors,
        directory=record.directory or None,
        instead=record.instead or None,
    ) | driver_floors(Version((major, 1)) for major in record.cuda_majors)


def _conda_versions(knowledge: Knowledge) -> tuple[Version, ...]:
    return tuple(sorted({one.version for one in knowledge.conda()}))


def _conda(knowledge: Knowledge, version: Version) -> Document:
    found = [one for one in knowledge.conda() if one.version == version]
    return {**_NO_PACKAGE, **provenance(*found), **fields(version=version, builds=[_build(one) for one in found])}


def _conda_records(knowledge: Knowledge) -> Iterator[Document]:
    yield from (_of_conda(knowledge, one) for one in knowledge.conda_packages())
    yield from (_conda(knowledge, version) for version in _conda_versions(knowledge))


def _build(record: CondaRecord) -> Document:
    return {
        **own_fields(record, "channel platform cuda cudnn"),
        **fields(python=record.pythons, architectures=record.targets, jetson=record.tegra, channels=record.channels),
        **fields(specs=specs(record), source=record.source),
    }


WHEEL = LookupKind(
    "wheel", wheel, lambda base: (one.distribution for one in base.wheels()), lambda base: map(_wheel, base.wheels())
)
CONDA = LookupKind(
    "conda",
    conda,
    lambda base: (*(one.name for one in base.conda_packages()), *map(str, _conda_versions(base))),
    _conda_records,
)
