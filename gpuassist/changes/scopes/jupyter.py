"""The `env` of a kernel's kernel.json: what Jupyter gives a kernel beside the environment of its own server.

`${NAME}` in a value stands for what the server has, so that PATH can be prepended to (jupyter_client, kernel specs). Members are
changed in the text: what is not changed stays byte for byte, what is added looks like its neighbours. The standard library's own
decoder finds where each value ends; only the text between values is read here."""

from __future__ import annotations

import json
from json import JSONDecoder

from msgspec import Struct

from gpuassist.changes.scopes.values import ScopeValues, Wanted, require_simple
from gpuassist.model.json_reader import NotJsonError, read_json, whole
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text
from gpuassist.shellfiles.block import RepairError

_NEW = b'{\n "env": {}\n}\n'


def rewritten(content: bytes, wanted: Wanted) -> bytes:
    """The file with what is wanted in its `env`; raises `RepairError` for a file that is no kernel's."""
    words = _words(content)
    env = _env(words)
    after = with_members(words, "env", _members(env, wanted)).encode()
    now: dict[str, str | None] = {**env, **_members(env, wanted)}
    if _env(_words(after)) != {
        name: value for name, value in now.items() if value is not None
    }:  # never: but a file that Jupyter cannot read costs somebody a kernel
        raise RepairError(text("its `env` could not be changed without changing something else"))
    return after


def held(content: bytes) -> ScopeValues:
    """What the file's `env` chooses, whoever wrote it; raises `RepairError` for a file that is no kernel's."""
    env = _env(_words(content))
    devices = env.get("CUDA_VISIBLE_DEVICES", "")
    return ScopeValues(env.get("CUDA_HOME", ""), "", tuple(devices.split(",")) if devices else ())


def by_hand(wanted: Wanted) -> str:
    """The members of `env`, for a file that may not be written."""
    return rewritten(_NEW, wanted).decode()


def _words(content: bytes) -> str:
    try:
        words = content.decode()
    except UnicodeDecodeError as error:
        raise RepairError(text("it is not UTF-8")) from error
    read_object(words)
    return words


def _env(words: str) -> dict[str, str]:
    env = read_object(words).get("env", {})
    if not isinstance(env, dict) or not all(isinstance(value, str) for value in env.values()):
        raise RepairError(text("its `env` is no object of strings"))
    return env


def _members(env: dict[str, str], wanted: Wanted) -> dict[str, str | None]:
    chosen: dict[str, str | None] = {}
    if wanted.toolkit is not None:
        require_simple(ScopeValues(wanted.toolkit, wanted.libraries))
        chosen |= {"CUDA_HOME": wanted.toolkit, "PATH": _first(env, "PATH", f"{wanted.toolkit}/bin", env.get("CUDA_HOME", ""))}
        if wanted.libraries:
            chosen["LD_LIBRARY_PATH"] = _first(env, "LD_LIBRARY_PATH", wanted.libraries, env.get("CUDA_HOME", ""))
    if wanted.devices is not None:
        found = dict(ScopeValues(devices=wanted.devices).variables)
        known = ("CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES") if "CUDA_VISIBLE_DEVICES" in env or found else ()
        chosen |= {name: found.get(name) for name in known}
    return chosen


def _first(env: dict[str, str], name: str, directory: str, before: str) -> str:
    """The list with the directory first; the one of the toolkit that was chosen before goes."""
    kept = [one for one in env.get(name, "${" + name + "}").split(":") if one != directory]
    if kept and before and kept[0].startswith(f"{before}/"):
        kept = kept[1:]
    return ":".join((directory, *kept))


_SPACE = lazy_regex(r"[ \t\r\n]*")


class _Member(Struct, frozen=True):
    """One member in the text: from its name to the end of its value."""

    name: str
    first: int
    value: int
    end: int


class _Object(Struct, frozen=True):
    """An object in the text, from its brace to behind the other one."""

    first: int
    end: int
    members: tuple[_Member, ...]

    def member(self, name: str) -> _Member | None:
        return next((one for one in self.members if one.name == name), None)


def read_object(words: str) -> dict[str, object]:
    """The object that the text is; raises `RepairError` where it is none, or where a name stands in it twice."""
    try:
        found: object = read_json(words)
    except NotJsonError as error:
        raise RepairError(text("it is not JSON ({error})", error=str(error))) from error
    if not isinstance(found, dict):
        raise RepairError(text("it holds no JSON object"))
    names = [member.name for member in _object(words, _after_space(words, 0)).members]
    if len(names) != len(set(names)):
        raise RepairError(text("a name stands in it twice"))
    return found


