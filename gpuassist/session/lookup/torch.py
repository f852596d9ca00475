"""What is known of a torch release: by any version that torch prints of itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gpuassist.formats.torch_version import BuildOrigin, read_torch_version
from gpuassist.knowledge.compatibility import driver_floor, windows_driver_floor
from gpuassist.knowledge.conda import specs
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.nearest import nearest_versions
from gpuassist.model.text import Text, listed, text
from gpuassist.model.version import Code, Version
from gpuassist.session.lookup.answer import (
    OLDER_THAN_KNOWN,
    LookupAnswer,
    LookupKind,
    LookupStatus,
    by_rule,
    driver_floors,
    fields,
    known,
    newer,
    not_known,
    own_fields,
    plain,
    unknown,
)
from gpuassist.session.lookup.versions import PastedVersion, read_version

if TYPE_CHECKING:
    from gpuassist.knowledge.records import TorchBuild, TorchRelease
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.model.codec import Json
    from gpuassist.session.lookup.answer import Document

_TAG = lazy_regex(r"(?:^|\+)(cu\d{2,3}|cpu)\b")
_NOT_KNOWN = not_known("version patches published python variants companions conda driver_floors_linux driver_floors_windows")
_COMPANIONS = ("torchvision", "torchaudio")  # of which it is told too that there is none
_FULL = 3  # parts of a version that names its patch


def answer(knowledge: Knowledge, words: str) -> LookupAnswer:
    """The release of the version; a patch, or a build such as `+cu121`, where the version names one."""
    asked = read_version(words)
    releases = tuple(one.release for one in knowledge.torch_releases())
    if asked is None or not releases:
        return unknown(text("{words} is not a version of torch", words=words), reversed(releases[-3:]))
    if asked.is_major:
        of_major = [one for one in releases if one.major == asked.version.major]
        if not of_major:
            if asked.version.major > max(releases).major:
                return _newer(knowledge, asked.version)
            near = nearest_versions(Version((asked.version.major, 0)), releases)
            return unknown(text("no torch {version} is known", version=str(asked.version)), near)
        newest = knowledge.torch_release(max(of_major))
        assert newest is not None
        major = str(asked.version.major)
        title = text("torch {release}, the newest of {major}", release=str(newest.release), major=major)
        note = text("torch {major} is the releases {releases}.", major=major, releases=listed(map(str, of_major)))
        return known(title, _document(knowledge, newest, newest.release), note)
    release = knowledge.torch_release(asked.version)
    if release is not None:
        return _of_release(knowledge, release, asked, words)
    if asked.version.release > max(releases):
        return _newer(knowledge, asked.version)
    if asked.version.release < min(releases):
        title = text("torch {version}: older than what I know in detail", version=str(asked.version))
        record = {**by_rule(OLDER_THAN_KNOWN, knowledge.torch_releases()), **_NOT_KNOWN, "version": str(asked.version)}
        return LookupAnswer(LookupStatus.OLDER, title, record, (_OLD,))
    title = text("no torch {version} is known", version=str(asked.version))
    return unknown(title, nearest_versions(asked.version.release, releases))


def _of_release(knowledge: Knowledge, release: TorchRelease, asked: PastedVersion, words: str) -> LookupAnswer:
    version = asked.version if len(asked.version.parts) >= _FULL else release.release
    notes = _origin(words)
    own = bool(notes)
    title = text("torch {version}", version=str(version))
    if version != release.release and version not in release.patches and not own:
        newest = max(one.release for one in knowledge.torch_releases())
        if release.patches and release.release == newest and version > max(release.patches):
            return _newer(knowledge, version)
        return unknown(text("no torch {version} is known", version=str(version)), nearest_versions(version, release.patches))
    tag = _TAG.search(asked.rest)
    record = _document(knowledge, release, release.release if own else version)
    if tag and not own:
        alone = _alone(knowledge, release, record, tag[1])
        if alone is None:
            tags = dict.fromkeys(str(one["tag"]) for one in _variants(record))
            told = text("{torch} has no build {tag}", torch=title, tag=tag[1])
            return unknown(told, (f"{record['version']}+{one}" for one in tags))
        return known(text("{torch}, build {tag}", torch=title, tag=tag[1]), alone, *_notes_on_pins(alone, release))
    if not release.known_in_detail:
        title = text("torch {version}: older than what I know in detail", version=str(version))
        return LookupAnswer(LookupStatus.OLDER, title, record, (*notes, _OLD))
    return known(title, record, *notes)


def _origin(words: str) -> tuple[Text, ...]:
    """What a version that is no release's own tells of its build."""
    read = read_torch_version(words)
    if read is None or read.origin in {BuildOrigin.RELEASE, BuildOrigin.CANDIDATE}:
        return ()
    if read.month:
        return (text("NVIDIA built it for its images of {month}: `gpuassist know image pytorch:{month}-py3`.", month=read.month),)
    return (text("It was built from source or nightly: its CUDA and its architectures are those that it was built with."),)


