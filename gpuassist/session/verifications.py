"""Earlier verifications of this machine.

Each is the document that `verify --json` prints, in a file of its own under XDG state, with its day, the driver and how thorough it
was; the last twenty are kept, and none that is too large. They are a convenience: what cannot be read is left out, and so is what
another user could have written, or another machine that has the same home.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from gpuassist.model.codec import Json
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.text import Text, text
from gpuassist.session.kept import KeptFiles, UnusableFileError, machine_identity
from gpuassist.system.clock import iso
from gpuassist.system.ownership import require_own_state
from gpuassist.system.untrusted_state import UntrustedStateError
from gpuassist.system.world import World

SCHEMA = 1
AT_MOST = 20
LARGEST = 2 << 20  # bytes: a full run of eight GPUs is a fifth of that


class KeptVerification(Struct, frozen=True):
    """A verification: `made_at` as ISO 8601, the driver's version (empty where not known), its level, and its document."""

    made_at: str
    driver: str
    level: str
    document: Mapping[str, Any]


def root(world: World) -> str:
    """The directory that holds them."""
    return _files().root(world)


def new(world: World, document: Mapping[str, Json], driver: str, level: str) -> KeptVerification:
    """One that was made just now."""
    return KeptVerification(iso(world.clock.now()), driver, level, document)


def keep(world: World, one: KeptVerification) -> Text | None:
    """Keeps it and lets go of the oldest; the reason where it could not be kept."""
    told = {key: getattr(one, key) for key in KeptVerification.__struct_fields__}
    content = json.dumps({"schema": SCHEMA, "machine": machine_identity(world), **told}).encode()
    if len(content) > LARGEST:
        return text("this verification is not kept for later ones: it is too large")
    files = _files()
    try:
        files.make_room(world)
        files.write(world, files.free_name(world, f"{world.clock.now():%Y%m%d-%H%M%S}"), content)
        files.remove(world, files.names(world)[AT_MOST:])
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
    machine = machine_identity(world)
    found = (_read(world, name, machine) for name in _files().names(world))
    return tuple(one for one in found if one is not None)


def text_in(of: Mapping[str, Any], name: str) -> str:
    """A text of a document that may hold anything; empty where it is none."""
    value = of.get(name)
    return value if isinstance(value, str) else ""


def listed_in(of: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The objects in a list of such a document; none where it is no list."""
    found = of.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _files() -> KeptFiles:
    return KeptFiles("verifications", LARGEST)


def _read(world: World, name: str, machine: str) -> KeptVerification | None:
    try:
        told = read_json(_files().read(world, name))
    except (UnusableFileError, NotJsonError):
        return None
    if not isinstance(told, dict) or told.get("schema") != SCHEMA or told.get("machine") != machine:
        return None
    document = told.get("document")
    if not isinstance(document, dict):
        return None
    return KeptVerification(text_in(told, "made_at"), text_in(told, "driver"), text_in(told, "level"), document)
