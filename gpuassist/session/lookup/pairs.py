"""Libraries that are known not to work together: by the pair's own key, or by the name of one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuassist.model.nearest import nearest_names
from gpuassist.model.text import Text, counted, sentence, text, verbatim
from gpuassist.session.lookup.answer import LookupAnswer, LookupKind, known, unknown

if TYPE_CHECKING:
    from gpuassist.knowledge.records import BadPair, Party
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.model.codec import Json
    from gpuassist.session.lookup.answer import Document


def answer(knowledge: Knowledge, words: str) -> LookupAnswer:
    """One pair, or all pairs of a library: then the first stands at the top and each in `others`."""
    wanted = words.lower()
    pairs = knowledge.bad_pairs()
    found = [one for one in pairs if one.key == wanted] or [one for one in pairs if wanted in _libraries(one)]
    if not found:
        libraries = (name for pair in pairs for name in (pair.key, *_libraries(pair)))
        return unknown(text("no pair with {name} is known to be bad", name=words), nearest_names(words, libraries))
    if len(found) == 1:
        return known(_title(found[0]), _document(found[0]), *_notes(found[0]))
    others: list[Json] = [_document(pair) for pair in found]
    title = counted("{name}: {count} bad pair is known", "{name}: {count} bad pairs are known", len(found), name=words)
    notes = tuple(text("{pair}: {symptom}", pair=_title(pair), symptom=pair.symptom) for pair in found)
    return known(title, {**dict.fromkeys(_document(found[0])), **_sources(found), "others": others}, *notes)


def names(knowledge: Knowledge) -> tuple[str, ...]:
    """The keys."""
    return tuple(pair.key for pair in knowledge.bad_pairs())


def records(knowledge: Knowledge) -> Iterator[Document]:
    """One a pair."""
    return map(_document, knowledge.bad_pairs())


SHELF = LookupKind("pair", answer, names, records)


def _libraries(pair: BadPair) -> tuple[str, str]:
    return pair.one.name.lower(), pair.other.name.lower()


def _title(pair: BadPair) -> Text:
    return text("{one} with {other}", one=_party(pair.one), other=_party(pair.other))


def _party(party: Party) -> str:
    return f"{party.name} {party.versions}".strip()


def _notes(pair: BadPair) -> tuple[Text, ...]:
    told = (verbatim(pair.symptom),) if pair.symptom else ()
    return (*told, *(sentence(words) for words in (pair.why, pair.remedy) if words))


def _sources(pairs: list[BadPair]) -> Document:
    return {"source": "; ".join(dict.fromkeys(one.source for one in pairs)), "checked": min(one.checked for one in pairs)}


def _document(pair: BadPair) -> Document:
    return {
        "source": pair.source,
        "checked": pair.checked,
        "key": pair.key,
        "libraries": {pair.one.name: pair.one.versions, pair.other.name: pair.other.versions},
        "symptom": pair.symptom,
        "why": pair.why,
        "remedy": pair.remedy,
    }