_OLD = text("Its builds are not listed; what its own files say of its CUDA and its architectures holds.")


def _alone(knowledge: Knowledge, release: TorchRelease, record: Document, tag: str) -> Document | None:
    """The record with the builds of one tag alone, and what they share at the top; None where the release has none."""
    chosen = [one for one in _variants(record) if one["tag"] == tag]
    if not chosen and _variants(record):
        return None
    builds = [one for one in knowledge.torch_builds(release.release) if one.tag == tag]
    shared: Document = {}
    if chosen:
        # Of the first, which is that for usual machines; another platform's pins stand with it.
        shared = {name: chosen[0][name] for name in ("cuda", "driver_floor_linux", "driver_floor_windows", "pins")}
        shared["python"] = chosen[0]["python"] or record["python"]
        of_conda = [one for one in _listed(record["conda"]) if one["cuda"] == chosen[0]["cuda"]]
        shared["conda"] = plain(of_conda) or None
    every: Document = {name: value for name, value in record.items() if not name.startswith("driver_floors")}
    return {**every, **_sources(release, builds), **shared, "variants": plain(chosen) or None}


def _variants(record: Document) -> list[dict[str, Json]]:
    return _listed(record["variants"])


def _listed(value: Json) -> list[dict[str, Json]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _notes_on_pins(record: Document, release: TorchRelease) -> Iterator[Text]:
    first = next(iter(_variants(record)), None)
    if first is not None and first["pins"] is None:
        newest = str(max(release.patches, default=release.release))
        if str(record["version"]) not in {newest, str(release.release)}:
            yield text("What it pins is known of {newest}, the newest patch, alone.", newest=newest)
    elif first is not None and first["pins"] == {} and first["cuda"]:
        yield text("It pins no package of NVIDIA's: CUDA's libraries are inside its own wheel.")


def _newer(knowledge: Knowledge, version: Version) -> LookupAnswer:
    note = text("Its own files say which CUDA and which architectures it was built for; the rules for them are the same.")
    title = text("torch {version}: newer than what I know", version=str(version))
    return newer(title, knowledge.torch_releases(), {**_NOT_KNOWN, "version": str(version)}, note)


def _document(knowledge: Knowledge, release: TorchRelease, version: Version) -> Document:
    """`version` is the release, and then its newest patch is meant, or one patch of it."""
    builds = knowledge.torch_builds(release.release)
    patch = version if version != release.release else max(release.patches, default=version)
    pythons = release.pythons or tuple(sorted({python for build in builds for python in build.pythons}))
    belonging = {one.name: one.version for one in release.companions_of(patch)}
    companions: dict[str, str | None] = {**dict.fromkeys(_COMPANIONS), **belonging} if belonging else {}
    return {
        **_sources(release, builds),
        **fields(
            version=version,
            patches=release.patches or None,
            published=release.published or None,
            python=pythons or None,
            variants=[_variant(build, patch) for build in builds] or None,
            companions=companions or None,
            conda=_of_conda(knowledge, patch) or None,
        ),
        **driver_floors(build.cuda for build in builds if build.cuda),
    }


def _sources(release: TorchRelease, builds: Iterable[TorchBuild]) -> Document:
    every = tuple(builds)
    sources = dict.fromkeys("; ".join((release.source, *(build.source for build in every))).split("; "))
    return {"source": "; ".join(sources), "checked": min((release.checked, *(build.checked for build in every)))}


def _of_conda(knowledge: Knowledge, patch: Version) -> list[Document]:
    """How conda is asked for that patch, the newest CUDA of each channel first."""
    found = [one for one in knowledge.conda() if one.version == patch]
    ordered = sorted(found, key=lambda one: one.cuda or Version(()), reverse=True)
    return [
        {**own_fields(one, "channel platform cuda"), **fields(jetson=one.tegra, channels=one.channels, specs=specs(one))}
        for one in sorted(ordered, key=lambda one: (one.channel.value, one.platform != "linux-64"))
    ]


def _variant(build: TorchBuild, patch: Version) -> Document:
    unlisted = build.cuda is not None and not build.targets
    pins = build.pins if patch == build.newest else None  # each patch pins its own; only those of the newest are known
    return fields(
        tag=build.tag,
        cuda=build.cuda,
        platform=build.machine,
        default_index=build.default,
        driver_floor_linux=driver_floor(build.cuda) if build.cuda else None,
        driver_floor_windows=windows_driver_floor(build.cuda) if build.cuda else None,
        python=build.pythons or None,
        architectures=None if unlisted else [target for target in build.targets if target.code is Code.CUBIN],
        ptx=None if unlisted else [target for target in build.targets if target.code is Code.PTX],
        pins=None if pins is None else dict(pins),
        source=build.source,
    )


# Of each release the builds of its newest patch.
SHELF = LookupKind(
    "torch",
    answer,
    lambda base: (str(one.release) for one in base.torch_releases()),
    lambda base: (_document(base, one, one.release) for one in base.torch_releases()),
)
