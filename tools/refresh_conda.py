"""Reads what conda-forge builds of torch and brings resources/knowledge/conda.json up to date with it.

Run from the project's root with a clone of conda-forge/pytorch-cpu-feedstock, its whole history in it:
`python tools/refresh_conda.py --checked 2026-11-21 pytorch-cpu-feedstock`. For each torch version: the variants that the feedstock
rendered while it was the current one (.ci_support), and the architectures of its last recipe/build.sh (before 2.1:
build_pytorch.sh). Prints each difference to the table; with `--check` nothing is written, and a difference is exit status 1.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tools.tables import Row, options_of, read_table, write_table

TABLE = Path("resources/knowledge/conda.json")
OLDEST = (1, 11)
WITH_CUDA_VERSION = (2, 1)  # the first that the package cuda-version chooses the CUDA of; before it cudatoolkit did
VERSION = re.compile(r'set version = "(\d+\.\d+\.\d+)"')
CUDA = re.compile(r"^cuda_compiler_version:\n- '?(\d+\.\d+)", re.MULTILINE)
CUDNN = re.compile(r"^(?:libcudnn_dev|cudnn):\n- '?([\d.]+)", re.MULTILINE)
PYTHONS = re.compile(r"^python:\n((?:- .*\n)+)", re.MULTILINE)
ONE_IF = re.compile(r'cuda_compiler_version\} == ([\d.]+)\*? *\]\]; then\s*\n\s*export TORCH_CUDA_ARCH_LIST="([^"]+)"')
ONE_CASE = re.compile(r"\n\s*(\d[\d.\[\]|]*)\)\n(.*?);;", re.DOTALL)
TEGRA = re.compile(r'== "tegra" \]\]; then(?:\s*#.*\n)*\s*export TORCH_CUDA_ARCH_LIST="([^"]+)"')
LIST = re.compile(r'export TORCH_CUDA_ARCH_LIST="([^"]+)"')

Key = tuple[tuple[int, ...], str, tuple[int, ...], bool]


def main() -> int:
    """Compares the table with what the feedstock rendered, and writes it unless it shall only be checked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("feedstock", type=Path, help="a clone of conda-forge/pytorch-cpu-feedstock")
    options = options_of(parser)
    header, rows = read_table(TABLE)
    known = {_key(row): row for row in rows if row["source"] == "feedstock"}
    measured = {_key(row): row for row in _measured(options.feedstock)}
    differ = [key for key in sorted({*known, *measured}) if known.get(key) != measured.get(key)]
    for key in differ:
        print(f"{known.get(key)}\n  -> {measured.get(key)}")
    if options.check:
        return int(bool(differ))
    header["sources"]["feedstock"]["checked"] = options.checked
    rows = [row for row in rows if row["source"] != "feedstock"] + [measured[key] for key in sorted(measured)]
    write_table(TABLE, header, rows)
    return 0


def _measured(feedstock: Path) -> Iterator[Row]:
    found: dict[str, dict[tuple[str, str, bool], Row]] = {}
    for commit in reversed(_git(feedstock, "log", "--first-parent", "--format=%H").split()):
        version = VERSION.search(_git(feedstock, "show", f"{commit}:recipe/meta.yaml"))
        if version and _numbers(version[1]) >= OLDEST:
            variants = found.setdefault(version[1], {})
            for row in _rendered(feedstock, commit, version[1]):
                variants[row["platform"], row.get("cuda", ""), "tegra" in row] = _with_pythons_of(
                    row, variants.get((row["platform"], row.get("cuda", ""), "tegra" in row))
                )
    return (row for variants in found.values() for row in variants.values())


def _with_pythons_of(row: Row, before: Row | None) -> Row:
    """Pythons join a version one after the other, and older variants of it are not rendered again."""
    pythons = {*row["pythons"], *(before["pythons"] if before else ())}
    return {**row, "pythons": sorted(pythons, key=_numbers)}


def _rendered(feedstock: Path, commit: str, version: str) -> Iterator[Row]:
    script = "\n".join(_git(feedstock, "show", f"{commit}:recipe/{name}.sh") for name in ("build", "build_pytorch"))
    for name in _git(feedstock, "ls-tree", "--name-only", f"{commit}:.ci_support").split():
        if name.startswith(("linux_64", "linux_aarch64")) and "pypy" not in name and "is_rcTrue" not in name:
            yield _row(version, name, _git(feedstock, "show", f"{commit}:.ci_support/{name}"), script)


def _row(version: str, name: str, variant: str, script: str) -> Row:
    cuda, cudnn, pythons = CUDA.search(variant), CUDNN.search(variant), PYTHONS.search(variant)
    platform, tegra = "linux-64" if name.startswith("linux_64") else "linux-aarch64", "tegra" in name
    row: Row = {"channel": "conda-forge", "version": version, "platform": platform}
    row |= {"cuda": cuda[1]} if cuda else {}
    row["selector"] = "" if not cuda else "cuda-version" if _numbers(version) >= WITH_CUDA_VERSION else "cudatoolkit"
    row["channels"] = ["conda-forge"]
    row |= {"cudnn": cudnn[1]} if cuda and cudnn else {}
    row["pythons"] = sorted(set(re.findall(r"(\d+\.\d+)\.", pythons[1])) if pythons else (), key=_numbers)
    listed = _architectures(script, cuda[1], platform, tegra=tegra) if cuda else None
    row |= {"targets": _targets(listed)} if listed else {}
    row |= {"tegra": True} if tegra else {}
    return {**row, "source": "feedstock"}


def _architectures(script: str, cuda: str, platform: str, *, tegra: bool) -> str | None:
    """The list for a CUDA release, in each of the three ways that the recipe has written it: if by if, as a case, one for all."""
    if tegra and (found := TEGRA.search(script)):
        return found[1]
    for release, listed in ONE_IF.findall(script):
        if cuda == release or (release.endswith(".") and cuda.startswith(release)):
            return str(listed)
    for pattern, body in ONE_CASE.findall(script):
        lists = LIST.findall(body)
        if lists and re.fullmatch(pattern.replace(".", r"\."), cuda):
            return str(lists[0] if platform == "linux-aarch64" else lists[-1])
    every = set(LIST.findall(script))
    return every.pop() if len(every) == 1 else None


def _targets(listed: str) -> list[str]:
    digits = [(word.removesuffix("+PTX").replace(".", ""), word.endswith("+PTX")) for word in listed.split(";")]
    return [f"{kind}_{code}" for code, ptx in digits for kind in (("sm", "compute") if ptx else ("sm",))]


def _key(row: Row) -> Key:
    return _numbers(row["version"]), row["platform"], _numbers(row.get("cuda", "0")), "tegra" in row


def _numbers(words: str) -> tuple[int, ...]:
    return tuple(int(part) for part in words.split("."))


def _git(directory: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(directory), *arguments], capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    raise SystemExit(main())
