"""What numbers in NVIDIA's messages mean: Xid events, return codes of NVML and of every other library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gpuassist.knowledge.codes import enums_of
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.nearest import nearest_names, nearest_numbers
from gpuassist.model.text import sentence, text
from gpuassist.session.lookup.answer import LookupAnswer, LookupKind, known, newer, not_known, own_fields, unknown

if TYPE_CHECKING:
    from gpuassist.knowledge.codes import CodeRecord
    from gpuassist.knowledge.records import XidRecord
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.model.text import Text
    from gpuassist.session.lookup.answer import Document

# As typed (`79`, `Xid 79`), and as the kernel logs it: `NVRM: Xid (PCI:0000:65:00): 79, pid=1234, ...`.
_XID = lazy_regex(r"(?:.*\bXid\b\s*(?:\([^)]*\))?\s*:?\s*)?([0-9]{1,9})(?:,.*)?", re.IGNORECASE | re.DOTALL)
_CODE = lazy_regex(r"[0-9]{1,9}")
_NUMBERED = lazy_regex(r"(?:([A-Za-z]{2,12})[ _]?(?:error|status|result)?[ :=#]{0,3})?(-?[0-9]{1,5})", re.IGNORECASE)


def xid(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By number, or by a line of the kernel's log, or by NVIDIA's name for it."""
    found, every = _XID.fullmatch(words.strip()), knowledge.xids()
    if found is None:
        record = next((one for one in every if one.name.lower() == words.strip().lower()), None)
        if record is None:
            title = text("{words} is not the number of an Xid event", words=words)
            return unknown(title, nearest_names(words, (one.name for one in every)))
    else:
        number, numbers = int(found[1]), [one.number for one in every]
        record = knowledge.xid(number)
        if record is None and numbers and number > max(numbers):
            title = text("Xid {number}: newer than what I know", number=number)
            return newer(title, every, {"number": number, **not_known("name meaning action causes ended")})
        if record is None:
            return unknown(text("no Xid event {number} is known", number=number), nearest_numbers(number, numbers))
    return known(text("Xid {number}: {meaning}", number=record.number, meaning=sentence(record.meaning)), _xid_document(record))


def nvml(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By number, or by name with or without its beginning (`LIB_RM_VERSION_MISMATCH`)."""
    plain, codes = words.strip(), _nvml_codes(knowledge)
    short = {one.name.removeprefix("NVML_").removeprefix("ERROR_"): one for one in codes}
    if _CODE.fullmatch(plain):
        record = next((one for one in codes if one.number == int(plain)), None)
        if record is None:
            near = nearest_numbers(int(plain), (one.number for one in codes))
            return unknown(text("NVML has no return code {number} that I know", number=plain), near)
    else:
        wanted = plain.upper().replace(" ", "_").removeprefix("NVML_").removeprefix("ERROR_")
        record = short.get(wanted)
        if record is None:
            names = (short[name].name for name in nearest_names(wanted, short))
            return unknown(text("NVML has no return code {name} that I know", name=words), names)
    title = text("{name} ({code}): {meaning}", name=record.name, code=record.number, meaning=sentence(record.meaning))
    return known(title, _nvml_document(record))


def error(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By name in any spelling, or by number: CUDA's, or that of the library which stands before it (`cupti 35`)."""
    codes = knowledge.codes
    plain, asked = words.strip(), _NUMBERED.fullmatch(words.strip())
    if asked is None:
        meant = tuple(filter(None, (codes.named(plain),)))
    else:
        meant = codes.numbered(enums_of(asked[1] or "cuda"), int(asked[2]))
    if not meant:
        near = nearest_names(plain, (one.name for one in codes.all())) if asked is None else ()
        return unknown(text("NVIDIA's libraries have no code {name} that I know", name=plain), near)
    first, *others = meant
    title = text("{name} ({number} of {enum})", name=first.name, number=first.number, enum=first.enum)
    if first.words:
        title = text("{code}: {words}", code=title, words=first.words)
    notes = (_also(one) for one in others if one.until)
    return known(title, _error_document(knowledge, first), *notes)


def _also(record: CodeRecord) -> Text:
    return text("up to release {release} the number meant {name}", release=record.until, name=record.name)


def _error_document(knowledge: Knowledge, record: CodeRecord) -> Document:
    state = knowledge.codes.state(record)
    told = {
        "problem": (state and state.problem) or None,
        "why_none": (state and state.reason) or None,
        "until": record.until or None,
    }
    return {**own_fields(record, "source checked enum number name"), "words": record.words or None, **told}


def _xid_document(record: XidRecord) -> Document:
    return own_fields(record, "source checked number name meaning action causes ended")


def _nvml_codes(knowledge: Knowledge) -> tuple[CodeRecord, ...]:
    return tuple(one for one in knowledge.codes.all() if one.enum == "nvmlReturn_t")


def _nvml_document(record: CodeRecord) -> Document:
    return {**own_fields(record, "source checked"), "code": record.number, **own_fields(record, "name meaning action")}


XID = LookupKind("xid", xid, lambda base: (str(one.number) for one in base.xids()), lambda base: map(_xid_document, base.xids()))
NVML = LookupKind(
    "nvml", nvml, lambda base: (one.name for one in _nvml_codes(base)), lambda base: map(_nvml_document, _nvml_codes(base))
)
ERROR = LookupKind(
    "error",
    error,
    lambda base: dict.fromkeys(one.name for one in base.codes.all()),
    lambda base: (_error_document(base, one) for one in base.codes.all()),
)
