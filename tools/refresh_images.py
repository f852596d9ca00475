"""Reads what NVIDIA tells of its monthly images and brings resources/knowledge/images.json up to date with it.

Run from the project's root: `python tools/refresh_images.py --checked DAY` with any of
`--matrix PAGE ...`  the frameworks' support matrix, saved (docs.nvidia.com/deeplearning/frameworks/support-matrix): a table a
  family and year, whose columns are the releases,
`--notes PAGE ...`  release notes of one image and month, saved as HTML or text (`... Release 24.08 is based on CUDA 12.6 ...`),
`--triton REPOSITORY`  a clone of triton-inference-server/server, whose branch r24.08 has the version of that month, and whose
  docs/introduction/compatibility.md tells what is in the images with an engine (vLLM, TensorRT-LLM).
A row keeps what the pages do not tell. Prints each difference to the table; with `--check` nothing is written, and a difference is
exit status 1.
"""

from __future__ import annotations

import argparse
import html
import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from gpuassist.knowledge.compatibility import driver_floor
from gpuassist.knowledge.records import ImageFamily
from gpuassist.model.version import Version
from tools.tables import Row, options_of, read_table, write_table

TABLE = Path("resources/knowledge/images.json")
FAMILIES = {
    "pytorch": ImageFamily.NGC_PYTORCH,
    "tensorflow": ImageFamily.NGC_TENSORFLOW,
    "tensorrt": ImageFamily.NGC_TENSORRT,
    "triton inference server": ImageFamily.NGC_TRITON,
    "jax": ImageFamily.NGC_JAX,
}
SOURCES = {
    "triton": "triton-inference-server/server: TRITON_VERSION of the branch of that month",
    "engines": "triton-inference-server/server: docs/introduction/compatibility.md; TRITON_VERSION of the branch of that month",
    "own-notes": "release notes of that image and month; docs.nvidia.com/deeplearning; Triton's version as for the other months",
    "matrix": "Frameworks Support Matrix; docs.nvidia.com/deeplearning/frameworks/support-matrix",
}
OLDEST = (21, 2)
MONTH = re.compile(r"\b(\d\d\.(?:0[1-9]|1[0-2]))\b")
NAMED = re.compile(rf"\b({'|'.join(FAMILIES)})\b[\w ]{{0,20}}? release (\d\d\.\d\d)\b", re.IGNORECASE)
BASED = re.compile(r"is based on (?:NVIDIA )?CUDA®?\s+(\d+\.\d+(?:\.\d+)?)")
DRIVER = re.compile(r"requires (?:the )?NVIDIA Driver release (\d[\d.]*\d)", re.IGNORECASE)
OLDER = re.compile(r"(\d+\.\d+) \(or later")
CAPABILITY = re.compile(r"CUDA compute capability (\d+\.\d)")
SYSTEM = re.compile(r"Ubuntu (\d\d\.04)")
PYTHON = re.compile(r"Python (\d\.\d+)")
WITH_ENGINE = re.compile(r"^\|[^|]*\|\s*\S*tritonserver:(\d\d\.\d\d)-([\w-]+)-py3\s*\|(.*)$", re.MULTILINE)
NUMBER = re.compile(r"\d+(?:\.\d+){1,3}\S*")
# What a line of the matrix is called, and what of its cell is taken.
LINES = (
    ("cuda", re.compile(r"^(?:NVIDIA )?CUDA(?: Toolkit)?$", re.IGNORECASE), re.compile(r"(\d+\.\d+(?:\.\d+)?)")),
    ("tensorrt", re.compile(r"TensorRT$", re.IGNORECASE), re.compile(r"(\d+(?:\.\d+){1,3})")),
    ("python", re.compile(r"^Python", re.IGNORECASE), re.compile(r"(\d\.\d+)")),
    ("system", re.compile(r"^(?:Container OS|Operating System)", re.IGNORECASE), SYSTEM),
    ("driver", re.compile(r"^(?:NVIDIA )?Driver", re.IGNORECASE), re.compile(r"(\d{3}(?:\.[\d.]*\d)?)")),
    ("capability_min", re.compile(r"compute capability", re.IGNORECASE), re.compile(r"(\d+\.\d)")),
)

