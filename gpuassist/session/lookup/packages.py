"""What is known of the packages that bring CUDA into an environment: NVIDIA's wheels, and torch in conda's channels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuassist.formats.conda_build import CondaBuild, read_build
from gpuassist.knowledge.conda import specs
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.nearest import nearest_names, nearest_versions
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version
from gpuassist.session.lookup.answer import LookupAnswer, LookupKind, LookupStatus, by_rule, known, unknown
from gpuassist.session.lookup.versions import read_version

if TYPE_CHECKING:
    from gpuassist.knowledge.records import CondaRecord, WheelRecord
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.model.codec import Json
    from gpuassist.session.lookup.answer import Document

_CONDA_SPEC = lazy_regex(r"(?:[\w-]+::)?(?P<name>[A-Za-z][\w-]*)={1,2}(?P<version>[^=\s]+)(?:=(?P<build>\S+))?")
_TORCHS = frozenset({"torch", "pytorch", "pytorch-gpu", "pytorch-cpu"})
_FILE = lazy_regex(r"(?P<name>[A-Za-z0-9._-]+?)(?:[=<>~! ]=?.*|-\d[\w.]*-py\d.*\.whl)?")  # a requirement, or the wheel's own file


def wheel(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By the name of the package, also as a requirement writes it (`nvidia-cudnn-cu12==9.1.0.70`)."""
    found = _FILE.fullmatch(words)
    record = knowledge.wheel(found["name"]) if found else None
    if record is None:
        return unknown(text("no package {name} of CUDA is known", name=words), nearest_names(words, _wheel_names(knowledge)))
    title = text("{name}: {role}", name=record.distribution, role=record.role)
    if record.instead:
        return known(title, _wheel(record), text("It is an empty placeholder: take {name}.", name=record.instead))
    return known(title, _wheel(record))


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
        return unknown(title, map(str, reversed(versions[-3:])))
    given = asked.version.parts
    found = [one for one in versions if one.parts[: len(given)] == given]
    if found:
        return known(text("torch {version} in conda's channels", version=str(max(found))), _conda(knowledge, max(found)))
    if versions and asked.version > max(versions):
        record: Document = {**by_rule("newer than what I know", knowledge.conda()), "version": str(asked.version), "builds": None}
        title = text("torch {version} in conda's channels: newer than what I know", version=str(asked.version))
        return LookupAnswer(LookupStatus.NEWER, title, record)
    title = text("conda's channels have no torch {version} that I know", version=str(asked.version))
    return unknown(title, map(str, nearest_versions(asked.version, versions)))


def _wheel_names(knowledge: Knowledge) -> tuple[str, ...]:
    return tuple(one.distribution for one in knowledge.wheels())


def _wheel_records(knowledge: Knowledge) -> Iterator[Document]:
    return map(_wheel, knowledge.wheels())


def _conda_names(knowledge: Knowledge) -> tuple[str, ...]:
    return tuple(map(str, _conda_versions(knowledge)))


def _conda_records(knowledge: Knowledge) -> Iterator[Document]:
    return (_conda(knowledge, version) for version in _conda_versions(knowledge))


WHEEL = LookupKind("wheel", wheel, _wheel_names, _wheel_records)
CONDA = LookupKind("conda", conda, _conda_names, _conda_records)


def _wheel(record: WheelRecord) -> Document:
    return {
        "source": record.source,
        "checked": record.checked,
        "name": record.distribution,
        "role": record.role,
        "libraries": [*record.libraries],
        "compilers": [*record.compilers],
        "cuda_majors": [*record.cuda_majors],
        "directory": record.directory or None,
        "instead": record.instead or None,
    }


def _conda_versions(knowledge: Knowledge) -> tuple[Version, ...]:
    return tuple(sorted({one.version for one in knowledge.conda()}))


def _conda(knowledge: Knowledge, version: Version) -> Document:
    found = [one for one in knowledge.conda() if one.version == version]
    builds: list[Json] = [_build(one) for one in found]
    return {
        "source": "; ".join(dict.fromkeys(one.source for one in found)),
        "checked": min(one.checked for one in found),
        "version": str(version),
        "builds": builds,
    }


def _build(record: CondaRecord) -> Document:
    return {
        "channel": record.channel.value,
        "platform": record.platform,
        "cuda": _spelled(record.cuda),
        "cudnn": _spelled(record.cudnn),
        "python": None if record.pythons is None else [str(one) for one in record.pythons],
        "architectures": None if record.targets is None else [str(one) for one in record.targets],
        "jetson": record.tegra,
        "channels": [*record.channels],
        "specs": [*specs(record)],
        "source": record.source,
    }


def _of_build(knowledge: Knowledge, words: str, build: CondaBuild) -> LookupAnswer:
    """What the string itself says, and the versions that were built so."""
    same = [one for one in knowledge.conda() if _is_of(one, build)] if build.cuda else []
    record: Document = {
        **by_rule("the build string itself", knowledge.conda()),
        "build": words,
        "python": _spelled(build.python),
        "cuda": _spelled(build.cuda),
        "cudnn": _spelled(build.cudnn),
        "cpu_only": build.cpu,
        "versions": [str(one) for one in sorted({one.version for one in same})] or None,
    }
    return known(_build_title(words, build), record)


def _build_title(words: str, build: CondaBuild) -> Text:
    return (
        text("{build}: for CUDA {cuda}", build=words, cuda=str(build.cuda))
        if build.cuda
        else text("{build}: for the CPU", build=words)
    )


def _is_of(record: CondaRecord, build: CondaBuild) -> bool:
    return record.cuda == build.cuda and (build.cudnn is None or record.cudnn == build.cudnn)


def _spelled(version: Version | None) -> str | None:
    return None if version is None else str(version)
