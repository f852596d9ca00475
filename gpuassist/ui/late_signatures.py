"""PySide6 without that with which it describes Qt's functions, until somebody asks for a description.

shiboken6 carries Python modules that make the signatures of Qt's functions: for `help`, for what a `TypeError` says, for stubs. It
compiles their source at every start, and they compile large regular expressions: a quarter of the processor time of an empty window
(6.11.3). Here such a module runs its source when it is first asked for a name. A PySide6 with other modules, or of a version that
nobody has tried this with, starts as it does by itself.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_FOLDER = "shibokensupport/signature"
# Those that only Python asks; into `mapping` C++ looks by itself (`adjustFuncName` in signature.cpp).
_SELDOM = ("errorhandler", "layout", "parser", "lib/enum_sig", "lib/pyi_generator", "lib/tool")
_PATHS = frozenset(f"{_FOLDER}/{name}.py" for name in _SELDOM)
_TRIED = range(8, 12)
"""Of PySide6 6: 6.8.3, 6.9.3, 6.10.3, 6.11.0 and 6.11.3 say the same of every call, late or not."""

_sources: dict[str, Any] = {}
_lock = threading.RLock()  # one of them asks others while it runs


@contextmanager
def signatures_late() -> Iterator[None]:
    """While PySide6 is first imported.

    shiboken6 puts its finder of these modules before all others, so that what it hands to `compile` is where they can be met.
    """
    real = builtins.compile

    def compile_late(source: Any, filename: Any, mode: str, *more: Any, **options: Any) -> Any:
        if filename not in _PATHS or not _is_tried():
            return real(source, filename, mode, *more, **options)
        _sources[filename] = source
        return real(f"from {__name__} import when_asked\n__getattr__ = when_asked({filename!r}, globals())", filename, mode)

    builtins.compile = compile_late
    try:
        yield
    finally:
        builtins.compile = real


def _is_tried() -> bool:
    """Whether it is a version that is known to take it; its package is there before it makes these modules."""
    major, minor, *_ = getattr(sys.modules.get("shiboken6"), "__version_info__", (0, 0))
    return major == 6 and minor in _TRIED


def when_asked(path: str, names: dict[str, Any]) -> Callable[[str], Any]:
    """The `__getattr__` of a module with these names that has not run yet; Python asks it for each name that is not there."""

    def asked(name: str) -> Any:
        with _lock:
            source = None if name.startswith("__") else _sources.pop(path, None)  # `__path__` and its like are asked by imports
            if source is not None:
                exec(compile(source, path, "exec"), names)
                names.pop("__getattr__", None)
        if name in names:
            return names[name]
        raise AttributeError(f"module {names['__name__']!r} has no attribute {name!r}")

    return asked
