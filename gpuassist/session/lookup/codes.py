"""What numbers in NVIDIA's messages mean: Xid events and NVML return codes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.nearest import nearest_names, nearest_numbers
from gpuassist.model.text import text
from gpuassist.session.lookup.answer import LookupAnswer, LookupKind, LookupStatus, by_rule, known, unknown

if TYPE_CHECKING:
    from gpuassist.knowledge.codes import NvmlCodeRecord, XidRecord
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.session.lookup.answer import Document

# As typed (`79`, `Xid 79`), and as the kernel logs it: `NVRM: Xid (PCI:0000:65:00): 79, pid=1234, ...`.
_XID = lazy_regex(r"(?:.*\bXid\b\s*(?:\([^)]*\))?\s*:?\s*)?([0-9]{1,9})(?:,.*)?", re.IGNORECASE | re.DOTALL)
_CODE = lazy_regex(r"[0-9]{1,9}")


def xid(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By number, or by a line of the kernel's log."""
    found = _XID.fullmatch(words.strip())
    numbers = [one.number for one in knowledge.xids()]
    if found is None:
        by_name = next((one for one in knowledge.xids() if one.name.lower() == words.strip().lower()), None)
        if by_name is not None:
            return _known_xid(by_name)
        title = text("{words} is not the number of an Xid event", words=words)
        return unknown(title, nearest_names(words, (one.name for one in knowledge.xids())))
    number = int(found[1])
    record = knowledge.xid(number)
    if record is not None:
        return _known_xid(record)
    if numbers and number > max(numbers):
        newer: Document = {
            **by_rule("newer than what I know", knowledge.xids()),
            "number": number,
            **dict.fromkeys(("name", "meaning", "action", "causes", "ended")),
        }
        return LookupAnswer(LookupStatus.NEWER, text("Xid {number}: newer than what I know", number=number), newer)
    return unknown(text("no Xid event {number} is known", number=number), map(str, nearest_numbers(number, numbers)))


def nvml(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By number, or by name with or without its beginning (`LIB_RM_VERSION_MISMATCH`)."""
    plain = words.strip()
    codes = knowledge.nvml_codes()
    if _CODE.fullmatch(plain):
        record = knowledge.nvml_code(int(plain))
        if record is None:
            near = nearest_numbers(int(plain), (one.code for one in codes))
            return unknown(text("NVML has no return code {number} that I know", number=plain), map(str, near))
        return _known_code(record)
    wanted = plain.upper().replace(" ", "_").removeprefix("NVML_").removeprefix("ERROR_")
    found = next((one for one in codes if one.name.removeprefix("NVML_").removeprefix("ERROR_") == wanted), None)
    if found is not None:
        return _known_code(found)
    short = {one.name.removeprefix("NVML_").removeprefix("ERROR_"): one.name for one in codes}
    return unknown(
        text("NVML has no return code {name} that I know", name=words), tuple(short[name] for name in nearest_names(wanted, short))
    )


def _xid_names(knowledge: Knowledge) -> tuple[str, ...]:
    return tuple(str(one.number) for one in knowledge.xids())


def _xid_records(knowledge: Knowledge) -> Iterator[Document]:
    return map(_xid_document, knowledge.xids())


def _nvml_names(knowledge: Knowledge) -> tuple[str, ...]:
    return tuple(one.name for one in knowledge.nvml_codes())


def _nvml_records(knowledge: Knowledge) -> Iterator[Document]:
    return map(_nvml_document, knowledge.nvml_codes())


XID = LookupKind("xid", xid, _xid_names, _xid_records)
NVML = LookupKind("nvml", nvml, _nvml_names, _nvml_records)


def _known_xid(record: XidRecord) -> LookupAnswer:
    return known(text("Xid {number}: {meaning}", number=record.number, meaning=record.meaning), _xid_document(record))


def _known_code(record: NvmlCodeRecord) -> LookupAnswer:
    title = text("{name} ({code}): {meaning}", name=record.name, code=record.code, meaning=record.meaning)
    return known(title, _nvml_document(record))


def _xid_document(record: XidRecord) -> Document:
    return {
        "source": record.source,
        "checked": record.checked,
        "number": record.number,
        "name": record.name,
        "meaning": record.meaning,
        "action": record.action,
        "causes": [cause.value for cause in record.causes],
        "ended": record.ended,
    }


def _nvml_document(record: NvmlCodeRecord) -> Document:
    return {
        "source": record.source,
        "checked": record.checked,
        "code": record.code,
        "name": record.name,
        "meaning": record.meaning,
        "action": record.action,
    }
