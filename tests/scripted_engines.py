"""Container engines that are shell scripts: they print what the real ones did, or run what would run in the image beside them."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from shlex import quote

from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.words import ENGLISH
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World


class Engines:
    """A directory that is all of PATH but the system's: what is not made there is not installed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder / "engines", folder / "asked"
        self.folder.mkdir(parents=True)

    def says(self, engine: str, words: str = "", *, status: int = 125, report: tuple[object, ...] = (), when: str = "*") -> None:
        """Prints the words on standard error, and a report in the child's place, where its command line fits `when`."""
        lines = "".join(f"printf '%s\\n' {quote(json.dumps(line))}\n" for line in report)
        self._add(engine, when, f"cat >&2 <<'WORDS'\n{words}\nWORDS\n{lines}exit {status}")

    def runs(self, engine: str, image: Path) -> None:
        """Runs the shell of the command line with the programs of `image` alone, out of reach of who ends the engine's client."""
        line = (
            f'while [ "$1" != -c ]; do shift; done; exec 4<&0; setsid env PATH="{image}" /bin/sh "$@" <&4 4<&- & exec <&-; wait $!'
        )
        self._add(engine, "*", line)

    def _add(self, engine: str, when: str, lines: str) -> None:
        place = self.folder / engine
        if not place.exists():
            place.write_text(f'#!/bin/sh\nPATH=/usr/bin:/bin\necho "$0 $*" >>"{self.log}"\n', "utf-8")
            place.chmod(place.stat().st_mode | stat.S_IXUSR)
        with place.open("a", encoding="utf-8") as file:
            file.write(f'case "$*" in {when})\n{lines}\n;; esac\n')

    @property
    def asked(self) -> list[str]:
        """The command lines that they were given, without the scripts for the image's shell."""
        if not self.log.exists():
            return []
        lines = self.log.read_text("utf-8").splitlines()
        return [line.removeprefix(f"{self.folder}/") for line in lines if line.startswith(str(self.folder))]

    def session(self, **variables: str) -> Session:
        """On this machine, as an ordinary user who has these engines and no others."""
        around = Surroundings.current()
        chosen = {"PATH": str(self.folder), "HOME": around.home, **variables}
        world = World(Surroundings(around.home, around.user, 1000, chosen, around.account_home, around.login_shell))
        return Session(world, Knowledge(Resources().read), ENGLISH)


def image_with(folder: Path, python: str, packages: Path | None = None) -> Path:
    """The directory of an image's programs: an interpreter, with packages of its own."""
    folder.mkdir()
    path = f'PYTHONPATH="{packages}" ' if packages is not None else ""
    place = folder / "python3"
    place.write_text(f'#!/bin/sh\n{path}exec "{python}" "$@"\n', "utf-8")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return folder


def torch_that(folder: Path, code: str) -> Path:
    """A directory of packages whose torch is nothing but this code."""
    (folder / "torch").mkdir(parents=True)
    (folder / "torch" / "__init__.py").write_text(code, "utf-8")
    return folder
