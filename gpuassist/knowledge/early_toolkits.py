"""Which CUDA release first knew an architecture, and which last, where that was before the first release whose record is here."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.knowledge.rows import Row, RowError, Source, text_of
from gpuassist.model.version import ComputeCapability, Version


@dataclass(frozen=True, slots=True)
class EarlyToolkits:
    """The releases for one compute capability; None where not known, and of `last` where a release with a record is the last."""

    capability: ComputeCapability
    first: Version | None
    last: Version | None
    source: str
    checked: str


def build(row: Row, sources: dict[str, Source]) -> EarlyToolkits:
    """From a row of the file."""
    source = sources.get(text_of(row, "source"))
    if source is None:
        raise RowError("source")
    first, last = text_of(row, "first", ""), text_of(row, "last", "")
    return EarlyToolkits(
        capability=ComputeCapability.parse(text_of(row, "capability")),
        first=Version.parse(first) if first else None,
        last=Version.parse(last) if last else None,
        source=source.text,
        checked=text_of(row, "checked", source.checked),
    )
