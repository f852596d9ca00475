"""Reads what PyPI says of each release of an engine and brings resources/knowledge/engine_releases.json up to date with it.

Run from the project's root with a directory of PyPI's JSON documents, one a release (`https://pypi.org/pypi/xformers/0.0.35/json`
as `xformers-0.0.35.json`): `python tools/refresh_engines.py --checked 2026-11-23 documents`. Which packages an engine is, and what
its own documentation says of ranges of its releases, stands in resources/knowledge/engines.json. `--flash-attn CLONE` names a clone
of Dao-AILab/flash-attention, whose wheels lie on its own releases: their matrix is read from each tag's publish.yml. Rows by hand
stay. Prints each difference to the table; with `--check` nothing is written, and a difference is exit status 1.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from tools.tables import Row, options_of, read_table, write_table

ENGINES = Path("resources/knowledge/engines.json")
TABLE = Path("resources/knowledge/engine_releases.json")
BUILDS = Path("resources/knowledge/torch.json")
RELEASES = Path("resources/knowledge/torch_releases.json")
PYPI, FLASH = "pypi", "flash-attn"
MACHINES = ("x86_64", "aarch64")
# `nvidia-cublas-cu12`, `nvidia-cutlass-dsl[cu13]`, `cupy-cuda12x`: the CUDA major in the name of a package that is asked for.
MAJOR = re.compile(r"-cu(1[1-9])\b|\bcu(1[1-9])\b|cuda(1[1-9])x?\b")
INTERPRETER = re.compile(r"cp(\d)(\d+)t?")
MATRIX = re.compile(r"^ +(python-version|torch-version|cuda-version|os): *\[(.*)\]", re.MULTILINE)


def main() -> int:
    """Compares the table with the documents, and writes it unless it shall only be checked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", type=Path, help="a directory of PyPI's JSON documents")
    parser.add_argument("--flash-attn", type=Path, help="a clone of Dao-AILab/flash-attention, with its tags")
    options = options_of(parser)
    header, rows = read_table(TABLE)
    engines, torch = read_table(ENGINES), Torches(BUILDS, RELEASES)
    measured = list(grouped(measured_rows(engines[1], engines[0], options.documents, torch)))
    kept = {PYPI}
    if options.flash_attn is not None:
        engine = next(row for row in engines[1] if row["key"] == FLASH)
        measured += grouped(flash_rows(options.flash_attn, engine, engines[0]))
        kept |= {FLASH}
    known = [row for row in rows if row["source"] in kept]
    gone, new = [row for row in known if row not in measured], [row for row in measured if row not in known]
    for sign, differing in (("-", gone), ("+", new)):
        for row in differing:
            print(sign, json.dumps(row))
    if options.check:
        return int(bool(gone or new))
    for source in kept:
        header["sources"][source]["checked"] = options.checked
    order = [row["key"] for row in engines[1]]
    every = [*measured, *(row for row in rows if row["source"] not in kept)]
    every.sort(key=lambda row: order.index(row["engine"]))
    write_table(TABLE, header, every)
    return 0


class Torches:
    """What the tables say of torch: the CUDA of the build that PyPI has, and which Triton belongs to which torch."""

    def __init__(self, builds: Path, releases: Path) -> None:
        self.builds = [row for row in read_table(builds)[1] if row.get("default") and row["machine"] == "x86_64"]
        self.companions = [one for row in read_table(releases)[1] for one in row["companions"]]

    def cuda(self, specifiers: Iterable[str]) -> list[int]:
        """The CUDA majors of PyPI's own builds of the releases that these name: a patch has the CUDA of its release."""
        exact = [Version(one.removeprefix("==")) for one in specifiers if re.fullmatch(r"==[\d.]+", one)]
        releases = {f"{one.major}.{one.minor}" for one in exact}
        return sorted({int(row["cuda"].partition(".")[0]) for row in self.builds if row["release"] in releases and row.get("cuda")})

    def with_triton(self, version: str) -> list[str]:
        """The torch versions whose wheels ask for this Triton."""
        tritons = [one for one in self.companions if one["name"] == "triton"]
        return sorted(f"=={one['torch']}" for one in tritons if version in SpecifierSet(_as_range(one["version"])))


def _as_range(version: str) -> str:
    return version if version[:1] in "<>=~!" else f"=={version}"