Key = tuple[str, tuple[int, ...], str]


def main() -> int:
    """Compares the table with what was read, and writes it unless it shall only be checked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matrix", nargs="*", type=Path, default=[])
    parser.add_argument("--notes", nargs="*", type=Path, default=[])
    parser.add_argument("--triton", type=Path)
    options = options_of(parser)
    header, rows = read_table(TABLE)
    by_key = {_key(row): row for row in rows}
    differ = False
    for row in _read(options):
        known = by_key.get(_key(row), {})
        changed = {name: value for name, value in row.items() if name != "source" and known.get(name) != value}
        if not changed:
            continue
        differ = True
        told = "; ".join(f"{name} {known.get(name)} -> {new}" for name, new in changed.items())
        print(f"{row['family']}:{row['month']}: {told}")
        by_key[_key(row)] = {**known, **row}
    if options.check:
        return int(differ)
    for source in {row["source"] for row in by_key.values()} & set(SOURCES):
        header["sources"][source] = {"text": SOURCES[source], "checked": options.checked}
    write_table(TABLE, header, [by_key[key] for key in sorted(by_key, key=_place)])
    return 0


def _read(options: argparse.Namespace) -> Iterator[Row]:
    """The versions first, so that what the pages tell of a month stands over them."""
    if options.triton:
        yield from _of_triton(options.triton)
    for page in options.notes:
        yield _of_notes(page.read_text("utf-8"), str(page))
    for page in options.matrix:
        yield from _of_matrix(page.read_text("utf-8"))


def _of_triton(repository: Path) -> Iterator[Row]:
    refs = _git(repository, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes").split()
    months = {found[1]: ref for ref in refs if (found := re.fullmatch(r"(?:\w+/)?r(\d\d\.\d\d)", ref))}
    versions = {month: _git(repository, "show", f"{ref}:TRITON_VERSION").strip() for month, ref in sorted(months.items())}
    of_family = {"family": ImageFamily.NGC_TRITON.value}
    for month, version in versions.items():
        if _numbers(month) >= OLDEST and version:
            yield {**of_family, "month": month, "version": version, "torch": "", "source": "triton"}
    matrix = _git(repository, "show", "HEAD:docs/introduction/compatibility.md")
    for month, variant, cells in WITH_ENGINE.findall(matrix):
        row: Row = {**of_family, "month": month, "variant": variant, "version": versions.get(month, "")}
        yield {**row, **_of_engine(variant, [cell.strip() for cell in cells.split("|")]), "source": "engines"}


def _of_engine(variant: str, cells: list[str]) -> Row:
    """Python, then torch, TensorRT and TensorRT-LLM, or vLLM; CUDA; the driver of that CUDA; the size."""
    python = PYTHON.search(cells[0])
    row: Row = {"python": python[1]} if python else {}
    if variant.startswith("trtllm"):
        tensorrt = re.match(r"\d+\.\d+\.\d+(?:\.\d+)?(?!\S)", cells[2])
        row |= {"torch": cells[1].partition(".nv")[0], **({"tensorrt": tensorrt[0]} if tensorrt else {})}
    cuda = re.match(r"\d+\.\d+(?:\.\d+)?", cells[4 if variant.startswith("trtllm") else 2])
    return row | ({"cuda": cuda[0]} if cuda else {})


def _of_notes(page: str, place: str) -> Row:
    """One image and month, by the words that its release notes have had since 2019."""
    words = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())
    named = NAMED.search(words)
    if named is None:
        raise SystemExit(f"{place}: names no image and month")
    family = FAMILIES[named[1].lower()]
    row: Row = {"family": family.value, "month": named[2]}
    row |= {} if family is ImageFamily.NGC_PYTORCH else {"torch": ""}
    found = {"cuda": BASED.search(words), "python": PYTHON.search(words), "capability_min": CAPABILITY.search(words)}
    row |= {name: match[1] for name, match in found.items() if match}
    if system := SYSTEM.search(words):
        row["system"] = f"ubuntu{system[1]}"
    driver = DRIVER.search(words)
    if driver and "cuda" in row and _is_enough(driver[1], row["cuda"]):
        older = [one for one in OLDER.findall(words) if _numbers(one) < _numbers(driver[1])]
        row |= {"driver": driver[1], **({"compat_drivers": older} if older else {})}
    return {**row, "source": "own-notes"}


def _is_enough(driver: str, cuda: str) -> bool:
    """Not where a sentence was kept from an older month: the notes of 26.02 ask for 575, on which nothing of CUDA 13 runs."""
    floor = driver_floor(Version.parse(cuda)).parts
    return _numbers(driver) >= floor[: len(_numbers(driver))]


class _Tables(HTMLParser):
    """Every table of a page as rows of cells, with the heading before it."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[tuple[str, list[list[str]]]] = []
        self._heading = ""
        self._into: str = ""
        self._words: list[str] = []

    def handle_starttag(self, tag: str, attributes: object) -> None:
        if tag == "table":
            self.tables.append((self._heading, []))
        elif tag == "tr" and self.tables:
            self.tables[-1][1].append([])
        elif tag in {"td", "th", "h1", "h2", "h3", "caption"}:
            self._into, self._words = tag, []

    def handle_endtag(self, tag: str) -> None:
        if tag != self._into:
            return
        words = " ".join("".join(self._words).split())
        if tag in {"td", "th"} and self.tables and self.tables[-1][1]:
            self.tables[-1][1][-1].append(words)
        elif tag == "caption" and self.tables:
            self.tables[-1] = (words, self.tables[-1][1])
        else:
            self._heading = words
        self._into = ""

    def handle_data(self, data: str) -> None:
        if self._into:
            self._words.append(data)


