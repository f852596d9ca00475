"""What a file of a kept machine holds: the values themselves as msgspec writes them, ten times as fast as the codec's documents,
which are for others to read. They are read back through the codec, so that a field that is missing or new does no harm.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.codec import DecodeError, decode
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.past import KeptMachine, KeptStartupFile, StartupLine
from gpuassist.model.text import Text, text
from gpuassist.session.kept import UnusableFileError
from gpuassist.system.clock import iso

SCHEMA = 1
_NESTED = "it is nested too deeply"
_NOT_KNOWN = "it was not known when this was kept"


class KeptHead(Struct, frozen=True):
    """What stands beside the machine: read without it, in a tenth of the time."""

    identity: str = ""
    by: str = ""
    boot: str = ""
    first: str = ""
    startup: tuple[KeptStartupFile, ...] = ()

    def lines(self) -> dict[str, tuple[StartupLine, ...]]:
        """The lines of each start-up file, by its digest."""
        return {one.digest: one.lines for one in self.startup if one.digest}


class _KeptDocument(Struct, frozen=True):
    schema: int
    kept: KeptMachine


class _HeadOfDocument(Struct, frozen=True):
    schema: int
    kept: KeptHead


def encoded(one: KeptMachine) -> bytes:
    """What is written."""
    return _bytes_of(_KeptDocument(SCHEMA, one))


def head_in(content: bytes) -> KeptHead:
    """What a file tells beside the machine; raises `UnusableFileError`."""
    try:
        told = msgspec.json.decode(content, type=_HeadOfDocument)
        if told.schema == SCHEMA:
            return told.kept
    except (msgspec.DecodeError, RecursionError):
        pass
    try:  # names that are no UTF-8; or it says what is wrong
        return msgspec.convert(fields_in(content), KeptHead)
    except (msgspec.ValidationError, RecursionError) as error:
        raise _damaged(str(error)) from None


def fields_in(content: bytes) -> dict[str, Any]:
    """What a file tells of a machine, which may be anything yet; raises `UnusableFileError`."""
    try:
        told = _read(content)
    except NotJsonError as error:
        raise _damaged(str(error)) from None
    schema = told.get("schema") if isinstance(told, dict) else None
    if isinstance(schema, int) and schema != SCHEMA:
        version = text("it was kept by another version of gpuassist (schema {found}, here {ours})", found=schema, ours=SCHEMA)
        raise UnusableFileError(version)
    fields = told.get("kept") if isinstance(told, dict) else None
    if schema != SCHEMA or not isinstance(fields, dict):
        raise UnusableFileError(text("it is no kept machine"))
    return fields


def machine_in(content: bytes, at: datetime) -> KeptMachine:
    """The machine of a file, last seen so at that moment; raises `UnusableFileError`."""
    try:
        one: KeptMachine = decode(KeptMachine, _as_document(fields_in(content)))
    except DecodeError as error:
        raise _damaged(error.reason) from None
    except RecursionError:
        raise _damaged(_NESTED) from None
    last = iso(at.astimezone())
    return replace(one, at=last, first=_no_later(one.first, at) or last, machine=replace(one.machine, taken_at=last))


def tells_nothing_new(now: KeptMachine, before: KeptMachine) -> bool:
    """Whether all that is known of the machine now was known of it then, and so."""
    return _is_covered(_read(_compared(now)), _read(_compared(before)))


def is_told_in(content: bytes, now: KeptMachine) -> bool:
    """The same of a machine that is in a file, which tells nothing where it is damaged."""
    if b'"machine":%b,"startup":%b' % (_bytes_of(now.machine), _bytes_of(now.startup)) in content:
        return True
    try:
        fields = fields_in(content)
    except UnusableFileError:
        return False
    return _is_covered(_read(_compared(now)), [fields.get("machine"), fields.get("startup")])


def _is_covered(now: Any, before: Any) -> bool:
    """Whether `before` says all that `now` says; what is unknown now says nothing, and where a fact was read is no part of it."""
    if now == before:
        return True
    if isinstance(now, dict):
        if "asked" in now and "reason" in now:
            return True
        if not isinstance(before, dict) or now.keys() != before.keys():
            return False
        return all(_is_covered(value, before[name]) for name, value in now.items() if name != "source")
    if isinstance(now, list):
        return isinstance(before, list) and len(now) == len(before) and all(map(_is_covered, now, before))
    return False


def _compared(one: KeptMachine) -> bytes:
    return _bytes_of((replace(one.machine, taken_at=""), one.startup))


def _bytes_of(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # a name of a file that is no UTF-8
        return json.dumps(msgspec.to_builtins(value)).encode()


def _read(content: bytes) -> Any:
    """The same as `read_json`, which takes longer and is asked where this reader gives up: at names that are no UTF-8."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return read_json(content)


def _as_document(told: Any) -> Any:
    """Values as the codec's documents have them: versions in words, an unknown fact without a value."""
    if isinstance(told, list):
        return [_as_document(one) for one in told]
    if not isinstance(told, dict):
        return told
    keys = told.keys()
    if keys == {"parts", "spelling"}:
        return told["spelling"] or ".".join(map(str, told["parts"] if isinstance(told["parts"], list) else ()))
    if keys == {"major", "minor"}:
        return f"{told['major']}.{told['minor']}"
    if keys == {"capability", "code", "suffix"} and isinstance(told["capability"], dict):
        return f"{told['code']}_{told['capability'].get('major')}{told['capability'].get('minor')}{told['suffix']}"
    if keys == {"reason", "asked"}:
        return {"value": None, "reason": _NOT_KNOWN, "asked": told["asked"]}
    if keys == {"message", "parameters", "plural"}:
        return _words_of(told)
    return {name: _as_document(value) for name, value in told.items()}


def _words_of(told: dict[str, Any]) -> str:
    """A text in English, as far as its slots are plain: what a file says is no format to be obeyed."""
    words, given = told["message"], told["parameters"]
    for one in given if isinstance(given, list) else ():
        if isinstance(words, str) and isinstance(one, list) and len(one) == 2 and isinstance(one[0], str):
            value = _words_of(one[1]) if isinstance(one[1], dict) and one[1].keys() == told.keys() else str(one[1])
            words = words.replace(f"{{{one[0]}}}", value)
    return words if isinstance(words, str) else ""


def _no_later(first: str, at: datetime) -> str:
    """The first moment, if it is one and does not come after the last."""
    try:
        return first if datetime.fromisoformat(first) <= at else ""
    except (ValueError, TypeError):  # no time, or one without its zone
        return ""


def _damaged(words: str | Text) -> UnusableFileError:
    return UnusableFileError(text("it is damaged: {words}", words=words))
