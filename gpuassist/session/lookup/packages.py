"""What is known of the packages that bring CUDA into an environment: NVIDIA's wheels, and torch in conda's channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuassist.formats.conda_build import CondaBuild, read_build
from gpuassist.knowledge.conda import specs
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.nearest import nearest_names, nearest_versions
from gpuassist.model.text import sentence, text
from gpuassist.model.version import Version
from gpuassist.session.lookup.answer import (
    LookupAnswer,
    LookupKind,
    by_rule,
    fields,
    known,
    newer,
    own_fields,
    provenance,
    unknown,
)
from gpuassist.session.lookup.versions import read_version

if TYPE_CHECKING:
    from gpuassist.knowledge.records import CondaRecord, WheelRecord
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.session.lookup.answer import Document

_CONDA_SPEC = lazy_regex(r"(?:[\w-]+::)?(?P<name>[A-Za-z][\w-]*)={1,2}(?P<version>[^=\s]+)(?:=(?P<build>\S+))?")
_TORCHS = frozenset({"torch", "pytorch", "pytorch-gpu", "pytorch-cpu"})
_FILE = lazy_regex(r"(?P<name>[A-Za-z0-9._-]+?)(?:[=<>~! ]=?.*|-\d[\w.]*-py\d.*\.whl)?")  # a requirement, or the wheel's own file


def wheel(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By the name of the package, also as a requirement writes it (`nvidia-cudnn-cu12==9.1.0.70`)."""
    found = _FILE.fullmatch(words)
    record = knowledge.wheel(found["name"]) if found else None
    if record is None:
        return unknown(
            text("no package {name} of CUDA is known", name=words),
            nearest_names(words, (one.distribution for one in knowledge.wheels())),
        )
    title = text("{name}: {role}", name=record.distribution, role=sentence(record.role))
    notes = (text("It is an empty placeholder: take {name}.", name=record.instead),) if record.instead else ()
    return known(title, _wheel(record), *notes)


def conda(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By the version of torch, or by a build string (`py3.12_cuda12.4_cudnn9.1.0_0`) for what it says itself."""
    build = read_build(words)
    if "_" in words and (build.cuda or build.cpu is not None) and not build.rest:
        return _of_build(knowledge, words, build)
    versions = _conda_versions(knowledge)
    named = _CONDA_SPEC.fullmatch(words)
    if named and named["name"].lower() not in _TORCHS:
        return unknown(text("{words} is not torch; ask for a version of torch, or for a build string", words=words), ())
    if named and named["build"]:
        return conda(knowledge, named["build"])
    asked = read_version(named["version"] if named else words)
    if asked is None:
        title = text("{words} is neither a version of torch nor a build string", words=words)
        return unknown(title, reversed(versions[-3:]))
    given = asked.version.parts
    found = [one for one in versions if one.parts[: len(given)] == given]
    if found:
        return known(text("torch {version} in conda's channels", version=str(max(found))), _conda(knowledge, max(found)))
    if versions and asked.version > max(versions):
        title = text("torch {version} in conda's channels: newer than what I know", version=str(asked.version))
        return newer(title, knowledge.conda(), fields(version=asked.version, builds=None))
    title = text("conda's channels have no torch {version} that I know", version=str(asked.version))
    return unknown(title, nearest_versions(asked.version, versions))


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
        libraries=record.libraries,
        compilers=record.compilers,
        cuda_majors=record.cuda_majors,
        directory=record.directory or None,
        instead=record.instead or None,
    )


def _conda_versions(knowledge: Knowledge) -> tuple[Version, ...]:
    return tuple(sorted({one.version for one in knowledge.conda()}))


def _conda(knowledge: Knowledge, version: Version) -> Document:
    found = [one for one in knowledge.conda() if one.version == version]
    return {**provenance(*found), **fields(version=version, builds=[_build(one) for one in found])}


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
    lambda base: map(str, _conda_versions(base)),
    lambda base: (_conda(base, version) for version in _conda_versions(base)),
)
