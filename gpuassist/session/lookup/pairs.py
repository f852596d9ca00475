"""Libraries that are known not to work together: by the pair's own key, or by the name of one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuassist.model.nearest import nearest_names
from gpuassist.model.text import Text, counted, sentence, text, verbatim
from gpuassist.session.lookup.answer import LookupAnswer, LookupKind, fields, known, plain, provenance, unknown

if TYPE_CHECKING:
    from gpuassist.knowledge.records import BadPair
    from gpuassist.knowledge.tables import Knowledge
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
        (pair,) = found
        told = (verbatim(pair.symptom),) if pair.symptom else ()
        return known(_title(pair), _document(pair), *told, *(sentence(words) for words in (pair.why, pair.remedy) if words))
    title = counted("{name}: {count} bad pair is known", "{name}: {count} bad pairs are known", len(found), name=words)
    each = [_document(pair) for pair in found]
    notes = (text("{pair}: {symptom}", pair=_title(pair), symptom=pair.symptom) for pair in found)
    return known(title, {**dict.fromkeys(each[0]), **provenance(*found), "others": plain(each)}, *notes)


def _libraries(pair: BadPair) -> tuple[str, str]:
    return pair.one.name.lower(), pair.other.name.lower()


def _title(pair: BadPair) -> Text:
    one, other = (f"{party.name} {party.versions}".strip() for party in (pair.one, pair.other))
    return text("{one} with {other}", one=one, other=other)


def _document(pair: BadPair) -> Document:
    return fields(
        source=pair.source,
        checked=pair.checked,
        key=pair.key,
        libraries={pair.one.name: pair.one.versions, pair.other.name: pair.other.versions},
        symptom=pair.symptom,
        why=pair.why,
        remedy=pair.remedy,
    )


SHELF = LookupKind(
    "pair", answer, lambda base: (pair.key for pair in base.bad_pairs()), lambda base: map(_document, base.bad_pairs())
)