def _of_matrix(page: str) -> Iterator[Row]:
    reader = _Tables()
    reader.feed(page)
    for heading, lines in reader.tables:
        yield from _of_table(heading, lines)


def _of_table(heading: str, lines: list[list[str]]) -> Iterator[Row]:
    """A table whose first line names the releases; its heading, or a line of its own, names the image."""
    first = next((line for line in lines if sum(bool(MONTH.search(cell)) for cell in line[1:]) > 0), [])
    months = {place: found[1] for place, cell in enumerate(first) if place and (found := MONTH.search(cell))}
    for framework, family in FAMILIES.items():
        own = next((line for line in lines if line and line[0].lower().removeprefix("nvidia ") == framework), None)
        if framework not in heading.lower() or not months:
            continue
        for place, month in months.items():
            row: Row = {"family": family.value, "month": month, **({} if family is ImageFamily.NGC_PYTORCH else {"torch": ""})}
            for name, called, taken in LINES:
                cell = next((line[place] for line in lines if line and called.search(line[0]) and len(line) > place), "")
                if found := taken.search(cell):
                    row[name] = f"ubuntu{found[1]}" if name == "system" else found[1]
            if own and len(own) > place and (found := NUMBER.search(own[place])):
                row |= {_own_field(family): found[0]}
            if "driver" in row and not ("cuda" in row and _is_enough(row["driver"], row["cuda"])):
                del row["driver"]
            yield {**row, "source": "matrix"}


def _own_field(family: ImageFamily) -> str:
    return {ImageFamily.NGC_PYTORCH: "torch", ImageFamily.NGC_TENSORRT: "tensorrt"}.get(family, "version")


def _key(row: Row) -> Key:
    return row["family"], _numbers(row["month"]), row.get("variant", "")


def _place(key: Key) -> tuple[int, Key]:
    return [one.value for one in ImageFamily].index(key[0]), key


def _numbers(words: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", words))


def _git(repository: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    raise SystemExit(main())
