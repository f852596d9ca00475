"""A Python that sees an environment as if some of its packages were gone, with none of its files touched."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

_START = """import os

hidden = {hidden!r}
listed = os.listdir


def listdir(path="."):
    names = listed(path)
    if not isinstance(path, str):
        return names
    real = os.path.realpath(path)
    return [name for name in names if os.path.join(real, name) not in hidden]


os.listdir = listdir
"""


def hide(directory: str, records: Collection[str]) -> Mapping[str, str]:
    """The environment with which a Python finds none of these records (paths of `.dist-info` directories); what that needs is put
    into `directory`.

    Python runs sitecustomize once its search list stands. pip counts as installed what it finds records of, and both of its ways to
    look for them (importlib.metadata, pkg_resources) list directories by `os.listdir`. A directory of links to all other records
    would do as well, but to make and remove 300 of them takes a third of a second.
    """
    os.makedirs(directory, exist_ok=True)
    hidden = {os.path.join(os.path.realpath(os.path.dirname(one)), os.path.basename(one)) for one in records}
    with open(os.path.join(directory, "sitecustomize.py"), "w", encoding="utf-8") as file:
        file.write(_START.format(hidden=hidden))
    return {"PYTHONPATH": directory}
