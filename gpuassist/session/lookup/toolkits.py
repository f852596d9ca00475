"""What is known of a CUDA release: by any version of its toolkit, or by its major."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuassist.knowledge.compatibility import driver_floor
from gpuassist.model.nearest import nearest_versions
from gpuassist.model.text import text
from gpuassist.model.version import Code, Target, Version
from gpuassist.session.lookup.answer import LookupAnswer, LookupKind, LookupStatus, by_rule, known, unknown
from gpuassist.session.lookup.versions import read_version

if TYPE_CHECKING:
    from gpuassist.knowledge.records import ToolkitRecord
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.model.codec import Json
    from gpuassist.session.lookup.answer import Document


def answer(knowledge: Knowledge, words: str) -> LookupAnswer:
    """The release of the version in the words; of a major alone, its newest."""
    asked = read_version(words)
    releases = tuple(toolkit.release for toolkit in knowledge.toolkits())
    if asked is None:
        return unknown(text("{words} is not a version of CUDA", words=words), map(str, reversed(releases[-3:])))
    of_major = [one for one in releases if one.major == asked.version.major]
    if asked.is_major and of_major:
        newest = knowledge.toolkit(max(of_major))
        assert newest is not None
        title = text("CUDA {release}, the newest of {major}", release=str(newest.release), major=str(newest.release.major))
        note = text(
            "CUDA {major} is the releases {releases}.", major=str(newest.release.major), releases=", ".join(map(str, of_major))
        )
        return known(title, _document(newest), note)
    toolkit = knowledge.toolkit(asked.version)
    if toolkit is not None:
        return known(text("CUDA {release}", release=str(toolkit.release)), _document(toolkit))
    release = asked.version.release
    if releases and release > max(releases):
        return _outside(knowledge, release, LookupStatus.NEWER)
    if releases and release < min(releases):
        return _outside(knowledge, release, LookupStatus.OLDER)
    title = text("CUDA {release} never was a toolkit", release=str(release))
    branch = next((one for one in knowledge.branches() if one.cuda == release), None)
    near = map(str, nearest_versions(release, releases))
    if branch is None:
        return unknown(title, near)
    note = text("It is what nvidia-smi shows with drivers of branch {branch}: what they run at most.", branch=str(branch.branch))
    return unknown(title, near, note)


def names(knowledge: Knowledge) -> tuple[str, ...]:
    """The releases, oldest first."""
    return tuple(str(toolkit.release) for toolkit in knowledge.toolkits())


def records(knowledge: Knowledge) -> Iterator[Document]:
    """One a release."""
    return map(_document, knowledge.toolkits())


SHELF = LookupKind("cuda", answer, names, records)


def _outside(knowledge: Knowledge, release: Version, standing: LookupStatus) -> LookupAnswer:
    floor = str(driver_floor(release))
    newer = standing is LookupStatus.NEWER
    new_major = newer and release.major > max(one.release.major for one in knowledge.toolkits())
    record: Document = {
        **by_rule("newer than what I know" if newer else "older than what I know", knowledge.toolkits()),
        "version": str(release),
        "architectures": None,
        "deprecated": None,
        "driver_min_linux": None,
        "driver_floor_linux": floor if newer and not new_major else None,
        "gcc_max": None,
        "clang_max": None,
        "glibc_clash": None,
    }
    if newer:
        title = text("CUDA {release}: newer than what I know", release=str(release))
        note = (
            text("A new major version: its programs need a newer driver than {floor}; how new is not known.", floor=floor)
            if new_major
            else text("By rule, its programs need driver {floor} at least.", floor=floor)
        )
    else:
        title = text("CUDA {release}: older than what I know", release=str(release))
        note = text("The oldest release that I know is {oldest}.", oldest=str(min(one.release for one in knowledge.toolkits())))
    return LookupAnswer(standing, title, record, (note,))


def _document(toolkit: ToolkitRecord) -> Document:
    return {
        "source": toolkit.source,
        "checked": toolkit.checked,
        "version": str(toolkit.release),
        "architectures": [str(one) for one in toolkit.codes],
        "deprecated": None
        if toolkit.deprecated is None
        else [str(Target(one.capability, Code.CUBIN)) for one in toolkit.deprecated],
        "driver_min_linux": None if toolkit.native_driver is None else str(toolkit.native_driver),
        "driver_floor_linux": str(toolkit.driver_floor),
        "gcc_max": toolkit.gcc_limit,
        "clang_max": toolkit.clang_limit,
        "glibc_clash": None if toolkit.glibc_clash is None else str(toolkit.glibc_clash),
    }


def _deprecated(toolkit: ToolkitRecord) -> list[Json] | None:
    """By the names of the machine code; the record has those of the PTX."""
    if toolkit.deprecated is None:
        return None
    return [str(Target(one.capability, Code.CUBIN, one.suffix)) for one in toolkit.deprecated]
