"""What the fields of a recorded machine are called where all of it is shown."""

from __future__ import annotations

from gpuassist.model.text import Text, text, verbatim
from gpuassist.present.facts import LABELS

UNSHOWN = frozenset({"schema"})  # of the file, and not of the machine
_RECORD_LABELS: dict[str, Text] = {
    "active": text("active"),
    "code": text("code"),
    "codename": text("code name"),
    "commands": text("programs"),
    "compilers": text("host compilers"),
    "content": text("content"),
    "driver": text("driver"),
    "environments": text("Python environments"),
    "exists": text("exists"),
    "family": text("family"),
    "gpus": text("GPUs"),
    "holders": text("GPU processes"),
    "holds": text("packages held back"),
    "host": text("computer"),
    "id": text("id"),
    "id_like": text("similar to"),
    "image": text("image"),
    "libraries": text("libraries"),
    "licence": text("licence"),
    "max_speed_gigatransfers": text("highest speed in GT/s"),
    "max_width": text("most lanes"),
    "mode": text("permissions"),
    "name": text("name"),
    "new_terminal": text("in a new terminal"),
    "next_start": text("next start"),
    "note": text("note"),
    "open_flavour": text("open kernel module"),
    "own": text("in the terminal that gpuassist was started from"),
    "owner": text("owner"),
    "path": text("path"),
    "prefix": text("directory"),
    "readable": text("this user may read it"),
    "real_path": text("leads to"),
    "root": text("directory"),
    "shadows": text("hidden by others of that name"),
    "shell": text("shell"),
    "signer": text("signed by"),
    "sites": text("package directories"),
    "speed_gigatransfers": text("speed in GT/s"),
    "startup_files": text("start-up files"),
    "system": text("system"),
    "system_packages": text("sees the system's packages"),
    "taken_at": text("read at"),
    "toolkits": text("CUDA toolkits"),
    "torch": text("torch"),
    "unread": text("not read"),
    "variables": text("variables"),
    "variant": text("variant"),
    "version_id": text("version"),
    "width": text("lanes"),
    "wrappers": text("wrappers of nvcc"),
    "writable": text("this user may write it"),
}


def label_of(field: str) -> Text:
    """Its label; a field that nobody named is told by its own name."""
    return _RECORD_LABELS.get(field) or LABELS.get(field) or verbatim(field.replace("_", " "))
