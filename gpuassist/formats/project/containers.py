"""Dockerfiles and compose files: the images that a project stands on, and what their lines install and ask for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.formats.project.build_lines import wishes_of
from gpuassist.formats.project.requirements import requirement_of
from gpuassist.formats.project.values import (
    ArchitectureWish,
    AskedAs,
    FileReading,
    Include,
    IndexRole,
    ProjectImage,
    ProjectIndex,
    ProjectRequirement,
    Spot,
    Trouble,
)
from gpuassist.formats.project.yaml_document import NotYamlError, YamlText, read_yaml
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text, verbatim

KIND, COMPOSE = "docker", "compose"
_INSTRUCTION = lazy_regex(r"[ \t]*([A-Za-z]+)[ \t]+(.*)", re.DOTALL)
_VARIABLE = lazy_regex(r"\$(?:\{(\w+)(?:(:?[-+])([^}]*))?\}|(\w+))")
_HERE = lazy_regex(r"<<-?[\"']?([A-Za-z_]\w*)[\"']?")
_ENV = lazy_regex(r"([A-Za-z_]\w*)(?:=|[ \t]+)(?:\"([^\"]*)\"|'([^']*)'|(\S*))")
_PIP = lazy_regex(
    r"(?:\b(?:[\w./-]{0,200}/)?python[\d.]*[ \t]+-m[ \t]+pip|\buv[ \t]+pip|\b(?:[\w./-]{0,200}/)?pip[\d.]*)"
    r"(?:[ \t]+--?[\w-]+(?:=\S+)?)*[ \t]+install\b([^&;|\n]*)"
)
_MOST_STAGES, _LONGEST = 200, 100_000
_TAKE_VALUE = frozenset(
    [
        "-t",
        "--target",
        "--prefix",
        "--root",
        "--python",
        "-p",
        "--platform",
        "--python-version",
        "--implementation",
        "--abi",
        "--progress-bar",
        "--timeout",
        "--retries",
        "--proxy",
        "--cert",
        "--cache-dir",
        "--trusted-host",
        "--src",
        "--upgrade-strategy",
        "--config-settings",
        "-C",
        "--global-option",
        "--no-binary",
        "--only-binary",
        "--index-strategy",
        "--torch-backend",
        "--log",
        "--report",
        "--no-build-isolation-package",
    ]
)


class _Line(Struct, frozen=True):
    """An instruction with its continuations: `places` are where the characters of `words` stand in the file."""

    number: int
    words: str
    first: int
    rows: tuple[tuple[int, int], ...]  # of each physical line: where it begins in `words`, and in the file

    def spot(self, file: str, place: int, length: int) -> Spot:
        index = max(number for number, (inside, _) in enumerate(self.rows) if inside <= place)
        inside, outside = self.rows[index]
        return Spot(file, self.number + self.skipped(index), outside + place - inside, outside + place - inside + length)

    def skipped(self, index: int) -> int:
        return self.lines[index] - self.number

    lines: tuple[int, ...] = ()


def read_dockerfile(file: str, words: str) -> FileReading:
    """Its stages with what each installs; a variable stands for its default, and an image that needs another is not known."""
    reader = _Dockerfile(file)
    for line in _lines(words):
        reader.take(line)
    return FileReading(
        file,
        KIND,
        tuple(reader.requirements),
        tuple(reader.indexes),
        tuple(reader.includes),
        images=tuple(reader.images),
        architectures=tuple(reader.architectures),
        troubles=tuple(reader.troubles),
    )


class _Dockerfile:
    def __init__(self, file: str) -> None:
        self.file = file
        self.known: dict[str, str] = {}
        self.given: dict[str, str] = {}  # by ARG before the first FROM
        self.names: dict[str, int] = {}
        self.images: list[ProjectImage] = []
        self.requirements: list[ProjectRequirement] = []
        self.indexes: list[ProjectIndex] = []
        self.includes: list[Include] = []
        self.architectures: list[ArchitectureWish] = []
        self.troubles: list[Trouble] = []

    @property
    def stage(self) -> int:
        return len(self.images)

    def take(self, line: _Line) -> None:
        found = _INSTRUCTION.match(line.words)
        if found is None:
            return
        name, rest = found[1].upper(), found[2]
        if name == "FROM":
            self._from(line, rest, found.start(2))
        elif name in {"ARG", "ENV"}:
            self._set(line, name, rest)
        elif name == "RUN":
            self._run(line, found.start(2))
        if name in {"ENV", "ARG", "RUN"} and self.stage:
            for wish in wishes_of(line.words, Spot(self.file, line.number, 0), stage=self.stage):
                spot = line.spot(self.file, wish.spot.first, wish.spot.end - wish.spot.first)
                self.architectures.append(replace(wish, spot=spot))

    def _from(self, line: _Line, rest: str, start: int) -> None:
        if self.stage >= _MOST_STAGES:
            return
        parts = [part for part in rest.split() if not part.startswith("--")]
        if not parts:
            self.troubles.append(Trouble(Spot(self.file, line.number), text("FROM names no image"), "image"))
            return
        spelled = parts[0]
        value = expanded(spelled, {**self.given})
        parent = self.names.get((value or "").lower(), 0)
        place = line.words.find(spelled, start)
        spot = line.spot(self.file, place, len(spelled))
        self.images.append(ProjectImage("" if parent else value or "", spot, self.stage + 1, parent, spelled))
        self.known = {}
        if len(parts) >= 3 and parts[1].upper() == "AS":
            self.names[parts[2].lower()] = self.stage

    def _set(self, line: _Line, name: str, rest: str) -> None:
        for found in _ENV.finditer(rest) if name == "ENV" or "=" in rest else ():
            value = next((group for group in found.groups()[1:] if group is not None), "")
            read = expanded(value, self.known if self.stage else self.given)
            if read is not None:
                (self.known if self.stage else self.given)[found[1]] = read
            if name == "ENV" and "=" not in rest.split(None, 1)[0]:
                return
        if name == "ARG" and "=" not in rest and self.stage and rest.strip() in self.given:
            self.known[rest.strip()] = self.given[rest.strip()]
        known = self.known.get("PIP_EXTRA_INDEX_URL", ""), self.known.get("PIP_INDEX_URL", "")
        for url, role in zip(known, (IndexRole.BESIDE, IndexRole.INSTEAD), strict=True):
            for one in url.split():
                if self.stage and all((one, self.stage) != (index.url, index.stage) for index in self.indexes):
                    self.indexes.append(ProjectIndex(one, role, Spot(self.file, line.number), stage=self.stage))

    def _run(self, line: _Line, start: int) -> None:
        for found in _PIP.finditer(line.words, start):
            try:
                words = shlex.split(found[1].replace("\\\n", " "), comments=True)
            except ValueError:
                words = found[1].split()
            self._install(line, words, found.start(1))

    def _install(self, line: _Line, words: list[str], start: int) -> None:
        """The words behind `pip install`, each looked for where it stands."""
        passed = iter(words)
        place = start
        for word in passed:
            flag, sign, value = word.partition("=") if word.startswith("--") else (word, "", "")
            if word.startswith("-"):
                if flag in {
                    "-r",
                    "--requirement",
                    "-c",
                    "--constraint",
                    "-i",
                    "--index-url",
                    "--extra-index-url",
                    "-f",
                    "--find-links",
                    "-e",
                    "--editable",
                }:
                    value = value if sign else next(passed, "")
                    self._option(flag, value, self._spot(line, value, place), line.number)
                elif flag in _TAKE_VALUE and not sign:
                    next(passed, "")
                continue
            whole = expanded(word, self.known)
            spot = self._spot(line, word, place)
            if whole is None:
                self.troubles.append(Trouble(spot, text("{words} depends on a variable without a default", words=word[:120])))
                continue
            plain = whole == word and spot.editable
            read = requirement_of(
                whole, Spot(self.file, spot.line), AskedAs.INSTALL, inside=whole, offset=spot.first if plain else -1
            )
            if read is not None and read.name:
                self.requirements.append(replace(read, stage=self.stage, whole=Spot(self.file, line.number)))

    def _option(self, flag: str, value: str, spot: Spot, number: int) -> None:
        read = expanded(value, self.known)
        if not read:
            return
        if flag in {"-r", "--requirement", "-c", "--constraint"}:
            self.includes.append(Include(read, spot, constraint=flag in {"-c", "--constraint"}, stage=self.stage))
        elif flag not in {"-e", "--editable"}:
            role = {"-i": IndexRole.INSTEAD, "--index-url": IndexRole.INSTEAD, "--extra-index-url": IndexRole.BESIDE}.get(
                flag, IndexRole.LINKS
            )
            self.indexes.append(
                ProjectIndex(
                    read,
                    role,
                    spot if read == value else Spot(self.file, spot.line),
                    whole=Spot(self.file, number),
                    stage=self.stage,
                )
            )

    def _spot(self, line: _Line, word: str, place: int) -> Spot:
        found = line.words.find(word, place) if word else -1
        return line.spot(self.file, found, len(word)) if found >= 0 else Spot(self.file, line.number)


def expanded(words: str, known: Mapping[str, str]) -> str | None:
    """The words with their variables; None where one has no value."""
    missing = False

    def value(found: object) -> str:
        nonlocal missing
        name, sign, other, plain = found.groups()  # type: ignore[attr-defined]
        told = known.get(name or plain)
        if sign and "+" in sign:
            return str(other) if told else ""
        if told is None or (not told and sign == ":-"):
            if sign is None:
                missing = True
            return str(other or "")
        return told

    read = _VARIABLE.sub(value, words) if "$" in words else words
    return None if missing else read


def _lines(words: str) -> Iterator[_Line]:
    """Instructions, joined where a backslash goes on, without the comment lines in between, with their here-documents."""
    place, number = 0, 0
    rows: list[tuple[int, int]] = []
    numbers: list[int] = []
    joined, began, here = "", 0, ""
    for raw in words.split("\n"):
        number += 1
        offset, place = place, place + len(raw) + 1
        line = raw.rstrip("\r")
        if not here and line.lstrip().startswith("#"):
            continue
        if not joined and not line.strip():
            continue
        if not joined:
            began, rows, numbers = number, [], []
        if len(joined) > _LONGEST:
            joined, here = "", ""
            continue
        rows.append((len(joined), offset))
        numbers.append(number)
        if here:
            joined += line + "\n"
            if line.strip() == here:
                yield _Line(began, joined, 0, tuple(rows), tuple(numbers))
                joined, here = "", ""
            continue
        goes_on = line.rstrip().endswith("\\")
        joined += line.rstrip()[:-1] + " " if goes_on else line
        found = _HERE.search(line) if line.lstrip().upper().startswith(("RUN", "COPY")) else None
        if found is not None and not goes_on:
            here = found[1]
            joined += "\n"
            continue
        if not goes_on:
            yield _Line(began, joined, 0, tuple(rows), tuple(numbers))
            joined = ""
    if joined:
        yield _Line(began, joined, 0, tuple(rows), tuple(numbers))


# Compose


def read_compose(file: str, words: str) -> FileReading:
    """The image of each service, and whether it is given GPUs."""
    try:
        texts = read_yaml(words)
    except NotYamlError as error:
        return FileReading(file, COMPOSE, troubles=(Trouble(Spot(file, error.line), verbatim(str(error)), "image"),))
    services: dict[str, list[YamlText]] = {}
    for one in texts:
        if len(one.path) >= 3 and one.path[0] == "services":
            services.setdefault(str(one.path[1]), []).append(one)
    images: list[ProjectImage] = []
    for name, own in services.items():
        gpu = any(_gives_gpu(one) for one in own)
        image = next((one for one in own if one.path[2:] == ("image",) and one.value), None)
        if image is None:
            continue
        value = expanded(image.value, {})
        spot = Spot(file, image.line, image.first, image.end) if image.first >= 0 else Spot(file, image.line)
        images.append(ProjectImage(value or "", spot, spelled=image.value, service=name, gpu=gpu))
    return FileReading(file, COMPOSE, images=tuple(images))


def _gives_gpu(one: YamlText) -> bool:
    """`gpus: all`, `runtime: nvidia`, a reservation of a device with the capability gpu, or a device file of the host."""
    path = one.path[2:]
    if path[:1] == ("gpus",):
        return True
    if path == ("runtime",):
        return one.value == "nvidia"
    if path[:1] == ("devices",):
        return "/dev/nvidia" in one.value or "nvidia.com/gpu" in one.value
    reserved = path[:4] == ("deploy", "resources", "reservations", "devices")
    return reserved and (
        ("capabilities" in path and one.value.lower() in {"gpu", "compute", "utility"}) or path[-1:] == ("driver",)
    )
