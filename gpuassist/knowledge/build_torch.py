"""Rows of torch releases and of bad pairs to records; a row that is not one is a `RowError` or a `VersionError`."""

from __future__ import annotations

from gpuassist.knowledge.records import BadPair, Companion, Party, TorchRelease
from gpuassist.knowledge.rows import Row, RowError, Source, flag_of, rows_of, source_of, text_of, texts_of
from gpuassist.knowledge.specifier import admits
from gpuassist.model.version import Version

Sources = dict[str, Source]

_ANY = Version((0,))


def release(row: Row, sources: Sources) -> TorchRelease:
    """A torch release."""
    source = source_of(row, sources)
    return TorchRelease(
        release=Version.parse(text_of(row, "release")),
        patches=tuple(Version.parse(words) for words in texts_of(row, "patches")),
        published=text_of(row, "published"),
        pythons=tuple(Version.parse(words) for words in texts_of(row, "pythons")),
        companions=tuple(_companion(inner) for inner in rows_of(row, "companions")),
        known_in_detail=flag_of(row, "known_in_detail"),
        source=source.text,
        checked=source.checked,
    )


def bad_pair(row: Row, sources: Sources) -> BadPair:
    """Two libraries that do not work together."""
    source = source_of(row, sources)
    parties = [Party(text_of(inner, "name"), _range(inner, "versions")) for inner in rows_of(row, "parties")]
    if len(parties) != 2:
        raise RowError("parties")
    return BadPair(
        key=text_of(row, "key"),
        one=parties[0],
        other=parties[1],
        symptom=text_of(row, "symptom"),
        why=text_of(row, "why"),
        remedy=text_of(row, "remedy"),
        source=source.text,
        checked=source.checked,
    )


def _companion(row: Row) -> Companion:
    return Companion(text_of(row, "name"), _range(row, "version"), Version.parse(text_of(row, "torch")))


def _range(row: Row, name: str) -> str:
    words = text_of(row, name)
    admits(words, _ANY)  # a range that cannot be read damages the row, not the program that asks later
    return words
