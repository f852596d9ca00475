"""What is known of a CUDA release: by any version of its toolkit, or by its major."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuassist.knowledge.compatibility import driver_floor
from gpuassist.model.nearest import nearest_versions
from gpuassist.model.text import listed, text
from gpuassist.model.version import Code, Target, Version
from gpuassist.session.lookup.answer import (
    NEWER_THAN_KNOWN,
    OLDER_THAN_KNOWN,
    LookupAnswer,
    LookupKind,
    LookupStatus,
    by_rule,
    fields,
    known,
    not_known,
    unknown,
)
from gpuassist.session.lookup.versions import read_version

if TYPE_CHECKING:
    from gpuassist.knowledge.records import ToolkitRecord
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.session.lookup.answer import Document


def answer(knowledge: Knowledge, words: str) -> LookupAnswer:
    """The release of the version in the words; of a major alone, its newest."""
    asked = read_version(words)
    releases = tuple(toolkit.release for toolkit in knowledge.toolkits())
    if asked is None:
        return unknown(text("{words} is not a version of CUDA", words=words), reversed(releases[-3:]))
    of_major = [one for one in releases if one.major == asked.version.major]
    if asked.is_major and of_major:
        newest = knowledge.toolkit(max(of_major))
        assert newest is not None
        major = str(newest.release.major)
        title = text("CUDA {release}, the newest of {major}", release=str(newest.release), major=major)
        note = text("CUDA {major} is the releases {releases}.", major=major, releases=listed(map(str, of_major)))
        return known(title, _document(newest), note)
    toolkit = knowledge.toolkit(asked.version)
    if toolkit is not None:
        return known(text("CUDA {release}", release=str(toolkit.release)), _document(toolkit))
    release = asked.version.release
    if releases and not min(releases) < release < max(releases):
        return _outside(knowledge, release, newer=release > max(releases))
    title, near = text("CUDA {release} never was a toolkit", release=str(release)), nearest_versions(release, releases)
    branch = next((one for one in knowledge.branches() if one.cuda == release), None)
    if branch is None:
        return unknown(title, near)
    note = text("It is what nvidia-smi shows with drivers of branch {branch}: what they run at most.", branch=str(branch.branch))
    return unknown(title, near, note)


def _outside(knowledge: Knowledge, release: Version, *, newer: bool) -> LookupAnswer:
    """By rule, what a release that is newer or older than all of them needs."""
    floor = str(driver_floor(release))
    toolkits = knowledge.toolkits()
    new_major = newer and release.major > max(one.release.major for one in toolkits)
    if newer:
        title = text("CUDA {release}: newer than what I know", release=str(release))
        note = text("By rule, its programs need driver {floor} at least.", floor=floor)
        if new_major:
            note = text("A new major version: its programs need a newer driver than {floor}; how new is not known.", floor=floor)
    else:
        title = text("CUDA {release}: older than what I know", release=str(release))
        note = text("The oldest release that I know is {oldest}.", oldest=str(min(one.release for one in toolkits)))
    record = {
        **by_rule(NEWER_THAN_KNOWN if newer else OLDER_THAN_KNOWN, toolkits),
        "version": str(release),
        **not_known("architectures deprecated driver_min_linux"),
        "driver_floor_linux": floor if newer and not new_major else None,
        **not_known("gcc_max clang_max glibc_clash"),
    }
    return LookupAnswer(LookupStatus.NEWER if newer else LookupStatus.OLDER, title, record, (note,))


def _document(toolkit: ToolkitRecord) -> Document:
    # By the names of the machine code; the record has those of the PTX.
    deprecated = None if toolkit.deprecated is None else [Target(one.capability, Code.CUBIN) for one in toolkit.deprecated]
    return fields(
        source=toolkit.source,
        checked=toolkit.checked,
        version=toolkit.release,
        architectures=toolkit.codes,
        deprecated=deprecated,
        driver_min_linux=toolkit.native_driver,
        driver_floor_linux=toolkit.driver_floor,
        gcc_max=toolkit.gcc_limit,
        clang_max=toolkit.clang_limit,
        glibc_clash=toolkit.glibc_clash,
    )


SHELF = LookupKind(
    "cuda",
    answer,
    lambda base: (str(toolkit.release) for toolkit in base.toolkits()),
    lambda base: map(_document, base.toolkits()),
)
