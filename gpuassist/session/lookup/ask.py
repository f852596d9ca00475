"""The knowledge base asked: one record by its kind and any spelling of its name, the names of a kind, or everything."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from gpuassist.model.text import text
from gpuassist.session.lookup import architectures, codes, drivers, engines, gpus, images, packages, pairs, toolkits, torch
from gpuassist.session.lookup.answer import LookupAnswer, LookupStatus, unknown

if TYPE_CHECKING:
    from gpuassist.context import Session
    from gpuassist.model.codec import Json
    from gpuassist.model.words import Words
    from gpuassist.session.lookup.answer import Document, LookupKind

SCHEMA = 1
_LONGEST = 300  # letters of a name that is looked for: no product has more, and a pasted file would take minutes to compare

SHELVES: dict[str, LookupKind] = {
    shelf.kind: shelf
    for shelf in (
        gpus.SHELF,
        toolkits.SHELF,
        torch.SHELF,
        engines.SHELF,
        drivers.SHELF,
        architectures.SHELF,
        images.SHELF,
        packages.WHEEL,
        packages.CONDA,
        pairs.SHELF,
        codes.XID,
        codes.NVML,
        codes.ERROR,
    )
}
KINDS = tuple(SHELVES)


def ask(session: Session, kind: str, words: str) -> LookupAnswer:
    """The record that the words name; for a name that is not known, the nearest ones. `kind` is one of `KINDS`."""
    plain = " ".join(words.split())
    if not plain or len(plain) > _LONGEST:
        return unknown(text("this is no name of anything"), ())
    return SHELVES[kind].answer(session.knowledge, plain)


def names(session: Session, kind: str) -> tuple[str, ...]:
    """What of a kind can be asked for."""
    return tuple(SHELVES[kind].names(session.knowledge))


def nearest_kinds(kind: str) -> tuple[str, ...]:
    """The kinds that were meant by one that does not exist."""
    return tuple(get_close_matches(kind.lower(), KINDS, 1, cutoff=0.5))


def answer_document(kind: str, words: str, answered: LookupAnswer, render: Words) -> Document:
    """The one record that `know KIND NAME --json` prints; of a name that is not known, the nearest ones and no record."""
    notes: list[Json] = [render(note) for note in answered.notes]
    if answered.standing is LookupStatus.UNKNOWN:
        said: Document = {"asked": words, "reason": render(answered.title), "nearest": [*answered.nearest]}
        return {"schema": SCHEMA, "kind": kind, "standing": answered.standing.value, **said, "notes": notes}
    return {**_record(kind, answered.record), "standing": answered.standing.value, "notes": notes}


def names_document(session: Session, kind: str) -> Document:
    """What `know KIND --json` prints."""
    return {"schema": SCHEMA, "kind": kind, "names": [*names(session, kind)]}


def everything(session: Session) -> Document:
    """Every record of every kind; reads all files whole, so that what of them is damaged is noticed."""
    session.knowledge.damaged()
    return {
        "schema": SCHEMA,
        **{kind: [_record(kind, one) for one in shelf.records(session.knowledge)] for kind, shelf in SHELVES.items()},
    }


def _record(kind: str, record: Document) -> Document:
    return {"schema": SCHEMA, "kind": kind, **record}