def measured_rows(engines: Iterable[Row], header: Row, documents: Path, torch: Torches) -> Iterator[Row]:
    """A row for each release that there is a document of, by engine and variant, newest first."""
    for engine in engines:
        for variant in engine.get("variants", []):
            found = [read_document(place, variant["metadata"]) for place in documents.glob(f"{variant['metadata']}-*.json")]
            releases = sorted(((Version(one["version"]), one) for one in found if one), key=lambda pair: pair[0], reverse=True)
            wanted = SpecifierSet(variant.get("releases", ""))
            for version, release in releases:
                inside = version in wanted and not version.is_prerelease and release["machines"] is not None
                if inside and (not engine.get("asks_torch") or asks_plainly(release)):
                    yield row_of(engine, variant, release, (header, torch))


def read_document(place: Path, package: str) -> Row | None:
    """What a document says of a release for Linux; None where it is of another package whose name begins so."""
    document = json.loads(place.read_text("utf-8"))
    info = document["info"]
    if re.sub(r"[-_.]+", "-", info["name"]).lower() != package:
        return None
    wheels = [tags for file in document["urls"] if (tags := linux_tags(file["filename"])) is not None]
    sources = any(file["filename"].endswith((".tar.gz", ".zip")) for file in document["urls"])
    return {
        "version": info["version"],
        "python": pythons_asked(info.get("requires_python") or "", wheels),
        "pythons": pythons_of(wheels),
        "machines": sorted({one for tags in wheels for one in machines_of(tags)}) or ([] if sources and not wheels else None),
        "requires": [one for line in info.get("requires_dist") or () if (one := requirement(line)) is not None],
    }


def linux_tags(name: str) -> frozenset[Tag] | None:
    """The tags of a wheel for Linux; None for what is none."""
    try:
        _, _, _, tags = parse_wheel_filename(name)
    except (InvalidWheelFilename, InvalidVersion):
        return None
    return tags if any("linux" in tag.platform or tag.platform == "any" for tag in tags) else None


def machines_of(tags: Iterable[Tag]) -> Iterator[str]:
    for tag in tags:
        yield from (one for one in MACHINES if tag.platform == "any" or tag.platform.endswith(one))


def pythons_of(wheels: Iterable[Iterable[Tag]]) -> list[str]:
    """The minor versions of CPython that wheels are named for; empty where one serves any, or every newer one (abi3)."""
    tags = [tag for one in wheels for tag in one]
    if any(tag.abi == "abi3" or tag.interpreter.startswith("py") for tag in tags):
        return []
    found = {(int(match[1]), int(match[2])) for tag in tags if (match := INTERPRETER.fullmatch(tag.interpreter))}
    return [f"{major}.{minor}" for major, minor in sorted(found)]


def pythons_asked(asked: str, wheels: Iterable[Iterable[Tag]]) -> str:
    """Requires-Python, and the first Python of the stable interface where that is newer."""
    floors = [
        (int(match[1]), int(match[2]))
        for one in wheels
        for tag in one
        if tag.abi == "abi3" and (match := INTERPRETER.fullmatch(tag.interpreter))
    ]
    written = ",".join(sorted(part.strip() for part in asked.split(",") if part.strip()))
    if not floors or not SpecifierSet(asked).contains("{}.{}".format(*min((major, minor - 1) for major, minor in floors))):
        return written
    return ",".join(filter(None, (written, ">={}.{}".format(*min(floors)))))


def requirement(line: str) -> Requirement | None:
    try:
        return Requirement(line)
    except InvalidRequirement:
        return None


def applies(asked: Requirement, extras: Iterable[str]) -> bool:
    """Whether it is asked for on an ordinary Linux machine, with one of the extras or without."""
    machine = {"platform_system": "Linux", "sys_platform": "linux", "platform_machine": "x86_64", "platform_release": "6.8.0"}
    return asked.marker is None or any(asked.marker.evaluate({**machine, "extra": one}) for one in ("", *extras))


def asks_plainly(release: Row) -> bool:
    """Whether it asks for torch with no extra, or never: one that asks for it by an extra is installed otherwise."""
    asking = [one for one in release["requires"] if one.name == "torch"]
    return not asking or any(applies(one, ()) for one in asking)


