"""The window. Everything of Qt is in here."""

import builtins

from gpuassist.ui.late_signatures import signatures_late

with signatures_late():
    from PySide6 import QtCore as _QtCore  # noqa: F401 -- it puts its own import in place of Python's

# PySide6 reads the source of every module that is imported after it, and looks for its name there, so that a module could ask for
# `__feature__`: a tenth of a start (6.11.3). Nothing here asks.
if getattr(builtins.__import__, "__name__", "") == "__feature_import__":
    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
