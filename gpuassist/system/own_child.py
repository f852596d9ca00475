"""What a child is started with: the command line of one of our own, and an environment without what is ours.

A frozen gpuassist carries its own libraries in LD_LIBRARY_PATH and hands them to its children (PyInstaller manual, "LD_LIBRARY_PATH
considerations"); `clean` takes that back, so that the user's shells and interpreters load the user's libraries.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

_HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
# Looking for garbage among what a start makes, and keeps, is a sixth of its time.
_CHILD = "import gc, sys; gc.set_threshold(50_000); sys.path[:] = {paths}; from {module} import main; sys.exit(main())"
_OURS = ("QT_", "PYSIDE", "PYQTGRAPH_", "_PYI_", "_MEIPASS")


def own_child(module: str, argument: str, *flags: str) -> tuple[str, ...]:
    """The command line that runs `main` of a module of ours with the very modules that this process would find; a frozen gpuassist,
    which has no interpreter to start, starts itself with `argument`.
    """
    if getattr(sys, "frozen", False):
        return (sys.executable, argument)
    # An empty entry is the directory that Python was started in: nothing of ours lies there.
    paths = ascii([*filter(None, sys.path), _HOME])
    return (sys.executable, "-I", *flags, "-c", _CHILD.format(paths=paths, module=module), argument)


def inherited() -> dict[str, str]:
    """What `Surroundings.current().variables` are, for a child that is started before that can be imported."""
    return dict(os.environ)


def clean(variables: Mapping[str, str]) -> dict[str, str]:
    """`variables` without what gpuassist or its bundle put in, and with what the bundle had moved aside put back."""
    kept = {name: value for name, value in variables.items() if not name.startswith(_OURS)}
    if not any(name.startswith(("_PYI_", "_MEIPASS")) for name in variables):
        return kept
    for name in ("LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH"):
        kept.pop(name, None)
        if f"{name}_ORIG" in kept:
            kept[name] = kept.pop(f"{name}_ORIG")
    return kept
