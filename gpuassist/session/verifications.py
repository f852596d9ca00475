"""Earlier verifications of this machine.

Each is the document that `verify --json` prints, in a file of its own under XDG state, with its day, the driver and how thorough it
was; the last twenty are kept, and none that is too large. They are a convenience: what cannot be read is left out, and so is what
another user could have written, or another machine that has the same home.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from gpuassist.install.records import write_whole
from gpuassist.model.codec import Json
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text
from gpuassist.system.clock import iso
from gpuassist.system.ownership import require_own_state, why_untrusted
from gpuassist.system.untrusted_state import UntrustedStateError
from gpuassist.system.world import World

SCHEMA = 1
AT_MOST = 20
LARGEST = 2 << 20  # bytes: a full run of eight GPUs is a fifth of that

_NAME = lazy_regex(r"\d{8}-\d{6}-\d{1,9}\.json")


class KeptVerification(Struct, frozen=True):
    """A verification: `made_at` as ISO 8601, the driver's version (empty where not known), its level, and its document."""

    made_at: str
    driver: str
    level: str
    document: Mapping[str, Any]


def root(world: World) -> str:
    """The directory that holds them."""
    return f"{world.surroundings.state()}/verifications"


def new(world: World, document: Mapping[str, Json], driver: str, level: str) -> KeptVerification:
    """One that was made just now."""
    return KeptVerification(iso(world.clock.now()), driver, level, document)


def keep(world: World, one: KeptVerification) -> Text | None:
    """Keeps it and lets go of the oldest; the reason where it could not be kept."""
    content = json.dumps(
        {"schema": SCHEMA, "machine": _machine(world), **{key: getattr(one, key) for key in KeptVerification.__struct_fields__}}
    ).encode()
    if len(content) > LARGEST:
        return text("this verification is not kept for later ones: it is too large")
    directory = root(world)
    try:
        require_own_state(world, directory)
        world.disk.make_directory(directory)
        require_own_state(world, directory)
        second = f"{world.clock.now():%Y%m%d-%H%M%S}"
        # One that was let go of leaves its number free, which must not become the newest's.
        number = max((_number(name) for name in _names(world) if name.startswith(second)), default=0) + 1
        write_whole(world.disk, f"{directory}/{second}-{number}.json", content)
        for old in _names(world)[AT_MOST:]:
            world.disk.remove(f"{directory}/{old}")
    except UntrustedStateError as error:
        return error.reason
    except OSError as error:
        return text("this verification could not be kept for later ones: {error}", error=str(error))
    return None


def kept(world: World) -> tuple[KeptVerification, ...]:
    """Those of this machine, newest first."""
    try:
        require_own_state(world, root(world))
    except UntrustedStateError:
        return ()
    machine = _machine(world)
    found = (_read(world, name, machine) for name in _names(world))
    return tuple(one for one in found if one is not None)


def text_in(of: Mapping[str, Any], name: str) -> str:
    """A text of a document that may hold anything; empty where it is none."""
    value = of.get(name)
    return value if isinstance(value, str) else ""


def listed_in(of: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The objects in a list of such a document; none where it is no list."""
    found = of.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _names(world: World) -> list[str]:
    """The files, newest first: two of one second by their number."""
    found = [name for name in world.disk.names(root(world)) if _NAME.fullmatch(name)]
    return sorted(found, key=lambda name: (name[:15], _number(name)), reverse=True)


def _number(name: str) -> int:
    return int(name.removesuffix(".json").split("-")[2])


def _read(world: World, name: str, machine: str) -> KeptVerification | None:
    try:
        content, status = world.disk.read_own(f"{root(world)}/{name}")
        if len(content) > LARGEST or why_untrusted(world, status) is not None:
            return None
        told = read_json(content)
    except (OSError, NotJsonError):
        return None
    if not isinstance(told, dict) or told.get("schema") != SCHEMA or told.get("machine") != machine:
        return None
    document = told.get("document")
    if not isinstance(document, dict):
        return None
    return KeptVerification(text_in(told, "made_at"), text_in(told, "driver"), text_in(told, "level"), document)


def _machine(world: World) -> str:
    """Names this machine where homes are shared: made from its id, which is nobody else's business (machine-id(5))."""
    try:
        identity = world.files.read_text("/etc/machine-id", 100).strip()
    except OSError:
        return ""
    return hashlib.sha256(f"gpuassist {identity}".encode()).hexdigest()[:16]
