"""What is known of an engine beside torch, by its name in any spelling, with or without a release: `vllm`, `xformers==0.0.35`."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from gpuassist.knowledge.engines import floor_of, pythons_of, releases_named
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text
from gpuassist.session.lookup.answer import LookupAnswer, LookupKind, fields, known, plain, provenance, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpuassist.knowledge.engine_records import EngineRecord, EngineRelease
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.session.lookup.answer import Document

_ASKED = lazy_regex(r"\s*(?P<name>[A-Za-z][\w. -]*?(?:\[[\w,-]*\])?)\s*(?:={0,2}\s*v?(?P<release>\d[\w.!+-]*))?\s*")


def answer(knowledge: Knowledge, words: str) -> LookupAnswer:
    """The release that the words name, or the newest; where the tables end before it, the newest that they have."""
    found = _ASKED.fullmatch(words)
    engine = knowledge.engine(found["name"].replace(" ", "-")) if found else None
    if found is None or engine is None:
        names = [name for one in knowledge.engines() for name in (one.key, *one.aliases)]
        near = get_close_matches(words.partition("=")[0].strip().lower(), names, 3, 0.6)
        return unknown(text("{words} is no engine that I know", words=words), near or [one.key for one in knowledge.engines()[:3]])
    every = knowledge.engine_releases(engine.key)
    variant = [one for one in every if "[" in found["name"] and one.package == found["name"].lower()] or list(every)
    meant = releases_named(variant, found["release"] or "")
    title = text("{engine} {release}", engine=engine.title, release=found["release"] or "")
    if not meant:
        newest = [one.newest for one in releases_named(variant, "")[:3]]
        note = text("Its own page tells what it asks for: {page}", page=engine.home)
        return unknown(text("{engine}: no such release is known", engine=title), newest, note)
    note = text("`gpuassist plan {key}` tells which release fits this machine, and keeps the torch that is there.", key=engine.key)
    listed = () if found["release"] else variant
    title = text("{engine} {release}", engine=engine.title, release=meant[0].newest)
    return known(title, _document(engine, meant[0], listed), note)


def _document(engine: EngineRecord, release: EngineRelease, listed: Iterable[EngineRelease]) -> Document:
    return {
        **provenance(release),
        **fields(name=engine.key, version=release.newest, **_facts(engine, release), page=engine.home),
        "releases": plain([{"versions": list(one.releases), **_facts(engine, one)} for one in listed]) or None,
    }


def _facts(engine: EngineRecord, release: EngineRelease) -> dict[str, object]:
    """None is not known, an empty list is none that is asked for."""
    return {
        "package": release.package,
        "asks_for_torch": release.torch or (["any"] if engine.asks_torch else []),
        "cuda_majors": release.cuda,
        "python": pythons_of(release) or None,
        "platforms": release.machines or None,
        "compute_capability_min": release.capability_min,
        "compute_capability_max": release.capability_max,
        "driver_floor_linux": floor_of(release),
    }


def _records(knowledge: Knowledge) -> list[Document]:
    every = ((one, knowledge.engine_releases(one.key)) for one in knowledge.engines())
    return [_document(engine, releases_named(rows, "")[0], rows) for engine, rows in every if rows]


SHELF = LookupKind("engine", answer, lambda base: (one.key for one in base.engines()), _records)
