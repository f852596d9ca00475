"""Rows of container images and of conda's torch builds to records; a row that is not one is a `RowError` or a `VersionError`."""

from __future__ import annotations

from functools import lru_cache

from gpuassist.knowledge.records import Channel, CondaRecord, ImageFamily, ImageRecord, LabelRecord, SystemRecord
from gpuassist.knowledge.rows import Row, Source, flag_of, source_of, text_of, texts_of
from gpuassist.model.version import ComputeCapability, Target, Version

Sources = dict[str, Source]


def image(row: Row, sources: Sources) -> ImageRecord:
    """A month of a framework image."""
    source = source_of(row, sources)
    capability = _words(row, "capability_min")
    return ImageRecord(
        family=ImageFamily(text_of(row, "family")),
        month=Version.parse(text_of(row, "month")),
        cuda=Version.parse(text_of(row, "cuda")),
        torch=_words(row, "torch"),
        tensorrt=_version(row, "tensorrt"),
        python=_version(row, "python"),
        system=_words(row, "system"),
        driver=_version(row, "driver"),
        compat_drivers=_versions(row, "compat_drivers") or (),
        capability_min=None if capability is None else ComputeCapability.parse(capability),
        jetpack=_version(row, "jetpack"),
        source=source.text,
        checked=source.checked,
    )


def system(row: Row, sources: Sources) -> SystemRecord:
    """A distribution that images stand on."""
    source = source_of(row, sources)
    return SystemRecord(text_of(row, "system"), Version.parse(text_of(row, "glibc")), source.text, source.checked)


def conda(row: Row, sources: Sources) -> CondaRecord:
    """A torch build of a conda channel."""
    source = source_of(row, sources)
    targets = texts_of(row, "targets") if row.fields.get("targets") is not None else None
    return CondaRecord(
        channel=Channel(text_of(row, "channel")),
        version=Version.parse(text_of(row, "version")),
        platform=text_of(row, "platform"),
        cuda=_version(row, "cuda"),
        selector=text_of(row, "selector", ""),
        channels=texts_of(row, "channels"),
        cudnn=_version(row, "cudnn"),
        pythons=_versions(row, "pythons"),
        targets=None if targets is None else _parsed_targets(targets),
        tegra=flag_of(row, "tegra"),
        source=source.text,
        checked=source.checked,
    )


def conda_label(row: Row, sources: Sources) -> LabelRecord:
    """A label of the channel `nvidia`."""
    source = source_of(row, sources)
    return LabelRecord(Version.parse(text_of(row, "cuda")), source.text, source.checked)


def _words(row: Row, name: str) -> str | None:
    return None if row.fields.get(name) is None else text_of(row, name)


def _version(row: Row, name: str) -> Version | None:
    words = _words(row, name)
    return None if words is None else Version.parse(words)


def _versions(row: Row, name: str) -> tuple[Version, ...] | None:
    return None if row.fields.get(name) is None else _parsed_versions(texts_of(row, name))


# The builds of conda share a handful of lists (of Pythons 7, of architectures 10): each is parsed once.
@lru_cache(maxsize=64)
def _parsed_versions(words: tuple[str, ...]) -> tuple[Version, ...]:
    return tuple(map(Version.parse, words))


@lru_cache(maxsize=64)
def _parsed_targets(words: tuple[str, ...]) -> tuple[Target, ...]:
    return tuple(map(Target.parse, words))
