"""The door of what runs in the user's interpreter, as a script of its own or as one text with all its modules.

    python main.py DESCRIPTOR REQUEST

The descriptor (or `@NAME`, a socket) gets one JSON object a line, standard output and error belong to torch. As a text it is run
within an image, where no file of ours is: `SOURCES` then stands before it, and the end of its standard input is the wish that it
ends.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import json
import os
import socket
import sys
from typing import Any, Dict, List, Optional, Sequence

PACKAGE = "gpuassist_child"


class Modules(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports the modules of this package from their texts, under a name that hides nothing of the user's and leaves no files."""

    def __init__(self, sources: Dict[str, str]) -> None:
        self.sources = sources

    def find_spec(self, fullname: str, path: Optional[Sequence[str]], target: Any = None) -> Any:
        name = fullname.partition(".")[2] if fullname.startswith(PACKAGE) else None
        if fullname == PACKAGE or name in self.sources:
            return importlib.util.spec_from_loader(fullname, self, is_package=fullname == PACKAGE)
        return None

    def is_package(self, fullname: str) -> bool:
        return fullname == PACKAGE

    def get_source(self, fullname: str) -> str:
        """Also for tracebacks, and for Triton, which reads the text of its kernels."""
        return "" if fullname == PACKAGE else self.sources[fullname.partition(".")[2]]


def sources_beside(place: str) -> Dict[str, str]:
    """The text of every module beside the script."""
    found = {}
    for name in sorted(os.listdir(place)):
        if name.endswith(".py") and name not in ("__init__.py", "main.py"):
            with open(os.path.join(place, name), encoding="utf-8") as file:
                found[name[:-3]] = file.read()
    return found


def opened(place: str) -> int:
    """The descriptor that is meant: it is open already, or leads to a socket without a file."""
    if not place.startswith("@"):
        return int(place)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect("\0" + place[1:])
        return connection.detach()


def main(arguments: List[str]) -> int:
    """Serves the request and returns the exit status."""
    descriptor, request = opened(arguments[0]), json.loads(arguments[1])
    os.set_inheritable(descriptor, False)  # noqa: FBT003
    sources = globals().get("SOURCES")
    if sources is None:
        here = os.path.dirname(os.path.abspath(__file__))
        if sys.path and os.path.abspath(sys.path[0]) == here:
            del sys.path[0]  # it must not be searched for modules, or it would hide the user's own of the same name
        sources = sources_beside(here)
    elif sys.path and not sys.path[0]:
        del sys.path[0]  # `python -c` looks into the working directory first
    sys.meta_path.insert(0, Modules(sources))
    if "SOURCES" in globals():
        importlib.import_module(PACKAGE + ".lifeline").stand_by(request)
    supervisor = importlib.import_module(PACKAGE + ".supervisor")
    status: int = supervisor.serve(descriptor, request)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
