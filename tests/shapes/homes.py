"""The kept shapes: sixty people's start-up files as data (`shapes.json`), laid down as homes, for a sweep's own judge."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gpuassist.model.fact import Fact, Known
from gpuassist.model.shell import Terminal
from gpuassist.system.files import Files
from gpuassist.system.terminal import Opening
from tests.shapes.evidence import INSTALLED, Evidence, from_json
from tools.shapes import HOME, TOOLKIT, Answer, Plain, Shape, lay_toolkit

WAYS = {
    Opening.BARE_TERMINAL.value: "terminal",
    Opening.LOGIN.value: "login terminal",
    Opening.TERMINAL.value: "terminal of the session",
}
USER_HOME = str(HOME)


@dataclass(frozen=True)
class Kept:
    """A shape, and what its shells said before the change and after it."""

    shape: Shape
    before: Evidence
    after: Evidence
    refusal_is_fair: bool


@cache
def kept() -> Mapping[int, Kept]:
    """All of them by number."""
    read = json.loads(Path(__file__).with_name("shapes.json").read_text("utf-8"))
    return {
        one["number"]: Kept(_shape(one), from_json(one["before"]), from_json(one["after"]), bool(one["refusal_is_fair_for"]))
        for one in read
    }


def _shape(data: Mapping[str, Any]) -> Shape:
    plain = tuple(Plain(line["file"], line["text"], line["version"]) for line in data["plain"])
    files = {name: text.encode("latin-1") for name, text in data["files"].items()}
    frozen = tuple((file, text) for file, text in data["frozen"])
    told = {name: data[name] for name in ("number", "shell", "link", "links", "modes", "stray")}
    return Shape(**told, tags=tuple(data["tags"]), files=files, setup=tuple(data["setup"]), plain=plain, frozen=frozen)


class OwnFiles(Files):
    """A tree that stands for the running machine's own."""

    def __init__(self, root: Path) -> None:
        super().__init__(str(root))
        self._below = Files(str(root))

    @property
    def live(self) -> bool:
        return True

    def place(self, path: str) -> str:
        return self._below.place(path)

    def _resolve(self, path: str) -> str:
        return self._below.real(path)


def lay_toolkits(parent: Path, shape: Shape) -> None:
    """The toolkits of every shape, and the link to one of them."""
    for release in INSTALLED:
        lay_toolkit(parent / f"cuda-{release}", release)
    if shape.link:
        (parent / "cuda").symlink_to(f"cuda-{shape.link}")


def lay_home(home: Path, shape: Shape, words: Mapping[str, str]) -> None:
    """The files and links, with the words in them that this place needs."""
    for name, content in shape.files.items():
        place = home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(in_other_words(content, words))
        place.chmod(shape.modes.get(name, 0o644))
    for name, target in shape.links.items():
        place = home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        inside = home / os.path.relpath(target, USER_HOME) if target.startswith("/") else place.parent / target
        place.symlink_to(os.path.relpath(inside, place.parent))


def in_other_words(content: bytes, words: Mapping[str, str]) -> bytes:
    for old, new in words.items():
        content = content.replace(old.encode(), new.encode())
    return content


def snapshot(home: Path, words: Mapping[str, str]) -> dict[str, str]:
    """Every file of the user's, as the sweep keeps them: links by their target, files by mode and bytes."""
    found = {}
    for path in sorted(home.rglob("*")):
        name = str(path.relative_to(home))
        if name.startswith((".local", ".cache", "local")) or "fish_variables" in name:
            continue
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        elif path.is_file():
            content = in_other_words(path.read_bytes(), words)
            found[name] = f"{stat.S_IMODE(path.stat().st_mode):o} {base64.b64encode(content).decode()}"
    return found


def answers(evidence: Evidence, words: Mapping[str, str]) -> dict[str, Answer]:
    """What was said, as the sweep's judge takes it."""
    facts = {**evidence.ways, Opening.TERMINAL.value: evidence.terminal}
    return {WAYS[way]: _answer(fact, words) for way, fact in facts.items()}


def _answer(fact: Fact[Terminal], words: Mapping[str, str]) -> Answer:
    if not isinstance(fact, Known):
        return Answer()
    told = {one.name: in_other_words(one.value.encode(), words).decode() for one in fact.value.variables}
    return Answer(Path(fact.value.shell).name, _release(fact.value, words), "", told)


def _release(terminal: Terminal, words: Mapping[str, str]) -> str:
    """Of the nvcc that is run when it is typed: an alias or a function goes before the program."""
    command, shadow = terminal.command("nvcc"), terminal.shadow("nvcc")
    place = shadow.text if shadow is not None else command.real_path if command is not None else ""
    return next(_named(in_other_words(place.encode(), words).decode()), "")


def _named(place: str) -> Iterator[str]:
    return (match[1] for match in TOOLKIT.finditer(place) if match[1])
