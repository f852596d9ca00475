"""Which package brought a file, and which packages this torch asks for: by what installers write down, no package is imported."""

from __future__ import annotations

import json
import os
import re
from typing import Dict, List


def package_of(path: str, sites: Dict[str, Dict[str, str]]) -> str:
    """Name and version of the wheel, or the package of conda's, that brought a file; empty where none says so."""
    directory = os.path.dirname(path)
    while len(directory) > 1:
        if directory not in sites:
            sites[directory] = _wheels(directory) if directory.endswith("-packages") else _of_conda(directory)
        found = sites[directory].get(os.path.relpath(path, directory))
        if found:
            return found
        directory = os.path.dirname(directory)
    return ""


def _wheels(site: str) -> Dict[str, str]:
    found: Dict[str, str] = {}
    for entry in sorted(names(site)):
        if entry.endswith(".dist-info"):
            name, _, version = entry[: -len(".dist-info")].partition("-")
            for line in text_of(os.path.join(site, entry, "RECORD")).splitlines():
                file = line.rsplit(",", 2)[0]
                if ".so" in file:
                    found.setdefault(file, "{} {}".format(name.replace("_", "-"), version))
    return found


def _of_conda(prefix: str) -> Dict[str, str]:
    found: Dict[str, str] = {}
    for entry in names(os.path.join(prefix, "conda-meta")):
        if re.match(r"cuda|libcu|cudnn|libcudnn|nccl|libnv|pytorch|libtorch|triton|libmagma", entry) and entry.endswith(".json"):
            try:
                record = json.loads(text_of(os.path.join(prefix, "conda-meta", entry)))
                named = "{} {}".format(record["name"], record["version"])
                found.update((file, named) for file in record["files"] if ".so" in file)
            except (ValueError, KeyError, TypeError):
                continue
    return found


def pinned_by_torch() -> Dict[str, str]:
    """The versions that torch's own package pins: `nvidia-cudnn-cu12` and `9.1.0.70`, what it was built against."""
    import importlib.metadata  # takes a while, and only a report needs it

    try:
        lines = importlib.metadata.requires("torch") or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    # `nvidia-cudnn-cu12 (==8.5.0.96) ; …` and `nvidia-cudnn-cu12==9.1.0.70; …` are both in use.
    found = (re.match(r"(nvidia-[\w-]+|triton|pytorch-triton)\b[^=;]*==\s*([\w.]+)", line) for line in lines)
    return {one.group(1): one.group(2) for one in found if one}


def names(directory: str) -> List[str]:
    """What a directory holds; nothing where it cannot be listed."""
    try:
        return os.listdir(directory)
    except OSError:
        return []


def text_of(path: str) -> str:
    """A file's text; empty where it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