def with_members(words: str, name: str, wanted: dict[str, str | None]) -> str:
    """The text whose object `name` has these members, none of those that are wanted as none; raises as `read_object` does.

    The object is added where it is needed, and taken out where nothing would be left in it.
    """
    outer = _object(words, _after_space(words, 0))
    member = outer.member(name)
    if member is None:
        fresh = {one: value for one, value in wanted.items() if value is not None}
        return _added(words, outer, name, _fresh(words, outer, fresh)) if fresh else words
    inner = words[member.value : member.end]
    read_object(inner)
    changed = inner
    for one, value in wanted.items():
        changed = _without(changed, one) if value is None else _with(changed, one, value, _indent(words, outer))
    if changed != inner and not read_object(changed):
        return _without(words, name)
    return words[: member.value] + changed + words[member.end :]


def _with(words: str, name: str, value: str, indent: str) -> str:
    outer = _object(words, 0)
    member = outer.member(name)
    if member is None:
        return _added(words, outer, name, _quoted(value), closing=indent)
    if json.loads(words[member.value : member.end]) == value:
        return words
    return words[: member.value] + _quoted(value) + words[member.end :]


def _added(words: str, outer: _Object, name: str, value: str, *, closing: str = "") -> str:
    """With one more member, behind the last one and set apart from it as that one is from what stands before it."""
    colon = _between(words, outer)
    if not outer.members:
        inside = f"{closing}{_unit(closing)}" if "\n" in closing else ""
        return f"{words[: outer.first + 1]}{inside}{_quoted(name)}{colon}{value}{closing if inside else ''}{words[outer.end - 1 :]}"
    last = outer.members[-1]
    gap = words[_gap_before(words, last.first) : last.first] or (" " if len(outer.members) == 1 else "")
    return f"{words[: last.end]},{gap}{_quoted(name)}{colon}{value}{words[last.end :]}"


def _fresh(words: str, outer: _Object, members: dict[str, str]) -> str:
    indent, colon = _indent(words, outer), _between(words, outer)
    inside = f"{indent}{_unit(indent)}" if "\n" in indent else ""
    parts = f",{inside or ' '}".join(f"{_quoted(name)}{colon}{_quoted(value)}" for name, value in members.items())
    return "{" + inside + parts + (indent if inside else "") + "}"


def _without(words: str, name: str) -> str:
    outer = _object(words, _after_space(words, 0))
    member = outer.member(name)
    if member is None:
        return words
    place = outer.members.index(member)
    if place:
        return words[: outer.members[place - 1].end] + words[member.end :]
    if len(outer.members) > 1:
        return words[: member.first] + words[outer.members[1].first :]
    return words[: outer.first + 1] + words[outer.end - 1 :]


def _indent(words: str, outer: _Object) -> str:
    """The line end and the spaces in front of a member of the outer object; empty where all is on one line."""
    if not outer.members:
        return ""
    first = outer.members[0].first
    gap = words[_gap_before(words, first) : first]
    return gap[gap.rfind("\r\n") if "\r\n" in gap else gap.rfind("\n") :] if "\n" in gap else ""


def _unit(indent: str) -> str:
    return indent.lstrip("\r\n")


def _between(words: str, outer: _Object) -> str:
    if not outer.members:
        return ": "
    first = outer.members[0]
    _, name_end = JSONDecoder(parse_int=whole).raw_decode(words, first.first)
    return words[name_end : first.value]


def _gap_before(words: str, place: int) -> int:
    return len(words[:place].rstrip(" \t\r\n"))


def _object(words: str, first: int) -> _Object:
    """The object that begins there; the text is known to be JSON."""
    decoder = JSONDecoder(parse_int=whole)
    members: list[_Member] = []
    place = _after_space(words, first + 1)
    while words[place] != "}":
        name, name_end = decoder.raw_decode(words, place)
        value = _after_space(words, _after_space(words, name_end) + 1)
        _, end = decoder.raw_decode(words, value)
        members.append(_Member(name, place, value, end))
        place = _after_space(words, end)
        place = _after_space(words, place + 1) if words[place] == "," else place
    return _Object(first, place + 1, tuple(members))


def _after_space(words: str, place: int) -> int:
    found = _SPACE.match(words, place)
    return found.end() if found else place


def _quoted(words: str) -> str:
    return json.dumps(words)
