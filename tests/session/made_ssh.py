"""Another machine without a network: a scripted `ssh` that runs the command here, and a half of gpuassist that answers at once."""

from __future__ import annotations

import json
import os
import shlex
import sys
import zipfile
from pathlib import Path

from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.machine import Machine, decode_machine, encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World

EXAMPLE = "08-healthy"
# What is copied: it tells where it lies, says what it was asked for, and prints samples for as long as it runs.
_HALF = """
import json, os, sys, time
def main():
    words = sys.argv[1:]
    place = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open({log!r}, "a") as log:
        log.write(json.dumps([place, words]) + chr(10))
    if "detect" in words:
        sys.stdout.write(open({machine!r}).read())
    elif "monitor" in words:
        for number in range({samples}):
            gpu = {{"index": 0, "name": "H100", "memory_total_bytes": 100, "memory_used_bytes": number}}
            print(json.dumps({{"schema": 1, "time": "2026-11-24T09:00:00+00:00", "gpus": [gpu]}}), flush=True)
        while not os.path.exists({goes!r}):
            time.sleep(0.02)
        sys.exit({status})
"""


class MadeHost:
    """What a test decides of the other side: `before` is shell that is run there first, as start-up files are."""

    def __init__(self, folder: Path, *, before: str = "", samples: int = 3, status: int = 0) -> None:
        self.folder = folder
        self.log, self.asked, self.goes = folder / "ran", folder / "asked", folder / "goes"
        self.there = folder / "there"
        self.there.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        (programs / "python3").symlink_to(sys.executable)
        for name in ("sh", "sleep", "cat"):
            (programs / name).symlink_to(f"/bin/{name}")
        self.programs = programs
        (folder / "machine.json").write_bytes(Resources().read(f"machines/{EXAMPLE}.json"))
        self.half = folder / "half.pyz"
        self.write_half(samples=samples, status=status)
        self.answer(before)

    @property
    def machine(self) -> Machine:
        """That of the other side."""
        return decode_machine(json.loads((self.folder / "machine.json").read_text()))

    def write_half(self, *, samples: int = 3, status: int = 0, pythons: str = "", machine: str = "") -> None:
        """Makes the file that is copied there."""
        told = {"log": str(self.log), "machine": str(self.folder / "machine.json"), "goes": str(self.goes)}
        pythons = pythons or "{}.{}".format(*sys.version_info[:2])
        with zipfile.ZipFile(self.half, "w") as archive:
            archive.writestr("__main__.py", f'PYTHONS = "{pythons}"\nMACHINE = "{machine or os.uname().machine}"\n')
            archive.writestr("gpuassist/__init__.py", "")
            archive.writestr("gpuassist/__main__.py", _HALF.format(**told, samples=samples, status=status))

    def answer(self, before: str = "", *, says: str = "", status: int = 255) -> None:
        """From now on ssh runs what it is told to, or only says something on standard error and ends so."""
        end = f"printf '%s\\n' {shlex.quote(says)} >&2; exit {status}" if says else f'{before}\nexec sh -c "$last"'
        words = f"#!/bin/sh\nexport PATH={self.programs} TMPDIR={self.there} HOME={self.there}\n"
        words += f'for last; do printf "%s\\n" "$last" >> {self.asked}; done\n{end}\n'
        script = self.programs / "ssh"
        script.write_text(words)
        script.chmod(0o755)

    def session(self) -> Session:
        """One whose ssh is this one."""
        world = World(Surroundings(str(self.folder), "you", os.geteuid(), {"PATH": str(self.programs)}, str(self.folder)))
        return Session(world, Knowledge(Resources().read), ENGLISH)

    def ran(self) -> list[tuple[str, list[str]]]:
        """Where the half lay each time that it ran, and with which words."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [(place, words) for place, words in map(json.loads, lines)]

    def left(self) -> list[str]:
        """What lies on the other side."""
        return sorted(os.listdir(self.there))


def written(machine: Machine) -> str:
    """As `detect --json` prints it."""
    return json.dumps(encode_machine(machine, ENGLISH))
