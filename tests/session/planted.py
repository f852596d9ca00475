"""Secrets of many kinds, planted in every string of a value."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from msgspec import Struct

from gpuassist.model.fact import Unknown
from gpuassist.model.text import Text, verbatim
from gpuassist.model.version import ComputeCapability, Target, Version

# Each with the pieces that would tell it.
SECRETS: dict[str, tuple[str, ...]] = {
    "annaberg": ("annaberg",),
    "anna-thinkpad-7": ("anna-thinkpad", "thinkpad-7"),
    "/home/annaberg/phd": ("annaberg", "phd"),
    "/Users/annaberg/Desktop/q3": ("annaberg", "q3"),
    "C:\\Users\\annaberg\\NTUSER.DAT": ("annaberg", "NTUSER"),
    "/mnt/c/Users/annaberg/OneDrive - Acme": ("annaberg", "OneDrive", "Acme"),
    "/data/projects/zebramerger/venv": ("zebramerger",),
    "~/zebramerger/train.py": ("zebramerger", "train.py"),
    "anna.berg@acme-corp.example": ("anna.berg", "acme-corp"),
    "AKIAIOSFODNN7EXAMPLE": ("AKIAIOSF",),
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY": ("wJalrX", "K7MDENG", "bPxRfi"),
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a": ("ghp_", "16C7e42F"),
    "hf_jVbQxKcWmZyTnPqRsLdGhFaUoIeBwN": ("hf_j", "jVbQxK"),
    "sk-proj-9aZkQ2mPx7Lw": ("sk-proj", "9aZkQ2"),
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm5hIn0.c2lnbmF0dXJl": ("eyJhbGci", "eyJzdWI", "c2lnbmF0"),
    "xoxb-2233445566-abcdefXYZ": ("xoxb", "abcdefXYZ", "2233445566"),
    "https://anna:hunter2@pypi.acme.example/simple": ("hunter2", "pypi.acme", "anna:"),
    "https://pypi.org/t/tk-4f9d/simple": ("tk-4f9d",),
    "https://pypi.org/simple/?token=s3cr3t": ("s3cr3t", "token"),
    "git+ssh://git@gitlab.acme.example/zebra/merger.git": ("gitlab", "zebra", "merger"),
    "git@gitlab.acme.example:zebra/merger.git": ("gitlab", "zebra", "merger"),
    "password=correcthorse": ("password", "correcthorse"),
    "--api-key s3cr3tvalue": ("s3cr3tvalue", "api-key"),
    "export HF_TOKEN=hf_QQQQwwwwEEEErrrr": ("HF_TOKEN", "QQQQwwww"),
    "GPU-8f3a1c55-77d1-4e0b-9c2d-5b1f0a6e4c3d": ("8f3a1c55", "77d1", "5b1f0a6e4c3d"),
    "MIG-5c89852c-d268-5b5c-8f5c-0e1a4b4b0777": ("5c89852c", "0e1a4b4b0777"),
    "3c:52:82:ab:cd:ef": ("3c:52", "52:82", "ab:cd"),
    "192.168.217.144": ("192.168", "168.217", "217.144"),  # no piece is a moment's seconds, which a report has
    "fd12:3456:789a::1": ("fd12", "3456:789a"),
    "1321021036987": ("1321021036987",),
    "4a1f0c7be2d94c5f8a3b6d7e9f0a1b2c": ("4a1f0c7b",),
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ anna@box": ("ed25519", "AAAAC3", "anna@"),
    "-----BEGIN OPENSSH PRIVATE KEY-----": ("OPENSSH", "PRIVATE"),
    "+4917612345678": ("4917612345678",),
    "4111111111111111": ("4111111111111111",),
    "DE89370400440532013000": ("DE8937",),
    "078-05-1120": ("078-05", "05-1120"),
    "python /srv/zebra/train_merger.py --wandb-key 0123456789abcdef0123": (
        "zebra",
        "train_merger",
        "wandb-key",
        "0123456789abcdef",
    ),
    "zebramerger-prod": ("zebramerger",),
    "acme-private-model==1.4": ("acme", "private-model"),
    "docker 9f86d081884c7d65": ("9f86d081",),
    "Project Nightingale": ("Nightingale",),
    "анна-берг": ("анна", "берг"),
    "aHVudGVyMjpzZWNyZXQ=": ("aHVudGVy",),
    "DESKTOP-ANNA42": ("ANNA42",),
    "acme_q3_layoffs": ("acme_q3", "layoffs"),
    "ABCD-EFGH-1234-5678": ("ABCD-EFGH", "1234-5678"),
    "+49 89 1234 5678": ("1234 5678", "89 1234"),
    "NL91 ABNA 0417 1643 00": ("ABNA", "0417 1643 00"),
    "10.214.7.33": ("10.214.7", "214.7.33"),
}
# How one gets into words that were there.
WAYS: dict[str, Callable[[str, str], str]] = {
    "instead": lambda _, secret: secret,
    "below": lambda there, secret: f"{there}/{secret}",
    "before": lambda there, secret: f"{secret} {there}",
    "within": lambda there, secret: f"{there}:{secret}",
    "joined": lambda there, secret: f"{there}-{secret}",
}
_LEAVES = (Version, ComputeCapability, Target, Enum, bool, int, float, type(None))


def planted(value: Any, plant: Callable[[str], str]) -> Any:
    """The value with every string in it as `plant` makes it of the one that was there."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return plant(value)
    if isinstance(value, _LEAVES):
        return value
    if isinstance(value, Text):
        return verbatim(plant("not looked at"))
    if isinstance(value, Unknown):
        return Unknown(verbatim(plant("not looked at")), value.asked)
    if isinstance(value, tuple):
        return tuple(planted(one, plant) for one in value)
    assert isinstance(value, Struct)
    return type(value)(*(planted(getattr(value, field), plant) for field in value.__struct_fields__))


def in_turn(start: int, way: str) -> Callable[[str], str]:
    """Plants the next secret at each place, beginning with one of them."""
    secrets = tuple(SECRETS)
    place = start

    def plant(there: str) -> str:
        nonlocal place
        place += 1
        return WAYS[way](there, secrets[place % len(secrets)])

    return plant


def told_in(words: str) -> list[str]:
    """The pieces of secrets that stand in words, with what is around them."""
    lowered = words.lower()
    found = ((piece, lowered.find(piece.lower())) for piece in _PIECES)
    return [f"{piece}: {words[max(0, place - 40) : place + 40]}" for piece, place in found if place >= 0]


_PIECES = sorted({piece for pieces in SECRETS.values() for piece in pieces})
