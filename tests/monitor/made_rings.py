"""Files as a watched program writes them, of processes of a machine under a directory."""

from __future__ import annotations

import os
from pathlib import Path
from struct import pack

from gpuassist.monitor.inside import gpuassist_memory as inside
from tests.fakes import put

UUID = bytes.fromhex("4090aaaa000040008000000000000000")
FIGURES = (10, 20, 30, 40, 10, 5, 0, 0)
MY_BASE = f"/run/user/{os.geteuid()}/gpuassist"


def living(root: Path, pid: int, started: int, *, command: str = "python train.py", environment: str = "") -> None:
    """A process of this user's in /proc."""
    put(root, f"/proc/{pid}/stat", f"{pid} (a) b) S {' '.join(['0'] * 18)} {started} 0\n")
    put(root, f"/proc/{pid}/cmdline", command.replace(" ", "\0") + "\0")
    put(root, f"/proc/{pid}/environ", environment + "\0")


def head(pid: int, started: int, *, namespace: int = 0) -> bytes:
    return pack(inside.HEAD, inside.MAGIC, pid, os.geteuid(), started, namespace, 1.0, b"2.6.0", b"3.11.7")


def state(
    *, beat: float = 100.0, notes: int = 0, records: int = 0, figures: tuple[int, ...] = FIGURES, trouble: bytes = b""
) -> bytes:
    device = pack(inside.DEVICE, UUID, b"0000:01:00.0", 0, 0) + pack(inside.FIGURES, *figures)
    return pack(inside.STATE, beat, records, notes, 1, 0, trouble) + device


def note(number: int, words: str, *, kind: int = inside.OUT_OF_MEMORY, at: float = 99.0) -> tuple[int, bytes]:
    block = inside.sealed(pack(inside.NOTE, number, at, kind, 0) + words.encode())
    return inside.NOTES_AT + number % inside.NOTES * inside.NOTE_SIZE, block


def ring(
    root: Path, pid: int, started: int, *blocks: tuple[int, bytes], folder: str = MY_BASE, begin: bytes = b"", said: bytes = b""
) -> Path:
    """A whole file; `begin` and `said` take the place of its head and its state."""
    content = bytearray(inside.SIZE)
    for place, block in (
        (inside.HEAD_AT, inside.sealed(begin or head(pid, started))),
        (inside.STATE_AT, inside.sealed(said or state(notes=len(blocks)))),
        *blocks,
    ):
        content[place : place + len(block)] = block
    return put(root, f"{folder}/{pid}-{started}{inside.SUFFIX}", bytes(content), mode=0o600)