def row_of(engine: Row, variant: Row, release: Row, sources: tuple[Row, Torches]) -> Row:
    """The row of a release: its own metadata, and what the documentation says of it."""
    header, torch = sources
    there = {one for asked in release["requires"] for one in re.findall(r"extra == ['\"]([\w-]+)", str(asked.marker or ""))}
    extras = [one for one in variant.get("extras", ()) if one in there]
    asked = [one for one in release["requires"] if applies(one, extras)]
    limits = limits_of(engine, variant, release["version"])
    named = [str(one.specifier) for one in asked if one.name == "torch"]
    specifiers = [",".join(sorted(one.split(","))) for one in dict.fromkeys(named) if one]
    if engine["key"] == "triton":
        specifiers = torch.with_triton(release["version"])
    cuda = limits.pop("cuda", None)
    cuda = cuda if cuda is not None else cuda_of(asked) or variant.get("cuda")
    if cuda is None and engine.get("cuda_of_torch"):
        cuda = torch.cuda(specifiers)
    libraries = {
        one.name: ",".join(sorted(str(one.specifier).split(",")))
        for one in asked
        if one.name.startswith("nvidia-") and one.specifier
    }
    told = list(dict.fromkeys(header["sources"][key]["text"] for key in limits.pop("sources")))
    row: Row = {"engine": engine["key"], "package": named_package(variant, extras), "releases": [release["version"]]}
    row |= {"torch": specifiers} if specifiers else {}
    row |= {"cuda": cuda} if cuda is not None else {}
    row |= {"python": release["python"]} if release["python"] else {}
    row |= {"pythons": release["pythons"]} if release["pythons"] else {}
    row |= {"machines": release["machines"]} if release["machines"] else {}
    row |= {"libraries": libraries} if libraries else {}
    return {**row, **limits, **({"measured": "; ".join(told)} if told else {}), "source": PYPI}


def named_package(variant: Row, extras: list[str]) -> str:
    """What pip is told: with the extras that this release has, where it is those that bring CUDA."""
    package = str(variant["package"])
    return f"{package}[{','.join(extras)}]" if extras and not package.endswith("]") else package


def cuda_of(asked: Iterable[Requirement]) -> list[int]:
    """The CUDA majors in what is asked for, and NVIDIA's runtime without a suffix, which is that of its own version."""
    found = set()
    for one in asked:
        words = f"{one.name}[{','.join(sorted(one.extras))}]"
        found |= {int(next(filter(None, groups))) for groups in MAJOR.findall(words)}
        if one.name == "nvidia-cuda-runtime" and (match := re.search(r"(\d+)\.", str(one.specifier))):
            found.add(int(match[1]))
    return sorted(found)


def limits_of(engine: Row, variant: Row, version: str) -> Row:
    """What engines.json says of the range that a release is in; of the package alone where it names one."""
    found: Row = {"sources": []}
    for limit in engine.get("limits", ()):
        if limit.get("package", variant["package"]) == variant["package"] and SpecifierSet(limit["releases"]).contains(
            version, prereleases=True
        ):
            found |= {name: value for name, value in limit.items() if name not in {"releases", "package", "source"}}
            found["sources"] = [*found["sources"], limit["source"]]
    return found


def grouped(rows: Iterable[Row]) -> Iterator[Row]:
    """Releases that follow each other and differ in nothing share a row."""
    last: Row | None = None
    for row in rows:
        same = last is not None and {**last, "releases": 0} == {**row, "releases": 0}
        if last is not None and same:
            last = {**last, "releases": [*last["releases"], *row["releases"]]}
            continue
        if last is not None:
            yield last
        last = row
    if last is not None:
        yield last


def flash_rows(clone: Path, engine: Row, header: Row) -> Iterator[Row]:
    """The wheels of each tag since 2.5, newest first; a torch that was not out yet is left out."""
    tags = [(Version(name.removeprefix("v")), name) for name in _git(clone, "tag").split() if re.fullmatch(r"v2\.\d[\w.]*", name)]
    for version, tag in sorted(tags, reverse=True):
        row = flash_row(str(version), _git(clone, "show", f"{tag}:.github/workflows/publish.yml"))
        if version >= Version("2.5") and row is not None:
            limits = limits_of(engine, {"package": "flash-attn"}, str(version))
            told = [header["sources"][key]["text"] for key in limits.pop("sources")]
            yield {**row, **limits, **({"measured": "; ".join(told)} if told else {}), "source": FLASH}


def flash_row(version: str, workflow: str) -> Row | None:
    """From the matrix of the workflow that builds the wheels; what it excludes with one torch counts where it is a CUDA."""
    matrix = {name: re.findall(r"[\"']?([\w.-]+)[\"']?", words) for name, words in MATRIX.findall(workflow)}
    torches = [one for one in matrix.get("torch-version", ()) if re.fullmatch(r"\d+\.\d+\.\d+", one)]
    majors = sorted({int(one.partition(".")[0]) for one in matrix.get("cuda-version", ())})
    if not torches or not majors:
        return None
    machines = ["aarch64", "x86_64"] if any(one.endswith("-arm") for one in matrix.get("os", ())) else ["x86_64"]
    row: Row = {"engine": FLASH, "package": FLASH, "releases": [version]}
    row["torch"] = [f"=={one.rpartition('.')[0]}.*" for one in torches]
    return {**row, "cuda": majors, "pythons": matrix["python-version"], "machines": machines}


def _git(directory: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(directory), *arguments], capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    raise SystemExit(main())
