"""A Python environment looked at as if some of its packages were gone, with none of its files touched."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

_RECORDS = (".dist-info", ".egg-info", ".egg-link")
_START = """import os, sys
hidden = {sites!r}
sys.path[:] = [one for one in sys.path if os.path.realpath(one) not in hidden]
"""


def shadow(directory: str, sites: Iterable[str], without: Collection[str]) -> Mapping[str, str]:
    """Puts into `directory` what the packages of `sites` say of themselves, but for the records in `without` (paths), and pip; what
    comes back is the environment with which Python sees that in their place.

    Python reads sitecustomize from there when it has put its search list together, and takes the real directories off it: pip
    counts as installed what it finds records of.
    """
    os.makedirs(directory, exist_ok=True)
    real = tuple(dict.fromkeys(os.path.realpath(one) for one in sites))
    for site in real:
        for name in _names(site):
            source, place = os.path.join(site, name), os.path.join(directory, name)
            if (name == "pip" or name.endswith(_RECORDS)) and source not in without and not os.path.lexists(place):
                os.symlink(source, place)
    with open(os.path.join(directory, "sitecustomize.py"), "w", encoding="utf-8") as file:
        file.write(_START.format(sites=set(real)))
    return {"PYTHONPATH": directory}


def _names(site: str) -> list[str]:
    try:
        return os.listdir(site)
    except OSError:
        return []
