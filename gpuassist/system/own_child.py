"""What a child is started with: the command line of one of our own, and the environment that the user has.

A frozen gpuassist carries its own libraries in LD_LIBRARY_PATH and would hand them to its children (PyInstaller manual,
"LD_LIBRARY_PATH considerations"), and shiboken6 adds an option of its own. `inherited` takes that back before anybody looks at the
environment, so that the user's shells and interpreters load the user's libraries and this program judges the user's variables.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

_HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
# Looking for garbage among what a start makes, and keeps, is a sixth of its time.
_CHILD = "import gc, sys; gc.set_threshold(50_000); sys.path[:] = {paths}; from {module} import main; sys.exit(main())"
_LOADER = ("_PYI_", "_MEIPASS")
# The loader moves the first, packaging/bundle/users_qt.py the rest.
_MOVED_ASIDE = ("LD_LIBRARY_PATH", "QT_PLUGIN_PATH", "QML2_IMPORT_PATH", "PYSIDE6_OPTION_PYTHON_ENUM")
_OF_AN_APPIMAGE = frozenset({"APPIMAGE", "APPDIR", "ARGV0", "OWD"})  # zsh takes ARGV0 for the name of whatever it starts


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
    """What the user started this process with: without what its bundle put in, and with what that moved aside."""
    return _given_back(os.environ)


def clean(variables: Mapping[str, str]) -> dict[str, str]:
    """`variables` for a child, which is none of this bundle: the user's own and nothing else."""
    kept = _given_back(variables)
    if "APPDIR" in kept:
        kept = {name: value for name, value in kept.items() if name not in _OF_AN_APPIMAGE}
    return kept


def _given_back(variables: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in variables.items() if not name.startswith(_LOADER)}
    if len(kept) == len(variables):
        return kept
    for name in _MOVED_ASIDE:
        kept.pop(name, None)
        if f"{name}_ORIG" in kept:
            kept[name] = kept.pop(f"{name}_ORIG")
    return kept
